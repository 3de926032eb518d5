# SPDX-License-Identifier: MIT
"""Runs that do not come to their end: nothing half-written, nothing good lost; with partial=yes, what was found by then."""
import json

from lqntest import FILTER, SINK, Scratch, bt2, model_args, read_folder, run, succeed, trace

HALF = 45000                    # messages; three-tier has some 92,000
STATUS = {'interrupt': 2, 'fail': 1}
REASON = {'interrupt': 'the run was interrupted', 'fail': 'reading failed'}


def stopped(how, out, more=''):
    result = bt2(trace('three-tier'), '--component=filter.lqn-rig.disturb', '--params=%s=%d' % (how, HALF),
                 FILTER, SINK, '--params=output="%s"%s' % (out, more))
    assert result.returncode == STATUS[how], 'exit %d: %s' % (result.returncode, result.stderr[-800:])
    return result


def nothing_is_written(how):
    with Scratch() as dir:
        result = stopped(how, dir('out'))
        assert result.stdout == '' and dir.names() == [], dir.names()
        if how == 'fail':
            assert 'The rig was told to fail' in result.stderr, result.stderr


def a_good_one_is_kept(how):
    with Scratch() as dir:
        succeed(bt2(*model_args(trace('pipe'), dir('out'))))
        before = read_folder(dir('out'))
        stopped(how, dir('out'), ',overwrite=yes')
        assert read_folder(dir('out')) == before and dir.names() == ['out'], dir.names()


def partial_is_written_and_marked(how, more=''):
    with Scratch() as dir:
        result = stopped(how, dir('out'), ',partial=yes' + more)
        files = {name: data.decode() for name, data in read_folder(dir('out')).items()}
        assert {'critical-path.txt', 'model.json', 'model.lqn', 'model.lqnx'} <= set(files), sorted(files)
        mark = REASON[how]
        model = json.loads(files['model.json'])
        for name in {'model.json', 'critical-path.json'} & set(files):
            assert json.loads(files[name])['partial'] == mark, name
        for name in ('critical-path.txt', 'model.lqn', 'model.lqnx'):
            assert 'PARTIAL: ' + mark in files[name], '%s: %s' % (name, files[name][:400])
        assert result.stdout.startswith('PARTIAL') and mark in result.stdout, result.stdout[:400]
        tasks = {task['name'] for processor in model['processors'] for task in processor['tasks']}
        assert {'client', 'web', 'app', 'db'} <= tasks, tasks
        if how == 'fail':
            assert 'The rig was told to fail' in result.stderr, result.stderr


def too_early_for_a_model(how):
    """Nothing could be found yet: said, and nothing written."""
    with Scratch() as dir:
        result = bt2(trace('three-tier'), '--component=filter.lqn-rig.disturb', '--params=%s=300' % how,
                     FILTER, SINK,
                     '--params=output="%s",partial=yes' % dir('out'))
        assert result.returncode == STATUS[how], 'exit %d' % result.returncode
        assert 'No model' in result.stderr, result.stderr
        assert dir.names() == [], dir.names()


def a_whole_run_is_not_marked():
    with Scratch() as dir:
        one = succeed(bt2(*model_args(trace('pipe'), dir('one'))))
        two = succeed(bt2(*model_args(trace('pipe'), dir('two'), 'partial=yes')))
        assert one.stdout == two.stdout and read_folder(dir('one')) == read_folder(dir('two'))


def in_a_thread_of_its_own():
    with Scratch() as dir:
        one = succeed(bt2(*model_args(trace('three-tier'), dir('one'))))
        two = succeed(bt2(*model_args(trace('three-tier'), dir('two'), 'aside=yes')))
        assert one.stdout == two.stdout and read_folder(dir('one')) == read_folder(dir('two'))


run([('%s: nothing is written' % how, lambda how=how: nothing_is_written(how)) for how in STATUS] +
    [('%s: a good result is kept' % how, lambda how=how: a_good_one_is_kept(how)) for how in STATUS] +
    [('%s: partial=yes' % how, lambda how=how: partial_is_written_and_marked(how)) for how in STATUS] +
    [('%s: partial=yes, in a thread of its own' % how, lambda how=how: partial_is_written_and_marked(how, ',aside=yes')) for how in STATUS] +
    [('%s: partial=yes, too early' % how, lambda how=how: too_early_for_a_model(how)) for how in STATUS] +
    [('partial=yes and a run that comes to its end', a_whole_run_is_not_marked),
     ('aside=yes and a run that comes to its end', in_a_thread_of_its_own)])
