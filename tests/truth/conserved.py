# SPDX-License-Identifier: MIT
"""Whether the lqn: events conserve time, and blame those who did it: against the kernel's own events."""
import bisect
import collections

def check_threads(f, events):
    """That what is said of each thread tiles its life. Returns when each thread id ran."""
    stretches = collections.defaultdict(list)
    for e in events['wait'] + events['preempted']:
        stretches[e.thread].append(e)
    exits = {e.thread: e.at for e in events['exit']}
    # who was put off a CPU by a waking has had it until then, by the kernel's clocks
    given_up = {(e.after, e.end): e.charged for e in events['wait'] if e.charged and e.after}
    end = max(e.end for e in events['summary'])
    ran = collections.defaultdict(list)
    f.values.setdefault('threads not tiled', 0)
    for thread, mine in stretches.items():
        mine.sort(key=lambda e: (e.begin, e.end))
        at = clock = None
        for e in mine:
            if not e.begin <= e.end or (e.name == 'wait' and e.wake >= 0 and not e.begin <= e.wake <= e.end):
                f.count('threads not tiled', f'thread {thread}: {e.name} {e.begin}..{e.end} is not in order')
            if at is None:
                if e.cpu:
                    ran[thread & 0xffffffff].append((e.begin - e.cpu, e.begin))
            else:
                if e.begin < at or e.cpu - clock != e.begin - at - given_up.get((thread, e.begin), 0):
                    f.count('threads not tiled', f'thread {thread}: {e.name} from {e.begin} on, the one before ended at {at}; the '
                            f'CPU clock went by {e.cpu - clock}')
                ran[thread & 0xffffffff].append((at, e.begin))
            at, clock = e.end, e.cpu + (e.charged if e.name == 'wait' else 0)
        last = exits.get(thread, end)
        if at < last:
            ran[thread & 0xffffffff].append((at, last))
    for mine in ran.values():
        mine.sort()
    return ran


def check_cpus(f, events, runs, ran):
    end = max(e.end for e in events['summary'])
    cpus = {e.cpu: e for e in events['cpu']}        # the last one of each counts
    first = {e.cpu: e.begin for e in cpus.values()}
    holes = 0
    f.values.setdefault('cpus not tiled', 0)
    for cpu, begin, stop, tid in runs:
        if tid is None:
            holes += 1
        elif tid > 0:
            mine = ran.get(tid, ())
            begin = max(begin, first.get(cpu, begin))
            i = bisect.bisect_right(mine, (begin, 1 << 63)) - 1
            if (i < 0 or mine[i][1] < (stop or end)) and stop is not None:
                # a thread of which nothing but this was seen has no stretch at all to tell of
                if tid in ran:
                    f.count('cpus not tiled', f'CPU {cpu} ran thread {tid} from {begin} to {stop}; said: '
                            f'{mine[i] if i >= 0 else None}')
    # an idle CPU; where a switch is missing it may have been
    idle, unsure = collections.Counter(), collections.Counter()
    for cpu, begin, stop, tid in runs:
        if tid is None or tid == 0:
            (unsure if tid is None else idle)[cpu] += max(0, (stop or end) - max(begin, first.get(cpu, begin)))
    for e in cpus.values():
        if not idle[e.cpu] <= e.idle <= idle[e.cpu] + unsure[e.cpu]:
            f.count('cpus not tiled', f'CPU {e.cpu} was idle for {idle[e.cpu]} to {idle[e.cpu] + unsure[e.cpu]} ns, said {e.idle}')
    return holes


def check_preempted(f, events, came_instead):
    f.values.setdefault('preempted wrong', 0)
    for e in events['preempted']:
        came = came_instead.get((e.thread & 0xffffffff, e.begin))
        # a new thread has not left a CPU yet
        if came is not None and came != e.by & 0xffffffff:
            f.count('preempted wrong', f'thread {e.thread} at {e.begin}: {came} came, said {e.by}')


def check_blame(f, events, wakes, taken):
    for name in ('interrupted blamed', 'unknown blamed', 'wakes unblamed'):
        f.values.setdefault(name, 0)
    checked = 0
    early = 0
    by_tid = collections.defaultdict(list)
    names = {e.thread: e.comm for e in events['thread']}
    for tid, ts in wakes:
        by_tid[tid].append(ts)
    for mine in by_tid.values():
        mine.sort()
    for w in events['wait']:
        tid = w.thread & 0xffffffff
        if w.wake < 0:
            continue
        at = w.wake
        if (tid, at) in taken and (tid, at) not in wakes:
            # the waking itself was not traced: nobody can be blamed for it
            if w.by:
                f.count('unknown blamed', f'thread {w.thread} woken at {at} by nobody seen: said {w.by}')
            continue
        if (tid, at) not in wakes:
            # woken before it had left the CPU: the wake is dated to its leaving
            i = bisect.bisect_right(by_tid[tid], at) - 1
            if i < 0 or w.wake != w.begin:
                f.count('unknown blamed', f'thread {w.thread}: nothing woke it at {w.wake}')
                continue
            at = by_tid[tid][i]
            early += 1
        checked += 1
        runner, context, hole = wakes[tid, at][0]
        if w.by:
            if context not in ('task', 'own softirq'):
                f.count('interrupted blamed', f'thread {w.thread} woken at {at} in {context} over thread {runner}: said {w.by} '
                        f'({w.cause})')
            elif hole and w.evidence == 'certain':
                f.count('unknown blamed', f'thread {w.thread} woken at {at} by {w.by}, for certain, though a switch is missing there')
            elif w.by & 0xffffffff != runner:
                f.count('unknown blamed', f'thread {w.thread} woken at {at} by {runner}{" (hole)" if hole else ""}: said {w.by}')
        elif context == 'task' and runner > 0 and w.cause != 'device' and not (
                w.cause == 'interrupt' and names.get(w.thread, '').startswith('ksoftirqd/')):
            # an interrupt that is over has left its softirqs to ksoftirqd
            f.count('wakes unblamed', f'thread {w.thread} woken at {at} by {runner}: said {w.cause}')
    return checked, early
