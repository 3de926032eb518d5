# SPDX-License-Identifier: MIT
"""lqn-parallel: streams read side by side give, byte for byte, what one graph gives; or nothing, if any reader fails."""
import json
import os
import shutil
import signal
import subprocess
import time

import chunks
import ctf
import spans
from lqntest import FILTER, MARKS, SINK, Scratch, bt2, environment, model_args, read_folder, refuse, run, succeed, trace, wait_for

SOURCE = os.environ['LQN_SOURCE']
CASES = os.path.join(SOURCE, 'tests', 'cases')
TEXT = [FILTER, '--params=pass-through=no', '--component=sink.text.pretty']

# in the place of babeltrace2: sanitizers are for it alone, not for python3; and readers that do as the test wants
WRAPPER = '''#!/bin/bash
real=%s
case "$*" in *sink.lqn.records*) %s ;; esac
%s exec "$real" "$@"
'''
CUT = '''[ "${*: -1}" ] && mkdir %s/first 2>/dev/null && {
    for arg; do case "$arg" in output=*) to=${arg#*\\"}; to=${to%%\\"}; arg='output="/dev/stdout"' ;; esac; args+=("$arg"); done
    %s "$real" "${args[@]}" | head -c 300000 >"$to"
    kill -KILL $$
}'''


def parallel(dir, *args, readers=':', jobs=4, wait=True):
    """Runs lqn-parallel."""
    env = environment()
    preload = 'LD_PRELOAD="%s"' % env.pop('LD_PRELOAD') if 'LD_PRELOAD' in env else ''
    real = shutil.which('babeltrace2')
    if '%s' in readers:
        readers %= (dir.path, preload)
    os.makedirs(dir('bin'), exist_ok=True)
    with open(dir('bin/babeltrace2'), 'w') as f:
        f.write(WRAPPER % (real, readers, preload))
    os.chmod(dir('bin/babeltrace2'), 0o755)
    env['PATH'] = dir('bin') + ':' + env['PATH']
    command = [os.path.join(SOURCE, 'tools', 'lqn-parallel'), '--jobs=%d' % jobs, *args]
    if not wait:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True)
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True, errors='replace', timeout=300)


def same_model(dir, inputs, more='', jobs=4, filter=()):
    args = [*inputs, FILTER, *filter, SINK, '--params=output="%s"' + (',' + more if more else '')]
    one = succeed(bt2(*args[:-1], args[-1] % dir('one')))
    apart = succeed(parallel(dir, *args[:-1], args[-1] % dir('apart'), jobs=jobs))
    assert one.stdout == apart.stdout, apart.stdout
    assert one.stderr == apart.stderr, apart.stderr
    assert read_folder(dir('one')) == read_folder(dir('apart'))


def same_text(dir, inputs, jobs=4):
    one, apart = bt2(*inputs, *TEXT), parallel(dir, *inputs, *TEXT, jobs=jobs)
    assert (one.returncode, one.stdout) == (apart.returncode, apart.stdout), '%s\n%s' % (apart.returncode, apart.stderr[-1500:])
    return one.stdout


def model_of(name, jobs, more):
    with Scratch() as dir:
        same_model(dir, [trace(name)], more, jobs)


def rotated(name, n):
    with Scratch() as dir:
        same_model(dir, chunks.cut(trace(name + '/kernel'), dir.path, n))


def lost_packets():
    """Of one CPU, in the middle."""
    with Scratch() as dir:
        kernel = trace('three-tier/kernel')
        chunks.cut(kernel, dir.path, 1)
        head, packets = chunks.read_index(os.path.join(kernel, 'index', 'channel0_1.idx'))
        middle = len(packets) // 2
        chunks.write_part(kernel, dir('chunk-0/kernel'), 'channel0_1', head, packets[:middle] + packets[middle + 2:])
        assert 'lqn:loss' in same_text(dir, [dir('chunk-0')])
        same_model(dir, [dir('chunk-0')])


