/* SPDX-License-Identifier: MIT */
#ifndef LQN_SPANS_READ_H
#define LQN_SPANS_READ_H

/* Reading of span files: OTLP JSON, as OpenTelemetry's file exporter writes it, and Jaeger's JSON exports. */
#include "spans/set.h"

#define LQN_SPANS_ERROR (lqn_spans_error_quark())
GQuark lqn_spans_error_quark(void);
enum lqn_spans_error {
	LQN_SPANS_NOT_READ,	/* the file cannot be read */
	LQN_SPANS_FOREIGN,	/* it holds no spans in a format that is known */
};

/*
 * Adds the spans of a file to a set. What is wrong with single spans is counted in the set; false, with an error of
 * LQN_SPANS_ERROR that names the file, if none of it can be used. An empty file is none of that.
 */
bool lqn_spans_read_file(struct lqn_span_set *set, const char *path, GError **error);

/* The same of bytes in memory; `name` stands for the file. */
bool lqn_spans_read_bytes(struct lqn_span_set *set, const char *name, const char *bytes, size_t len, GError **error);

/* True if the first bytes of a file look like one of spans. */
bool lqn_spans_are_here(const char *path);

#endif
