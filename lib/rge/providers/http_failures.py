"""Exceptions of the three client libraries as one kind of failure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from rge.providers.request import Failure, FailureKind, hidden, short

_RETRY_DELAY = re.compile(r"^(\d+(?:\.\d+)?)s$")
_NO_QUOTA = re.compile(r"limit: 0(?![.\d])")


@contextmanager
def from_sdk(library: str, key: str) -> Iterator[None]:
    """Turn what a client library raises inside into `Failure`, in which `key` never stands."""
    try:
        yield
    except Failure:
        raise
    except Exception as error:
        found = _google(error, key) if library == "google" else _stainless(library, error, key)
        if found is None:
            raise
        raise found from None


def _stainless(library: str, error: Exception, key: str) -> Failure | None:
    """Anthropic's and OpenAI's libraries share their exceptions."""
    import anthropic
    import openai

    module: Any = anthropic if library == "anthropic" else openai
    if isinstance(error, module.APIConnectionError):  # of which a timeout is one
        if isinstance(error.__cause__, Exception):
            return _transport(error.__cause__, key) or _lost(error, key)
        return _lost(error, key)
    if isinstance(error, module.APIStatusError):
        message, headers = hidden(error.message, key), error.response.headers
        return from_status(error.status_code, _code(error.body), message, headers)
    if isinstance(error, module.APIError | ValueError):
        return _unreadable(error, key)
    return _transport(error, key)


def _google(error: Exception, key: str) -> Failure | None:
    from google.genai import errors

    if isinstance(error, errors.APIError):
        details = error.details if isinstance(error.details, dict) else {}
        inner = details.get("error", details)
        inner = inner if isinstance(inner, dict) else {}
        message = hidden(f"{error.status}: {inner.get('message') or error.message}", key)
        headers = getattr(error.response, "headers", None) or {}
        failure = from_status(error.code, str(error.status), message, headers)
        if failure.retry_after_s is None:
            failure.retry_after_s = _retry_info(inner)
        return failure
    if isinstance(error, ValueError):
        return _unreadable(error, key)
    return _transport(error, key)


def _unreadable(error: Exception, key: str) -> Failure:
    return Failure("unreadable", f"unreadable reply: {short(hidden(error, key))}", billed=None)


def _lost(error: Exception, key: str) -> Failure:
    return Failure("connection", f"connection lost: {short(hidden(error, key))}", billed=None)


def _transport(error: Exception, key: str) -> Failure | None:
    import httpx

    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        # Nothing was sent.
        return Failure("connection", f"no connection: {short(hidden(error, key))}")
    if isinstance(error, httpx.TimeoutException):
        return Failure("timeout", "no reply in time", billed=None)
    if isinstance(error, httpx.HTTPError | httpx.StreamError):
        return _lost(error, key)
    return None


def from_status(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Failure:
    """The failure that an HTTP error status means.

    Parameters
    ----------
    status
        HTTP status.
    code
        The provider's own word for the error.
    message
        The provider's text without the key; shortened for records.
    headers
        Of the reply; Retry-After is read.
    """
    text = f"HTTP {status}: {short(message)}"
    wait = _retry_after(headers or {})
    # Behind a gateway that gave up, the model may have gone on.
    billed: Literal[False] | None = None if status in (408, 504, 524) else False
    return Failure(_kind(status, code, message), text, retry_after_s=wait, billed=billed)


def _kind(status: int, code: str, message: str) -> FailureKind:
    low = message.lower()
    # A spent quota has the status of a rate limit, but waiting does not help.
    if "insufficient_quota" in code or _NO_QUOTA.search(low) or "credit balance is too low" in low:
        return "fatal"
    if status in (401, 402, 403) or "api key not valid" in low or "api_key_invalid" in low:
        return "fatal"
    if status == 404 or "model_not_found" in code:
        return "fatal"
    if status == 429:
        return "rate_limited"
    if status in (503, 529) or "overloaded" in code:
        return "overloaded"
    if status in (408, 409) or status >= 500:
        return "server"
    return "rejected"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _retry_info(error: Mapping[str, Any]) -> float | None:
    """Google names the wait in the body, as "32s"."""
    for detail in error.get("details") or ():
        match = _RETRY_DELAY.match(str(dict(detail).get("retryDelay", "")))
        if match:
            return float(match.group(1))
    return None


def _code(body: object) -> str:
    error = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(error, dict):
        return ""
    return str(error.get("code") or error.get("type") or "")
