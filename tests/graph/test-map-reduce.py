# SPDX-License-Identifier: MIT
"""Beyond one machine: parts worked on apart give, byte for byte, what one graph over everything gives."""
import os
import shutil
import signal
import subprocess

import chunks
from lqntest import (FILTER, MARKS, SINK, Scratch, bt2, environment, model_args, read_folder, run, succeed, trace,
                     wait_for)

HOSTS = ['hostA', 'hostB']
EXAMPLES = os.path.join(os.environ['LQN_SOURCE'], 'doc', 'examples')

# the recipes' other programs do not bear the runtimes of sanitizers
PRELOADED = 'LQN_TEST_PRELOAD' in os.environ


def hosts_apart(name, more):
    """The filter on each host by itself, the sink on what the filters wrote."""
    with Scratch() as dir:
        one = succeed(bt2(*model_args(trace(name), dir('one'), more)))
        for host in HOSTS:
            succeed(bt2(trace('%s/%s' % (name, host)), FILTER, '--params=pass-through=no',
                        '-o', 'ctf', '-w', dir('causal/' + host)))
        apart = succeed(bt2(*[dir('causal/' + host) for host in HOSTS], SINK,
                            '--params=output="%s"%s' % (dir('apart'), ',' + more if more else '')))
        assert one.stdout == apart.stdout, apart.stdout
        assert read_folder(dir('one')) == read_folder(dir('apart'))


def chunks_in_one_graph(name, n):
    """Rotation chunks, read together: all state is carried from one to the next."""
    with Scratch() as dir:
        one = succeed(bt2(*model_args(trace(name), dir('one'))))
        parts = chunks.cut(trace(name + '/kernel'), dir.path, n)
        assert all(any('channel' in file for file in os.listdir(part + '/kernel')) for part in parts)
        cut = succeed(bt2(*model_args(parts, dir('cut'))))
        assert one.stdout == cut.stdout, cut.stdout
        assert read_folder(dir('one')) == read_folder(dir('cut'))


def example(dir, name, *args, env=None):
    return subprocess.run([os.path.join(EXAMPLES, name), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=env or environment(), timeout=120)


def check_against_one_graph(dir, name):
    succeed(bt2(*model_args(trace(name), dir('one'))))
    assert read_folder(dir('one')) == read_folder(dir('out/model'))


def with_parallel():
    """GNU parallel over hosts."""
    if PRELOADED or not shutil.which('parallel'):
        return 'skip'
    with Scratch() as dir:
        succeed(example(dir, 'parallel-hosts', dir('out'), *[trace('two-hosts/' + host) for host in HOSTS]))
        check_against_one_graph(dir, 'two-hosts')
        failed = example(dir, 'parallel-hosts', dir('bad'), trace('two-hosts/hostA'), dir('no-such-trace'))
        assert failed.returncode != 0 and not os.path.exists(dir('bad/model')), failed.stderr[-400:]


def with_slurm():
    """A job array over hosts, and a job that waits for it, on a cluster of one node."""
    if PRELOADED or not all(map(shutil.which, ('slurmctld', 'slurmd', 'sbatch', 'squeue', 'sinfo'))) or os.geteuid() != 0:
        return 'skip'
    with Scratch() as dir:
        env = dict(environment(), SLURM_CONF=dir('slurm/slurm.conf'))
        node = subprocess.Popen([os.path.join(EXAMPLES, 'slurm-node'), dir('slurm')], env=environment(),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: 'idle' in ask(env, 'sinfo', '--noheader'))
            job = succeed(example(dir, 'slurm-hosts', dir('out'), *[trace('two-hosts/' + host) for host in HOSTS], env=env))
            assert job.stdout.strip().isdigit(), job.stdout
            wait_for(lambda: os.path.exists(dir('out/model')) or not ask(env, 'squeue', '--noheader'))
            check_against_one_graph(dir, 'two-hosts')
        finally:
            node.send_signal(signal.SIGTERM)
            node.wait(60)


def ask(env, *command):
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60).stdout


run([('%s: hosts apart%s' % (name, more and ', ' + more), lambda n=name, m=more: hosts_apart(n, m))
     for name in ('two-hosts', 'two-hosts-skewed') for more in ('', MARKS, 'all-paths=yes')] +
    [('%s: %d chunks in one graph' % (name, n), lambda name=name, n=n: chunks_in_one_graph(name, n))
     for name, n in (('three-tier', 2), ('pgbench', 5), ('epoll-workers', 3))] +
    [('GNU parallel', with_parallel), ('Slurm', with_slurm)])
