# SPDX-License-Identifier: MIT
"""`lqn:` events as sink.text.pretty prints them (with --clock-seconds), with times as times: doc/events.md."""
import re

HEAD = re.compile(r'^\[(\d+)\.(\d{9})\] \([^)]*\) (?:(\S+) )?lqn:(\w+): (.*)$')
FIELD = re.compile(r'(\w+) = (?:\( "?([^":]*)"? : container = \d+ \)|"((?:[^"\\]|\\.)*)"|(-?\d+))')
# ns before the event, and ns after `begin`, with what stands for none
BEFORE = {'begin': 0, 'call_begin': 0, 'sent': 0, 'at': 0, 'born': -1}
AFTER = {'end': 0, 'wake': -1, 'woken_at': 0, 'issued': 0}
# not in the short form where they are as here
ABSENT = {'wait': {'evidence': 'certain', 'open': 0}}


def read(line):
    """(what, fields) of a line, or None. Times are ns from the clock's origin."""
    head = HEAD.match(line)
    if not head:
        return None
    ts, what = int(head[1]) * 10**9 + int(head[2]), head[4]
    fields = dict(ABSENT.get(what, {}))
    for key, label, string, number in FIELD.findall(head[5]):
        fields[key] = int(number) if number else label or string
    for key, none in BEFORE.items():
        # that a span begins is a flag
        if key in fields and (what, key) != ('span', 'begin'):
            fields[key] = ts - fields[key] if fields[key] != -1 else none
    for key, none in AFTER.items():
        if key in fields:
            fields[key] = fields['begin'] + fields[key] if fields[key] != -1 else none
    if 'cpu_end' in fields:
        fields['cpu_end'] += fields['cpu_begin']
    return what, fields
