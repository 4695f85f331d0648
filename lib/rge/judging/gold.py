"""What a gold answer asks of an answer: numbers, yes or no, names and content words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rge.judging.words import content, direction, names
from rge.records import Question
from rge.text.numbers import Quantity, any_match, parse_values, quantity

_YES_NO_GOLD = re.compile(r"^\W*(yes|no)\b(?!\.\s?\d)", re.IGNORECASE)
_NUMBER_WANTED = re.compile(
    r"\bhow (?:much|many)\b|\bby how\b|\bwhat (?:percent\w*|share|proportion|amount|number)\b"
    r"|\bpercentage (?:of|points?)\b|\bcalculate\b|\bratio\b|\bamount\b|\brate\b",
    re.IGNORECASE,
)
_UNIT_WANTED = re.compile(
    r"\b(?:in|units? of|as an?)\s(?:units of\s)?((?:usd|inr|us\$|rs\.?|₹|\$|rupees|dollars)?\s?"
    r"(?:in\s)?(?:thousands?|lakhs?|millions?|crores?|lakh crores?|billions?)|percent\w*|%)",
    re.IGNORECASE,
)
_ROUNDING = re.compile(
    r"\bround\w*\b[^.?]{0,40}?\b(one|two|three|1|2|3|nearest whole)\b", re.IGNORECASE
)
_DECIMALS = {"one": 1, "1": 1, "two": 2, "2": 2, "three": 3, "3": 3, "nearest whole": 0}
_ASIDE = re.compile(r"\([^()]*\)")


@dataclass(frozen=True)
class Gold:
    """A gold answer taken apart.

    Attributes
    ----------
    text
        The gold answer.
    values
        Numbers an answer must give, in the unit that the question asks for.
    decimals
        Decimals the question asks to round to, or None.
    polarity
        "yes", "no" or "".
    direction
        1, -1 or 0: whether it speaks of rising or falling.
    names
        Names in the gold answer that the question does not mention.
    content
        Stems of content words that the question does not mention.
    asked
        Stems of the question's content words.
    wants_number
        Whether the numbers are what is asked for, not the reason for a yes or no.
    """

    text: str
    values: tuple[Quantity, ...]
    decimals: int | None
    polarity: str
    direction: int
    names: tuple[str, ...]
    content: frozenset[str]
    asked: frozenset[str]
    wants_number: bool


@lru_cache(maxsize=4096)
def read_gold(question: Question) -> Gold:
    """The gold answer of `question` taken apart."""
    text = question.gold_answer
    polar = _YES_NO_GOLD.match(text)
    rounding = _ROUNDING.search(question.text)
    asked = content(question.text)
    values = _gold_values(question)
    return Gold(
        text=text,
        values=values,
        decimals=_DECIMALS[rounding[1].lower()] if rounding else None,
        polarity=polar[1].lower() if polar else "",
        direction=direction(text),
        names=tuple(name for name in names(text) if not content(name) <= asked),
        content=content(text) - asked,
        asked=asked,
        wants_number=bool(values)
        and not polar
        and (
            bool(question.gold_values)
            or bool(_NUMBER_WANTED.search(question.text))
            or _terse(content(text) - asked)
        ),
    )


def _terse(new: frozenset[str]) -> bool:
    """Whether the gold answer is little more than a number."""
    return len(new) <= 3


def _gold_values(question: Question) -> tuple[Quantity, ...]:
    if question.gold_values:
        return tuple(quantity(gold.value, gold.unit) for gold in question.gold_values)
    stated = parse_values(question.text)
    main = parse_values(_ASIDE.sub(lambda aside: " " * len(aside[0]), question.gold_answer))
    found = main or parse_values(question.gold_answer)
    new = [value for value in found if not any_match(stated, value, rel_tol=1e-9)]
    return tuple(_in_wanted_unit(value, question.text) for value in new)


def _in_wanted_unit(value: Quantity, question: str) -> Quantity:
    """A bare gold number in the unit and scale that the question asks for."""
    wanted = _UNIT_WANTED.search(question)
    if not value.bare or wanted is None:
        return value
    unit = re.sub(r"\s?\bin\b\s?", " ", wanted[1].lower()).replace("percents", "percent")
    if unit.startswith(("percent", "%")):
        # A bare 0.308 for "units of percents" is the ratio behind 30.8 %; 30.8 is the per cent.
        as_percent = value.written if abs(value.written) > 2 else value.written * 100
        return quantity(as_percent, "%")
    return quantity(value.written, unit.replace("dollars", "usd").strip())
