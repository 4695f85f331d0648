"""Unit tests of judges: answers whose scores follow from the rubrics, stored as data.

A test names the scores an expert would accept. Any judge of a profile can be measured with them;
they enter no result of a study.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import model_validator

from rge.errors import RgeError
from rge.judging.case import Case, Outcome
from rge.judging.families import assert_cross_family
from rge.judging.plain_case import UNKNOWN, Behavior, PlainPassage, plain_case
from rge.judging.run import Judge, outcomes
from rge.records import DIMENSIONS, GoldValue, NonEmpty, Record, Score
from rge.store import read_jsonl
from rge.text.abstention import Abstention

FAMILY = "construction"
FOLDER = Path("data/judge_tests")
Dimension = Literal["correctness", "grounding", "calibration", "faithfulness"]
Accepted = Score | tuple[Score, ...] | Literal["unscored"] | None
NO_SCORE = "unscored"


class Conditions(Record):
    """What must hold besides the scores; None is not tested.

    Of `unsupported_claims` and `contradictions` each text must stand in one of the judge's quotes;
    an empty list means that the judge may quote nothing.
    """

    abstained: Abstention | None = None
    unsupported_claims: tuple[str, ...] | None = None
    contradictions: tuple[str, ...] | None = None


class JudgeTest(Record):
    """One answer with the scores that the rubrics give it.

    `expected` has, by dimension, a score, the scores that can be defended, "unscored" where there
    is nothing to score it by, or null where the test says nothing about it. `dimensions` are those
    that it says something about.
    """

    id: NonEmpty
    dimensions: tuple[Dimension, ...]
    company: NonEmpty = UNKNOWN
    fy: NonEmpty = UNKNOWN
    question: NonEmpty
    gold_answer: NonEmpty
    gold_values: tuple[GoldValue, ...] = ()
    gold_quotes: tuple[NonEmpty, ...] = ()
    passages: tuple[PlainPassage, ...] = ()
    answer: NonEmpty
    expected_behavior: Behavior
    expected: dict[Dimension, Accepted]
    conditions: Conditions = Conditions()
    why: NonEmpty

    @model_validator(mode="after")
    def _says_something(self) -> JudgeTest:
        if tuple(self.expected) != DIMENSIONS:
            raise ValueError(f"expected needs the keys {', '.join(DIMENSIONS)}, in this order")
        told = tuple(name for name, score in self.expected.items() if score is not None)
        if self.dimensions != told:
            raise ValueError(f"dimensions are {', '.join(told)} by what is expected")
        return self

    @property
    def topic(self) -> str:
        """What stands before the number of its id."""
        return self.id.rpartition("-")[0]

    @cached_property
    def case(self) -> Case:
        return plain_case(
            self.id,
            self.question,
            self.gold_answer,
            self.answer,
            subject="judge-tests",
            expected_behavior=self.expected_behavior,
            passages=self.passages,
            gold_quotes=self.gold_quotes,
            gold_values=self.gold_values,
            company=self.company,
            fy=self.fy,
        )


@dataclass(frozen=True)
class Check:
    """One expectation of a test and what a judge gave; `what` is a dimension or a condition."""

    test: JudgeTest
    what: str
    expected: str
    obtained: str
    passed: bool


def read_judge_tests(folder: Path) -> list[JudgeTest]:
    """The tests of every `*.jsonl` in `folder`, one topic a file, in file and line order.

    Raises
    ------
    RgeError
        On a line that is no test, an id that stands twice or in a file of another topic, or where
        there are none.
    """
    tests: list[JudgeTest] = []
    for path in sorted(folder.glob("*.jsonl")):
        found = read_jsonl(path, JudgeTest, key=lambda test: test.id)
        for line, test in enumerate(found, 1):
            if test.topic != path.stem:
                raise RgeError(
                    f"{path}:{line}",
                    f"id {test.id}",
                    allowed=f"ids of this file are {path.stem}-NN",
                    do="rename it",
                )
        tests += found
    if not tests:
        raise RgeError(folder, "holds no judge tests", allowed="*.jsonl, one test a line")
    return tests


def run_judge_tests(
    tests: Sequence[JudgeTest], name: str, family: str, judge: Judge
) -> list[Check]:
    """Every expectation of every test against what the judge gives.

    Parameters
    ----------
    tests
        From `read_judge_tests`.
    name, family
        Of the judge; no judge may be of the tests' own family.
    judge
        From `open_judge`; a paid one is asked through its budget and its replies are kept.
    """
    assert_cross_family(FAMILY, family)
    cases = {test.id: test.case for test in tests}
    found = {
        case.response.question_id: outcome
        for case, outcome in outcomes(judge, list(cases.values()), f"judge-tests.by-{name}")
    }
    return [check for test in tests for check in check_outcome(test, found[test.id])]


def check_outcome(test: JudgeTest, outcome: Outcome) -> list[Check]:
    """The expectations of one test against one outcome."""
    checks = []
    for name in test.dimensions:
        accepted, obtained = test.expected[name], _obtained(outcome, name)
        allowed = [str(score) for score in accepted] if isinstance(accepted, tuple) else None
        allowed = allowed or [str(accepted)]
        given = NO_SCORE if obtained.startswith(NO_SCORE) else obtained
        checks.append(Check(test, name, " or ".join(allowed), obtained, given in allowed))
    wanted = test.conditions
    if wanted.abstained is not None:
        said = test.case.abstained
        checks.append(Check(test, "abstained", wanted.abstained, said, said == wanted.abstained))
    for what in ("unsupported_claims", "contradictions"):
        texts = getattr(wanted, what)
        if texts is not None:
            quotes = getattr(outcome.verdict, what) if outcome.verdict else None
            checks.append(_quotes(test, what, texts, quotes))
    return checks


def _obtained(outcome: Outcome, name: str) -> str:
    if outcome.verdict is None:
        return f"{NO_SCORE}: {outcome.unscored_reason}"
    dimension = getattr(outcome.verdict, name)
    if dimension.score is None:
        return f"{NO_SCORE}: {dimension.unscored_reason}"
    return str(dimension.score)


def _quotes(
    test: JudgeTest, what: str, texts: Sequence[str], quotes: Sequence[str] | None
) -> Check:
    expected = " + ".join(f"has {text!r}" for text in texts) or "none"
    if quotes is None:
        return Check(test, what, expected, NO_SCORE, False)
    held = all(any(text in quote for quote in quotes) for text in texts)
    passed = held if texts else not quotes
    return Check(test, what, expected, " + ".join(map(repr, quotes)) or "none", passed)
