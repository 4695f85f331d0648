import numpy as np
import pandas as pd
import pytest

from rge.errors import UsageError
from rge.variance import decompose, run_standard_error


def frame(values: np.ndarray, documents: int | None = None) -> pd.DataFrame:
    """Rows of an array (question, run) or (question, run, judge)."""
    names = ["question_id", "run_index", "judge"][: values.ndim]
    index = pd.MultiIndex.from_product([range(n) for n in values.shape], names=names)
    rows = pd.DataFrame({"value": values.ravel()}, index=index).reset_index()
    return rows if documents is None else rows.assign(document=rows["question_id"] % documents)


def test_within_and_between_are_their_formulas():
    values = np.random.default_rng(0).normal(size=(30, 3))
    split = decompose(frame(values))
    within = np.mean(np.var(values, axis=1, ddof=1))
    assert split.within == pytest.approx(within)
    assert split.within_sd == pytest.approx(np.sqrt(within))
    between = np.var(values.mean(axis=1), ddof=1) - within / 3
    assert split.between == pytest.approx(max(0, between))


@pytest.mark.parametrize("value", [1 / 3, 0.7333333, 0.1 + 0.2])
def test_equal_runs_have_exactly_no_run_noise(value):
    values = np.repeat(np.array([[value], [0.2], [0.9]]), 3, axis=1)
    split = decompose(frame(values))
    assert split.within == 0.0
    assert split.components["run"] == 0.0
    assert split.reason == ""


def test_equal_runs_have_exactly_no_run_noise_with_two_judges():
    values = np.repeat(np.random.default_rng(1).random((9, 1, 2)), 3, axis=1)
    split = decompose(frame(values, documents=3))
    assert (split.components["run"], split.components["rest"]) == (0.0, 0.0)
    assert (split.shares["run"], split.within) == (0.0, 0.0)


def test_one_run_leaves_the_run_noise_undefined_with_a_reason():
    split = decompose(frame(np.random.default_rng(2).random((9, 1))))
    assert (split.within, split.between, split.reliability) == (None, None, None)
    assert split.reason == "one run a question shows no run noise"
    assert split.components["run"] is None
    assert "one run" in split.component_reasons["run"]


def test_one_run_of_a_deterministic_subject_has_no_run_noise():
    split = decompose(frame(np.random.default_rng(3).random((9, 1))), deterministic=True)
    assert (split.within, split.components["run"]) == (0.0, 0.0)
    assert split.reason == "one run: the subject is declared deterministic"


def test_nothing_scored_is_undefined_with_a_reason():
    split = decompose(frame(np.full((4, 2), np.nan)))
    assert (split.within, split.reason, split.n_questions) == (None, "no scored response", 0)
    assert set(split.components.values()) == {None}


def test_components_are_recovered_from_simulated_scores():
    """Mean over 150 studies of 12 documents x 8 questions x 3 runs x 2 judges."""
    truth = {
        "document": 0.25,
        "question": 0.64,
        "run": 0.09,
        "judge": 0.04,
        "judge x question": 0.16,
        "rest": 0.0625,
    }
    rng, found = np.random.default_rng(4), []
    sd = {name: np.sqrt(value) for name, value in truth.items()}
    for _ in range(150):
        values = (
            np.tile(rng.normal(0, sd["document"], 12), 8)[:, None, None]
            + rng.normal(0, sd["question"], (96, 1, 1))
            + rng.normal(0, sd["run"], (96, 3, 1))
            + rng.normal(0, sd["judge"], (1, 1, 2))
            + rng.normal(0, sd["judge x question"], (96, 1, 2))
            + rng.normal(0, sd["rest"], (96, 3, 2))
        )
        found.append(decompose(frame(values, documents=12)).components)
    means = pd.DataFrame(found).mean()
    for name, value in truth.items():
        assert means[name] == pytest.approx(value, abs=0.03), name


def test_shares_add_up_to_one():
    values = np.random.default_rng(5).random((12, 3, 2))
    shares = decompose(frame(values, documents=4)).shares
    assert sum(share for share in shares.values() if share is not None) == pytest.approx(1)


def test_what_cannot_be_told_apart_says_why():
    reasons = decompose(frame(np.random.default_rng(6).random((5, 2)))).component_reasons
    assert reasons["judge"] == "one judge"
    assert reasons["document"] == "no document is given"


def test_incomplete_questions_are_counted_and_left_out_of_the_components():
    rows = frame(np.random.default_rng(7).random((6, 2, 2)))
    rows.loc[3, "value"] = np.nan
    split = decompose(rows)
    assert split.n_incomplete == 1
    assert split.components["question"] is not None


def test_row_order_changes_nothing():
    rows = frame(np.random.default_rng(8).random((10, 2, 2)), documents=3)
    assert decompose(rows) == decompose(rows.sample(frac=1, random_state=1))


def test_a_score_that_stands_twice_is_refused():
    rows = frame(np.ones((2, 1)))
    with pytest.raises(UsageError, match=r"\[0, 0\] stands twice"):
        decompose(pd.concat([rows, rows.head(1)]))


def test_a_missing_column_is_named():
    with pytest.raises(UsageError, match="no column run_index"):
        decompose(pd.DataFrame({"question_id": [1], "value": [1.0]}))


def test_run_error_is_the_spread_of_the_mean_over_imagined_reruns():
    rng = np.random.default_rng(9)
    means = [rng.normal(0, 0.4, (50, 3)).mean() for _ in range(4000)]
    one = run_standard_error(frame(rng.normal(0, 0.4, (50, 3))))
    assert one == pytest.approx(np.std(means), rel=0.2)
    assert run_standard_error(frame(np.ones((5, 1)))) is None
    assert run_standard_error(frame(np.ones((5, 1))), deterministic=True) == 0.0
