"""What the headers of an answer say about the bytes that follow."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx


def is_encoded(response: httpx.Response) -> bool:
    """Whether the bytes that are sent are not those of the file."""
    return response.headers.get("Content-Encoding", "identity") != "identity"


def version(response: httpx.Response) -> str | None:
    """What names the bytes of the file exactly: a strong ETag, else the date of the change."""
    if is_encoded(response):
        return None
    etag = response.headers.get("ETag", "")
    return (etag if etag.startswith('"') else response.headers.get("Last-Modified")) or None


def content_range(response: httpx.Response) -> tuple[int | None, int | None]:
    """First byte and size of the file, each where the header says it."""
    header = response.headers.get("Content-Range", "").strip()
    found = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", header)
    if not found:
        return None, None
    first, total = found.groups()
    return int(first) if first else None, int(total) if total != "*" else None


def retry_after(response: httpx.Response) -> float:
    """Seconds the server asks to wait; a date counts from now, and 0 is no wish."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0
