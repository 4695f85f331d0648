"""What a gold answer asks of an answer: numbers, yes or no, names and content words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rge.judging.words import content, direction, names, negated, still
from rge.records import Question
from rge.text.claims import split_sentences
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
# Questions for a reason or for one of several things: figures in their gold answer only support it.
_REASON_WANTED = re.compile(
    r"\bwhy\b|\bwhat (?:drove|caused|led|explains?|explained|is driving|are the (?:\w+ )?"
    r"(?:drivers?|reasons?|causes?|factors?))\b|\breasons? (?:for|why|behind)\b",
    re.IGNORECASE,
)
_THING_WANTED = re.compile(
    r"(?:^|[,.:;]\s*(?:and\s)?|\b(?:in|of|for|at|by|to|from|and|with)\s)(?:which|whom?|where)\b"
    r"|\bwhat (?:\w+ )?(?:industry|sector|region|segment|business|product"
    r"|categor\w+|geograph\w+|countr\w+|compan\w+)\b",
    re.IGNORECASE,
)
# What a gold answer says about itself: "The answer here assumes that FY23 ends in January".
_OF_THE_ANSWER = re.compile(
    r"^\W*(?:(?:the|this|our) answer (?:here )?(?:assumes|is based on|relies|uses|considers)"
    r"|note(?: that)?\b[:,]?|assuming\b|here we assume|we assume)",
    re.IGNORECASE,
)
# Verbs and adjectives that carry a gold sentence and are no part of its answer.
_CARRIERS = content(
    """mn bn experienced generated brought involved represented comprises contributed requires
    has become remain various several different multiple main primary mainly primarily notable key
    important overall respect related including"""
)
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
    rounded
        Whether the numbers are read from the gold answer's text, where they may be rounded.
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
    stated
        Numbers that the question itself states.
    asks
        1 where the question asks whether something rises, -1 falls, 0 neither.
    denies
        Whether the question itself denies something ("events that are not usual").
    wants
        "reason" or "thing" (which, who, where) where the question asks for one, else "".
    still
        Whether it says that something stayed as it was.
    wants_number
        Whether the numbers are what is asked for, not the reason for a yes or no.
    """

    text: str
    values: tuple[Quantity, ...]
    rounded: bool
    decimals: int | None
    polarity: Literal["yes", "no", ""]
    direction: int
    names: tuple[str, ...]
    content: frozenset[str]
    asked: frozenset[str]
    stated: tuple[Quantity, ...]
    asks: int
    denies: bool
    wants: Literal["reason", "thing", ""]
    still: bool
    wants_number: bool


@lru_cache(maxsize=4096)
def read_gold(question: Question) -> Gold:
    """The gold answer of `question` taken apart."""
    text = question.gold_answer
    said = _without_remarks(text)
    polar = _YES_NO_GOLD.match(text)
    rounding = _ROUNDING.search(question.text)
    asked = content(question.text)
    values = _gold_values(question, said)
    new = content(said) - asked
    wants = _wanted(question.text)
    query = _query(question.text)
    return Gold(
        text=text,
        values=values,
        rounded=not question.gold_values,
        decimals=_DECIMALS[rounding[1].lower()] if rounding else None,
        polarity=_polarity(polar),
        direction=direction(said),
        names=tuple(name for name in names(said) if not content(name) <= asked),
        content=new - _CARRIERS or new,
        asked=asked,
        stated=tuple(parse_values(question.text)),
        asks=direction(query),
        denies=negated(query),
        wants=wants,
        still=still(said),
        wants_number=bool(values)
        and not polar
        and (
            bool(question.gold_values)
            or bool(_NUMBER_WANTED.search(question.text))
            or (_terse(new) and wants == "")
        ),
    )


def _polarity(polar: re.Match[str] | None) -> Literal["yes", "no", ""]:
    if polar is None:
        return ""
    return "yes" if polar[1].lower() == "yes" else "no"


def _wanted(question: str) -> Literal["reason", "thing", ""]:
    if _REASON_WANTED.search(question):
        return "reason"
    return "thing" if _THING_WANTED.search(question) else ""


def _query(question: str) -> str:
    """The sentences that ask, without instructions ("if it is not useful, then say so")."""
    asking = [s.text for s in split_sentences(question) if s.text.endswith("?")]
    return " ".join(asking) or question


def _without_remarks(gold: str) -> str:
    """The gold answer without sentences about the answer itself; all of it if nothing is left."""
    kept = [s.text for s in split_sentences(gold) if not _OF_THE_ANSWER.match(s.text)]
    return " ".join(kept) or gold


def _terse(new: frozenset[str]) -> bool:
    """Whether the gold answer is little more than a number."""
    return len(new) <= 3


def _gold_values(question: Question, said: str) -> tuple[Quantity, ...]:
    if question.gold_values:
        return tuple(quantity(gold.value, gold.unit) for gold in question.gold_values)
    stated = parse_values(question.text)
    main = parse_values(_ASIDE.sub(lambda aside: " " * len(aside[0]), said))
    found = main or parse_values(said)
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
