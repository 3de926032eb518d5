# SPDX-License-Identifier: MIT
"""The cases once more, through the stock command line: written as CTF, read by babeltrace2, the thread's path from a file."""
import json
import os
import sys

import ctf
from lqntest import Scratch, bt2, run, succeed

CASES = sys.argv[1]
COLUMNS = ['begin_ns', 'end_ns', 'state', 'host', 'tid', 'comm', 'cause']


def expected(case):
    with open(os.path.join(CASES, case, 'expected.json')) as file:
        return json.load(file)


def read_path(file):
    with open(file) as lines:
        rows = [line.rstrip('\n').split('\t') for line in lines]
    assert rows[0] == COLUMNS, rows[0]
    return [dict(zip(COLUMNS, row)) for row in rows[1:]]


def joined(spans):
    out = []
    for begin, end, state, thread in spans:
        if out and out[-1][1] == begin and out[-1][2:] == [state, thread]:
            out[-1][1] = end
        else:
            out.append([begin, end, state, thread])
    return out


def thread_of(row):
    return row['cause'] if row['state'] == 'NETWORK' and '->' in row['cause'] else row['comm']


def params(wanted, more):
    return '--params=' + ','.join(['thread="%s"' % wanted['thread'], *('%s=%d' % (k, wanted[k]) for k in ('begin', 'end')
                                                                       if k in wanted), *more])


def case_is_right(case):
    wanted = expected(case)
    if 'thread' not in wanted:
        return 'skip'
    with Scratch() as dir:
        traces = ctf.write(dir('traces'), ctf.read(os.path.join(CASES, case, 'events.jsonl')), wanted.get('release', '6.1.0'))
        result = bt2(*traces, '--component=filter.lqn.causal', '--component=sink.lqn.model',
                     params(wanted, ['summary=no', 'output="%s"' % dir('out')]))
        if 'error' in wanted:
            text = ' '.join(result.stderr.split())
            assert result.returncode != 0 and wanted['error'] in text, 'no error %s: %s' % (wanted['error'], result.stderr[-500:])
            assert not os.path.exists(dir('out')), 'something was written'
            return None
        succeed(result)
        rows = read_path(dir('out/thread-path.tsv'))
        got = joined([int(r['begin_ns']), int(r['end_ns']), r['state'], thread_of(r)] for r in rows)
        want = joined(row[:4] for row in wanted['path'])
        assert got == want, 'expected %s\ngot      %s' % (want, got)
    return None


def a_trace_without_requests_gives_a_path_and_a_note():
    with Scratch() as dir:
        traces = ctf.write(dir('traces'), ctf.read(os.path.join(CASES, 'task-wakeup', 'events.jsonl')))
        result = succeed(bt2(*traces, '--component=filter.lqn.causal', '--component=sink.lqn.model', '--params=thread="h:100"'))
        assert result.stdout.split('\n')[0].split('\t') == COLUMNS, result.stdout
        assert 'no model' in result.stderr, result.stderr
        result = bt2(*traces, '--component=filter.lqn.causal', '--component=sink.lqn.model')
        assert result.returncode != 0 and 'thread=' in result.stderr or 'requests' in result.stderr, result.stderr


run([('case %s' % case, lambda case=case: case_is_right(case)) for case in sorted(os.listdir(CASES))
     if os.path.exists(os.path.join(CASES, case, 'expected.json'))] +
    [('a trace without requests gives a path and a note', a_trace_without_requests_gives_a_path_and_a_note)])
