# SPDX-License-Identifier: MIT
"""How time and memory grow with a trace, by tests/benchmark/scale.c: its length, then what is in it. argv[1]: the program.

Times are CPU ns per record: of everything up to the last record, and of the model, paths and files behind it.
"""
import re
import subprocess
import sys

MILLION = 1000000
SERIES = [
    ('length', [['events=%d' % (n * MILLION), 'threads=10'] for n in (1, 4, 16, 64)]),
    ('threads', [['events=%d' % (4 * MILLION), 'threads=%d' % n] for n in (10, 1000, 100000)]),
    ('connections', [['events=%d' % (4 * MILLION), 'connections=%d' % n, 'every=1'] for n in (10, 1000, 100000)]),
    ('engine alone, length', [['events=%d' % (n * MILLION), 'threads=10', 'until=engine'] for n in (1, 4, 16, 64)]),
]

for name, runs in SERIES:
    print('%-44s %10s %10s %8s' % (name, 'ns/record', 'of the end', 'peak MB'))
    for args in runs:
        text = subprocess.run([sys.argv[1], *args], stdout=subprocess.PIPE, text=True, check=True).stdout
        # "  WHAT  S s  NS ns/event  MB MB": of reading, then of the end
        ns, peaks = zip(*((float(n), float(mb)) for n, mb in re.findall(r'([\d.]+) ns/event +([\d.]+) MB', text)))
        print('  %-42s %10.0f %10.0f %8.1f' % (' '.join(args), sum(ns), ns[-1], max(peaks)), flush=True)
