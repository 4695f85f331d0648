"""Blocks of a report as plain data, which the layout file draws."""

from __future__ import annotations

from collections.abc import Sequence

from rge.invented.prose import markup

Block = dict[str, object]
Cells = tuple[str, list[str]]


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Cells],
    *,
    unit: str = "",
    notes: Sequence[str] = (),
    **extra: object,
) -> Block:
    """A table block for the layout file; `notes` are plain text."""
    body = [{"k": kind, "c": cells} for kind, cells in rows]
    return {
        "t": "table",
        "title": title,
        "unit": unit,
        "columns": list(columns),
        "rows": body,
        "notes": [markup(note) for note in notes],
        **extra,
    }
