# SPDX-License-Identifier: MIT
"""CPU time and peak memory of the plugin against the bare reading of the same trace.

Every graph runs in turn, RUNS times, so that what disturbs the machine disturbs all alike; the minimum of user + system time counts.
Traces: the largest of ours, and the folders that LQN_BENCH_TRACE names (separated by colons). LQN_BENCH_RUNS: at least 7.
"""
import os
import re
import subprocess
import sys

TRACES = [os.path.join(os.environ['LQN_TRACES'], n) for n in ('pgbench', 'epoll-workers', 'three-tier')]
TRACES += [t for t in os.environ.get('LQN_BENCH_TRACE', '').split(':') if t]
RUNS = max(7, int(os.environ.get('LQN_BENCH_RUNS', '7')))
FILTER = ['--component=filter.lqn.causal']
GRAPHS = [
    ('reading alone (sink.utils.dummy)', ['-o', 'dummy']),
    ('filter, pass-through=no, dummy', FILTER + ['--params=pass-through=no', '-o', 'dummy']),
    ('filter, pass-through=yes, dummy', FILTER + ['-o', 'dummy']),
    ('filter, model (all of it)', FILTER + ['--component=sink.lqn.model', '--params=summary=no']),
    ('filter, pass-through=no, model', FILTER + ['--params=pass-through=no', '--component=sink.lqn.model', '--params=summary=no']),
    ('text (sink.text.pretty)', ['-o', 'text']),
]


def measure(args):
    """(CPU s, peak MB) of a run."""
    child = subprocess.Popen(['babeltrace2', *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    says = child.stderr.read().decode(errors='replace')
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit('%s: exit %d\n%s' % (' '.join(args), child.returncode, says[-800:]))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def count(trace):
    text = subprocess.run(['babeltrace2', trace, '--component=sink.utils.counter'], capture_output=True, text=True).stdout
    found = re.findall(r'(\d+) Event message', text)
    return int(found[-1]) if found else 0


for trace in TRACES:
    events = count(trace)
    best = {name: (float('inf'), 0) for name, _ in GRAPHS}
    for _ in range(RUNS):
        for name, args in GRAPHS:
            s, mb = measure([trace, *args])
            best[name] = (min(best[name][0], s), max(best[name][1], mb))
    floor = best[GRAPHS[0][0]][0]
    print('%s: %d events, minima of %d runs' % (os.path.basename(trace.rstrip('/')), events, RUNS))
    print('  %-36s %8s %9s %7s %8s' % ('', 'CPU ms', 'ns/event', 'ratio', 'peak MB'))
    for name, _ in GRAPHS:
        s, mb = best[name]
        print('  %-36s %8.1f %9.0f %7.2f %8.1f' % (name, 1000 * s, 1e9 * s / max(events, 1), s / floor, mb), flush=True)
