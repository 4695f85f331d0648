"""Where the spread of scores comes from: documents, questions, runs, judges."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rge.errors import UsageError

Floats = NDArray[np.float64]

SOURCES = ("document", "question", "run", "judge", "judge x question", "rest")


@dataclass(frozen=True)
class VarianceSplit:
    """Variance of one subject's scores, in squared score units.

    Attributes
    ----------
    within
        Mean variance over the runs of a question.
    between
        Variance between questions with the run noise taken out (never below 0).
    within_sd
        Square root of `within`.
    reliability
        Share of the variance of question means that is not run noise.
    n_questions, n_runs
        Questions used, and runs of each (the smallest number where it differs).
    reason
        Why `within` and what needs it are None; or, with `within` 0, that the subject is declared
        deterministic. Empty otherwise.
    components
        Variance per source, None where the data cannot tell it apart; see `decompose`.
    shares
        The same as shares of their sum, None where a component is.
    component_reasons
        Source to reason, for every None in `components` and every estimate cut off at 0.
    n_incomplete
        Questions left out of `components` because a run or a judge is missing.
    """

    within: float | None
    between: float | None
    within_sd: float | None
    reliability: float | None
    n_questions: int
    n_runs: int
    reason: str
    components: dict[str, float | None] = field(default_factory=dict)
    shares: dict[str, float | None] = field(default_factory=dict)
    component_reasons: dict[str, str] = field(default_factory=dict)
    n_incomplete: int = 0


def decompose(frame: pd.DataFrame, *, deterministic: bool = False) -> VarianceSplit:
    """Split the variance of one subject's scores.

    Parameters
    ----------
    frame
        One row per score: `question_id`, `run_index`, `value`, and where there are any
        `document` and `judge`. Rows whose `value` is NaN are unscored and left out.
    deterministic
        The subject is known to return the same text in every run, so that one run shows all the
        run noise there is: exactly 0.

    Returns
    -------
    VarianceSplit
        `within` and `between` average the judges first. `components` come from the crossed
        layout question x judge with runs nested in questions, by equating mean squares with
        their expectations; an estimate below 0 is cut off at 0 and named.

    Raises
    ------
    UsageError
        A column is missing, or a (question, run, judge) stands twice.

    References
    ----------
    Miller (2024), Adding error bars to evals, arXiv:2411.00640. Brennan (2001),
    Generalizability Theory, ch. 3. Searle, Casella, McCulloch (1992), Variance Components, ch. 3
    (unequal groups).
    """
    scored = _checked(frame)
    runs = scored.groupby(["question_id", "run_index"])["value"].mean()
    by_question = [group.to_numpy() for _, group in runs.groupby("question_id")]
    n_runs = min((len(group) for group in by_question), default=0)
    within, reason = _within(by_question, deterministic)
    between = None if within is None else _between(by_question, within)
    noise = None if within is None else within * np.mean([1 / len(g) for g in by_question])
    total = None if between is None or noise is None else between + noise
    components, reasons, n_incomplete = _components(scored, n_runs, deterministic)
    return VarianceSplit(
        within=within,
        between=between,
        within_sd=None if within is None else float(np.sqrt(within)),
        reliability=float(between / total) if between is not None and total else None,
        n_questions=len(by_question),
        n_runs=n_runs,
        reason=reason,
        components=components,
        shares=_shares(components),
        component_reasons=reasons,
        n_incomplete=n_incomplete,
    )


def run_standard_error(frame: pd.DataFrame, *, deterministic: bool = False) -> float | None:
    """Standard error of the overall mean that comes from run noise alone.

    Columns as in `decompose`. None when run noise cannot be seen (one run of a subject that is
    not known to be deterministic).
    """
    runs = _checked(frame).groupby(["question_id", "run_index"])["value"].mean()
    groups = [group.to_numpy() for _, group in runs.groupby("question_id")]
    if deterministic and groups and all(len(g) == 1 for g in groups):
        return 0.0
    if not groups or any(len(g) < 2 for g in groups):
        return None
    return float(np.sqrt(sum(_variance(g) / len(g) for g in groups)) / len(groups))


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    missing = {"question_id", "run_index", "value"} - set(frame.columns)
    if missing:
        raise UsageError(
            "decompose",
            f"no column {', '.join(sorted(missing))}",
            allowed="question_id, run_index, value and optionally document and judge",
        )
    scored = frame[frame["value"].notna()]
    key = ["question_id", "run_index", *(["judge"] if "judge" in frame else [])]
    if scored.duplicated(key).any():
        twice = scored.loc[scored.duplicated(key), key].iloc[0].tolist()
        raise UsageError(
            "decompose", f"{twice} stands twice", allowed="one subject, one row a score"
        )
    return scored.sort_values(key)


def _variance(values: Floats) -> float:
    """Sample variance that is exactly 0 for equal values, whatever their binary fraction."""
    return float(np.var(values - values[0], ddof=1))


def _within(by_question: list[Floats], deterministic: bool) -> tuple[float | None, str]:
    if not by_question:
        return None, "no scored response"
    repeated = [group for group in by_question if len(group) > 1]
    if repeated:
        return float(np.mean([_variance(group) for group in repeated])), ""
    if deterministic:
        return 0.0, "one run: the subject is declared deterministic"
    return None, "one run a question shows no run noise"


def _between(by_question: list[Floats], within: float) -> float | None:
    if len(by_question) < 2:
        return None
    means = np.array([group.mean() for group in by_question])
    noise = within * float(np.mean([1 / len(group) for group in by_question]))
    return max(0.0, _variance(means) - noise)


def _components(
    scored: pd.DataFrame, n_runs: int, deterministic: bool
) -> tuple[dict[str, float | None], dict[str, str], int]:
    """Components of questions that have every run and every judge."""
    cube, documents, n_incomplete = _complete(scored, n_runs)
    n_questions, n_r, n_j = cube.shape
    if n_questions < 2:
        reason = "fewer than two questions with every run and judge"
        return dict.fromkeys(SOURCES, None), dict.fromkeys(SOURCES, reason), n_incomplete
    squares = _mean_squares(cube)
    raw: dict[str, float | None] = _solve(squares, n_questions, n_r, n_j, deterministic)
    reasons = {}
    if raw["run"] is None:
        reasons["run"] = "one run: its noise stays in the other components"
    if n_j == 1:
        reasons["judge"] = reasons["judge x question"] = "one judge"
    if n_r == 1 or n_j == 1:
        reasons["rest"] = "no replication is left to tell it apart"
    question = raw["question"] or 0.0
    raw["document"], why = _document(cube.mean(axis=(1, 2)), documents)
    if raw["document"] is None:
        reasons["document"] = why
    else:
        if raw["document"] > max(question, 0.0):
            raw["document"], reasons["document"] = max(question, 0.0), "cut off at all there is"
        raw["question"] = question - max(raw["document"], 0.0)
    for source, value in raw.items():
        if value is not None and value < 0:
            raw[source], reasons[source] = 0.0, "estimated below 0, cut off"
    return {source: raw[source] for source in SOURCES}, reasons, n_incomplete


def _complete(scored: pd.DataFrame, n_runs: int) -> tuple[Floats, list[object], int]:
    """Scores (question, run, judge) of the complete questions and the document of each."""
    frame = scored.assign(judge=scored.get("judge", ""))
    wide = frame.pivot(index=["question_id", "run_index"], columns="judge", values="value").dropna()
    place = wide.groupby("question_id").cumcount()
    n_complete = place.groupby("question_id").transform("size")
    chosen = wide[(n_complete >= max(n_runs, 1)) & (place < max(n_runs, 1))]
    names = chosen.index.unique("question_id")
    cube = chosen.to_numpy().reshape(len(names), max(n_runs, 1), wide.shape[1])
    documents: list[object] = [None] * len(names)
    if "document" in frame:
        documents = list(frame.groupby("question_id")["document"].first().loc[names])
    return cube, documents, frame["question_id"].nunique() - len(names)


def _mean_squares(cube: Floats) -> dict[str, float]:
    n_questions, n_r, n_j = cube.shape
    cube = cube - cube[0, 0, 0]  # a constant subject leaves exact zeros
    grand, by_question, by_judge = cube.mean(), cube.mean(axis=(1, 2)), cube.mean(axis=(0, 1))
    pair = cube.mean(axis=1) - by_question[:, None] - by_judge + grand
    moved = cube - cube[:, :1]  # and so do equal runs
    run = moved.mean(axis=2) - moved.mean(axis=(1, 2))[:, None]
    rest = moved - moved.mean(axis=1)[:, None, :] - run[:, :, None]

    def mean(total: float, freedom: int) -> float:
        return total / freedom if freedom else 0.0

    return {
        "question": mean(n_r * n_j * np.sum((by_question - grand) ** 2), n_questions - 1),
        "judge": mean(n_questions * n_r * np.sum((by_judge - grand) ** 2), n_j - 1),
        "pair": mean(n_r * np.sum(pair**2), (n_questions - 1) * (n_j - 1)),
        "run": mean(n_j * np.sum(run**2), n_questions * (n_r - 1)),
        "rest": mean(np.sum(rest**2), n_questions * (n_r - 1) * (n_j - 1)),
    }


def _solve(
    squares: dict[str, float], n_questions: int, n_r: int, n_j: int, deterministic: bool
) -> dict[str, float | None]:
    """Components from mean squares; with one run or one judge some cannot be told apart."""
    rest = squares["rest"]
    run: float | None = (squares["run"] - rest) / n_j
    if n_r == 1:
        run = 0.0 if deterministic else None
    noise = rest if n_r > 1 else 0.0
    pair = (squares["pair"] - noise) / n_r if n_j > 1 else None
    expected_pair = squares["pair"] if n_j > 1 else 0.0
    judge = (squares["judge"] - expected_pair) / (n_questions * n_r) if n_j > 1 else None
    from_runs = squares["run"] if n_r > 1 else 0.0
    overlap = from_runs + expected_pair - noise if n_j > 1 else from_runs
    question = (squares["question"] - overlap) / (n_r * n_j)
    return {
        "question": float(question),
        "run": None if run is None else float(run),
        "judge": None if judge is None else float(judge),
        "judge x question": None if pair is None else float(pair),
        "rest": float(rest) if n_r > 1 and n_j > 1 else None,
    }


def _document(means: Floats, documents: list[object]) -> tuple[float | None, str]:
    """Between-document variance of question means, groups of unequal size."""
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    if (codes < 0).any():
        return None, "no document is given"
    n, n_documents = len(means), len(names)
    if not 1 < n_documents < n:
        return None, "documents and questions cannot be told apart"
    sizes = np.bincount(codes)
    averages = np.bincount(codes, weights=means) / sizes
    inside = np.sum((means - averages[codes]) ** 2) / (n - n_documents)
    among = np.sum(sizes * (averages - means.mean()) ** 2) / (n_documents - 1)
    typical = (n - np.sum(sizes**2) / n) / (n_documents - 1)
    return float((among - inside) / typical), ""


def _shares(components: dict[str, float | None]) -> dict[str, float | None]:
    total = sum(value for value in components.values() if value is not None)
    return {
        source: value / total if value is not None and total > 0 else None
        for source, value in components.items()
    }
