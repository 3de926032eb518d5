/* SPDX-License-Identifier: MIT */

/* Requests that block devices have served. */
#include "internal.h"

#define LOOK_BACK 64	/* requests of one device that are looked through */

void lqn_on_io(struct lqn_analysis *a, struct lqn_party *host, const struct lqn_event *ev)
{
	GArray *ios = g_hash_table_lookup(host->ios, &ev->io.device);
	struct lqn_disk_io io = {
		.device = ev->io.device, .begin = ev->io.begin, .issued = ev->io.issued,
		.end = ev->io.end,
		.thread = ev->io.thread ? lqn_party_actor(host, ev->io.thread) : NULL,
	};

	if (!ios) {
		ios = g_array_new(FALSE, FALSE, sizeof(struct lqn_disk_io));
		g_hash_table_insert(host->ios, g_memdup2(&io.device, sizeof(io.device)), ios);
	}
	/* they are looked up by their ends */
	if (ios->len == 0 || g_array_index(ios, struct lqn_disk_io, ios->len - 1).end <= io.end) {
		g_array_append_val(ios, io);
		lqn_keep_add(&a->keep, sizeof(io));
	}
}

uint64_t lqn_ios_forget(struct lqn_analysis *a, struct lqn_party *host)
{
	uint64_t held = 0;
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, host->ios);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		GArray *ios = value;
		guint n = 0;

		for (guint i = 0; i < ios->len; i++) {
			const struct lqn_disk_io *io = &g_array_index(ios, struct lqn_disk_io, i);

			if (lqn_keeps_any(a, MIN(io->begin, io->end), io->end + 1)) {
				g_array_index(ios, struct lqn_disk_io, n++) = *io;
			}
		}
		g_array_set_size(ios, n);
		held += n * sizeof(struct lqn_disk_io);
	}
	return held;
}

const struct lqn_disk_io *lqn_disk_io_ended(const struct lqn_party *host, uint64_t device,
	const struct lqn_actor *actor, int64_t since, int64_t until)
{
	const GArray *ios = g_hash_table_lookup(host->ios, &device);
	const struct lqn_disk_io *last = NULL;
	guint i = ios ? LQN_COUNT_UNTIL(ios, struct lqn_disk_io, end, until) : 0;

	for (guint looked = 0; i > 0 && looked < LOOK_BACK; i--, looked++) {
		const struct lqn_disk_io *io = &g_array_index(ios, struct lqn_disk_io, i - 1);

		if (io->end < since) {
			break;
		}
		if (io->thread == actor) {
			return io;
		}
		last = last ? last : io;
	}
	return last;
}

const struct lqn_disk_io *lqn_disk_io_before(const struct lqn_party *host,
	const struct lqn_disk_io *io)
{
	const GArray *ios = g_hash_table_lookup(host->ios, &io->device);
	const struct lqn_disk_io *first = (const struct lqn_disk_io *) (const void *) ios->data;

	for (guint looked = 0; io - looked > first && looked < LOOK_BACK;) {
		const struct lqn_disk_io *other = io - ++looked;

		if (other->end <= io->begin) {
			break;
		}
		if (other->issued <= io->issued) {
			return other;
		}
	}
	return NULL;
}
