"""Correctness by rule: an answer's numbers, names, yes or no and words against the gold answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from rge.judging.answering import CONCLUDES, Answering, answering
from rge.judging.gold import Gold
from rge.judging.polarity import leaning, polarity
from rge.judging.words import DIRECTIONS, content, direction, has_name, names, share, still
from rge.records import Score
from rge.text.citations import mask_citations
from rge.text.claims import split_sentences
from rge.text.numbers import Quantity, any_match, parse_values, rounds_to, years

# Shares of the gold answer's own words that an answer must hold. Chosen on three quarters of the
# questions of a public set of answers labelled by people; they are in no study of this repository.
ENOUGH_WORDS = 0.4
SOME_WORDS = 0.2
# Share of the question's words that one sentence of an answer without yes or no must hold.
ON_TOPIC = 0.4
# A gold answer of so few own words must stand where the answer answers, not just anywhere.
TERSE_WORDS = 4
# Of two words that make the answer one alone is another thing: "long-term deposits".
HALF = 0.5
_PAIR = 2
_MOST_FIGURES = 6
# Characters of an answer that are compared. What stands behind them is not read for the answer.
MOST_READ = 20_000

_COMPARES = re.compile(
    r"\b(?:from|against|compared|versus|vs|than|previous|prior|respectively|while|whereas|up|down"
    r"|corresponding|earlier|last)\b|[=+/×*]|\bminus\b|\bplus\b|\bdivided\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;:(]\s")
_LISTS = re.compile(r",| and |;|\n")


@dataclass(frozen=True)
class Finding:
    """A correctness score, the slice of the gold answer it rests on, and why."""

    score: Score
    evidence: str
    rationale: str


def compare(answer: str, gold: Gold) -> Finding:
    """Correctness of an answer that answers, by rule.

    Parameters
    ----------
    answer
        Text of the response.
    gold
        The gold answer taken apart.
    """
    plain = mask_citations(answer[:MOST_READ])
    if gold.wants_number:
        return _compare_numbers(plain, gold)
    if gold.polarity:
        return _compare_polarity(plain, gold)
    return _compare_prose(plain, gold)


def _given(found: Sequence[Quantity], value: Quantity, gold: Gold) -> bool:
    """Whether one of the numbers is the gold one, or rounds to it where gold is coarse itself."""
    if any_match(found, value, decimals=gold.decimals):
        return True
    return gold.rounded and any(rounds_to(quantity, value) for quantity in found)


def _compare_numbers(answer: str, gold: Gold) -> Finding:
    found = parse_values(answer)
    right = [value for value in gold.values if _given(found, value, gold)]
    evidence = (right or list(gold.values))[0].text
    evidence = evidence if evidence in gold.text else gold.text
    if not right:
        said = f"it gives {found[0].text}" if found else "it gives no number"
        return Finding(0, evidence, f"the gold number {evidence} is not in the answer; {said}")
    if len(right) < len(gold.values):
        return Finding(1, evidence, f"{len(right)} of {len(gold.values)} gold numbers are given")
    rival = _rival(answer, gold)
    if rival is not None:
        return Finding(1, evidence, f"{evidence} is given, and {rival.text} beside it for the same")
    missing = [name for name in gold.names if not has_name(name, answer)]
    if (
        gold.names
        and len(missing) == len(gold.names)
        and gold.direction == 0
        and len(gold.content) > TERSE_WORDS
    ):
        return Finding(1, evidence, f"the number is given, {missing[0]} is not")
    return Finding(2, evidence, f"{evidence} is given within 1 %")


def _rival(answer: str, gold: Gold) -> Quantity | None:
    """Another value given for what is asked: in the conclusion, or unexplained beside the gold."""
    sentences = [s.text for s in split_sentences(answer) if parse_values(s.text)]
    if not sentences:
        return None
    last = next((s for s in reversed(sentences) if CONCLUDES.search(s)), None)
    for sentence in (last,) if last else sentences[:1]:
        values = parse_values(sentence)
        digits = [v for v in values if re.search(r"\d", v.text)]
        same = [v for v in digits if any(_comparable(v, g) for g in gold.values)]
        # A hundred is the factor of a percentage that was worked out.
        others = [
            v
            for v in same
            if v.written != 100 and not any(_given([v], g, gold) for g in gold.values)
        ]
        if not others:
            continue
        holds = len(others) < len(same)
        explained = _COMPARES.search(sentence) or len(years(sentence)) > 1
        if (last and not holds) or (holds and not explained and len(sentences) == 1):
            return others[0]
    return None


def _comparable(value: Quantity, gold: Quantity) -> bool:
    """Whether a value could be meant for the gold one: the same unit, and a scale alike."""
    return value.unit == gold.unit and (value.scale or 1) == (gold.scale or 1)


def _compare_polarity(answer: str, gold: Gold) -> Finding:
    says = polarity(answer, gold.asked, denies=gold.denies)
    where = answering(answer, gold.asked)
    evidence = gold.text.split()[0].strip(".,;")
    towards = direction(where.first)
    figures = parse_values(answer)
    every_figure = bool(gold.values) and all(_given(figures, value, gold) for value in gold.values)
    if not says and not every_figure:
        says = leaning(where, gold.asks)
    agrees = every_figure or (bool(gold.direction) and towards == gold.direction)
    if says and says != gold.polarity:
        return Finding(0, evidence, f"the gold answer is {gold.polarity}, the answer says {says}")
    if not says and gold.direction and towards == -gold.direction:
        return Finding(0, evidence, "the answer states the opposite direction")
    if not says and gold.polarity == "no" and not (every_figure or (gold.direction and towards)):
        return Finding(0, evidence, "the gold answer is no, the answer does not deny")
    held = share(gold.content - content("yes no"), content(answer))
    spoken = share(gold.content, content("\n".join(where.sentences)))
    if not says and not agrees and max(where.nearness, spoken) < ON_TOPIC:
        return Finding(0, evidence, "the answer does not speak of what is asked")
    rival = _reason_differs(answer, figures, gold)
    if rival:
        return Finding(1, evidence, f"yes or no agrees, the reason does not: {rival}")
    return Finding(
        2, evidence, f"yes or no agrees; {held:.0%} of the gold reasons' words are given"
    )


def _reason_differs(answer: str, figures: Sequence[Quantity], gold: Gold) -> str:
    """A figure or name that is given as the reason instead of all of gold's; empty where none."""
    own = [v for v in figures if not any_match(gold.stated, v)]
    comparable = [v for v in own if any(_comparable(v, g) for g in gold.values)]
    given = comparable + _differences(comparable)
    if len(comparable) > 1 and not any(_given(given, value, gold) for value in gold.values):
        return comparable[0].text
    if gold.names and not any(has_name(name, answer) for name in gold.names):
        others = [n for n in names(answer) if not content(n) <= gold.asked | content(gold.text)]
        if others and len(gold.content) <= TERSE_WORDS:
            return others[0]
    return ""


