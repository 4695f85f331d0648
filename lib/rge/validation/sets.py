"""Checks of the set as a whole: its numbers and spread, its retrieval, and likeness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rge.corpus_text import CorpusText, squeeze
from rge.records import Chunk, Question
from rge.validation.report import Check, Fault, check_each
from rge.validation.rules import CLOSE

ALIKE = 0.98  # cosine of two questions that ask nearly the same
DISTRACTED = "adversarial: passages hold a distractor"
BOTH = "adversarial: passages hold gold and a distractor"
AIM = 0.9  # share of adversarial questions that should show gold and a distractor together


def unique(questions: Sequence[Question]) -> list[Check]:
    ids = Counter(question.id for question in questions)
    texts: dict[str, list[str]] = {}
    for question in questions:
        texts.setdefault(_asked(question), []).append(question.id)

    def id_again(question: Question) -> str:
        n = ids[question.id]
        return f"id stands {n} times; give each question its own" if n > 1 else ""

    def text_again(question: Question) -> str:
        same = ", ".join(texts[_asked(question)])
        return f"asks the same words as {same}; reword or remove" if "," in same else ""

    return [
        check_each("id stands once", questions, id_again),
        check_each("text stands once", questions, text_again),
    ]


def _asked(question: Question) -> str:
    return squeeze(question.text).lower()


def planned_numbers(
    questions: Sequence[Question], planned: Mapping[str, int] | None
) -> list[Check]:
    n_of: Counter[str] = Counter(question.category for question in questions)
    checks = []
    if planned is not None:
        faults = tuple(
            Fault(name, f"{n_of[name]} questions of {n} planned; write {n - n_of[name]} more")
            for name, n in planned.items()
            if n_of[name] < n
        )
        total = f"{len(questions)} of {sum(planned.values())}"
        each = ", ".join(f"{name} {n_of[name]} of {n}" for name, n in planned.items())
        # A set whose documents are not here yet is a set in the making: its size is reported.
        required = all(question.status == "anchored" for question in questions)
        name = "planned number in each category"
        checks.append(Check(name, len(questions), faults, required, f"{total}; {each}"))
    if any(question.status == "unanchored" for question in questions):
        checks.append(
            check_each(
                "anchored: its documents are here",
                questions,
                lambda q: "unanchored: left out of studies" * (q.status == "unanchored"),
                required=False,
            )
        )
    return checks


def spread(
    questions: Sequence[Question], corpus: CorpusText, per_company: int | None
) -> list[Check]:
    """Companies and years are asked about evenly; levels of difficulty are told."""
    n_of = Counter(question.company for question in questions)
    asked = {(question.company, question.fy) for question in questions}
    fewest = per_company or 1
    years = corpus.years or {question.company: [] for question in questions}
    few = tuple(
        Fault(company, f"{n_of[company]} questions; at least {fewest} wanted")
        for company in years
        if n_of[company] < fewest
    )
    missing = tuple(
        Fault(company, f"no question about {fy}; ask about each of its years")
        for company, own in years.items()
        for fy in own
        if (company, fy) not in asked
    )
    required = per_company is not None
    counts = [n_of[company] for company in years]
    between = f"{min(counts)} to {max(counts)} a company" if counts else ""
    if required:
        between += f"; at least {fewest} planned"
    levels = Counter(question.difficulty for question in questions)
    spread = ", ".join(f"{levels[name]} {name}" for name in ("easy", "medium", "hard"))
    n = len(questions)
    return [
        Check("enough questions about each company", n, few, required, between),
        Check("each year of each company is asked about", n, missing, required),
        Check("difficulty is told", n, (), False, spread),
    ]


def retrieval(
    questions: Sequence[Question], corpus: CorpusText, passages: Mapping[str, Sequence[Chunk]]
) -> list[Check]:
    shown = {q.id: [chunk.chunk_id for chunk in passages.get(q.id, ())] for q in questions}
    adversarial = [q for q in questions if q.category == "adversarial"]
    answerable = [q for q in questions if q.category != "ood"]

    def no_gold(question: Question) -> str:
        found = set(shown[question.id]) & set(question.gold_source_ids)
        return "" if found else "no passage is a gold chunk"

    def no_distractor(question: Question) -> str:
        if any(corpus.rank_of(one, shown[question.id]) for one in question.distractors):
            return ""
        return (
            f"none of its {len(shown[question.id])} passages holds a declared distractor; declare "
            "a wrong value that they hold, or word the question nearer to it"
        )

    def not_both(question: Question) -> str:
        return no_gold(question) or no_distractor(question)

    both = sum(not not_both(question) for question in adversarial)
    detail = f"{both} of {len(adversarial)}; the aim is {AIM:.0%}" if adversarial else ""
    return [
        check_each("passages hold a gold chunk", answerable, no_gold, required=False),
        check_each(DISTRACTED, adversarial, no_distractor),
        check_each(
            BOTH,
            adversarial,
            not_both,
            required=False,
            detail=detail,
        ),
    ]


def closeness(questions: Sequence[Question], similarities: Mapping[str, float]) -> Check:
    ood = [question for question in questions if question.category == "ood"]
    values = sorted(similarities[question.id] for question in ood)

    def far(question: Question) -> str:
        near = similarities[question.id]
        if near >= CLOSE:
            return ""
        return f"its nearest passage is at cosine {near:.2f}, under {CLOSE}; ask what is nearer"

    detail = ""
    if values:
        detail = f"cosine {values[0]:.2f} to {values[-1]:.2f}, median {np.median(values):.2f}"
    return check_each("out-of-domain: passages are topically close", ood, far, detail=detail)


def likeness(questions: Sequence[Question], vectors: NDArray[np.float32]) -> Check:
    name = "no two questions alike"
    if len(questions) < 2:
        return Check(name, len(questions))
    cosines = vectors.astype(float) @ vectors.T.astype(float)
    np.fill_diagonal(cosines, -1)
    faults = tuple(
        Fault(q.id, f"cosine {row.max():.3f} to {questions[int(row.argmax())].id}")
        for q, row in zip(questions, cosines, strict=True)
        if row.max() >= ALIKE
    )
    one, other = np.unravel_index(cosines.argmax(), cosines.shape)
    detail = (
        f"closest pair {questions[one].id}, {questions[other].id}: cosine {cosines[one, other]:.3f}"
    )
    return Check(name, len(questions), faults, False, detail)