def from_files_and_user_space():
    """Spans that name the operations: of a file, and as LTTng-UST traces them."""
    with open(os.path.join(trace('three-tier'), 'recording.json')) as f:
        epoch = json.load(f)['clock_epoch_ns']
    told = []
    with open(os.path.join(trace('three-tier'), 'requests.csv')) as f:
        names = f.readline().strip().split(',')
        for line in f:
            r = dict(zip(names, line.strip().split(',')))
            told.append(spans.Span(int(r['start_ns']) + epoch, int(r['end_ns']) + epoch, {
                'trace_id': '%032x' % int(r['request']), 'span_id': r['span'].zfill(16),
                'parent_span_id': '' if r['parent'] == '0' else r['parent'].zfill(16), 'name': r['entry'],
                'service': r['task']}, int(r['pid']), int(r['tid'])))
    told.sort(key=lambda s: s.end)
    for write, name in ((spans.write_otlp, 'spans.json'), (spans.write_ust, 'ust')):
        with Scratch() as dir:
            write(told, dir(name))
            same_model(dir, [trace('three-tier'), dir(name)])


def batch_of_messages():
    """A span that is linked with several senders."""
    with open(os.path.join(trace('pipe'), 'recording.json')) as f:
        recording = json.load(f)
    begin = recording['clock_epoch_ns'] + recording['monotonic_begin'] + 500000000

    def span(id, kind, at, links=()):
        return {'traceId': '1'.zfill(32), 'spanId': id.zfill(16), 'name': 's' + id, 'kind': kind,
                'startTimeUnixNano': str(begin + at), 'endTimeUnixNano': str(begin + at + 1000),
                'links': [{'traceId': '1'.zfill(32), 'spanId': link.zfill(16)} for link in links]}

    told = [span('1', 4, 1000), span('2', 4, 2000), span('3', 5, 3000, ['1', '2'])]
    with Scratch() as dir:
        with open(dir('spans.json'), 'w') as f:
            json.dump({'resourceSpans': [{'scopeSpans': [{'spans': told}]}]}, f)
        text = same_text(dir, [trace('pipe'), dir('spans.json')])
        assert text.count('lqn:span_message:') == 2, text.count('lqn:span_message:')


def cases_as_text():
    """Ties, losses, several hosts: every case, as events."""
    for case in sorted(os.listdir(CASES)):
        file = os.path.join(CASES, case, 'events.jsonl')
        if os.path.exists(file):
            with Scratch() as dir:
                try:
                    same_text(dir, ctf.write(dir('traces'), ctf.read(file)))
                except AssertionError as e:
                    raise AssertionError('%s: %s' % (case, e))


def no_more_marks_than_of_one():
    """A thousand events of a class are marks, whoever reads them."""
    events = [{'cpu': i % 3, 'ts': 1000 + 7 * i, 'name': 'app:phase', 'fields': {'phase': 'p%d' % i, 'n': i % 5}} for i in range(2500)]
    kernel = [{'cpu': 0, 'ts': 900, 'name': 'sched_switch', 'fields': {
        'prev_comm': 'swapper/0', 'prev_tid': 0, 'prev_prio': 20, 'prev_state': 0, 'next_comm': 'A', 'next_tid': 100, 'next_prio': 20}}]
    with Scratch() as dir:
        ctf.write_host(dir('ust'), 'h', events, '6.1.0', domain='ust')
        ctf.write_host(dir('kernel'), 'h', kernel, '6.1.0')
        text = same_text(dir, [dir('kernel'), dir('ust')])
        assert text.count('lqn:mark') == 2000, text.count('lqn:mark')


def as_a_trace():
    """The sink may be any, as that of `map-host`."""
    with Scratch() as dir:
        args = [trace('pipe'), FILTER, '--params=pass-through=no', '-o', 'ctf', '-w']
        succeed(bt2(*args, dir('one')))
        succeed(parallel(dir, *args, dir('apart')))
        one, apart = (succeed(bt2(dir(name))).stdout for name in ('one', 'apart'))
        assert one == apart and 'lqn:wait' in one


