"""The gate: whether a judge agrees with known scores well enough to be believed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from rge.agreement import Agreement, cohen_kappa, gwet_ac
from rge.calibration.preregistration import Registration
from rge.display import number
from rge.records import DIMENSIONS

NOT_LABELLED = "not yet labelled"
# Where raw agreement is high and kappa low, one score dominates (Feinstein and Cicchetti 1990).
PARADOX_RAW, PARADOX_KAPPA = 0.85, 0.40


def gate_table(
    scores: pd.DataFrame,
    registration: Registration,
    *,
    confidence_level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Agreement of each judge with the labels by construction, per dimension.

    Parameters
    ----------
    scores
        From `judge_controls`: judge, dimension, question_id, expected, obtained.
    registration
        Names threshold and gated dimensions.

    Returns
    -------
    DataFrame
        One row per judge and dimension: `n` controls scored, `n_unscored`, `raw` agreement,
        `kappa` (unweighted) with `low` and `high` (questions resampled), `kappa_quadratic`,
        `ac1`, `gated`, `passed` (None where not gated), `paradox` and `reason` where kappa or
        its interval is undefined; an undefined kappa does not pass.
    """
    rows = []
    for judge in scores["judge"].unique():
        for dimension in DIMENSIONS:
            cell = scores[(scores["judge"] == judge) & (scores["dimension"] == dimension)]
            known = cell.dropna(subset=["obtained"])
            pair = known["expected"].astype(int), known["obtained"].astype(int)
            kappa = cohen_kappa(
                *pair,
                clusters=known["question_id"],
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                rng=rng,
            )
            rows.append(
                {
                    "judge": judge,
                    "dimension": dimension,
                    "n": kappa.n,
                    "n_unscored": len(cell) - len(known),
                    "raw": kappa.raw,
                    "kappa": kappa.value,
                    "low": kappa.low,
                    "high": kappa.high,
                    "kappa_quadratic": cohen_kappa(*pair, weights="quadratic").value,
                    "ac1": gwet_ac(*pair).value,
                    "gated": dimension in registration.gated,
                    "passed": passes(kappa, registration, dimension),
                    "paradox": _is_paradox(kappa),
                    "reason": kappa.reason,
                }
            )
    return pd.DataFrame(rows)


def passes(kappa: Agreement, registration: Registration, dimension: str) -> bool | None:
    """The registered point rule; None for a dimension that is not gated."""
    if dimension not in registration.gated:
        return None
    return kappa.value is not None and kappa.value >= registration.kappa_threshold


def _is_paradox(kappa: Agreement) -> bool:
    if kappa.value is None or kappa.raw is None:
        return False
    return kappa.raw >= PARADOX_RAW and kappa.value < PARADOX_KAPPA


def gate_rows(gate: pd.DataFrame) -> pd.DataFrame:
    """The gate as a reader sees it, with the cells that only people can fill."""
    return pd.DataFrame(
        [
            {
                "judge": row.judge,
                "dimension": row.dimension,
                "n": row.n,
                "raw agreement": row.raw,
                "κ by construction": _interval(row),
                "quadratic κ": row.kappa_quadratic,
                "AC1": row.ac1,
                "reaches the threshold": _verdict(row),
                "κ with human labels": NOT_LABELLED,
            }
            for row in gate.itertuples()
        ]
    )


def _interval(row: object) -> str:
    value, low, high = row.kappa, row.low, row.high  # type: ignore[attr-defined]
    if value is None or np.isnan(value):
        return f"undefined: {row.reason}"  # type: ignore[attr-defined]
    if low is None or np.isnan(low):
        return f"{number(value)} (no interval)"
    return f"{number(value)} [{number(low)}, {number(high)}]"


def _verdict(row: object) -> str:
    if row.passed is None or pd.isna(row.passed):  # type: ignore[attr-defined]
        return "not gated"
    text = "yes" if row.passed else "no"  # type: ignore[attr-defined]
    return f"{text} (one score dominates)" if row.paradox else text  # type: ignore[attr-defined]


def gate_values(
    gate: pd.DataFrame, n_controls: int, registration: Registration
) -> dict[str, object]:
    """What the paper reads: cells of the gate and how many passed, all by construction."""
    gated = gate[gate["gated"]]
    cells = {
        f"{row.judge} {row.dimension}": {"kappa": _number(row.kappa), "raw": _number(row.raw)}
        for row in gate.itertuples()
    }
    return {
        "label_source": "construction",
        "n_controls": n_controls,
        "n_cells": len(gated),
        "n_cells_passed": int(gated["passed"].sum()),
        "kappa_threshold": registration.kappa_threshold,
        "registration_sha256": registration.sha256,
        "n_human_labels": 0,
        "cells": cells,
    }


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def gate_answer(gate: pd.DataFrame, registration: Registration) -> str:
    """One paragraph: the outcome of the rule on labels by construction and what follows."""
    gated = gate[gate["gated"]]
    failed = gated[~gated["passed"].astype(bool)]
    text = (
        f"On labels by construction {int(gated['passed'].sum())} of {len(gated)} judge-by-dimension"
        f" cells reach κ ≥ {number(registration.kappa_threshold)}."
    )
    if len(failed):
        cells = ", ".join(f"*{row.judge}* on {row.dimension}" for row in failed.itertuples())
        text += f" Below it: {cells}; conclusions that rest on these cells alone are weak."
    return text + (
        " Controls are easier than real answers and were made by the same hands as the judges: this"
        " shows that the instrument sees known faults, not that it agrees with people. No human"
        " labels exist yet."
    )


def score_shares(scores: pd.DataFrame, labels: Sequence[int] = (0, 1, 2)) -> pd.DataFrame:
    """Share of each score among the labels by construction and among each judge's scores."""
    rows = []
    for dimension in DIMENSIONS:
        part = scores[scores["dimension"] == dimension]
        judges = list(part["judge"].unique())
        sources = [("construction", part[part["judge"] == judges[0]]["expected"])]
        sources += [(judge, part[part["judge"] == judge]["obtained"].dropna()) for judge in judges]
        for source, given in sources:
            row: dict[str, object] = {"dimension": dimension, "source": source, "n": len(given)}
            row |= {f"score {label}": float((given == label).mean()) for label in labels}
            rows.append(row)
    return pd.DataFrame(rows)
