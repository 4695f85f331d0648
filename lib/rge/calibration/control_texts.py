"""The texts of the control answers, each made from gold and passages so that its scores follow.

A builder returns None where its control cannot be made for a question. Those that cite gold are
called only where all gold is among the passages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from rge.calibration.rewording import reword, swap_unit
from rge.judging.facts import Dated, read_passage
from rge.judging.gold import read_gold
from rge.records import Chunk, Question
from rge.text.numbers import Quantity, any_match, matches, parse_values

_REFUSALS = (
    "The passages do not contain the answer to this question.",
    "The passages do not state this, so I cannot answer from them.",
    "This is not disclosed in the passages that were given.",
    "I cannot determine this from the passages: none of them mentions it.",
)
_CLAUSES = (
    "helped by a weather-hedging treaty with Norwegian reinsurers",
    "which analysts in Reykjavik had foreseen two quarters earlier",
    "thanks to a lottery-funded training scheme for falconers",
    "because its submarine cable depot escaped the spring floods",
)
_HEDGES = (
    "I am not entirely sure, but it could possibly be that {answer} This should be verified.",
    "It seems that perhaps, though I am not certain: {answer} It might also be otherwise.",
)

Builder = Callable[[Question, tuple[Chunk, ...], np.random.Generator], str | None]


def _oracle(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    return f"{_stem(question.gold_answer)} {_cite_gold(question, passages)}."


def _fabricator(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    clause = _CLAUSES[rng.integers(len(_CLAUSES))]
    cite = _cite_gold(question, passages)
    return f"{_stem(question.gold_answer)} {cite}. The result came {clause} {cite}."


def _mis_citer(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    values = parse_values(question.gold_answer)
    wrong = [
        chunk
        for chunk in passages
        if chunk.chunk_id not in question.gold_source_ids
        and not any(any_match(_values(chunk), value) for value in values)
    ]
    if not wrong or not values:
        return None
    return f"{_stem(question.gold_answer)} {_cite([wrong[-1].chunk_id])}."


def _over_hedger(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    oracle = _oracle(question, passages, rng)
    return oracle and _HEDGES[rng.integers(len(_HEDGES))].format(answer=oracle)


def _contradictor(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    value = _stated_gold(question, passages)
    if value is None:
        return None
    factor = rng.choice([0.62, 0.81, 1.27, 1.43])
    known = [q for chunk in passages for q in _values(chunk)]
    changed = _replaced(question.gold_answer, value, abs(value.written) * factor)
    if changed is None or any(any_match(known, new) for new in _new_values(question, changed)):
        return None
    return f"{_stem(changed)} {_cite_gold(question, passages)}."


def _year_swapper(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    value = _stated_gold(question, passages)
    if value is None:
        return None
    for chunk in passages:
        if chunk.chunk_id not in question.gold_source_ids:
            continue
        for sentence in read_passage(chunk).sentences:
            other = _other_year(sentence.values, value)
            swapped = other and _replaced(question.gold_answer, value, abs(other.written))
            if swapped:
                return f"{_stem(swapped)} {_cite_gold(question, passages)}."
    return None


def _parrot(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    """The first passage, where it does not hold the answer: else it would be a right answer."""
    gold, first = read_gold(question), passages[0]
    if not gold.values or first.chunk_id in question.gold_source_ids:
        return None
    if any(any_match(_values(first), value) for value in gold.values):
        return None
    return f"{first.text.rstrip()} {_cite([first.chunk_id])}"


def _paraphraser(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    reworded = reword(question.gold_answer, rng)
    return reworded and f"{_stem(reworded)} {_cite_gold(question, passages)}."


def _unit_swapper(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    value = _stated_gold(question, passages)
    if value is None or not _stated_with_unit(question, passages, value):
        return None
    swapped = swap_unit(question.gold_answer, value)
    return swapped and f"{_stem(swapped)} {_cite_gold(question, passages)}."


def _false_refuser(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    return _REFUSALS[rng.integers(len(_REFUSALS))]


def _abstainer(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    return _REFUSALS[rng.integers(len(_REFUSALS))]


def _inventor(
    question: Question, passages: tuple[Chunk, ...], rng: np.random.Generator
) -> str | None:
    known = [q for chunk in passages for q in _values(chunk)]
    amount = f"₹{rng.integers(2_000, 9_000) / 10:,.1f} crore"
    if not passages or any_match(known, parse_values(amount)[0]):
        return None
    return f"The amount sought was {amount} in {question.fy} {_cite([passages[0].chunk_id])}."


BUILDERS: dict[str, Builder] = {
    "oracle": _oracle,
    "paraphraser": _paraphraser,
    "fabricator": _fabricator,
    "mis-citer": _mis_citer,
    "over-hedger": _over_hedger,
    "contradictor": _contradictor,
    "year-swapper": _year_swapper,
    "unit-swapper": _unit_swapper,
    "parrot": _parrot,
    "false refuser": _false_refuser,
    "abstainer": _abstainer,
    "inventor": _inventor,
}


@lru_cache(maxsize=4096)
def _values(chunk: Chunk) -> tuple[Quantity, ...]:
    """Numbers of a passage; the same passages are read for many controls."""
    return tuple(parse_values(chunk.text))


def _stated_gold(question: Question, passages: tuple[Chunk, ...]) -> Quantity | None:
    """The only gold number as the gold answer writes it, where a gold passage has it too."""
    golds = read_gold(question).values
    written = [
        value
        for value in parse_values(question.gold_answer)
        if any(matches(value, gold) for gold in golds) and re.search(r"\d", value.text)
    ]
    held = [q for c in passages if c.chunk_id in question.gold_source_ids for q in _values(c)]
    if len(golds) != 1 or len(written) != 1 or not any_match(held, written[0]):
        return None
    return written[0]


def _stated_with_unit(question: Question, passages: tuple[Chunk, ...], value: Quantity) -> bool:
    """Whether a gold passage gives the number with its unit, beside it or in its table's head."""
    return any(
        matches(known.value, value) and not known.value.bare
        for chunk in passages
        if chunk.chunk_id in question.gold_source_ids
        for sentence in read_passage(chunk).sentences
        for known in sentence.values
    )


