/* SPDX-License-Identifier: MIT */
#include "write/json-build.h"

#include "write/text.h"

static void must(int rc)
{
	if (rc != 0) {
		g_error("cannot write JSON: out of memory");
	}
}

void lqn_json_put(struct json_object *object, const char *key, struct json_object *value)
{
	must(value ? 0 : -1);
	must(json_object_object_add(object, key, value));
}

void lqn_json_append(struct json_object *array, struct json_object *value)
{
	must(value ? 0 : -1);
	must(json_object_array_add(array, value));
}

struct json_object *lqn_json_new_text(const char *text)
{
	g_autofree char *clean = lqn_text_clean(text);

	return json_object_new_string(clean);
}

void lqn_json_put_text(struct json_object *object, const char *key, const char *text)
{
	if (text) {
		lqn_json_put(object, key, lqn_json_new_text(text));
	}
}

void lqn_json_put_count(struct json_object *object, const char *key, uint64_t count)
{
	lqn_json_put(object, key, json_object_new_uint64(count));
}

void lqn_json_put_int(struct json_object *object, const char *key, int64_t value)
{
	lqn_json_put(object, key, json_object_new_int64(value));
}

void lqn_json_put_window(struct json_object *object, int64_t begin, int64_t end)
{
	lqn_json_put_int(object, "begin-ns", begin);
	lqn_json_put_int(object, "end-ns", end);
}

struct json_object *lqn_json_new_number(double value)
{
	char buf[LQN_TEXT_NUMBER_SIZE];

	/* json-c keeps the text, so the digits are the same as in the other forms */
	return json_object_new_double_s(value, lqn_text_number(buf, value));
}

void lqn_json_put_number(struct json_object *object, const char *key, double value)
{
	lqn_json_put(object, key, lqn_json_new_number(value));
}

GString *lqn_json_print(struct json_object *object, int flags)
{
	const char *text = json_object_to_json_string_ext(object, flags);
	GString *out;

	must(text ? 0 : -1);
	out = g_string_new(text);
	g_string_append_c(out, '\n');
	json_object_put(object);
	return out;
}

static struct json_object *new_joined(const struct lqn_message_flow *flow)
{
	struct json_object *object = json_object_new_object();

	for (unsigned how = 0; how < LQN_JOININGS; how++) {
		if (flow->joined[how] > 0) {
			lqn_json_put_count(object, lqn_joining_name((enum lqn_joining) how), flow->joined[how]);
		}
	}
	return object;
}

struct json_object *lqn_json_new_flow(const struct lqn_message_flow *flow)
{
	struct json_object *it = json_object_new_object();

	lqn_json_put_text(it, "producer", flow->producer);
	lqn_json_put_text(it, "broker", flow->broker);
	lqn_json_put_text(it, "consumer", flow->consumer);
	lqn_json_put(it, "joined", new_joined(flow));
	lqn_json_put_count(it, "apart", flow->apart);
	lqn_json_put_number(it, "to-broker", flow->to_broker);
	lqn_json_put_number(it, "in-broker", flow->in_broker);
	lqn_json_put_number(it, "stored", flow->stored);
	lqn_json_put_number(it, "to-consumer", flow->to_consumer);
	lqn_json_put_number(it, "service-time", flow->service);
	lqn_json_put_number(it, "latency-p50", flow->p50);
	lqn_json_put_number(it, "latency-p95", flow->p95);
	lqn_json_put_number(it, "latency-max", flow->max);
	return it;
}
