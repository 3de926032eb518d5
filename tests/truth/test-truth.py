# SPDX-License-Identifier: MIT
"""test-truth.py TRACE [EVENT...]: the model of a recorded trace against what its programs measured themselves.

EVENTs are taken out of the trace first: the bars hold without those that not every recording has.

The bars are in BARS. Predictions need a solver: `lqns` on the path, or named by LQNS; without one they are skipped. A schema of
the solvers is used if LQN_XSD names it; our own part of it (lqnx.rng) always, if there is xmllint.
"""
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

from lqntest import MARKS, Scratch, bt2, model_args, run, succeed, trace

HERE = os.path.dirname(os.path.abspath(__file__))
NAME, DROPPED = sys.argv[1], sys.argv[2:]
SOURCE = [trace(NAME)]
if DROPPED:
    SOURCE += ['--component=filter.lqn-test.drop', '--params=names=[%s]' % ','.join('"%s"' % name for name in DROPPED)]
BARS = {'rate': 0.02, 'demand': 0.05, 'think': 0.05, 'hold': 0.10, 'throughput': 0.10}
SOLVER = os.environ.get('LQNS') or shutil.which('lqns')
HARMLESS = ('not used', 'value is zero')

scratch = Scratch().__enter__()
MODEL = scratch('model')
figures = {}


def model():
    """Makes the model once, whichever test comes first."""
    if not os.path.exists(MODEL):
        succeed(bt2(*model_args(SOURCE, MODEL, MARKS)))
    return os.path.join(MODEL, 'model.lqnx')


