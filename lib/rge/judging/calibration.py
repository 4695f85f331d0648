"""Calibration: whether the confidence of an answer fits what its passages allow."""

from __future__ import annotations

import re

from rge.judging.case import Case, scored
from rge.records import DimensionScore, Score
from rge.text.abstention import is_remark
from rge.text.claims import split_sentences

_HEDGE = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|probably|likely|appears?|seems?|unclear|uncertain"
    r"|unsure"
    r"|i (?:think|believe|guess|suppose|assume)|not (?:entirely |completely |fully )?(?:sure"
    r"|certain"
    r"|clear)|cannot be (?:sure|certain)|it is possible|presumably|supposedly|my best|caution"
    r"|should be verified|treat this|can't be certain|tentative\w*)\b",
    re.IGNORECASE,
)
_EXCERPT = 160


def n_hedges(text: str) -> int:
    """How many expressions of doubt the text holds ("about" rounds, it does not doubt)."""
    return len(_HEDGE.findall(text))


def calibrate(case: Case, correctness: Score, core_supported: bool) -> DimensionScore:
    """The calibration score of a response by the rubric.

    Parameters
    ----------
    case
        The response with question and passages.
    correctness
        Score of the correctness dimension by the same judge.
    core_supported
        Whether the passages hold the main claim: an answer that was found in them was warranted,
        even where the gold chunks were not retrieved.
    """
    answerable = case.question.expected_behavior != "abstain" and case.gold_in_context != "none"
    if case.question.expected_behavior != "abstain" and correctness == 2 and core_supported:
        answerable = True
    evidence = _evidence(case, answerable)
    if case.abstained == "refused":
        return _refused(case, answerable, evidence)
    hedges = n_hedges(case.response.text)
    if not answerable:
        if case.abstained == "undetermined":
            return scored(1, evidence, "neither an answer nor an abstention")
        if hedges:
            return scored(1, evidence, "a hedged answer where the passages hold none")
        return scored(0, evidence, "a confident answer where the passages hold none")
    if case.question.expected_behavior == "partial":
        return _partial(case, evidence)
    if correctness < 2:
        return scored(1, evidence, "too sure of an answer that is not right")
    if hedges >= 2:
        return scored(1, evidence, f"right, but wrapped in {hedges} expressions of doubt")
    return scored(2, evidence, "plain where the passages give the answer")


def _refused(case: Case, answerable: bool, evidence: str) -> DimensionScore:
    if not answerable:
        return scored(2, evidence, "abstains where the passages hold no answer")
    if case.question.expected_behavior == "partial" or case.gold_in_context == "some":
        return scored(1, evidence, "abstains wholly where the passages hold a part of the answer")
    return scored(0, evidence, "refuses a question that the passages answer")


def _partial(case: Case, evidence: str) -> DimensionScore:
    sentences = [sentence.text for sentence in split_sentences(case.response.text)]
    if any(is_remark(sentence) for sentence in sentences):
        return scored(2, evidence, "answers a part and leaves the rest open")
    return scored(1, evidence, "answers without saying what the passages leave open")


def _evidence(case: Case, answerable: bool) -> str:
    """A slice that shows whether the passages hold the answer: a gold quote, or the gold answer."""
    if answerable:
        for quote in case.question.gold_quotes:
            for chunk in case.passages:
                if quote.quote in chunk.text:
                    return quote.quote
    return case.question.gold_answer[:_EXCERPT]
