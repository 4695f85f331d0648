from functools import cache

import numpy as np
import pytest

from rge.comparisons import pairwise_tests
from rge.estimates import by_name, mean_estimates, rate_estimates
from rge.ranking import rank, ranking_values
from rge.reliability import judge_agreement, variance_splits
from rge.reports import reporting
from rge.store import write_json
from rge.tables import denominators, score_table
from rge.variables import format_values
from synthetic import made_up_study


@cache
def parts(unscored_rate: float, n_runs: int = 1):
    study = made_up_study(
        np.random.default_rng(0), n_questions=24, n_runs=n_runs, unscored_rate=unscored_rate
    )
    table = score_table(
        study.questions, study.responses, study.judgements, study.retrievals, runs=study.runs
    )
    rng = np.random.default_rng(1)
    settings = {"n_resamples": 200, "confidence_level": 0.95, "rng": rng}
    found = mean_estimates(table, **settings) + rate_estimates(table, confidence_level=0.95)
    return {
        "names": list(study.runs),
        "found": by_name(found),
        "tests": pairwise_tests(table, n_resamples=200, rng=rng),
        "ranked": rank(table, n_resamples=200, rng=rng),
        "agreement": judge_agreement(table, **settings),
        "splits": variance_splits(table),
        "counts": denominators(table),
    }


@pytest.fixture(scope="module", params=[0.0, 0.1, 1.0], ids=["all", "most", "nothing scored"])
def made(request):
    return parts(request.param)


def test_result_files_can_be_stored_and_read_by_the_paper(made, tmp_path):
    """No NaN, no undefined number without its reason, no two names with one slug."""
    files = {
        "tests": reporting.tests_values(made["tests"]),
        "ranking": ranking_values(made["ranked"]),
        "summary": reporting.study_values(made["counts"], made["agreement"], made["splits"]),
    }
    for name, values in files.items():
        path = tmp_path / f"{name}.json"
        write_json(path, {"values": values})
        assert format_values(values, name, path)


def test_every_table_can_be_shown(made):
    scores = reporting.score_rows(made["found"], made["names"], made["splits"])
    assert list(scores["measure"][:2]) == ["responses scored", "GFS"]
    assert set(scores.columns[1:]) == set(made["names"])
    assert len(reporting.pair_rows(made["tests"], made["found"])) == 9
    assert len(reporting.agreement_rows(made["agreement"])) == 4
    assert list(reporting.denominator_rows(made["counts"])["planned"]) == [24, 24, 24]


def test_the_answer_holds_the_numbers_of_the_estimates():
    made = parts(0.0)
    text = reporting.answer(made["found"], made["names"], made["tests"], made["ranked"], [])
    estimate = made["found"]["alpha/overall/gfs_primary"]
    assert f"alpha {estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]" in text
    assert "alpha > beta > gamma" in text
    flipped = reporting.answer(
        made["found"], made["names"], made["tests"], made["ranked"], ["alpha > beta"]
    )
    assert "Run noise alone could reverse alpha > beta." in flipped


def test_an_unscored_study_is_answered_with_reasons():
    made = parts(1.0)
    text = reporting.answer(made["found"], made["names"], made["tests"], made["ranked"], [])
    assert "alpha undefined: no scored value" in text
    assert "There is no ranking: no question is scored for all subjects." in text


def test_subjects_stand_best_first():
    made = parts(0.0)
    scores = reporting.score_rows(made["found"], made["names"][::-1], made["splits"])
    assert list(scores.columns) == ["measure", "alpha", "beta", "gamma"]


def test_a_context_nobody_was_in_is_left_out_of_the_figure():
    made = parts(0.0)
    names = [name for name, _ in reporting.contexts_present(made["found"], made["names"])]
    assert "gold_all" in names
    empty = {
        key: estimate.model_copy(update={"n_questions": 0}) if "gold_some" in key else estimate
        for key, estimate in made["found"].items()
    }
    present = reporting.contexts_present(empty, made["names"])
    assert "gold_some" not in [name for name, _ in present]
