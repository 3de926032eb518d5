# SPDX-License-Identifier: MIT
"""Traces that come as live or broken ones do: in pieces, out of order, late, cut, through several ports."""
import json
import re

from lqntest import FILTER, MARKS, SINK, Scratch, bt2, model_args, read_folder, run, succeed, trace

BEGIN, END = 1795988470115087844, 1795988471446636467    # three-tier's first and last event


def disturbed(how, out, more=MARKS):
    return bt2(trace('three-tier'), '--component=filter.lqn-rig.disturb', '--params=' + how, '--retry-duration=1', FILTER, SINK,
               '--params=output="%s"%s' % (out, ',' + more if more else ''))


def undisturbed(out, more=MARKS):
    return succeed(bt2(*model_args(trace('three-tier'), out, more)))


def without_notes(files):
    """What the model says, without the remarks on the trace, the checks, and the share of interrupts of all its time."""
    out = {}
    for name, data in files.items():
        lines = data.decode().splitlines()
        if name == 'model.json':
            model = json.loads(data)
            del model['notes'], model['checks']     # these are sums of what is compared, rounded
            for processor in model['processors']:
                del processor['measured']['interrupts']
            lines = [json.dumps(model)]
        out[name] = [line for line in lines if 'Note: ' not in line]
    return out


def again_and_inactivity_change_nothing():
    with Scratch() as dir:
        plain = undisturbed(dir('plain'))
        live = succeed(disturbed('again=100', dir('live')))
        assert live.stdout == plain.stdout
        assert read_folder(dir('live')) == read_folder(dir('plain'))


def out_of_order_is_put_in_order(how, told=True):
    with Scratch() as dir:
        undisturbed(dir('plain'))
        late = succeed(disturbed(how, dir('late')))
        one, two = (without_notes(read_folder(dir(n))) for n in ('plain', 'late'))
        for name in one:
            assert one[name] == two[name], '%s differs' % name
        assert 'out of order' in late.stdout and 'lost' in late.stdout, late.stdout[-800:]


def too_late_is_told():
    """What no buffer waits for is lost, and said to be; no processor is busier than it can be."""
    with Scratch() as dir:
        late = succeed(disturbed('late-cpu=1,late-ns=300000000', dir('late'), ''))
        count = int(re.search(r'(\d+) events were lost', late.stdout).group(1))
        assert count > 10, late.stdout[-800:]
        sane(json.loads(read_folder(dir('late'))['model.json']))


def sane(model):
    for processor in model['processors']:
        used = processor['measured']['utilization']
        assert used <= processor['multiplicity'] * 1.001, '%s: %g' % (processor['name'], used)


def a_stream_that_ends_early():
    with Scratch() as dir:
        at = (BEGIN + END) // 2
        cut = succeed(disturbed('cut-cpu=1,end=%d' % at, dir('cut'), ''))
        assert 'nothing was recorded of CPU 1 in the last 0.66' in ' '.join(cut.stdout.split()), cut.stdout[-800:]
        model = json.loads(read_folder(dir('cut'))['model.json'])
        sane(model)
        assert {'client', 'web', 'app', 'db'} <= set(names(model))
        # in the half that was seen whole, all is as ever
        whole = json.loads(read_window(dir, 'plain', undisturbed, at))
        part = json.loads(read_window(dir, 'part', lambda out, more: succeed(disturbed('cut-cpu=1,end=%d' % at, out, more)), at))
        assert names(whole) == names(part), '%s\n%s' % (names(whole), names(part))


def names(model):
    return [task['name'] for processor in model['processors'] for task in processor['tasks']]


def read_window(dir, name, make, at):
    make(dir(name), 'begin=%d,end=%d' % (BEGIN + 100000000, at - 50000000))
    return read_folder(dir(name))['model.json']


def a_stream_that_begins_late():
    with Scratch() as dir:
        succeed(disturbed('cut-cpu=1,begin=%d' % ((BEGIN + END) // 2), dir('cut'), ''))
        sane(json.loads(read_folder(dir('cut'))['model.json']))


def several_ports(how=None):
    """A source of each host, connected to ports of its own, one of them with small regressions."""
    with Scratch() as dir:
        plain = succeed(bt2(*model_args([trace('two-hosts/hostA'), trace('two-hosts/hostB')], dir('plain'), MARKS)))
        args = ['run']
        for name in ('hostA', 'hostB'):
            args += ['--component=%s:source.ctf.fs' % name, '--params=inputs=["%s"]' % trace('two-hosts/%s/kernel' % name)]
        args += ['--component=causal:filter.lqn.causal', '--component=model:sink.lqn.model',
                 '--params=output="%s",%s' % (dir('ports'), MARKS)]
        if how:
            args += ['--component=mux:filter.utils.muxer', '--component=late:filter.lqn-rig.disturb', '--params=' + how,
                     '--connect=hostA:mux', '--connect=mux:late', '--connect=late:causal']
        else:
            args += ['--connect=hostA:causal']
        ports = succeed(bt2(*args, '--connect=hostB:causal', '--connect=causal:model'))
        if how:
            one, two = (without_notes(read_folder(dir(n))) for n in ('plain', 'ports'))
            assert one['model.lqn'] == two['model.lqn'], '\n'.join(two['model.lqn'])
            assert 'out of order' in ports.stdout
        else:
            assert ports.stdout == plain.stdout, ports.stdout
            assert read_folder(dir('ports')) == read_folder(dir('plain'))


run([('"again" and inactivity change nothing', again_and_inactivity_change_nothing),
     ('a CPU whose buffers are read 10 us late', lambda: out_of_order_is_put_in_order('late-cpu=1,late-ns=10000')),
     ('a CPU whose buffers are read 1 ms late', lambda: out_of_order_is_put_in_order('late-cpu=1,late-ns=1000000')),
     ('every other event 50 us late', lambda: out_of_order_is_put_in_order('jitter-ns=50000')),
     ('too late to be put in order', too_late_is_told),
     ('a stream that ends early', a_stream_that_ends_early),
     ('a stream that begins late', a_stream_that_begins_late),
     ('several input ports', several_ports),
     ('several input ports, one of them with small regressions', lambda: several_ports('jitter-ns=20000'))])
