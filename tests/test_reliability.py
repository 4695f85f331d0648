import numpy as np
import pytest

from rge.agreement import cohen_kappa
from rge.reliability import (
    divergence,
    judge_agreement,
    judge_scores,
    run_errors,
    split_row,
    variance_splits,
)
from rge.tables import score_table
from synthetic import made_up_study


@pytest.fixture(scope="module")
def table():
    study = made_up_study(np.random.default_rng(0), n_questions=40, n_runs=2, unscored_rate=0.05)
    return score_table(
        study.questions, study.responses, study.judgements, study.retrievals, runs=study.runs
    )


def test_judges_are_compared_on_what_both_scored(table):
    found = judge_agreement(
        table, confidence_level=0.95, n_resamples=300, rng=np.random.default_rng(1)
    )
    assert len(found) == 4 * 4
    part = table[table["subject"] == "beta"].dropna(subset=["g_first", "g_second"])
    row = found[(found["subject"] == "beta") & (found["dimension"] == "grounding")].iloc[0]
    assert row["n"] == len(part)
    assert row["raw"] == pytest.approx((part["g_first"] == part["g_second"]).mean())
    assert row["kappa"] == pytest.approx(cohen_kappa(part["g_first"], part["g_second"]).value)
    assert row["low"] < row["kappa"] < row["high"]


def test_each_judges_own_composite_averages_to_the_mean_composite(table):
    scores = judge_scores(table[table["subject"] == "alpha"])
    means = scores.groupby(["question_id", "run_index"])["value"].agg(["mean", "size"])
    expected = table[table["subject"] == "alpha"].set_index(["question_id", "run_index"])
    both = means["size"] == 2
    assert means.loc[both, "mean"].to_numpy() == pytest.approx(
        expected.loc[means.index[both], "gfs_primary"].to_numpy()
    )


def test_a_deterministic_subject_shows_exactly_no_run_noise(table):
    once = table[table["run_index"] == 0]
    assert variance_splits(once, ["alpha"])["alpha"].within == 0.0
    assert variance_splits(once)["beta"].within is None
    assert run_errors(once, ["alpha"]) == {"alpha": 0.0, "beta": None, "gamma": None}
    assert split_row(variance_splits(once)["beta"])["reason"] == (
        "one run a question shows no run noise"
    )


def test_an_unjudged_study_has_no_agreement_and_no_variance_but_reasons():
    study = made_up_study(np.random.default_rng(2), n_questions=6)
    table = score_table(study.questions, study.responses, [], study.retrievals, runs=study.runs)
    found = judge_agreement(
        table, confidence_level=0.95, n_resamples=100, rng=np.random.default_rng(3)
    )
    assert len(found) == 0
    assert variance_splits(table)["alpha"].reason == "no scored response"


def test_divergence_from_the_validation_set_is_flagged_by_an_interval():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 400)
    noisy = np.where(rng.random(400) < 0.5, rng.integers(0, 3, 400), truth)
    good, bad = cohen_kappa(truth, np.roll(truth, 0)), cohen_kappa(truth, noisy)
    near = cohen_kappa(truth, np.where(rng.random(400) < 0.5, rng.integers(0, 3, 400), truth))
    fine = cohen_kappa(truth, np.where(rng.random(400) < 0.1, rng.integers(0, 3, 400), truth))
    assert divergence(bad, fine)[0] is True
    assert divergence(bad, near)[0] is False
    assert divergence(bad, good)[0] is None
    assert "interval undefined" in divergence(bad, good)[1]
