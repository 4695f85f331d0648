"""Whether a passage contradicts a claim: another figure, name, year or direction for one thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rge.judging.facts import Dated, Passage, Sentence, dated_values
from rge.judging.words import DIRECTIONS, content, direction, has_name, names, negated, share
from rge.records import Question
from rge.text.numbers import Quantity, matches

# Share of a claim's words that a sentence must hold to be about the same thing: clearly, perhaps.
# Chosen on control answers to questions outside the study.
SAME_THING = 0.75
PERHAPS_SAME = 0.55


@dataclass(frozen=True)
class Conflict:
    """A contradiction: the passage's verbatim sentence, whether it is flat, and what differs."""

    evidence: str
    flat: bool
    reason: str


def find_conflict(claim: str, question: Question, passages: Sequence[Passage]) -> Conflict | None:
    """The strongest contradiction of a claim that the passages do not support, or None.

    Parameters
    ----------
    claim
        Text of the claim without citations.
    question
        Its company and year stand in where the claim leaves them out.
    passages
        Shown passages; those of another company contradict nothing.
    """
    found = []
    for passage in passages:
        if passage.company != question.company and question.company not in ("", "-"):
            continue
        for sentence in passage.sentences:
            conflict = _conflict(claim, question, passage, sentence)
            if conflict is not None and conflict.flat:
                return conflict
            found.append(conflict)
    return next((conflict for conflict in found if conflict is not None), None)


def _conflict(
    claim: str, question: Question, passage: Passage, sentence: Sentence
) -> Conflict | None:
    about = _subject(claim, sentence)
    same = share(about, sentence.words | passage.about)
    if same < PERHAPS_SAME or not about:
        return None
    flat = same >= SAME_THING
    reason = numbers_differ(claim, sentence, passage)
    if reason is None and flat:
        reason = direction_differs(claim, sentence) or name_differs(claim, sentence, passage)
    return None if reason is None else Conflict(sentence.text, flat, reason)


def _subject(claim: str, sentence: Sentence) -> frozenset[str]:
    """Words that say what a claim is about: without names that the sentence does not have."""
    unknown = " ".join(name for name in names(claim) if not has_name(name, sentence.read))
    return content(claim) - content(unknown) - DIRECTIONS


def numbers_differ(claim: str, sentence: Sentence, passage: Passage) -> str | None:
    """What figure stands in the sentence instead of one of the claim's, in words."""
    for dated in dated_values(claim):
        rivals = [known for known in sentence.values if _alike(dated.value, known.value)]
        equal = [known for known in rivals if matches(dated.value, known.value)]
        if equal:
            if dated.years and all(k.years and not (k.years & dated.years) for k in equal):
                year = min(min(k.years) for k in equal)
                return f"{dated.value.text} is the figure of {year} there"
            continue
        years = dated.years
        rival = next((k for k in rivals if not k.years or not years or k.years & years), None)
        if rival is not None and rival.value.bare and not _row_is_of(claim, sentence, passage):
            continue
        if rival is not None and not _held_elsewhere(dated, passage):
            return f"{rival.value.text} stands there instead of {dated.value.text}"
    return None


def _row_is_of(claim: str, sentence: Sentence, passage: Passage) -> bool:
    """Whether a row shares more with a claim than the names of a company."""
    words = content(claim) - content(" ".join(names(claim))) - DIRECTIONS
    return bool(words) and share(words, sentence.words | passage.about) >= SAME_THING


def _alike(value: Quantity, known: Quantity) -> bool:
    """Whether two numbers could be of one thing: the same unit, or a bare figure of a table."""
    if bool(value.direction) != bool(known.direction):
        return False  # "rose by ₹5 crore" is a change, "was ₹90 crore" a level
    if known.bare and value.unit not in ("ratio", "points"):
        return known.decimals > 0 or abs(known.written) >= 100 or value.bare
    return value.unit == known.unit


def _held_elsewhere(dated: Dated, passage: Passage) -> bool:
    # A bare figure of a table agrees with any scale; it is no proof that the number is held.
    return any(
        matches(dated.value, known.value) and not known.value.bare
        for sentence in passage.sentences
        for known in sentence.values
    )


def direction_differs(claim: str, sentence: Sentence) -> str | None:
    says, stands = direction(claim), direction(sentence.text)
    if says and stands == -says:
        return "the direction is the other way round there"
    if negated(claim) != negated(sentence.text) and share(sentence.words, content(claim)) >= 0.5:
        return "one denies what the other states"
    return None


def name_differs(claim: str, sentence: Sentence, passage: Passage) -> str | None:
    known = f"{sentence.read} {passage.company} {passage.label}"
    mine = [name for name in names(claim) if not has_name(name, known)]
    theirs = [name for name in names(sentence.text) if not has_name(name, claim)]
    if mine and theirs:
        return f"{theirs[0]} stands there instead of {mine[0]}"
    return None
