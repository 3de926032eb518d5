"""load.py PORT SECONDS: two clients, each a process that thinks for 4 ms; prints begin and end of each request (ns, CLOCK_MONOTONIC)."""
import os
import socket
import sys
import time

end = time.monotonic() + float(sys.argv[2])
os.fork()
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
log = []
while time.monotonic() < end:
    time.sleep(0.004)
    begin = time.monotonic_ns()
    connection.send(b'buy')
    connection.recv(64)
    log.append((os.getpid(), begin, time.monotonic_ns()))
sys.stdout.write(''.join('%d,%d,%d\n' % line for line in log))
