# SPDX-License-Identifier: MIT
"""Rolling models (`interval`): of a recording that comes as a live one does, and beside a live session of a real relay daemon."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from lqntest import FILTER, SINK, Scratch, bt2, environment, read_folder, refuse, run, succeed, trace, wait_for

SPANS = os.path.join(os.environ['LQN_SOURCE'], 'tests', 'live')
FILES = {'critical-path.txt', 'model.json', 'model.lqn', 'model.lqnx'}
TASKS = {'client', 'web', 'app', 'db'}


def rolling(out, how='again=2000', interval='0.3'):
    return succeed(bt2(trace('three-tier'), '--component=filter.lqn-rig.disturb', '--params=' + how, '--retry-duration=1',
                       FILTER, SINK, '--params=output="%s",interval=%s' % (out, interval)))


def windows(text):
    return [(int(a.replace('.', '')), int(b.replace('.', ''))) for a, b in
            re.findall(r'^window +(\d+\.\d{9}) to (\d+\.\d{9})', text, re.M)]


def rates(text):
    """Invocations per second, of each summary, by task."""
    return [dict(re.findall(r'^(%s) +\w+ +\d+ +\w+ +([\d.]+)' % '|'.join(TASKS), part, re.M))
            for part in text.split('\nmodel ')]


def windows_follow_each_other():
    with Scratch() as dir:
        result = rolling(dir('out'))
        all_ = windows(result.stdout)
        assert len(all_) == 4, result.stdout
        for (begin, end), (next_, _) in zip(all_, all_[1:]):
            assert end - begin == 300000000 and next_ == end, all_
        assert FILES <= set(read_folder(dir('out'))) and dir.names() == ['out'], dir.names()
        last = json.loads(read_folder(dir('out'))['model.json'])
        assert (last['window']['begin-ns'], last['window']['end-ns']) == all_[-1], last['window']


def each_is_what_its_window_gives_afterwards():
    with Scratch() as dir:
        result = rolling(dir('out'))
        for (begin, end), rolled in list(zip(windows(result.stdout), rates(result.stdout)))[1:3]:
            whole = succeed(bt2(trace('three-tier'), FILTER, SINK, '--params=begin=%d,end=%d' % (begin, end)))
            after, = rates(whole.stdout)
            assert set(rolled) == set(after) == TASKS, (rolled, after)
            for task in TASKS:
                assert abs(float(rolled[task]) - float(after[task])) <= 0.02 * float(after[task]), (task, rolled, after)
            cores = [re.search(r'^processors +cpu_vm (\d+) cores', t, re.M) for t in (result.stdout, whole.stdout)]
            assert all(cores) and cores[0].group(1) == cores[1].group(1), result.stdout


def how_it_comes_does_not_matter():
    with Scratch() as dir:
        one, two = rolling(dir('one'), 'again=0'), rolling(dir('two'), 'again=500')
        assert one.stdout == two.stdout
        assert read_folder(dir('one')) == read_folder(dir('two'))


def longer_than_the_trace_is_one_model():
    with Scratch() as dir:
        result = rolling(dir('out'), interval='60')
        assert len(windows(result.stdout)) == 1 and FILES <= set(read_folder(dir('out')))


# ---- a real relay daemon ----

def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(('127.0.0.1', 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Session:
    """A live session of the user space of this machine, with daemons of its own where there are none."""
    def __init__(self, dir):
        self.dir, self.name, self.children = dir, 'lqn-test-%d' % os.getpid(), []
        self.env = dict(os.environ, LTTNG_HOME=dir.path)
        control, data, self.live = free_ports(3)
        self.urls = ['-C', 'tcp://127.0.0.1:%d' % control, '-D', 'tcp://127.0.0.1:%d' % data]
        if subprocess.run(['pgrep', '-x', 'lttng-sessiond'], stdout=subprocess.DEVNULL).returncode:
            self.start('lttng-sessiond', '--no-kernel')
        self.start('lttng-relayd', *self.urls, '-L', 'tcp://127.0.0.1:%d' % self.live, '-o', dir('relay'))
        self.app = None

    def start(self, *args):
        child = subprocess.Popen(args, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.children.append(child)
        return child

    def lttng(self, *args):
        return subprocess.run(['lttng', *args], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)

    def __enter__(self):
        def created():
            return self.lttng('create', self.name, '--live=100000', *self.urls).returncode == 0
        wait_for(created)
        for args in (['enable-event', '-u', 'otel:*'], ['add-context', '-u', '-t', 'vtid'], ['start']):
            named = args + ([self.name] if args == ['start'] else ['-s', self.name])
            result = self.lttng(*named)
            assert result.returncode == 0, result.stdout
        self.app = self.start(self.dir('spans'))
        return self

    def url(self):
        return 'net://127.0.0.1:%d/host/%s/%s' % (self.live, socket.gethostname(), self.name)

    def end(self):
        self.lttng('destroy', self.name)

    def __exit__(self, *_):
        self.end()
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
        for child in self.children:
            child.wait(60)


def build(dir):
    """The traced program; False if it cannot be built here."""
    tools = ('cc', 'lttng', 'lttng-sessiond', 'lttng-relayd', 'pgrep')
    return all(shutil.which(tool) for tool in tools) and os.geteuid() == 0 and subprocess.run(
        ['cc', '-I' + SPANS, os.path.join(SPANS, 'spans.c'), '-o', dir('spans'), '-llttng-ust', '-ldl'],
        stderr=subprocess.DEVNULL).returncode == 0


def beside_a_live_session():
    """A kernel trace and a live session of user space in one graph: models come while the session goes on, and outlive it."""
    with Scratch() as dir:
        if not build(dir):
            return 'skip'
        with Session(dir) as session:
            graph = subprocess.Popen(
                ['babeltrace2', 'run', '--component=kernel:source.ctf.fs',
                 '--params=inputs=["%s"]' % trace('three-tier/kernel'), '--component=live:source.ctf.lttng-live',
                 '--params=inputs=["%s"],session-not-found-action="end"' % session.url(), '--component=mux:filter.utils.muxer',
                 '--component=causal:filter.lqn.causal', '--component=model:sink.lqn.model',
                 '--params=output="%s",interval=0.3' % dir('out'), '--connect=kernel:mux', '--connect=mux:causal',
                 '--connect=live:causal', '--connect=causal:model'],
                env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

            def models_have_come():
                assert graph.poll() is None, graph.communicate()
                return os.path.exists(dir('out/model.json'))
            wait_for(models_have_come)
            time.sleep(1)
            assert graph.poll() is None, 'it ended before the session did: %s' % (graph.communicate(),)
            before = json.loads(read_folder(dir('out'))['model.json'])
            session.end()
            out, err = graph.communicate(timeout=60)
            assert graph.returncode == 0, err[-1500:]
        assert FILES <= set(read_folder(dir('out')))
        after = json.loads(read_folder(dir('out'))['model.json'])
        assert after['window']['begin-ns'] >= before['window']['begin-ns']
        assert len(windows(out)) >= 4, out
        assert TASKS <= {task['name'] for processor in after['processors'] for task in processor['tasks']}


def spans_come_while_the_session_goes_on():
    with Scratch() as dir:
        if not build(dir):
            return 'skip'
        with Session(dir) as session:
            with open(dir('spans.txt'), 'w') as out:
                graph = subprocess.Popen(
                    ['babeltrace2', '--input-format=lttng-live', session.url(), FILTER, '--params=pass-through=no'],
                    env=environment(), stdout=out, stderr=subprocess.PIPE, text=True)

            def spans_have_come():
                assert graph.poll() is None, graph.communicate()
                return open(dir('spans.txt')).read().count('lqn:span:') > 100
            wait_for(spans_have_come)
            session.end()
            _, err = graph.communicate(timeout=60)
        # a trace of user space alone tells nothing of who waits for whom: said at the end
        assert graph.returncode == 1 and 'No kernel events' in err, err[-800:]


run([('windows follow each other', windows_follow_each_other),
     ('each is what its window gives afterwards', each_is_what_its_window_gives_afterwards),
     ('how the messages come does not matter', how_it_comes_does_not_matter),
     ('an interval longer than the trace', longer_than_the_trace_is_one_model),
     ('an interval of no length', lambda: refuse(bt2(trace('pipe'), FILTER, SINK, '--params=interval=-1'), '`interval`')),
     ('an interval that is no number', lambda: refuse(bt2(trace('pipe'), FILTER, SINK, '--params=interval="x"'), '`interval`')),
     ('an interval and a window', lambda: refuse(bt2(trace('pipe'), FILTER, SINK, '--params=interval=1,begin=5'), '`interval`')),
     ('models beside a live session', beside_a_live_session),
     ('spans of a live session', spans_come_while_the_session_goes_on)])
