"""Resampling of whole clusters: the arithmetic under the intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtrit

from rge.errors import UsageError

Floats = NDArray[np.float64]
Interval = tuple[float | None, float | None, str]  # low, high, method

WEIGHTS_AT_ONCE = 2_000_000  # 16 MB, however many resamples are asked for
TOLERANCE = 1e-12  # sums of the same numbers in another order agree to this


def resampled_means(
    sums: Floats, sizes: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Means over clusters drawn with replacement, shape (n_resamples, m).

    Parameters
    ----------
    sums
        Shape (G, m), the sum of the values of each cluster.
    sizes
        Shape (G,), or (G, m) where columns have their own denominators.
    n_resamples
        Number of resamples.
    rng
        Source of the draws.
    """
    n_clusters = len(sums)
    means = np.empty((n_resamples, sums.shape[1]))
    rows_at_once = max(1, WEIGHTS_AT_ONCE // n_clusters)
    for start in range(0, n_resamples, rows_at_once):
        n_rows = min(rows_at_once, n_resamples - start)
        draws = rng.integers(0, n_clusters, size=(n_rows, n_clusters))
        draws += np.arange(n_rows)[:, None] * n_clusters
        counts = np.bincount(draws.ravel(), minlength=n_rows * n_clusters)
        weights = counts.reshape(n_rows, n_clusters).astype(float)
        totals = (weights @ sizes).reshape(n_rows, -1)
        with np.errstate(invalid="ignore"):
            means[start : start + n_rows] = (weights @ sums) / totals
    return means


def cluster_codes(clusters: ArrayLike | None, n_rows: int) -> NDArray[np.int64]:
    """An integer per row that says which cluster it is in; one each when `clusters` is None."""
    if clusters is None:
        return np.arange(n_rows)
    codes, _ = pd.factorize(np.asarray(clusters, dtype=object))
    if len(codes) != n_rows:
        raise UsageError(
            "clusters", f"{len(codes)} labels for {n_rows} values", allowed="one label per value"
        )
    if (codes < 0).any():
        raise UsageError("clusters", "a missing label", allowed="a label for every value")
    return codes.astype(np.int64)


def cluster_sums(values: Floats, codes: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Sums (G, m) and sizes (G,) in an order fixed by the values alone.

    Rows are added in sorted order and clusters sorted by what they hold, so neither the order
    of the rows nor the labels can change a digit or a draw.
    """
    if not len(values):
        return np.zeros((0, values.shape[1])), np.zeros(0)
    order = np.lexsort((*values.T[::-1], codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums = np.add.reduceat(values[order], starts, axis=0)
    sizes = np.diff(starts, append=len(values)).astype(float)
    by_content = np.lexsort((*sums.T[::-1], sizes))
    return sums[by_content], sizes[by_content]


def bca_levels(
    sums: Floats, sizes: Floats, means: Floats, levels: Floats
) -> tuple[Floats | None, str]:
    """Bias-corrected and accelerated quantile levels, or why there are none."""
    estimate = sums.sum() / sizes.sum()
    tolerance = TOLERANCE * max(1.0, abs(estimate))
    below = np.mean(means < estimate - tolerance)
    share = (below + np.mean(means <= estimate + tolerance)) / 2  # ties count half
    if not 0 < share < 1:
        return None, "every resample lies on one side of the estimate"
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    deviations = left_out.mean() - left_out
    squares = np.sum(deviations**2)
    if squares <= TOLERANCE**2:
        return None, "leaving a cluster out changes nothing"
    acceleration = np.sum(deviations**3) / (6 * squares**1.5)
    bias = ndtri(share)
    shifted = bias + ndtri(levels)
    denominators = 1 - acceleration * shifted
    if (denominators <= 0).any():
        return None, "the acceleration is too large"
    return ndtr(bias + shifted / denominators), ""


def standard_errors(sums: Floats, sizes: Floats) -> Floats:
    """Cluster-robust standard error of the mean of each column, shape (m,).

    With clusters of one value each it is s / sqrt(n).

    References
    ----------
    Miller (2024), Adding error bars to evals, arXiv:2411.00640; G / (G - 1) corrects for the few
    clusters.
    """
    n_clusters, total = len(sizes), sizes.sum()
    residuals = sums - sizes[:, None] * (sums.sum(axis=0) / total)
    return np.sqrt(n_clusters / (n_clusters - 1) * np.sum(residuals**2, axis=0)) / total


def t_intervals(sums: Floats, sizes: Floats, tail: float) -> list[Interval]:
    """Cluster-robust t interval per column of `sums`; `tail` is the probability left on a side."""
    means = sums.sum(axis=0) / sizes.sum()
    half = -stdtrit(len(sizes) - 1, tail) * standard_errors(sums, sizes)
    return [(float(m - h), float(m + h), "t") for m, h in zip(means, half, strict=True)]
