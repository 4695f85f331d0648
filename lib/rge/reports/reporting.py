"""The tables, result files and closing sentences of the statistics notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from rge import comparisons, ranking
from rge.comparisons import comparison_values
from rge.display import interval, number, p_value, undefined
from rge.estimates import CONTEXTS
from rge.ranking import Ranking
from rge.records import Estimate
from rge.variance import VarianceSplit

CONTEXT_LABELS = (
    ("gold_all", "all gold\npassages shown"),
    ("gold_some", "some shown"),
    ("gold_none", "none shown"),
    ("ood", "no answer\nin the corpus"),
)
MEASURE_NAMES = {
    "gfs_primary": "GFS",
    "gfs_equal": "GFS, equal weights",
    "c": "correctness",
    "g": "grounding",
    "k": "calibration",
    "f": "faithfulness",
    "answer_rate": "share answered",
}
_OUTCOME_NAMES = {
    "correct_both": "correct (both judges 2)",
    "correct_mean": "correct (mean ≥ 1.5)",
    "gfs_primary": "GFS",
}


REGISTERED_OUTCOME = "correct_both"


def denominator_rows(counts: pd.DataFrame) -> pd.DataFrame:
    """Counts and bounds per subject; columns of states that never occur are left out."""
    states = ["n_unscored", "n_refused", "n_error", "n_missing"]
    empty = [name for name in states if not counts[name].any()]
    table = counts.drop(columns=empty)
    if not (counts["unscored_reasons"] != "").any():
        table = table.drop(columns="unscored_reasons")
    names = {name: name.removeprefix("n_") for name in table.columns if name.startswith("n_")}
    return table.rename(columns={**names, "gfs_primary": "mean GFS"})


def score_rows(
    estimates: Mapping[str, Estimate],
    subjects: Sequence[str],
    splits: Mapping[str, VarianceSplit],
    *,
    stratum: str = "overall",
) -> pd.DataFrame:
    """One column per subject, best first, and one row per measure with its interval."""
    columns = {}
    for subject in sorted(
        subjects, key=lambda s: -(estimates[f"{s}/{stratum}/gfs_primary"].value or 0.0)
    ):
        found = {name: estimates[f"{subject}/{stratum}/{name}"] for name in MEASURE_NAMES}
        score = found["gfs_primary"]
        by_document = estimates[f"{subject}/{stratum}/gfs_primary/by document, t"]
        columns[subject] = {
            "responses scored": f"{score.n_responses} of {score.n_responses + score.n_unscored}",
            "GFS": interval(score),
            "GFS, clustered by document": interval(by_document),
            **{label: interval(found[name]) for name, label in MEASURE_NAMES.items()},
            "SD over runs (GFS)": _run_sd(splits[subject]),
        }
    return pd.DataFrame(columns).rename_axis("measure").reset_index()


def pair_rows(tests: pd.DataFrame, estimates: Mapping[str, Estimate]) -> pd.DataFrame:
    """The registered comparisons: difference, McNemar, and the clustered tests beside it."""
    rows = []
    for row in tests[tests["stratum"] == "overall"].to_dict("records"):
        pair = f"{row['a']} minus {row['b']}"
        binary = row["outcome"] != "gfs_primary"
        difference = "–" if row["difference"] is None else number(row["difference"])
        if not binary:
            difference = interval(estimates[f"{pair}/overall/gfs_primary"])
        rows.append(
            {
                "pair": pair.replace(" minus ", " − "),
                "outcome": _OUTCOME_NAMES[row["outcome"]],
                "difference": difference,
                "discordant": f"{row['n10']} : {row['n01']}" if row["n10"] is not None else "–",
                "p exact": p_value(row["p_exact_bonferroni"]),
                "p mid-p": p_value(row["p_mid_p_bonferroni"]),
                "p by question": p_value(row["p_by_question_holm"]),
                "p by document": p_value(row["p_by_document_holm"]),
                "detectable": "–" if row["detectable"] is None else number(row["detectable"]),
            }
        )
    return pd.DataFrame(rows)


def agreement_rows(agreement: pd.DataFrame) -> pd.DataFrame:
    """Agreement of the judges over all subjects together: kappa with interval and what it hides."""
    rows = []
    for row in agreement[agreement["subject"] == "all subjects"].to_dict("records"):
        kappa = undefined(row["reason"]) if pd.isna(row["kappa"]) else number(row["kappa"])
        if not pd.isna(row["low"]):
            kappa += f" [{number(row['low'])}, {number(row['high'])}]"
        rows.append(
            {
                "judges": row["judges"],
                "dimension": row["dimension"],
                "n": row["n"],
                "raw": row["raw"],
                "kappa": kappa,
                "quadratic kappa": row["kappa_quadratic"],
                "AC1": row["ac1"],
                "AC2": row["ac2"],
                "alpha": row["alpha"],
            }
        )
    return pd.DataFrame(rows)


def study_values(
    counts: pd.DataFrame, agreement: pd.DataFrame, splits: Mapping[str, VarianceSplit]
) -> dict[str, object]:
    """Counts, agreement and variance as result-file values; undefined has its reason beside it."""
    return {
        "denominators": {
            row["subject"]: _defined(row, "no response is scored", skip=("subject",))
            for row in counts.to_dict("records")
        },
        "agreement": {
            judges: {
                subject: {
                    row["dimension"]: _defined(
                        row, row["reason"], skip=("judges", "subject", "dimension", "reason")
                    )
                    for row in of_subject.to_dict("records")
                }
                for subject, of_subject in of_judges.groupby("subject", sort=False)
            }
            for judges, of_judges in (agreement.groupby("judges") if len(agreement) else ())
        },
        "variance": {
            subject: {
                "within_sd": split.within_sd,
                "within_sd_reason": split.reason,
                "n_runs": split.n_runs,
                "share": _defined(split.shares, "cannot be told apart"),
            }
            for subject, split in splits.items()
        },
    }


def tests_values(tests: pd.DataFrame) -> dict[str, object]:
    """Registered comparisons by pair, those within strata under ``exploratory``, and a summary.

    The summary counts pairs whose question-clustered test of the registered outcome stays below
    0.05 after Holm's correction, and names the smallest difference that any pair could show.
    """
    strata = tests.loc[tests["exploratory"].astype(bool), "stratum"].unique()
    overall = tests[tests["stratum"] == "overall"]
    registered = overall[overall["outcome"] == REGISTERED_OUTCOME]
    detectable = pd.to_numeric(registered["detectable"]).min()
    found = not pd.isna(detectable)
    return {
        **comparison_values(overall),
        "n_pairs": len(registered),
        "n_significant": int((pd.to_numeric(registered["p_by_question_holm"]) < 0.05).sum()),
        "smallest_detectable": float(detectable) if found else None,
        **({} if found else {"smallest_detectable_reason": "no pair has one"}),
        "exploratory": {s: comparison_values(tests[tests["stratum"] == s]) for s in strata},
    }


def answer(
    estimates: Mapping[str, Estimate],
    subjects: Sequence[str],
    tests: pd.DataFrame,
    ranked: Ranking,
    flips: Sequence[str],
) -> str:
    """The paragraph that closes the notebook."""
    scores = "; ".join(
        f"{subject} {interval(estimates[f'{subject}/overall/gfs_primary'])}"
        for subject in ranked.order_primary or subjects
    )
    noise = (
        f"Run noise alone could reverse {', '.join(flips)}."
        if flips
        else "Run noise alone reverses no step of this order that could be checked."
    )
    return " ".join(
        (
            f"Mean Grounding Fidelity Score with its interval: {scores}.",
            ranking.in_words(ranked),
            noise,
            comparisons.in_words(tests),
            "These p-values flip whole questions (Holm); McNemar's test takes runs as independent "
            "and is shown as registered.",
            _abstention(estimates, subjects),
        )
    )


def contexts_present(
    estimates: Mapping[str, Estimate], subjects: Sequence[str]
) -> list[tuple[str, str]]:
    """Contexts that any response was given in, with their labels for a figure."""
    labels = dict(CONTEXT_LABELS)
    return [
        (name, labels[name])
        for name in CONTEXTS
        if any(estimates[f"{subject}/{name}/refused"].n_questions for subject in subjects)
    ]


def _abstention(estimates: Mapping[str, Estimate], subjects: Sequence[str]) -> str:
    """Both abstention errors of each subject in words."""
    shares = [
        f"{subject} {_share(estimates[f'{subject}/false_refusal'])} and "
        f"{_share(estimates[f'{subject}/missed_abstention'])}"
        for subject in subjects
    ]
    return (
        "Refused although all gold passages were shown, and answered although nothing shown held "
        f"the answer: {'; '.join(shares)}."
    )


def _run_sd(split: VarianceSplit) -> str:
    if split.within_sd is None:
        return undefined(split.reason)
    return "0" if split.within_sd == 0 else number(split.within_sd, 3)


def _share(estimate: Estimate) -> str:
    if estimate.value is None:
        return "none (no such question)"
    return f"{100 * estimate.value:.0f} %"


def _defined(
    row: Mapping[Any, object], reason: object, *, skip: Sequence[str] = ()
) -> dict[str, object]:
    """A row without its keys; a missing number becomes None with the reason beside it."""
    values: dict[str, object] = {}
    for name, value in row.items():
        if name in skip:
            continue
        missing = value is None or (isinstance(value, float) and pd.isna(value))
        values[str(name)] = None if missing else value
        if missing:
            values[f"{name}_reason"] = str(reason or "undefined")
        elif isinstance(value, float):
            values[str(name)] = round(value, 10)
    return values
