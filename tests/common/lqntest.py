# SPDX-License-Identifier: MIT
"""What tests through the stock command line share: running babeltrace2, and reporting in TAP."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

TRACES = os.environ['LQN_TRACES']
FILTER, SINK = '--component=filter.lqn.causal', '--component=sink.lqn.model'
MARKS = 'begin-mark="openat:/lqn-mark/steady-begin",end-mark="openat:/lqn-mark/steady-end"'


def trace(name):
    return os.path.join(TRACES, name)


def environment():
    """Of babeltrace2: sanitizers, if the plugin is built with any, are put into that process alone."""
    env = dict(os.environ)
    if env.get('LQN_TEST_PRELOAD'):
        env['LD_PRELOAD'] = env['LQN_TEST_PRELOAD']
        env.setdefault('ASAN_OPTIONS', 'detect_leaks=1:exitcode=99:abort_on_error=0')
        env.setdefault('UBSAN_OPTIONS', 'halt_on_error=1:print_stacktrace=1:exitcode=99')
    return env


def bt2(*args, stdout=subprocess.PIPE):
    """Runs babeltrace2."""
    return subprocess.run(['babeltrace2', *args], stdout=stdout, stderr=subprocess.PIPE, env=environment(), text=True,
                          errors='replace')


def model_args(source, output, more=''):
    """The arguments of the main job."""
    params = ['output="%s"' % output] + ([more] if more else [])
    return [*(source if isinstance(source, list) else [source]), FILTER, SINK, '--params=' + ','.join(params)]


def succeed(result):
    assert result.returncode == 0, 'exit %d: %s' % (result.returncode, result.stderr[-1500:])
    return result


def squeezed(text):
    """babeltrace2 breaks lines where it likes, also within words."""
    return ''.join(text.split())


def refuse(result, *words):
    """It must have failed, with a cause that has the words in it."""
    assert result.returncode == 1, 'exit %d: %s' % (result.returncode, result.stderr[-800:])
    for word in words:
        assert squeezed(word) in squeezed(result.stderr), '`%s` is not in: %s' % (word, result.stderr[-800:])


def wait_for(what, seconds=90):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, 'waited for %s in vain' % what.__name__
        time.sleep(0.1)


def read_folder(path):
    """All files below a folder, by name."""
    out = {}
    for base, _, files in os.walk(path):
        for name in files:
            full = os.path.join(base, name)
            with open(full, 'rb') as f:
                out[os.path.relpath(full, path)] = f.read()
    return out


class Scratch:
    """A folder for the time of a test."""
    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='lqn-test-')
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def __call__(self, name):
        return os.path.join(self.path, name)

    def names(self):
        return sorted(os.listdir(self.path))


def run(tests):
    """Runs (name, function) pairs and reports them in TAP. Exit status 0 either way: the harness counts."""
    for number, (name, function) in enumerate(tests, 1):
        try:
            directive = ' # SKIP' if function() == 'skip' else ''
            print('ok %d - %s%s' % (number, name, directive), flush=True)
        except Exception as e:          # a test that cannot be run has failed
            print('not ok %d - %s' % (number, name), flush=True)
            for line in (str(e) if isinstance(e, AssertionError) and str(e) else traceback.format_exc()).splitlines():
                print('# ' + line)
            sys.stdout.flush()
    print('1..%d' % len(tests))
