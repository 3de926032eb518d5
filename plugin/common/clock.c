/* SPDX-License-Identifier: MIT */
#include "plugin/common/clock.h"

bt_clock_class *lqn_clock_new(bt_self_component *self, const char *name)
{
	bt_clock_class *clock = bt_clock_class_create(self);

	if (!clock) {
		return NULL;
	}
#if BT_HAVE_MIP1
	if (bt_self_component_get_graph_mip_version(self) >= 1) {
		bt_clock_class_set_origin_unix_epoch(clock);
	} else {
		bt_clock_class_set_origin_is_unix_epoch(clock, BT_TRUE);
	}
#else
	bt_clock_class_set_origin_is_unix_epoch(clock, BT_TRUE);
#endif
	if (bt_clock_class_set_name(clock, name) != BT_CLOCK_CLASS_SET_NAME_STATUS_OK ||
			bt_clock_class_set_description(clock, "ns from the Unix epoch") !=
				BT_CLOCK_CLASS_SET_DESCRIPTION_STATUS_OK) {
		BT_CLOCK_CLASS_PUT_REF_AND_RESET(clock);
	}
	return clock;
}
