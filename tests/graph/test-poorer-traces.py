# SPDX-License-Identifier: MIT
"""Traces that lack some of what ours have: the structure of the model must not depend on it."""
import os
import re
import xml.etree.ElementTree as ET

from lqntest import FILTER, MARKS, SINK, Scratch, bt2, run, succeed, trace


def model_without(name, events, out, window=MARKS):
    succeed(bt2(trace(name), '--component=filter.lqn-test.drop', '--params=names=[%s]' % ','.join('"%s"' % e for e in events),
                FILTER, SINK, '--params=output="%s",%s' % (out, window)))
    return ET.parse(os.path.join(out, 'model.lqnx')).getroot()


def structure(root):
    """Tasks with multiplicities, and calls between them."""
    owner = {e.get('name'): t.get('name') for t in root.iter('task') for e in t.iter('entry')}
    tasks = sorted((t.get('name'), t.get('multiplicity', '1'), t.get('scheduling')) for t in root.iter('task'))
    calls = sorted({(t.get('name'), owner[c.get('dest')], c.tag) for t in root.iter('task') for c in t.iter()
                    if c.tag in ('synch-call', 'asynch-call', 'forwarding')})
    return tasks, calls


def same_without(name, events):
    with Scratch() as dir:
        whole, poor = (structure(model_without(name, e, dir(out))) for e, out in ((['none'], 'whole'), (events, 'poor')))
        assert whole == poor, '%s\nbecame\n%s' % (whole, poor)


def same_from_wakings_alone(name):
    """No system calls: the same services call each other; of pools, locks and devices nothing is seen."""
    with open(os.path.join(trace(name), 'kernel', 'metadata'), 'rb') as file:
        events = {e.decode() for e in re.findall(rb'name = "([a-z0-9_]+)"', file.read())}
    calls = [e for e in events if not re.match('sched_|irq_|x86_irq|timer_|lttng_statedump_process_state', e)]
    with Scratch() as dir:
        whole, poor = (structure(model_without(name, e, dir(out), 'whole=no'))
                       for e, out in ((['none'], 'whole'), (calls, 'poor')))
    seen = [{c for c in calls if not re.match('[a-z]+_', c[1])} for _, calls in (whole, poor)]
    assert seen[0] == seen[1] and len(seen[0]) > 0, '%s\nbecame\n%s' % tuple(seen)


def degraded_but_alive(name, events):
    with Scratch() as dir:
        tasks, _ = structure(model_without(name, events, dir('out')))
        assert {'client', 'web'} <= {t[0] for t in tasks} or name == 'pipe', tasks


# only our recorder writes these, or not every user will enable them
EXTRAS = ['inet_sock_set_state', 'workqueue_queue_work', 'workqueue_execute_start', 'workqueue_execute_end', 'napi_poll',
          'net_dev_xmit', 'net_if_rx', 'sched_migrate_task', 'irq_softirq_raise', 'signal_deliver']

run([('%s: without events that only our recorder has' % n, lambda n=n: same_without(n, EXTRAS))
     for n in ['three-tier', 'tcp', 'short-connections', 'async-phase2', 'epoll-workers', 'queues']] +
    [('%s: from wakings alone' % n, lambda n=n: same_from_wakings_alone(n))
     for n in ['three-tier', 'pipe', 'tcp', 'mutex', 'epoll-workers', 'short-connections']] +
    [('three-tier: without the dump of the initial state', lambda: same_without('three-tier', [
        'lttng_statedump_process_state', 'lttng_statedump_file_descriptor', 'lttng_statedump_start', 'lttng_statedump_end'])),
     ('three-tier: without interrupts', lambda: degraded_but_alive('three-tier', [
         'irq_handler_entry', 'irq_handler_exit', 'irq_softirq_entry', 'irq_softirq_exit', 'timer_hrtimer_expire_entry',
         'timer_hrtimer_expire_exit', 'x86_irq_vectors_local_timer_entry', 'x86_irq_vectors_local_timer_exit'])),
     ('three-tier: without sched_waking', lambda: same_without('three-tier', ['sched_waking'])),
     ('tcp: without packets', lambda: same_without('tcp', [
         'net_dev_queue', 'net_if_receive_skb', 'skb_copy_datagram_iovec', 'net_dev_xmit', 'net_if_rx', 'inet_sock_set_state']))])
