# SPDX-License-Identifier: MIT
"""CPU time and peak memory of the plugin against the bare reading of the same trace.

Every graph runs in turn, RUNS times, so that what disturbs the machine disturbs all alike; the minimum of user + system time counts.
Traces: the largest of ours, and the folders that LQN_BENCH_TRACE names (separated by colons). LQN_BENCH_RUNS: at least 7.
"""
import os
import re
import subprocess
import tempfile

TRACES = [os.path.join(os.environ['LQN_TRACES'], n) for n in ('pgbench', 'epoll-workers', 'three-tier')]
TRACES += [t for t in os.environ.get('LQN_BENCH_TRACE', '').split(':') if t]
RUNS = max(7, int(os.environ.get('LQN_BENCH_RUNS', '7')))
OUTPUT = tempfile.TemporaryDirectory(prefix='lqn-bench-')
SINK = 'summary=no,overwrite=yes,output="%s/model"' % OUTPUT.name
FILTER = ['--component=filter.lqn.causal']
GRAPHS = [
    ('reading alone (sink.utils.dummy)', ['-o', 'dummy']),
    ('filter, pass-through=no, dummy', FILTER + ['--params=pass-through=no', '-o', 'dummy']),
    ('filter, pass-through=yes, dummy', FILTER + ['-o', 'dummy']),
    ('filter, model (all of it)', FILTER + ['--component=sink.lqn.model', '--params=' + SINK]),
    ('filter, pass-through=no, model', FILTER + ['--params=pass-through=no', '--component=sink.lqn.model', '--params=' + SINK]),
    ('text (sink.text.pretty)', ['-o', 'text']),
]


def measure(args):
    """(CPU s, peak MB) of a run; None if it fails, as the model does of a trace without requests."""
    child = subprocess.Popen(['babeltrace2', *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    says = child.stderr.read().decode(errors='replace')
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        print('  exit %d: %s' % (child.returncode, says.strip().splitlines()[-1] if says.strip() else ''))
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def count(trace):
    text = subprocess.run(['babeltrace2', trace, '--component=sink.utils.counter'], capture_output=True, text=True).stdout
    found = re.findall(r'(\d+) Event message', text)
    return int(found[-1]) if found else 0


for trace in TRACES:
    events = count(trace)
    best = {name: (float('inf'), 0) for name, _ in GRAPHS}
    print('%s: %d events, minima of %d runs' % (os.path.basename(trace.rstrip('/')), events, RUNS))
    for _ in range(RUNS):
        for name, args in GRAPHS:
            result = measure([trace, *args]) if name in best else None
            if result is None:
                best.pop(name, None)
            else:
                best[name] = (min(best[name][0], result[0]), max(best[name][1], result[1]))
    floor = best[GRAPHS[0][0]][0]
    print('  %-36s %8s %9s %7s %8s' % ('', 'CPU ms', 'ns/event', 'ratio', 'peak MB'))
    for name, (s, mb) in best.items():
        print('  %-36s %8.1f %9.0f %7.2f %8.1f' % (name, 1000 * s, 1e9 * s / max(events, 1), s / floor, mb), flush=True)
