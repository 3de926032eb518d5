# SPDX-License-Identifier: MIT
"""source.lqn.spans: spans out of files, beside a kernel trace. They are made of what the traced programs logged of each request."""
import csv
import json
import os
import re

import spans
from lqntest import FILTER, MARKS, SINK, Scratch, bt2, read_folder, refuse, run, succeed, trace


def rows(name):
    with open(os.path.join(trace(name), 'requests.csv'), newline='') as f:
        return list(csv.DictReader(f))


def spans_of(name):
    """A span for each request that was logged, in the order in which they end."""
    with open(os.path.join(trace(name), 'recording.json')) as f:
        epoch = json.load(f)['clock_epoch_ns']
    out = [spans.Span(int(r['start_ns']) + epoch, int(r['end_ns']) + epoch, {
        'trace_id': '%032x' % int(r['request']), 'span_id': r['span'].zfill(16),
        'parent_span_id': '' if r['parent'] == '0' else r['parent'].zfill(16), 'name': r['entry'], 'service': r['task']},
        int(r['pid']), int(r['tid'])) for r in rows(name)]
    return sorted(out, key=lambda s: s.end)


def model(inputs, out):
    result = succeed(bt2(*inputs, FILTER, SINK,
                         '--params=output="%s",%s' % (out, MARKS)))
    assert result.stderr == '', result.stderr
    return read_folder(out), result.stdout


def entries(files):
    """Names of entries with the number of their invocations."""
    return {m[1]: int(m[2]) for m in re.finditer(rb'# (\w+); measured: (\d+) invocations', files['model.lqn'])}


def same_through_all_formats(name):
    """OTLP, Jaeger, a user-space trace, and what was stored of the source give one model, and every request has its span's name."""
    told, results = spans_of(name), {}
    with Scratch() as dir:
        spans.write_otlp(told, dir('otlp.json'))
        spans.write_jaeger(told, dir('jaeger.json'))
        spans.write_ust(told, dir('ust'))
        succeed(bt2(dir('otlp.json'), '--output-format=ctf', '--output=' + dir('stored')))
        for form in ('otlp.json', 'jaeger.json', 'ust', 'stored'):
            results[form] = model([trace(name), dir(form)], dir('model-' + form))[0]
        for form, files in results.items():
            for file in ('model.lqnx', 'model.json', 'critical-path.txt'):
                assert files[file] == results['ust'][file], '%s: %s is not that through user space' % (form, file)
    steady = {}
    for r in rows(name):
        if r['steady'] == '1' and r['kind'] != 'client':
            key = ('%s_%s' % (r['task'], r['entry'])).encode()
            steady[key] = steady.get(key, 0) + 1
    found = entries(results['ust'])
    for key, count in steady.items():
        assert abs(found.get(key, 0) - count) <= 3 + count // 200, '%s: %d of %d, all: %s' % (key, found.get(key, 0), count, found)
    assert b', 0 with none' in results['ust']['model.json'], 'not all are joined'


def cpu_of(name):
    """CPU per span against the programs' own clocks of their threads."""
    told = spans_of(name)
    with Scratch() as dir:
        spans.write_otlp(told, dir('spans.json'))
        demands = json.loads(model([trace(name), dir('spans.json')], dir('model'))[0]['model.json'])
    truth = json.load(open(os.path.join(trace(name), 'truth.json')))
    wanted = {'%s_%s' % (t['name'], e['name']): (e['cpu_phase1_ms'] + e['cpu_phase2_ms'] + e['cpu_receive_ms']) / 1e3
              for t in truth['tasks'] for e in t['entries'] if t['role'] != 'reference'}
    seen = {}
    for processor in demands['processors']:
        for task in processor['tasks']:
            for entry in task['entries']:
                seen[entry['name']] = sum(p.get('host-demand-mean', 0) for p in entry['phases'])
    for key, value in wanted.items():
        assert key in seen, '%s is not among %s' % (key, sorted(seen))
        assert abs(seen[key] / value - 1) <= 0.03, '%s: %.6f s, its thread\'s clock says %.6f' % (key, seen[key], value)


def by_overlap_alone(name, share, **how):
    """Without threads, processes, and hosts: joined by the time they share with the work of the service."""
    told = spans_of(name)
    rename = how.pop('rename', None)
    for s in told:
        s.service = rename + s.service if rename else s.service
    with Scratch() as dir:
        spans.write_otlp(told, dir('all.json'))
        spans.write_otlp(told, dir('few.json'), host=None, threads=False, **how)
        whole = entries(model([trace(name), dir('all.json')], dir('whole'))[0])
        few = entries(model([trace(name), dir('few.json')], dir('few'))[0])
    lost = sum(max(0, n - few.get(k, 0)) for k, n in whole.items())
    assert lost <= share * sum(whole.values()), '%d of %d lost: %s, %s' % (lost, sum(whole.values()), whole, few)


def a_file_is_known_by_what_is_in_it():
    told = spans_of('three-tier')[:50]
    with Scratch() as dir:
        spans.write_otlp(told, dir('a'))
        spans.write_jaeger(told, dir('b'))
        for name in ('a', 'b'):
            printed = succeed(bt2(dir(name))).stdout.splitlines()
            assert len(printed) == 100 and all(' span:begin: ' in l or ' span:end: ' in l for l in printed), printed[:3]
            assert 'name = "page", service = "web", host = "vm", pid = ' in '\n'.join(printed)
        with open(dir('c'), 'w') as f:
            f.write('{"resourceMetrics":[]}\n')
        assert bt2(dir('c')).returncode == 1


