/* SPDX-License-Identifier: MIT */

/*
 * For tests alone: a program that traces spans into LTTng-UST, one after the other, until it is killed.
 * Built by test-live.py where LTTng-UST is there.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "spans.h"

#include <unistd.h>

int main(void)
{
	for (unsigned long span = 1;; span++) {
		lttng_ust_tracepoint(otel, span_start, 7, span, 0, "checkout");
		usleep(500);
		lttng_ust_tracepoint(otel, span_end, 7, span);
		usleep(500);
	}
}
