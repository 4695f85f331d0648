"""HTTP on loopback: routes, scripted faults, and what was asked."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Fault:
    """What goes wrong with one exchange.

    `status` answers with an error; `drop` cuts the connection, before the route ran or after
    (`late`: the provider did the work and billed it); `delay_s` answers late; `drip_s` waits
    so long after every byte; `body` answers with these bytes and status 200 after the route ran.
    """

    status: int = 0
    error: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    late: bool = False
    delay_s: float = 0.0
    drip_s: float = 0.0
    body: bytes | None = None


@dataclass
class Call:
    """One request as it arrived."""

    operation: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answer = tuple[int, dict[str, str], Any]


class Server:
    """Routes requests by `operation`, such as `anthropic:send`; faults are taken in order."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.faults: dict[str, deque[Fault]] = defaultdict(deque)
        self.latency_s = 0.0
        self.lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *args: Any) -> None:
                """Quiet."""

            def handle_any(self) -> None:
                owner.handle(self)

            do_GET = do_POST = do_DELETE = handle_any

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *args: Any) -> None:
                """A client that was killed resets its connections."""

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def route(self, method: str, path: str) -> tuple[str, Callable[[Call], Answer]]:
        """The operation's name and what answers it."""
        raise NotImplementedError

    def handle(self, http: BaseHTTPRequestHandler) -> None:
        body = _read_body(http)
        path = http.path.split("?")[0]
        operation, answer = self.route(http.command, path)
        headers = {k.lower(): v for k, v in http.headers.items()}
        call = Call(operation, http.command, path, headers, body, time.monotonic())
        with self.lock:
            self.calls.append(call)
            waiting = self.faults[operation]
            fault = waiting.popleft() if waiting else None
        if fault is not None and fault.delay_s:
            time.sleep(fault.delay_s)
        elif self.latency_s:
            time.sleep(self.latency_s)
        if fault is not None and fault.drop and not fault.late:
            _drop(http)
            return
        if fault is not None and fault.status:
            _send(http, fault.status, fault.headers, fault.error)
            return
        status, extra, payload = answer(call)
        if fault is not None and fault.drop:
            _drop(http)
            return
        if fault is not None and fault.body is not None:
            payload = fault.body
        _send(http, status, extra, payload, drip_s=0.0 if fault is None else fault.drip_s)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def _read_body(http: BaseHTTPRequestHandler) -> bytes:
    if "chunked" not in http.headers.get("Transfer-Encoding", "").lower():
        return http.rfile.read(int(http.headers.get("Content-Length") or 0))
    body = b""
    while size := int(http.rfile.readline().strip() or b"0", 16):
        body += http.rfile.read(size)
        http.rfile.readline()
    http.rfile.readline()
    return body


def _send(
    http: BaseHTTPRequestHandler,
    status: int,
    headers: dict[str, str],
    body: Any,
    drip_s: float = 0.0,
) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    try:
        http.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            http.send_header(name, value)
        http.send_header("Content-Length", str(len(data)))
        http.end_headers()
        for place in range(len(data) if drip_s else 0):
            http.wfile.write(data[place : place + 1])
            time.sleep(drip_s)
        http.wfile.write(b"" if drip_s else data)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the client was killed


def _drop(http: BaseHTTPRequestHandler) -> None:
    """Reset the connection, as a network that breaks does."""
    http.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    http.close_connection = True
    http.connection.close()
