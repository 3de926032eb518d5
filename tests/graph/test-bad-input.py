# SPDX-License-Identifier: MIT
"""Bad input: an exit status other than 0, a cause that says what to do, and nothing half-written."""
import os

from lqntest import FILTER, SINK, Scratch, bt2, model_args, refuse, run, succeed, trace


def refuse_params(params, *words, left=()):
    with Scratch() as dir:
        refuse(bt2(trace('pipe'), FILTER, SINK, '--params=' + params.replace('DIR', dir.path)), *words)
        assert dir.names() == list(left), 'left behind: %s' % dir.names()


def our_own_stream(dir):
    succeed(bt2(trace('pipe'), FILTER, '--params=pass-through=no', '-o', 'ctf', '-w', dir('causal')))
    return dir('causal')


def no_kernel_events():
    """A trace of user space: the kernel events are dropped, one by one all that pipe has but the marks' openat."""
    with Scratch() as dir:
        names = sorted({line.split(': {')[0].split()[-1] for line in succeed(bt2(trace('pipe'), '--no-delta')).stdout.splitlines()})
        drop = '--params=names=[%s]' % ','.join('"%s"' % n for n in names)
        refuse(bt2(trace('pipe'), '--component=filter.lqn-test.drop', drop, FILTER, SINK, '--params=output="%s"' % dir('out')),
               'kernel events', 'lttng')
        assert dir.names() == [], dir.names()


def no_switches():
    """Written anew, so that the metadata does not have the event either, as if it had not been enabled."""
    with Scratch() as dir:
        succeed(bt2(trace('pipe'), '--component=filter.lqn-test.drop', '--params=names=["sched_switch"]', '-o', 'ctf', '-w', dir('poor')))
        refuse(bt2(dir('poor'), FILTER, '-o', 'dummy'), 'sched_switch', 'lttng')


def no_wakings():
    """A model all the same, but who reads it is told. Through processes, too: they are told what the trace has."""
    with Scratch() as dir:
        succeed(bt2(trace('pipe'), '--component=filter.lqn-test.drop', '--params=names=["sched_waking"]', '-o', 'ctf', '-w', dir('poor')))
        for source in ([dir('poor')], [trace('pipe')]):
            result = succeed(bt2(*source, FILTER, SINK))
            assert ('no event `sched_waking`' in result.stderr) == (source != [trace('pipe')]), result.stderr
        succeed(bt2(dir('poor'), '--component=sink.lqn.records', '--params=output="%s"' % dir('records')))
        result = succeed(bt2('--component=source.lqn.records', '--params=inputs=["%s"]' % dir('records'), SINK))
        assert 'no event `sched_waking`' in result.stderr, result.stderr


def no_causal_events_at_the_sink():
    with Scratch() as dir:
        refuse(bt2(trace('pipe'), SINK, '--params=output="%s"' % dir('out')), 'filter.lqn.causal')
        assert dir.names() == [], dir.names()


def times_before_the_origin():
    """Then the filter was there, and to say that it was not would lead astray."""
    result = bt2(trace('pipe'), '--clock-offset=-1999999999', FILTER, SINK)
    refuse(result, 'times', '--clock-seconds')
    assert 'put filter.lqn.causal' not in result.stderr, result.stderr


def parent_is_missing():
    refuse_params('output="DIR/no/such/out"', '/no/such')


def parent_is_a_file():
    refuse_params('output="/dev/null/out"', '/dev/null')


def output_without_a_name():
    refuse_params('output=""', 'output')
    refuse_params('output="/"', 'output')


def existing_output_is_kept():
    with Scratch() as dir:
        os.mkdir(dir('out'))
        with open(dir('out/notes.txt'), 'w') as f:
            f.write('mine')
        refuse(bt2(*model_args(trace('pipe'), dir('out'))), 'exists', 'overwrite=yes')
        # a folder with anything but a model in it is not ours to replace
        refuse(bt2(*model_args(trace('pipe'), dir('out'), 'overwrite=yes')), 'notes.txt')
        assert os.listdir(dir('out')) == ['notes.txt'] and dir.names() == ['out']


def existing_file_is_kept():
    with Scratch() as dir:
        with open(dir('out'), 'w') as f:
            f.write('mine')
        refuse(bt2(*model_args(trace('pipe'), dir('out'))), 'overwrite=yes')
        refuse(bt2(*model_args(trace('pipe'), dir('out'), 'overwrite=yes')))
        assert open(dir('out')).read() == 'mine' and dir.names() == ['out']


def unknown_filter_parameter():
    refuse(bt2(trace('pipe'), FILTER, '--params=pass-trough=no'), 'pass-trough')


def wrong_type_at_the_filter():
    refuse(bt2(trace('pipe'), FILTER, '--params=pass-through="no"'), 'pass-through')


def empty_window_by_marks():
    """The end mark lies before the begin mark."""
    refuse_params('output="DIR/out",begin-mark="openat:/lqn-mark/steady-end",end-mark="openat:/lqn-mark/steady-begin"',
                  'steady-begin')


run([('no kernel events', no_kernel_events),
     ('a kernel trace without switches', no_switches),
     ('a kernel trace without sched_waking', no_wakings),
     ('no lqn: events at the sink', no_causal_events_at_the_sink),
     ('times before the origin of the clock', times_before_the_origin),
     ('more of the slowest than can be kept', lambda: refuse_params('output="DIR/out",slowest=1001', 'slowest', '1000')),
     ('fewer than none of the slowest', lambda: refuse_params('output="DIR/out",slowest=-1', 'slowest')),
     ('a file of paths that is not known', lambda: refuse_params('output="DIR/out",path-files="text,svg"', 'svg', 'folded')),
     ('an unknown parameter of the sink', lambda: refuse_params('output="DIR/out",ouput="x"', 'ouput')),
     ('an unknown parameter of the filter', unknown_filter_parameter),
     ('a parameter of the wrong type at the sink', lambda: refuse_params('output=5', 'output', 'string')),
     ('a number as text', lambda: refuse_params('output="DIR/out",begin="7"', 'begin')),
     ('a parameter of the wrong type at the filter', wrong_type_at_the_filter),
     ('the output\'s folder does not exist', parent_is_missing),
     ('the output\'s folder is a file', parent_is_a_file),
     ('an output without a name', output_without_a_name),
     ('an existing output folder is kept', existing_output_is_kept),
     ('an existing file is kept', existing_file_is_kept),
     ('a begin mark that never comes', lambda: refuse_params('output="DIR/out",begin-mark="openat:/no/such"', 'openat:/no/such', 'lqn:mark')),
     ('an end mark that never comes', lambda: refuse_params('output="DIR/out",end-mark="app:phase:over"', 'app:phase:over')),
     ('an end before the begin', lambda: refuse_params('output="DIR/out",begin=2000,end=1000', 'begin', 'end')),
     ('a window without requests', lambda: refuse_params('output="DIR/out",begin=1000,end=2000', 'request')),
     ('entries of no kind', lambda: refuse_params('output="DIR/out",entries="fine"', 'fine', 'operation, callers, task')),
     ('a share above 1', lambda: refuse_params('output="DIR/out",background-below=2', 'background-below', 'clutter=yes')),
     ('a share of none', lambda: refuse_params('output="DIR/out",background-below=0', 'background-below')),
     ('a share as text', lambda: refuse_params('output="DIR/out",background-below="low"', 'a number')),
     ('marks in the wrong order', empty_window_by_marks)])
