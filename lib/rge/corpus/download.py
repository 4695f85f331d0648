"""One file from one address: resumed, retried within bounds, and never taken for what it is not.

What a killed run left is continued only where the server vouches that it still has the same version
of the file (`If-Range`); otherwise the file is got from its start.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from rge import __version__
from rge.corpus import http_answer
from rge.corpus.part import Part
from rge.errors import RgeError

if TYPE_CHECKING:
    import httpx

_HEADERS = {
    "User-Agent": f"rge/{__version__} (annual reports for research)",
    "Accept": "application/pdf, application/zip, application/octet-stream;q=0.9, */*;q=0.1",
    # Ranges and lengths count the bytes that are sent, so they must be those of the file.
    "Accept-Encoding": "identity",
}
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
_MEANING = {
    401: ": the server asks for a login",
    403: ": the server refuses programs or this network",
    404: ": the server has no such file",
    410: ": the server has no such file any more",
}
_HEAD = 1024  # bytes at the beginning that are looked at before anything is stored


@dataclass(frozen=True)
class Limits:
    """Bounds of a download.

    Attributes
    ----------
    n_attempts
        Requests to one address, the first included, that may fail in a row without new bytes.
    backoff_s, max_wait_s
        The longest first pause (it doubles, and each is drawn between half and all of it), and the
        longest pause at all; a server that asks for a longer one is given up.
    timeout_s, total_s
        The longest silence of a server, and the longest time for one address, in seconds.
    max_bytes, max_redirects
        The largest file, and the longest chain of redirects.
    """

    n_attempts: int = 5
    backoff_s: float = 2.0
    max_wait_s: float = 120.0
    timeout_s: float = 30.0
    total_s: float = 3600.0
    max_bytes: int = 300_000_000
    max_redirects: int = 5


class Unavailable(RgeError):
    """An address does not give the file; the next one may."""


Progress = Callable[[int, int | None], None]


def download(
    url: str,
    part: Part,
    *,
    magic: bytes,
    limits: Limits,
    rng: np.random.Generator,
    progress: Progress = lambda n_bytes, n_total: None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Get the whole file behind an address into `part`, going on with what is there of it.

    Parameters
    ----------
    url
        Address, http or https.
    magic
        Bytes the file begins with: what lacks them is refused before it is stored.
    rng
        Source of the jitter of the pauses.
    progress
        Called with the bytes there are and, where the server says it, the size of the file.
    sleep
        Waits so many seconds.

    Raises
    ------
    Unavailable
        With the reason; the part is kept where it can be continued.
    """
    import httpx

    deadline = time.monotonic() + limits.total_s
    n_failed, n_before = 0, -1
    with httpx.Client(headers=_HEADERS, timeout=limits.timeout_s) as client:
        job = _Job(client, url, part, magic, limits, progress, deadline)
        while True:
            try:
                _attempt(job)
                return
            except _Again as failure:
                # A server that breaks off now and then but goes on is not a server that fails.
                n_failed = 1 if part.n_bytes > n_before else n_failed + 1
                n_before = max(part.n_bytes, n_before)
                sleep(_pause(job, failure, n_failed, rng))


class _Again(Exception):
    """A failure that may pass; `wait_s` is what the server asked for."""

    def __init__(self, reason: str, wait_s: float = 0.0) -> None:
        self.reason, self.wait_s = reason, wait_s
        super().__init__(reason)


@dataclass(frozen=True)
class _Job:
    client: httpx.Client
    url: str
    part: Part
    magic: bytes
    limits: Limits
    progress: Progress
    deadline: float

    def check_size(self, n_bytes: int | None) -> None:
        if n_bytes is not None and n_bytes > self.limits.max_bytes:
            self.part.discard()
            raise Unavailable(
                self.url, "is too large", allowed=f"at most {self.limits.max_bytes:,} bytes"
            )


def _pause(job: _Job, failure: _Again, n_failed: int, rng: np.random.Generator) -> float:
    """Seconds to wait before the next attempt, where there is one."""
    limits, do = job.limits, "run again later; what there is of the file is kept where possible"
    if n_failed >= limits.n_attempts:
        raise Unavailable(job.url, f"{failure.reason}, {n_failed} times in a row", do=do)
    if failure.wait_s > limits.max_wait_s:
        raise Unavailable(
            job.url,
            f"{failure.reason}, and asks to wait {failure.wait_s:,.0f} s",
            allowed=f"at most {limits.max_wait_s:,.0f} s is waited",
            do=do,
        )
    longest = min(limits.max_wait_s, limits.backoff_s * 2 ** (n_failed - 1))
    wait_s = max(failure.wait_s, longest * float(rng.uniform(0.5, 1.0)))
    if time.monotonic() + wait_s > job.deadline:
        raise Unavailable(job.url, f"{failure.reason}; the time for it is up", do=do)
    return wait_s


