# SPDX-License-Identifier: MIT
"""What lets in several at a time: a semaphore, and a pool of a mutex and a condition variable; the program's own figures are the truth."""
import csv
import json

from lqntest import Scratch, bt2, model_args, run, succeed, trace

with open(trace('permits/truth.txt')) as f:
    TRUTH = {row['name']: row for row in csv.DictReader(f, delimiter='\t')}

scratch = Scratch().__enter__()
succeed(bt2(*model_args(trace('permits'), scratch('model'), 'whole=yes')))
with open(scratch('model/model.json')) as f:
    TASKS = {task['name']: task for processor in json.load(f)['processors'] for task in processor['tasks']}


def held_by(client):
    """The entry of the lock that the requests of a client pass, and its task."""
    asked = TASKS[client]['entries'][0]['phases'][0]['synch-call'][0]['dest']
    served = next(entry for entry in TASKS['shop']['entries'] if entry['name'] == asked)
    return next((task, entry) for task in TASKS.values() if task['kind'] == 'lock' for entry in task['entries']
                if entry['name'] == served['phases'][0]['synch-call'][0]['dest'])


def lets_in_as_many(client):
    task, _ = held_by(client)
    assert task['multiplicity'] == int(TRUTH[client]['permits']), task['multiplicity']


def is_held_as_long(client):
    """Who is waited for holds longer in the mean than who is not, and only the former is seen: a tenth, and what chance allows."""
    _, entry = held_by(client)
    true, got, chance = float(TRUTH[client]['hold_ms']), entry['measured']['service-time'] * 1e3, entry['measured']['service-time-conf-95'] * 1e3
    assert abs(got - true) < 0.1 * true + chance, 'held %.3f ± %.3f ms, true is %.3f' % (got, chance, true)


def nothing_else_is_a_lock():
    assert sum(task['kind'] == 'lock' for task in TASKS.values()) == len(TRUTH), sorted(TASKS)


run([('%s: %s' % (client, check.__name__), lambda client=client, check=check: check(client))
     for client in TRUTH for check in (lets_in_as_many, is_held_as_long)] +
    [('nothing else is a lock', nothing_else_is_a_lock)])
