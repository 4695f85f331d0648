"""The estimates of a study: every mean and rate with its interval, from the score table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from rge.bootstrap import Floats
from rge.intervals import MeanMethod, RateMethod, mean_intervals, rate_interval
from rge.records import CATEGORIES, Estimate

MEASURES = ("gfs_primary", "gfs_equal", "c", "g", "k", "f", "answer_rate")
COMPARED = ("gfs_primary", "gfs_equal", "c", "g", "k", "f")
RATE_METHODS: tuple[RateMethod, ...] = ("wilson", "jeffreys")
CORRECT = {"correct_both": 2.0, "correct_mean": 1.5}
CONTEXTS = ("gold_all", "gold_some", "gold_none", "ood")

DIGITS = 10  # the last digits depend on the processor; results that are committed must not


def mean_estimates(
    table: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
    rng: np.random.Generator,
) -> list[Estimate]:
    """Mean of each measure per subject and stratum, and of each paired difference of subjects.

    Runs are averaged first, so that questions are the draws. Each mean stands three times: with
    questions resampled (BCa), and as ``…/by document`` with whole source documents resampled (BCa)
    and ``…/by document, t`` with the cluster-robust t interval, which keeps its level better when
    documents are few.

    Parameters
    ----------
    table
        From `rge.tables.score_table`.
    n_resamples, confidence_level
        As in `rge.intervals.mean_interval`.
    rng
        Source of all resamples.

    Returns
    -------
    list of Estimate
        Named ``<subject>/<stratum>/<measure>`` and ``<a> minus <b>/<stratum>/<measure>``.
        `n_responses` counts scored responses, `n_unscored` the planned ones without a score.
    """
    values, facts = question_means(table), question_facts(table)
    scored, planned = _counts(table)
    estimates: list[Estimate] = []
    layouts: tuple[tuple[str, MeanMethod, bool], ...] = (
        ("", "bca", False),
        ("/by document", "bca", True),
        ("/by document, t", "t", True),
    )
    for stratum, chosen in strata(facts):
        columns = with_differences(values[chosen])
        names = [f"{who}/{stratum}/{measure}" for who, measure in columns]
        n_questions = columns.notna().sum()
        totals = scored[chosen].sum().to_dict(), planned[chosen].sum().to_dict()
        for suffix, method, by_document in layouts:
            found = mean_intervals(
                columns.to_numpy(),
                facts.loc[chosen, "document"].to_numpy() if by_document else None,
                names=[name + suffix for name in names],
                method=method,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            )
            for estimate, column in zip(found, columns, strict=True):
                counts = {"n_questions": int(n_questions[column]), **_responses(*totals, column)}
                estimates.append(rounded(estimate.model_copy(update=counts)))
    return estimates


def rate_estimates(table: pd.DataFrame, *, confidence_level: float) -> list[Estimate]:
    """Shares per subject: correct answers by stratum, and abstention by what was retrieved.

    ``correct_both`` is the registered criterion (both judges gave 2), ``correct_mean`` the
    sensitivity criterion (mean of at least 1.5). ``refused`` is the share of responses that
    abstain; the two errors are ``false_refusal`` (all gold passages were shown and the subject
    refused) and ``missed_abstention`` (nothing shown holds the answer and the subject answered).
    Each stands with a Wilson and a Jeffreys interval; runs of a question are averaged first, so
    that n is the number of questions.
    """
    estimates: list[Estimate] = []
    facts = question_facts(table)
    for criterion, least in CORRECT.items():
        right = (table["c"] >= least).astype(float).where(table["c"].notna())
        for stratum, chosen in strata(facts):
            rows = table["question_id"].isin(facts.index[chosen])
            estimates += _rates(table, right, rows, f"{stratum}/{criterion}", confidence_level)
    context = context_of(table)
    refused, answered = _states(table)
    for name in CONTEXTS:
        estimates += _rates(table, refused, context == name, f"{name}/refused", confidence_level)
    hidden = context.isin(("gold_none", "ood"))
    shown = context == "gold_all"
    estimates += _rates(table, refused, shown, "false_refusal", confidence_level)
    estimates += _rates(table, answered, hidden, "missed_abstention", confidence_level)
    return estimates


def question_means(table: pd.DataFrame) -> pd.DataFrame:
    """Mean over scored runs: one row a question, columns (subject, measure), NaN where unscored."""
    answered = (table["abstained"] == "answered").astype(float)
    frame = table.assign(answer_rate=answered.where(table["abstained"].notna()))
    means = frame.groupby(["question_id", "subject"])[list(MEASURES)].mean()
    wide = means.unstack("subject").swaplevel(axis=1)
    subjects = table["subject"].unique()
    return wide[[(subject, measure) for subject in subjects for measure in MEASURES]]


def question_facts(table: pd.DataFrame) -> pd.DataFrame:
    """Category, document, expected behaviour and retrieval of each question, by question id."""
    names = ["category", "document", "expected_behavior", "gold_in_context"]
    return table.groupby("question_id")[names].first()


def strata(facts: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    """Names and question masks: overall, each category, and answerable questions by retrieval."""
    yield "overall", np.ones(len(facts), dtype=bool)
    for category in CATEGORIES:
        chosen = (facts["category"] == category).to_numpy()
        if chosen.any():
            yield category, chosen
    answerable = (facts["category"] != "ood").to_numpy()
    complete = (facts["gold_in_context"] == "all").to_numpy()
    for name, chosen in (
        ("gold retrieved", answerable & complete),
        ("gold not retrieved", answerable & ~complete),
    ):
        if chosen.any():
            yield name, chosen


def strata_names(table: pd.DataFrame, *, conditional: bool = True) -> list[str]:
    """Names of the strata of a score table; without those by retrieval unless `conditional`."""
    names = [name for name, _ in strata(question_facts(table))]
    return [name for name in names if conditional or not name.startswith("gold ")]


def with_differences(values: pd.DataFrame) -> pd.DataFrame:
    """`values` and, for each pair of subjects, the difference of each compared measure."""
    subjects = list(dict.fromkeys(values.columns.get_level_values(0)))
    differences = {
        (f"{a} minus {b}", measure): values[(a, measure)] - values[(b, measure)]
        for a, b in combinations(subjects, 2)
        for measure in COMPARED
    }
    return pd.concat([values, pd.DataFrame(differences, index=values.index)], axis=1)


def context_of(table: pd.DataFrame) -> pd.Series:
    """What was shown for each row: ``ood``, or ``gold_all``, ``gold_some``, ``gold_none``."""
    shown = "gold_" + table["gold_in_context"].fillna("unknown").astype(str)
    return shown.where(table["category"] != "ood", "ood")


def rounded(estimate: Estimate) -> Estimate:
    """The estimate with digits that are the same on every machine."""
    update = {
        name: round(number, DIGITS)
        for name in ("value", "low", "high")
        if (number := getattr(estimate, name)) is not None
    }
    return estimate.model_copy(update=update)


def by_name(estimates: list[Estimate]) -> dict[str, Estimate]:
    """Estimates by their names."""
    return {estimate.name: estimate for estimate in estimates}


def _counts(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scored and planned responses: one row a question, columns as in `question_means`."""
    frame = table.assign(answer_rate=table["abstained"].notna().where(table["abstained"].notna()))
    groups = frame.groupby(["question_id", "subject"])[list(MEASURES)]
    scored = groups.count().unstack("subject").swaplevel(axis=1)
    planned = table.groupby(["question_id", "subject"]).size().unstack("subject")
    return scored, planned


