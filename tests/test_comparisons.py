import numpy as np
import pytest

from rge.comparisons import OUTCOMES, P_VALUES, comparison_values, in_words, pairwise_tests
from rge.paired import adjust, mcnemar, sign_flip
from rge.tables import score_table
from synthetic import judgement, made_up_study, question, response, retrieval


def table_of(study):
    return score_table(
        study.questions, study.responses, study.judgements, study.retrievals, runs=study.runs
    )


def compare(table, *, n_resamples=500, seed=0):
    return pairwise_tests(table, n_resamples=n_resamples, rng=np.random.default_rng(seed))


@pytest.fixture(scope="module")
def table():
    study = made_up_study(np.random.default_rng(0), n_questions=40, n_runs=2, unscored_rate=0.05)
    return table_of(study)


@pytest.fixture(scope="module")
def tests(table):
    return compare(table)


def row_of(tests, a, b, outcome, stratum="overall"):
    chosen = tests[
        (tests["a"] == a)
        & (tests["b"] == b)
        & (tests["outcome"] == outcome)
        & (tests["stratum"] == stratum)
    ]
    assert len(chosen) == 1
    return chosen.iloc[0]


@pytest.mark.parametrize(("outcome", "least"), [("correct_both", 2.0), ("correct_mean", 1.5)])
def test_mcnemar_is_taken_over_question_and_run_of_scored_pairs(table, tests, outcome, least):
    a, b = (
        table[table["subject"] == who].set_index(["question_id", "run_index"])["c"]
        for who in ("alpha", "gamma")
    )
    scored = a.notna() & b.notna()
    expected = mcnemar(a[scored] >= least, b[scored] >= least)
    row = row_of(tests, "alpha", "gamma", outcome)
    assert (row["n10"], row["n01"], row["n_pairs"]) == (expected.n10, expected.n01, expected.n)
    assert row["p_exact"] == expected.p_value
    assert row["n_pairs"] + row["n_unscored"] == 80


def test_the_claim_rests_on_whole_questions(table, tests):
    a, b = (
        table[table["subject"] == who].set_index(["question_id", "run_index"])
        for who in ("alpha", "beta")
    )
    difference = (a["gfs_primary"] - b["gfs_primary"]).dropna()
    questions = difference.index.get_level_values("question_id")
    expected = sign_flip(difference, questions, n_resamples=20_000, rng=np.random.default_rng(1))
    row = row_of(tests, "alpha", "beta", "gfs_primary")
    assert row["p_by_question"] == pytest.approx(expected.p_value, abs=0.02)
    assert row["difference"] == pytest.approx(difference.mean(), abs=1e-9)


@pytest.mark.parametrize("name", P_VALUES)
@pytest.mark.parametrize("method", ["bonferroni", "holm"])
def test_the_family_is_the_pairs_of_one_outcome_in_one_stratum(tests, name, method):
    for outcome in OUTCOMES:
        family = tests[(tests["stratum"] == "ood") & (tests["outcome"] == outcome)]
        assert len(family) == 3
        assert list(family[f"{name}_{method}"]) == adjust(list(family[name]), method=method)


def test_only_the_comparison_over_all_questions_is_not_exploratory(tests):
    assert set(tests.loc[~tests["exploratory"].astype(bool), "stratum"]) == {"overall"}


def test_a_subject_that_is_run_once_meets_every_run_of_the_other():
    study = made_up_study(np.random.default_rng(2), n_questions=12, n_runs=3)
    once = [r for r in study.responses if r.subject != "beta" or r.run_index == 0]
    kept = {r.key for r in once}
    judged = [j for j in study.judgements if j.key[:3] in kept]
    runs = {"alpha": 3, "beta": 1, "gamma": 3}
    table = score_table(study.questions, once, judged, study.retrievals, runs=runs)
    assert row_of(compare(table), "alpha", "beta", "correct_both")["n_pairs"] == 36


def test_equal_subjects_give_p_one_and_say_that_nothing_is_detectable():
    questions = [question(i, "direct") for i in range(6)]
    made = [response(q.id, who) for who in ("alpha", "beta") for q in questions]
    judged = [judgement(r, j, (2, 2, 2, 2)) for r in made for j in ("rules", "semantic")]
    shown = [retrieval(q, "all") for q in questions]
    tests = compare(score_table(questions, made, judged, shown))
    row = row_of(tests, "alpha", "beta", "correct_both")
    assert (row["p_exact"], row["p_mid_p"], row["p_by_question"]) == (1, 1, 1)
    assert (row["odds_ratio"], row["detectable"]) == (None, None)
    assert row["reason"] == "no odds ratio: b is never right alone; no pair is discordant"


def test_an_unscored_study_has_no_p_values_and_a_reason():
    study = made_up_study(np.random.default_rng(3), n_questions=8, unscored_rate=1.0)
    tests = compare(table_of(study))
    assert tests["p_exact"].isna().all()
    assert (tests["reason"] == "no pair is scored by both judges on both sides").all()
    assert "cannot be compared" in in_words(tests)


def test_one_subject_has_no_comparison():
    study = made_up_study(np.random.default_rng(4), n_questions=8, subjects=("alpha",))
    assert len(compare(table_of(study))) == 0


def test_no_undefined_number_is_stored_without_a_reason(tests):
    values = comparison_values(tests[tests["stratum"] == "overall"])
    assert set(values) == {"alpha minus beta", "alpha minus gamma", "beta minus gamma"}
    for outcomes in values.values():
        assert set(outcomes) == set(OUTCOMES)
        for numbers in outcomes.values():
            for name, value in numbers.items():
                assert value is not None or numbers[f"{name}_reason"], name


def test_words_follow_the_corrected_clustered_test(tests):
    row = row_of(tests, "alpha", "gamma", "correct_both")
    sentence = in_words(tests)
    points = f"{100 * row['difference']:.0f} points"
    assert f"alpha is fully correct {points} more often than gamma" in sentence
    strict = in_words(tests, alpha=0.0)
    assert f"alpha and gamma differ by {points}, which may be chance" in strict
