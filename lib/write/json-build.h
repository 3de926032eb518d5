/* SPDX-License-Identifier: MIT */
#ifndef LQN_WRITE_JSON_BUILD_H
#define LQN_WRITE_JSON_BUILD_H

/* JSON by json-c: objects and arrays take the values that are put into them. */
#include <glib.h>
#include <json-c/json.h>
#include <stdint.h>

#include "model/model.h"

void lqn_json_put(struct json_object *object, const char *key, struct json_object *value);
void lqn_json_append(struct json_object *array, struct json_object *value);
/* Text from the trace, cleaned. */
struct json_object *lqn_json_new_text(const char *text);
/* Nothing is put where `text` is NULL. */
void lqn_json_put_text(struct json_object *object, const char *key, const char *text);
void lqn_json_put_count(struct json_object *object, const char *key, uint64_t count);
void lqn_json_put_int(struct json_object *object, const char *key, int64_t value);
/* `begin-ns` and `end-ns`. */
void lqn_json_put_window(struct json_object *object, int64_t begin, int64_t end);
/* As lqn_text_number() has it. */
struct json_object *lqn_json_new_number(double value);
void lqn_json_put_number(struct json_object *object, const char *key, double value);
/* Whose messages a service passes on to whom. */
struct json_object *lqn_json_new_flow(const struct lqn_message_flow *flow);
/* The text of an object, which is put away. */
GString *lqn_json_print(struct json_object *object, int flags);

#endif
