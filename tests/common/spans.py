# SPDX-License-Identifier: MIT
"""Spans as exporters write them: OTLP JSON, Jaeger JSON, and events of a user-space trace."""
import json

import ctf


class Span:
    """One span: times in ns since 1970, ids as hexadecimal text."""

    def __init__(self, begin, end, fields, pid, tid):
        self.begin, self.end, self.pid, self.tid = begin, end, pid, tid
        self.trace, self.id, self.parent = fields['trace_id'], fields['span_id'], fields['parent_span_id']
        self.name, self.service = fields['name'], fields['service']


def attributes(pairs):
    return [{'key': k, 'value': {'intValue': str(v)} if isinstance(v, int) else {'stringValue': v}} for k, v in pairs]


def write_otlp(spans, path, host='vm', threads=True, batch=50, shift=0):
    """The file exporter's form: a request a line, of `batch` spans or less, by resource. `shift`: ns by which clocks are ahead."""
    with open(path, 'w') as f:
        for i in range(0, len(spans), batch):
            by_process = {}
            for s in spans[i:i + batch]:
                by_process.setdefault((s.service, s.pid), []).append(s)
            groups = []
            for (service, pid), members in by_process.items():
                who = [('service.name', service)] + ([('host.name', host)] if host else [])
                groups.append({'resource': {'attributes': attributes(who + ([('process.pid', pid)] if threads else []))},
                               'scopeSpans': [{'scope': {'name': 'test'}, 'spans': [otlp(s, threads, shift) for s in members]}]})
            f.write(json.dumps({'resourceSpans': groups}, separators=(',', ':')) + '\n')


def otlp(s, threads, shift):
    span = {'traceId': s.trace, 'spanId': s.id, 'name': s.name, 'kind': 2 if s.parent else 1,
            'startTimeUnixNano': str(s.begin + shift), 'endTimeUnixNano': str(s.end + shift)}
    if s.parent:
        span['parentSpanId'] = s.parent
    if threads:
        span['attributes'] = attributes([('thread.id', s.tid)])
    return span


def write_jaeger(spans, path, host='vm', threads=True):
    """The export of Jaeger's user interface: a trace an element, processes behind their spans, times in µs."""
    traces = {}
    for s in spans:
        traces.setdefault(s.trace, []).append(s)
    data = []
    for trace, members in traces.items():
        names, out = {}, []
        for s in members:
            process = names.setdefault((s.service, s.pid), 'p%d' % (len(names) + 1))
            begin = s.begin // 1000
            out.append({'traceID': trace, 'spanID': s.id, 'operationName': s.name, 'startTime': begin,
                        'duration': s.end // 1000 - begin, 'processID': process,
                        'references': [{'refType': 'CHILD_OF', 'traceID': trace, 'spanID': s.parent}] if s.parent else [],
                        'tags': [{'key': 'span.kind', 'type': 'string', 'value': 'server' if s.parent else 'internal'}] +
                                ([{'key': 'thread.id', 'type': 'int64', 'value': s.tid}] if threads else [])})
        processes = {}
        for (service, pid), name in names.items():
            tags = [{'key': 'hostname', 'type': 'string', 'value': host}] if host else []
            processes[name] = {'serviceName': service, 'tags': tags +
                               ([{'key': 'process.pid', 'type': 'int64', 'value': pid}] if threads else [])}
        data.append({'traceID': trace, 'spans': out, 'processes': processes})
    with open(path, 'w') as f:
        json.dump({'data': data, 'total': 0, 'limit': 0, 'offset': 0, 'errors': None}, f, indent=2)


def write_ust(spans, path, names=('otel:span_start', 'otel:span_end'), fields=None):
    """Events of the begins and ends, as LTTng-UST has them with the contexts vpid and vtid. `fields`: other names of them."""
    events = []
    for s in spans:
        ids = {'trace_id': s.trace, 'span_id': s.id}
        start = {**ids, 'parent_span_id': s.parent, 'name': s.name, 'service': s.service}
        # at one time, spans begin before others end; inner ones end first
        for at, name, values in ((s.begin, names[0], start), (s.end, names[1], ids)):
            events.append({'ts': at, 'name': name, 'host': 'vm', 'cpu': 0, 'vpid': s.pid, 'vtid': s.tid,
                           'fields': {(fields or {}).get(k, k): v for k, v in values.items()}})
    events.sort(key=lambda e: e['ts'])
    ctf.write_host(path, 'vm', events, '6.1.0', domain='ust', contexts=('vpid', 'vtid'))
