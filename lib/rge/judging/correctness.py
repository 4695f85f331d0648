"""Correctness by rule: an answer's numbers, names, yes or no and words against the gold answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from rge.judging.gold import Gold
from rge.judging.words import content, direction, has_name, share
from rge.records import Score
from rge.text.abstention import is_remark
from rge.text.citations import mask_citations
from rge.text.claims import split_sentences
from rge.text.numbers import Quantity, any_match, matches, parse_values, years

# Shares of the gold answer's own words that an answer must hold. Chosen on three quarters of the
# questions of a public set of answers labelled by people; they are in no study of this repository.
ENOUGH_WORDS = 0.4
SOME_WORDS = 0.2
# Share of the question's words that one sentence of an answer without yes or no must hold.
ON_TOPIC = 0.4
# A gold answer of so few own words must stand where the answer answers, not just anywhere.
TERSE_WORDS = 4
_MOST_FIGURES = 6

_YES = re.compile(r"^\W*(?:yes|indeed|correct|true)\b", re.IGNORECASE)
_NO = re.compile(r"^\W*(?:no|none|not)\b(?!\.\s?\d)", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:did|does|do|is|was|were|are|has|have|had|will|would|can|could)(?: not|n't)\b"
    r"|\bno (?:indication|evidence|change|material|such|significant|drop|decline|major)\b"
    r"|\bneither\b"
    r"|\bnone\b|\bnot (?:been|reported|explicitly|a|an|have|have had|improv|retain)\w*\b",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|in conclusion|overall|in summary|the answer is)\b", re.IGNORECASE
)
_COMPARES = re.compile(
    r"\b(?:from|against|compared|versus|vs|than|previous|prior|respectively|while|whereas|up|down"
    r"|corresponding|earlier|last)\b|[=+/×*]|\bminus\b|\bplus\b|\bdivided\b",
    re.IGNORECASE,
)


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
    plain = mask_citations(answer)
    if gold.wants_number:
        return _compare_numbers(plain, gold)
    if gold.polarity:
        return _compare_polarity(plain, gold)
    return _compare_prose(plain, gold)


def _compare_numbers(answer: str, gold: Gold) -> Finding:
    found = parse_values(answer)
    right = [value for value in gold.values if any_match(found, value, decimals=gold.decimals)]
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
        and len(gold.content) > 4
    ):
        return Finding(1, evidence, f"the number is given, {missing[0]} is not")
    return Finding(2, evidence, f"{evidence} is given within 1 %")


def _rival(answer: str, gold: Gold) -> Quantity | None:
    """Another value given for what is asked: in the conclusion, or unexplained beside the gold."""
    sentences = [s.text for s in split_sentences(answer) if parse_values(s.text)]
    if not sentences:
        return None
    last = next((s for s in reversed(sentences) if _CONCLUDES.search(s)), None)
    for sentence in (last,) if last else sentences[:1]:
        values = parse_values(sentence)
        digits = [v for v in values if re.search(r"\d", v.text)]
        same = [v for v in digits if any(_comparable(v, g) for g in gold.values)]
        # A hundred is the factor of a percentage that was worked out.
        others = [
            v
            for v in same
            if v.written != 100
            and not any(matches(v, g, decimals=gold.decimals) for g in gold.values)
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


def polarity(answer: str) -> str:
    """ "yes", "no" or "": what an answer says to a yes-or-no question."""
    sentences = [s.text for s in split_sentences(answer)]
    for sentence in sentences[:2]:
        if _YES.match(sentence):
            return "yes"
        if _NO.match(sentence):
            return "no"
    conclusion = next((s for s in reversed(sentences) if _CONCLUDES.search(s)), None)
    for sentence in (sentences[0] if sentences else "", conclusion or ""):
        if sentence and _DENIES.search(sentence):
            return "no"
    return ""


def _compare_polarity(answer: str, gold: Gold) -> Finding:
    says = polarity(answer)
    evidence = gold.text.split()[0].strip(".,;")
    core_direction = direction(_core(answer))
    if says and says != gold.polarity:
        return Finding(0, evidence, f"the gold answer is {gold.polarity}, the answer says {says}")
    if not says and gold.direction and core_direction == -gold.direction:
        return Finding(0, evidence, "the answer states the opposite direction")
    if not says and gold.polarity == "no" and not (gold.direction and core_direction):
        return Finding(0, evidence, "the gold answer is no, the answer does not deny")
    agrees = bool(gold.direction) and core_direction == gold.direction
    if not says and not agrees and _topic(answer, gold) < ON_TOPIC:
        return Finding(0, evidence, "the answer does not speak of what is asked")
    comparable = [v for v in parse_values(answer) if any(_comparable(v, g) for g in gold.values)]
    given = comparable + _differences(comparable)
    if len(comparable) > 1 and not any(any_match(given, value) for value in gold.values):
        return Finding(1, evidence, f"yes or no agrees, the figures do not: {comparable[0].text}")
    held = share(gold.content - content("yes no"), content(answer))
    return Finding(
        2, evidence, f"yes or no agrees; {held:.0%} of the gold reasons' words are given"
    )


def _differences(values: Sequence[Quantity]) -> list[Quantity]:
    """What a reader takes from two figures where the gold answer names their difference."""
    return [
        replace(a, value=abs(a.value - b.value), written=abs(a.written - b.written), direction=0)
        for a, b in combinations(values[:_MOST_FIGURES], 2)
        if a.unit == b.unit and a.value != b.value
    ]


def _topic(answer: str, gold: Gold) -> float:
    """Share of the question's words in the sentence that holds most of them."""
    sentences = split_sentences(answer)
    return max((share(gold.asked, content(s.text)) for s in sentences), default=0.0)


