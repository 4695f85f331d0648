"""One row per planned response, with both judges' scores; nothing planned is ever missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from rge.errors import RgeError
from rge.records import DIMENSIONS, Judgement, Question, Response, Retrieval

SHORT = dict(zip(DIMENSIONS, ("c", "g", "k", "f"), strict=True))
GFS_MEASURES = ("gfs_primary", "gfs_equal")
DIMENSION_MEASURES = ("c", "g", "k", "f")
MAXIMUM = {**dict.fromkeys(GFS_MEASURES, 1.0), **dict.fromkeys(DIMENSION_MEASURES, 2.0)}
WEIGHTS_PRIMARY = {"g": 0.40, "c": 0.35, "k": 0.25}

_NO_RESPONSE = ("missing", "error", "refused_by_provider")
_OUTCOMES = ("scored", "unscored", "refused", "error", "missing")


def score_table(
    questions: Iterable[Question],
    responses: Iterable[Response],
    judgements: Iterable[Judgement],
    retrievals: Iterable[Retrieval],
    *,
    runs: Mapping[str, int] | None = None,
    n_judges: int = 2,
) -> pd.DataFrame:
    """Scores of every planned response.

    Parameters
    ----------
    questions, responses, judgements, retrievals
        Records of one run of the study.
    runs
        Subject to planned runs a question, in the order subjects are listed everywhere. A planned
        response that does not exist is a row with status ``missing``. None takes what is there.
    n_judges
        Judges that must have scored a response before it has a mean.

    Returns
    -------
    DataFrame
        Sorted by subject (as in `runs`), question and run: `subject`, `question_id`, `run_index`,
        `category`, `company`, `fy`, `document`, `expected_behavior`, `gold_in_context`, `status`,
        `abstained`, `n_words`; per judge `c_<judge>`, `g_…`, `k_…`, `f_…`; their means `c`, `g`,
        `k`, `f` in [0, 2]; `gfs_primary` and `gfs_equal` in [0, 1]; `contested` and
        `contested_dimensions` (judges more than one point apart); `n_judges_scored`; `outcome`
        (scored, unscored, refused, error, missing) and `reason`, empty where scored. NaN is
        unscored.

    Raises
    ------
    RgeError
        A response or judgement that belongs to no question, to no planned run, or stands twice.
    """
    asked = {question.id: question for question in questions}
    given = _by_key(responses, asked)
    planned = dict(runs) if runs is not None else _observed_runs(given)
    rows = [
        _row(asked[question_id], subject, run_index, given.get((question_id, subject, run_index)))
        for subject, n_runs in planned.items()
        for question_id in sorted(asked)
        for run_index in range(n_runs)
    ]
    table = pd.DataFrame(rows)
    if not len(table):
        raise RgeError("score_table", "no response is planned", do="run the subjects first")
    keys = set(zip(table["question_id"], table["subject"], table["run_index"], strict=True))
    for key in given:
        if key not in keys:
            raise RgeError(f"response {key}", "is not planned", allowed=f"runs are {planned}")
    found = {retrieval.question_id: retrieval.gold_in_context for retrieval in retrievals}
    table["gold_in_context"] = table["question_id"].map(found)
    return _scored(table, list(judgements), n_judges)


def source_document(question: Question) -> str:
    """The document a question was written from: its first quote's, else its company and year."""
    if question.gold_quotes:
        return question.gold_quotes[0].doc_id
    return f"{question.company}-{question.fy}"


