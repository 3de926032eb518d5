# SPDX-License-Identifier: MIT
"""Cuts a trace as `lttng rotate` does: parts of the same trace, one behind the other, that end and begin between packets."""
import os
import shutil
import struct

HEAD = struct.Struct('>IIII')   # of an index file: magic, version, and bytes of an entry
MAGIC = 0xc1f1dcc1


def read_index(path):
    """The file's head, and (offset and size in bytes, begin, whole entry) of each packet."""
    with open(path, 'rb') as file:
        data = file.read()
    magic, _, _, size = HEAD.unpack_from(data)
    assert magic == MAGIC, path
    packets = []
    for at in range(HEAD.size, len(data), size):
        offset, bits, _, begin = struct.unpack_from('>QQQQ', data, at)
        packets.append((offset, bits // 8, begin, data[at:at + size]))
    return data[:HEAD.size], packets


def cut(kernel, out, n):
    """Makes out/chunk-0 … of the LTTng trace in the folder `kernel`, about equally long. Returns the folders."""
    streams = sorted(name for name in os.listdir(kernel) if os.path.isfile(os.path.join(kernel, 'index', name + '.idx')))
    indexes = {name: read_index(os.path.join(kernel, 'index', name + '.idx')) for name in streams}
    begins = sorted(begin for _, packets in indexes.values() for _, _, begin, _ in packets)
    cuts = [begins[i * len(begins) // n] for i in range(1, n)]
    folders = []
    for i in range(n):
        folder = os.path.join(out, 'chunk-%d' % i, 'kernel')
        os.makedirs(os.path.join(folder, 'index'))
        shutil.copy(os.path.join(kernel, 'metadata'), folder)
        for name in streams:
            head, packets = indexes[name]
            mine = [p for p in packets if sum(p[2] >= c for c in cuts) == i]
            if mine:
                write_part(kernel, folder, name, head, mine)
        folders.append(os.path.dirname(folder))
    return folders


def write_part(kernel, folder, name, head, packets):
    with open(os.path.join(kernel, name), 'rb') as source, open(os.path.join(folder, name), 'wb') as part, \
            open(os.path.join(folder, 'index', name + '.idx'), 'wb') as index:
        index.write(head)
        for offset, size, _, entry in packets:
            source.seek(offset)
            index.write(struct.pack('>Q', part.tell()) + entry[8:])
            part.write(source.read(size))
