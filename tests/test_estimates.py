import numpy as np
import pytest

from rge.estimates import by_name, mean_estimates, question_means, rate_estimates
from rge.intervals import mean_interval, rate_interval
from rge.tables import score_table
from synthetic import MadeUp, judgement, made_up_study, question, response, retrieval


def table_of(study: MadeUp):
    return score_table(
        study.questions, study.responses, study.judgements, study.retrievals, runs=study.runs
    )


def estimates_of(table, *, n_resamples: int = 500, seed: int = 0):
    rng = np.random.default_rng(seed)
    found = mean_estimates(table, n_resamples=n_resamples, confidence_level=0.95, rng=rng)
    return by_name(found + rate_estimates(table, confidence_level=0.95))


@pytest.fixture(scope="module")
def table():
    study = made_up_study(np.random.default_rng(0), n_questions=48, n_runs=3, unscored_rate=0.05)
    return table_of(study)


@pytest.fixture(scope="module")
def found(table):
    return estimates_of(table)


def test_names_are_unique_and_complete(table):
    rng = np.random.default_rng(0)
    found = mean_estimates(table, n_resamples=200, confidence_level=0.95, rng=rng)
    found += rate_estimates(table, confidence_level=0.95)
    names = [estimate.name for estimate in found]
    assert len(set(names)) == len(names)
    for stratum in ("overall", "direct", "multihop", "adversarial", "ood"):
        assert f"alpha/{stratum}/gfs_primary" in names
        assert f"alpha minus gamma/{stratum}/g/by document, t" in names


def test_a_mean_averages_runs_first_then_questions(table, found):
    part = table[(table["subject"] == "beta") & (table["category"] == "direct")]
    per_question = [
        np.mean([v for v in group if not np.isnan(v)])
        for _, group in part.groupby("question_id")["g"]
        if group.notna().any()
    ]
    estimate = found["beta/direct/g"]
    assert estimate.value == pytest.approx(np.mean(per_question), abs=1e-9)
    assert estimate.n_questions == len(per_question)
    assert estimate.n_responses == part["g"].notna().sum()
    assert estimate.n_responses + estimate.n_unscored == len(part)


def test_an_interval_is_the_one_mean_interval_gives_within_simulation_error(table):
    values = question_means(table)[("alpha", "gfs_primary")].dropna().to_numpy()
    alone = mean_interval(values, n_resamples=20_000, rng=np.random.default_rng(1))
    found = estimates_of(table, n_resamples=20_000)["alpha/overall/gfs_primary"]
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high), abs=0.004)


def test_a_difference_is_paired_by_question(table, found):
    values = question_means(table)
    paired = (values[("alpha", "c")] - values[("gamma", "c")]).dropna()
    estimate = found["alpha minus gamma/overall/c"]
    assert estimate.value == pytest.approx(paired.mean(), abs=1e-9)
    assert estimate.n_questions == len(paired)


def test_the_same_generator_state_gives_the_same_numbers_in_any_row_order(table, found):
    shuffled = table.sample(frac=1, random_state=3)
    order = {subject: i for i, subject in enumerate(table["subject"].unique())}
    shuffled = shuffled.sort_values("subject", key=lambda s: s.map(order), kind="stable")
    assert estimates_of(shuffled) == found


def test_copied_runs_do_not_narrow_any_interval():
    once = made_up_study(np.random.default_rng(5), n_questions=24, n_runs=1)
    thrice = MadeUp(
        once.questions,
        [r.model_copy(update={"run_index": i}) for r in once.responses for i in range(3)],
        [j.model_copy(update={"run_index": i}) for j in once.judgements for i in range(3)],
        once.retrievals,
        dict.fromkeys(once.runs, 3),
    )
    first, second = estimates_of(table_of(once)), estimates_of(table_of(thrice))
    for name, estimate in first.items():
        assert second[name].low == (
            None if estimate.low is None else pytest.approx(estimate.low, abs=1e-9)
        ), name


def test_an_unscored_study_gives_undefined_estimates_and_no_error():
    table = table_of(made_up_study(np.random.default_rng(6), n_questions=8, unscored_rate=1.0))
    found = estimates_of(table)["alpha/overall/gfs_primary"]
    assert (found.value, found.method) == (None, "undefined: no scored value")
    assert (found.n_responses, found.n_unscored) == (0, 8)


def test_a_constant_cell_is_no_certainty():
    questions = [question(i, "direct") for i in range(9)]
    responses = [response(q.id, "alpha") for q in questions]
    judged = [judgement(r, j, (2, 2, 2, 2)) for r in responses for j in ("rules", "semantic")]
    shown = [retrieval(q, "all") for q in questions]
    found = estimates_of(table_of(MadeUp(questions, responses, judged, shown, {"alpha": 1})))
    assert found["alpha/overall/gfs_primary"].low is None
    rate = found["alpha/overall/correct_both"]
    assert (rate.low, rate.high) == pytest.approx((rate_interval(9, 9).low, 1.0))


def abstention_study() -> MadeUp:
    """One question per situation: (category, gold in context, state of the response)."""
    cells = [
        ("direct", "all", "refused"),
        ("direct", "all", "answered"),
        ("direct", "all", "answered"),
        ("direct", "none", "answered"),
        ("direct", "none", "refused"),
        ("multihop", "some", "answered"),
        ("ood", "none", "answered"),
        ("ood", "none", "undetermined"),
        ("ood", "none", "refused"),
    ]
    questions = [question(i, category) for i, (category, _, _) in enumerate(cells)]
    shown = [retrieval(q, g) for q, (_, g, _) in zip(questions, cells, strict=True)]
    made = [
        response(q.id, "alpha", abstained=state)
        for q, (_, _, state) in zip(questions, cells, strict=True)
    ]
    return MadeUp(questions, made, [], shown, {"alpha": 1})


def test_abstention_errors_are_counted_in_both_directions_by_what_was_shown():
    found = estimates_of(table_of(abstention_study()))
    false_refusal, missed = found["alpha/false_refusal"], found["alpha/missed_abstention"]
    assert (false_refusal.value, false_refusal.n_questions) == (pytest.approx(1 / 3), 3)
    assert (missed.value, missed.n_questions) == (pytest.approx(2 / 5), 5)
    assert found["alpha/gold_some/refused"].value == 0
    assert found["alpha/ood/refused"].value == pytest.approx(1 / 3)
    assert (false_refusal.low, false_refusal.high) == pytest.approx(
        (rate_interval(1, 3).low, rate_interval(1, 3).high), abs=1e-9
    )
    jeffreys = found["alpha/false_refusal/jeffreys"]
    assert jeffreys.high == pytest.approx(rate_interval(1, 3, method="jeffreys").high, abs=1e-9)


def test_a_response_without_text_is_no_abstention():
    study = abstention_study()
    failed = [r.model_copy(update={"status": "error"}) for r in study.responses]
    found = estimates_of(
        table_of(MadeUp(study.questions, failed, [], study.retrievals, {"alpha": 1}))
    )
    assert found["alpha/false_refusal"].value is None
    assert found["alpha/false_refusal"].n_unscored == 3


def test_scores_are_conditional_on_retrieval_for_answerable_questions_only(table, found):
    facts = table.drop_duplicates("question_id")
    answerable = facts["category"] != "ood"
    complete = facts["gold_in_context"] == "all"
    assert found["alpha/gold retrieved/answer_rate"].n_questions == (answerable & complete).sum()
    assert (
        found["alpha/gold not retrieved/answer_rate"].n_questions == (answerable & ~complete).sum()
    )
