"""Citations in an answer, in the forms models write them.

A citation is a label inside brackets: `[id]`, `[a, b]`, `[a][b]`, `【id†source】`, `[1-3]`, `[^2]`,
`[doc-1]`. A chunk id (`company-FY24-1a2b3c4d`) also counts without brackets. Bracketed years,
year ranges, amounts and remarks (`[2024]`, `[2023-24]`, `[in ₹ crore]`, `[sic]`) are no citations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

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
    known = {label.translate(_DASHES).casefold(): label for label in known_ids}
    plain = text.translate(_DASHES)
    marks = []
    for bracket in _BRACKETS.finditer(plain):
        inner = next(group for group in bracket.groups() if group is not None)
        parts = re.split(r"[,;|]|\band\b|\s&\s", inner)
        labels = [label for part in parts for label in _part_labels(part, known)]
        if labels:
            marks.append(CitationMark(tuple(labels), bracket.start(), bracket.end()))
    taken = [(mark.start, mark.end) for mark in marks]
    for bare in _CHUNK_ID.finditer(plain):
        if not any(start <= bare.start() < end for start, end in taken):
            label = known.get(bare.group().casefold(), bare.group())
            marks.append(CitationMark((label,), bare.start(), bare.end()))
    return sorted(marks, key=lambda mark: mark.start)


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
    for mark in find_citations(text, known_ids):
        text = text[: mark.start] + " " * (mark.end - mark.start) + text[mark.end :]
    return text
