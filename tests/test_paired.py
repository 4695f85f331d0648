import itertools

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference
from statsmodels.stats.multitest import multipletests

from rge.errors import UsageError
from rge.paired import (
    adjust,
    detectable_difference,
    detectable_mean_difference,
    mcnemar,
    sign_flip,
)


def pairs(n11: int, n10: int, n01: int, n00: int) -> tuple[list[int], list[int]]:
    a = [1] * n11 + [1] * n10 + [0] * n01 + [0] * n00
    b = [1] * n11 + [0] * n10 + [1] * n01 + [0] * n00
    return a, b


# Fagerland, Lydersen, Laake (2013), the airway hyper-responsiveness example (Bentur et al. 2009):
# 1 and 7 discordant pairs among 21 children.
@pytest.mark.parametrize(("method", "p"), [("exact", 0.0703), ("mid-p", 0.0391), ("chi2", 0.0339)])
def test_mcnemar_gives_the_published_p_values(method, p):
    found = mcnemar(*pairs(1, 1, 7, 12), method=method)
    assert found.p_value == pytest.approx(p, abs=5e-5)
    assert (found.n01, found.n10, found.n) == (7, 1, 21)
    assert found.odds_ratio == pytest.approx(1 / 7)


def test_mcnemar_agrees_with_statsmodels():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n10, n01 = rng.integers(0, 20, 2)
        table = [[5, n10], [n01, 5]]
        a, b = pairs(5, n10, n01, 5)
        assert mcnemar(a, b).p_value == pytest.approx(reference(table, exact=True).pvalue)
        if n10 + n01:
            chi2 = reference(table, exact=False, correction=False)
            assert mcnemar(a, b, method="chi2").p_value == pytest.approx(chi2.pvalue)


def test_mid_p_takes_half_the_weight_of_the_observed_table():
    for n10, n01 in itertools.product(range(8), repeat=2):
        n, found = n10 + n01, mcnemar(*pairs(0, n10, n01, 3), method="mid-p").p_value
        weights = [stats.binom.pmf(k, n, 0.5) for k in range(n + 1)]
        rarer = sum(w for k, w in enumerate(weights) if abs(2 * k - n) > abs(n10 - n01))
        as_rare = sum(w for k, w in enumerate(weights) if abs(2 * k - n) == abs(n10 - n01))
        expected = 1.0 if n == 0 else rarer + as_rare / 2
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("method", ["exact", "mid-p", "chi2"])
def test_without_a_discordant_pair_p_is_one_and_the_odds_ratio_undefined(method):
    found = mcnemar([1, 0, 1], [1, 0, 1], method=method)
    assert (found.p_value, found.odds_ratio) == (1.0, None)


def test_without_pairs_there_is_no_p_value():
    found = mcnemar([], [])
    assert (found.p_value, found.reason) == (None, "no pairs")


@pytest.mark.parametrize("method", ["exact", "mid-p", "chi2"])
def test_swapping_the_subjects_swaps_the_counts_and_keeps_p(method):
    a, b = pairs(3, 9, 2, 4)
    forth, back = mcnemar(a, b, method=method), mcnemar(b, a, method=method)
    assert (forth.n10, forth.n01, forth.p_value) == (back.n01, back.n10, back.p_value)
    assert forth.odds_ratio == pytest.approx(1 / back.odds_ratio)


def test_an_unscored_outcome_is_refused():
    with pytest.raises(UsageError, match="a value other than 0 and 1"):
        mcnemar([1, np.nan], [1, 0])


def test_few_clusters_are_enumerated_exactly():
    differences, clusters = [0.5, 0.25, -0.25, 1.0, 0.5], ["a", "a", "b", "c", "d"]
    found = sign_flip(differences, clusters)
    sums = [0.75, -0.25, 1.0, 0.5]
    flipped = [
        abs(sum(s * x for s, x in zip(signs, sums, strict=True)))
        for signs in itertools.product((-1, 1), repeat=4)
    ]
    assert found.p_value == sum(total >= 2.0 - 1e-12 for total in flipped) / 16
    assert (found.n10, found.n01, found.n) == (3, 1, 4)
    assert found.method == "sign flip, all 16 patterns"


def test_random_flips_agree_with_enumeration():
    differences = np.random.default_rng(1).normal(0.3, 1, size=12)
    exact = sign_flip(differences, n_resamples=4096)
    drawn = sign_flip(differences, n_resamples=4095, rng=np.random.default_rng(2))
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.03)
    assert "random" in drawn.method


