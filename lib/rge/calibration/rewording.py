"""Gold answers reworded by rule: the same facts in other words, or the same digits in another unit.

The rules know ways of writing, not what is asked; a text that no rule applies to is left out.
"""

from __future__ import annotations

import re

import numpy as np

from rge.text.claims import split_sentences
from rge.text.numbers import Quantity

# Each pair says the same of an amount or a person; the first is what gold answers use.
_WORDINGS = (
    (r"\bwas (?=(?:₹|Rs|\$|about |\d))", ("came to ", "stood at ", "amounted to ")),
    (r"\bwere (?=(?:₹|Rs|\$|about |\d))", ("came to ", "stood at ", "amounted to ")),
    (r"\brose by\b", ("went up by", "increased by")),
    (r"\b(?:grew|increased) by\b", ("rose by", "went up by")),
    (r"\b(?:fell|declined|decreased) by\b", ("went down by", "dropped by")),
    (r"\b(?:rose|grew|increased) from\b", ("went up from", "climbed from")),
    (r"\b(?:fell|declined|decreased) from\b", ("went down from", "dropped from")),
    (r" per cent\b", ("%",)),
    (r"(?<=\d)%", (" per cent",)),
)
_LAST_YEAR = re.compile(r"^(?P<rest>[A-Z].*?\S) in (?P<year>FY\s?\d{2,4})(?P<stop>\.?)$", re.DOTALL)
# What is not a name may lose its capital inside a sentence.
_PLAIN_OPENERS = re.compile(
    r"(?:The|Its|It|This|That|Total|Revenue|Profit|Net|Gross|Finance|Other|Cash|Employee|Interest"
    r"|Earnings|Capital|Operating|Deposits|Advances|Borrowings|Inventories|Trade|Depreciation)\b"
)
_SWAPS = (
    ("lakh crore", "crore"),
    ("crore", "lakh"),
    ("lakh", "crore"),
    ("million", "billion"),
    ("billion", "million"),
    ("percentage points", "basis points"),
    ("basis points", "percentage points"),
    ("bps", "percentage points"),
    ("per cent", "basis points"),
    ("%", " basis points"),
)


def reword(answer: str, rng: np.random.Generator) -> str | None:
    """`answer` with its facts in other words, or None where no rule applies.

    Parameters
    ----------
    answer
        One gold answer.
    rng
        Chooses among wordings.

    Returns
    -------
    str or None
        Verbs exchanged, rupees written as "Rs.", the year moved to the front; digits and names
        stay as they are.
    """
    text = _verbs(answer, rng)
    text = re.sub(r"₹\s?(?=\d)", "Rs. ", text)
    text = _year_first(text.strip())
    return None if text == answer.strip() else text


def _verbs(text: str, rng: np.random.Generator) -> str:
    for pattern, wordings in _WORDINGS:
        new, n = re.subn(pattern, wordings[rng.integers(len(wordings))], text)
        if n:
            return new
    return text


def _year_first(text: str) -> str:
    found = _LAST_YEAR.match(text)
    if found is None or "FY" in found["rest"] or len(split_sentences(found["rest"])) != 1:
        return text
    rest = found["rest"]
    if _PLAIN_OPENERS.match(rest):
        rest = rest[0].lower() + rest[1:]
    return f"In {found['year']}, {rest}{found['stop']}"


def swap_unit(answer: str, value: Quantity) -> str | None:
    """`answer` with the unit or scale of one number exchanged for another, its digits kept.

    Returns
    -------
    str or None
        None where the number has no unit that has a wrong neighbour.
    """
    written = answer[value.start : value.end]
    for unit, other in _SWAPS:
        place = re.search(rf"{re.escape(unit)}s?(?![\w])" if unit != "%" else "%", written)
        if place:
            changed = f"{written[: place.start()]}{other}{written[place.end() :]}"
            return answer[: value.start] + changed + answer[value.end :]
    return None
