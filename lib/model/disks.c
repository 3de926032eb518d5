/* SPDX-License-Identifier: MIT */

/* Block devices as processors, with a task and an entry for each entry that waits for them. */
#include "build.h"

#define OPERATIONS_MIN 0.005	/* per invocation */

struct device {
	struct lqn_party *host;
	uint64_t number;
	struct lqn_task *task;
};

static struct lqn_task *task_of(struct lqn_build *build, GArray *devices, struct lqn_party *host, uint64_t number)
{
	/* the kernel's own split of a device number */
	unsigned major = (unsigned) (number >> 20), minor = (unsigned) (number & 0xfffff);
	struct device device = { host, number, NULL };
	g_autofree char *wanted = g_strdup_printf("disk_%u_%u", major, minor);
	const char *name;

	for (guint i = 0; i < devices->len; i++) {
		struct device *it = &g_array_index(devices, struct device, i);

		if (it->host == host && it->number == number) {
			return it->task;
		}
	}
	name = lqn_build_name(build, number ? wanted : "disk");
	device.task = lqn_processor_add_task(lqn_model_add_processor(build->model, name, LQN_SCHED_FCFS, 1), name,
		LQN_TASK_DISK, LQN_SCHED_FCFS, 1);
	g_array_append_val(devices, device);
	return device.task;
}

static void add_disk(struct lqn_build *build, GArray *devices, struct lqn_cluster *cluster)
{
	double operations[2] = { 0, 0 }, square[2] = { 0, 0 }, all, busy = 0, n = cluster->members->len;
	guint counts[2][LQN_COUNTS + 1] = { { 0 } };
	uint64_t device = 0;
	struct lqn_task *task;
	struct lqn_entry *entry;
	g_autofree char *wanted = NULL;

	for (guint i = 0; i < cluster->members->len; i++) {
		const struct lqn_invocation *it = cluster->members->pdata[i];
		bool late = cluster->entry->has_phase2;
		guint each[2] = { it->disks[0] + (late ? 0 : it->disks[1]), late ? it->disks[1] : 0 };

		for (unsigned phase = 0; phase < 2; phase++) {
			operations[phase] += each[phase];
			square[phase] += (double) each[phase] * each[phase];
			counts[phase][MIN(each[phase], LQN_COUNTS)]++;
			busy += (double) it->disk_ns[phase];
		}
		device = it->device ? it->device : device;
	}
	all = operations[0] + operations[1];
	if (all / n <= OPERATIONS_MIN) {
		return;
	}
	task = task_of(build, devices, cluster->service->host, device);
	wanted = g_strdup_printf("%s_%s", task->name, cluster->entry->name);
	entry = lqn_task_add_entry(task, lqn_build_name(build, wanted));
	entry->phase[0].demand = busy / all / 1e9;
	entry->invocations = (uint64_t) all;
	entry->service = entry->phase[0].demand;
	entry->throughput = all / ((double) build->wall / 1e9);
	task->throughput += entry->throughput;
	task->utilization += entry->throughput * entry->phase[0].demand;
	for (unsigned phase = 0; phase < 2; phase++) {
		if (operations[phase] > 0) {
			struct lqn_model_call *call = lqn_entry_add_call(cluster->entry, phase, entry, LQN_SYNC, operations[phase] / n);

			call->cvsq = lqn_cvsq(operations[phase], square[phase], n);
			call->ci = lqn_interval(operations[phase], square[phase], n);
			lqn_call_set_counts(call, counts[phase], cluster->members->len);
		}
	}
}

void lqn_build_disks(struct lqn_build *build)
{
	g_autoptr(GArray) devices = g_array_new(FALSE, FALSE, sizeof(struct device));

	for (guint i = 0; i < build->services->len; i++) {
		struct lqn_service *service = build->services->pdata[i];

		for (guint k = 0; k < service->clusters->len; k++) {
			struct lqn_cluster *cluster = service->clusters->pdata[k];

			if (cluster->entry) {
				add_disk(build, devices, cluster);
			}
		}
	}
}
