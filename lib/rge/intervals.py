"""Intervals for means and rates. What is undefined is None with its reason, never NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri

from rge.bootstrap import (
    TOLERANCE,
    Floats,
    Interval,
    bca_levels,
    cluster_codes,
    cluster_sums,
    resampled_means,
    t_intervals,
)
from rge.errors import UsageError
from rge.records import Estimate

MeanMethod = Literal["bca", "percentile", "t"]
RateMethod = Literal["wilson", "jeffreys", "clopper-pearson"]


def mean_interval(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    method: MeanMethod = "bca",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: np.random.Generator | None = None,
    name: str = "mean",
) -> Estimate:
    """Mean of `values` with an interval that resamples whole clusters.

    The result depends on the state of `rng` and on the values, not on the order of the rows or
    on the names of the clusters.

    Parameters
    ----------
    values
        Shape (n,). NaN is an unscored value: left out of the mean, counted in `n_unscored`.
    clusters
        Shape (n,), the independent draw each value belongs to (a question whose runs are rows,
        a source document); None when every value is its own draw.
    method
        ``bca`` and ``percentile`` are bootstrap intervals; ``t`` is the cluster-robust interval
        with G - 1 degrees of freedom for G clusters.
    confidence_level
        In (0, 1).
    n_resamples
        Bootstrap replicates, at least 1.
    rng
        Source of the resamples; ``t`` needs none.
    name
        Name of the estimate.

    Returns
    -------
    Estimate
        `method` says what was computed: ``bca``, or ``percentile (bca undefined: ...)``, or
        ``undefined: ...`` with `low` and `high` None. `n_questions` counts the scored clusters
        and `n_responses` the scored values.

    Raises
    ------
    UsageError
        Lengths differ, a value is infinite, a cluster is missing, the method is unknown.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, JASA 82, 171-185.
    Miller (2024), Adding error bars to evals, arXiv:2411.00640, for ``t``.
    """
    return mean_intervals(
        np.asarray(values, dtype=float).reshape(-1, 1),
        clusters,
        names=(name,),
        method=method,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
    )[0]


def mean_intervals(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    names: Sequence[str],
    method: MeanMethod = "bca",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> list[Estimate]:
    """One `mean_interval` per column of `values`, shape (n, m).

    Columns that are unscored in the same rows share their resamples, so the time hardly grows
    with their number. The other parameters are those of `mean_interval`.
    """
    table = np.asarray(values, dtype=float)
    _check(table, names, method, confidence_level, n_resamples, rng)
    codes = cluster_codes(clusters, len(table))
    scored = ~np.isnan(table)
    estimates: list[Estimate | None] = [None] * len(names)
    for columns in _columns_by_pattern(scored):
        rows = scored[:, columns[0]]
        sums, sizes = cluster_sums(table[np.ix_(rows, columns)], codes[rows])
        intervals = _intervals(sums, sizes, method, confidence_level, n_resamples, rng)
        for position, column in enumerate(columns):
            low, high, how = intervals[position]
            estimates[column] = Estimate(
                name=names[column],
                value=float(sums[:, position].sum() / sizes.sum()) if rows.any() else None,
                low=low,
                high=high,
                confidence_level=confidence_level,
                method=how,
                n_questions=len(sizes),
                n_responses=int(rows.sum()),
                n_unscored=int((~rows).sum()),
            )
    return [estimate for estimate in estimates if estimate is not None]


def rate_interval(
    k: float,
    n: float,
    *,
    method: RateMethod = "wilson",
    confidence_level: float = 0.95,
    name: str = "rate",
) -> Estimate:
    """Share k / n with its interval.

    Parameters
    ----------
    k, n
        Successes and trials, 0 <= k <= n. Where runs of a question are averaged first, k is the
        sum of the question means and need not be whole.
    method
        ``wilson`` (score), ``jeffreys`` (equal-tailed, closed at the end when k is 0 or n) or
        ``clopper-pearson`` (never below the nominal coverage).
    confidence_level
        In (0, 1).
    name
        Name of the estimate.

    Raises
    ------
    UsageError
        k is not between 0 and n, or the method is unknown.

    References
    ----------
    Brown, Cai, DasGupta (2001), Interval estimation for a binomial proportion,
    Statistical Science 16, 101-133.
    """
    if not 0 <= k <= n:
        raise UsageError("rate_interval", f"k = {k} of n = {n}", allowed="0 <= k <= n")
    _check_level(confidence_level)
    functions = {"wilson": _wilson, "jeffreys": _jeffreys, "clopper-pearson": _clopper_pearson}
    if method not in functions:
        raise UsageError(
            "rate_interval", f"method {method!r}", allowed=f"one of {', '.join(functions)}"
        )
    low, high = functions[method](k, n, 1 - confidence_level) if n else (None, None)
    return Estimate(
        name=name,
        value=k / n if n else None,
        low=low,
        high=high,
        confidence_level=confidence_level,
        method=method if n else "undefined: no trials",
        n_questions=round(n),
        n_responses=round(n),
        n_unscored=0,
    )


def _check(
    table: Floats,
    names: Sequence[str],
    method: str,
    confidence_level: float,
    n_resamples: int,
    rng: np.random.Generator | None,
) -> None:
    if table.ndim != 2 or table.shape[1] != len(names):
        raise UsageError(
            "mean_intervals", f"values of shape {table.shape}", allowed=f"(n, {len(names)})"
        )
    if np.isinf(table).any():
        raise UsageError("mean_intervals", "an infinite value", allowed="finite values or NaN")
    if method not in ("bca", "percentile", "t"):
        raise UsageError(
            "mean_intervals", f"method {method!r}", allowed="one of bca, percentile, t"
        )
    _check_level(confidence_level)
    if method != "t" and (n_resamples < 1 or rng is None):
        raise UsageError(
            "mean_intervals",
            f"n_resamples = {n_resamples}, rng = {rng}",
            allowed="at least one resample and a numpy Generator",
        )


def _check_level(confidence_level: float) -> None:
    if not 0 < confidence_level < 1:
        raise UsageError(
            "confidence_level", f"{confidence_level}", allowed="a number between 0 and 1"
        )


def _columns_by_pattern(scored: NDArray[np.bool_]) -> list[list[int]]:
    """Columns scored in the same rows, in the order of their first member."""
    groups: dict[bytes, list[int]] = {}
    for column in range(scored.shape[1]):
        groups.setdefault(scored[:, column].tobytes(), []).append(column)
    return list(groups.values())


def _intervals(
    sums: Floats,
    sizes: Floats,
    method: str,
    confidence_level: float,
    n_resamples: int,
    rng: np.random.Generator | None,
) -> list[Interval]:
    """One (low, high, method) per column."""
    reasons = _why_undefined(sums, sizes)
    if all(reasons):
        return [(None, None, f"undefined: {reason}") for reason in reasons]
    tail = (1 - confidence_level) / 2
    if method == "t" or rng is None:
        found = t_intervals(sums, sizes, tail)
    else:
        means = resampled_means(sums, sizes, n_resamples, rng)
        found = [
            _bootstrap_interval(sums[:, j], sizes, means[:, j], method, tail)
            for j in range(sums.shape[1])
        ]
    return [
        (None, None, f"undefined: {reason}") if reason else _with_width(interval)
        for interval, reason in zip(found, reasons, strict=True)
    ]


def _why_undefined(sums: Floats, sizes: Floats) -> list[str]:
    """Per column the reason why no interval exists, or an empty string."""
    if not len(sizes):
        return ["no scored value"] * sums.shape[1]
    if len(sizes) == 1:
        return ["one cluster says nothing about the spread"] * sums.shape[1]
    means = sums / sizes[:, None]
    scale = np.maximum(1.0, np.abs(means).max(axis=0))
    constant = np.ptp(means, axis=0) <= TOLERANCE * scale
    what = "values" if (sizes == 1).all() else "cluster means"
    return [
        f"all {len(sizes)} {what} equal {means[0, j]:.6g}" if constant[j] else ""
        for j in range(sums.shape[1])
    ]


def _with_width(interval: Interval) -> Interval:
    low, high, how = interval
    if low is None or high is None or not high - low > TOLERANCE * max(1.0, abs(low)):
        return None, None, f"undefined: {how} gave an interval without width"
    return interval


def _bootstrap_interval(
    sums: Floats, sizes: Floats, means: Floats, method: str, tail: float
) -> Interval:
    levels = np.array([tail, 1 - tail])
    how = method
    if method == "bca":
        adjusted, reason = bca_levels(sums, sizes, means, levels)
        levels = levels if adjusted is None else adjusted
        how = f"percentile (bca undefined: {reason})" if adjusted is None else method
    low, high = np.quantile(means, levels)
    return float(low), float(high), how


def _wilson(k: float, n: float, alpha: float) -> tuple[float, float]:
    z = -ndtri(alpha / 2)
    centre = k + z**2 / 2
    half = z * np.sqrt(k * (n - k) / n + z**2 / 4)
    low = 0.0 if k == 0 else max(0.0, float((centre - half) / (n + z**2)))
    high = 1.0 if k == n else min(1.0, float((centre + half) / (n + z**2)))
    return low, high


def _jeffreys(k: float, n: float, alpha: float) -> tuple[float, float]:
    low = 0.0 if k == 0 else float(betaincinv(k + 0.5, n - k + 0.5, alpha / 2))
    high = 1.0 if k == n else float(betaincinv(k + 0.5, n - k + 0.5, 1 - alpha / 2))
    return low, high


def _clopper_pearson(k: float, n: float, alpha: float) -> tuple[float, float]:
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, alpha / 2))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - alpha / 2))
    return low, high
