"""Numbers of a text: value, unit, scale, sign, place, and whether they are values at all."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from rge.text.number_patterns import (
    APPROXIMATE,
    BARE_AFTER,
    CELL_NEXT,
    CHUNK_ID,
    COUNTED,
    CURRENCIES,
    CURRENCY_BEFORE,
    CURRENCY_WORDS,
    DATES,
    DIGIT,
    DOWN_AFTER,
    DOWN_BEFORE,
    JOINT,
    LEVEL,
    MAY_COUNT,
    NUMBER,
    ONES,
    PER,
    REFERENCES,
    SCALES,
    SHORT_SCALES,
    TENS,
    UP_AFTER,
    UP_BEFORE,
    YEAR_ALONE,
    YEARS,
)

_LETTER = re.compile(r"[^\W\d_]")
Kind = Literal["value", "year", "date", "reference"]


@dataclass(frozen=True)
class Quantity:
    """One number of a text.

    Attributes
    ----------
    value
        In base units, with its written sign.
    unit
        "INR", "USD", "EUR", "GBP", "ratio" (per cent), "points" (percentage or basis points),
        "times" or "" for a count or a bare number.
    scale
        Factor of the scale word or per cent sign; None where none is written.
    written
        The digits as they stand, with sign, before scale.
    decimals
        Digits written after the decimal point.
    per
        "share", "month", … or "".
    direction
        -1 or 1 where a word such as "fell by" or "growth" says so, else 0.
    counted
        Whether a noun follows that is counted ("stores", "MW").
    approximate
        Whether "about", "~" or the like stands before it.
    kind
        "value", "year", "date" or "reference" (page, note, list number).
    start, end
        Place in the text.
    text
        The slice of the text.
    """

    value: float
    unit: str
    scale: float | None
    written: float
    decimals: int
    per: str
    direction: int
    counted: bool
    approximate: bool
    kind: Kind
    start: int
    end: int
    text: str

    @property
    def bare(self) -> bool:
        """Neither unit nor scale is written."""
        return self.unit == "" and self.scale is None


def parse(text: str) -> list[Quantity]:
    """All numbers of `text` with kind, unit and place, in reading order.

    Parameters
    ----------
    text
        Prose or table rows; chunk ids in it are skipped.

    Returns
    -------
    list of Quantity
        Values and, told apart by `kind`, years, dates and references.
    """
    return list(_parse(text)) if MAY_COUNT.search(text) else []


@lru_cache(maxsize=20_000)
def _parse(text: str) -> tuple[Quantity, ...]:
    taken = _set_aside(text)
    found = [
        Quantity(
            math.nan, "", None, math.nan, 0, "", 0, False, False, kind, start, end, text[start:end]
        )
        for start, end, kind in taken
        if kind is not None
    ]
    hidden = _blank(text, [(start, end) for start, end, _ in taken])
    values: list[Quantity] = []
    for match in NUMBER.finditer(hidden):
        quantity = _quantity(text, hidden, match)
        if quantity is not None:
            values.append(quantity)
    ordered = sorted(found + _share_units(text, values), key=lambda quantity: quantity.start)
    return tuple(ordered)


def parse_values(text: str) -> list[Quantity]:
    """Numbers of `text` that are values, not years, dates or references."""
    return [quantity for quantity in parse(text) if quantity.kind == "value"]


def _set_aside(text: str) -> list[tuple[int, int, Kind | None]]:
    """Spans that hold digits and no value: chunk ids (kind None), dates, references, years."""
    spans: list[tuple[int, int, Kind | None]] = []
    patterns: tuple[tuple[re.Pattern[str], Kind | None], ...] = (
        (CHUNK_ID, None),
        (DATES, "date"),
        (YEARS, "year"),
        (REFERENCES, "reference"),
    )
    hidden = text
    for pattern, kind in patterns:
        new = [match.span() for match in pattern.finditer(hidden) if DIGIT.search(match[0])]
        spans += [(start, end, kind) for start, end in new]
        hidden = _blank(hidden, new)
    years_alone = YEAR_ALONE.finditer(hidden)
    return spans + [
        (match.start(), match.end(), "year")
        for match in years_alone
        if not CURRENCY_BEFORE.search(hidden[max(0, match.start() - 8) : match.start()])
    ]


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    if not spans:
        return text
    characters = list(text)
    for start, end in spans:
        characters[start:end] = "_" * (end - start)
    return "".join(characters)


def _quantity(text: str, hidden: str, match: re.Match[str]) -> Quantity | None:
    """The quantity of one match, or None where the digits belong to a word or name."""
    part = match.groupdict()
    scale_text = (part["scale"] or "").strip(" \n\t-.").lower()
    currency = _currency(part["currency"])
    if _belongs_to_a_name(hidden, match, scale_text, currency):
        return None
    written, decimals = _written(part["digits"], part["word"])
    if not math.isfinite(written):
        return None
    unit, factor = _unit(part, currency)
    scale = _scale(scale_text)
    negative = _is_negative(part, hidden, match)
    start = _start(match, negative)
    end = _end(match, negative)
    scales = [one for one in (scale, factor) if one is not None]
    sign = -1.0 if negative else 1.0
    per = PER.match(hidden, match.end())
    before, after = hidden[max(0, start - 60) : start], hidden[end : end + 40]
    return Quantity(
        value=sign * written * math.prod(scales),
        unit=unit,
        scale=math.prod(scales) if scales else None,
        written=sign * written,
        decimals=decimals,
        per=per[1].lower() if per else "",
        direction=_direction(before, after),
        counted=bool(COUNTED.match(hidden, end)),
        approximate=_ends_in_word(before, ".~≈") and bool(APPROXIMATE.search(before)),
        kind="value",
        start=start,
        end=end,
        text=text[start:end],
    )


def _belongs_to_a_name(hidden: str, match: re.Match[str], scale: str, currency: str) -> bool:
    """Whether the digits are part of a word ("10-K", "3M", "Tata-2") or the word is no number."""
    if match["word"]:
        named = match["word"].lower() in ("one", "zero")
        return named and not (scale or match["unit"])
    start = match.start("digits")
    if re.search(r"[^\W\d_]-$", hidden[max(0, start - 2) : start]):
        return True
    if scale in SHORT_SCALES and not currency:
        return True
    ends_bare = match.end() == match.end("digits")
    return ends_bare and bool(BARE_AFTER.match(hidden, match.end()))


def _written(digits: str | None, word: str | None) -> tuple[float, int]:
    if digits is not None:
        plain = digits.replace(",", "")
        return float(plain), len(plain.partition(".")[2])
    parts = re.split(r"[- ]", (word or "").lower())
    return float(sum(TENS.get(part, ONES.get(part, 0)) for part in parts)), 0


def _scale(text: str) -> float | None:
    if not text:
        return None
    return math.prod(SCALES[word.rstrip("s")] for word in re.split(r"[\s-]+", text))


def _currency(text: str | None) -> str:
    if not text:
        return ""
    symbol = text.strip()[-1]
    return CURRENCIES.get(symbol) or CURRENCY_WORDS.get(text.strip(" .").lower(), "")


def _unit(part: dict[str, str | None], currency: str) -> tuple[str, float | None]:
    """Unit and the factor that its sign carries (per cent 0.01, basis point 0.0001)."""
    text = (part["unit"] or "").strip(" \n\t-").lower()
    if not text:
        return currency, None
    if text.startswith(("bp", "basis")):
        return "points", 1e-4
    if part["points"] or text.startswith(("pp", "percentage")):
        return "points", 1e-2
    if text.startswith(("%", "per", "pct")):
        return "ratio", 1e-2
    if text in ("x", "×", "times"):
        return "times", None
    return currency or CURRENCY_WORDS.get(text.rstrip("s"), ""), None


def _is_negative(part: dict[str, str | None], hidden: str, match: re.Match[str]) -> bool:
    """A minus sign, or parentheses in the way accounts write them; an aside is no negative."""
    if part["digits"] is None:
        return False
    if part["open2"] and (part["close"] or part["close2"]):
        return True
    if part["open"] and part["close"] and (part["scale"] or part["unit"]):
        return True
    if part["open"] and (part["close"] or part["close2"] or part["close3"]):
        return _in_row(hidden, match)
    for name in ("sign", "sign2"):
        sign = part[name] or ""
        if sign.strip() in ("-", "−", "–"):
            # A dash after a word or number joins; a minus stands free or after a bracket.
            before = hidden[max(0, match.start(name) - 1) : match.start(name)]
            if sign.endswith(" ") and "−" not in sign:
                return False
            return name == "sign2" or not before or before in " \t\n(:=|"
    return False


def _in_row(hidden: str, match: re.Match[str]) -> bool:
    """Whether a parenthesised number is a cell: alone, after a figure, or the end of a label."""
    line = hidden[hidden.rfind("\n", 0, match.start()) + 1 : match.start()]
    if re.search(r"[\d)|]\s*$", line) or not line.strip():
        return True
    return match["unit"] is None and bool(CELL_NEXT.match(hidden, match.end()))


def _start(match: re.Match[str], negative: bool) -> int:
    for name in ("open", "sign") if negative else ():
        if match[name]:
            return match.start(name)
    for name in ("currency", "sign2", "open2", "digits", "word"):
        if match[name]:
            return match.start(name)
    return match.start()


def _end(match: re.Match[str], negative: bool) -> int:
    if negative:
        return match.end()
    return max(match.end(name) for name in ("digits", "word", "scale", "unit"))


def _direction(before: str, after: str) -> int:
    """Direction worded nearest: -1 down, 1 up, 0 none."""
    if _ends_in_word(before) and LEVEL.search(before):
        return 0
    if not _LETTER.search(before) and not _LETTER.search(after):
        return 0
    down, up = DOWN_BEFORE.search(before), UP_BEFORE.search(before)
    if down or up:
        return -1 if down and (not up or down.start() > up.start()) else 1
    if DOWN_AFTER.match(after):
        return -1
    return 1 if UP_AFTER.match(after) else 0


def _ends_in_word(before: str, others: str = "") -> bool:
    """Whether a letter (or one of `others`) stands last, white space aside: cheap to ask first."""
    last = before.rstrip()[-1:]
    return last.isalpha() or (last != "" and last in others)


def _share_units(text: str, values: list[Quantity]) -> list[Quantity]:
    """Units and scales spread over ranges and pairs: "₹3 to ₹4 crore", "12-15 %"."""
    shared = list(values)
    for i in range(len(shared) - 2, -1, -1):
        first, second = shared[i], shared[i + 1]
        joined = JOINT.fullmatch(text[first.end : second.start])
        if not joined or first.scale is not None or second.scale is None:
            continue
        unit = first.unit or second.unit
        if unit and second.unit in ("", unit):
            scale = second.scale
            shared[i] = replace(first, value=first.written * scale, scale=scale, unit=unit)
            shared[i + 1] = replace(second, unit=unit)
    return shared