def _replaced(text: str, value: Quantity, written: float) -> str | None:
    """`text` with the digits of one number exchanged, in the grouping of the original."""
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", value.text)
    if digits is None:
        return None
    comma = "," if "," in digits[0] else ""
    new = f"{written:{comma}.{value.decimals}f}"
    if new == digits[0] or float(new.replace(",", "")) == 0:
        return None
    start = value.start + digits.start()
    return text[:start] + new + text[start + len(digits[0]) :]


def _new_values(question: Question, changed: str) -> list[Quantity]:
    old = parse_values(question.gold_answer)
    return [value for value in parse_values(changed) if not any_match(old, value, 1e-9)]


def _other_year(values: Sequence[Dated], gold: Quantity) -> Quantity | None:
    """The number beside the gold one in its sentence that is for another year."""
    mine = next((d for d in values if matches(d.value, gold) and len(d.years) == 1), None)
    if mine is None:
        return None
    for other in values:
        alike = other.value.unit == mine.value.unit and other.value.scale == mine.value.scale
        elsewhen = len(other.years) == 1 and other.years != mine.years
        if alike and elsewhen and not matches(other.value, gold):
            return other.value
    return None


def _stem(answer: str) -> str:
    return answer.strip().rstrip(".")


def _cite_gold(question: Question, passages: tuple[Chunk, ...]) -> str:
    shown = [chunk.chunk_id for chunk in passages]
    return _cite([chunk_id for chunk_id in question.gold_source_ids if chunk_id in shown])


def _cite(chunk_ids: Sequence[str]) -> str:
    return "".join(f"[{chunk_id}]" for chunk_id in chunk_ids)
