import numpy as np
import pandas as pd
import pytest

from rge.calibration.gate import (
    NOT_LABELLED,
    gate_answer,
    gate_rows,
    gate_table,
    gate_values,
    score_shares,
)
from rge.calibration.preregistration import Registration
from rge.records import DIMENSIONS

REGISTERED = Registration(
    {"kappa_threshold": 0.75, "dimensions": ["correctness", "grounding", "calibration"]}, "0" * 64
)


def scores(given, judge="rules"):
    """The same (expected, obtained) pairs on every dimension."""
    return pd.DataFrame(
        [
            {
                "control": "oracle",
                "question_id": f"q{i}",
                "judge": judge,
                "dimension": dimension,
                "expected": expected,
                "obtained": obtained,
            }
            for dimension in DIMENSIONS
            for i, (expected, obtained) in enumerate(given)
        ]
    )


def table(given):
    return gate_table(
        scores(given),
        REGISTERED,
        confidence_level=0.95,
        n_resamples=200,
        rng=np.random.default_rng(1),
    ).set_index("dimension")


def test_perfect_agreement_passes_where_it_is_gated():
    found = table([(0, 0), (1, 1), (2, 2)] * 5)
    assert found["kappa"].eq(1.0).all()
    assert found["passed"].tolist() == [True, True, True, None]


def test_kappa_is_that_of_a_table_worked_by_hand():
    # 20 of 25 agree; both raters give 2 for 15 of 25: p_e = 0.36 + 0.16 = 0.52.
    given = [(2, 2)] * 12 + [(0, 0)] * 7 + [(2, 0)] * 3 + [(0, 2)] * 3
    row = table(given).loc["correctness"]
    p_e = 0.6 * 0.6 + 0.4 * 0.4
    assert row["kappa"] == pytest.approx((19 / 25 - p_e) / (1 - p_e))
    assert row["passed"] is False or not row["passed"]


def test_a_constant_rater_is_undefined_and_does_not_pass():
    row = table([(2, 2)] * 10).loc["grounding"]
    assert row["kappa"] is None or np.isnan(row["kappa"])
    assert not row["passed"]
    assert row["reason"]
    shown = gate_rows(table([(2, 2)] * 10).reset_index())
    assert shown["κ by construction"].str.startswith("undefined: ").all()


def test_the_prevalence_paradox_is_flagged():
    given = [(2, 2)] * 47 + [(2, 0)] * 2 + [(0, 2)] * 1
    row = table(given).loc["correctness"]
    assert row["raw"] > 0.9 and row["kappa"] < 0.4
    assert row["paradox"]


def test_unscored_controls_are_counted_and_left_out_of_kappa():
    row = table([(2, 2), (0, 0), (1, 1), (2, np.nan)] * 3).loc["correctness"]
    assert (row["n"], row["n_unscored"]) == (9, 3)


def test_human_cells_cannot_be_filled_by_construction():
    shown = gate_rows(table([(0, 0), (1, 1), (2, 2)] * 5).reset_index())
    assert set(shown["κ with human labels"]) == {NOT_LABELLED}
    values = gate_values(table([(0, 0), (2, 2)] * 5).reset_index(), 10, REGISTERED)
    assert (values["label_source"], values["n_human_labels"]) == ("construction", 0)


def test_the_answer_names_what_failed_and_that_nobody_has_labelled():
    bad = table([(2, 0), (0, 2), (1, 1)] * 4).reset_index()
    text = gate_answer(bad, REGISTERED)
    assert "0 of 3" in text and "*rules* on grounding" in text
    assert "No human labels exist yet" in text


def test_shares_of_the_labels_add_up():
    shares = score_shares(scores([(0, 0), (1, 2), (2, 2)]))
    assert shares[["score 0", "score 1", "score 2"]].sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert list(shares["source"][:2]) == ["construction", "rules"]