def compare():
    if not figures:
        command = [sys.executable, os.path.join(HERE, 'model-vs-truth'), model(), trace(NAME) + '/truth.json', '--json']
        result = subprocess.run(command + (['--solver', SOLVER] if SOLVER else []), capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        figures.update(json.loads(result.stdout.strip().splitlines()[-1]))
    return figures


def none(*keys):
    for key in keys:
        assert not compare()[key], '%s: %s' % (key, compare()[key])


def tasks():
    none('missing', 'extra')


def edges():
    none('edges_wrong', 'edges_missing')
    assert compare()['edges_precision'] == compare()['edges_recall'] == 1


def at_most(key, bar):
    assert compare()[key] <= bar, '%s is %.1f %%' % (key, 100 * compare()[key])


def locks():
    d = compare()
    assert d['locks_required'] <= d['locks_found'] <= d['locks_true'], '%d found, %d contended of %d' % (
        d['locks_found'], d['locks_required'], d['locks_true'])
    none('locks_multiplicity_wrong')
    for lock in d.get('locks', []):
        assert abs(lock['hold_ms'] / lock['hold_ms_true'] - 1) <= BARS['hold'], lock


def schema():
    if shutil.which('xmllint') is None:
        return 'skip'
    checks = [['--relaxng', os.path.join(HERE, 'lqnx.rng')]]
    if os.environ.get('LQN_XSD'):
        checks.append(['--schema', os.environ['LQN_XSD']])
    for check in checks:
        result = subprocess.run(['xmllint', '--noout', *check, model()], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr[-800:]
    return None


def references():
    """What a schema of this kind cannot say: names are unique, calls lead to entries, and never in a circle."""
    root = ET.parse(model()).getroot()
    owner = {}
    for kind in ('processor', 'task', 'entry', 'activity'):
        names = [e.get('name') for e in root.iter(kind) if kind != 'activity' or e.get('host-demand-mean')]
        assert len(names) == len(set(names)), 'two of one name: %s' % names
    calls = {}
    for task in root.iter('task'):
        for entry in task.iter('entry'):
            owner[entry.get('name')] = task.get('name')
    for task in root.iter('task'):
        for call in task.iter():
            if call.tag in ('synch-call', 'asynch-call', 'forwarding'):
                assert call.get('dest') in owner, 'no entry %s' % call.get('dest')
                if call.tag != 'asynch-call':
                    calls.setdefault(task.get('name'), set()).add(owner[call.get('dest')])

    def visit(name, above):
        assert name not in above, 'a circle of calls: %s' % ' → '.join([*above, name])
        for callee in calls.get(name, ()):
            visit(callee, [*above, name])
    for name in calls:
        visit(name, [])
    for task in root.iter('task'):
        if task.get('scheduling') == 'ref':
            assert len(list(task.iter('entry'))) == 1, 'a reference task with several entries: %s' % task.get('name')
            assert task.get('name') not in set().union(*calls.values()), 'calls to a reference task'


def same_in_all_forms():
    """model.json has the numbers of model.lqnx."""
    data = json.load(open(os.path.join(MODEL, 'model.json')))
    text = json.dumps(data)
    for entry in ET.parse(model()).getroot().iter('entry'):
        assert '"%s"' % entry.get('name') in text, 'model.json lacks %s' % entry.get('name')
    assert os.path.getsize(os.path.join(MODEL, 'critical-path.txt')) > 200


def json_schema():
    """model.json is as its schema says, where there is a program that can tell."""
    model()
    try:
        import jsonschema
    except ImportError:
        return 'skip'
    with open(os.path.join(HERE, '../../doc/model.schema.json')) as schema_file, open(os.path.join(MODEL, 'model.json')) as f:
        jsonschema.validate(json.load(f), json.load(schema_file))
    return None


def solved():
    if not SOLVER:
        return 'skip'
    d = compare()
    assert d['solver_exit'] == 0 and d.get('solver_valid'), d.get('solver_says')
    assert not d['solver_warnings'], d['solver_warnings']
    at_most('throughput_error_max', BARS['throughput'])
    return None


def results(solver, name, *options):
    """Throughput and utilisation by task and processor, as a solver finds them."""
    out = scratch(os.path.basename(solver) + '-' + name + '.xml')
    result = subprocess.run([solver, *options, '-x', '-o', out, os.path.join(MODEL, name)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, '%s: %s' % (name, result.stderr[-400:])
    found = {}
    for element in ET.parse(out).getroot().iter():
        if element.tag in ('task', 'processor'):
            own = element.find('result-' + element.tag)
            found[element.tag, element.get('name')] = {key: float(own.get(key, 0)) for key in ('throughput', 'utilization')}
    return found


def both_forms_mean_the_same():
    """
    model.lqn solves to what model.lqnx does; lqsim, if it is beside lqns, reads both and finds the same for the same seed. Graphs of
    activities take the same chances in another order: there it finds about the same.
    """
    model()
    if not SOLVER:
        return 'skip'
    one, other = results(SOLVER, 'model.lqnx'), results(SOLVER, 'model.lqn')
    assert one and one.keys() == other.keys(), (one, other)
    for key, figures in one.items():
        for what, value in figures.items():
            assert abs(other[key][what] - value) <= 1e-4 * max(value, 1e-3), (key, what, value, other[key][what])
    simulator = os.environ.get('LQSIM') or shutil.which('lqsim')
    if simulator:
        graphs = ET.parse(os.path.join(MODEL, 'model.lqnx')).find('.//task-activities') is not None
        one, other = (results(simulator, name, '-S', '1', '-C', '2,1,100' if graphs else '20,1,10') for name in ('model.lqnx', 'model.lqn'))
        for key, figures in one.items():
            bound = 0 if not graphs else 1 if key[1] == 'background' else 0.05
            assert other[key].keys() == figures.keys() and all(abs(other[key][what] - value) <= bound * value for what, value in figures.items()), \
                (key, figures, other[key])
    return None


run([('%s: all tasks are found and no others' % NAME, tasks),
     ('%s: calls lead where they should, in their kind' % NAME, edges),
     ('%s: rates of calls' % NAME, lambda: at_most('rate_error_max', BARS['rate'])),
     ('%s: demands' % NAME, lambda: at_most('demand_error_max', BARS['demand'])),
     ('%s: second phases' % NAME, lambda: none('phase2_wrong')),
     ('%s: multiplicities' % NAME, lambda: none('multiplicity_wrong')),
     ('%s: think times' % NAME, lambda: at_most('think_error_max', BARS['think'])),
     ('%s: locks' % NAME, locks),
     ('%s: processors' % NAME, lambda: none('processors_wrong')),
     ('%s: the schema' % NAME, schema),
     ('%s: references' % NAME, references),
     ('%s: all forms hold the same' % NAME, same_in_all_forms),
     ('%s: the schema of model.json' % NAME, json_schema),
     ('%s: both forms mean the same to the solvers' % NAME, both_forms_mean_the_same),
     ('%s: the solver predicts the throughput' % NAME, solved)])
scratch.__exit__()
