/* SPDX-License-Identifier: MIT */
#include "request/aside.h"

#include <signal.h>

#include "event/strings.h"

struct batch {
	struct {
		unsigned host;
		struct lqn_event ev;
	} items[LQN_ASIDE_BATCH];
	unsigned n;
	struct lqn_event_strings strings;
};

struct lqn_aside {
	struct lqn_analysis *analysis;	/* borrowed */
	GThread *thread;		/* owned */
	struct batch batches[2];
	struct batch *filling;		/* one of them: whoever gives events has it */
	GMutex lock;			/* of the rest */
	GCond changed;
	struct batch *given;		/* the other one: the thread has it; NULL: it has none */
	bool ended;			/* no more will be given */
};

/* Waits for a batch; NULL: there are no more. */
static struct batch *next_batch(struct lqn_aside *aside)
{
	struct batch *batch;

	g_mutex_lock(&aside->lock);
	while (!aside->given && !aside->ended) {
		g_cond_wait(&aside->changed, &aside->lock);
	}
	batch = aside->given;
	g_mutex_unlock(&aside->lock);
	return batch;
}

static void give_back(struct lqn_aside *aside)
{
	g_mutex_lock(&aside->lock);
	aside->given = NULL;
	g_cond_signal(&aside->changed);
	g_mutex_unlock(&aside->lock);
}

static gpointer run(gpointer data)
{
	struct lqn_aside *aside = data;
	struct batch *batch;

	while ((batch = next_batch(aside))) {
		for (unsigned i = 0; i < batch->n; i++) {
			lqn_analysis_event(aside->analysis, batch->items[i].host, &batch->items[i].ev);
		}
		batch->n = 0;
		lqn_event_strings_drop(&batch->strings);
		give_back(aside);
	}
	return NULL;
}

/* Waits until the thread has no batch; the lock is held. */
static void wait(struct lqn_aside *aside)
{
	while (aside->given) {
		g_cond_wait(&aside->changed, &aside->lock);
	}
}

/* Gives what has been filled. */
static void give(struct lqn_aside *aside)
{
	g_mutex_lock(&aside->lock);
	wait(aside);
	aside->given = aside->filling;
	g_cond_signal(&aside->changed);
	g_mutex_unlock(&aside->lock);
	aside->filling = aside->filling == &aside->batches[0] ? &aside->batches[1] : &aside->batches[0];
}

static GThread *start(struct lqn_aside *aside)
{
	sigset_t all, before;
	GThread *thread;

	/* reading must be interrupted, which is done elsewhere */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	thread = g_thread_try_new("lqn-analysis", run, aside, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}

struct lqn_aside *lqn_aside_new(struct lqn_analysis *analysis)
{
	struct lqn_aside *aside = g_new0(struct lqn_aside, 1);

	aside->analysis = analysis;
	aside->filling = &aside->batches[0];
	for (unsigned i = 0; i < G_N_ELEMENTS(aside->batches); i++) {
		lqn_event_strings_init(&aside->batches[i].strings);
	}
	g_mutex_init(&aside->lock);
	g_cond_init(&aside->changed);
	aside->thread = start(aside);
	if (!aside->thread) {
		g_clear_pointer(&aside, lqn_aside_free);
	}
	return aside;
}

static void end(struct lqn_aside *aside)
{
	lqn_aside_wait(aside);
	g_mutex_lock(&aside->lock);
	aside->ended = true;
	g_cond_signal(&aside->changed);
	g_mutex_unlock(&aside->lock);
	g_thread_join(aside->thread);
}

void lqn_aside_free(struct lqn_aside *aside)
{
	if (!aside) {
		return;
	}
	if (aside->thread) {
		end(aside);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(aside->batches); i++) {
		lqn_event_strings_clear(&aside->batches[i].strings);
	}
	g_cond_clear(&aside->changed);
	g_mutex_clear(&aside->lock);
	g_free(aside);
}

void lqn_aside_event(struct lqn_aside *aside, unsigned host, const struct lqn_event *ev)
{
	struct batch *batch = aside->filling;

	batch->items[batch->n].host = host;
	batch->items[batch->n].ev = *ev;
	lqn_event_strings_keep(&batch->strings, &batch->items[batch->n].ev);
	if (++batch->n == LQN_ASIDE_BATCH) {
		give(aside);
	}
}

void lqn_aside_wait(struct lqn_aside *aside)
{
	if (aside->filling->n > 0) {
		give(aside);
	}
	g_mutex_lock(&aside->lock);
	wait(aside);
	g_mutex_unlock(&aside->lock);
}
