# SPDX-License-Identifier: MIT
"""What is known of a recording: by the programs themselves (requests.csv), by the kernel's events, and by the plugin."""
import bisect
import collections
import csv
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))

import told

FIELD = re.compile(r'(\w+) = (?:\( "([^"]*)" : container = \d+ \)|"((?:[^"\\]|\\.)*)"|(-?\d+))')
HEAD = re.compile(r'^\[(\d+)\.(\d{9})\] \([^)]*\) (?:(\S+) )?([\w:]+): (.*)$')


def run(command):
    r = subprocess.run(command, capture_output=True, text=True, errors='replace')
    if r.returncode:
        print(f'{" ".join(command)}: {r.stderr.strip()[-400:]}', file=sys.stderr)
        sys.exit(2)
    return r.stdout


def kernel_traces(folder):
    """All CTF traces below a folder but those of user space."""
    return sorted(d for d, _, files in os.walk(folder) if 'metadata' in files and f'{os.sep}ust{os.sep}' not in d + os.sep)


class Clock:
    """A host's clock, as it was recorded: CLOCK_MONOTONIC + epoch, and what it was made to be off by."""

    def __init__(self, epoch, host):
        self.begin = host.get('drift_t0', 0) + epoch
        self.offset, self.drift = host.get('clock_offset_ns', 0), host.get('drift_ppm', 0) * 1e-6

    def true(self, ts):
        """What a time of the trace is by the clock of requests.csv."""
        if not self.offset and not self.drift:
            return ts
        return self.begin + round((ts - self.offset - self.begin) / (1 + self.drift))


class Event:
    """An lqn: event: fields as attributes."""
    __slots__ = ('name', '__dict__')


TIMES = ('begin', 'end', 'wake', 'call_begin', 'sent', 'at', 'woken_at')


def correct(events, clock, host):
    """Puts a host's events on the clock of requests.csv, and its numbers of objects apart from those of other hosts."""
    for mine in events.values():
        for e in mine:
            fields = e.__dict__
            for key in TIMES:
                if fields.get(key, 0) > 1 << 50:
                    fields[key] = clock.true(fields[key])
            for key in ('object', 'from'):
                if fields.get(key):
                    fields[key] = (host, fields[key])


def read_events(traces, plugin):
    by_name = collections.defaultdict(list)
    text = run(['babeltrace2', '--plugin-path=' + plugin] + traces + ['--component=filter.lqn.causal',
                '--params=pass-through=no', '--clock-seconds'])
    for line in text.splitlines():
        found = told.read(line)
        if not found:
            continue
        e = Event()
        e.name, fields = found
        for key, value in fields.items():
            setattr(e, key, value)
        by_name[e.name].append(e)
    return by_name


