"""The question set and how hard its retrieval is, as tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rge.display import joined, rate
from rge.figures import GREY, LIGHT, PALETTE, STRATUM_NAMES
from rge.records import CATEGORIES, Question, Retrieval
from rge.validation.report import ValidationReport
from rge.validation.sets import BOTH, DISTRACTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ASKS = {
    "direct": "one chunk holds the answer",
    "multihop": "two chunks or more are needed",
    "adversarial": "the passages also hold a wrong value",
    "ood": "no chunk holds the answer",
}
_SHADES = {"all": PALETTE[2], "some": PALETTE[4], "none": LIGHT}


def taxonomy(questions: Sequence[Question]) -> pd.DataFrame:
    """One row per category that has questions, and a last one over all.

    Columns: category, what it asks for, questions, companies, with a gold number, and how many are
    easy, medium and hard.
    """
    rows = []
    for name in (*_present(questions), "all"):
        chosen = [q for q in questions if name in (q.category, "all")]
        levels = Counter(question.difficulty for question in chosen)
        rows.append(
            {
                "category": STRATUM_NAMES.get(name, name),
                "asks": _ASKS.get(name, ""),
                "questions": len(chosen),
                "companies": len({question.company for question in chosen}),
                "with_a_gold_number": sum(bool(question.gold_values) for question in chosen),
                "easy": levels["easy"],
                "medium": levels["medium"],
                "hard": levels["hard"],
            }
        )
    return pd.DataFrame(rows)


def examples(questions: Sequence[Question]) -> pd.DataFrame:
    """The first question of each category with its gold, its quotes and its distractors."""
    rows = []
    for name in _present(questions):
        question = next(q for q in questions if q.category == name)
        rows.append(
            {
                "category": STRATUM_NAMES.get(name, name),
                "question": question.text,
                "gold_answer": _short(question.gold_answer),
                "quotes": _short(
                    "; ".join(f"“{_short(q.quote, 90)}”" for q in question.gold_quotes)
                ),
                "distractors": _short("; ".join(d.value for d in question.distractors)),
            }
        )
    return pd.DataFrame(rows)


def companies(questions: Sequence[Question]) -> pd.DataFrame:
    """One row per company: questions, of each category, and of each year asked about."""
    years = sorted({question.fy for question in questions})
    rows = []
    for name in sorted({question.company for question in questions}):
        own = [question for question in questions if question.company == name]
        kinds = Counter(question.category for question in own)
        asked = Counter(question.fy for question in own)
        rows.append(
            {
                "company": name,
                "questions": len(own),
                **{STRATUM_NAMES.get(kind, kind): kinds[kind] for kind in CATEGORIES},
                **{year: asked[year] for year in years},
            }
        )
    return pd.DataFrame(rows)


def retrieval(
    questions: Sequence[Question],
    retrievals: Sequence[Retrieval],
    report: ValidationReport | None = None,
) -> pd.DataFrame:
    """One row per category with gold: how many questions have all, some or none of it shown.

    With a report that looked at passages, the last column counts questions whose passages hold a
    distractor; None for categories that declare none.
    """
    context = {found.question_id: found.gold_in_context for found in retrievals}
    distracted = None if report is None else _held(report, DISTRACTED)
    rows = []
    for name in _present(questions):
        if name == "ood":
            continue
        counts = Counter(context[q.id] for q in questions if q.category == name)
        rows.append(
            {
                "category": STRATUM_NAMES.get(name, name),
                "questions": counts.total(),
                "all": counts["all"],
                "some": counts["some"],
                "none": counts["none"],
                "with_a_distractor": distracted if name == "adversarial" else None,
            }
        )
    columns = ["category", "questions", "all", "some", "none"]
    if report is not None:
        columns.append("with_a_distractor")
    # Whole numbers stay whole beside a missing one.
    return pd.DataFrame(rows, columns=columns).astype({name: "Int64" for name in columns[5:]})


def draw_retrieval(ax: Axes, table: pd.DataFrame) -> Axes:
    """One bar per category: shares of questions with all, some and none of their gold shown."""
    for row, (_, line) in enumerate(table.iterrows()):
        left = 0.0
        for kind, color in _SHADES.items():
            share = line[kind] / line["questions"]
            ax.barh(row, share, left=left, height=0.6, color=color)
            if line[kind]:
                ax.text(left + share / 2, row, f"{kind} {line[kind]}", ha="center", va="center")
            left += share
    ax.set_yticks(
        range(len(table)),
        [f"{c} ({n})" for c, n in zip(table.category, table.questions, strict=True)],
    )
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of questions by how much of their gold is shown")
    return ax


def draw_similarity(
    ax: Axes, questions: Sequence[Question], retrievals: Sequence[Retrieval]
) -> Axes:
    """Cosine similarity of each question to its nearest passage; a line marks the median."""
    nearest = {found.question_id: 1 - found.distances[0] for found in retrievals}
    names = _present(questions)
    for row, name in enumerate(names):
        points = sorted(nearest[q.id] for q in questions if q.category == name)
        # Spread over the height of the row by rank, so that equal values do not hide each other.
        offsets = [0.5 * ((i * 0.618) % 1) - 0.25 for i in range(len(points))]
        ax.plot(points, row + np.array(offsets), "o", markersize=3.5, color=PALETTE[0], alpha=0.7)
        ax.vlines(float(np.median(points)), row - 0.35, row + 0.35, color=GREY)
    ax.set_yticks(range(len(names)), [STRATUM_NAMES.get(name, name) for name in names])
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.set_xlabel("cosine similarity of the question to its nearest passage")
    return ax


def checks(report: ValidationReport) -> pd.DataFrame:
    """One row per check: for how many of the questions it concerns it holds, and what remains."""
    return pd.DataFrame(report.rows())


def faults(report: ValidationReport, *, required: bool = True) -> pd.DataFrame:
    """One row per failure of a required check, or of one that is only reported."""
    rows = [
        {"check": check.name, "question": fault.id, "problem": fault.message}
        for check in report.checks
        if check.required == required
        for fault in check.faults
    ]
    nothing = [{"check": "all", "question": "none", "problem": "none"}]
    return pd.DataFrame(rows or nothing)


def values(
    questions: Sequence[Question], table: pd.DataFrame, report: ValidationReport
) -> dict[str, Any]:
    """Numbers that the paper reads, by name."""
    counts = Counter(question.category for question in questions)
    shown = {f"n_gold_{kind}": int(table[kind].sum()) for kind in ("all", "some", "none")}
    found: dict[str, Any] = {
        "n_questions": len(questions),
        **{f"n_{name}": counts[name] for name in CATEGORIES},
        "n_companies": len({question.company for question in questions}),
        "n_answerable": int(table["questions"].sum()),
        **shown,
        "n_required_failures": report.n_failed,
    }
    for key, name in (("n_distracted", DISTRACTED), ("n_gold_and_distractor", BOTH)):
        if (held := _held(report, name)) is not None:
            found[key] = held
    return found


def answer(found: dict[str, Any]) -> str:
    """One paragraph: is the set sound, and how hard is its retrieval."""
    counts = [f"{found[f'n_{n}']} {STRATUM_NAMES.get(n, n)}" for n in CATEGORIES if found[f"n_{n}"]]
    sound = (
        "Every required check holds."
        if not found["n_required_failures"]
        else f"Required checks fail {found['n_required_failures']} times; see the table."
    )
    text = (
        f"{found['n_questions']} questions ({joined(counts)}). {sound} The passages hold all gold "
        f"for {rate(found['n_gold_all'], found['n_answerable'])} of the questions that have any "
        f"and some of it for {found['n_gold_some']} more."
    )
    if found["n_adversarial"]:
        text += (
            " A distractor stands in the passages of "
            f"{rate(found['n_distracted'], found['n_adversarial'])} adversarial questions, beside "
            f"the gold in {rate(found['n_gold_and_distractor'], found['n_adversarial'])}."
        )
    return text


def _held(report: ValidationReport, name: str) -> int | None:
    """For how many questions a check holds; None where the report has no such check."""
    return next((c.n - len(c.failed) for c in report.checks if c.name == name), None)


def _present(questions: Sequence[Question]) -> list[str]:
    found = {question.category for question in questions}
    return [name for name in CATEGORIES if name in found]


def _short(text: str, limit: int = 220) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
