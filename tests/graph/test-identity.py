# SPDX-License-Identifier: MIT
"""lqn-snapshot on real processes; and a trace of three programs, all called python3, with connections that are older than it."""
import csv
import json
import os
import shutil
import socket
import subprocess
import sys

from lqntest import FILTER, SINK, Scratch, TRACES, bt2, run, succeed, trace

ROOT = os.path.dirname(os.path.realpath(TRACES))
TOOL = os.path.join(ROOT, 'tools', 'lqn-snapshot')
OLDER = trace('older-than-trace')
SNAPSHOT = os.path.join(OLDER, 'identity.json')

SERVER = '''
import socket, sys
listener = socket.create_server(('127.0.0.1', 0))
queue = socket.socket(socket.AF_UNIX)
queue.bind(sys.argv[1])
queue.listen()
print(listener.getsockname()[1], flush=True)
one, other = listener.accept()[0], queue.accept()[0]
sys.stdin.read()
'''


def snapshot_of_real_processes():
    """begin and end; a process that comes between them; ports, and both ends of a TCP and a unix connection."""
    with Scratch() as dir:
        os.mkdir(dir('shop'))
        with open(dir('shop/server.py'), 'w') as f:
            f.write(SERVER)
        server = subprocess.Popen([sys.executable, 'server.py', dir('queue')], cwd=dir('shop'), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        late = None
        try:
            port = int(server.stdout.readline())
            tcp = socket.create_connection(('127.0.0.1', port))
            unix = socket.socket(socket.AF_UNIX)
            unix.connect(dir('queue'))
            for when in ('begin', 'end'):
                result = subprocess.run([sys.executable, TOOL, when, '--host', 'here', dir('id.json')], capture_output=True, text=True)
                assert result.returncode == 0, result.stderr
                late = late or subprocess.Popen(['sleep', '60'])
            with open(dir('id.json')) as f:
                data = json.load(f)
        finally:
            server.communicate('')
            if late:
                late.kill()
                late.wait()
        assert data['schema'] == 'lqn-snapshot/1' and data['host'] == 'here'
        assert [it['when'] for it in data['snapshots']] == ['begin', 'end']
        by_pid = {it['pid']: it for it in data['processes']}
        it = by_pid[server.pid]
        assert it['cmdline'][1:] == ['server.py', dir('queue')] and it['cwd'] == os.path.realpath(dir('shop')), it
        assert it['seen'] == ['begin', 'end'] and it['ppid'] == os.getpid() and server.pid in it['threads'], it
        assert os.path.basename(it['exe']).startswith('python') and it['nspid'][0] == server.pid, it
        assert by_pid[late.pid]['seen'] == ['end']
        inodes = {int(fd['file'][8:-1]) for fd in it['fds'] if fd['file'].startswith('socket:[')}
        sockets = {s['inode']: s for s in data['sockets']}
        mine = [sockets[inode] for inode in inodes if inode in sockets]
        assert any(s.get('listening') and s.get('local') == '127.0.0.1:%d' % port for s in mine), mine
        assert any(s.get('local') == '127.0.0.1:%d' % port and s.get('remote') == '127.0.0.1:%d' % tcp.getsockname()[1]
                   for s in mine), mine
        if shutil.which('ss'):
            ends = [s for s in mine if s['type'] == 'unix-stream' and s.get('peer')]
            assert len(ends) == 1 and sockets[ends[0]['peer']]['peer'] == ends[0]['inode'], mine
        tcp.close()
        unix.close()


def errors_of_the_tool():
    with Scratch() as dir:
        with open(dir('id.json'), 'w') as f:
            f.write('{}')
        result = subprocess.run([sys.executable, TOOL, 'end', dir('id.json')], capture_output=True, text=True)
        assert result.returncode == 1 and 'no snapshot' in result.stderr, result
        result = subprocess.run([sys.executable, TOOL, 'begin', dir('no/such')], capture_output=True, text=True)
        assert result.returncode == 1 and 'no/such' in result.stderr, result
        assert open(dir('id.json')).read() == '{}' and dir.names() == ['id.json']


def model(dir, filter_params, sink_params):
    """model.json of the trace, and what was printed."""
    result = succeed(bt2(OLDER, FILTER, *(['--params=' + filter_params] if filter_params else []),
                         SINK, '--params=output="%s"%s' % (dir('model'), sink_params)))
    with open(dir('model/model.json')) as f:
        return json.load(f), result.stdout + result.stderr


def tasks_of(data):
    return {t['name']: t for p in data['processors'] for t in p['tasks'] if t['kind'] != 'background'}


def calls_of(data):
    owner = {e['name']: t['name'] for t in tasks_of(data).values() for e in t['entries']}
    return {(t['name'], owner[c['dest']], kind, round(c['calls-mean'], 2)) for t in tasks_of(data).values() for e in t['entries']
            for p in e['phases'] for kind in ('synch-call', 'asynch-call') for c in p[kind]}


def older_than_the_trace():
    """Three programs of one name, no connect or accept, no dump: the snapshot alone tells who is who, and who asks whom."""
    with Scratch() as dir:
        data, _ = model(dir, 'identity="%s"' % SNAPSHOT, ',identity=["%s"]' % SNAPSHOT)
        tasks = tasks_of(data)
        assert set(tasks) == {'load', 'server_shop', 'server_stock'}, set(tasks)
        assert calls_of(data) == {('load', 'server_shop', 'synch-call', 1), ('server_shop', 'server_stock', 'synch-call', 1)}
        assert tasks['server_shop']['multiplicity'] == tasks['server_stock']['multiplicity'] == 1
        # they sleep until times of the clock, as Python does it, but they think
        load = tasks['load']
        assert load['kind'] == 'client' and load['multiplicity'] == 2 and 0.004 < load['think-time'] < 0.0044, load
        # against the clients' own log
        with open(os.path.join(OLDER, 'recording.json')) as f:
            epoch = json.load(f)['clock_epoch_ns']
        begin, end = data['window']['begin-ns'] - epoch, data['window']['end-ns'] - epoch
        with open(os.path.join(OLDER, 'requests.csv')) as f:
            log = [(int(row[1]), int(row[2])) for row in csv.reader(f)]
        logged = [(b, e) for b, e in log if begin <= b < end]
        rate = len(logged) / (end - begin) * 1e9
        assert abs(tasks['load']['measured']['throughput'] / rate - 1) < 0.02, (tasks['load']['measured'], rate)
        response = sum(e - b for b, e in logged) / len(logged) / 1e9
        assert abs(tasks['load']['measured']['response-time'] / response - 1) < 0.1, (tasks['load']['measured'], response)


def names_without_pairs():
    """Names at the sink alone do not need the filter's parameter."""
    with Scratch() as dir:
        data, _ = model(dir, '', ',identity="%s"' % SNAPSHOT)
        assert set(tasks_of(data)) == {'load', 'server_shop', 'server_stock'}, set(tasks_of(data))


def rules_name_and_group():
    with Scratch() as dir:
        with open(dir('tasks.ini'), 'w') as f:
            f.write('[shop front]\ncmdline=*server.py 9101*\n\n[users]\ncomm=python3\nexe=*/python3*\ncmdline=*load.py*\n')
        data, _ = model(dir, 'identity="%s"' % SNAPSHOT, ',identity="%s",rules="%s"' % (SNAPSHOT, dir('tasks.ini')))
        assert set(tasks_of(data)) == {'users', 'shop_front', 'server_stock'}, set(tasks_of(data))


def refused(params, *words):
    for component in (FILTER, SINK):
        if component.endswith('causal') and 'rules' in params:
            continue
        before = [] if component.endswith('causal') else [FILTER]
        result = bt2(OLDER, *before, component, '--params=' + params, *(['-o', 'dummy'] if not before else []))
        text = ''.join(result.stderr.split())
        assert result.returncode == 1, result
        for word in words:
            assert ''.join(word.split()) in text, '`%s` is not in %s' % (word, result.stderr[-600:])


def bad_files():
    with Scratch() as dir:
        with open(dir('x.json'), 'w') as f:
            f.write('{"schema": "lqn-snapshot/1",\n"host" "vm"}')
        with open(dir('x.ini'), 'w') as f:
            f.write('[a]\ncomm=x\nprot=80\n')
        refused('identity="%s"' % dir('none.json'), 'identity', 'none.json')
        refused('identity="%s"' % dir('x.json'), 'x.json: line 2')
        refused('identity=["%s","%s"]' % (SNAPSHOT, SNAPSHOT), 'are both of host')
        refused('identity=7', 'identity', 'array')
        refused('rules="%s"' % dir('x.ini'), 'x.ini: line 3: unknown key `prot`')


def another_host():
    with Scratch() as dir:
        with open(SNAPSHOT) as f:
            text = f.read()
        with open(dir('id.json'), 'w') as f:
            f.write(text.replace('"host": "vm"', '"host": "elsewhere"'))
        data, printed = model(dir, 'identity="%s"' % dir('id.json'), ',identity="%s"' % dir('id.json'))
        assert 'python3' in tasks_of(data) and printed.count('elsewhere') >= 2, printed


run([('lqn-snapshot on real processes', snapshot_of_real_processes),
     ('lqn-snapshot says what is wrong', errors_of_the_tool),
     ('connections and programs older than the trace', older_than_the_trace),
     ('names at the sink alone', names_without_pairs),
     ('rules name tasks', rules_name_and_group),
     ('files that make no sense', bad_files),
     ('a snapshot of another host', another_host)])
