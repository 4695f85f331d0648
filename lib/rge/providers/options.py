"""Options of a model behind a paid service, as a profile gives them."""

from __future__ import annotations

import os
import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from rge.errors import UsageError
from rge.subjects.reply import Options

Effort = Literal["none", "minimal", "low", "medium", "high", "max"]


class HostedOptions(Options):
    """Options of the kinds anthropic, openai and google.

    Attributes
    ----------
    model
        As the provider names it; it must have a price.
    key
        Environment variable that holds the key; the key itself never stands in a profile.
    temperature
        None sends none.
    max_tokens
        Cap on output, reasoning included; twice this where an answer was cut off.
    effort
        How much the model reasons; None leaves it to the provider.
    cache
        Ask for prompt caching where that has to be asked for.
    batch
        Send requests as batches, at lower prices; synchronous where a batch cannot be had.
    batch_rows
        The most rows of one batch: its worst case is reserved as a whole.
    poll_s
        Seconds between two looks at running batches.
    concurrency, timeout_s
        Synchronous requests under way at a time, and the longest wait for one.
    base_url
        Of another server that speaks the provider's protocol; None is the provider's own.
    """

    model: str
    key: str
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    max_tokens: Annotated[int, Field(ge=1, le=21_333)] = 1024
    effort: Effort | None = None
    cache: bool = True
    batch: bool = True
    batch_rows: Annotated[int, Field(ge=1, le=10_000)] = 300
    poll_s: Annotated[float, Field(gt=0)] = 30.0
    concurrency: Annotated[int, Field(ge=1, le=256)] = 8
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    base_url: str | None = None

    @field_validator("key")
    @classmethod
    def _names_a_variable(cls, name: str) -> str:
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            # Not shown: it may be the key itself.
            raise ValueError("key is the name of an environment variable, such as OPENAI_API_KEY")
        return name


def secret(where: str, name: str) -> str:
    """The key that an environment variable holds.

    Raises
    ------
    UsageError
        When it is not set, or holds what no header can carry.
    """
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(where, f"environment variable {name} is not set", do="set it to the key")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(
            where, f"environment variable {name} holds no key", allowed="letters without spaces"
        )
    return key


def checked_url(where: str, url: str) -> str:
    """`url` where it is plain http(s) without credentials: it is stored with every response.

    Raises
    ------
    UsageError
        When it is not.
    """
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query:
        raise UsageError(
            where,
            "base_url holds credentials or a query",
            allowed="scheme, host, port and path",
            do="put the key into an environment variable and name it",
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(where, f"base_url is '{url}'", allowed="http://… or https://…")
    return url
