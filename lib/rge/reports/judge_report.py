"""What notebook 04 shows: judgements by status, the judges side by side, controls, examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from rge.calibration.controls import SCORES
from rge.collect import Counts
from rge.collected import Collected
from rge.display import rate
from rge.figures import GREY, PALETTE
from rge.profile import Profile
from rge.records import DIMENSIONS, Judgement
from rge.tables import SHORT, judge_names

_EXCERPT = 160
_DARK = 0.55  # share of the largest count from which text on a cell is white


def work(counts: dict[tuple[str, str], Counts]) -> pd.DataFrame:
    """What this execution did: one row per subject and judge."""
    return pd.DataFrame(
        [
            {"subject": subject, "judge": judge, "new": c.new, "already done": c.already_done}
            for (subject, judge), c in counts.items()
        ]
    )


def statuses(study: Collected, profile: Profile) -> pd.DataFrame:
    """Judgements by what became of them: planned = scored + unscored + missing."""
    rows = []
    for subject, n_runs in study.runs.items():
        for judge in profile.judges_of(profile.subject(subject)):
            mine = [j for j in study.judgements if (j.subject, j.judge) == (subject, judge.name)]
            n_unscored = sum(j.status == "unscored" for j in mine)
            reasons = pd.Series([j.unscored_reason for j in mine if j.unscored_reason])
            planned = n_runs * len(study.questions)
            rows.append(
                {
                    "subject": subject,
                    "judge": judge.name,
                    "planned": planned,
                    "scored": len(mine) - n_unscored,
                    "unscored": n_unscored,
                    "missing": planned - len(mine),
                    "reasons": "; ".join(
                        f"{reason} ({n})" for reason, n in reasons.value_counts().items()
                    ),
                }
            )
    return pd.DataFrame(rows)


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Mean score of each dimension by subject and judge, with the number of scored responses."""
    rows = []
    for subject, part in table.groupby("subject", sort=False):
        for judge in judge_names(table):
            row: dict[str, object] = {"subject": subject, "judge": judge}
            row["scored"] = int(part[f"c_{judge}"].notna().sum())
            row |= {name: part[f"{SHORT[name]}_{judge}"].mean() for name in DIMENSIONS}
            rows.append(row)
    return pd.DataFrame(rows)


def contested_rows(contested: pd.DataFrame) -> pd.DataFrame:
    """Contested responses with both judges' scores, the dimensions in one column."""
    if contested.empty:
        return pd.DataFrame(columns=["subject", "question_id", "category", "contested"])
    named = contested.rename(columns={"contested_dimensions": "contested"})
    whole = {name: "Int64" for name in named.columns if name[:2] in {"c_", "g_", "k_", "f_"}}
    return named.drop(columns="run_index").astype(whole)


def control_rows(rates: pd.DataFrame) -> pd.DataFrame:
    """Controls down, one column per dimension and judge: expected, and the share that got it."""
    rows = []
    for kind in SCORES:
        part = rates[rates["control"] == kind]
        if part.empty:
            continue
        row: dict[str, object] = {"control": kind, "n": int(part["n"].iloc[0])}
        for dimension in DIMENSIONS:
            cells = part[part["dimension"] == dimension]
            passed = " / ".join(f"{value:.0%}" for value in cells["pass_rate"])
            row[f"{dimension}: score, passed"] = f"{int(cells['expected'].iloc[0])}: {passed}"
        rows.append(row)
    return pd.DataFrame(rows)


def examples(study: Collected, n: int = 5) -> pd.DataFrame:
    """Unsupported claims with the passage nearest to them, at most one per subject and judge."""
    rows = []
    seen: set[tuple[str, str]] = set()
    for judgement in study.judgements:
        pair = (judgement.subject, judgement.judge)
        if pair in seen or not judgement.unsupported_claims or judgement.grounding is None:
            continue
        seen.add(pair)
        rows.append(
            {
                "subject": judgement.subject,
                "judge": judgement.judge,
                "question": judgement.question_id,
                "unsupported claim": _short(judgement.unsupported_claims[0]),
                "evidence": _short(judgement.grounding.evidence),
                "rationale": _short(judgement.grounding.rationale),
            }
        )
    columns = ["subject", "judge", "question", "unsupported claim", "evidence", "rationale"]
    return pd.DataFrame(rows[:n], columns=columns)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1]}…"


def joint_scores(ax: Axes, table: pd.DataFrame, dimension: str, judges: Sequence[str]) -> Axes:
    """Counts of the score pairs that two judges gave on one dimension, as a 3 × 3 grid."""
    first, second = judges[:2]
    short = SHORT[dimension]
    pairs = table[[f"{short}_{first}", f"{short}_{second}"]].dropna().to_numpy()
    counts = np.zeros((3, 3), dtype=int)
    for a, b in pairs.astype(int):
        counts[b, a] += 1
    strength = counts / max(1, counts.max())
    ax.imshow(strength, cmap="Blues", vmin=0, vmax=1, origin="lower")
    for b in range(3):
        for a in range(3):
            color = "white" if strength[b, a] > _DARK else GREY
            ax.text(a, b, str(counts[b, a]), ha="center", va="center", color=color)
            if abs(a - b) > 1:
                ax.add_patch(_frame(a, b))
    ax.set_xticks(range(3))
    ax.set_yticks(range(3))
    ax.set_xlabel(f"{dimension}: {first}")
    ax.set_ylabel(second)
    return ax


def _frame(a: int, b: int):  # type: ignore[no-untyped-def]
    from matplotlib.patches import Rectangle

    return Rectangle((a - 0.48, b - 0.48), 0.96, 0.96, fill=False, edgecolor=PALETTE[1])


def values(table: pd.DataFrame, judgements: Sequence[Judgement]) -> dict[str, object]:
    """What the paper reads: counts of judgements, of unscored and of contested ones."""
    reasons = pd.Series([j.unscored_reason for j in judgements if j.unscored_reason], dtype=object)
    return {
        "n_judgements": len(judgements),
        "n_unscored": sum(judgement.status == "unscored" for judgement in judgements),
        "unscored_reasons": {str(k): int(v) for k, v in reasons.value_counts().items()},
        "n_contested": int(table["contested"].sum()),
        "n_unsupported_claims": sum(len(j.unsupported_claims) for j in judgements),
        "n_contradictions": sum(len(j.contradictions) for j in judgements),
    }


def answer(table: pd.DataFrame, rates: pd.DataFrame) -> str:
    """One paragraph: how far the judges can be trusted on what is known, and where they differ."""
    n_scored = int((table["outcome"] == "scored").sum())
    n_contested = int(table["contested"].sum())
    weak = rates[rates["pass_rate"] < 0.75]
    parts = [
        f"{rate(n_scored, len(table))} of the planned responses were scored by every judge; "
        f"{n_contested} are contested."
    ]
    for judge, part in rates.groupby("judge", sort=False):
        passed = float((part["pass_rate"] * part["n"]).sum() / part["n"].sum())
        parts.append(
            f"On controls *{judge}* gave {passed:.0%} of the scores known by construction."
        )
    if len(weak):
        named = [f"*{r.judge}* on {r.dimension} of the {r.control}" for r in weak.itertuples()]
        parts.append(f"Under three quarters: {'; '.join(named)}.")
    return " ".join(parts)