def denominators(table: pd.DataFrame, by: Sequence[str] = ("subject",)) -> pd.DataFrame:
    """Where every planned response went, and what the unscored ones could change.

    Parameters
    ----------
    table
        From `score_table`.
    by
        Columns that make the groups.

    Returns
    -------
    DataFrame
        One row per group in the order of the table: `n_planned` = `n_scored` + `n_unscored` +
        `n_refused` (by the provider) + `n_error` + `n_missing`; `unscored_reasons`; the mean
        `gfs_primary` of what is scored (NaN where nothing is) and its bounds `worst_case`,
        `best_case` with every other response counted as 0 and as 1.
    """
    rows = []
    for key, group in table.groupby(list(by), sort=False):
        counts = group["outcome"].value_counts()
        low, high = bounds(group, "gfs_primary")
        reasons = group.loc[group["outcome"] != "scored", "reason"].value_counts()
        rows.append(
            {
                **dict(zip(by, key, strict=True)),
                "n_planned": len(group),
                **{f"n_{outcome}": int(counts.get(outcome, 0)) for outcome in _OUTCOMES},
                "unscored_reasons": "; ".join(f"{reason} ({n})" for reason, n in reasons.items()),
                "gfs_primary": group["gfs_primary"].mean(),
                "worst_case": low,
                "best_case": high,
            }
        )
    return pd.DataFrame(rows)


def bounds(table: pd.DataFrame, measure: str) -> tuple[float, float]:
    """Mean of `measure` with every unscored response counted as 0, and as the maximum."""
    worst = table[measure].fillna(0.0).mean()
    best = table[measure].fillna(MAXIMUM[measure]).mean()
    return float(worst), float(best)


def contested(table: pd.DataFrame) -> pd.DataFrame:
    """Responses on which judges are more than one point apart, with each judge's scores."""
    per_judge = [name for name in table.columns if name[:2] in {"c_", "g_", "k_", "f_"}]
    key = ["subject", "question_id", "run_index", "category", "contested_dimensions"]
    chosen = table.loc[table["contested"], [*key, *per_judge]]
    return chosen.dropna(axis=1, how="all").reset_index(drop=True)


def judge_names(table: pd.DataFrame) -> list[str]:
    """Judges that have a column in the table, in order."""
    return [name.removeprefix("c_") for name in table.columns if name.startswith("c_")]


def _by_key(
    responses: Iterable[Response], asked: Mapping[str, Question]
) -> dict[tuple[str, str, int], Response]:
    given: dict[tuple[str, str, int], Response] = {}
    for response in responses:
        if response.question_id not in asked:
            raise RgeError(f"response {response.key}", "its question is not in the study")
        if response.key in given:
            raise RgeError(f"response {response.key}", "stands twice", allowed="one a key")
        given[response.key] = response
    return given


def _observed_runs(given: Mapping[tuple[str, str, int], Response]) -> dict[str, int]:
    runs: dict[str, int] = {}
    for _, subject, run_index in given:
        runs[subject] = max(runs.get(subject, 0), run_index + 1)
    return runs


def _row(
    question: Question, subject: str, run_index: int, response: Response | None
) -> dict[str, object]:
    return {
        "subject": subject,
        "question_id": question.id,
        "run_index": run_index,
        "category": question.category,
        "company": question.company,
        "fy": question.fy,
        "document": source_document(question),
        "expected_behavior": question.expected_behavior,
        "gold_in_context": None,
        "status": response.status if response else "missing",
        "abstained": response.abstained if response else None,
        "n_words": len(response.text.split()) if response else np.nan,
    }


def _scored(table: pd.DataFrame, judgements: list[Judgement], n_judges: int) -> pd.DataFrame:
    """The table with scores, GFS, contested flags, outcomes and reasons."""
    row_of = {
        key: row
        for row, key in enumerate(
            zip(table["question_id"], table["subject"], table["run_index"], strict=True)
        )
    }
    judges = sorted({judgement.judge for judgement in judgements})
    scores = np.full((len(table), len(judges), len(DIMENSIONS)), np.nan)
    reasons: list[list[str]] = [[] for _ in range(len(table))]
    judged = np.zeros((len(table), len(judges)), dtype=bool)
    for judgement in judgements:
        row, judge = row_of.get(judgement.key[:3]), judges.index(judgement.judge)
        if row is None:
            raise RgeError(f"judgement {judgement.key}", "belongs to no planned response")
        if judged[row, judge]:
            raise RgeError(f"judgement {judgement.key}", "stands twice", allowed="one a key")
        judged[row, judge] = True
        scores[row, judge] = _dimension_scores(judgement, reasons[row])
    scores[table["status"].isin(_NO_RESPONSE).to_numpy()] = np.nan
    expected = _expected_judges(table, judged)
    for row, judge in zip(*np.nonzero(expected & ~judged), strict=True):
        reasons[row].append(f"{judges[judge]}: no judgement")
    table = _with_scores(table, scores, judges)
    return _with_outcome(_with_means(table, scores, n_judges), reasons, n_judges)


