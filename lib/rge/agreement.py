"""Agreement of two raters beyond chance, with its interval, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from rge.bootstrap import TOLERANCE, Floats, cluster_codes, resampled_means
from rge.errors import UsageError

Weights = Literal["linear", "quadratic"]
ChanceModel = Callable[[Floats, Floats], tuple[Floats, Floats, Floats]]


@dataclass(frozen=True)
class Resampling:
    """How the interval is made: by large-sample theory, or over `clusters` when given."""

    clusters: ArrayLike | None
    confidence_level: float
    n_resamples: int
    rng: np.random.Generator | None


@dataclass(frozen=True)
class Agreement:
    """A coefficient of agreement.

    Attributes
    ----------
    value
        The coefficient; None where it is undefined.
    reason
        Why `value`, or else the interval, is undefined; empty when both exist.
    n
        Rated units.
    raw
        Share of units on which the raters agree exactly (for alpha: of pairable values); None
        where there is none.
    low, high
        Ends of the interval, or None.
    confidence_level
        In (0, 1).
    method
        Coefficient and kind of interval.
    """

    value: float | None
    reason: str
    n: int
    raw: float | None
    low: float | None
    high: float | None
    confidence_level: float
    method: str


def cohen_kappa(
    a: ArrayLike,
    b: ArrayLike,
    *,
    labels: Sequence[int] = (0, 1, 2),
    weights: Weights | None = None,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Agreement:
    """Cohen's kappa of two raters.

    Parameters
    ----------
    a, b
        Shape (n,), scores among `labels`. Leave units without both scores out beforehand.
    labels
        All scores that could have been given, in order: the weights depend on them, whether or
        not each occurs.
    weights
        None, ``linear`` or ``quadratic`` disagreement weights.
    clusters
        Shape (n,). When given, the interval is a percentile bootstrap over whole clusters (runs
        of one question are not independent); else it is the large-sample interval.
    confidence_level
        In (0, 1).
    n_resamples, rng
        For the cluster bootstrap.

    Returns
    -------
    Agreement
        Undefined, with `value` None, when nothing is rated, when both raters give one and the
        same score throughout (0 / 0), and when only one rater is constant: kappa is then 0 by
        construction, at 90 % agreement as at 10 %. Perfect agreement has a value but no interval
        (its estimated error is 0, which is not certainty).

    Raises
    ------
    UsageError
        Lengths differ, a score is not among `labels`, unknown weights.

    References
    ----------
    Cohen (1968), Weighted kappa, Psychol. Bull. 70. Fleiss, Cohen, Everitt (1969), Large sample
    standard errors of kappa and weighted kappa, Psychol. Bull. 72, 323-327.
    """
    x, y = _positions(a, labels, "a"), _positions(b, labels, "b")
    agree = _agreement_weights(len(labels), weights)
    name = "kappa" if weights is None else f"{weights} weighted kappa"
    reason = _why_no_kappa(x, y, labels)
    resampling = Resampling(clusters, confidence_level, n_resamples, rng)
    return _coefficient(x, y, agree, _kappa, name, reason, resampling)


def gwet_ac(
    a: ArrayLike,
    b: ArrayLike,
    *,
    labels: Sequence[int] = (0, 1, 2),
    weights: Weights | None = None,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Agreement:
    """Gwet's AC1 (no weights) or AC2 (weights) of two raters.

    Its chance agreement does not explode when nearly all units get one score, so it stays
    readable where kappa is paradoxical. Parameters are those of `cohen_kappa`.

    References
    ----------
    Gwet (2008), Computing inter-rater reliability and its variance in the presence of high
    agreement, Br. J. Math. Stat. Psychol. 61, 29-48.
    """
    x, y = _positions(a, labels, "a"), _positions(b, labels, "b")
    agree = _agreement_weights(len(labels), weights)
    name = "AC1" if weights is None else f"{weights} weighted AC2"
    reason = "" if len(x) else "no unit is rated"
    resampling = Resampling(clusters, confidence_level, n_resamples, rng)
    return _coefficient(x, y, agree, _gwet, name, reason, resampling)


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    labels: Sequence[int] = (0, 1, 2),
    level: Literal["nominal", "ordinal", "interval"] = "ordinal",
) -> Agreement:
    """Krippendorff's alpha of two or more raters; NaN is a missing rating.

    Parameters
    ----------
    ratings
        Shape (n_raters, n_units).
    labels
        All scores that could have been given, in order.
    level
        Metric of disagreement.

    Returns
    -------
    Agreement
        Without an interval. `value` is None when no unit has two ratings or all ratings are
        equal.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability, University of Pennsylvania.
    """
    table = np.atleast_2d(np.asarray(ratings, dtype=float))
    given = ~np.isnan(table)
    if not np.isin(table[given], labels).all():
        raise UsageError("ratings", "a score outside the labels", allowed=f"{tuple(labels)} or NaN")
    counts = np.stack([(table == label).sum(axis=0) for label in labels], axis=1).astype(float)
    counts = counts[counts.sum(axis=1) >= 2]
    scale = counts / (counts.sum(axis=1, keepdims=True) - 1)
    together = scale.T @ counts - np.diag(scale.sum(axis=0))
    totals = together.sum(axis=1)
    distance = _distances(np.asarray(labels, dtype=float), totals, level)
    n_values = totals.sum()
    expected = totals @ distance @ totals
    reason = "" if len(counts) else "no unit has two ratings"
    reason = reason or ("" if expected > 0 else "all ratings are equal")
    value = None
    if not reason:
        value = float(1 - (n_values - 1) * (together * distance).sum() / expected)
    raw = float(np.trace(together) / n_values) if len(counts) else None
    no_interval = reason or "no interval is computed"
    return Agreement(value, no_interval, len(counts), raw, None, None, 0.95, f"alpha {level}")


def difference(a: Agreement, b: Agreement) -> tuple[float | None, float | None, float | None, str]:
    """Difference a - b of two independent coefficients: (value, low, high, reason).

    The interval joins theirs (MOVER), so it keeps their asymmetry.

    References
    ----------
    Zou, Donner (2008), Construction of confidence limits about effect measures, Stat. Med. 27.
    """
    if a.value is None or b.value is None:
        return None, None, None, a.reason or b.reason
    value = a.value - b.value
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return value, None, None, a.reason or b.reason
    low = value - np.hypot(a.value - a.low, b.high - b.value)
    high = value + np.hypot(a.high - a.value, b.value - b.low)
    return value, float(low), float(high), ""


def _positions(values: ArrayLike, labels: Sequence[int], name: str) -> NDArray[np.int64]:
    array = np.asarray(values, dtype=float)
    matches = array[:, None] == np.asarray(labels, dtype=float)
    if not matches.any(axis=1).all():
        raise UsageError(
            f"ratings {name}",
            "a score that is missing or not among the labels",
            allowed=f"one of {', '.join(map(str, labels))}",
            do="leave out units without both scores and count them",
        )
    return matches.argmax(axis=1)


def _agreement_weights(n_labels: int, weights: str | None) -> Floats:
    """1 on the diagonal, less the further apart two scores are."""
    if weights is None:
        return np.eye(n_labels)
    if weights not in ("linear", "quadratic"):
        raise UsageError("weights", f"{weights!r}", allowed="None, linear or quadratic")
    apart = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels))) / (n_labels - 1)
    return 1 - (apart if weights == "linear" else apart**2)


def _why_no_kappa(x: NDArray[np.int64], y: NDArray[np.int64], labels: Sequence[int]) -> str:
    if not len(x):
        return "no unit is rated"
    constant = [labels[r[0]] for r in (x, y) if (r == r[0]).all()]
    if len(constant) == 2:
        return f"both raters are constant ({constant[0]} and {constant[1]})"
    if constant:
        return f"one rater gives {constant[0]} throughout: kappa is 0 whatever the agreement"
    return ""


def _kappa(tables: Floats, agree: Floats) -> tuple[Floats, Floats, Floats]:
    """Observed and chance agreement (...) of proportion tables (..., q, q), and the slope of the
    chance agreement in each cell."""
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    chance = np.einsum("...i,ij,...j->...", rows, agree, columns)
    slopes = (columns @ agree.T)[..., :, None] + (rows @ agree)[..., None, :]
    return (tables * agree).sum(axis=(-2, -1)), chance, slopes - 2 * chance[..., None, None]


def _gwet(tables: Floats, agree: Floats) -> tuple[Floats, Floats, Floats]:
    """As `_kappa`, with the chance agreement of Gwet."""
    n_labels = len(agree)
    share = (tables.sum(axis=-1) + tables.sum(axis=-2)) / 2
    factor = agree.sum() / (n_labels * (n_labels - 1))
    chance = factor * (share * (1 - share)).sum(axis=-1)
    slope = factor * (1 - 2 * share)
    slopes = (slope[..., :, None] + slope[..., None, :]) / 2
    centre = (slope * share).sum(axis=-1)[..., None, None]
    return (tables * agree).sum(axis=(-2, -1)), chance, slopes - centre


def _coefficient(
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    agree: Floats,
    chance_model: ChanceModel,
    name: str,
    reason: str,
    resampling: Resampling,
) -> Agreement:
    """The coefficient (observed - chance) / (1 - chance) with its interval."""
    n, q = len(x), len(agree)
    level = resampling.confidence_level
    if not reason and q < 2:
        reason = "one label only"
    raw = float(np.mean(x == y)) if n else None
    if reason:
        return Agreement(None, reason, n, raw, None, None, level, name)
    table = np.bincount(x * q + y, minlength=q * q).reshape(q, q) / n
    observed, chance, slopes = chance_model(table, agree)
    value = float((observed - chance) / (1 - chance))
    if resampling.clusters is not None:
        low, high, how = _bootstrap(x * q + y, agree, chance_model, resampling)
    else:
        # Fleiss, Cohen and Everitt's variance, written as the mean square of the influence of a
        # unit: what one more unit in a cell does to the coefficient.
        influence = (agree - observed - (1 - value) * slopes) / (1 - chance)
        half = -ndtri((1 - level) / 2) * np.sqrt((table * influence**2).sum() / n)
        low, high, how = max(-1.0, value - half), min(1.0, value + half), "large-sample interval"
    if not high - low > TOLERANCE:
        why = f"the {how} has no width; see the raw agreement"
        return Agreement(value, why, n, raw, None, None, level, name)
    return Agreement(value, "", n, raw, float(low), float(high), level, f"{name}, {how}")


def _bootstrap(
    cells: NDArray[np.int64], agree: Floats, chance_model: ChanceModel, resampling: Resampling
) -> tuple[float, float, str]:
    """Percentile interval over resampled clusters; an undefined resample is left out."""
    q, rng = len(agree), resampling.rng
    if rng is None:
        raise UsageError("agreement", "clusters without rng", allowed="a numpy Generator")
    codes = cluster_codes(resampling.clusters, len(cells))
    tables = np.zeros((codes.max() + 1, q * q))
    np.add.at(tables, (codes, cells), 1.0)
    tables = tables[np.lexsort(tables.T[::-1])]  # row order and labels change nothing
    proportions = resampled_means(tables, tables.sum(axis=1), resampling.n_resamples, rng)
    observed, chance, _ = chance_model(proportions.reshape(-1, q, q), agree)
    defined = 1 - chance > TOLERANCE
    values = (observed[defined] - chance[defined]) / (1 - chance[defined])
    tail = (1 - resampling.confidence_level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    left_out = int((~defined).sum())
    note = f" ({left_out} undefined resamples left out)" if left_out else ""
    return float(low), float(high), f"cluster bootstrap{note}"


def _distances(labels: Floats, totals: Floats, level: str) -> Floats:
    """Squared disagreement between two labels, shape (q, q)."""
    if level == "nominal":
        return 1.0 - np.eye(len(labels))
    if level == "interval":
        return np.subtract.outer(labels, labels) ** 2
    if level == "ordinal":
        middle = np.cumsum(totals) - totals / 2
        return np.subtract.outer(middle, middle) ** 2
    raise UsageError("level", f"{level!r}", allowed="nominal, ordinal or interval")
