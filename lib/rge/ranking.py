"""The order of subjects, and how far it depends on the weights of the composite score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from rge.bootstrap import TOLERANCE, Floats, cluster_codes, cluster_sums, resampled_means
from rge.estimates import question_means
from rge.tables import WEIGHTS_PRIMARY

WEIGHTED = ("g", "c", "k")
PRIMARY = np.array([WEIGHTS_PRIMARY[name] for name in WEIGHTED])
EQUAL = np.full(3, 1 / 3)


@dataclass(frozen=True)
class Ranking:
    """Order of subjects under the registered weights and under all others.

    Attributes
    ----------
    means
        Subject to overall mean of g, c, k, each in [0, 2], over questions scored for all subjects.
    order_primary, order_equal
        Subjects, best first.
    ties
        Pairs that the primary weights do not tell apart.
    same_order_share
        Share of all weightings (of the area of the simplex) with the order of the primary one.
    same_leader_share
        Share of all weightings with the same best subject.
    resampled_order_share
        Share of question resamples with the order of the primary weights.
    n_questions
        Questions scored for every subject.
    reason
        Why there is no ranking, else empty.
    """

    means: dict[str, Floats]
    order_primary: tuple[str, ...]
    order_equal: tuple[str, ...]
    ties: tuple[tuple[str, str], ...]
    same_order_share: float | None
    same_leader_share: float | None
    resampled_order_share: float | None
    n_questions: int
    reason: str = ""


def rank(table: pd.DataFrame, *, n_resamples: int, rng: np.random.Generator) -> Ranking:
    """Rank the subjects of a score table.

    Parameters
    ----------
    table
        From `rge.tables.score_table`.
    n_resamples
        Question resamples.
    rng
        Source of the resamples.
    """
    values = question_means(table)
    subjects = list(dict.fromkeys(values.columns.get_level_values(0)))
    columns = [(subject, name) for subject in subjects for name in WEIGHTED]
    complete = values[columns].dropna()
    if not len(complete) or len(subjects) < 2:
        reason = "one subject only" if len(complete) else "no question is scored for all subjects"
        return Ranking({}, (), (), (), None, None, None, len(complete), reason)
    cube = complete.to_numpy().reshape(len(complete), len(subjects), 3)
    means = dict(zip(subjects, cube.mean(axis=0), strict=True))
    order = order_under(means, PRIMARY)
    return Ranking(
        means=means,
        order_primary=order,
        order_equal=order_under(means, EQUAL),
        ties=_ties(means, order),
        same_order_share=share_of_simplex(region(means, order)),
        same_leader_share=share_of_simplex(leader_region(means, order[0])),
        resampled_order_share=_resampled_share(cube @ PRIMARY, subjects, order, n_resamples, rng),
        n_questions=len(complete),
    )


def order_under(means: Mapping[str, Floats], weights: Floats) -> tuple[str, ...]:
    """Subjects by weighted mean, best first; equal ones keep the order they are given in."""
    scores = {subject: round(float(mean @ weights), 12) for subject, mean in means.items()}
    return tuple(sorted(scores, key=lambda subject: -scores[subject]))


def region(means: Mapping[str, Floats], order: Sequence[str]) -> Floats:
    """Corners (n, 3) of the weights (g, c, k) under which subjects stand in `order`.

    Each step of the order is one half of the weight simplex, cut along a straight line; an empty
    array when no weighting gives the order.
    """
    polygon = np.eye(3)
    for better, worse in pairwise(order):
        polygon = _clip(polygon, means[better] - means[worse])
    return polygon


def leader_region(means: Mapping[str, Floats], leader: str) -> Floats:
    """Corners (n, 3) of the weights under which `leader` is not beaten."""
    polygon = np.eye(3)
    for other, mean in means.items():
        if other != leader:
            polygon = _clip(polygon, means[leader] - mean)
    return polygon


def share_of_simplex(polygon: Floats) -> float:
    """Area of a polygon of weights as a share of the whole simplex."""
    if len(polygon) < 3:
        return 0.0
    x, y = polygon[:, 0], polygon[:, 1]  # an affine map keeps ratios of areas
    doubled = abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))
    return min(1.0, doubled)  # the simplex itself has area 1 / 2 in these coordinates


def flips(gap: float, run_error_a: float | None, run_error_b: float | None) -> bool | None:
    """Whether run noise alone could reverse a difference of two means at the 95 % level.

    None when the run noise of one of them is unknown. A difference of 0 is always reversible.
    """
    if run_error_a is None or run_error_b is None:
        return None
    return bool(abs(gap) <= 1.96 * np.hypot(run_error_a, run_error_b) + TOLERANCE)


def ranking_values(ranking: Ranking) -> dict[str, object]:
    """A ranking as result-file values; an undefined number has its reason beside it."""
    reason = ranking.reason
    shares: dict[str, float | None] = {
        "same_order_share": ranking.same_order_share,
        "same_leader_share": ranking.same_leader_share,
        "resampled_order_share": ranking.resampled_order_share,
    }
    same = ranking.same_order_share
    shares["same_order_percent"] = None if same is None else 100 * same
    undefined = {f"{name}_reason": reason for name, value in shares.items() if value is None}
    return {
        "order_primary": list(ranking.order_primary),
        "order_equal": list(ranking.order_equal),
        "leader": ranking.order_primary[0] if ranking.order_primary else f"none ({reason})",
        "robust": not reason and ranking.order_primary == ranking.order_equal,
        "n_questions": ranking.n_questions,
        **{name: None if value is None else round(value, 6) for name, value in shares.items()},
        **undefined,
    }


def in_words(ranking: Ranking) -> str:
    """The order, and what the weights and the choice of questions could do to it."""
    if ranking.reason:
        return f"There is no ranking: {ranking.reason}."
    order = " > ".join(ranking.order_primary)
    same = ranking.order_primary == ranking.order_equal
    equal = "is the same" if same else f"becomes {' > '.join(ranking.order_equal)}"
    ties = "".join(f" {a} and {b} are tied." for a, b in ranking.ties)
    return (
        f"Under the registered weights the order is {order}; under equal weights it {equal}. "
        f"It holds on {100 * (ranking.same_order_share or 0):.0f} % of all weightings (the leader "
        f"alone on {100 * (ranking.same_leader_share or 0):.0f} %) and in "
        f"{100 * (ranking.resampled_order_share or 0):.0f} % of question resamples.{ties}"
    )


def reversible(ranking: Ranking, run_errors: Mapping[str, float | None]) -> list[str]:
    """Neighbours in the primary order that run noise alone could swap, as ``a > b``."""
    pairs = []
    for a, b in pairwise(ranking.order_primary):
        gap = float((ranking.means[a] - ranking.means[b]) @ PRIMARY) / 2
        if flips(gap, run_errors[a], run_errors[b]):
            pairs.append(f"{a} > {b}")
    return pairs


def _clip(polygon: Floats, normal: Floats) -> Floats:
    """The part of a polygon where `normal` times the weights is not negative."""
    heights = polygon @ normal if len(polygon) else np.zeros(0)
    corners: list[Floats] = []
    for i, height in enumerate(heights):
        j = (i + 1) % len(heights)
        if height >= -TOLERANCE:
            corners.append(polygon[i])
        if (height > TOLERANCE and heights[j] < -TOLERANCE) or (
            height < -TOLERANCE and heights[j] > TOLERANCE
        ):
            corners.append(polygon[i] + (polygon[j] - polygon[i]) * height / (height - heights[j]))
    return np.array(corners).reshape(-1, 3)


def _ties(means: Mapping[str, Floats], order: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (a, b) for a, b in pairwise(order) if abs((means[a] - means[b]) @ PRIMARY) <= TOLERANCE
    )


def _resampled_share(
    scores: Floats,
    subjects: Sequence[str],
    order: Sequence[str],
    n_resamples: int,
    rng: np.random.Generator,
) -> float:
    sums, sizes = cluster_sums(scores, cluster_codes(None, len(scores)))
    means = resampled_means(sums, sizes, n_resamples, rng)
    columns = [list(subjects).index(subject) for subject in order]
    steps = means[:, columns[:-1]] - means[:, columns[1:]]
    return float(np.mean((steps > TOLERANCE).all(axis=1)))
