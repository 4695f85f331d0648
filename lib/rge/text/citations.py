"""Citations in an answer, in the forms models write them.

A citation is a label inside brackets: `[id]`, `[a, b]`, `[a][b]`, `【id†source】`, `[1-3]`, `[^2]`,
`[doc-1]`. A chunk id (`company-FY24-1a2b3c4d`) also counts without brackets. Bracketed years,
year ranges, amounts and remarks (`[2024]`, `[2023-24]`, `[in ₹ crore]`, `[sic]`) are no citations.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_BRACKETS = re.compile(r"\[([^\[\]\n]{1,400})\]|【([^【】\n]{1,400})】|［([^［］\n]{1,400})］")
_CHUNK_ID = re.compile(r"(?<![\w-])[^\W_][\w.&-]{0,80}-[0-9a-f]{8}(?![\w-])", re.IGNORECASE)
_ORDINAL = re.compile(r"\^?(\d{1,3})")
_ORDINAL_RANGE = re.compile(r"\^?(\d{1,3})-\^?(\d{1,3})")
_NAMED = re.compile(r"(?:doc|document|passage|source|chunk|ref)[ _-]?#?\d{1,3}", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:(?:chunk|passage|source|citation|ref|doc)s?(?:[ _]?id)?\s*[:=]|see\s)\s*", re.I
)
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
_LONGEST_RANGE = 20
# What every citation has: a bracket, or the end of a chunk id.
_MAY_CITE = re.compile(r"[\[【［]|[-‐‑‒–—−][0-9a-f]{8}", re.IGNORECASE)


@dataclass(frozen=True)
class CitationMark:
    """One citing place of a text: the labels it names and where it stands."""

    labels: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Citations:
    """Ids an answer cites, each once and in the order of first mention.

    `valid` are among the known ids, `unknown` look like citations and are not.
    """

    valid: tuple[str, ...]
    unknown: tuple[str, ...]


def _part_labels(part: str, known: dict[str, str]) -> list[str]:
    """Labels in one comma-separated part of a bracket; empty where it is no citation."""
    part = _LEAD.sub("", part.split("†")[0].strip(" \t`'\"#")).strip(" \t`'\"")
    if part.casefold() in known:
        return [known[part.casefold()]]
    ids = [match.group() for match in _CHUNK_ID.finditer(part)]
    if ids:
        return [known.get(label.casefold(), label) for label in ids]
    if span := _ORDINAL_RANGE.fullmatch(part):
        first, last = int(span[1]), int(span[2])
        inside = first < last <= first + _LONGEST_RANGE
        labels = [str(n) for n in range(first, last + 1)] if inside else []
    elif ordinal := _ORDINAL.fullmatch(part):
        labels = [ordinal[1]]
    else:
        labels = [part] if _NAMED.fullmatch(part) else []
    return [known.get(label.casefold(), label) for label in labels]


def find_citations(text: str, known_ids: Iterable[str] = ()) -> list[CitationMark]:
    """Every citing place of `text` in reading order.

    Parameters
    ----------
    text
        Answer of a subject.
    known_ids
        Ids that exist; a bracket naming one is a citation whatever its shape.

    Returns
    -------
    list of CitationMark
        Labels in the spelling of `known_ids` where they match but for case and dash characters.
    """
    return list(_find(text, tuple(known_ids))) if _MAY_CITE.search(text) else []


@lru_cache(maxsize=512)
def _labels(known_ids: tuple[str, ...]) -> dict[str, str]:
    """Known ids by their spelling without regard to case and kind of dash."""
    return {label.translate(_DASHES).casefold(): label for label in known_ids}


@lru_cache(maxsize=4096)
def _find(text: str, known_ids: tuple[str, ...]) -> tuple[CitationMark, ...]:
    known = _labels(known_ids)
    plain = text.translate(_DASHES)
    marks = []
    for bracket in _BRACKETS.finditer(plain):
        inner = next(group for group in bracket.groups() if group is not None)
        parts = re.split(r"[,;|]|\band\b|\s&\s", inner)
        labels = [label for part in parts for label in _part_labels(part, known)]
        if labels:
            marks.append(CitationMark(tuple(labels), bracket.start(), bracket.end()))
    starts = [mark.start for mark in marks]
    bares = []
    for bare in _CHUNK_ID.finditer(plain):
        before = bisect_right(starts, bare.start()) - 1
        if before < 0 or bare.start() >= marks[before].end:
            label = known.get(bare.group().casefold(), bare.group())
            bares.append(CitationMark((label,), bare.start(), bare.end()))
    return tuple(sorted(marks + bares, key=lambda mark: mark.start))


def parse_citations(text: str, known_ids: Iterable[str]) -> Citations:
    """Cited ids of `text`, split into those that exist and those that do not."""
    known = tuple(known_ids)
    cited = [label for mark in find_citations(text, known) for label in mark.labels]
    ordered = dict.fromkeys(cited)
    exists = set(known)
    return Citations(
        valid=tuple(label for label in ordered if label in exists),
        unknown=tuple(label for label in ordered if label not in exists),
    )


def mask_citations(text: str, known_ids: Iterable[str] = ()) -> str:
    """`text` with every citation blanked by spaces, so that offsets still hold."""
    return blank(text, find_citations(text, known_ids))


def blank(text: str, marks: Iterable[CitationMark]) -> str:
    """`text` with the marks, in order, replaced by spaces."""
    parts, last = [], 0
    for mark in marks:
        parts += [text[last : mark.start], " " * (mark.end - max(mark.start, last))]
        last = max(last, mark.end)
    return "".join([*parts, text[last:]])
