"""How the runs of the subjects went: states, abstention, length and citations of their answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from rge.collected import Collected
from rge.display import rate
from rge.figures import subject_colors
from rge.profile import Profile
from rge.records import Response
from rge.store import read_json
from rge.subjects.reply import Status
from rge.text.citations import mask_citations, parse_citations
from rge.thresholds import thresholds_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
STATES: tuple[Status, ...] = ("ok", "truncated", "refused_by_provider", "error")
STANCES = ("answered", "refused", "undetermined", "no answer")
_SHADES = {"answered": 1.0, "refused": 0.55, "undetermined": 0.3, "no answer": 0.12}
_NAMES = {"answered": "answers", "refused": "abstains", "undetermined": "cannot be told"}


def outcomes(study: Collected) -> pd.DataFrame:
    """One row per subject: planned responses and how many ended in each state.

    Columns `subject`, `n_planned`, one `n_…` per state, and `n_missing`; planned is the sum of
    the others.
    """
    rows = []
    for subject, runs in study.runs.items():
        status = [response.status for response in _of(study, subject)]
        counts = {f"n_{state}": status.count(state) for state in STATES}
        n_planned = len(study.questions) * runs
        missing = {"n_missing": n_planned - len(status)}
        rows.append({"subject": subject, "n_planned": n_planned, **counts, **missing})
    return pd.DataFrame(rows)


def answers(study: Collected) -> pd.DataFrame:
    """One row per subject: what its answers look like, before anybody judges them.

    Answers are responses with text, whole or truncated. A citation is valid when it names a
    passage that was shown. Rates without a denominator are missing.

    Returns
    -------
    DataFrame
        `subject`, `n_answers`, `n_answered`, `n_refused`, `n_undetermined`, `words_median`
        (citations not counted), `n_citing` (answers with a valid citation), `n_citations`,
        `n_valid_citations`, `latency_s_median` (s), `input_tokens_median`, `cost_usd` (sum).
    """
    medians = ["words_median", "latency_s_median", "input_tokens_median"]
    # A column of nothing but None would not be numeric, and a missing median no longer NaN.
    return pd.DataFrame([_answer_row(study, s) for s in study.runs]).astype(
        dict.fromkeys(medians, float)
    )


def _answer_row(study: Collected, subject: str) -> dict[str, Any]:
    responses = _of(study, subject)
    texts = [r for r in responses if r.status in ("ok", "truncated")]
    cited = [
        parse_citations(r.text, [chunk.chunk_id for chunk in study.passages[r.question_id]])
        for r in texts
    ]
    n_valid = sum(len(one.valid) for one in cited)
    return {
        "subject": subject,
        "n_answers": len(texts),
        **{f"n_{s}": sum(r.abstained == s for r in texts) for s in STANCES[:3]},
        "words_median": _median([len(_WORD.findall(mask_citations(r.text))) for r in texts]),
        "n_citing": sum(bool(one.valid) for one in cited),
        "n_citations": n_valid + sum(len(one.unknown) for one in cited),
        "n_valid_citations": n_valid,
        "latency_s_median": _median([r.latency_s for r in texts if r.latency_s is not None]),
        "input_tokens_median": _median([r.usage.input for r in texts if r.usage.input is not None]),
        "cost_usd": sum(r.cost_usd for r in responses),
    }


def thresholds(profile: Profile) -> pd.DataFrame:
    """One row per reader: its threshold and how it does on the questions that chose it.

    A threshold the profile gives was chosen elsewhere and has no held-out figures.
    """
    path = thresholds_path(profile)
    chosen: Mapping[str, Any] = read_json(path) if path.exists() else {}
    rows = []
    for spec in profile.subjects:
        if not spec.kind.startswith("reader-"):
            continue
        entry = chosen.get(spec.name, {})
        given = spec.options.get("threshold")
        rows.append(
            {
                "subject": spec.name,
                "threshold": entry.get("threshold", given) if given is None else given,
                **{
                    name: None if given is not None else entry.get(name)
                    for name in ("balanced_accuracy", "n_answerable", "n_unanswerable")
                },
            }
        )
    columns = ["subject", "threshold", "balanced_accuracy", "n_answerable", "n_unanswerable"]
    return pd.DataFrame(rows, columns=columns)


def parameters(study: Collected) -> pd.DataFrame:
    """What was sent with the calls: one row a parameter, one column a subject.

    A parameter that was not the same in every response of a subject shows each value with the
    number of responses it was sent with; "–" is a parameter that a subject does not have.
    """
    sent = {
        subject: [{**r.params, "model returned": r.model_id} for r in _of(study, subject)]
        for subject in study.runs
    }
    names = dict.fromkeys(name for calls in sent.values() for call in calls for name in call)
    rows = []
    for name in names:
        row = {"parameter": name}
        for subject, calls in sent.items():
            counts = Counter(_written(call[name]) for call in calls if name in call)
            one = len(counts) == 1 and counts.total() == len(calls)
            shown = [value if one else f"{value} ({n})" for value, n in counts.most_common()]
            row[subject] = "; ".join(shown) or "–"
        rows.append(row)
    return pd.DataFrame(rows, columns=["parameter", *sent])


def _written(value: object) -> str:
    """A parameter as a table shows it; a hash by its first digits."""
    text = "not sent" if value is None else str(value)
    return text[:12] if re.fullmatch(r"[0-9a-f]{64}", text) else text


def stances(study: Collected) -> pd.DataFrame:
    """Responses of each subject (row) by what they do with the question (column).

    `no answer` are those refused by the provider, failed or missing.
    """
    table = answers(study).set_index("subject")[[f"n_{stance}" for stance in STANCES[:3]]]
    table.columns = pd.Index(STANCES[:3])
    planned = outcomes(study).set_index("subject")["n_planned"]
    return table.assign(**{"no answer": planned - table.sum(axis=1)})


def draw_stances(ax: Axes, counts: pd.DataFrame, subjects: Sequence[str]) -> Axes:
    """One bar per subject, cut into the counts of `stances`; each part says what it is."""
    colors = subject_colors(subjects)
    for row, subject in enumerate(subjects):
        left = 0
        for stance in STANCES:
            n = int(counts.loc[subject, stance])
            if n == 0:
                continue
            ax.barh(row, n, left=left, color=colors[subject], alpha=_SHADES[stance], height=0.6)
            text = f"{_NAMES.get(stance, stance)} {n}"
            ax.annotate(text, (left, row - 0.34), xytext=(1, 1), textcoords="offset points")
            left += n
    ax.set_yticks(range(len(subjects)), subjects)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(subjects) - 0.5, -0.7)
    ax.set_xlabel("responses")
    return ax


def _of(study: Collected, subject: str) -> list[Response]:
    """Responses of a subject to the study's questions within its planned runs."""
    asked = {question.id for question in study.questions}
    return [
        r
        for r in study.responses
        if r.subject == subject and r.question_id in asked and r.run_index < study.runs[subject]
    ]