def read_paths(traces, plugin, begin, end):
    """Requests with their pieces from critical-paths.tsv of the whole trace."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'model')
        run(['babeltrace2', '--plugin-path=' + plugin] + traces + ['--component=filter.lqn.causal', '--component=sink.lqn.model',
             f'--params=output="{out}",all-paths=yes,summary=no,clutter=yes,begin={begin},end={end}'])
        with open(os.path.join(out, 'critical-paths.tsv'), newline='') as f:
            rows = list(csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE))
    paths = collections.OrderedDict()
    for r in rows:
        path = paths.setdefault(r['request'], {'begin': int(r['begin_ns']), 'end': int(r['end_ns']), 'pieces': [], 'locks': []})
        # waiting in a device's queue is waiting for the device
        kind = 'disk' if r['kind'] == 'disk queue' else r['kind']
        path['pieces'].append((int(r['piece_begin_ns']), int(r['piece_end_ns']), kind, int(r['thread']) & 0xffffffff,
                               r['detail'], r['task']))
        if r['kind'] == 'lock':
            path['locks'].append((int(r['piece_begin_ns']), int(r['piece_end_ns']), int(r['by_thread']) & 0xffffffff, r['by_request']))
    for number, path in paths.items():
        path['number'] = number
    return list(paths.values())


class Row:
    """An invocation of requests.csv, in the time of the trace."""

    def __init__(self, r, epoch):
        self.request, self.span, self.parent_span = r['request'], r['span'], r['parent']
        self.kind, self.task, self.entry = r['kind'], r['task'], r['entry']
        self.pid, self.tid = int(r['pid']), int(r['tid'])
        self.sent, self.start, self.reply, self.end = (int(r[k]) + epoch for k in ('sent_ns', 'start_ns', 'reply_ns', 'end_ns'))
        self.cpu = int(r['cpu1_ns'])
        self.truth = {'lock': int(r['lock_wait_ns']), 'sleep': int(r['sleep_ns']), 'disk': int(r['disk_ns'])}
        self.parent = None
        self.forwards = False
        self.on_path = self.kind in ('client', 'open')

    def is_below(self, other):
        up = self.parent
        while up and up is not other:
            up = up.parent
        return bool(up)

    @property
    def name(self):
        return f'{self.task}.{self.entry}'

    def __str__(self):
        return f'request {self.request} {self.name} (span {self.span}, thread {self.tid})'


def read_rows(trace, epoch):
    with open(os.path.join(trace, 'requests.csv'), newline='') as f:
        rows = [Row(r, epoch) for r in csv.DictReader(f)]
    spans = {r.span: r for r in rows}
    for r in sorted(rows, key=lambda r: r.start):
        r.parent = spans.get(r.parent_span) if r.parent_span != '0' else None
        if r.kind == 'forwarded' and r.parent:
            r.parent.forwards = True
        # a call that is waited for before the caller's own reply lies wholly on the path
        r.on_path |= r.kind == 'sync' and bool(r.parent) and r.parent.on_path and r.end <= r.parent.end and r.sent < r.parent.reply
    return rows


class Timeline:
    """Things of a thread, found by time."""

    def __init__(self, things, key):
        self.by = collections.defaultdict(list)
        for t in things:
            self.by[t.thread & 0xffffffff].append(t)
        self.keys = {}
        for tid, mine in self.by.items():
            mine.sort(key=key)
            self.keys[tid] = [key(t) for t in mine]

    def first_from(self, tid, ts):
        i = bisect.bisect_left(self.keys.get(tid, ()), ts)
        return self.by[tid][i] if i < len(self.by.get(tid, ())) else None

    def last_until(self, tid, ts):
        i = bisect.bisect_right(self.keys.get(tid, ()), ts)
        return self.by[tid][i - 1] if i > 0 else None


class Calls:
    """System calls of a thread in which it waited for a kind of thing."""

    def __init__(self, calls):
        self.by = collections.defaultdict(list)
        for tid, begin, end in calls:
            self.by[tid].append((begin, end))
        for mine in self.by.values():
            mine.sort()

    def holds(self, tid, begin, end):
        """The call that has [begin, end) in it, or None."""
        mine = self.by.get(tid, ())
        i = bisect.bisect_right(mine, (begin, 1 << 63)) - 1
        return mine[i] if i >= 0 and end <= mine[i][1] else None


def calls_of(events):
    thread = 0xffffffff
    return {
        'lock': Calls((e.thread & thread, e.begin, e.end) for e in events['futex_wait']),
        'sleep': Calls((e.thread & thread, e.begin, e.end) for e in events['sleep']),
        'disk': Calls((e.thread & thread, e.begin, e.end) for e in events['disk']),
    }


def run_time(stretches, begin, end):
    """How long a thread ran within [begin, end)."""
    i = max(0, bisect.bisect_right(stretches, (begin, 1 << 63)) - 1)
    total = 0
    while i < len(stretches) and stretches[i][0] < end:
        total += max(0, min(end, stretches[i][1]) - max(begin, stretches[i][0]))
        i += 1
    return total


def overlap(begin, end, ranges):
    """How much of [begin, end) lies in sorted ranges, which may overlap each other."""
    total = 0
    for since, until in ranges:
        if since < end and begin < until:
            total += max(0, min(end, until) - max(begin, since))
            begin = max(begin, until)
    return total


SWITCH = re.compile(r'prev_tid = (-?\d+).* prev_state = (\S+?),.* next_tid = (-?\d+)')
TID = re.compile(r'\btid = (-?\d+)')
CPU = re.compile(r'cpu_id = (\d+)')
VECTOR = re.compile(r'vec = (\d+)')


def read_kernel(traces):
    """What the kernel's events say by themselves: who ran where, and what each waking happened in."""
    runs = []			# (cpu, begin, end, tid), tid None where two switches contradict each other
    wakes = collections.defaultdict(list)	# (woken tid, ts) -> (tid of the CPU's thread, context, in a hole)
    came_instead = {}		# (tid that left, ts) -> tid that came
    taken = set()		# (woken tid, ts) of sched_wakeup
    pending = collections.defaultdict(list)
    last = {}			# cpu -> (ts, tid that came)
    stacks = collections.defaultdict(list)
    raised = collections.defaultdict(dict)	# cpu -> vector -> context it was raised in
    first = {}
    now = 0

    def settle(cpu, tid, hole):
        for woken, ts, context in pending.pop(cpu, ()):
            wakes[woken, ts].append((tid, context, hole))

    for line in run(['babeltrace2', '--clock-seconds'] + traces).splitlines():
        m = HEAD.match(line)
        cpu = m and CPU.search(m[5])
        if not cpu:
            continue
        cpu, name, now = int(cpu[1]), m[4], int(m[1]) * 1000000000 + int(m[2])
        first.setdefault(cpu, now)
        stack = stacks[cpu]
        if name == 'sched_switch':
            s = SWITCH.search(m[5])
            prev, nxt = int(s[1]), int(s[3])
            begin, came = last.get(cpu, (first[cpu], prev))
            runs.append((cpu, begin, now, prev if came == prev else None))
            came_instead[prev, now] = nxt
            settle(cpu, prev, came != prev)
            last[cpu] = (now, nxt)
            stack.clear()
        elif name == 'sched_wakeup':
            taken.add((int(TID.search(m[5])[1]), now))
        elif name == 'sched_waking':
            context = 'task'
            if stack:
                kind, vector = stack[-1]
                own = kind == 'softirq' and len(stack) == 1 and raised[cpu].get(vector) == 'task'
                context = 'own softirq' if own else kind
            pending[cpu].append((int(TID.search(m[5])[1]), now, context))
        elif name == 'irq_softirq_raise':
            raised[cpu][int(VECTOR.search(m[5])[1])] = stack[-1][0] if stack else 'task'
        elif name.endswith('_entry') and not name.startswith('syscall'):
            if name == 'irq_softirq_entry':
                stack.append(('softirq', int(VECTOR.search(m[5])[1])))
            elif name.startswith(('irq_handler', 'x86_irq_vectors', 'timer_')):
                stack.append((name[:-6], 0))
        elif name.endswith('_exit') and not name.startswith('syscall'):
            kind = 'softirq' if name == 'irq_softirq_exit' else name[:-5]
            for i in range(len(stack) - 1, -1, -1):
                if stack[i][0] == kind:
                    if kind == 'softirq':
                        raised[cpu].pop(stack[i][1], None)
                    del stack[i:]
                    break
    for cpu, (ts, tid) in last.items():
        runs.append((cpu, ts, None, tid))
        settle(cpu, tid, False)
    return runs, wakes, taken, came_instead
