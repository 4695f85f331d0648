"""Numbers and tables as a reader sees them: Markdown that notebooks, HTML and PDF all take."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from rge.records import Estimate

if TYPE_CHECKING:
    from IPython.display import Markdown

MINUS = "−"
WIDEST = 48  # a column of long texts wraps instead of pushing the others out

_SPECIAL = re.compile(r"([\\`*_\[\]<>$@^~|#{}])")


def show_table(
    table: pd.DataFrame,
    formats: Mapping[str, Callable[[Any], str]] | None = None,
    *,
    digits: int = 2,
) -> Markdown:
    """A table as Markdown; the caption belongs to the cell that shows it.

    Parameters
    ----------
    table
        Its index is not shown. Column names become headings with spaces for underscores.
    formats
        Column name to a function that makes the text of a cell.
    digits
        Decimals of floats without a format of their own.
    """
    from IPython.display import Markdown

    return Markdown(markdown_table(table, formats, digits=digits))


def markdown_table(
    table: pd.DataFrame,
    formats: Mapping[str, Callable[[Any], str]] | None = None,
    *,
    digits: int = 2,
) -> str:
    """`table` as a Markdown pipe table: numbers to the right, everything special escaped."""
    formats = formats or {}
    right = [_is_numeric(table[name], name in formats) for name in table.columns]
    head = [escape(str(name).replace("_", " ")) for name in table.columns]
    body = [
        [
            escape(formats[name](value) if name in formats else cell(value, digits))
            for name, value in zip(table.columns, row, strict=True)
        ]
        for row in table.itertuples(index=False, name=None)
    ]
    if not body:
        body = [["no rows", *[""] * (len(head) - 1)]]
    # Pandoc gives wide tables columns in proportion to these dashes.
    widths = [
        min(WIDEST, max(3, *(len(line[column]) for line in (head, *body))))
        for column in range(len(head))
    ]
    rule = [
        "-" * (width - 1) + ":" if flush else "-" * width
        for width, flush in zip(widths, right, strict=True)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *body))


def cell(value: Any, digits: int = 2) -> str:
    """One value as text; None and NaN are a dash, which the column beside it explains."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value, digits)
    return str(value)


def number(value: float, digits: int = 2) -> str:
    """Fixed decimals with a real minus sign, and no minus before a zero."""
    text = f"{value:.{digits}f}"
    if text.startswith("-"):
        text = text[1:] if float(text) == 0 else MINUS + text[1:]
    return text


def interval(estimate: Estimate, digits: int = 2) -> str:
    """``0.61 [0.52, 0.70]``, or the value with the reason why it has no interval."""
    if estimate.value is None:
        return undefined(estimate.method)
    value = number(estimate.value, digits)
    if estimate.low is None or estimate.high is None:
        return f"{value} (no interval)"
    return f"{value} [{number(estimate.low, digits)}, {number(estimate.high, digits)}]"


def undefined(reason: str) -> str:
    """``undefined: reason``, said once."""
    return reason if reason.startswith("undefined") else f"undefined: {reason}"


def p_value(p: float | None) -> str:
    """Three decimals; ``<0.001`` below that; a dash where there is no test."""
    if p is None or math.isnan(p):
        return "–"
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.9995 else "1"


def rate(k: int, n: int) -> str:
    """``12/40 (30 %)``, or ``0/0`` where there is nothing to divide by."""
    return f"{k}/{n} ({100 * k / n:.0f} %)" if n else "0/0"


def joined(items: list[str]) -> str:
    """Items as prose lists them."""
    return " and ".join(items) if len(items) < 3 else f"{', '.join(items[:-1])} and {items[-1]}"


def escape(text: str) -> str:
    """Text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _is_numeric(column: pd.Series, formatted: bool) -> bool:
    if formatted or pd.api.types.is_numeric_dtype(column):
        return not pd.api.types.is_bool_dtype(column)
    known = column.dropna()
    return bool(len(known)) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in known
    )
