"""How far the judges agree on the main run, and where the variance of the scores comes from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from rge.agreement import Agreement, cohen_kappa, difference, gwet_ac, krippendorff_alpha
from rge.records import DIMENSIONS
from rge.tables import SHORT, WEIGHTS_PRIMARY, judge_names
from rge.variance import VarianceSplit, decompose, run_standard_error

ALL = "all subjects"


def judge_agreement(
    table: pd.DataFrame,
    *,
    confidence_level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Agreement of each pair of judges per subject and dimension.

    Returns
    -------
    DataFrame
        One row per pair, subject (and ``all subjects``) and dimension: `n` responses scored by
        both, `raw` agreement, `kappa` (unweighted, with `low` and `high`), `kappa_quadratic`,
        `ac1`, `ac2` (quadratic weights), `alpha` (ordinal) and `reason` where kappa or its
        interval is undefined. Where a question is answered more than once (runs, or several
        subjects together) intervals resample questions, else they are large-sample ones.
    """
    rows = []
    for first, second in combinations(judge_names(table), 2):
        for subject in [*table["subject"].unique(), ALL]:
            part = table if subject == ALL else table[table["subject"] == subject]
            for dimension in DIMENSIONS:
                short = SHORT[dimension]
                pair = part[["question_id", f"{short}_{first}", f"{short}_{second}"]].dropna()
                if len(pair) or subject == ALL:
                    row = {"judges": f"{first} and {second}", "subject": subject}
                    how = (confidence_level, n_resamples, rng)
                    rows.append({**row, "dimension": dimension, **_agree(pair, how)})
    return pd.DataFrame(rows)


def divergence(main: Agreement, validation: Agreement) -> tuple[bool | None, str]:
    """Whether agreement on the main run differs from the validation set, and in words how.

    True when the interval of the difference leaves out 0; None where there is no interval.
    """
    value, low, high, reason = difference(main, validation)
    if value is None:
        return None, f"undefined: {reason}"
    if low is None or high is None:
        return None, f"{value:+.2f}, interval undefined: {reason}"
    return not low <= 0 <= high, f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"


def variance_splits(
    table: pd.DataFrame, deterministic: Collection[str] = ()
) -> dict[str, VarianceSplit]:
    """Variance of the primary composite per subject, each judge's composite as one score.

    Parameters
    ----------
    table
        From `rge.tables.score_table`.
    deterministic
        Subjects that return the same text in every run.
    """
    return {
        subject: decompose(judge_scores(part), deterministic=subject in deterministic)
        for subject, part in table.groupby("subject", sort=False)
    }


def run_errors(table: pd.DataFrame, deterministic: Collection[str] = ()) -> dict[str, float | None]:
    """Standard error of each subject's mean primary composite that comes from run noise alone."""
    return {
        subject: run_standard_error(
            part.rename(columns={"gfs_primary": "value"}), deterministic=subject in deterministic
        )
        for subject, part in table.groupby("subject", sort=False)
    }


def judge_scores(table: pd.DataFrame) -> pd.DataFrame:
    """One row per response and judge with that judge's own primary composite as `value`."""
    parts = []
    for judge in judge_names(table):
        value = sum(weight * table[f"{name}_{judge}"] for name, weight in WEIGHTS_PRIMARY.items())
        frame = table[["question_id", "run_index", "document"]]
        parts.append(frame.assign(judge=judge, value=value / 2))
    if not parts:
        frame = table[["question_id", "run_index", "document"]]
        return frame.assign(judge="none", value=np.nan)
    scores = pd.concat(parts, ignore_index=True)
    return scores[scores["value"].notna()].reset_index(drop=True)


def split_row(split: VarianceSplit) -> Mapping[str, object]:
    """The parts of a variance split that a table shows."""
    return {
        "n_questions": split.n_questions,
        "n_runs": split.n_runs,
        "within_sd": split.within_sd,
        "between_sd": None if split.between is None else float(np.sqrt(split.between)),
        "reliability": split.reliability,
        **{f"share {source}": share for source, share in split.shares.items()},
        "reason": split.reason,
    }


def _agree(pair: pd.DataFrame, how: tuple[float, int, np.random.Generator]) -> dict[str, object]:
    level, n_resamples, rng = how
    a, b = pair.iloc[:, 1].to_numpy(), pair.iloc[:, 2].to_numpy()
    repeated = pair["question_id"].duplicated().any()
    kappa = cohen_kappa(
        a,
        b,
        clusters=pair["question_id"].to_numpy() if repeated else None,
        confidence_level=level,
        n_resamples=n_resamples,
        rng=rng,
    )
    return {
        "n": kappa.n,
        "raw": kappa.raw,
        "kappa": kappa.value,
        "low": kappa.low,
        "high": kappa.high,
        "kappa_quadratic": cohen_kappa(a, b, weights="quadratic").value,
        "ac1": gwet_ac(a, b).value,
        "ac2": gwet_ac(a, b, weights="quadratic").value,
        "alpha": krippendorff_alpha(np.stack([a, b])).value,
        "reason": kappa.reason,
    }
