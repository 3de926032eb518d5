# SPDX-License-Identifier: MIT
"""
What is written of critical paths: that it holds together, that it says of recordings what is known to be true of them, and that
others can read it. Readers of others: jsonschema (Debian's python3-jsonschema), and speedscope and a model of Chrome traces by node
(tests/formats, installed by tools/install-packages --tests); without them these tests are skipped.
"""
import collections
import csv
import json
import os
import shutil
import subprocess

from lqntest import TRACES, Scratch, bt2, model_args, run, succeed, trace

ROOT = os.path.realpath(os.path.join(TRACES, '..'))
FORMATS = os.path.join(ROOT, 'tests', 'formats')
NAMES = ['slow-lock', 'mutex', 'epoll-workers', 'two-hosts']
FILES = {'critical-path.txt', 'critical-path.json', 'critical-path.folded', 'slow-requests.json'}

scratch = Scratch().__enter__()


def folder(name):
    """The files of a trace, made once."""
    path = scratch(name)
    if not os.path.exists(path):
        succeed(bt2(*model_args(trace(name), path, 'summary=no,clutter=yes,path-files="text,json,folded,trace"')))
    return path


def read(name):
    with open(os.path.join(folder(name), 'critical-path.json')) as f:
        return json.load(f)


def operation(data, name):
    return next(o for o in data['operations'] if o['operation'] == name)


def paths_tile():
    for name in NAMES:
        for op in read(name)['operations']:
            assert op['kept'], '%s: nothing is kept of %s' % (name, op['operation'])
            for request in op['kept']:
                at = request['begin-ns']
                for piece in request['pieces']:
                    assert piece['begin-ns'] == at < piece['end-ns'], '%s: request %d at %d' % (name, request['request'], at)
                    at = piece['end-ns']
                assert at == request['end-ns'], '%s: request %d ends early' % (name, request['request'])


def profiles_add_up():
    for name in NAMES:
        for op in read(name)['operations']:
            total = sum(share['mean'] for share in op['profile'])
            assert abs(total / op['response-time']['mean'] - 1) < 1e-6, '%s: %s: %r of %r' % (
                name, op['operation'], total, op['response-time']['mean'])


def slowest_are_kept():
    for name in NAMES:
        for op in read(name)['operations']:
            slowest = [r for r in op['kept'] if 'slowest' in r['kept']]
            assert len(slowest) == min(5, op['requests'])
            longest = max(r['end-ns'] - r['begin-ns'] for r in slowest)
            assert abs(longest / 1e9 - op['response-time']['max']) < 1e-9


def planted_lock_is_first():
    """Of all that slow purchases have and typical ones have not the lock is most, and it is reports that hold it."""
    data = read('slow-lock')
    assert {o['operation'] for o in data['operations']} == {'buy', 'look', 'report'}
    buy = operation(data, 'buy')
    first = max(buy['profile'], key=lambda share: share['slow'] - share['typical'])
    assert (first['task'], first['kind'], first['detail']) == ('app', 'lock', 'lock_1'), first
    assert first['slow'] - first['typical'] > 0.5 * sum(s['slow'] - s['typical'] for s in buy['profile'])
    delay = data['delays'][0]
    assert (delay['operation'], delay['kind'], delay['detail']) == ('buy', 'lock', 'lock_1'), delay
    assert delay['by'] == {'operation': 'report', 'task': 'app'}, delay
    # what reports do within: they sleep for 6 ms of some 6.3
    assert delay['doing']['sleep'] > 0.9 * delay['seconds'], delay
    with open(os.path.join(folder('slow-lock'), 'critical-path.txt')) as f:
        lines = f.read().split('== buy, asked by shop')[1].splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith('  task '))
    assert lines[head + 1].split()[:2] == ['app', 'lock'], lines[head + 1]


def lock_waits_are_those_that_the_programs_measured():
    with open(os.path.join(trace('slow-lock'), 'requests.csv')) as f:
        rows = [r for r in csv.DictReader(f) if r['task'] == 'app' and r['entry'] == 'buy']
    # as the programs see it a wait ends when they run again
    true = sum(int(r['lock_wait_ns']) for r in rows if int(r['lock_wait_ns']) > 20000) / 1e9
    told = sum(d['seconds'] for d in read('slow-lock')['delays'] if d['operation'] == 'buy' and d['kind'] == 'lock')
    assert 0.95 < told / true < 1.01, '%g s told, %g s measured' % (told, true)


