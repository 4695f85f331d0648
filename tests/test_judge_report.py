import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from rge.calibration.controls import pass_rates
from rge.records import DIMENSIONS
from rge.reports import judge_report


@pytest.fixture
def table():
    rows = []
    for i, (a, b) in enumerate([(2, 2), (2, 0), (1, 2), (0, 0), (np.nan, 2)]):
        row = {"subject": "reader", "question_id": f"q{i}", "run_index": 0, "category": "direct"}
        for letter in "cgkf":
            row |= {f"{letter}_rules": a, f"{letter}_semantic": b}
        row["contested"] = bool(abs(a - b) > 1)
        row["contested_dimensions"] = "correctness" if row["contested"] else ""
        row["outcome"] = "unscored" if np.isnan(a) else "scored"
        rows.append(row)
    return pd.DataFrame(rows)


@pytest.fixture
def rates():
    rows = [
        {
            "control": kind,
            "question_id": f"q{i}",
            "judge": judge,
            "dimension": dimension,
            "expected": 2,
            "obtained": 0.0 if judge == "semantic" and kind == "parrot" else 2.0,
        }
        for kind in ("parrot", "oracle")
        for judge in ("rules", "semantic")
        for dimension in DIMENSIONS
        for i in range(2)
    ]
    return pass_rates(pd.DataFrame(rows))


def test_means_are_per_judge_over_what_it_scored(table):
    found = judge_report.means(table).set_index("judge")
    assert found["scored"].to_dict() == {"rules": 4, "semantic": 5}
    assert found.loc["rules", "grounding"] == pytest.approx(5 / 4)
    assert found.loc["semantic", "grounding"] == pytest.approx(6 / 5)


def test_controls_come_in_their_order_with_both_judges(rates):
    found = judge_report.control_rows(rates)
    assert found["control"].tolist() == ["oracle", "parrot"]
    assert found["grounding: score, passed"].tolist() == ["2: 100% / 100%", "2: 100% / 0%"]


def test_the_grid_counts_each_pair_of_scores_once(table):
    figure = Figure()
    ax = judge_report.joint_scores(figure.subplots(), table, "correctness", ["rules", "semantic"])
    texts = [int(text.get_text()) for text in ax.texts]
    assert sum(texts) == 4
    # Row by row from below, the first judge across.
    assert texts == [1, 0, 1, 0, 0, 0, 0, 1, 1]
    assert len(ax.patches) == 2


def test_the_answer_names_weak_cells(table, rates):
    text = judge_report.answer(table, rates)
    assert "4/5 (80 %)" in text and "1 are contested" in text
    assert "*semantic* on grounding of the parrot" in text


def test_nothing_contested_is_an_empty_table_with_columns(table):
    none = table[table["contested"] & False]
    assert list(judge_report.contested_rows(none).columns)
