"""server.py PORT STOCK: answers on all connections from one loop, and asks the stock on a unix socket before each answer."""
import selectors
import socket
import sys


def spin(n):
    x = 0
    for i in range(n):
        x += i * i
    return x


stock = socket.socket(socket.AF_UNIX)
stock.connect(sys.argv[2])
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
loop = selectors.DefaultSelector()
loop.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in loop.select():
        if key.fileobj is listener:
            loop.register(listener.accept()[0], selectors.EVENT_READ)
        elif key.fileobj.recv(64):
            spin(4000)
            stock.send(b'take')
            stock.recv(64)
            key.fileobj.send(b'done')
