"""A limit to a whole call: libraries limit each wait for bytes, so a server that drips never ends.

Imports httpx, so it is imported where a client is made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx

_UNTIL = "rge.until"


class _Watched(httpx.SyncByteStream):
    def __init__(self, stream: Any, until: float, request: httpx.Request) -> None:
        self._stream, self._until, self._request = stream, until, request

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            if time.monotonic() > self._until:
                raise httpx.ReadTimeout("the whole call took too long", request=self._request)
            yield part

    def close(self) -> None:
        self._stream.close()


def event_hooks(seconds: float) -> dict[str, list[Any]]:
    """Hooks of an `httpx.Client` that end a reply `seconds` after its request was sent."""

    def start(request: httpx.Request) -> None:
        request.extensions[_UNTIL] = time.monotonic() + seconds

    def watch(response: httpx.Response) -> None:
        until = response.request.extensions[_UNTIL]
        response.stream = _Watched(response.stream, until, response.request)

    return {"request": [start], "response": [watch]}
