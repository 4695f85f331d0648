"""Refuses every connection beyond loopback, in the test process and in each one it starts."""

import socket

_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex
_resolve = socket.getaddrinfo
LOOPBACK = ("127.", "::1", "localhost")


def _check(host: object) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name not in (None, "") and not str(name).startswith(LOOPBACK):
        raise PermissionError(f"tests may connect to loopback only, not to {name}")


def connect(self: socket.socket, address: object) -> None:
    if isinstance(address, tuple):
        _check(address[0])
    _connect(self, address)


def connect_ex(self: socket.socket, address: object) -> int:
    if isinstance(address, tuple):
        _check(address[0])
    return _connect_ex(self, address)


def getaddrinfo(host: object, *args: object, **kwargs: object) -> object:
    _check(host)
    return _resolve(host, *args, **kwargs)


socket.socket.connect = connect
socket.socket.connect_ex = connect_ex
socket.getaddrinfo = getaddrinfo