def parameters_of_the_filter():
    with Scratch() as dir:
        filter = ['--params=spans="begin=app:b,end=app:e,span=id"']
        same_model(dir, [trace('pipe')], filter=filter)
        refuse(parallel(dir, trace('pipe'), FILTER, '--params=spans="x"', '-o', 'dummy'), 'pass-through=no')
        refuse(parallel(dir, *model_args(trace('pipe'), dir('o')), FILTER), 'there must be one')
        result = parallel(dir, trace('pipe'), FILTER, '--params=spans="x"', SINK, '--params=output="%s"' % dir('o'))
        refuse(result, 'Parameter `spans`')
        assert 'o' not in dir.names(), dir.names()


def options_of_babeltrace2():
    """Clocks, names, levels; those of the command itself."""
    with Scratch() as dir:
        args = ['--retry-duration=5', trace('pipe'), '--clock-offset=3', '--component=a:filter.lqn.causal', '--log-level=E',
                '--component=b.c:sink.lqn.model', '--params=output="%s"']
        one = succeed(bt2(*args[:-1], args[-1] % dir('one')))
        apart = succeed(parallel(dir, *args[:-1], args[-1] % dir('apart')))
        assert one.stdout == apart.stdout and read_folder(dir('one')) == read_folder(dir('apart')), apart.stdout
        assert not parallel(dir, '--stream-intersection', *model_args(trace('pipe'), dir('o'))).stdout
        assert 'o' not in dir.names(), dir.names()


def names_of_any_kind():
    """Those that mean something in connections, and those that the readers' own parts would have."""
    with Scratch() as dir:
        source = '--params=inputs=["%s"]' % trace('pipe/kernel')
        one = succeed(bt2(*model_args(trace('pipe'), dir('one')))).stdout
        for i, names in enumerate((('a*b', 'c[d]?', 'e\\:f\\\\.g'), ('muxer', 'records', "muxer'"), ('records', 'muxer', 'x'))):
            args = ['--component=%s:source.ctf.fs' % names[0], source, '--component=%s:filter.lqn.causal' % names[1],
                    '--component=%s:sink.lqn.model' % names[2]]
            assert succeed(parallel(dir, *args)).stdout == one, names


def what_cannot_be_divided():
    with Scratch() as dir:
        refuse(parallel(dir, trace('pipe'), SINK), 'filter.lqn.causal')
        refuse(parallel(dir, *model_args(trace('pipe'), dir('o')), '--begin=1'), 'filter.utils.trimmer')
        assert parallel(dir, *model_args(dir('no-such-trace'), dir('o'))).returncode == 1
        assert parallel(dir, *model_args(trace('pipe'), dir('o')), jobs=0).returncode == 2
        os.mkdir(dir('empty'))
        shutil.copy(trace('pipe/kernel/metadata'), dir('empty'))
        refuse(parallel(dir, *model_args(dir('empty'), dir('o'))), 'no streams')
        assert 'o' not in dir.names(), dir.names()


def a_reader_is_killed():
    with Scratch() as dir:
        succeed(bt2(*model_args(trace('pipe'), dir('o'))))
        before = read_folder(dir('o'))
        result = parallel(dir, *model_args(trace('pgbench'), dir('o'), 'overwrite=yes'), readers=CUT)
        refuse(result, 'cut off', 'killed')
        assert read_folder(dir('o')) == before and result.stdout == '', result.stdout
        os.rmdir(dir('first'))
        result = parallel(dir, *model_args(trace('pgbench'), dir('p'), 'partial=yes'), readers=CUT)
        refuse(result, 'cut off')
        assert result.stdout.startswith('PARTIAL'), result.stdout


def interrupted():
    """While readers still read: at once, and nothing is left running."""
    with Scratch() as dir:
        process = parallel(dir, *model_args(trace('pipe'), dir('o')), readers='echo $$ >>%s; exec sleep 300' % dir('pids'), wait=False)
        wait_for(lambda: os.path.exists(dir('pids')) and len(open(dir('pids')).read().split()) == 2)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode != 0 and 'o' not in dir.names(), dir.names()
        for pid in open(dir('pids')).read().split():
            assert not os.path.exists('/proc/' + pid), pid


