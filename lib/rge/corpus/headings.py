"""Headings of a document, found in its plain text.

A line is taken for a heading when it is short, holds no figure of a table, does not end like a
sentence, and is numbered ("Note 12", "3.2 Revenue", "Item 7."), in capitals, repeated in the
running head of its page, or in title case with a section below it and no sentence around it.
Running heads themselves, lines that come back on many pages, the last line of a page, people,
companies and the name and office under a letter name no section.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

MAX_CHARACTERS = 80
MAX_WORDS = 12
MIN_LINES_BELOW = 3  # fewer below a line in title case: a signature

_NAMED_PART = re.compile(r"^(?:note|item|part|section|annexure|schedule)\s+\w{1,4}\b", re.I)
_NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,3}[.)]?\s+(?=[A-Z])")
_BARE_NUMBER = re.compile(r"(?<![\w.])[₹$€£(]?\d[\d,]*(?:\.\d+)?%?\)?(?![\w.])")
_YEAR = re.compile(r"\b(?:19|20)\d\d(?:-\d\d)?\b")
_WORD = re.compile(r"[^\W\d_][^\W\d_'’&-]*")
_PERSON = re.compile(r"\b(?:mr|mrs|ms|dr|shri|smt|ca)\. ?[A-Z]|\b(?:shri|smt)\b", re.I)
_COMPANY = re.compile(r"\b(?:limited|ltd|private|llp|inc|plc|corporation)\.?$", re.I)
_OFFICE = re.compile(
    r"^(?:(?:non|executive|independent|managing|whole|part|time|joint|deputy|vice|group|chief|and|&|"
    r"financial|operating|company|statutory|chartered|practi[cs]ing)[\s,-]+)*"
    r"(?:director|chair(?:man|woman|person)|officer|secretar(?:y|ies)|president|partner|member|"
    r"accountants?|executive|chief|auditors?)(?![\w'’])",
    re.I,
)
_SMALL = frozenset(
    "a an and as at by for from in into of on or over per the to under vs with".split()  # noqa: SIM905
)


def find_headings(pages: Sequence[str]) -> list[tuple[int, int, str]]:
    """Headings of a document in reading order.

    Parameters
    ----------
    pages
        Text of each page, lines apart.

    Returns
    -------
    list of (page index, character offset in the page, heading)
    """
    running = _running_words(pages)
    found = []
    for index, text in enumerate(pages):
        offset = 0
        lines = text.split("\n")
        for number, line in enumerate(lines):
            head = "" if number == 0 else lines[0]
            if not _is_at_edge(lines, number, running) and (
                looks_like_heading(line, lines[number - 1 : number], lines[number + 1 :])
                or _is_repeated_in(line, head)
            ):
                found.append((index, offset, line.strip()))
            offset += len(line) + 1
    limit = max(2, len(pages) // 10)
    n_pages = Counter(shape for _, shape in {(index, _shape(line)) for index, _, line in found})
    return [heading for heading in found if n_pages[_shape(heading[2])] <= limit]


def _is_at_edge(lines: Sequence[str], number: int, running: set[str]) -> bool:
    """Whether a line is a running head or foot: in its place, and in words that come back."""
    if number == len(lines) - 1:
        return number > 0
    if number > 0:
        return False
    names_section = any(_is_repeated_in(line, lines[0]) for line in lines[1:4])
    return names_section or set(_shape(lines[0]).split()) <= running


def _running_words(pages: Sequence[str]) -> set[str]:
    """Words that stand in the first or last line of a quarter of the pages, and of three."""
    edges = [text.split("\n") for text in pages]
    words = Counter(
        word for lines in edges for word in set(_shape(f"{lines[0]} {lines[-1]}").split())
    )
    return {word for word, n in words.items() if n >= max(3, len(pages) / 4)}


def _is_repeated_in(line: str, head: str) -> bool:
    """Whether the running head of a page names this line as its section."""
    line = line.strip()
    return 8 <= len(line) < len(head) and len(line.split()) >= 2 and line in head


def looks_like_heading(line: str, before: Sequence[str] = (), after: Sequence[str] = ()) -> bool:
    """Whether a line reads as a heading.

    Parameters
    ----------
    line
        One line.
    before, after
        The line before it and the lines after it on its page.
    """
    line = line.strip()
    if not 4 <= len(line) <= MAX_CHARACTERS or line[-1] in ".,;:-–" or not line[0].isalnum():
        return False
    words = _WORD.findall(line)
    if not 1 <= len(words) <= MAX_WORDS or sum(map(len, words)) < 0.5 * len(line):
        return False
    marked = _NAMED_PART.match(line) or _NUMBERED.match(line)
    if _BARE_NUMBER.search(_YEAR.sub("", line[marked.end() :] if marked else line)):
        return False
    if _PERSON.search(line):
        return False
    if marked:
        return not line[0].islower()
    if _COMPANY.search(line) or _OFFICE.match(line):
        return False
    if len(set(words)) < 0.7 * len(words):
        return False
    if line.isupper():
        return sum(map(len, words)) >= 5
    return (
        _is_title(line, words)
        and len(after) >= MIN_LINES_BELOW
        and not _OFFICE.match(after[0].strip())
        and not _continues(line, before[0] if before else "", after[0])
    )


def _is_title(line: str, words: list[str]) -> bool:
    large = [word for word in words if word.lower() not in _SMALL]
    ends = line.rsplit(" ", 1)[-1].lower() in _SMALL
    return len(large) >= 2 and not ends and ". " not in line and all(w[0].isupper() for w in large)


def _continues(line: str, before: str, after: str) -> bool:
    """Whether a line in title case is part of the sentence around it."""
    before, after = before.strip(), after.strip()
    last = before.rsplit(" ", 1)[-1].lower()
    runs_on = len(before) >= len(line) and before[-1:] not in ".:;!?)"
    return after[:1].islower() or last in _SMALL or before[-1:] in (",", "-") or runs_on


def _shape(line: str) -> str:
    """The line without its digits: running heads differ in their page number only."""
    return " ".join(re.sub(r"\d+", "#", line).lower().split())
