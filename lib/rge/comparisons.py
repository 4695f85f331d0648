"""Pairwise tests of subjects, with what each could have detected beside it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from rge.bootstrap import cluster_codes, cluster_sums, standard_errors
from rge.display import p_value
from rge.estimates import CORRECT, DIGITS, question_facts, strata
from rge.paired import (
    adjust,
    detectable_difference,
    detectable_mean_difference,
    mcnemar,
    sign_flip,
)

OUTCOMES = (*CORRECT, "gfs_primary")
P_VALUES = ("p_exact", "p_mid_p", "p_by_question", "p_by_document")
COLUMNS = (
    *("stratum", "outcome", "a", "b", "exploratory", "n_pairs", "n_questions", "n_unscored"),
    *("difference", "n10", "n01", "odds_ratio", *P_VALUES, "detectable", "reason"),
)


@dataclass(frozen=True)
class _Pairs:
    """Outcomes of two subjects on the same questions and runs."""

    a: np.ndarray
    b: np.ndarray
    questions: np.ndarray
    documents: np.ndarray
    n_unscored: int


def pairwise_tests(
    table: pd.DataFrame, *, n_resamples: int, alpha: float = 0.05, rng: np.random.Generator
) -> pd.DataFrame:
    """Every pair of subjects compared overall and, as exploration, within each stratum.

    Parameters
    ----------
    table
        From `rge.tables.score_table`.
    n_resamples
        Sign flips of the permutation tests.
    alpha
        Two-sided level of a family of tests; `detectable` divides it by the number of pairs.
    rng
        Source of the flips.

    Returns
    -------
    DataFrame
        One row per stratum, outcome (``correct_both`` as registered, ``correct_mean``,
        ``gfs_primary``) and pair. `difference` is the mean of a - b. `p_exact` and `p_mid_p` are
        McNemar's at the level of (question, run); `p_by_question` and `p_by_document` flip the
        signs of whole questions and documents, so they hold when runs of a question, or questions
        on a document, are not independent. Each p-value has `…_bonferroni` and `…_holm` beside it,
        for the family of pairs of its row. `detectable` is the smallest difference found with
        80 % power. None is undefined, for the reason in `reason`.
    """
    facts = question_facts(table)
    subjects = list(table["subject"].unique())
    n_pairs = max(1, len(subjects) * (len(subjects) - 1) // 2)
    rows = []
    for stratum, chosen in strata(facts):
        part = table[table["question_id"].isin(facts.index[chosen])]
        for outcome in OUTCOMES:
            for a, b in combinations(subjects, 2):
                pairs = _pair_up(part, outcome, a, b)
                row = {"stratum": stratum, "outcome": outcome, "a": a, "b": b}
                row["exploratory"] = stratum != "overall"
                rows.append({**row, **_test(pairs, outcome, n_resamples, alpha / n_pairs, rng)})
    tests = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    tests = tests.where(tests.notna(), None)
    return _adjusted(tests)


def _outcome(table: pd.DataFrame, outcome: str) -> pd.Series:
    if outcome in CORRECT:
        return (table["c"] >= CORRECT[outcome]).astype(float).where(table["c"].notna())
    return table[outcome]


def _pair_up(table: pd.DataFrame, outcome: str, a: str, b: str) -> _Pairs:
    """Rows of both subjects side by side; one run meets all runs of the other."""
    frame = table.assign(value=_outcome(table, outcome))
    names = ["question_id", "run_index", "document", "value"]
    left, right = (frame.loc[frame["subject"] == who, names] for who in (a, b))
    key = ["question_id"]
    if left["run_index"].nunique() == right["run_index"].nunique():
        key.append("run_index")
    elif 1 not in (left["run_index"].nunique(), right["run_index"].nunique()):
        key.append("run_index")  # runs beyond the smaller number have no partner
    both = left.merge(right.drop(columns="document"), on=key, suffixes=("_a", "_b"))
    both = both.sort_values(key)
    scored = both.dropna(subset=["value_a", "value_b"])
    return _Pairs(
        a=scored["value_a"].to_numpy(float),
        b=scored["value_b"].to_numpy(float),
        questions=scored["question_id"].to_numpy(),
        documents=scored["document"].to_numpy(),
        n_unscored=len(both) - len(scored),
    )


def _test(
    pairs: _Pairs, outcome: str, n_resamples: int, alpha: float, rng: np.random.Generator
) -> dict[str, object]:
    n, n_questions = len(pairs.a), len(set(pairs.questions))
    row: dict[str, object] = {
        "n_pairs": n,
        "n_questions": n_questions,
        "n_unscored": pairs.n_unscored,
        "reason": "",
    }
    if not n:
        return {**row, "reason": "no pair is scored by both judges on both sides"}
    differences = pairs.a - pairs.b
    row["difference"] = round(float(differences.mean()), DIGITS)
    for name, clusters in (
        ("p_by_question", pairs.questions),
        ("p_by_document", pairs.documents),
    ):
        row[name] = sign_flip(differences, clusters, n_resamples=n_resamples, rng=rng).p_value
    if outcome in CORRECT:
        return {**row, **_mcnemar(pairs, n_questions, alpha)}
    return {**row, **_detectable_mean(pairs, alpha)}


def _mcnemar(pairs: _Pairs, n_questions: int, alpha: float) -> dict[str, object]:
    exact = mcnemar(pairs.a, pairs.b, method="exact")
    mid_p = mcnemar(pairs.a, pairs.b, method="mid-p")
    rate = (exact.n01 + exact.n10) / exact.n
    detectable = detectable_difference(n_questions, rate, alpha=alpha)
    reasons = []
    if exact.odds_ratio is None:
        reasons.append("no odds ratio: b is never right alone")
    if detectable is None:
        reasons.append(
            "no pair is discordant"
            if rate == 0
            else f"even a one-sided discordance of {rate:.2f} would be missed too often"
        )
    return {
        "n10": exact.n10,
        "n01": exact.n01,
        "odds_ratio": exact.odds_ratio,
        "p_exact": exact.p_value,
        "p_mid_p": mid_p.p_value,
        "detectable": None if detectable is None else round(detectable, 4),
        "reason": "; ".join(reasons),
    }


def _detectable_mean(pairs: _Pairs, alpha: float) -> dict[str, object]:
    """By the larger of the two clustered standard errors."""
    differences = (pairs.a - pairs.b).reshape(-1, 1)
    errors = []
    for clusters in (pairs.questions, pairs.documents):
        sums, sizes = cluster_sums(differences, cluster_codes(clusters, len(differences)))
        if len(sizes) > 1:
            errors.append(float(standard_errors(sums, sizes)[0]))
    if not errors or max(errors) == 0:
        return {"reason": "the differences do not vary"}
    return {"detectable": round(detectable_mean_difference(max(errors), alpha=alpha), 4)}


def _adjusted(tests: pd.DataFrame) -> pd.DataFrame:
    """P-values corrected within each family: the pairs of one stratum and outcome."""
    for name in P_VALUES:
        for method in ("bonferroni", "holm"):
            column = pd.Series(None, index=tests.index, dtype=object)
            for rows in tests.groupby(["stratum", "outcome"], sort=False).groups.values():
                adjusted = adjust(list(tests.loc[rows, name]), method=method)
                for row, value in zip(rows, adjusted, strict=True):
                    column[row] = value
            tests[f"{name}_{method}"] = column
    return tests


def comparison_values(tests: pd.DataFrame) -> dict[str, dict[str, dict[str, object]]]:
    """Tests of one stratum as result-file values: ``<a> minus <b>`` to outcome to numbers.

    An undefined number has its reason beside it.
    """
    values: dict[str, dict[str, dict[str, object]]] = {}
    for row in tests.to_dict("records"):
        numbers: dict[str, object] = {}
        for name in row.keys() - {"stratum", "outcome", "a", "b", "exploratory", "reason"}:
            numbers[str(name)] = row[name]
            if row[name] is None:
                binary = row["outcome"] in CORRECT
                numbers[f"{name}_reason"] = row["reason"] if binary else "for binary outcomes only"
        values.setdefault(f"{row['a']} minus {row['b']}", {})[row["outcome"]] = numbers
    return values


def in_words(tests: pd.DataFrame, *, alpha: float = 0.05) -> str:
    """One sentence a pair about the registered outcome, and which test carries it."""
    chosen = tests[(tests["stratum"] == "overall") & (tests["outcome"] == "correct_both")]
    sentences = []
    for row in chosen.to_dict("records"):
        p = row["p_by_question_holm"]
        if p is None:
            sentences.append(f"{row['a']} and {row['b']} cannot be compared ({row['reason']}).")
            continue
        better, worse = (row["a"], row["b"]) if row["difference"] >= 0 else (row["b"], row["a"])
        points = abs(100 * row["difference"])
        if p < alpha:
            text = f"{better} is fully correct {points:.0f} points more often than {worse}"
        else:
            text = f"{row['a']} and {row['b']} differ by {points:.0f} points, which may be chance"
        limit = row["detectable"]
        power = "" if limit is None else f"; found with 80 % power: {100 * limit:.0f} points"
        sentences.append(f"{text} (p {_relation(p)}{power}).")
    return " ".join(sentences)


def _relation(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"
