/* SPDX-License-Identifier: MIT */
#include "plugin/common/log.h"

#include <stdarg.h>
#include <stdio.h>

void lqn_log(bt_self_component *self, bt_logging_level level, const char *format, ...)
{
	const bt_component *comp = bt_self_component_as_component(self);
	va_list args;

	if (level < bt_component_get_logging_level(comp)) {
		return;
	}
	fprintf(stderr, "lqn [%s]: ", bt_component_get_name(comp));
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}
