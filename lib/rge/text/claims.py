"""Sentences and claims of a text, each with its place.

A citation that follows a full stop belongs to the claim before it. Lines of tables and lists stand
alone, wrapped lines of running text are joined, and the stops of abbreviations, initials, decimal
numbers and list numbers end nothing. A last sentence without a stop counts like any other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rge.text.citations import CitationMark, blank, find_citations

_STOP = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)|[।。！？]+[\"'”’)\]]*|(?<=[a-z)%])\.(?=[A-Z][a-z])")
_NEVER_LAST = re.compile(
    r"(?:\b(?:Rs|Re|vs|viz|approx|e\.g|i\.e|Mr|Mrs|Ms|Dr|Prof|Smt|Shri|St|Fig|pp?|cf|Nos|Sr|Art|Sec)"
    r"|(?<![A-Za-z])[A-Z]|\b(?:[A-Za-z]\.)+[A-Za-z])$"
)
_SOMETIMES_LAST = re.compile(r"\b(?:Ltd|Inc|Corp|Co|Pvt|LLC|etc|Jr|Cr|crs?|mn|bn|Est|Dept|Bros)$")
_NUMBER_SIGN = re.compile(r"\bNo$", re.IGNORECASE)
_OPENER = re.compile(
    r"\s+[\"'“(]?(?:The|It|Its|This|That|These|In|A|An|They|However|For|As|On|At|We|Our|He|She|But"
    r"|And|During|Under|From|Revenue|Profit|There|Both|While|Although|By|Of|To|Its)\b"
)
_LIST_MARK = re.compile(r"\s*(?:[-*•‣▪–—·●○]+|\(?\d{1,2}[.)]|\(?[a-z][.)]|#+|\|)\s+")
_LIST_NUMBER = re.compile(r"(?:^|\n)\s*\(?(?:\d{1,2}|[a-z])$")
_ROW = re.compile(r"\|.*\||(?:^|\s)\(?[-+₹$]?\s?\d[\d,.]*%?\)?\s+\(?[-+₹$]?\s?\d[\d,.]*%?\)?\s*$")
_CLAUSE = re.compile(
    r";\s+|,\s+(?:and also|and|but|while|whereas|which|driven by|due to|owing to|reflecting"
    r"|supported by|led by|helped by|thanks to|because|although|despite|as well as)\s"
    r"|\s(?:because|whereas|thanks to|owing to|due to|driven by)\s"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_DIGIT_NEXT = re.compile(r"\s*\d")
_SMALL_NEXT = re.compile(r"\s+[a-z]")
_LINE_END_NEXT = re.compile(r" *\n")
_FULL_LINE = 60
_WORDS_IN_A_CLAUSE = 4


@dataclass(frozen=True)
class Claim:
    """A verbatim slice `text[start:end]` of an answer and the labels cited inside it."""

    text: str
    start: int
    end: int
    citations: tuple[str, ...] = ()


def split_sentences(text: str, known_ids: Iterable[str] = ()) -> list[Claim]:
    """Sentences, table rows and list items of `text`, in order.

    Parameters
    ----------
    text
        Answer or passage.
    known_ids
        Chunk ids, so that a citation of unusual shape is recognised.

    Returns
    -------
    list of Claim
        `claim.text == text[claim.start:claim.end]`, without surrounding white space or list marks.
    """
    return list(_sentences(text, tuple(known_ids)))


@lru_cache(maxsize=4096)
def _sentences(text: str, known_ids: tuple[str, ...]) -> tuple[Claim, ...]:
    marks = find_citations(text, known_ids)
    ends = _ends(text, blank(text, marks), marks)
    return tuple(_with_citations(text, marks, _pieces(text, ends)))


def split_claims(text: str, known_ids: Iterable[str] = ()) -> list[Claim]:
    """Sentences of `text` cut further at clauses that say something of their own.

    A clause is cut off only where both sides keep at least four words, so that lists of names
    stay whole. The citations of a sentence count for each of its clauses.
    """
    return list(_claims(text, tuple(known_ids)))


@lru_cache(maxsize=4096)
def _claims(text: str, known_ids: tuple[str, ...]) -> tuple[Claim, ...]:
    hidden = blank(text, find_citations(text, known_ids))
    claims = []
    for sentence in _sentences(text, known_ids):
        ends = [sentence.start + end for end in _clause_ends(hidden[sentence.start : sentence.end])]
        cuts = [sentence.start, *ends, sentence.end]
        for start, end in pairwise(cuts):
            piece = _trim(text, start, end)
            if piece is not None:
                claims.append(Claim(text[piece[0] : piece[1]], *piece, sentence.citations))
    return tuple(claims)


def _ends(text: str, hidden: str, marks: list[CitationMark]) -> list[int]:
    """Offsets where a sentence ends, citations that follow the stop included.

    In `hidden` citations are spaces: their dots and commas are no punctuation of the sentence.
    """
    last = len(hidden.rstrip())
    ends = {stop.end() for stop in _STOP.finditer(hidden) if _ends_sentence(hidden, stop, last)}
    ends |= set(_line_ends(hidden))
    starts = {mark.start: mark.end for mark in marks}
    return sorted({_past_citations(text, end, starts) for end in ends} | {len(text)})


def _ends_sentence(text: str, stop: re.Match[str], last: int) -> bool:
    """Whether a stop ends a sentence; behind `last` there is white space only."""
    if not stop.group().startswith("."):
        return True
    at, at_end = stop.end(), stop.end() >= last
    before = text[max(0, stop.start() - 24) : stop.start()]
    if _LIST_NUMBER.search(before if stop.start() > 24 else "\n" + before):
        return False
    if _NUMBER_SIGN.search(before):
        return not _DIGIT_NEXT.match(text, at)
    if _NEVER_LAST.search(before):
        return at_end
    if _SOMETIMES_LAST.search(before):
        return at_end or bool(_OPENER.match(text, at) or _LINE_END_NEXT.match(text, at))
    return not _SMALL_NEXT.match(text, at) or "\n\n" in text[at : at + 3]


def _line_ends(text: str) -> Iterator[int]:
    """Offsets of line breaks that separate rows, items, headings or paragraphs."""
    end = -1
    for line, following in pairwise(text.split("\n")):
        end += len(line) + 1
        if _breaks(line.rstrip(), following):
            yield end


def _breaks(line: str, following: str) -> bool:
    if not line.strip() or not following.strip() or line.endswith((":", "|")):
        return True
    if _LIST_MARK.match(following) or _ROW.search(line) or _ROW.search(following):
        return True
    joins = following.lstrip()[:1].islower() or line.endswith((",", "-", "and", "of", "the"))
    return not joins and len(line) < _FULL_LINE


def _past_citations(text: str, end: int, marks: dict[int, int]) -> int:
    """The end moved behind citations that follow on the same line, and behind their stop."""
    while True:
        ahead = end
        while ahead < len(text) and text[ahead] in " \t":
            ahead += 1
        if ahead not in marks:
            return end
        end = marks[ahead]
        if text[end : end + 1] in (".", "।"):
            end += 1


def _pieces(text: str, ends: list[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for end in ends:
        mark = _LIST_MARK.match(text, start, end)
        piece = _trim(text, mark.end() if mark else start, end)
        if piece is not None:
            yield piece
        start = end


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without white space and connecting punctuation; None where nothing is left."""
    while start < end and text[start] in " \t\r\n;,|":
        start += 1
    while end > start and text[end - 1] in " \t\r\n;,|":
        end -= 1
    return (start, end) if re.search(r"\w", text[start:end]) else None


def _with_citations(
    text: str, marks: list[CitationMark], pieces: Iterable[tuple[int, int]]
) -> list[Claim]:
    starts = [mark.start for mark in marks]
    claims = []
    for start, end in pieces:
        inside = marks[bisect_left(starts, start) : bisect_left(starts, end)]
        labels = dict.fromkeys(label for mark in inside for label in mark.labels)
        claims.append(Claim(text[start:end], start, end, tuple(labels)))
    return claims


def _clause_ends(sentence: str) -> list[int]:
    """Offsets inside a sentence where a clause of at least four words starts after as many."""
    joints = list(_CLAUSE.finditer(sentence))
    if not joints:
        return []
    words = [word.start() for word in _WORD.finditer(sentence)]
    ends, last = [], 0
    for joint in joints:
        before = bisect_left(words, joint.start()) - bisect_left(words, last)
        after = len(words) - bisect_left(words, joint.end())
        if min(before, after) >= _WORDS_IN_A_CLAUSE:
            ends.append(joint.start())
            last = joint.start()
    return ends
