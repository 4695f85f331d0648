"""Checks of a question set against the corpus it asks about, and how hard its retrieval is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rge.corpus_text import CorpusText, stands_in
from rge.gold_numbers import derivations
from rge.records import CATEGORIES, Chunk, Page, Question
from rge.validation.report import Check, Fault, ValidationReport
from rge.validation.rules import CLOSE, RULES
from rge.validation.sets import (
    ALIKE,
    closeness,
    likeness,
    planned_numbers,
    retrieval,
    spread,
    unique,
)

if TYPE_CHECKING:
    from rge.retrieval.index import Embedder, Index
    from rge.specs import PlannedSpec

__all__ = [
    "ALIKE",
    "CLOSE",
    "RULES",
    "Check",
    "Fault",
    "ValidationReport",
    "check_questions",
    "stands_in",
    "validate",
]


def check_questions(
    questions: Sequence[Question],
    index: Index,
    embedder: Embedder,
    *,
    top_k: int,
    planned: PlannedSpec | None = None,
    verbatim: bool = True,
) -> ValidationReport:
    """The report of `validate`, with all that an index and its embedder can tell.

    Parameters
    ----------
    questions
        With gold chunk ids.
    top_k
        Passages a question is shown.
    planned
        What the profile plans.
    verbatim
        As for `validate`.
    """
    vectors = embedder.encode([question.text for question in questions])
    ranking = index.exact_top_k(vectors, top_k)
    ids = [question.id for question in questions]
    shown = [[index.chunks[one] for one in found] for found in ranking.ids]
    return validate(
        questions,
        pages=index.pages,
        chunks=list(index.chunks.values()),
        passages=dict(zip(ids, shown, strict=True)),
        similarities={i: 1 - row[0] for i, row in zip(ids, ranking.distances, strict=True)},
        vectors=vectors,
        planned=None if planned is None else planned.by_category,
        per_company=None if planned is None else planned.per_company,
        verbatim=verbatim,
    )


def validate(
    questions: Sequence[Question],
    *,
    pages: Sequence[Page],
    chunks: Sequence[Chunk],
    passages: Mapping[str, Sequence[Chunk]] | None = None,
    similarities: Mapping[str, float] | None = None,
    vectors: NDArray[np.float32] | None = None,
    planned: Mapping[str, int] | None = None,
    per_company: int | None = None,
    verbatim: bool = True,
) -> ValidationReport:
    """The report on a question set.

    Parameters
    ----------
    questions
        With gold chunk ids. Those with status `unanchored` are counted, and checked as far as that
        needs no document.
    pages, chunks
        Of the corpus and its index.
    passages
        Retrieved chunks of each question id, in rank order; adds the checks on retrieval.
    similarities
        Cosine of each question id to its nearest chunk; adds the check that out-of-domain
        questions are topically close.
    vectors
        Unit vectors of the question texts, shape (n, dimension); adds the check on likeness.
    planned
        Questions wanted of each category; a smaller number is a failure.
    per_company
        Fewest questions about each company; given, they must also ask about each of its years.
    verbatim
        Whether gold quotes must stand verbatim on their page; False for gold texts that another
        tool extracted, where the shares are reported.

    Returns
    -------
    ValidationReport
    """
    corpus = CorpusText(pages, chunks)
    anchored = [question for question in questions if question.status == "anchored"]
    checks = [
        *unique(questions),
        *planned_numbers(questions, planned),
        *spread(questions, corpus, per_company),
        *_rules(questions, corpus, verbatim),
    ]
    if passages is not None:
        checks += retrieval(anchored, corpus, passages)
    if similarities is not None:
        checks.append(closeness(anchored, similarities))
    if vectors is not None:
        checks.append(likeness(questions, vectors))
    counts = Counter(question.category for question in questions)
    return ValidationReport(tuple(checks), {name: counts[name] for name in CATEGORIES})


def _rules(questions: Sequence[Question], corpus: CorpusText, verbatim: bool) -> list[Check]:
    checks = []
    for rule in RULES:
        concerned = [question for question in questions if rule.concerns(question)]
        faults = tuple(
            Fault(question.id, text)
            for question in concerned
            for text in rule.problems(question, corpus)
        )
        detail = ""
        if rule.name == "gold numbers follow from the quotes" and not faults:
            detail = _rules_found(concerned)
        required = verbatim or not rule.verbatim
        checks.append(Check(rule.name, len(concerned), faults, required, detail))
    return checks


def _rules_found(questions: Sequence[Question]) -> str:
    """How often each rule of arithmetic gives a gold number, the most frequent first."""
    found = Counter(one.rule for question in questions for one in derivations(question))
    return ", ".join(f"{n} {rule}" for rule, n in found.most_common())