def _responses(
    scored: Mapping[tuple[str, str], int], planned: Mapping[str, int], column: tuple[str, str]
) -> dict[str, int]:
    """Scored and unscored responses behind a column, both subjects' for a difference."""
    who, measure = column
    subjects = [who] if who in planned else who.split(" minus ")
    n_scored = sum(int(scored[(subject, measure)]) for subject in subjects)
    n_planned = sum(int(planned[subject]) for subject in subjects)
    return {"n_responses": n_scored, "n_unscored": n_planned - n_scored}


def _states(table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Refused and answered as 0 and 1, NaN where there is no answer text to read."""
    known = table["abstained"].notna() & table["status"].isin(("ok", "truncated"))
    refused = (table["abstained"] == "refused").astype(float).where(known)
    return refused, (table["abstained"] == "answered").astype(float).where(known)


def _rates(
    table: pd.DataFrame, values: pd.Series, rows: pd.Series, name: str, confidence_level: float
) -> list[Estimate]:
    """One rate per subject and method over the chosen rows."""
    estimates = []
    chosen = table.assign(value=values)[rows]
    for subject in table["subject"].unique():
        mine = chosen[chosen["subject"] == subject]
        means: Floats = mine.groupby("question_id")["value"].mean().dropna().to_numpy()
        for method in RATE_METHODS:
            found = rate_interval(
                round(float(means.sum()), DIGITS),
                len(means),
                method=method,
                confidence_level=confidence_level,
                name=f"{subject}/{name}" + ("" if method == "wilson" else f"/{method}"),
            )
            n_scored = int(mine["value"].notna().sum())
            update = {"n_responses": n_scored, "n_unscored": len(mine) - n_scored}
            estimates.append(rounded(found.model_copy(update=update)))
    return estimates
