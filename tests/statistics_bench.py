"""What the statistics of a full study cost, beside `scipy.stats.bootstrap` called cell by cell.

python tests/statistics_bench.py

The study has the registered size: 200 questions, three subjects, three runs. Both sides give the
BCa interval of the same cells from the same values with 10,000 resamples each, once with questions
and once with source documents resampled. Last, how often nominal 95 % intervals hold the true mean
of made-up studies.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy import stats

from rge.comparisons import pairwise_tests
from rge.estimates import mean_estimates, question_facts, question_means, strata
from rge.intervals import mean_intervals
from rge.ranking import rank
from rge.tables import score_table
from synthetic import made_up_study

T = TypeVar("T")
N_RESAMPLES, LEVEL = 10_000, 0.95
N_COVERAGE = 2_000


def generator() -> np.random.Generator:
    return np.random.default_rng(20240331)


def full_study() -> pd.DataFrame:
    """The score table of a made-up study of the registered size."""
    made = made_up_study(generator(), n_questions=200, n_runs=3)
    return score_table(
        made.questions, made.responses, made.judgements, made.retrievals, runs=made.runs
    )


def cells(table: pd.DataFrame) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Values and clusters of each subject x stratum x measure, twice: none, and documents."""
    values, facts = question_means(table), question_facts(table)
    found: list[tuple[np.ndarray, np.ndarray | None]] = []
    for name, chosen in strata(facts):
        if name.startswith("gold "):
            continue
        documents = pd.factorize(facts.loc[chosen, "document"])[0]
        for column in values[chosen].to_numpy().T:
            known = ~np.isnan(column)
            found += [(column[known], None), (column[known], documents[known])]
    return found


def seconds(work: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def by_scipy(
    values: np.ndarray, clusters: np.ndarray | None, rng: np.random.Generator
) -> tuple[float, float]:
    """The interval as a user of SciPy would get it."""
    options = {"n_resamples": N_RESAMPLES, "confidence_level": LEVEL, "method": "BCa", "rng": rng}
    if clusters is None:
        found = stats.bootstrap((values,), np.mean, **options)
    else:
        sums, sizes = np.bincount(clusters, values), np.bincount(clusters)
        kept = sizes > 0
        found = stats.bootstrap(
            (sums[kept], sizes[kept].astype(float)),
            lambda s, n, axis: s.sum(axis=axis) / n.sum(axis=axis),
            paired=True,
            vectorized=True,
            **options,
        )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def by_us(chosen: list[tuple[np.ndarray, np.ndarray | None]]) -> list[tuple[float, float]]:
    """The same cells by `mean_intervals`: one call for the cells that share their clusters."""
    found = [(np.nan, np.nan)] * len(chosen)
    groups: dict[tuple[int, bytes], list[int]] = {}
    for place, (values, clusters) in enumerate(chosen):
        key = len(values), b"" if clusters is None else clusters.tobytes()
        groups.setdefault(key, []).append(place)
    for places in groups.values():
        estimates = mean_intervals(
            np.column_stack([chosen[place][0] for place in places]),
            chosen[places[0]][1],
            names=[str(place) for place in places],
            method="bca",
            confidence_level=LEVEL,
            n_resamples=N_RESAMPLES,
            rng=generator(),
        )
        for place, one in zip(places, estimates, strict=True):
            if one.low is not None and one.high is not None:
                found[place] = (one.low, one.high)
    return found


def apart(first: list[tuple[float, float]], second: list[tuple[float, float]]) -> np.ndarray:
    """The larger distance of two intervals' ends as a share of the first's width."""
    a, b = np.array(first), np.array(second)
    return np.abs(a - b).max(axis=1) / (a[:, 1] - a[:, 0])


def coverage(simulate: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]) -> float:
    """Share of simulated studies whose BCa interval holds the true mean, 0."""
    rng, hits = generator(), 0
    for _ in range(N_COVERAGE):
        values, clusters = simulate(rng)
        [found] = mean_intervals(
            values[:, None],
            clusters,
            names=["mean"],
            method="bca",
            confidence_level=LEVEL,
            n_resamples=1_000,
            rng=rng,
        )
        hits += found.low is not None and found.high is not None and found.low <= 0 <= found.high
    return hits / N_COVERAGE


def runs_of_questions(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    values = np.repeat(rng.normal(size=200), 3) + rng.normal(scale=0.3, size=600)
    return values, np.repeat(np.arange(200), 3)


def skewed_questions(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    values = np.repeat(rng.exponential(size=200) - 1, 3) + rng.normal(scale=0.3, size=600)
    return values, np.repeat(np.arange(200), 3)


def main() -> None:
    table = full_study()
    settings = {"n_resamples": N_RESAMPLES, "rng": generator()}
    means, _ = seconds(lambda: mean_estimates(table, confidence_level=LEVEL, **settings))
    tests, _ = seconds(lambda: pairwise_tests(table, **settings))
    weights, _ = seconds(lambda: rank(table, **settings))
    print(f"{'all estimates, tests and weightings':<44} {means + tests + weights:>10.2f} s")
    chosen = cells(table)
    ours, found = seconds(lambda: by_us(chosen))
    theirs, wanted = seconds(lambda: [by_scipy(*cell, generator()) for cell in chosen])
    other = np.random.default_rng(1)
    again = [by_scipy(*cell, other) for cell in chosen]
    print(f"{f'{len(chosen)} intervals':<44} {ours:>10.2f} s")
    print(f"{'the same by scipy.stats.bootstrap':<44} {theirs:>10.2f} s")
    print(f"{'times as fast':<44} {theirs / ours:>10.1f}")
    for name, pair in (
        ("ours and SciPy's", (wanted, found)),
        ("SciPy's, other draws", (wanted, again)),
    ):
        far = apart(*pair)
        print(f"{f'ends apart, share of width, {name}':<48} {np.median(far):.4f} {far.max():.4f}")
    for simulate in (runs_of_questions, skewed_questions):
        name = f"coverage of 0.95, {simulate.__name__.replace('_', ' ')}"
        print(f"{name:<44} {coverage(simulate):>10.3f}")


if __name__ == "__main__":
    main()
