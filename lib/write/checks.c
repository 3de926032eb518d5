/* SPDX-License-Identifier: MIT */
#include "write/summary.h"

#include <math.h>

#include "identity/snapshot.h"
#include "write/text.h"

#define SHOWN 4		/* figures of a solver, classes with bounds */

/* A share as so many per cent; a small one must not read as none. */
static void append_percent(GString *text, double share)
{
	lqn_text_append_fixed(text, 100 * share, fabs(share) < 0.01 ? 1 : 0);
	g_string_append(text, " %");
}

static void add_law(GPtrArray *parts, const char *name, const struct lqn_law *law)
{
	GString *text;

	if (law->deviation < 0) {
		return;
	}
	text = g_string_new(name);
	g_string_append(text, " within ");
	append_percent(text, law->deviation);
	g_string_append_printf(text, " (%s)", law->where);
	g_ptr_array_add(parts, g_string_free(text, FALSE));
}

static void print_laws(GString *out, const struct lqn_checks *checks)
{
	GPtrArray *parts = lqn_summary_parts_new();

	add_law(parts, "Little's law", &checks->little);
	add_law(parts, "forced flow", &checks->flow);
	add_law(parts, "utilisation law", &checks->utilization);
	lqn_summary_print(out, "checks", parts, ", ", 2);
}

static void print_bounds(GString *out, const struct lqn_checks *checks)
{
	GPtrArray *parts = lqn_summary_parts_new();

	for (unsigned i = 0; i < checks->bounds->len && i < SHOWN; i++) {
		const struct lqn_class_bounds *bounds = &g_array_index(checks->bounds, struct lqn_class_bounds, i);
		GString *text = g_string_new(bounds->task->name);

		g_string_append(text, " at most ");
		lqn_text_append_short(text, bounds->throughput);
		g_string_append(text, " per s, response at least ");
		lqn_text_append_short(text, bounds->response * 1e3);
		g_string_append(text, " ms");
		g_ptr_array_add(parts, g_string_free(text, FALSE));
	}
	lqn_summary_print(out, "bounds", parts, "; ", 2);
}

/* `web (3 threads, 0.76 busy)` */
static void append_resource(GString *text, const struct lqn_resource *resource)
{
	bool processor = g_str_equal(resource->kind, "processor");
	bool server = g_str_equal(resource->kind, "server") || g_str_equal(resource->kind, "loop");
	bool permits = g_str_equal(resource->kind, "lock") && resource->servers > 1;

	g_string_append_printf(text, "%s (%u %s%s, ", resource->name, resource->servers, processor ? "core" : server ? "thread" :
		permits ? "permit" : resource->kind, resource->servers == 1 ? "" : "s");
	lqn_text_append_fixed(text, resource->busy + resource->other, 2);
	g_string_append(text, " busy)");
}

static void print_saturation(GString *out, const struct lqn_checks *checks)
{
	GPtrArray *parts = lqn_summary_parts_new();
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < checks->resources->len && i < 2; i++) {
		const struct lqn_resource *resource = &g_array_index(checks->resources, struct lqn_resource, i);

		g_string_truncate(text, 0);
		g_string_append(text, i == 0 ? "first " : "then ");
		append_resource(text, resource);
		g_string_append(text, " at ");
		lqn_text_append_fixed(text, resource->growth, 1);
		g_string_append(text, " × this load");
		if (i == 0 && checks->clients_at_saturation >= 0) {
			g_string_append(text, ", ");
			lqn_text_append_fixed(text, ceil(checks->clients_at_saturation), 0);
			g_string_append(text, " clients (now ");
			lqn_text_append_fixed(text, checks->clients, 0);
			g_string_append(text, ")");
		}
		g_ptr_array_add(parts, g_strdup(text->str));
	}
	g_string_free(text, TRUE);
	lqn_summary_print(out, "saturated", parts, "; ", 2);
}

static char *predicted_text(const struct lqn_predicted_value *value)
{
	static const struct {
		const char *before, *unit;
		double scale;
	} forms[] = {
		[LQN_PREDICTED_THROUGHPUT] = { "", " per s", 1 },
		[LQN_PREDICTED_RESPONSE] = { "response ", " ms", 1e3 },
		[LQN_PREDICTED_UTILIZATION] = { "", " busy", 1 },
	};
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%s %s", value->name, forms[value->what].before);
	lqn_text_append_short(text, value->predicted * forms[value->what].scale);
	g_string_append_printf(text, "%s (was ", forms[value->what].unit);
	lqn_text_append_short(text, value->measured * forms[value->what].scale);
	if (value->measured > 0) {
		double more = 100 * (value->predicted / value->measured - 1);

		g_string_append(text, more < 0 ? ", " : ", +");
		lqn_text_append_fixed(text, more, 1);
		g_string_append(text, " %");
	}
	g_string_append_c(text, ')');
	return g_string_free(text, FALSE);
}

static void print_prediction(GString *out, const struct lqn_checks *checks)
{
	GPtrArray *parts = lqn_summary_parts_new();

	if (checks->failure) {
		g_autofree char *text = g_strdup_printf("%s: %s", lqn_base_name(checks->solver), checks->failure);

		g_ptr_array_add(parts, lqn_text_clean(text));
	} else if (checks->prediction) {
		const GArray *values = checks->prediction->values;

		if (!checks->prediction->converged) {
			g_ptr_array_add(parts, g_strdup("has not converged"));
		}
		for (unsigned i = 0; i < values->len && i < SHOWN; i++) {
			g_ptr_array_add(parts, predicted_text(&g_array_index(values, struct lqn_predicted_value, i)));
		}
	}
	lqn_summary_print(out, "predicted", parts, "; ", 3);
}

void lqn_summary_checks(GString *out, const struct lqn_checks *checks)
{
	print_laws(out, checks);
	print_bounds(out, checks);
	print_saturation(out, checks);
	print_prediction(out, checks);
}
