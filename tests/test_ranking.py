from itertools import permutations

import numpy as np
import pytest

from rge.ranking import (
    EQUAL,
    PRIMARY,
    flips,
    in_words,
    leader_region,
    order_under,
    rank,
    ranking_values,
    region,
    reversible,
    share_of_simplex,
)
from rge.tables import score_table
from synthetic import made_up_study


def grid(n: int = 120) -> np.ndarray:
    """Midpoints of a triangular lattice over the weight simplex."""
    i, j = np.meshgrid(np.arange(n), np.arange(n))
    keep = i + j < n
    return np.stack([i[keep], j[keep], n - 1 - i[keep] - j[keep]], axis=1) / (n - 1)


MEANS = {
    "alpha": np.array([1.4, 1.1, 1.2]),
    "beta": np.array([1.2, 1.3, 1.2]),
    "gamma": np.array([1.3, 0.9, 1.35]),
}


def test_the_order_under_given_weights_is_that_of_the_weighted_means():
    assert order_under(MEANS, PRIMARY) == ("alpha", "beta", "gamma")
    assert order_under(MEANS, np.array([0.0, 1.0, 0.0])) == ("beta", "alpha", "gamma")


def test_shares_of_the_simplex_agree_with_counting_a_grid():
    weights = grid()
    orders = [order_under(MEANS, w) for w in weights]
    for order in permutations(MEANS):
        counted = np.mean([found == order for found in orders])
        assert share_of_simplex(region(MEANS, order)) == pytest.approx(counted, abs=0.02)
    for leader in MEANS:
        counted = np.mean([found[0] == leader for found in orders])
        assert share_of_simplex(leader_region(MEANS, leader)) == pytest.approx(counted, abs=0.02)


def test_all_orders_together_fill_the_simplex():
    shares = [share_of_simplex(region(MEANS, order)) for order in permutations(MEANS)]
    assert sum(shares) == pytest.approx(1)


def test_a_subject_that_is_best_on_every_dimension_leads_everywhere():
    means = {"best": np.array([2.0, 2.0, 2.0]), **MEANS}
    assert share_of_simplex(leader_region(means, "best")) == pytest.approx(1)
    assert share_of_simplex(leader_region(means, "beta")) == 0


def test_half_the_simplex_by_symmetry():
    means = {"a": np.array([1.0, 0.0, 0.5]), "b": np.array([0.0, 1.0, 0.5])}
    assert share_of_simplex(region(means, ("a", "b"))) == pytest.approx(0.5)


def test_a_ranking_comes_from_questions_scored_for_every_subject():
    study = made_up_study(np.random.default_rng(0), n_questions=60, unscored_rate=0.1)
    table = score_table(
        study.questions, study.responses, study.judgements, study.retrievals, runs=study.runs
    )
    found = rank(table, n_resamples=1000, rng=np.random.default_rng(1))
    wide = table.pivot(index="question_id", columns="subject", values="gfs_primary").dropna()
    assert found.n_questions == len(wide)
    assert list(found.order_primary) == list(wide.mean().sort_values(ascending=False).index)
    assert {s: (m @ EQUAL) / 2 for s, m in found.means.items()} == pytest.approx(
        table.set_index("question_id")
        .loc[wide.index]
        .groupby("subject")["gfs_equal"]
        .mean()
        .to_dict()
    )
    assert 0.9 < found.resampled_order_share <= 1
    assert "the order is alpha > beta > gamma" in in_words(found)


def test_tied_subjects_are_named_and_never_hold_their_order():
    study = made_up_study(np.random.default_rng(2), n_questions=10, subjects=("alpha",))
    twins = [r.model_copy(update={"subject": "beta"}) for r in study.responses]
    judged = [j.model_copy(update={"subject": "beta"}) for j in study.judgements]
    table = score_table(
        study.questions,
        study.responses + twins,
        study.judgements + judged,
        study.retrievals,
        runs={"alpha": 1, "beta": 1},
    )
    found = rank(table, n_resamples=200, rng=np.random.default_rng(3))
    assert found.ties == (("alpha", "beta"),)
    assert found.resampled_order_share == 0
    assert "alpha and beta are tied" in in_words(found)
    assert reversible(found, {"alpha": 0.0, "beta": 0.0}) == ["alpha > beta"]


def test_without_scores_there_is_no_ranking_and_a_reason():
    study = made_up_study(np.random.default_rng(4), n_questions=8, unscored_rate=1.0)
    table = score_table(study.questions, study.responses, study.judgements, study.retrievals)
    found = rank(table, n_resamples=100, rng=np.random.default_rng(5))
    assert found.reason == "no question is scored for all subjects"
    values = ranking_values(found)
    assert values["same_order_share"] is None
    assert values["same_order_share_reason"] == found.reason
    assert in_words(found) == "There is no ranking: no question is scored for all subjects."


def test_run_noise_flips_a_gap_smaller_than_its_own_error():
    assert flips(0.01, 0.01, 0.01) is True
    assert flips(0.05, 0.01, 0.01) is False
    assert flips(0.05, 0.0, 0.0) is False
    assert flips(0.05, None, 0.0) is None
