# SPDX-License-Identifier: MIT
"""filter.lqn.causal leaves the trace as it is, and adds its own events in the order of time."""
import re

from lqntest import FILTER, bt2, run, succeed, trace

# three-tier: one host; two-hosts: several streams of our own; pgbench: futexes between processes
NAMES = ['three-tier', 'two-hosts', 'pgbench']


def lines(*args):
    return succeed(bt2(*args, '--no-delta', '--clock-seconds')).stdout.splitlines()


def is_own(line):
    return re.search(r'\] (\(.*?\) )?(\S+ )?lqn:', line) is not None


def originals_are_untouched(name):
    before, after = lines(trace(name)), lines(trace(name), FILTER)
    kept = [line for line in after if not is_own(line)]
    assert len(kept) == len(before), '%d events became %d' % (len(before), len(kept))
    for a, b in zip(before, kept):
        assert a == b, 'was: %s\nis: %s' % (a, b)
    assert any(is_own(line) for line in after), 'no lqn: event came'


def time_does_not_go_back(name):
    last = 0
    for line in lines(trace(name), FILTER):
        now = tuple(map(int, re.match(r'\[(\d+)\.(\d+)\]', line).groups()))
        assert not last or now >= last, 'before %s.%s comes: %s' % (*last, line)
        last = now


def without_pass_through_only_our_own_remain(name):
    both, own = lines(trace(name), FILTER), lines(trace(name), FILTER, '--params=pass-through=no')
    assert own == [line for line in both if is_own(line)], '%d lines are not the %d of the mixed output' % (
        len(own), len([line for line in both if is_own(line)]))


def the_main_kinds_of_events_are_there():
    text = '\n'.join(lines(trace('three-tier'), FILTER, '--params=pass-through=no'))
    for kind in ['host', 'thread', 'wait', 'preempted', 'object', 'send', 'receive', 'sleep', 'mark', 'cpu', 'summary']:
        assert 'lqn:%s:' % kind in text, 'no lqn:%s' % kind
    assert 'schema = 2' in text


def details_accept_the_stream():
    succeed(bt2(trace('three-tier'), FILTER, '--component=sink.text.details', '--params=compact=yes'))


def the_filter_twice_does_no_harm():
    both = lines(trace('pipe'), FILTER)
    twice = lines(trace('pipe'), FILTER, FILTER)
    assert [x for x in both if not is_own(x)] == [x for x in twice if not is_own(x)]


run([('%s: originals are untouched' % n, lambda n=n: originals_are_untouched(n)) for n in NAMES] +
    [('%s: time does not go back' % n, lambda n=n: time_does_not_go_back(n)) for n in NAMES] +
    [('%s: pass-through=no gives our own events alone' % n, lambda n=n: without_pass_through_only_our_own_remain(n)) for n in NAMES] +
    [('the main kinds of events are there', the_main_kinds_of_events_are_there),
     ('sink.text.details accepts the stream', details_accept_the_stream),
     ('the filter twice does no harm', the_filter_twice_does_no_harm)])
