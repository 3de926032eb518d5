"""server.py PATH: answers on the first connection to a unix socket."""
import socket
import sys


def spin(n):
    x = 0
    for i in range(n):
        x += i * i
    return x


listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
connection, _ = listener.accept()
while connection.recv(64):
    spin(6000)
    connection.send(b'ok')
