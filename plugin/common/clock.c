/* SPDX-License-Identifier: MIT */
#include "plugin/common/clock.h"

static void set_origin(bt_self_component *self, bt_clock_class *clock, bool epoch)
{
#if BT_HAVE_MIP1
	if (bt_self_component_get_graph_mip_version(self) >= 1) {
		if (epoch) {
			bt_clock_class_set_origin_unix_epoch(clock);
		} else {
			bt_clock_class_set_origin_unknown(clock);
		}
		return;
	}
#endif
	bt_clock_class_set_origin_is_unix_epoch(clock, epoch);
}

bt_clock_class *lqn_clock_new(bt_self_component *self, const char *name, bool epoch)
{
	bt_clock_class *clock = bt_clock_class_create(self);

	if (!clock) {
		return NULL;
	}
	set_origin(self, clock, epoch);
	if (bt_clock_class_set_name(clock, name) != BT_CLOCK_CLASS_SET_NAME_STATUS_OK ||
			bt_clock_class_set_description(clock, epoch ? "ns from the Unix epoch" : "ns") !=
				BT_CLOCK_CLASS_SET_DESCRIPTION_STATUS_OK) {
		BT_CLOCK_CLASS_PUT_REF_AND_RESET(clock);
	}
	return clock;
}