def _median(values: Sequence[float]) -> float | None:
    return float(pd.Series(values).median()) if values else None


def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain values, None where a value is missing."""
    plain = table.astype(object).where(table.notna(), None)
    return plain.to_dict(orient="records")


def values(outcomes: pd.DataFrame) -> dict[str, int]:
    """Counts that the paper reads, by name: planned and stored responses, and failures."""
    n_planned, n_missing = int(outcomes["n_planned"].sum()), int(outcomes["n_missing"].sum())
    n_failed = int(outcomes["n_error"].sum() + outcomes["n_refused_by_provider"].sum())
    return {"n_planned": n_planned, "n_responses": n_planned - n_missing, "n_failed": n_failed}


def summary(outcomes: pd.DataFrame, answers: pd.DataFrame) -> str:
    """One paragraph: how many responses there are, and what each subject did with them."""
    counts = values(outcomes)
    sentences = [
        f"Of {counts['n_planned']} planned responses {counts['n_responses']} are stored and "
        f"{counts['n_failed']} of these hold no answer because the call failed or was refused."
    ]
    for row in answers.itertuples(index=False):
        sentences.append(
            f"`{row.subject}` abstains in {rate(row.n_refused, row.n_answers)} of its answers and "
            f"cites a shown passage in {rate(row.n_citing, row.n_answers)}."
        )
    return " ".join(sentences)
