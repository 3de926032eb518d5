# SPDX-License-Identifier: MIT
"""Writes events (as in unit/jsonl.h) as CTF 1.8 traces: one for each host, one stream for each CPU, one packet for each stream."""
import json
import os
import struct
import uuid

INTEGER = 'integer { size = 64; align = 8; signed = true; }'
MAGIC = 0xc1fc1fc1
# structure of a packet's header as LTTng has it, without the variants: name, size in bits
IP = [('ihl', 8), ('tot_len', 16), ('protocol', 8)]
TCP = [('source_port', 16), ('dest_port', 16), ('seq', 32), ('data_offset', 8), ('flags', 16)]
PACK = {8: '<B', 16: '<H', 32: '<I'}
UNSIGNED = 'integer { size = %d; align = 8; signed = false; } %s;'


def read(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines if line.strip()]


def number(value):
    return struct.pack('<q', value if value < 1 << 63 else value - (1 << 64))


def is_packet(event):
    return 'ip' in event['fields']


def declare(fields):
    out = []
    for name, value in fields.items():
        if name in ('ip', 'tcp'):
            continue
        if isinstance(value, str):
            out.append('string _%s;' % name)
        elif isinstance(value, list):
            out.append('integer { size = 32; align = 8; } __%s_length;' % name)
            out.append('integer { size = 32; align = 8; signed = true; } _%s[__%s_length];' % (name, name))
        else:
            out.append(INTEGER + ' _%s;' % name)
    if 'ip' in fields:
        parts = [UNSIGNED % (size, name) for name, size in IP]
        parts += [UNSIGNED % (8, 'saddr[4]'), UNSIGNED % (8, 'daddr[4]')]
        parts += ['struct { %s } transport_header;' % ' '.join(UNSIGNED % (size, name) for name, size in TCP)]
        out.append('struct { %s } network_header;' % ' '.join(parts))
    return ' '.join(out)


def encode(fields):
    out = b''
    for name, value in fields.items():
        if name in ('ip', 'tcp'):
            continue
        if isinstance(value, str):
            out += value.encode() + b'\0'
        elif isinstance(value, list):
            out += struct.pack('<I', len(value)) + b''.join(struct.pack('<i', v) for v in value)
        else:
            out += number(value)
    if 'ip' in fields:
        ip, tcp = fields['ip'], fields['tcp']
        values = dict(ihl=5, tot_len=fields['len'], protocol=6, data_offset=5, source_port=tcp['sport'],
                      dest_port=tcp['dport'], seq=tcp['seq'], flags=tcp['flags'])
        out += b''.join(struct.pack(PACK[size], values[name]) for name, size in IP)
        out += b''.join(bytes(int(n) for n in ip[end].split('.')) for end in ('saddr', 'daddr'))
        out += b''.join(struct.pack(PACK[size], values[name]) for name, size in TCP)
    return out


def metadata(host, release, classes, contexts, trace, domain):
    text = ['/* CTF 1.8 */',
            'trace { major = 1; minor = 8; uuid = "%s"; byte_order = le;' % trace,
            '\tpacket.header := struct { integer { size = 32; align = 8; } magic; integer { size = 8; align = 8; } uuid[16];',
            '\t\tinteger { size = 32; align = 8; } stream_id; }; };',
            'env { hostname = "%s"; domain = "%s"; sysname = "Linux"; kernel_release = "%s"; tracer_name = "lttng-modules";'
            % (host, domain, release),
            '\ttracer_major = 2; tracer_minor = 13; };',
            'clock { name = monotonic; freq = 1000000000; offset_s = 0; offset = 0; absolute = true; };',
            'typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := uint64_clock_t;',
            'stream { id = 0;',
            '\tpacket.context := struct { uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end;',
            '\t\tinteger { size = 64; align = 8; } content_size; integer { size = 64; align = 8; } packet_size;',
            '\t\tinteger { size = 64; align = 8; } packet_seq_num; integer { size = 64; align = 8; } events_discarded;',
            '\t\tinteger { size = 32; align = 8; } cpu_id; };',
            '\tevent.header := struct { integer { size = 32; align = 8; } id; uint64_clock_t timestamp; };',
            '\tevent.context := struct { %s };' % ' '.join('%s _%s;' % (INTEGER, name) for name in contexts) if contexts else '', '};']
    for i, (name, body) in enumerate(classes):
        text.append('event { name = "%s"; id = %d; stream_id = 0; fields := struct { %s }; };' % (name, i, body))
    return '\n'.join(text) + '\n'


def packet(trace, cpu, begin, end, body, number_of, discarded):
    head = struct.pack('<I', MAGIC) + trace.bytes + struct.pack('<I', 0)
    size = 8 * (len(head) + 6 * 8 + 4 + len(body))
    return head + struct.pack('<QQQQQQI', begin, end, size, size, number_of, discarded, cpu) + body


def write_host(path, host, events, release, domain='kernel', contexts=('tid',)):
    os.makedirs(path)
    trace = uuid.uuid5(uuid.NAMESPACE_DNS, domain + host)
    contexts = [name for name in contexts if any(name in e for e in events)]
    classes, streams = [], {}
    for event in events:
        stream = streams.setdefault(event['cpu'], {'packets': [], 'events': b'', 'begin': None, 'end': 0, 'lost': 0})
        if event['name'] == '__discarded__':
            # a packet ends before the loss, the next one begins with it counted
            stream['packets'].append((stream['begin'] or 0, event['ts'], stream['events'], stream['lost']))
            stream.update(events=b'', begin=event['end'], end=event['end'], lost=stream['lost'] + event['count'])
            continue
        shape = (event['name'], declare(event['fields']))
        if shape not in classes:
            classes.append(shape)
        if stream['begin'] is None:
            stream['begin'] = event['ts']
        stream['end'] = event['ts']
        stream['events'] += struct.pack('<IQ', classes.index(shape), event['ts'])
        for name in contexts:
            stream['events'] += number(event.get(name, -1))
        stream['events'] += encode(event['fields'])
    with open(os.path.join(path, 'metadata'), 'w') as out:
        out.write(metadata(host, release, classes, contexts, trace, domain))
    for cpu, stream in streams.items():
        parts = stream['packets'] + [(stream['begin'], stream['end'], stream['events'], stream['lost'])]
        with open(os.path.join(path, 'channel_%d' % cpu), 'wb') as out:
            for i, (begin, end, body, lost) in enumerate(parts):
                out.write(packet(trace, cpu, begin, end, body, i, lost))


def write(folder, events, release='6.1.0'):
    """Returns the folders of the traces."""
    paths = []
    for host in dict.fromkeys(e['host'] for e in events):
        paths.append(os.path.join(folder, host))
        write_host(paths[-1], host, [e for e in events if e['host'] == host], release)
    return paths