def _core(answer: str) -> str:
    """The first sentence that claims something."""
    sentences = [s.text for s in split_sentences(answer)]
    return next((s for s in sentences if not is_remark(s)), answer)


def _answering(answer: str, gold: Gold) -> str:
    """The sentences that answer: first claim, conclusion, and the one nearest to the question."""
    sentences = [s.text for s in split_sentences(answer)]
    nearest = max(sentences, key=lambda s: share(gold.asked, content(s)), default="")
    conclusion = next((s for s in reversed(sentences) if _CONCLUDES.search(s)), "")
    return "\n".join(dict.fromkeys([_core(answer), nearest, conclusion]))


def _compare_prose(answer: str, gold: Gold) -> Finding:
    terse = len(gold.content) <= TERSE_WORDS
    where = _answering(answer, gold) if terse else answer
    missing = [name for name in gold.names if not has_name(name, where)]
    agreement = []
    if gold.content:
        agreement.append(share(gold.content, content(where)))
    if gold.names:
        agreement += [1 - len(missing) / len(gold.names)] * 2
    conflict = None
    if gold.values:
        figures = parse_values(answer)
        right = sum(any_match(figures, value) for value in gold.values)
        agreement.append(right / len(gold.values))
        rivals = [f for f in figures if not f.bare and any(_comparable(f, g) for g in gold.values)]
        conflict = rivals[0] if rivals and not right else None
    if not agreement:
        agreement.append(share(content(gold.text), content(where)))
    level = sum(agreement) / len(agreement)
    if gold.direction and direction(_core(answer)) == -gold.direction and level < ENOUGH_WORDS:
        return Finding(0, gold.text, "the answer states the opposite direction")
    if conflict is not None and len(gold.values) == 1:
        return Finding(0, gold.text, f"{conflict.text} conflicts with {gold.values[0].text}")
    why = f"{level:.0%} of the gold answer's names, numbers and words are given"
    if level >= ENOUGH_WORDS and not (missing and len(gold.content) <= 2 * TERSE_WORDS):
        return Finding(2, gold.text, why)
    return Finding(1 if level >= SOME_WORDS else 0, gold.text, why)
