# SPDX-License-Identifier: MIT
"""README.md shows what the main job prints; it and the manual have the parameters of the code. LQN_UPDATE=1 writes the output anew."""
import os
import re
import shutil

from lqntest import TRACES, Scratch, bt2, model_args, run, succeed, trace

README = os.path.join(TRACES, '..', 'README.md')
ROOT = os.path.dirname(os.path.realpath(README))


def output_is_what_is_printed():
    with Scratch() as dir:
        # a solver that happens to be there adds a line; that there is none is the default's other case
        solver = 'solver="none"' if shutil.which('lqns') else ''
        printed = succeed(bt2(*model_args(trace('three-tier'), dir('model'), solver))).stdout
    block = ''.join(('    ' + line).rstrip() + '\n' for line in printed.splitlines())
    with open(README) as f:
        text = f.read()
    head, shown, tail = re.split(r'(?<=It prints\n\n)(.*?)(?=\nand writes the folder)', text, maxsplit=1, flags=re.S)
    if os.environ.get('LQN_UPDATE'):
        with open(README, 'w') as f:
            f.write(head + block + tail)
        return
    assert shown == block, 'README.md shows\n%s\nprinted is\n%s\nLQN_UPDATE=1 meson test readme writes it anew' % (shown, block)


def parameters_are_those_of_the_code():
    text = open(README).read()
    shown = set(re.findall(r'`([a-z-]+)`', '\n'.join(l.split('|')[2] for l in text.splitlines() if l.startswith('| `filter') or
                                                     l.startswith('| `s') or l.startswith('| |'))))
    known = set()
    for name in ('causal/causal.c', 'model/params.c', 'spans/spans.c'):
        known |= set(re.findall(r'\{ "([a-z-]+)", LQN_PARAM_', open(os.path.join(ROOT, 'plugin', name)).read()))
    assert shown == known, 'README.md alone: %s, the code alone: %s' % (shown - known, known - shown)


def manual_has_the_parameters_of_the_code():
    for page, name in (('filter.lqn.causal', 'causal/causal.c'), ('sink.lqn.model', 'model/params.c'),
                       ('source.lqn.spans', 'spans/spans.c')):
        text = open(os.path.join(ROOT, 'doc/man/babeltrace2-%s.7.scd' % page)).read()
        section = text.split('# INITIALIZATION PARAMETERS\n')[1].split('\n# ')[0]
        shown = set(re.findall(r'\*([a-z-]+)\*', ' '.join(l.split(' = ')[0] for l in section.splitlines() if l.startswith('*'))))
        known = set(re.findall(r'\{ "([a-z-]+)", LQN_PARAM_', open(os.path.join(ROOT, 'plugin', name)).read()))
        assert shown == known, '%s: the manual alone: %s, the code alone: %s' % (page, shown - known, known - shown)


def files_named_exist():
    text = open(README).read()
    for name in set(re.findall(r'`((?:doc|traces|tests|lib|tools)/[A-Za-z0-9_./-]+)`', text)):
        assert os.path.exists(os.path.join(ROOT, name)), 'no %s' % name


run([('README.md shows what the main job prints', output_is_what_is_printed),
     ('README.md names the parameters of the code', parameters_are_those_of_the_code),
     ('the manual has the parameters of the code', manual_has_the_parameters_of_the_code),
     ('README.md names files that exist', files_named_exist)])