def holders_are_named():
    for delay in read('mutex')['delays'][:1]:
        assert (delay['kind'], delay['task'], delay['by']['task']) == ('lock', 'server', 'server'), delay
    pieces = [p for o in read('mutex')['operations'] for r in o['kept'] for p in r['pieces'] if p['kind'] == 'lock']
    named = [p for p in pieces if 'request' in p.get('by', {})]
    assert len(named) > 0.95 * len(pieces), '%d of %d' % (len(named), len(pieces))


def devices_are_named():
    kinds = collections.Counter(p['kind'] for o in read('epoll-workers')['operations'] for s in [o] for p in s['profile']
                                if p.get('detail', '').startswith('device 254:'))
    assert kinds['disk'] and kinds['disk queue'], kinds


def connections_are_named():
    details = {p.get('detail', '') for o in read('two-hosts')['operations'] for p in o['profile'] if p['kind'] == 'network'}
    assert any('10.77.0.1:' in d and '10.77.0.2:' in d for d in details), details


def files_are_as_asked():
    for asked, wanted in (('text', {'critical-path.txt'}), ('none', set()),
                          ('folded,trace', {'critical-path.folded', 'slow-requests.json'})):
        path = scratch('files-' + asked)
        succeed(bt2(*model_args(trace('pipe'), path, 'summary=no,slowest=0,path-files="%s"' % asked)))
        assert FILES & set(os.listdir(path)) == wanted, os.listdir(path)


def schema_holds():
    try:
        import jsonschema
    except ImportError:
        return 'skip'
    with open(os.path.join(ROOT, 'doc', 'critical-path.schema.json')) as f:
        schema = json.load(f)
    with open(os.path.join(ROOT, 'doc', 'model.schema.json')) as f:
        model = json.load(f)
    for name in NAMES:
        jsonschema.Draft202012Validator(schema).validate(read(name))
        with open(os.path.join(folder(name), 'model.json')) as f:
            jsonschema.Draft202012Validator(model).validate(json.load(f))
    return None


def others_can_read_it():
    """speedscope complains on its error output; it must have nothing to say."""
    if shutil.which('node') is None or not os.path.isdir(os.path.join(FORMATS, 'node_modules', 'speedscope')):
        return 'skip'
    for name in NAMES:
        files = [os.path.join(folder(name), f) for f in ('critical-path.folded', 'slow-requests.json')]
        result = subprocess.run(['node', os.path.join(FORMATS, 'read.mjs'), *files], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr[-1000:]
        assert not result.stderr, result.stderr[:1000]
        seen = json.loads(result.stdout)
        with open(files[0]) as f:
            total = sum(int(line.rsplit(' ', 1)[1]) for line in f)
        assert [p['weight'] for p in seen['stacks']] == [total]
        lengths = {r['request']: (r['end-ns'] - r['begin-ns']) / 1e3 for o in read(name)['operations'] for r in o['kept']
                   if set(r['kept']) != {'sample'}}
        for kind, tracks in (('speedscope', [(p['name'], p['weight']) for p in seen['threads'] if 'critical path' in p['name']]),
                             ('tracerbench', [(t['process'], t['outer']) for t in seen['tracks'] if t['thread'] == 'critical path'])):
            found = {int(n.split('request ')[1].split(',')[0]): length for n, length in tracks}
            assert found.keys() == lengths.keys(), '%s: %s: %s' % (name, kind, found.keys() ^ lengths.keys())
            for request, length in found.items():
                assert abs(length - lengths[request]) < 0.01, '%s: %s: request %d' % (name, kind, request)
    return None


run([('kept paths tile', paths_tile),
     ('profiles add up to the response time', profiles_add_up),
     ('the slowest are kept', slowest_are_kept),
     ('a planted lock is first of what the slow have', planted_lock_is_first),
     ('waits for the lock are those that the programs measured', lock_waits_are_those_that_the_programs_measured),
     ('holders of a lock are named', holders_are_named),
     ('devices are named, queues told from service', devices_are_named),
     ('connections are named', connections_are_named),
     ('files are as asked', files_are_as_asked),
     ('the schemas hold', schema_holds),
     ('speedscope and a model of Chrome traces read it', others_can_read_it)])
scratch.__exit__()