def test_random_flips_are_never_less_likely_than_one_in_n():
    found = sign_flip(np.ones(60), n_resamples=999, rng=np.random.default_rng(3))
    assert found.p_value == 1 / 1000


def test_row_order_and_cluster_names_change_no_p_value():
    rng = np.random.default_rng(4)
    values, clusters = rng.normal(size=90), np.repeat(np.arange(30), 3)
    order = rng.permutation(90)
    first = sign_flip(values, clusters, rng=np.random.default_rng(5))
    second = sign_flip(values[order], -clusters[order], rng=np.random.default_rng(5))
    assert first == second


def test_copying_every_run_keeps_the_p_value():
    values = np.random.default_rng(6).choice([-1.0, 0.0, 1.0], size=50)
    once = sign_flip(values, np.arange(50), rng=np.random.default_rng(7))
    copied = sign_flip(
        np.repeat(values, 3), np.repeat(np.arange(50), 3), rng=np.random.default_rng(7)
    )
    assert copied.p_value == once.p_value
    assert copied.statistic == pytest.approx(once.statistic)


def test_no_difference_at_all_gives_p_one_and_no_rows_none():
    assert sign_flip([0.0, 0.0], ["a", "b"]).p_value == 1.0
    assert sign_flip([], []).p_value is None


def test_sign_flip_keeps_its_level_where_runs_are_copies_and_mcnemar_does_not():
    """Null is true; each question's outcome stands three times."""
    rng, clustered, naive, n = np.random.default_rng(8), 0, 0, 400
    for _ in range(n):
        difference = np.repeat(rng.choice([-1, 0, 1], size=40, p=[0.2, 0.6, 0.2]), 3)
        questions = np.repeat(np.arange(40), 3)
        clustered += sign_flip(difference, questions, n_resamples=199, rng=rng).p_value <= 0.05
        naive += mcnemar(difference == 1, difference == -1, method="mid-p").p_value <= 0.05
    assert clustered / n <= 0.08
    assert naive / n > 0.15


@pytest.mark.parametrize("method", ["bonferroni", "holm"])
def test_adjusted_p_values_are_those_of_statsmodels(method):
    rng = np.random.default_rng(9)
    for size in range(1, 8):
        p = rng.random(size) ** 3
        assert adjust(list(p), method=method) == pytest.approx(multipletests(p, method=method)[1])


def test_holm_is_the_textbook_example():
    """Holm (1979) on 0.01, 0.02, 0.03, 0.04: 0.04, 0.06, 0.06, 0.06, in any order."""
    assert adjust([0.04, 0.01, 0.03, 0.02], method="holm") == pytest.approx(
        [0.06, 0.04, 0.06, 0.06]
    )


def test_an_undefined_test_still_counts_in_the_family():
    assert adjust([0.01, None, 0.02], method="bonferroni") == [pytest.approx(0.03), None, 0.06]
    assert adjust([0.01, None, 0.02], method="holm") == [pytest.approx(0.03), None, 0.04]
    assert adjust([], method="holm") == []


@pytest.mark.parametrize(("n", "rate", "alpha"), [(200, 0.2, 0.05), (60, 0.3, 0.05 / 3)])
def test_the_detectable_difference_is_found_in_four_of_five_studies(n, rate, alpha):
    difference = detectable_difference(n, rate, alpha=alpha)
    rng = np.random.default_rng(10)
    shares = [(rate + difference) / 2, (rate - difference) / 2, 1 - rate]
    found = 0
    for n10, n01, _ in rng.multinomial(n, shares, size=3000):
        found += mcnemar(*pairs(0, n10, n01, 1), method="mid-p").p_value <= alpha
    assert found / 3000 == pytest.approx(0.8, abs=0.025)


def test_two_hundred_questions_can_show_what_the_power_table_says():
    """Differences in points at discordance 10, 20, 30 %, rounded up to half points."""
    table = {0.05: (6.5, 9, 11), 0.05 / 3: (7, 10, 12.5), 0.05 / 12: (8, 11.5, 14.5)}
    for alpha, points in table.items():
        found = [detectable_difference(200, rate, alpha=alpha) for rate in (0.1, 0.2, 0.3)]
        assert [np.ceil(200 * f) / 2 for f in found] == list(points)


def test_too_little_discordance_can_show_nothing():
    assert detectable_difference(50, 0.1) is None
    assert detectable_difference(200, 0.0) is None


def test_the_detectable_mean_difference_is_2_8_standard_errors():
    assert detectable_mean_difference(0.1) == pytest.approx(0.28, abs=2e-4)
