# SPDX-License-Identifier: MIT
"""pgbench: a server that nobody wrote for this; the client's own log is the truth.

A transaction is 7 statements without a pause. The window leaves the handshakes out.
"""
import os
import xml.etree.ElementTree as ET

from lqntest import Scratch, bt2, model_args, run, succeed, trace

SECOND = 10 ** 9
CLIENTS, STATEMENTS = 4, 7


def transactions():
    """(begin, end) in ns of each."""
    out = []
    with open(os.path.join(trace('pgbench'), 'transactions.txt')) as f:
        for line in f:
            _, _, latency, _, seconds, us = map(int, line.split())
            out.append((seconds * SECOND + us * 1000 - latency * 1000, seconds * SECOND + us * 1000))
    return out


DONE = transactions()
BEGIN = sorted(begin for begin, _ in DONE)[4 * CLIENTS]
END = sorted(end for _, end in DONE)[-4 * CLIENTS]

scratch = Scratch().__enter__()
succeed(bt2(*model_args(trace('pgbench'), scratch('model'), 'begin=%d,end=%d' % (BEGIN, END))))
TASKS = {t.get('name'): t for t in ET.parse(scratch('model/model.lqnx')).getroot().iter('task')}


def references():
    found = [n for n, t in TASKS.items() if t.get('scheduling') == 'ref' and not n.startswith('background')]
    assert found == ['pgbench'], found
    assert TASKS['pgbench'].get('multiplicity') == str(CLIENTS), TASKS['pgbench'].attrib


def backends():
    found = [n for n in TASKS if n.startswith('postgres')]
    assert found == ['postgres'], found
    task = TASKS['postgres']
    assert task.get('scheduling') == 'inf' or task.get('multiplicity') == str(CLIENTS), task.attrib


def statements():
    in_window = sum(max(0, min(END, end) - max(BEGIN, begin)) / (end - begin) for begin, end in DONE)
    true = STATEMENTS * in_window / ((END - BEGIN) / SECOND)
    got = float(TASKS['pgbench'].find('result-task').get('throughput'))
    assert abs(got / true - 1) <= 0.02, '%.0f per second, true %.0f' % (got, true)


def no_think_time():
    mean_s = CLIENTS / float(TASKS['pgbench'].find('result-task').get('throughput'))
    assert float(TASKS['pgbench'].get('think-time') or 0) <= 0.1 * mean_s, TASKS['pgbench'].attrib


run([('pgbench is the one client, with its connections', references),
     ('backends are one task, as many as connections', backends),
     ('statements per second', statements),
     ('the client does not think', no_think_time)])
scratch.__exit__()
