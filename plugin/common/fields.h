/* SPDX-License-Identifier: MIT */
#ifndef LQN_PLUGIN_FIELDS_H
#define LQN_PLUGIN_FIELDS_H

/*
 * The way from an event of a trace to a struct lqn_record. A binding says once per event class
 * which row of the layout tables it is and where its fields lie; filling a record is then a walk
 * over indices, without a look-up by name and without an allocation (but for text).
 */
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "layout/layout.h"
#include "records/told.h"

struct lqn_binding;
struct lqn_bindings;

#define LQN_MARK_MEMBERS 4	/* of an event without a layout, become marks */

/* What events of a class are. */
enum lqn_binding_kind {
	LQN_BINDING_OTHER,	/* no layout: candidates for marks */
	LQN_BINDING_KERNEL,	/* those of a kernel trace that have a layout */
	LQN_BINDING_SPAN,	/* of a span */
	LQN_BINDING_OWN,	/* of our own vocabulary (`lqn:…`) */
};

/*
 * An empty cache of bindings, by event class. `spans`: a layout of spans beside the known ones
 * (borrowed; NULL: none). Free with lqn_bindings_free().
 */
struct lqn_bindings *lqn_bindings_new(const struct lqn_span_layout *spans);
void lqn_bindings_free(struct lqn_bindings *bindings);

/*
 * The binding of an event class, made when first asked for; borrowed, good as long as the event
 * class lives. NULL if memory ran out.
 */
struct lqn_binding *lqn_bindings_get(struct lqn_bindings *bindings, const bt_event_class *ec);

/* Calls `func` for each binding that lacks fields of its layout. `missing` lists their names. */
typedef void (*lqn_missing_func)(void *payload, const char *event, const char *missing);
void lqn_bindings_each_missing(struct lqn_bindings *bindings, lqn_missing_func func,
	void *payload);

/* The event class's name, interned; `unnamed` if it has none. */
const char *lqn_binding_name(const struct lqn_binding *binding);

/* The same, for those who are told; as long as the binding. */
struct lqn_told_class *lqn_binding_class(struct lqn_binding *binding);

enum lqn_binding_kind lqn_binding_kind(const struct lqn_binding *binding);

/* Whether the event is of a span out of a file (source.lqn.spans), whose trace is of no host. */
bool lqn_binding_is_of_file(const struct lqn_binding *binding);

/*
 * The host that a span's event names, g_free(); NULL: it names none.
 */
char *lqn_binding_host(const struct lqn_binding *binding, const bt_event *event);

/*
 * Fills a record from an event of the binding's class; `ts` in ns from the clock's origin,
 * `packet_cpu` what lqn_packet_cpu() said of the packet: one look-up for all events of it.
 * `rec->text`, if any, is new and the caller's (g_free()). Requires a layout.
 */
void lqn_binding_fill(const struct lqn_binding *binding, const bt_event *event, int64_t ts,
	int32_t packet_cpu, struct lqn_record *rec);

/*
 * For an event without a layout: how many records it makes (0 once the class has used up its
 * LQN_MARK_EVENTS; counts the event), and each of them, `i` from 0 on.
 */
unsigned lqn_binding_count_marks(struct lqn_binding *binding);
void lqn_binding_fill_mark(const struct lqn_binding *binding, const bt_event *event, int64_t ts,
	int32_t packet_cpu, unsigned i, struct lqn_record *rec);

/* The CPU that a packet's context names, -1 if none; by name: for packets, not for events. */
int32_t lqn_packet_cpu(const bt_packet *packet);

#endif
