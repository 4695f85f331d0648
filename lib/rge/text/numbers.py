"""Numbers of finance prose with unit, scale, sign and place, and when two of them agree.

Values are in base units: rupees, dollars, a ratio for per cent (12.5 % is 0.125), a ratio for
percentage points and basis points too (but of their own unit), plain counts otherwise. Years,
dates, page and note references are numbers of another kind and no values.

When a found number agrees with a gold one (`matches`):

- values within `rel_tol`, or, for a gold number rounded to given decimals, the found number rounded
  the same way;
- the units are equal; a unit that one side leaves out is no disagreement, another unit is:
  ₹ is not $, per cent is not percentage points;
- the scale counts: "₹4,512" is not "₹4,512 crore". Only a bare number, without currency and scale,
  may agree by its written digits alone ("4,512.30" of an extracted table row agrees with
  "₹4,512.30 crore"), since tables give the unit once, in their heading;
- the sign counts, written as minus, in parentheses or as a word ("loss of", "fell by"); a direction
  that only one side words is no disagreement.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace

from rge.text.number_reading import Quantity, parse, parse_values

__all__ = [
    "Quantity",
    "any_match",
    "matches",
    "parse",
    "parse_values",
    "quantity",
    "rounds_to",
    "year_of",
    "years",
]

_COARSE_DIGITS = 2


def years(text: str) -> frozenset[int]:
    """Calendar or fiscal years named in `text`; a span such as 2023-24 counts as its last year."""
    return frozenset(
        year
        for quantity in parse(text)
        if quantity.kind in ("year", "date") and (year := year_of(quantity.text)) is not None
    )


def quantity(value: float, unit: str) -> Quantity:
    """The quantity of a gold value and its unit as written beside it ("₹ crore", "%").

    Raises
    ------
    ValueError
        When the unit is not understood so that no number results.
    """
    unit = unit.strip()
    digits = f"{abs(value):.10f}".rstrip("0").rstrip(".")
    lead = re.match(r"(?:₹|\$|€|£|rs\.?\s|inr\b|usd\b|eur\b|us\$)\s*", unit, re.IGNORECASE)
    text = f"{lead[0].strip()} {digits} {unit[lead.end() :]}" if lead else f"{digits} {unit}"
    found = [q for q in parse(text) if q.kind in ("value", "year")]
    if not found:
        raise ValueError(f"no number can be read from {text!r}")
    if found[0].kind == "year":
        plain = abs(value)
        found = [replace(found[0], value=plain, written=plain, kind="value")]
    sign = -1.0 if value < 0 else 1.0
    return replace(found[0], value=sign * found[0].value, written=sign * found[0].written)


def matches(
    found: Quantity, gold: Quantity, rel_tol: float = 0.01, decimals: int | None = None
) -> bool:
    """Whether `found` states the same as `gold`; the rules stand at the top of this module.

    Parameters
    ----------
    found, gold
        Numbers of kind "value".
    rel_tol
        Allowed relative error, 0.01 is one per cent.
    decimals
        Where the question asks for rounding: found, rounded to so many decimals of the gold's
        own unit and scale, may equal gold.
    """
    if found.kind != "value" or gold.kind != "value" or not _units_agree(found, gold):
        return False
    if found.per and gold.per and found.per != gold.per:
        return False
    found_value, gold_value = _signed(found, gold)
    if _close(found_value, gold_value, rel_tol):
        return True
    factor = gold.scale or 1.0
    if decimals is not None and _close(
        round(found_value / factor, decimals), round(gold_value / factor, decimals), 1e-9
    ):
        return True
    if gold.bare or (found.bare and not found.counted):
        sign = math.copysign(1.0, found_value), math.copysign(1.0, gold_value)
        return sign[0] == sign[1] and _close(abs(found.written), abs(gold.written), rel_tol)
    return False


def rounds_to(found: Quantity, gold: Quantity) -> bool:
    """Whether a gold number of two digits ("$1.8 bn", "36 %") is `found` rounded.

    Only for gold numbers that nobody stated with their precision: half a unit of their last place
    may be more than one per cent. A bare number has no place that could be rounded.
    """
    digits = f"{abs(gold.written):.{gold.decimals}f}".replace(".", "").lstrip("0")
    if found.kind != "value" or gold.bare or len(digits) != _COARSE_DIGITS:
        return False
    if found.unit != gold.unit or (found.per and gold.per and found.per != gold.per):
        return False
    place = 10.0**-gold.decimals * (gold.scale or 1.0)
    found_value, gold_value = _signed(found, gold)
    return abs(found_value - gold_value) <= place / 2 * (1 + 1e-9)


def any_match(
    found: Iterable[Quantity], gold: Quantity, rel_tol: float = 0.01, decimals: int | None = None
) -> bool:
    """Whether one of `found` matches `gold`."""
    return any(matches(quantity, gold, rel_tol, decimals) for quantity in found)


def _close(a: float, b: float, rel_tol: float) -> bool:
    # The tolerance is relative to gold; the last term forgives binary rounding at its edge.
    return abs(a - b) <= rel_tol * abs(b) * (1 + 1e-9) + 1e-12


def _units_agree(found: Quantity, gold: Quantity) -> bool:
    return found.unit == gold.unit or found.unit == "" or gold.unit == ""


def _signed(found: Quantity, gold: Quantity) -> tuple[float, float]:
    """Both values with their effective signs: written, else worded where the other is negative."""
    values = found.value, gold.value
    if found.value < 0 <= gold.value and gold.direction < 0:
        return found.value, -gold.value
    if gold.value < 0 <= found.value and found.direction < 0:
        return -found.value, gold.value
    if found.direction * gold.direction < 0 and min(values) >= 0:
        return -found.value, gold.value
    return values


def year_of(text: str) -> int | None:
    """The year that "FY24", "2023-24" or "31 March 2024" names, or None."""
    digits = re.findall(r"\d+", text)
    four = [int(part) for part in digits if len(part) == 4]
    if re.search(r"\d{4}\s?[-–/]\s?\d\d(?!\d)", text):
        return four[0] // 100 * 100 + int(digits[-1])
    if four:
        return four[-1]
    two = [part for part in digits if len(part) == 2]
    return 2000 + int(two[-1]) if two else None
