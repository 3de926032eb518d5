/* SPDX-License-Identifier: MIT */
#include "records/told.h"

#include <glib.h>
#include <string.h>

void lqn_told_stream_clear(struct lqn_told_stream *stream)
{
	g_free(stream->trace);
	g_free(stream->host);
	g_free(stream->release);
	g_free(stream->domain);
	memset(stream, 0, sizeof(*stream));
}

/* What is there comes before what is not. */
static int compare_presence(bool a, bool b)
{
	return (int) b - (int) a;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int lqn_told_stream_compare(const struct lqn_told_stream *a, const struct lqn_told_stream *b)
{
	int order = compare_presence(a->has_uuid, b->has_uuid);

	if (order == 0 && a->has_uuid) {
		order = memcmp(a->uuid, b->uuid, sizeof(a->uuid));
	}
	if (order == 0) {
		order = a->trace && b->trace ? strcmp(a->trace, b->trace) :
			compare_presence(a->trace != NULL, b->trace != NULL);
	}
	if (order == 0) {
		order = compare_numbers(a->class_id, b->class_id);
	}
	return order != 0 ? order : compare_numbers(a->id, b->id);
}
