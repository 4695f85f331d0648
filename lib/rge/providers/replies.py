"""The replies of a service as they came, stored before anything is made of them.

Each file has one writer. A reply that stands here was paid for and is never asked for again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Literal

from pydantic import Field

from rge.errors import RgeError
from rge.providers.request import Body
from rge.providers.together import Together
from rge.records import NonEmpty, Record, Sha256
from rge.store import Appender


class StoredReply(Record):
    """One reply's body, under the id of its request.

    `cost_nano` is what the call cost in nano-dollars; `body_sha256` names what was sent.
    """

    request_id: NonEmpty
    key: NonEmpty
    attempt: Annotated[int, Field(ge=0)]
    mode: Literal["sync", "batch"]
    body_sha256: Sha256
    cost_nano: Annotated[int, Field(ge=0)]
    n_sent: Annotated[int, Field(ge=1)]
    created_at: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """What a reply is stored under."""

    request_id: str
    key: str
    attempt: int
    body_sha256: str


class ReplyLog:
    """Stored replies by request id; a context manager that holds the file's lock."""

    def __init__(self, path: Path) -> None:
        self._file: Appender[StoredReply] = Appender(
            path, StoredReply, lambda reply: reply.request_id
        )
        self._by_id: dict[str, StoredReply] = {}
        self._open, self._using = False, Lock()
        self._sync: Together[StoredReply] = Together(lambda _: self._file.sync())

    def __enter__(self) -> ReplyLog:
        self._file.__enter__()
        self._by_id = {reply.request_id: reply for reply in self._file.records}
        self._open = True
        return self

    def __exit__(self, *details: Any) -> None:
        # A thread that outlives the run must not write to whatever file has the number next.
        with self._using:
            self._open = False
            self._file.__exit__(*details)

    def find(self, request_id: str) -> StoredReply | None:
        """The reply to a request, if it came."""
        return self._by_id.get(request_id)

    def append(
        self,
        asked: Asked,
        body: Body,
        *,
        mode: Literal["sync", "batch"],
        cost_nano: int,
        n_sent: int = 1,
    ) -> StoredReply:
        """Store a reply and wait until it is on the disk; threads may call this at a time."""
        reply = StoredReply(
            request_id=asked.request_id,
            key=asked.key,
            attempt=asked.attempt,
            mode=mode,
            body_sha256=asked.body_sha256,
            cost_nano=cost_nano,
            n_sent=n_sent,
            created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            body=body,
        )
        with self._using:
            if not self._open:
                raise RgeError(self._file.path, "the run is over; a reply came too late")
            self._file.write(reply)
            self._by_id[reply.request_id] = reply
        self._sync(reply)
        return reply
