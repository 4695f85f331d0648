"""Scores, tables and figures of a board."""

import matplotlib

matplotlib.use("Agg")

import pytest
from matplotlib.figure import Figure
from scipy.stats import beta, binomtest

from rge.board.controls import control_grades
from rge.board.figure import draw_items, draw_scores
from rge.board.items import CHECKS
from rge.board.score import (
    check_table,
    difficulty_table,
    pair_table,
    pass_table,
    score,
    smallest_lead,
)
from test_board_grade import CONTROLS, POOL

GRADES = {name: [graded] for name, graded in control_grades(POOL, CONTROLS).items()}
NAMES = list(GRADES)


def test_the_interval_is_the_quantile_interval_of_jeffreys_prior():
    graded = GRADES["parrot"][0]
    estimate = score([graded], name="parrot")
    expected = beta.ppf([0.025, 0.975], graded.k + 0.5, graded.n - graded.k + 0.5)
    assert [estimate.low, estimate.high] == pytest.approx(list(expected))


def test_copying_every_run_does_not_narrow_the_interval():
    once, often = (score(GRADES["parrot"] * n, name="x") for n in (1, 10))
    assert (once.low, once.high, once.n_questions) == (often.low, often.high, often.n_questions)
    assert often.n_responses == 10 * once.n_responses


def test_check_columns_add_up_to_the_score():
    scores = {name: score(GRADES[name], name=name) for name in NAMES}
    table = check_table(pass_table(POOL, GRADES), scores).set_index("subject")
    for name, row in table.iterrows():
        parts = [tuple(map(int, row[check].split("/"))) for check in CHECKS]
        total = f"{sum(k for k, _ in parts)}/{sum(n for _, n in parts)}"
        assert row["all"] == total == f"{GRADES[name][0].k}/{len(POOL)}"
    assert table.loc["reference", "score"] == "1.00 [0.91, 1.00]"


def test_every_item_stands_once_among_the_difficulties():
    table = difficulty_table(pass_table(POOL, GRADES), NAMES)
    listed = [item for items in table["items"] for item in items.split(", ") if item]
    assert sorted(listed) == sorted(item.id for item in POOL)
    assert list(table["passed_by"]) == [0, 1, 2, 3] and table["n_items"].sum() == len(POOL)
    # The reference passes all; the other two never share an item.
    assert table.loc[0, "n_items"] == 0 and table.loc[3, "n_items"] == 0


def test_items_go_from_easy_to_hard_within_their_check():
    table = pass_table(POOL, GRADES)
    assert set(table.index) == {item.id for item in POOL}
    for _, group in table.groupby("check", sort=False):
        means = list(group[NAMES].mean(axis=1))
        assert means == sorted(means, reverse=True)


def test_the_smallest_lead_is_the_first_that_the_exact_test_calls_different():
    for n in (3, 5, 6, 11, 28):
        first = next((d for d in range(1, n + 1) if binomtest(d, d).pvalue <= 0.05), None)
        assert smallest_lead(n) == first


def test_a_pair_is_a_tie_until_the_test_tells_it_apart():
    pairs = pair_table(pass_table(POOL, GRADES), NAMES).set_index(["a", "b"])
    assert pairs.loc[("reference", "abstainer"), "verdict"] == "told apart"
    assert pairs.loc[("reference", "abstainer"), "only a"] == len(POOL) - 6
    same = pair_table(pass_table(POOL, {"a": GRADES["parrot"], "b": GRADES["parrot"]}), ["a", "b"])
    assert list(same["verdict"]) == ["tie"]


def test_the_figures_draw_every_item_and_every_score():
    left, right = Figure().subplots(1, 2)
    table = pass_table(POOL, GRADES)
    draw_items(left, table, NAMES, {})
    assert [label.get_text() for label in left.get_yticklabels()] == list(table.index)
    draw_scores(right, [score(GRADES[name], name=name) for name in NAMES], {})
    labels = [text.get_text() for text in right.texts]
    assert labels == ["abstainer 6/28", "parrot 15/28", "reference 28/28"]
