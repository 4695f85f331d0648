"""Checks of a question set against the corpus it asks about, and how hard its retrieval is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rge.corpus.chunk import holds
from rge.gold_numbers import follows_from_quotes
from rge.records import CATEGORIES, Chunk, Page, Question

ALIKE = 0.98  # cosine of two questions that ask nearly the same
Test = Callable[[Question], bool]


@dataclass(frozen=True)
class Check:
    """One line of the report.

    Attributes
    ----------
    name
        What holds for every question it concerns.
    n, failed
        Questions checked, and the ids of those for which it does not hold.
    required
        Whether the set is refused for it; otherwise it is only reported.
    detail
        A remark, such as the worst value found.
    """

    name: str
    n: int
    failed: tuple[str, ...]
    required: bool = True
    detail: str = ""

    @property
    def ok(self) -> bool:
        return not (self.required and self.failed)

    @property
    def result(self) -> str:
        """`holds`, `fails`, or `reported` where it is not required; `none` without questions."""
        if self.failed:
            return "fails" if self.required else "reported"
        return "holds" if self.n else "none"


@dataclass(frozen=True)
class ValidationReport:
    """The checks of a question set; `ok` when every required one holds for every question."""

    checks: tuple[Check, ...]
    n_by_category: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def n_failed(self) -> int:
        """Failures of required checks."""
        return sum(len(check.failed) for check in self.checks if check.required)

    def rows(self) -> list[dict[str, Any]]:
        """One row a check, for a table."""
        return [
            {
                "check": check.name,
                "questions": check.n,
                "hold": check.n - len(check.failed),
                "result": check.result,
                "detail": check.detail or _listed(check.failed),
            }
            for check in self.checks
        ]


def validate(
    questions: Sequence[Question],
    *,
    pages: Sequence[Page],
    chunks: Sequence[Chunk],
    passages: Mapping[str, Sequence[Chunk]] | None = None,
    vectors: NDArray[np.float32] | None = None,
    planned: Mapping[str, int] | None = None,
    verbatim: bool = True,
) -> ValidationReport:
    """The report on a question set.

    Parameters
    ----------
    questions
        With gold chunk ids.
    pages, chunks
        Of the corpus and its index.
    passages
        Retrieved chunks of each question id, in rank order; adds the checks on retrieval.
    vectors
        Unit vectors of the question texts, shape (n, dimension); adds the check on likeness.
    planned
        Questions wanted of each category; a smaller number is a failure.
    verbatim
        Whether gold quotes must stand verbatim on their page; False for gold texts that another
        tool extracted, where the shares are reported.

    Returns
    -------
    ValidationReport
    """
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    texts = {(page.doc_id, page.page): page.text for page in pages}
    checks = [
        *_counts(questions, planned),
        *_gold(questions, by_id, texts, verbatim),
        *_numbers(questions, verbatim),
        *_by_category(questions, by_id, texts, verbatim),
    ]
    if passages is not None:
        checks += _retrieval(questions, passages)
    if vectors is not None:
        checks.append(_alike(questions, vectors))
    counts = Counter(question.category for question in questions)
    return ValidationReport(tuple(checks), {name: counts[name] for name in CATEGORIES})


def stands_in(text: str, value: str) -> bool:
    """Whether a distractor's value stands in a text: verbatim, or with all its numbers.

    A table gives the unit of "₹4,512.30 crore" in its heading and the digits in its rows.
    """
    if holds(text, value):
        return True
    digits = re.findall(r"\d[\d,]*(?:\.\d+)?", value)
    return bool(digits) and all(
        re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", text) for number in digits
    )


def _check(
    name: str, questions: Sequence[Question], test: Test, *, required: bool = True, detail: str = ""
) -> Check:
    failed = tuple(question.id for question in questions if not test(question))
    return Check(name, len(questions), failed, required, detail)


def _counts(questions: Sequence[Question], planned: Mapping[str, int] | None) -> list[Check]:
    n_of: Counter[str] = Counter(question.category for question in questions)
    ids = Counter(question.id for question in questions)
    texts = Counter(" ".join(question.text.lower().split()) for question in questions)
    checks = [
        _check("id stands once", questions, lambda q: ids[q.id] == 1),
        _check(
            "text stands once", questions, lambda q: texts[" ".join(q.text.lower().split())] == 1
        ),
    ]
    if planned is not None:
        short = tuple(name for name, n in planned.items() if n_of[name] < n)
        detail = ", ".join(f"{name} {n_of[name]} of {n}" for name, n in planned.items())
        checks.append(Check("planned number in each category", len(questions), short, True, detail))
    return checks


def _gold(
    questions: Sequence[Question],
    by_id: Mapping[str, Chunk],
    texts: Mapping[tuple[str, int], str],
    verbatim: bool,
) -> list[Check]:
    answerable = [question for question in questions if question.category != "ood"]
    return [
        _check(
            "has gold quotes and gold chunks",
            answerable,
            lambda q: bool(q.gold_quotes and q.gold_source_ids),
        ),
        _check(
            "gold chunks are in the index",
            answerable,
            lambda q: all(chunk_id in by_id for chunk_id in q.gold_source_ids),
        ),
        _check(
            "gold quotes stand verbatim on their page",
            answerable,
            lambda q: all(holds(texts.get((g.doc_id, g.page), ""), g.quote) for g in q.gold_quotes),
            required=verbatim,
        ),
    ]


def _numbers(questions: Sequence[Question], required: bool) -> list[Check]:
    valued = [q for q in questions if q.gold_values and q.category != "ood"]
    return [
        _check(
            "gold numbers follow from the quotes", valued, follows_from_quotes, required=required
        )
    ]


def _by_category(
    questions: Sequence[Question],
    by_id: Mapping[str, Chunk],
    texts: Mapping[tuple[str, int], str],
    required: bool,
) -> list[Check]:
    of = {name: [q for q in questions if q.category == name] for name in CATEGORIES}
    corpus = "\n".join(texts.values())

    def no_chunk_holds_all(question: Question) -> bool:
        gold = [by_id[i].text for i in question.gold_source_ids if i in by_id]
        return not any(all(holds(text, q.quote) for q in question.gold_quotes) for text in gold)

    return [
        _check(
            "out-of-domain: no gold, abstention expected",
            of["ood"],
            lambda q: not (q.gold_source_ids or q.gold_quotes) and q.expected_behavior == "abstain",
        ),
        _check(
            "multihop: two gold chunks or more",
            of["multihop"],
            lambda q: len(q.gold_source_ids) >= 2,
            required=required,
        ),
        _check("multihop: no chunk holds all quotes", of["multihop"], no_chunk_holds_all),
        _check(
            "adversarial: distractors stand in the corpus",
            of["adversarial"],
            lambda q: (
                bool(q.distractors) and all(stands_in(corpus, d.value) for d in q.distractors)
            ),
        ),
    ]


def _retrieval(
    questions: Sequence[Question], passages: Mapping[str, Sequence[Chunk]]
) -> list[Check]:
    shown = {q.id: [chunk.text for chunk in passages.get(q.id, ())] for q in questions}
    gold_ids = {
        q.id: {c.chunk_id for c in passages.get(q.id, ())} & set(q.gold_source_ids)
        for q in questions
    }

    def distracted(question: Question) -> bool:
        return any(
            stands_in(text, d.value) for text in shown[question.id] for d in question.distractors
        )

    adversarial = [q for q in questions if q.category == "adversarial"]
    answerable = [q for q in questions if q.category != "ood"]
    return [
        _check(
            "passages hold a gold chunk", answerable, lambda q: bool(gold_ids[q.id]), required=False
        ),
        _check("adversarial: passages hold a distractor", adversarial, distracted, required=False),
        _check(
            "adversarial: passages hold gold and a distractor",
            adversarial,
            lambda q: bool(gold_ids[q.id]) and distracted(q),
            required=False,
        ),
    ]


def _alike(questions: Sequence[Question], vectors: NDArray[np.float32]) -> Check:
    cosines = vectors.astype(float) @ vectors.T.astype(float)
    np.fill_diagonal(cosines, -1)
    failed = tuple(q.id for q, row in zip(questions, cosines, strict=True) if row.max() >= ALIKE)
    if len(questions) < 2:
        return Check("no two questions alike", len(questions), ())
    one, other = np.unravel_index(cosines.argmax(), cosines.shape)
    detail = (
        f"closest pair {questions[one].id}, {questions[other].id}: cosine {cosines[one, other]:.3f}"
    )
    return Check("no two questions alike", len(questions), failed, False, detail)


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return ", ".join(ids[:5]) + more