def refused(params, *wanted):
    refuse(bt2('--component=source.lqn.spans', *(['--params=' + params] if params else [])), *wanted)


def errors_are_clear():
    with Scratch() as dir:
        with open(dir('x.json'), 'w') as f:
            f.write('{"hello":1}')
        refused('inputs=["%s"]' % dir('x.json'), 'x.json` is no file of spans')
        refused('inputs=["%s"]' % dir('none'), 'Cannot read', 'No such file')
        refused('inputs=5', 'Parameter `inputs`: expected a string')
        refused('inputs=[]', 'Parameter `inputs` is missing')
        refused('', 'Parameter `inputs` is missing')
        refused('input=["x"]', 'Unknown parameter `input`')
        refused('inputs=["%s"]' % dir(''), 'Cannot read')


def what_is_wrong_is_told_and_no_more():
    told = spans_of('three-tier')[:20]
    with Scratch() as dir:
        spans.write_otlp(told, dir('spans.json'), batch=1)
        with open(dir('spans.json')) as f:
            lines = f.read().splitlines()
        lines[3] = lines[3][:len(lines[3]) // 2]
        lines[5] = lines[5].replace('"name":"', '"name":"\udcff')
        lines.append(lines[7])
        with open(dir('spans.json'), 'w', errors='surrogateescape') as f:
            f.write('\n'.join(lines))
        result = succeed(bt2(dir('spans.json')))
        assert len(result.stdout.splitlines()) == 38
        for text in ('1 times a document broke off; the first in', '1 texts that are no UTF-8', '1 spans with the ids of another'):
            assert text in result.stderr, result.stderr


def spans_beside_the_trace_are_counted():
    """Those of other days are left out, and do not make the trace longer."""
    told = spans_of('three-tier')
    for s in told[:100]:
        s.begin, s.end = s.begin + 10**17, s.end + 10**17
    for s in told[100:150]:
        s.begin, s.end = s.begin - 10**17, s.end - 10**17
    with Scratch() as dir:
        spans.write_otlp(told, dir('spans.json'))
        result = succeed(bt2(trace('three-tier'), dir('spans.json'), FILTER, SINK,
                             '--params=output="%s"' % dir('model')))
        assert '300 begins and ends of spans left out: no kernel trace of their host' in result.stderr, result.stderr
        data = json.load(open(dir('model/model.json')))
        text = json.dumps(data)
        assert '"web_page"' in text and '"db_query"' in text


def clocks_are_moved_by_parameter():
    told = spans_of('three-tier')
    with Scratch() as dir:
        spans.write_otlp(told, dir('spans.json'), shift=-3600 * 10**9)
        spans.write_otlp(told, dir('right.json'))
        files = []
        for name, more in (('spans.json', ',clock-class-offset-ns=%d' % (3600 * 10**9)), ('right.json', '')):
            files.append(model([trace('three-tier'), '--component=source.lqn.spans',
                                '--params=inputs=["%s"]%s' % (dir(name), more)], dir('model-' + name))[0])
        assert files[0]['model.json'] == files[1]['model.json']


def own_events_by_parameter():
    """Spans under names that are not known, until the user says so."""
    told = spans_of('three-tier')
    layout = 'begin=shop:enter,end=shop:leave,span=op,trace=request,parent=outer,name=what'
    with Scratch() as dir:
        spans.write_ust(told, dir('ust'))
        spans.write_ust(told, dir('own'), ('shop:enter', 'shop:leave'),
                        {'trace_id': 'request', 'span_id': 'op', 'parent_span_id': 'outer', 'name': 'what', 'service': 'shop'})
        whole = model([trace('three-tier'), dir('ust')], dir('whole'))[0]
        result = succeed(bt2(trace('three-tier'), dir('own'), FILTER, '--params=spans="%s"' % layout,
                             SINK, '--params=output="%s",%s' % (dir('model'), MARKS)))
        assert read_folder(dir('model'))['model.json'] == whole['model.json'], result.stdout
        result = bt2(trace('three-tier'), FILTER, '--params=spans="begin=a,end=b"')
        assert result.returncode == 1 and 'Parameter `spans`: `span` is missing' in result.stderr, result.stderr


run([('%s: OTLP, Jaeger, user space, and a stored trace give one model' % n, lambda n=n: same_through_all_formats(n))
     for n in ('three-tier', 'epoll-workers', 'async-phase2', 'queues')] +
    [('%s: CPU per span' % n, lambda n=n: cpu_of(n)) for n in ('three-tier', 'tcp')] +
    [('three-tier: spans without threads', lambda: by_overlap_alone('three-tier', 0.01)),
     ('three-tier: services that are not called like their processes', lambda: by_overlap_alone('three-tier', 0.01, rename='shop-')),
     ('three-tier: clocks 2 ms apart', lambda: by_overlap_alone('three-tier', 0.03, rename='shop-', shift=2000000)),
     ('epoll-workers: spans without threads', lambda: by_overlap_alone('epoll-workers', 0.05)),
     ('a file is known by what is in it', a_file_is_known_by_what_is_in_it),
     ('errors are clear', errors_are_clear),
     ('what is wrong is told, and no more', what_is_wrong_is_told_and_no_more),
     ('spans of other days', spans_beside_the_trace_are_counted),
     ('a clock that is off', clocks_are_moved_by_parameter),
     ('events and fields of the user', own_events_by_parameter)])
