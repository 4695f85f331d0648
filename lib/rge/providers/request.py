"""What is asked of a service and what comes back, the same for every provider."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rge.providers.prices import Tokens
from rge.records import Usage
from rge.store import sha256_text
from rge.subjects.reply import Status

if TYPE_CHECKING:
    import httpx

Body = dict[str, Any]
FailureKind = Literal[
    "rate_limited",  # 429: ask again later, with fewer at once
    "overloaded",  # 529, 503: the same
    "server",  # 5xx
    "unreadable",  # a reply came and may be paid for
    "timeout",
    "connection",
    "expired",  # a batch row that never ran
    "cancelled",
    "rejected",  # this request is refused as it stands: asking again changes nothing
    "fatal",  # key, quota or model: every request would fail
    "not_ready",  # a batch that cannot be told apart from others until it is done
]
_ONCE = frozenset(("rejected", "fatal", "not_ready"))
_LETTERS = (string.ascii_letters + " ").encode()
_ROW_ID = re.compile(r'"(?:custom_id|key)":\s*"([A-Za-z0-9_-]{1,64})"')
_SECRET = 8  # characters
_ENVELOPE = 64  # tokens that a provider adds around messages


class Failure(Exception):
    """A request that brought no reply.

    Attributes
    ----------
    kind
        Decides what is done about it.
    retry_after_s
        How long the provider asks to wait, where it does.
    billed
        False where the provider charges nothing for it; None where that cannot be known.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        retry_after_s: float | None = None,
        billed: Literal[False] | None = False,
    ) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.retry_after_s = retry_after_s
        self.billed = billed

    @property
    def sent_nothing(self) -> bool:
        """Whether the provider certainly did not take what was sent."""
        if self.kind == "connection":
            return self.billed is False
        return self.kind in ("rate_limited", "rejected", "fatal")

    @property
    def again(self) -> bool:
        """Whether asking again may bring a reply."""
        return self.kind not in _ONCE


@dataclass(frozen=True)
class Request:
    """One request: two messages, a cap on output and, for judges, the schema of the reply.

    The first `n_shared` characters of `user` are the same in other requests; 0 where all are its
    own. Services that have to be told what to cache are told this.
    """

    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    n_shared: int = 0

    def tokens_at_most(self) -> int:
        """An upper bound of the prompt's tokens, without a tokenizer.

        Two letters a token is never reached by English; every other character counts as a token,
        and every byte of it outside ASCII.
        """
        text = self.system + self.user + (json.dumps(self.schema) if self.schema else "")
        data = text.encode("utf-8")
        n_others = len(data.translate(None, _LETTERS))
        return (len(data) - n_others) // 2 + n_others + _ENVELOPE


@dataclass(frozen=True)
class Answer:
    """What a reply's body says: text, how it ended, what was billed."""

    text: str
    status: Status
    stop_reason: str
    model_id: str
    usage: Usage
    tokens: Tokens


@dataclass(frozen=True)
class Row:
    """The outcome of one row of a batch: a reply's body, or why there is none."""

    id: str
    body: Body | None = None
    failure: Failure | None = None


@dataclass(frozen=True)
class BatchState:
    """Where a batch stands; `done` says that its results can be read.

    `failed`: the provider refused the batch as a whole and ran none of its rows.
    """

    done: bool
    detail: str
    failed: bool = False


class Service(Protocol):
    """One model of one provider. Bodies are plain JSON, so everything sent can be stored."""

    provider: str
    model: str
    params: dict[str, Any]
    caching: bool

    def body(self, request: Request) -> Body:
        """The request as it goes over the wire."""

    def send(self, body: Body) -> Body:
        """The reply's body; raises `Failure`."""

    def answer(self, body: Body) -> Answer:
        """What a reply's body says; raises `Failure` where it is not a reply."""

    def submit(self, name: str, rows: Mapping[str, Body]) -> str:
        """Start a batch and return the provider's id of it; raises `Failure`."""

    def find_batch(self, name: str, row_ids: frozenset[str], known: frozenset[str]) -> str | None:
        """The provider's id of a batch submitted under `name`, if there is one.

        `known` are ids of other batches. Raises `Failure`, of kind `not_ready` where only time
        tells.
        """

    def batch_state(self, batch_id: str) -> BatchState:
        """Where the batch stands; raises `Failure`."""

    def results(self, batch_id: str) -> Iterator[Row]:
        """The rows of a finished batch in any order; rows may be missing; raises `Failure`."""

    @property
    def http(self) -> httpx.Client:
        """The connection, for those who want to see what goes over it."""

    def close(self) -> None:
        """Close the connection."""


def request_id(*parts: object) -> str:
    """40 hex digits that name a request: fit for every provider's row ids."""
    return sha256_text(json.dumps([str(part) for part in parts]))[:40]


def body_sha256(body: Body) -> str:
    """SHA-256 of a request's canonical JSON."""
    return sha256_text(json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def parsed(text: str, key: str) -> Body:
    """A reply's JSON object, in which `key` never stands: replies are stored.

    Raises
    ------
    Failure
        Of kind `unreadable`.
    """
    text = hidden(text, key)
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Failure("unreadable", f"unreadable reply: {text[:80]!r}", billed=None)
    return value


def readable(read: Callable[[Body], Answer], body: Body) -> Answer:
    """What `read` makes of a reply's body.

    Raises
    ------
    Failure
        Of kind `unreadable`, where it is no reply.
    """
    try:
        return read(body)
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        found = f"unreadable reply: {short(repr(error))}"
        raise Failure("unreadable", found, billed=None) from None


def read_rows(text: str, key: str, row_of: Callable[[Body], Row]) -> Iterator[Row]:
    """Rows of a results file, one JSON object a line; a broken line is a row without a reply.

    Parameters
    ----------
    text
        The file. Lines end in a line feed and in nothing else: replies may hold other separators.
    key
        Is hidden, as in `parsed`.
    row_of
        Reads one object.
    """
    for line in hidden(text, key).split("\n"):
        if not line.strip():
            continue
        try:
            yield row_of(json.loads(line))
        except (ValueError, AttributeError, TypeError, LookupError):
            named = _ROW_ID.search(line)
            failure = Failure("unreadable", f"unreadable row: {short(line, 80)}", billed=None)
            yield Row(named.group(1) if named else "", failure=failure)


def hidden(text: object, key: str) -> str:
    """`text` without the key; what is too short to be a secret would hide ordinary words."""
    return str(text).replace(key, "[key]") if len(key) >= _SECRET else str(text)


def short(text: object, limit: int = 200) -> str:
    """One line of at most `limit` characters, for records and messages."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