def _dimension_scores(judgement: Judgement, reasons: list[str]) -> list[float]:
    """Scores in the order of DIMENSIONS, NaN where there is none; the reason goes to `reasons`."""
    if judgement.status == "unscored":
        reasons.append(f"{judgement.judge}: {judgement.unscored_reason}")
        return [np.nan] * len(DIMENSIONS)
    found = []
    for name in DIMENSIONS:
        dimension = getattr(judgement, name)
        found.append(np.nan if dimension.score is None else float(dimension.score))
        if dimension.score is None:
            reasons.append(f"{judgement.judge}, {name}: {dimension.unscored_reason}")
    return found


def _expected_judges(table: pd.DataFrame, judged: np.ndarray) -> np.ndarray:
    """A judge is expected on all responses of a subject when it judged any of them."""
    expected = np.zeros_like(judged)
    for rows in table.groupby("subject").indices.values():
        expected[rows] = judged[rows].any(axis=0)
    return expected


def _with_scores(table: pd.DataFrame, scores: np.ndarray, judges: list[str]) -> pd.DataFrame:
    per_judge = {
        f"{short}_{judge}": scores[:, j, d]
        for d, short in enumerate(SHORT.values())
        for j, judge in enumerate(judges)
    }
    return pd.concat([table, pd.DataFrame(per_judge, index=table.index)], axis=1)


def _with_means(table: pd.DataFrame, scores: np.ndarray, n_judges: int) -> pd.DataFrame:
    """Mean of the judges per dimension, both composites, and where judges are far apart."""
    enough = (~np.isnan(scores)).sum(axis=1) >= max(n_judges, 1)
    totals, counts = np.nansum(scores, axis=1), (~np.isnan(scores)).sum(axis=1)
    means = np.where(enough, totals / np.maximum(counts, 1), np.nan)
    lowest = np.where(np.isnan(scores), np.inf, scores).min(axis=1, initial=np.inf)
    highest = np.where(np.isnan(scores), -np.inf, scores).max(axis=1, initial=-np.inf)
    apart = (counts > 1) & (highest - lowest > 1)
    c, g, k = means[:, 0], means[:, 1], means[:, 2]
    return table.assign(
        **{short: means[:, d] for d, short in enumerate(SHORT.values())},
        gfs_primary=(0.40 * g + 0.35 * c + 0.25 * k) / 2,
        gfs_equal=(c + g + k) / 6,
        contested=apart.any(axis=1),
        contested_dimensions=[
            ", ".join(np.array(DIMENSIONS)[flags]) if flags.any() else "" for flags in apart
        ],
        n_judges_scored=(~np.isnan(scores[:, :, :3])).all(axis=2).sum(axis=1),
    )


def _with_outcome(table: pd.DataFrame, reasons: list[list[str]], n_judges: int) -> pd.DataFrame:
    names = {"missing": "missing", "error": "error", "refused_by_provider": "refused"}
    default = table["gfs_primary"].notna().map({True: "scored", False: "unscored"})
    outcome = table["status"].map(names).fillna(default)
    texts = []
    for row, how in enumerate(outcome):
        if how == "scored":
            texts.append("")
        elif how == "unscored":
            too_few = f"{table['n_judges_scored'].iloc[row]} of {n_judges} judges scored it"
            texts.append("; ".join(sorted(reasons[row])) or too_few)
        else:
            texts.append({"missing": "no response", "refused": "refused by provider"}.get(how, how))
    return table.assign(outcome=outcome, reason=texts)
