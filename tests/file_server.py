"""Files over HTTP on loopback: ranges, redirects, and faults in the order they are given."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Served:
    """One answer to a request for a path.

    `cut` ends the connection after so many bytes of the body; `etag` False names no version;
    `ranges` False ignores a Range; `length` False says no size; `pause_s` waits after each 4 KB.
    """

    data: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    etag: bool = True
    ranges: bool = True
    length: bool = True
    pause_s: float = 0.0


class FileServer:
    """`files` holds the lasting answer of a path, `next` answers to come before it."""

    def __init__(self) -> None:
        self.files: dict[str, Served] = {}
        self.next: dict[str, deque[Served]] = defaultdict(deque)
        self.asked: list[tuple[str, dict[str, str]]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                """Quiet."""

            def do_GET(self) -> None:
                owner.answer(self)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def ranges(self, path: str) -> list[str | None]:
        """The Range header of each request for a path."""
        return [headers.get("range") for asked, headers in self.asked if asked == path]

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        asked = {name.lower(): value for name, value in http.headers.items()}
        self.asked.append((http.path, asked))
        queue = self.next[http.path]
        served = queue.popleft() if queue else self.files.get(http.path, Served(status=404))
        status, headers, body = served.status, dict(served.headers), served.data
        etag = f'"{hashlib.sha256(served.data).hexdigest()[:12]}"'
        if served.etag and status == 200:
            headers.setdefault("ETag", etag)
        wanted = re.fullmatch(r"bytes=(\d+)-", asked.get("range", ""))
        if wanted and served.ranges and status == 200 and asked.get("if-range") in (None, etag):
            first = int(wanted[1])
            size = len(body)
            status = 206 if first < size else 416
            covered = f"{first}-{size - 1}" if first < size else "*"
            headers["Content-Range"] = f"bytes {covered}/{size}"
            body = body[first:]
        http.send_response(status)
        for name, value in headers.items():
            http.send_header(name, value)
        if served.length:
            http.send_header("Content-Length", str(len(body)))
        else:
            http.send_header("Connection", "close")
        http.end_headers()
        self._send(http, body, served)

    def _send(self, http: BaseHTTPRequestHandler, body: bytes, served: Served) -> None:
        end = len(body) if served.cut is None else served.cut
        try:
            for start in range(0, end, 4096):
                http.wfile.write(body[start : min(end, start + 4096)])
                http.wfile.flush()
                time.sleep(served.pause_s)
        except (BrokenPipeError, ConnectionResetError):
            pass
        if end < len(body) or not served.length:
            http.close_connection = True
