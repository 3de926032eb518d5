# SPDX-License-Identifier: MIT
"""How many instructions the filter and the whole pipeline take, against the bare reading of the same trace in the same run.

Times vary with the machine and its load, these counts (valgrind, callgrind) by less than a thousandth. So a slow-down fails here that
no clock would tell. The counts are also shown by stage, in instructions per event. LQN_BENCH_TRACE: another trace than the usual one,
without bounds.
"""
import collections
import os
import re
import shutil
import subprocess

import lqntest

FILTER = ['--component=filter.lqn.causal']
DROP = ['--params=pass-through=no']
DUMMY = ['-o', 'dummy']

# Instructions by those of the reading; when this was written they were 1.18 and 1.34.
BOUNDS = {'filter': 1.21, 'whole': 1.37}

OTHERS = [('babeltrace-plugin-ctf', 'source.ctf.fs'), ('babeltrace-plugin-utils', 'muxer'), ('libbabeltrace2', 'libbabeltrace2'),
          ('libglib', 'GLib'), ('libc', 'libc'), ('ld-linux', 'loading')]

OURS = re.compile(r'(lib|plugin)/[a-z]+(?=/[a-z-]+\.[ch]$)')

trace = os.environ.get('LQN_BENCH_TRACE', '').split(':')[0] or lqntest.trace('three-tier')
counts = {}


def stage_of(binary, source):
    """The folder of our own code, or the library."""
    ours = OURS.search(source)
    if 'babeltrace-plugin-lqn' in binary:
        return ours[0] if ours else 'plugin'
    return next((stage for name, stage in OTHERS if name in binary), 'other')


def read_profile(path):
    """Instructions by stage, from callgrind's file; what a call costs is counted where it is spent."""
    names = {'ob': {}, 'fl': {}, 'fn': {}}
    now = {'ob': '', 'fl': '', 'fn': ''}
    costs = collections.Counter()
    files = {}                          # of functions, for those of whose instructions valgrind finds no line
    skip = False
    with open(path) as f:
        for line in f:
            named = re.match(r'(c?)(ob|fl|fi|fe|fn)=\((\d+)\)(?: (.*))?$', line)
            if named:
                # a name comes once, with its number; `c`: of what is called
                kind = 'fl' if named[2] in ('fi', 'fe') else named[2]
                name = names[kind].setdefault(named[3], named[4] or '')
                if not named[1]:
                    now[kind] = name
                if not named[1] and kind == 'fn' and OURS.search(now['fl']):
                    files.setdefault(name, now['fl'])
            elif line.startswith('calls='):
                skip = True             # the next line is the cost of the whole call
            elif line[0] in '0123456789+-*':
                if not skip:
                    source = now['fl'] if now['fl'] != '???' else files.get(now['fn'], '')
                    costs[now['ob'], source, now['fn']] += int(line.split()[1])
                skip = False
    stages = collections.Counter()
    for (binary, source, function), cost in costs.items():
        stages[stage_of(binary, source or files.get(function, ''))] += cost
    return stages


def count(scratch, name, graph):
    """Runs a graph under callgrind, once."""
    if name not in counts:
        out = scratch(name.replace(' ', '-'))
        lqntest.succeed(subprocess.run(
            ['valgrind', '--tool=callgrind', '--callgrind-out-file=' + out, 'babeltrace2', trace, *graph],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors='replace'))
        counts[name] = read_profile(out)
    return sum(counts[name].values())


def graphs(scratch):
    model = '--params=summary=no,overwrite=yes,output="%s"' % scratch('model')
    return {
        'reading': DUMMY,
        'filter': FILTER + DROP + DUMMY,
        'whole': FILTER + ['--component=sink.lqn.model', model],
        'filter twice': FILTER + FILTER + DROP + DUMMY,
    }


def ratio(scratch, name):
    all_graphs = graphs(scratch)
    return count(scratch, name, all_graphs[name]) / count(scratch, 'reading', all_graphs['reading'])


def within(scratch, name):
    found = ratio(scratch, name)
    print('# %s: %.3f times the instructions of the reading, bound %.2f' % (name, found, BOUNDS[name]))
    assert found <= BOUNDS[name] or 'LQN_BENCH_TRACE' in os.environ, \
        '%s takes %.3f times the instructions of the bare reading, bound %.2f: doc/performance.md' % (name, found, BOUNDS[name])


def fails(scratch):
    """A filter that does its work twice is beyond the bound: the check can fail."""
    found = ratio(scratch, 'filter twice')
    print('# filter twice: %.3f' % found)
    assert found > BOUNDS['filter'], 'the work done twice is within the bound of %.2f: %.3f' % (BOUNDS['filter'], found)


def show_stages():
    text = subprocess.run(['babeltrace2', trace, '--component=sink.utils.counter'], capture_output=True, text=True).stdout
    events = int(re.findall(r'(\d+) Event message', text)[-1])
    columns = ['reading', 'filter', 'whole']
    print('# instructions per event of %s, %d events' % (os.path.basename(trace.rstrip('/')), events))
    print('#   %-16s %9s %9s %9s' % ('', *columns))
    for stage in sorted(counts['whole'], key=lambda s: -counts['whole'][s]):
        print('#   %-16s %9.1f %9.1f %9.1f' % (stage, *(counts[c][stage] / events for c in columns)))
    print('#   %-16s %9.1f %9.1f %9.1f' % ('all', *(sum(counts[c].values()) / events for c in columns)), flush=True)


if not shutil.which('valgrind'):
    print('1..0 # SKIP valgrind is not installed')
else:
    with lqntest.Scratch() as folder:
        lqntest.run([
            ('filter_is_within_its_bound', lambda: within(folder, 'filter')),
            ('whole_pipeline_is_within_its_bound', lambda: within(folder, 'whole')),
            ('a_slow_down_is_found', lambda: fails(folder)),
        ])
        if len(counts) == 4:
            show_stages()
