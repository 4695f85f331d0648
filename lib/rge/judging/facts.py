"""A passage taken apart: sentences with their words, numbers and the year each number is for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from rge.judging.words import content, plain
from rge.records import Chunk
from rge.text.claims import split_sentences
from rge.text.numbers import Quantity, parse, parse_values, quantity, year_of

# Words that tie a year after a number to it: "4,512 crore in FY24", "4,010 (FY23)".
_TIES = re.compile(
    r"^\s*(?:\w+\s){0,2}?(?:in|for|during|of|as at|as on|as of|at the end of|by|on)?\s?(?:the\s)?"
    r"(?:\w+\s){0,2}?$|^\s*[(,]\s*$",
    re.IGNORECASE,
)
_HEAD = """
particulars crore lakh march year ended note notes rupees million billion unless otherwise stated
amount amounts all december june september change
"""
_HEAD_WORDS = frozenset(_HEAD.split())
_HEADS = 3
_LONGEST_ROW = 160
_FEWEST_QUOTED = 3
_POINTS_BACK = re.compile(
    r"^\W*(?:it|its|this|these|they|their|that|he|she|the same|of this)\b", re.I
)
_TABLE_UNIT = re.compile(
    r"(₹|rs\.?|inr|usd|\$)\s?(?:in\s)?\s?(crore|lakh crore|lakh|million|billion|thousand)s?\b"
    r"|\b(?:in|amounts in)\s(crore|lakh|million|billion|thousand)s?\b",
    re.IGNORECASE,
)
_OWN_UNIT = re.compile(
    r"%|per share|\bnumber of\b|\bno\. of\b|\bemployees?\b|\bratio\b|\bEPS\b", re.I
)
_AWAY = re.compile(r"\b(?:from|than|over|against|versus|vs|compared|and|while|whereas|but)\b", re.I)


@dataclass(frozen=True)
class Dated:
    """A number with the years it may be for; empty where the text gives none."""

    value: Quantity
    years: frozenset[int]


@dataclass(frozen=True)
class Sentence:
    """One sentence or row of a passage.

    Attributes
    ----------
    text
        A verbatim slice of the passage.
    context
        Verbatim lines that the sentence is read with: the heads of a table above a row, the
        sentence before one that opens with a pronoun.
    words
        Stems of the content words of both.
    values
        Its numbers with their years.
    """

    text: str
    context: tuple[str, ...]
    words: frozenset[str]
    values: tuple[Dated, ...]

    @cached_property
    def read(self) -> str:
        """Context and text, as one reads it."""
        return " ".join([*self.context, self.text])


@dataclass(frozen=True)
class Passage:
    """A chunk taken apart; `words` include its heading and company."""

    chunk_id: str
    company: str
    text: str
    searched: str
    plain: str
    words: frozenset[str]
    about: frozenset[str]
    sentences: tuple[Sentence, ...]

    @cached_property
    def label(self) -> str:
        """Heading, company and year, as they stand after the text in `searched`."""
        return self.searched[len(self.text) :]


@lru_cache(maxsize=8192)
def read_passage(chunk: Chunk) -> Passage:
    """The facts of a chunk."""
    default = frozenset(year for year in [year_of(chunk.fy)] if year is not None)
    about = content(f"{chunk.heading} {chunk.company.replace('_', ' ').replace('-', ' ')}")
    sentences: list[Sentence] = []
    heads: list[str] = []
    before = ""
    for piece in split_sentences(chunk.text):
        row = _is_row(piece.text)
        context = heads if row else [before] if _POINTS_BACK.match(piece.text) and before else []
        sentences.append(_sentence(piece.text, tuple(context), default, row, chunk.heading))
        has_values = bool(sentences[-1].values)
        heads = (heads if row and has_values else [*heads, piece.text][-_HEADS:]) if row else []
        before = piece.text
    return Passage(
        chunk.chunk_id,
        chunk.company,
        chunk.text,
        f"{chunk.text} {chunk.heading} {chunk.company} {chunk.fy}",
        plain(chunk.text),
        content(chunk.text) | about,
        about,
        tuple(sentences),
    )


def stands_verbatim(claim: str, passages: Iterable[Passage]) -> bool:
    """Whether a passage holds the claim word for word, line breaks and a last stop aside.

    With a number in it a claim needs at least three words: "45" alone stands anywhere.
    """
    wanted = plain(claim).strip(" .;,|:")
    if not wanted or (parse_values(claim) and len(wanted.split()) < _FEWEST_QUOTED):
        return False
    whole = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    return any(wanted in p.plain and whole.search(p.plain) for p in passages)


def _sentence(
    text: str, context: tuple[str, ...], default: frozenset[int], row: bool, heading: str
) -> Sentence:
    columns = next((c for line in reversed(context) if (c := _columns(line))), ())
    values = dated_values(text, columns if row else ())
    if row:
        values = _in_table_unit(text, values, " ".join([heading, *context]))
    # Figures side by side without a head may be of any year; a single one is of the report's.
    spare = default if not row or len(values) < 2 else frozenset[int]()
    dated = tuple(Dated(d.value, d.years or spare) for d in values)
    words = content(text).union(*(content(line) for line in context))
    return Sentence(text, context, words, dated)


def _in_table_unit(text: str, values: tuple[Dated, ...], head: str) -> tuple[Dated, ...]:
    """Bare figures of a row in the unit that the head of its table gives ("₹ in crore")."""
    unit = _TABLE_UNIT.search(head)
    if unit is None or _OWN_UNIT.search(text):
        return values
    currency, scale = unit[1] or "₹", unit[2] or unit[3]
    return tuple(
        Dated(
            replace(
                quantity(d.value.written, f"{currency} {scale}"),
                decimals=d.value.decimals,
                start=d.value.start,
                end=d.value.end,
                text=d.value.text,
            ),
            d.years,
        )
        if d.value.bare and not d.value.counted
        else d
        for d in values
    )


@lru_cache(maxsize=20_000)
def dated_values(text: str, columns: tuple[int, ...] = ()) -> tuple[Dated, ...]:
    """The numbers of a sentence, each with the year that the sentence or table head gives it.

    Parameters
    ----------
    text
        One sentence or table row.
    columns
        Years of the columns, left to right, of the table the row is in.
    """
    found = parse(text)
    values = [q for q in found if q.kind == "value"]
    dates = [(q, year) for q in found if (year := _dated(q)) is not None]
    columns = columns if not dates else _heads_first(text, values, dates)
    if columns and len(values) >= len(columns):
        ahead = len(values) - len(columns)
        years = [frozenset[int]()] * ahead + [frozenset([year]) for year in columns]
        return tuple(Dated(v, y) for v, y in zip(values, years, strict=True))
    if "respectively" in text and len(dates) == len(values):
        pairs = zip(values, dates, strict=True)
        return tuple(Dated(value, frozenset([year])) for value, (_, year) in pairs)
    asides = [_aside(text, values, date) for date, _ in dates]
    return tuple(Dated(v, _year_of(text, v, values, dates, asides)) for v in values)


def _heads_first(
    text: str, values: list[Quantity], dates: list[tuple[Quantity, int]]
) -> tuple[int, ...]:
    """Years that stand side by side before all figures: "FY24 FY23: Revenue 4,512 4,010"."""
    side_by_side = all(not text[a.end : b.start].strip(" |,") for (a, _), (b, _) in pairwise(dates))
    ahead = bool(values) and dates[-1][0].end <= values[0].start
    found = tuple(year for _, year in dates)
    return found if side_by_side and ahead and len(set(found)) > 1 else ()


def _dated(q: Quantity) -> int | None:
    return year_of(q.text) if q.kind in ("year", "date") else None


def _year_of(
    text: str,
    value: Quantity,
    values: list[Quantity],
    dates: list[tuple[Quantity, int]],
    asides: list[tuple[int, int] | None],
) -> frozenset[int]:
    """The year tied to a value: right after it, else the last before it, else the only one."""
    # "₹9 crore (FY23: ₹8 crore)": a year in brackets dates what stands in them or just before, and
    # with a figure of its own in the brackets only that one.
    dates = [
        date
        for date, aside in zip(dates, asides, strict=True)
        if aside is None or aside[0] <= value.start < aside[1]
    ]
    every = frozenset(year for _, year in dates)
    if len(every) <= 1:
        return every
    following = min((v.start for v in values if v.start > value.start), default=len(text))
    for date, year in dates:
        between = text[value.end : date.start]
        near = value.end <= date.start < following and len(between) < 40
        if near and _TIES.match(between) and not _AWAY.search(between):
            return frozenset([year])
    before = [(date, year) for date, year in dates if date.end <= value.start]
    if before:
        last, year = before[-1]
        # A year that ends the statement of the value before it is not this value's.
        earlier = [v for v in values if v.end <= last.start]
        taken = bool(earlier) and bool(_TIES.match(text[earlier[-1].end : last.start]))
        if not taken:
            return frozenset([year])
    return every


def _aside(text: str, values: list[Quantity], date: Quantity) -> tuple[int, int] | None:
    """The brackets that a date stands in, where they hold a figure of their own."""
    opened, closed = text.rfind("(", 0, date.start), text.find(")", date.end)
    if opened < text.rfind(")", 0, date.start) or opened < 0 or closed < 0:
        return None
    return (opened, closed) if any(opened <= v.start < closed for v in values) else None


def _columns(text: str) -> tuple[int, ...]:
    """Years of a table head: a line of at least two years and no values."""
    found = parse(text)
    if any(q.kind == "value" for q in found):
        return ()
    years = [year for q in found if (year := _dated(q)) is not None]
    words = [word for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in _HEAD_WORDS]
    return tuple(years) if len(set(years)) > 1 and len(words) <= 4 else ()


def _is_row(text: str) -> bool:
    """Whether a piece is a row or head of a table, not a sentence."""
    return not re.search(r"[.!?:]\W*$", text) and len(text) < _LONGEST_ROW
