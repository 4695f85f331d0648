import numpy as np
import pytest

from rge.errors import RgeError
from rge.tables import bounds, contested, denominators, score_table, source_document
from synthetic import judgement, made_up_study, question, response, retrieval


def table_of(responses, judgements, questions=None, **options):
    questions = questions or [question(0, "direct")]
    retrievals = [retrieval(q, "all") for q in questions]
    return score_table(questions, responses, judgements, retrievals, **options)


def both(of, first, second):
    return [judgement(of, "rules", first), judgement(of, "semantic", second)]


@pytest.mark.parametrize(
    ("first", "second", "primary", "equal"),
    [
        ((2, 2, 2, 2), (2, 2, 2, 2), 1.0, 1.0),
        ((0, 0, 0, 0), (0, 0, 0, 0), 0.0, 0.0),
        ((2, 0, 0, 0), (2, 0, 0, 0), 0.35, 1 / 3),
        ((0, 2, 0, 0), (0, 2, 0, 0), 0.40, 1 / 3),
        ((0, 0, 2, 0), (0, 0, 2, 0), 0.25, 1 / 3),
        ((0, 0, 0, 2), (0, 0, 0, 2), 0.0, 0.0),
        ((2, 1, 0, 2), (1, 1, 1, 2), (0.4 * 1 + 0.35 * 1.5 + 0.25 * 0.5) / 2, 3 / 6),
    ],
)
def test_the_composites_are_their_formulas_on_the_mean_of_the_judges(first, second, primary, equal):
    answer = response("q000", "alpha")
    row = table_of([answer], both(answer, first, second)).iloc[0]
    assert row["gfs_primary"] == pytest.approx(primary)
    assert row["gfs_equal"] == pytest.approx(equal)
    assert row["outcome"] == "scored"
    assert row["reason"] == ""


def test_a_response_that_one_judge_could_not_score_has_no_mean_and_says_why():
    answer = response("q000", "alpha")
    row = table_of([answer], both(answer, (2, 2, 2, 2), None)).iloc[0]
    assert np.isnan(row["gfs_primary"])
    assert np.isnan(row["c"])
    assert row["c_rules"] == 2
    assert (row["outcome"], row["reason"]) == ("unscored", "semantic: no verdict")


def test_one_judge_alone_is_not_enough():
    answer = response("q000", "alpha")
    row = table_of([answer], [judgement(answer, "rules", (2, 2, 2, 2))]).iloc[0]
    assert np.isnan(row["gfs_primary"])
    assert row["reason"] == "1 of 2 judges scored it"


def test_a_dimension_without_score_leaves_the_others_their_means():
    answer = response("q000", "alpha")
    row = table_of([answer], both(answer, (2, None, 2, 2), (2, 2, 2, 2))).iloc[0]
    assert (row["c"], row["f"]) == (2.0, 2.0)
    assert np.isnan(row["g"])
    assert row["reason"] == "rules, grounding: evidence not found"


@pytest.mark.parametrize(
    ("status", "outcome"), [("error", "error"), ("refused_by_provider", "refused")]
)
def test_a_failure_never_gets_a_score_even_when_a_judge_gave_one(status, outcome):
    answer = response("q000", "alpha", status=status)
    row = table_of([answer], both(answer, (2, 2, 2, 2), (2, 2, 2, 2))).iloc[0]
    assert np.isnan(row["gfs_primary"])
    assert row["outcome"] == outcome


def test_a_planned_response_that_does_not_exist_is_a_row():
    answer = response("q000", "alpha")
    runs = {"alpha": 2}
    table = table_of([answer], both(answer, (2, 2, 2, 2), (2, 2, 2, 2)), runs=runs)
    assert list(table["outcome"]) == ["scored", "missing"]
    assert table["reason"].iloc[1] == "no response"


def test_denominators_close_and_bounds_hold_every_completion():
    rng = np.random.default_rng(0)
    study = made_up_study(rng, n_questions=40, n_runs=2, unscored_rate=0.2)
    lost = [r for r in study.responses if r.key != ("q003", "beta", 1)]
    kept = {r.key for r in lost}
    judged = [j for j in study.judgements if j.key[:3] in kept]
    table = score_table(study.questions, lost, judged, study.retrievals, runs=study.runs)
    counts = denominators(table)
    parts = ["n_scored", "n_unscored", "n_refused", "n_error", "n_missing"]
    assert (counts["n_planned"] == 80).all()
    assert (counts[parts].sum(axis=1) == counts["n_planned"]).all()
    assert counts.set_index("subject").loc["beta", "n_missing"] == 1
    for subject, group in table.groupby("subject"):
        low, high = bounds(group, "gfs_primary")
        for _ in range(20):
            filled = group["gfs_primary"].fillna(rng.random())
            assert low <= filled.mean() <= high, subject


def test_everything_unscored_still_makes_a_table():
    study = made_up_study(np.random.default_rng(1), n_questions=8, unscored_rate=1.0)
    table = score_table(study.questions, study.responses, study.judgements, study.retrievals)
    counts = denominators(table)
    assert (counts["n_scored"] == 0).all()
    assert (counts["worst_case"] == 0).all()
    assert (counts["best_case"] == 1).all()


def test_contested_means_more_than_one_point_apart_on_any_dimension():
    near, far = response("q000", "alpha"), response("q001", "alpha")
    judged = both(near, (2, 1, 0, 2), (1, 0, 1, 1)) + both(far, (2, 2, 2, 2), (2, 0, 2, 0))
    table = table_of([near, far], judged, [question(0, "direct"), question(1, "multihop")])
    assert list(table["contested"]) == [False, True]
    shown = contested(table)
    assert list(shown["question_id"]) == ["q001"]
    assert shown["contested_dimensions"].iloc[0] == "grounding, faithfulness"
    assert shown["g_semantic"].iloc[0] == 0


def test_record_order_changes_nothing():
    study = made_up_study(np.random.default_rng(2), n_questions=12, unscored_rate=0.1)
    first = score_table(
        study.questions, study.responses, study.judgements, study.retrievals, runs=study.runs
    )
    second = score_table(
        study.questions[::-1],
        study.responses[::-1],
        study.judgements[::-1],
        study.retrievals[::-1],
        runs=study.runs,
    )
    assert first.equals(second)


def test_subjects_keep_the_order_of_the_profile():
    study = made_up_study(np.random.default_rng(3), n_questions=4)
    runs = {"gamma": 1, "alpha": 1, "beta": 1}
    table = score_table(
        study.questions, study.responses, study.judgements, study.retrievals, runs=runs
    )
    assert list(table["subject"].unique()) == ["gamma", "alpha", "beta"]


def test_records_that_belong_nowhere_are_refused():
    answer = response("q000", "alpha")
    with pytest.raises(RgeError, match="its question is not in the study"):
        table_of([response("q999", "alpha")], [])
    with pytest.raises(RgeError, match="stands twice"):
        table_of([answer, answer], [])
    with pytest.raises(RgeError, match="is not planned"):
        table_of([answer], [], runs={"beta": 1})
    with pytest.raises(RgeError, match="belongs to no planned response"):
        table_of([answer], [judgement(response("q000", "beta"), "rules", None)])
    with pytest.raises(RgeError, match="stands twice"):
        table_of([answer], [judgement(answer, "rules", None)] * 2)
    with pytest.raises(RgeError, match="no response is planned"):
        table_of([], [])


def test_the_source_document_is_that_of_the_first_quote_else_company_and_year():
    assert source_document(question(3, "direct")) == "firm1-FY24"
    assert source_document(question(3, "ood")) == "firm1-FY24"
