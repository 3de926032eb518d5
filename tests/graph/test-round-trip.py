# SPDX-License-Identifier: MIT
"""The same model comes out, byte for byte, of two runs, of a saved `lqn:` stream, and of a saved mixed trace."""
import os
import re

from lqntest import FILTER, MARKS, SINK, Scratch, TRACES, bt2, model_args, read_folder, refuse, run, succeed, trace

FILES = ['critical-path.folded', 'critical-path.txt', 'model.json', 'model.lqn', 'model.lqnx']
MARKED = sorted(n for n in os.listdir(TRACES) if os.path.exists(os.path.join(TRACES, n, 'truth.lqn')))


def options(name):
    return MARKS if name in MARKED else ''


def same(a, b):
    assert sorted(a) == sorted(b), '%s against %s' % (sorted(a), sorted(b))
    for name in a:
        if a[name] != b[name]:
            x, y = (t.decode(errors='replace').splitlines() for t in (a[name], b[name]))
            line = next((i for i, (p, q) in enumerate(zip(x, y)) if p != q), min(len(x), len(y)))
            raise AssertionError('%s differs in line %d:\n%s\n%s' % (
                name, line + 1, *(t[line] if line < len(t) else '(end)' for t in (x, y))))


def two_runs_are_equal(name):
    with Scratch() as dir:
        summaries = [succeed(bt2(*model_args(trace(name), dir(out), options(name)))).stdout for out in ('one', 'two')]
        one, two = read_folder(dir('one')), read_folder(dir('two'))
        assert sorted(one) == FILES, sorted(one)
        same(one, two)
        assert summaries[0] == summaries[1], 'the summaries differ'
        assert summaries[0].strip(), 'no summary was printed'


def saved_events_give_the_same(name, pass_through):
    with Scratch() as dir:
        direct = succeed(bt2(*model_args(trace(name), dir('direct'), options(name)))).stdout
        succeed(bt2(trace(name), FILTER, '--params=pass-through=' + pass_through,
                    '-o', 'ctf', '-w', dir('causal')))
        more = [',' + options(name)] if options(name) else ['']
        result = succeed(bt2(dir('causal'), SINK, '--params=output="%s"%s' % (dir('again'), more[0])))
        same(read_folder(dir('direct')), read_folder(dir('again')))
        assert direct == result.stdout, 'the summaries differ'


MUXER = '--component=filter.utils.muxer'


def messages_give_what_is_handed_over_gives():
    """Events are handed to a sink right behind the filter, and come as messages where something is in between."""
    with Scratch() as dir:
        for between in ([], [MUXER]):
            succeed(bt2(trace('three-tier'), FILTER, *between, SINK,
                        '--params=output="%s"' % dir('out%d' % len(between))))
        same(read_folder(dir('out0')), read_folder(dir('out1')))


def stored_and_made_events_mix():
    """One host's events come from a file through a filter that makes those of the other."""
    with Scratch() as dir:
        whole = succeed(bt2(*model_args(trace('two-hosts'), dir('whole')))).stdout
        succeed(bt2(trace('two-hosts/hostA'), FILTER, '--params=pass-through=no',
                    '-o', 'ctf', '-w', dir('causal')))
        for between in ([], [MUXER]):
            mixed = succeed(bt2(dir('causal'), trace('two-hosts/hostB'), FILTER, *between,
                                SINK, '--params=output="%s"' % dir('mixed%d' % len(between)))).stdout
            same(read_folder(dir('whole')), read_folder(dir('mixed%d' % len(between))))
            assert mixed == whole, mixed


def events_of_another_version_are_refused():
    with Scratch() as dir:
        succeed(bt2(trace('pipe'), FILTER, '--params=pass-through=no', '-o', 'ctf', '-w', dir('causal')))
        file = next(os.path.join(folder, name) for folder, _, names in os.walk(dir('causal')) for name in names
                    if name != 'metadata')
        with open(file, 'rb') as f:
            data = f.read()
        # lqn:host ends with the release and the number
        old, n = re.subn(rb'([0-9][!-~]*\0)\x02\0\0\0', lambda m: m[1] + b'\1\0\0\0', data, count=1)
        assert n == 1
        with open(file, 'wb') as f:
            f.write(old)
        refuse(bt2(dir('causal'), SINK, '--params=output="%s"' % dir('out')), 'schema 1', 'schema 2', 'make them again')
        # where that event was cut off the trace tells
        cut = [dir('causal'), '--begin=1795988468.6', SINK]
        succeed(bt2(*cut))
        with open(dir('causal/lqn/metadata')) as f:
            text = f.read()
        with open(dir('causal/lqn/metadata'), 'w') as f:
            f.write(text.replace('lqn_schema = 2', 'lqn_schema = 1'))
        refuse(bt2(*cut), 'schema 1', 'schema 2', 'make them again')
        assert dir.names() == ['causal']


def overwriting_replaces_all():
    with Scratch() as dir:
        succeed(bt2(*model_args(trace('pipe'), dir('out'), MARKS)))
        succeed(bt2(*model_args(trace('three-tier'), dir('out'), MARKS + ',overwrite=yes')))
        succeed(bt2(*model_args(trace('three-tier'), dir('fresh'), MARKS)))
        same(read_folder(dir('out')), read_folder(dir('fresh')))
        assert dir.names() == ['fresh', 'out'], 'left behind: %s' % dir.names()


def no_output_and_no_summary_are_silent():
    result = succeed(bt2(trace('pipe'), FILTER, SINK, '--params=summary=no'))
    assert result.stdout == '', result.stdout[:200]


def without_marks_there_is_a_window_too():
    with Scratch() as dir:
        succeed(bt2(*model_args(trace('three-tier'), dir('out'))))
        assert sorted(read_folder(dir('out'))) == FILES


def plain_run_says_nothing_on_standard_error():
    with Scratch() as dir:
        result = succeed(bt2(*model_args(trace('three-tier'), dir('out'), MARKS)))
        assert result.stderr == '', result.stderr[-400:]


NAMES = sorted(os.listdir(TRACES))
NAMES = [n for n in NAMES if os.path.isdir(os.path.join(TRACES, n))]
run([('%s: two runs are equal' % n, lambda n=n: two_runs_are_equal(n)) for n in NAMES] +
    [('%s: a saved stream of our events gives the same model' % n, lambda n=n: saved_events_give_the_same(n, 'no')) for n in NAMES] +
    [('three-tier: a saved mixed trace gives the same model', lambda: saved_events_give_the_same('three-tier', 'yes')),
     ('three-tier: messages give what is handed over gives', messages_give_what_is_handed_over_gives),
     ('two-hosts: stored events and those just made mix', stored_and_made_events_mix),
     ('events of another version of the vocabulary are refused', events_of_another_version_are_refused),
     ('overwrite=yes replaces everything', overwriting_replaces_all),
     ('summary=no without output is silent', no_output_and_no_summary_are_silent),
     ('without marks there is a window too', without_marks_there_is_a_window_too),
     ('a plain run says nothing on standard error', plain_run_says_nothing_on_standard_error)])