def _attempt(job: _Job) -> None:
    """One request; what it answers is appended to the part or put in its place."""
    import httpx

    version = job.part.version(job.url)
    offset = job.part.n_bytes if version else 0
    headers = {"Range": f"bytes={offset}-", "If-Range": version} if version else {}
    try:
        with _opened(job, headers) as response:
            _take(job, response, offset, version)
    except httpx.TimeoutException:
        raise _Again(f"no answer within {job.limits.timeout_s:g} s") from None
    except httpx.TransportError as error:
        raise _Again(f"the connection failed ({_short(error)})") from None
    except httpx.HTTPError as error:
        raise Unavailable(job.url, f"cannot be read ({_short(error)})") from None


@contextmanager
def _opened(job: _Job, headers: dict[str, str]) -> Iterator[httpx.Response]:
    """The answer after the redirects, none of which leaves http(s) or goes back to http."""
    import httpx

    try:
        request = job.client.build_request("GET", job.url, headers=headers)
    except (httpx.InvalidURL, ValueError) as error:
        raise Unavailable(job.url, f"not an address ({_short(error)})") from None
    _check_scheme(job.url, request.url.scheme, request.url.scheme)
    for _ in range(job.limits.max_redirects + 1):
        response = job.client.send(request, stream=True)
        try:
            if response.next_request is None:
                yield response
                return
            _check_scheme(job.url, response.next_request.url.scheme, request.url.scheme)
            request = response.next_request
        finally:
            response.close()
    raise Unavailable(job.url, f"redirects more than {job.limits.max_redirects} times")


def _check_scheme(url: str, scheme: str, before: str) -> None:
    if scheme not in ("http", "https") or (before == "https" and scheme == "http"):
        raise Unavailable(
            url,
            f"leads to an address of {scheme or 'no scheme'}",
            allowed="http and https, and never from https back to http",
        )


def _take(job: _Job, response: httpx.Response, offset: int, version: str | None) -> None:
    """Do what a status asks for."""
    status = response.status_code
    if status == 206 and offset:
        begins, total = http_answer.content_range(response)
        if begins != offset or http_answer.version(response) not in (version, None):
            job.part.discard()
            raise _Again("the server sent another part or version of the file than was asked for")
        _append(job, response.iter_bytes(), offset, total)
    elif status == 200:
        length = response.headers.get("Content-Length", "")
        total = int(length) if length.isdigit() and not http_answer.is_encoded(response) else None
        _store(job, response, total)
    elif status == 416 and offset:
        if http_answer.content_range(response)[1] != offset:
            job.part.discard()
            raise _Again("the server's file is shorter than the part that is here")
    elif status in _RETRIED:
        raise _Again(f"HTTP status {status}", http_answer.retry_after(response))
    else:
        raise Unavailable(job.url, f"HTTP status {status}{_MEANING.get(status, '')}")


def _store(job: _Job, response: httpx.Response, total: int | None) -> None:
    """Put the whole file in the part's place, once its beginning is that of the file."""
    job.check_size(total)
    blocks = response.iter_bytes()
    head = b""
    for block in blocks:
        head += block
        if len(head) >= _HEAD:
            break
    _check_beginning(job, head)
    job.part.begin(job.url, http_answer.version(response))
    _append(job, chain([head], blocks), 0, total)


def _append(job: _Job, blocks: Iterable[bytes], start: int, total: int | None) -> None:
    """Write what comes behind the first `start` bytes of the part."""
    job.check_size(total)
    n_bytes = start
    with job.part.path.open("r+b") as file:
        file.seek(start)
        for block in blocks:
            n_bytes += len(block)
            job.check_size(n_bytes)
            file.write(block)
            job.progress(n_bytes, total)
            if time.monotonic() > job.deadline:
                raise Unavailable(job.url, "the time for it is up", do="run again to go on")
    if total is not None and n_bytes < total:
        raise _Again(f"the connection ended after {n_bytes:,} of {total:,} bytes")


def _check_beginning(job: _Job, head: bytes) -> None:
    # A PDF reader accepts the mark within the first kilobyte: some servers put bytes before it.
    place = head[:_HEAD].find(job.magic)
    if place == 0 or (place > 0 and job.magic == b"%PDF-" and not _is_html(head[:place])):
        return
    kind = "PDF" if job.magic == b"%PDF-" else "zip archive"
    if _is_html(head):
        title = re.search(rb"<title[^>]*>(.*?)</title>", head, re.I | re.S)
        name = title[1].decode("utf-8", "replace") if title else ""
        named = f" titled {' '.join(name.split())[:60]!r}" if name.strip() else ""
        raise Unavailable(
            job.url,
            f"gave an HTML page{named}, not a {kind}",
            do="open it in a browser, save the file, and use --from-dir",
        )
    found = f"something that begins with {head[:12]!r}" if head else "nothing"
    raise Unavailable(job.url, f"gave {found}, not a {kind}")


def _is_html(head: bytes) -> bool:
    return re.search(rb"<(?:!doctype html|html|head|body|script)\b", head, re.I) is not None


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
