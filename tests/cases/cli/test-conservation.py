# SPDX-License-Identifier: MIT
"""
On real traces: per thread, waits and preemptions lie one behind the other, and the thread's clock ran exactly between them; per CPU,
idleness and interrupts are within its time; what is blocked without a cause is next to nothing. And each thread's path tiles its life.
"""
import collections
import os
import re
import sys

import told
from lqntest import TRACES, Scratch, bt2, run, succeed, trace

UNEXPLAINED_MAX = 0.001
NAMES = sorted(n for n in os.listdir(TRACES) if os.path.isdir(trace(n)))


def read_events(name):
    """Of each host: (class, fields)."""
    out, host = collections.defaultdict(list), None
    result = succeed(bt2('--clock-seconds', trace(name), '--component=filter.lqn.causal', '--params=pass-through=no'))
    for line in result.stdout.splitlines():
        found = told.read(line)
        if found and found[0] == 'host':
            host = found[1]['name']
        if found:
            out[host].append(found)
    return out


SWITCH = re.compile(r'^\[(\d+)\.(\d+)\] \(\S+\) (\S+) sched_switch: \{ cpu_id = (\d+) \}.* prev_tid = (\d+),.* next_tid = (\d+)')


def read_holes(name):
    """The times of each host in which a CPU has lost switches: what came before one ran another thread than it tells."""
    holes, last = collections.defaultdict(list), {}
    for line in succeed(bt2('--clock-seconds', trace(name))).stdout.splitlines():
        match = SWITCH.match(line)
        if not match:
            continue
        at, host, cpu = int(match.group(1)) * 10**9 + int(match.group(2)), match.group(3), match.group(4)
        before, tid = last.get((host, cpu), (at, match.group(5)))
        if tid != match.group(5):
            holes[host].append((before, at))
        last[host, cpu] = at, match.group(6)
    return holes


def events_of_one_host(name):
    hosts = read_events(name)
    # the lines of several hosts are merged, and do not say whose they are
    return next(iter(hosts.values())) if len(hosts) == 1 else None


def threads_are_tiled(name):
    events = events_of_one_host(name)
    if events is None:
        return 'skip'
    last, given_up = {}, {}
    for kind, f in events:
        if kind not in ('wait', 'preempted'):
            continue
        assert f['begin'] <= f['end'], (kind, f)
        if kind == 'wait' and f['wake'] >= 0:
            assert f['begin'] <= f['wake'] <= f['end'], f
        assert 0 <= f['idle'] <= f['end'] - f['begin'], f
        if f['thread'] in last:
            end, cpu = last[f['thread']]
            assert end <= f['begin'], 'thread %d: %d before %d' % (f['thread'], f['begin'], end)
            time = f['begin'] - end - given_up.get((f['thread'], f['begin']), 0)
            assert f['cpu'] - cpu == time, 'thread %d at %d: clock %d ns, time %d ns' % (
                f['thread'], f['begin'], f['cpu'] - cpu, time)
        last[f['thread']] = f['end'], f['cpu'] + f.get('charged', 0)
        if f.get('charged', 0) and f['after']:
            given_up[f['after'], f['end']] = f['charged']       # the clock of whom it put off its CPU stood still from its waking on
    assert last
    return None


def cpus_are_within_their_time(name):
    for events in read_events(name).values():
        for kind, f in events:
            if kind == 'cpu':
                assert 0 <= f['idle'] <= f['end'] - f['begin'], f
                assert 0 <= f['hardirq'] + f['softirq'] <= f['end'] - f['begin'], f


def waits_have_causes(name):
    unexplained, blocked, idle_wakers, holes = 0, 0, set(), read_holes(name)
    for host, events in read_events(name).items():
        kernel = {f['thread'] for kind, f in events if kind == 'thread' and f['kernel']}
        for kind, f in events:
            if kind != 'wait' or f['open'] or f['thread'] in kernel or f['state'] == 0:
                continue
            until = f['wake'] if f['wake'] >= 0 else f['end']
            blocked += until - f['begin']
            # what ended a wait within a hole was not recorded
            if f['cause'] == 'unknown' and not any(b < f['end'] and e > f['begin'] for b, e in holes[host]):
                unexplained += until - f['begin']
            if f['cause'] in ('timer', 'device', 'ipi', 'interrupt'):
                idle_wakers.add(f['by'])
    assert blocked > 0
    assert unexplained <= UNEXPLAINED_MAX * blocked, '%.3f %% of %.3f s have no cause' % (100 * unexplained / blocked, blocked / 1e9)
    assert idle_wakers <= {0}, 'an interrupt was blamed on a thread'


def paths_tile(name):
    hosts = read_events(name)
    for events in list(hosts.values())[:1]:
        waits = collections.Counter(f['thread'] for kind, f in events if kind == 'wait')
        host = next(f['name'] for kind, f in events if kind == 'host')
        for key, _ in waits.most_common(3):
            with Scratch() as dir:
                result = bt2(trace(name), '--component=filter.lqn.causal', '--component=sink.lqn.model',
                             '--params=summary=no,output="%s",thread="%s:%d"' % (dir('out'), host, key & 0xffffffff))
                succeed(result)
                with open(dir('out/thread-path.tsv')) as file:
                    rows = [line.split('\t') for line in file.read().splitlines()[1:]]
                assert rows, 'no rows'
                for one, two in zip(rows, rows[1:]):
                    assert one[1] == two[0], (one, two)
                assert all(int(r[0]) < int(r[1]) for r in rows)


run([('%s: %s' % (name, test.__name__.replace('_', ' ')), lambda name=name, test=test: test(name))
     for name in NAMES for test in (threads_are_tiled, cpus_are_within_their_time, waits_have_causes, paths_tile)])
sys.stdout.flush()