def interrupted_early():
    """Before there is a reader."""
    with Scratch() as dir:
        process = parallel(dir, *model_args(trace('pipe'), dir('o')), readers='exec sleep 300', wait=False)
        wait_for(lambda: open('/proc/%d/task/%d/children' % (process.pid, process.pid)).read())
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode != 0 and 'Traceback' not in said and 'o' not in dir.names(), said


def records_of(dir, name='pipe', wanted=''):
    """What a reader of all of a trace writes, as bytes."""
    succeed(bt2(trace(name), '--component=sink.lqn.records', '--params=output="%s"' % dir('records')))
    with open(dir('records'), 'rb') as f:
        return f.read()


def refuse_records(dir, data, *words):
    with open(dir('bad'), 'wb') as f:
        f.write(data)
    refuse(bt2('--component=source.lqn.records', '--params=inputs=["%s"]' % dir('bad'), SINK, '--params=output="%s"' % dir('o')), *words)
    assert 'o' not in dir.names(), dir.names()


def damaged_records():
    with Scratch() as dir:
        good = records_of(dir)
        succeed(bt2('--component=source.lqn.records', '--params=inputs=["%s"]' % dir('records'), SINK, '--params=output="%s"' % dir('p')))
        succeed(bt2(*model_args(trace('pipe'), dir('one'))))
        assert read_folder(dir('one')) == read_folder(dir('p'))
        refuse_records(dir, b'', 'cut off')
        refuse_records(dir, good[:-1], 'cut off')
        refuse_records(dir, good[:100000], 'cut off')
        refuse_records(dir, b'x' + good[1:], 'no records of sink.lqn.records')
        refuse_records(dir, good[:8] + b'\xff' + good[9:], 'another build')
        refuse_records(dir, good[:24] + b'\xff' * 8 + good[32:], 'damaged')
        refuse_records(dir, good[:50000] + b'\xff' * 4096 + good[54096:], 'damaged')


def errors_are_clear():
    with Scratch() as dir:
        refuse(bt2('--component=source.lqn.records', SINK), 'Parameter `inputs` is missing')
        refuse(bt2('--component=source.lqn.records', '--params=inputs="%s"' % dir('none'), SINK), 'cannot open', 'No such file')
        refuse(bt2(trace('pipe'), '--component=sink.lqn.records'), 'Parameter `output` is missing')
        refuse(bt2(trace('pipe'), '--component=sink.lqn.records', '--params=output="%s"' % dir('a/b')), 'cannot open')
        succeed(bt2(trace('pipe'), FILTER, '--params=pass-through=no', '-o', 'ctf', '-w', dir('causal')))
        refuse(bt2(dir('causal'), '--component=sink.lqn.records', '--params=output="%s"' % dir('r')), 'sink.lqn.model')


run([('%s, %d readers%s' % (name, jobs, more and ', ' + more), lambda n=name, j=jobs, m=more: model_of(n, j, m))
     for name, jobs, more in (('pgbench', 1, ''), ('pgbench', 2, ''), ('three-tier', 4, 'all-paths=yes'), ('queues', 2, ''),
                              ('two-hosts-skewed', 3, MARKS), ('two-hosts', 4, 'entries="callers"'))] +
    [('%s: %d chunks' % (name, n), lambda name=name, n=n: rotated(name, n)) for name, n in (('three-tier', 2), ('pgbench', 5))] +
    [('lost packets', lost_packets),
     ('spans of a file and of user space', from_files_and_user_space),
     ('a span of several messages', batch_of_messages),
     ('every case', cases_as_text),
     ('no more marks than one reader tells', no_more_marks_than_of_one),
     ('the sink is any', as_a_trace),
     ('parameters of the filter', parameters_of_the_filter),
     ('options of babeltrace2', options_of_babeltrace2),
     ('names of any kind', names_of_any_kind),
     ('what cannot be divided', what_cannot_be_divided),
     ('a reader is killed', a_reader_is_killed),
     ('interrupted', interrupted),
     ('interrupted before it reads', interrupted_early),
     ('damaged records', damaged_records),
     ('errors are clear', errors_are_clear)])