def _differences(values: Sequence[Quantity]) -> list[Quantity]:
    """What a reader takes from two figures where the gold answer names their difference."""
    return [
        replace(a, value=abs(a.value - b.value), written=abs(a.written - b.written), direction=0)
        for a, b in combinations(values[:_MOST_FIGURES], 2)
        if a.unit == b.unit and a.value != b.value
    ]


def _compare_prose(answer: str, gold: Gold) -> Finding:
    place = answering(answer, gold.asked)
    if gold.still and not gold.values:
        return _compare_still(place, gold)
    terse = len(gold.content) <= TERSE_WORDS and gold.wants != "reason"
    where = "\n".join(place.sentences) if terse else answer
    missing = [name for name in gold.names if not has_name(name, where)]
    agreement = []
    own = gold.content - DIRECTIONS or gold.content
    if gold.content:
        agreement.append(share(own if gold.wants == "thing" else gold.content, content(where)))
    if gold.names:
        agreement += [1 - len(missing) / len(gold.names)] * 2
    figures, conflict = _figures(answer, gold)
    agreement += figures
    if not agreement:
        agreement.append(share(content(gold.text), content(where)))
    level = sum(agreement) / len(agreement)
    if gold.direction and direction(place.first) == -gold.direction and level < ENOUGH_WORDS:
        return Finding(0, gold.text, "the answer states the opposite direction")
    if conflict is not None:
        return Finding(0, gold.text, f"{conflict.text} conflicts with {gold.values[0].text}")
    if level < ENOUGH_WORDS and _names_only_gold(place, gold):
        return Finding(2, gold.text, "all that the answer names is in the gold answer")
    why = f"{level:.0%} of the gold answer's names, numbers and words are given"
    enough = (
        level > HALF if len(gold.content) <= _PAIR and not gold.names else level >= ENOUGH_WORDS
    )
    if enough and not (missing and len(gold.content) <= 2 * TERSE_WORDS):
        return Finding(2, gold.text, why)
    return Finding(1 if level >= SOME_WORDS else 0, gold.text, why)


def _figures(answer: str, gold: Gold) -> tuple[list[float], Quantity | None]:
    """Share of gold's figures that are given, and a figure that conflicts with the only one.

    Where a reason or one of several things is asked for, figures only support the gold answer: they
    count where they are given and cost nothing where they are not.
    """
    if not gold.values:
        return [], None
    figures = parse_values(answer)
    right = sum(_given(figures, value, gold) for value in gold.values)
    if gold.wants:
        return [1.0] if right == len(gold.values) else [], None
    rivals = [f for f in figures if not f.bare and any(_comparable(f, g) for g in gold.values)]
    conflict = rivals[0] if rivals and not right and len(gold.values) == 1 else None
    return [right / len(gold.values)], conflict


def _compare_still(place: Answering, gold: Gold) -> Finding:
    """For a gold answer that says that something stayed as it was."""
    said = [place.conclusion or place.first, place.first]
    if any(still(sentence) for sentence in said):
        return Finding(2, gold.text, "the answer says that it did not change")
    if any(direction(sentence) for sentence in said):
        return Finding(0, gold.text, "the answer says that it changed")
    return Finding(0, gold.text, "the answer does not say that it did not change")


def _names_only_gold(place: Answering, gold: Gold) -> bool:
    """Whether the first clause says less than gold and nothing else: "It makes bicycles."

    A gold answer of names, numbers or a list is not given by a part of it.
    """
    if gold.wants != "thing" or gold.names or gold.values or _LISTS.search(gold.text):
        return False
    said = content(_CLAUSE_END.split(place.first, maxsplit=1)[0]) - gold.asked
    return bool(said) and said <= gold.content
