/* SPDX-License-Identifier: MIT */
#include "kernel/attribution.h"

#include <glib.h>
#include <stdbool.h>

#define TID_OPEN (-2)	/* the next switch of the CPU will tell */
#define NONE UINT64_MAX
#define SIZE_MIN 64

G_STATIC_ASSERT((LQN_ATTRIBUTION_MAX & (LQN_ATTRIBUTION_MAX - 1)) == 0);

struct slot {
	struct lqn_record rec;
	int32_t tid;
	uint64_t next;	/* the CPU's next open slot, as a position; NONE at the end */
};

struct cpu {
	int32_t expected;	/* `next` of the last switch */
	uint64_t first, last;	/* open slots, as positions; NONE if none */
};

struct lqn_attribution {
	lqn_attribution_func func;
	void *payload;
	struct slot *slots;	/* owned; a ring */
	uint64_t size;		/* of the ring, a power of two: no larger than ever needed, for the caches */
	/* positions count on for ever; modulo the ring's size they are indices */
	uint64_t head, count;
	GArray *cpus;		/* struct cpu; owned */
};

struct lqn_attribution *lqn_attribution_new(lqn_attribution_func func, void *payload)
{
	struct lqn_attribution *at = g_new0(struct lqn_attribution, 1);

	at->func = func;
	at->payload = payload;
	at->size = SIZE_MIN;
	at->slots = g_new(struct slot, at->size);
	at->cpus = g_array_new(FALSE, FALSE, sizeof(struct cpu));
	return at;
}

static struct slot *slot_at(struct lqn_attribution *at, uint64_t position)
{
	return &at->slots[position & (at->size - 1)];
}

void lqn_attribution_free(struct lqn_attribution *at)
{
	if (!at) {
		return;
	}
	for (uint64_t i = 0; i < at->count; i++) {
		g_free(slot_at(at, at->head + i)->rec.text);
	}
	g_free(at->slots);
	g_array_free(at->cpus, TRUE);
	g_free(at);
}

static struct cpu *cpu_get(struct lqn_attribution *at, int32_t cpu)
{
	while (at->cpus->len <= (guint) cpu) {
		struct cpu fresh = { LQN_TID_UNKNOWN, NONE, NONE };

		g_array_append_val(at->cpus, fresh);
	}
	return &g_array_index(at->cpus, struct cpu, cpu);
}

/* All open slots of the CPU belong to `tid`. */
static void resolve(struct lqn_attribution *at, struct cpu *cpu, int32_t tid)
{
	for (uint64_t p = cpu->first; p != NONE; p = slot_at(at, p)->next) {
		slot_at(at, p)->tid = tid;
	}
	cpu->first = cpu->last = NONE;
}

static inline void pop(struct lqn_attribution *at)
{
	struct slot *slot = slot_at(at, at->head);

	at->head++;
	at->count--;
	at->func(at->payload, &slot->rec, slot->tid);
}

static void grow(struct lqn_attribution *at)
{
	struct slot *slots = g_new(struct slot, 2 * at->size);

	for (uint64_t p = at->head; p < at->head + at->count; p++) {
		slots[p & (2 * at->size - 1)] = *slot_at(at, p);
	}
	g_free(at->slots);
	at->slots = slots;
	at->size *= 2;
}

/*
 * The oldest record waits longer than the ring allows. Only it goes by the expected name: those
 * behind it on its CPU may still be told by a switch.
 */
static void force(struct lqn_attribution *at)
{
	struct slot *slot = slot_at(at, at->head);

	if (slot->tid == TID_OPEN) {
		struct cpu *cpu = cpu_get(at, slot->rec.cpu);

		slot->tid = cpu->expected;
		cpu->first = slot->next;
		if (cpu->first == NONE) {
			cpu->last = NONE;
		}
	}
	pop(at);
}

void lqn_attribution_push(struct lqn_attribution *at, struct lqn_record *rec)
{
	struct cpu *cpu = cpu_get(at, rec->cpu);
	struct slot *slot;
	uint64_t position;

	if (at->count == LQN_ATTRIBUTION_MAX) {
		force(at);
	} else if (at->count == at->size) {
		grow(at);
	}
	position = at->head + at->count++;
	slot = slot_at(at, position);
	slot->rec = *rec;
	slot->next = NONE;
	if (rec->type == LQN_REC_SWITCH) {
		slot->tid = rec->sw.prev_tid;
		resolve(at, cpu, rec->sw.prev_tid);
		cpu->expected = rec->sw.next_tid;
	} else if (rec->tid >= 0) {
		slot->tid = rec->tid;	/* the tracer wrote it down */
	} else {
		slot->tid = TID_OPEN;
		if (cpu->last == NONE) {
			cpu->first = position;
		} else {
			slot_at(at, cpu->last)->next = position;
		}
		cpu->last = position;
	}
	while (at->count > 0 && slot_at(at, at->head)->tid != TID_OPEN) {
		pop(at);
	}
}

void lqn_attribution_flush(struct lqn_attribution *at)
{
	for (guint i = 0; i < at->cpus->len; i++) {
		struct cpu *cpu = &g_array_index(at->cpus, struct cpu, i);

		resolve(at, cpu, cpu->expected);
	}
	while (at->count > 0) {
		pop(at);
	}
}

void lqn_attribution_forget(struct lqn_attribution *at, int32_t cpu)
{
	for (guint i = 0; i < at->cpus->len; i++) {
		if (cpu < 0 || (guint) cpu == i) {
			g_array_index(at->cpus, struct cpu, i).expected = LQN_TID_UNKNOWN;
		}
	}
}
