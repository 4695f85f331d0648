"""Printed page numbers: what stands at the edge of a page and counts on from page to page.

A number in the first or last lines of a page is its printed number only if the pages around it
agree: number minus PDF page is the same on at least two others nearby. A page that holds two
numbers in a row, with its neighbours counting by two, shows two printed pages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rge.records import Page

TWO_PAGES = "two printed pages"
MIN_AGREEING = 3  # pages, with the page itself
REACH = 6  # PDF pages to either side

_EDGE_LINES = 3
_AT_END = re.compile(r"(?:^|[\s|\-–—•])(\d{1,4})(?:\s*[|\-–—•])?$")
_AT_START = re.compile(r"^(?:[|\-–—•]\s*)?(\d{1,4})(?=$|[\s|\-–—•])")
_ROMAN = re.compile(r"(?:^|[|\-–—•]\s*)([ivxl]{1,6})$")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}


def with_printed_numbers(pages: Sequence[Page]) -> list[Page]:
    """The pages of one document with `printed`, and `two printed pages` among the problems.

    Parameters
    ----------
    pages
        All pages, in order.
    """
    found = [_candidates(page.text) for page in pages]
    single = [{(text, n - i) for text, n in numbers} for i, numbers in enumerate(found)]
    spread = [
        {(text, n - 2 * i) for text, n in numbers if _has_next(numbers, text, n)}
        for i, numbers in enumerate(found)
    ]
    return [_numbered(page, i, single, spread) for i, page in enumerate(pages)]


Offsets = Sequence[set[tuple[str, int]]]


def _numbered(page: Page, index: int, single: Offsets, spread: Offsets) -> Page:
    text, n_single = _best(index, single)
    first, n_spread = _best(index, spread)
    if n_spread >= MIN_AGREEING and n_spread >= n_single:
        printed = (first, str(int(first) + 1))
        problems = (*page.problems, TWO_PAGES)
        return page.model_copy(update={"printed": printed, "problems": problems})
    if n_single >= MIN_AGREEING:
        return page.model_copy(update={"printed": (text,)})
    return page


def _best(index: int, offsets: Offsets) -> tuple[str, int]:
    """The number most pages nearby agree with, and how many those are."""
    near = offsets[max(0, index - REACH) : index + REACH + 1]
    counted = [
        (sum(any(o == offset and _is_alike(t, text) for t, o in page) for page in near), text)
        for text, offset in sorted(offsets[index])
    ]
    n, text = max(counted, default=(0, ""))
    return text, n


def _is_alike(one: str, other: str) -> bool:
    """Both Arabic or both Roman: the two count on their own."""
    return one.isdigit() == other.isdigit()


def _has_next(numbers: set[tuple[str, int]], text: str, n: int) -> bool:
    return text.isdigit() and n >= 1 and (str(n + 1), n + 1) in numbers


def _candidates(text: str) -> set[tuple[str, int]]:
    lines = [line.strip() for line in text.split("\n")]
    edges = [*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]]
    found: set[tuple[str, int]] = set()
    for line in edges:
        for match in (_AT_START.search(line), _AT_END.search(line)):
            if match is not None:
                found.add((match[1], int(match[1])))
        if roman := _ROMAN.search(line):
            found.add((roman[1], _value(roman[1])))
        if re.fullmatch(r"\d{1,4}\s+\d{1,4}", line):
            found.update((number, int(number)) for number in line.split())
    return found


def _value(roman: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in roman]
    after = [*values[1:], 0]
    return sum(-v if v < following else v for v, following in zip(values, after, strict=True))
