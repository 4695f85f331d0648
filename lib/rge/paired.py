"""Tests that compare two subjects on the same questions, and what they could have detected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, chdtrc, ndtri
from scipy.stats import binom

from rge.bootstrap import TOLERANCE, WEIGHTS_AT_ONCE, Floats, cluster_codes
from rge.errors import UsageError

McNemarMethod = Literal["exact", "mid-p", "chi2"]


@dataclass(frozen=True)
class PairedTest:
    """Outcome of a paired test of a against b.

    Attributes
    ----------
    n01, n10
        Units that favour b and units that favour a: discordant pairs (McNemar) or clusters with
        a negative and a positive sum (sign flip).
    statistic
        min(n01, n10), the chi-squared value, or the mean difference a - b (sign flip).
    p_value
        Two-sided; None where there is nothing to test.
    odds_ratio
        n10 / n01, the conditional odds that a is right where only one of them is; None where
        n01 is 0 and for the sign flip.
    n
        Pairs or clusters.
    method
        What was computed.
    reason
        Why `p_value` is None, else empty.
    """

    n01: int
    n10: int
    statistic: float | None
    p_value: float | None
    odds_ratio: float | None
    n: int
    method: str
    reason: str = ""


def mcnemar(a: ArrayLike, b: ArrayLike, *, method: McNemarMethod = "exact") -> PairedTest:
    """McNemar's test of two binary outcomes on the same units.

    Parameters
    ----------
    a, b
        Shape (n,), True or 1 where the subject was right. Leave unscored pairs out beforehand.
    method
        ``exact`` (conditional binomial), ``mid-p``, or ``chi2`` (without continuity correction,
        which makes the test more conservative than the exact one).

    Returns
    -------
    PairedTest
        `p_value` is 1 when no pair is discordant, None when there are no pairs.

    Raises
    ------
    UsageError
        Lengths differ, a value is neither 0 nor 1, the method is unknown.

    References
    ----------
    Fagerland, Lydersen, Laake (2013), The McNemar test for binary matched-pairs data: mid-p and
    asymptotic are better than exact conditional, BMC Med. Res. Methodol. 13:91.
    """
    right_a, right_b = _binary(a, "a"), _binary(b, "b")
    if len(right_a) != len(right_b):
        raise UsageError("mcnemar", f"{len(right_a)} and {len(right_b)} outcomes", allowed="pairs")
    n01 = int(np.sum(~right_a & right_b))
    n10 = int(np.sum(right_a & ~right_b))
    smaller, n_discordant = min(n01, n10), n01 + n10
    statistic = float(smaller)
    if method == "chi2":
        statistic = (n01 - n10) ** 2 / n_discordant if n_discordant else 0.0
        p_value = float(chdtrc(1, statistic))
    elif method == "exact":
        p_value = min(1.0, 2 * float(bdtr(smaller, n_discordant, 0.5)))
    elif method == "mid-p":
        p_value = float(_mid_p(np.array(smaller), np.array(n_discordant)))
    else:
        raise UsageError("mcnemar", f"method {method!r}", allowed="one of exact, mid-p, chi2")
    return PairedTest(
        n01=n01,
        n10=n10,
        statistic=statistic,
        p_value=p_value if len(right_a) else None,
        odds_ratio=n10 / n01 if n01 else None,
        n=len(right_a),
        method=f"mcnemar {method}",
        reason="" if len(right_a) else "no pairs",
    )


def sign_flip(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    n_resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> PairedTest:
    """Permutation test of a mean difference that flips the sign of whole clusters.

    Under the null hypothesis a and b can be exchanged within a question (or a document), so the
    sum of its differences is as likely with the other sign.

    Parameters
    ----------
    differences
        Shape (n,), a - b per row. Leave unscored pairs out beforehand.
    clusters
        Shape (n,), the question or document of each row; None when every row is its own.
    n_resamples
        Random flips. Where all sign patterns are no more than this, they are enumerated and the
        p-value is exact; else it is (k + 1) / (n_resamples + 1).
    rng
        Source of the random flips; not used when all patterns are enumerated.

    Raises
    ------
    UsageError
        A difference is not finite, lengths differ, or flips must be drawn and there is no `rng`.

    References
    ----------
    Phipson, Smyth (2010), Permutation p-values should never be zero, SAGMB 9(1):39.
    """
    values = np.sort(np.asarray(differences, dtype=float)) if clusters is None else None
    values = np.asarray(differences, dtype=float) if values is None else values
    if not np.isfinite(values).all():
        raise UsageError("sign_flip", "a difference that is not finite", allowed="scored pairs")
    sums = _sums(values, cluster_codes(clusters, len(values)))
    tolerance = TOLERANCE * max(1.0, float(np.abs(sums).sum()))
    nonzero = sums[np.abs(sums) > tolerance]
    p_value, how = 1.0, "no cluster differs"
    if len(nonzero):
        p_value, how = _flip_p(nonzero, tolerance, n_resamples, rng)
    return PairedTest(
        n01=int(np.sum(nonzero < 0)),
        n10=int(np.sum(nonzero > 0)),
        statistic=float(sums.sum() / len(values)) if len(values) else None,
        p_value=p_value if len(values) else None,
        odds_ratio=None,
        n=len(sums),
        method=f"sign flip, {how}",
        reason="" if len(values) else "no pairs",
    )


def adjust(
    p_values: Sequence[float | None], *, method: Literal["bonferroni", "holm"]
) -> list[float | None]:
    """P-values adjusted for the size of their family, in the order given.

    None (an undefined test) stays None and still counts in the family, so that a test that could
    not be made never makes the others easier.

    Raises
    ------
    UsageError
        A value outside [0, 1], or an unknown method.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6.
    """
    if method not in ("bonferroni", "holm"):
        raise UsageError("adjust", f"method {method!r}", allowed="one of bonferroni, holm")
    family = len(p_values)
    defined = [(float(p), i) for i, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * family
    floor = 0.0
    for rank, (p, i) in enumerate(sorted(defined)):
        if not 0 <= p <= 1:
            raise UsageError("adjust", f"p-value {p}", allowed="numbers in [0, 1] or None")
        factor = family if method == "bonferroni" else family - rank
        floor = max(floor, min(1.0, factor * p))
        adjusted[i] = min(1.0, factor * p) if method == "bonferroni" else floor
    return adjusted


def detectable_difference(
    n: int, discordant_rate: float, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Smallest difference of two accuracies that McNemar's mid-p test finds with `power`.

    Parameters
    ----------
    n
        Paired units, taken as independent.
    discordant_rate
        Share of units on which exactly one subject is right, in [0, 1].
    alpha
        Two-sided level of the test (after correction for the family).
    power
        Probability to find the difference.

    Returns
    -------
    float or None
        A difference in [0, discordant_rate], or None where even a completely one-sided
        discordance would be missed too often.
    """
    discordant, critical = np.arange(n + 1), _critical(n, alpha)
    possible = critical >= 0
    weights = binom.pmf(discordant, n, discordant_rate)

    def reached(difference: float) -> bool:
        share = (1 + difference / discordant_rate) / 2
        for_a = bdtr(critical, discordant, 1 - share)  # n01 is at most the critical count
        for_b = bdtr(critical, discordant, share)
        return float(np.sum((weights * (for_a + for_b))[possible])) >= power

    if discordant_rate <= 0 or not reached(discordant_rate):
        return None
    low, high = 0.0, discordant_rate
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def detectable_mean_difference(
    standard_error: float, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Smallest mean difference found with `power` by a two-sided z-test.

    (z_{1 - alpha / 2} + z_{power}) times the standard error of the paired difference.

    References
    ----------
    Miller (2024), Adding error bars to evals, arXiv:2411.00640, section on power.
    """
    return float((ndtri(1 - alpha / 2) + ndtri(power)) * standard_error)


def _binary(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    array = np.asarray(values, dtype=float)
    if not np.isin(array, (0.0, 1.0)).all():
        raise UsageError(f"mcnemar: {name}", "a value other than 0 and 1", allowed="scored pairs")
    return array.astype(bool)


def _mid_p(smaller: NDArray[np.int64], n: NDArray[np.int64]) -> Floats:
    """P-value with the observed table at half its weight; 1 where no pair is discordant."""
    at = binom.pmf(smaller, n, 0.5)
    tie = np.where(n == 0, 1.0, 1 - at / 2)
    return np.where(2 * smaller == n, tie, 2 * binom.cdf(smaller, n, 0.5) - at)


@lru_cache(maxsize=64)
def _critical(n: int, alpha: float) -> NDArray[np.int64]:
    """For 0 to n discordant pairs the largest smaller count that is significant, or -1."""
    smaller, discordant = np.arange(n // 2 + 1)[:, None], np.arange(n + 1)
    significant = (_mid_p(smaller, discordant) <= alpha) & (2 * smaller <= discordant)
    return significant.sum(axis=0) - 1


def _sums(values: Floats, codes: NDArray[np.int64]) -> Floats:
    """Cluster sums in an order fixed by the values alone."""
    order = np.lexsort((values, codes))
    return np.sort(np.bincount(codes[order], weights=values[order]))


def _flip_p(
    sums: Floats, tolerance: float, n_resamples: int, rng: np.random.Generator | None
) -> tuple[float, str]:
    observed = abs(float(sums.sum())) - tolerance
    n_patterns = 2 ** (len(sums) - 1)  # a pattern and its opposite are equally extreme
    if 2 * n_patterns <= n_resamples:
        bits = (np.arange(n_patterns)[:, None] >> np.arange(len(sums))) & 1
        extreme = int(np.sum(np.abs((1 - 2 * bits) @ sums) >= observed))
        return extreme / n_patterns, f"all {2 * n_patterns} patterns"
    if rng is None:
        raise UsageError("sign_flip", "no rng", allowed="a numpy Generator to draw the flips")
    extreme, rows_at_once = 0, max(1, WEIGHTS_AT_ONCE // len(sums))
    n_bytes = -(-len(sums) // 8)  # one random bit a cluster
    for start in range(0, n_resamples, rows_at_once):
        n_rows = min(rows_at_once, n_resamples - start)
        drawn = rng.integers(0, 256, size=(n_rows, n_bytes), dtype=np.uint8)
        flipped = np.unpackbits(drawn, axis=1, count=len(sums)).astype(float) @ sums
        extreme += int(np.sum(np.abs(sums.sum() - 2 * flipped) >= observed))
    return (extreme + 1) / (n_resamples + 1), f"{n_resamples} random patterns"
