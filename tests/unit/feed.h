/* SPDX-License-Identifier: MIT */
#ifndef LQN_TESTS_UNIT_FEED_H
#define LQN_TESTS_UNIT_FEED_H

/*
 * Cases as text. Kernel records, one a line, `MICROSECONDS cCPU VERB ARGUMENTS`:
 *
 *   10 c0 sw 1>2 S            switch; R wants to go on, P preempted, S, D, T, X dead, or a number
 *   11 c1 wk 1                sched_waking; likewise `wakeup`, `new`
 *   12 c0 +read 5 100         system call begins: its arguments in the order of enum lqn_call, and a /path
 *   13 c0 -read 7             … returns 7; descriptors it made follow: `-pipe2 0 3 4`, or an address's family: `-accept4 7 1`
 *   14 c0 +irq 30             interrupt; likewise +ipi, +tick, +softirq, +hrtimer, +timer, each with its `-`
 *   15 c0 fork 1 2 [PID [VTID]]	by thread 1; a thread of process PID, else a process of its own; its id inside
 *   16 c0 exec 2 /bin/web     likewise exit 2, free 2
 *   17 c0 queue SKB FROM:PORT TO:PORT BYTES [FLAGS|udp]	packet; likewise `receive`, and `copy SKB BYTES`
 *   18 c0 issue DEVICE [TID [SECTOR]]	likewise `insert`, `complete`
 *   19 c0 state TID PID NAME [STATUS]	dump of the initial state; likewise `statefd PID FD NAME`
 *   19 c0 inside TID VPID VTID	likewise: its numbers inside of a PID namespace
 *   20 c0 span HOW ID PID TID	a span begins: `traced` by a tracer, or `told` of by a program
 *   20 c0 mark NAME VALUE     an event of another layer
 *   21 c0 lost 25 7           seven events of the CPU were lost until 25
 *   22 c0 ends                nothing more comes of the CPU
 *   22 c0 name 5 web          thread 5 is called so from here on, in switches (else: t5)
 *
 * What comes out is looked for by patterns, `TYPE FIELD=VALUE …`, with the fields of doc/events.md. Values: numbers,
 * `31u` (microseconds, given in ns), labels (`cause=message`), `7@1` (thread 7's second life), and names `$a`, which stand for
 * what they matched first. Events themselves are written in the same way.
 */
#include <stdbool.h>
#include "event/event.h"
#include "identity/snapshot.h"

struct feed;

/* A feed into a new engine. `release`: of the kernel; NULL: not known. Free with feed_free(). */
struct feed *feed_new(const char *release);
/* What a snapshot shows (`feed_new` has the host `host`); before the first record. It must outlive the feed. */
void feed_snapshot(struct feed *feed, const struct lqn_snapshot *snapshot);
void feed_free(struct feed *feed);

/* Of a new engine in which thread 1 (process 1) runs on CPU 0 and thread 2 (process 2) on CPU 1; both leave them at the end. */
struct feed *feed_two_new(void);
void feed_two_finish(struct feed *feed, long us);

/* Takes records: a format, then lines. One that is before those in front of it is of their time. */
void feed(struct feed *feed, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Likewise, with the times that they have. */
void feed_as_is(struct feed *feed, const char *text);
/* Ends the trace at that many microseconds. */
void feed_finish(struct feed *feed, long us);

/* Demands an event like the pattern; returns the first one. */
const struct lqn_event *feed_expect(struct feed *feed, const char *pattern);
/* How many events are like the pattern. No names are bound by it. */
unsigned feed_count(struct feed *feed, const char *pattern);

/*
 * An event, `TYPE FIELD=VALUE …`, for engines that take them; its strings live for ever. `ts` is what the
 * text says, or the latest time of its fields.
 */
struct lqn_event feed_parse_event(const char *text);

/* Takes all of the feed's events. */
void feed_each(struct feed *feed, lqn_event_func func, void *payload);

#endif
