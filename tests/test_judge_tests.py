import json
from collections import Counter
from typing import ClassVar

import pytest

from rge.cli import main
from rge.errors import RgeError, UsageError
from rge.judging.case import Outcome
from rge.judging.rules import RulesJudge
from rge.judging.unit_report import by_dimension, by_topic, failures, measured, side_by_side
from rge.judging.unit_tests import (
    FOLDER,
    JudgeTest,
    check_outcome,
    read_judge_tests,
    run_judge_tests,
)
from rge.profile import find_root, load_profile
from rge.records import DIMENSIONS

TESTS = read_judge_tests(find_root() / FOLDER)
BY_ID = {test.id: test for test in TESTS}


def changed(test, **fields):
    return JudgeTest.model_validate_json(json.dumps(test.model_dump(mode="json") | fields))


def accepted(test, dimension):
    expected = test.expected[dimension]
    return set(expected) if isinstance(expected, tuple) else {expected}


def test_there_are_enough_tests_of_every_dimension_and_score():
    assert len(TESTS) >= 144
    for dimension in DIMENSIONS:
        plain = Counter(
            test.expected[dimension] for test in TESTS if isinstance(test.expected[dimension], int)
        )
        assert all(plain[score] >= 5 for score in (0, 2)), dimension
        borderline = sum(1 in accepted(test, dimension) for test in TESTS)
        assert borderline >= 15, dimension


def test_both_directions_of_abstention_and_partial_questions_are_tried():
    kinds = Counter((test.expected_behavior, test.case.abstained) for test in TESTS)
    assert kinds["abstain", "refused"] >= 5  # right
    assert kinds["abstain", "answered"] >= 5  # confident where there is nothing
    assert kinds["answer", "refused"] >= 4  # a false refusal
    assert sum(n for (expected, _), n in kinds.items() if expected == "partial") >= 8


def test_additions_and_contradictions_tell_two_constructs_apart():
    additions = [test for test in TESTS if test.topic == "additions"]
    denials = [test for test in TESTS if test.topic == "contradictions"]
    assert len(additions) >= 10 and len(denials) >= 10
    for test in additions:
        assert max(accepted(test, "grounding")) < 2 and accepted(test, "faithfulness") == {2}
    assert all(accepted(test, "faithfulness") == {0} for test in denials)


@pytest.mark.parametrize("test", TESTS, ids=lambda t: t.id)
def test_a_test_hangs_together(test):
    """Quotes stand in a passage or were not retrieved, ids differ, conditions name the answer."""
    ids = [passage.id for passage in test.passages]
    assert len(set(ids)) == len(ids)
    held = [any(q in p.text for p in test.passages) for q in test.gold_quotes]
    if test.topic not in ("abstention", "no_passages"):
        assert all(held)
    assert bool(test.gold_quotes) is (test.expected_behavior != "abstain")
    for texts in (test.conditions.unsupported_claims, test.conditions.contradictions):
        assert all(text in test.answer for text in texts or ())
    # What contradicts a passage is not held by it.
    if accepted(test, "faithfulness") == {0}:
        assert 2 not in accepted(test, "grounding")
    if not test.passages:
        assert test.expected["grounding"] == test.expected["faithfulness"] == "unscored"


def test_no_test_stands_twice():
    keys = Counter((t.question, t.answer, tuple(p.id for p in t.passages)) for t in TESTS)
    assert [key for key, n in keys.items() if n > 1] == []


def test_the_rules_judge_passes_most_and_all_of_the_forms_of_citations():
    checks = run_judge_tests(TESTS, "rules", "rules", RulesJudge())
    rates = by_dimension(checks).set_index("dimension")["pass_rate"]
    assert (rates[list(DIMENSIONS)] >= 0.85).all()
    topics = by_topic(checks).set_index("topic")["pass_rate"]
    assert topics["citations"] == topics["additions"] == topics["no_passages"] == 1


def test_a_judge_that_gives_everything_two_fails_where_it_should():
    class Kind:
        settings: ClassVar[dict[str, object]] = {}

        def judge_many(self, cases):
            rules = RulesJudge()
            best = BY_ID["numbers-01"].case
            return [rules.judge(best) for _ in cases]

    checks = run_judge_tests(TESTS, "kind", "kind", Kind())
    scores = [check for check in checks if check.what in DIMENSIONS]
    assert all(check.obtained == "2" for check in scores)
    wanted = [2 in accepted(check.test, check.what) for check in scores]
    assert [check.passed for check in scores] == wanted
    assert not all(wanted)


def test_lists_conditions_and_unscored_dimensions_are_checked():
    test = BY_ID["numbers-01"]
    verdict = RulesJudge().judge(test.case)
    either = changed(test, expected={key: [1, 2] for key in DIMENSIONS})
    neither = changed(test, expected={key: [0, 1] for key in DIMENSIONS})
    assert all(c.passed for c in check_outcome(either, Outcome(verdict)))
    scores = [c for c in check_outcome(neither, Outcome(verdict)) if c.what in DIMENSIONS]
    assert not any(c.passed for c in scores) and scores[0].expected == "0 or 1"
    silent = check_outcome(test, Outcome(None, "not_json"))
    assert {c.obtained for c in silent if c.what in DIMENSIONS} == {"unscored: not_json"}
    assert [c.passed for c in silent if c.what != "abstained"] == [False] * (len(silent) - 1)
    quoted = changed(test, conditions={"unsupported_claims": ["Norway"]})
    assert not check_outcome(quoted, Outcome(verdict))[-1].passed


def test_the_report_counts_what_it_lists():
    checks = run_judge_tests(TESTS, "rules", "rules", RulesJudge())
    report = measured(checks, "rules")
    n_failed = len(failures(checks))
    assert report["n_tests"] == len(TESTS)
    assert report["pass_rate"] == pytest.approx(1 - n_failed / len(checks))
    assert report["by_dimension"][-1]["passed"] == len(checks) - n_failed
    assert sum(row["n"] for row in report["by_topic"][:-1]) == len(TESTS)
    both = side_by_side({"rules": checks, "twin": checks})
    assert list(both.columns) == ["dimension", "n", "rules", "twin"]
    assert (both["rules"] == both["twin"]).all()


def test_no_judge_of_the_tests_own_family_is_measured():
    with pytest.raises(UsageError, match="own family"):
        run_judge_tests(TESTS[:1], "rules", "Construction", RulesJudge())


def test_a_bad_file_is_refused_with_its_line(tmp_path):
    line = TESTS[0].model_dump_json()
    (tmp_path / "other.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(RgeError, match=r"other.jsonl:1: id .*ids of this file are other-NN"):
        read_judge_tests(tmp_path)
    (tmp_path / "other.jsonl").write_text('{"id": "other-1"}\n', encoding="utf-8")
    with pytest.raises(RgeError, match=r"other.jsonl:1: not a JudgeTest: dimensions"):
        read_judge_tests(tmp_path)
    (tmp_path / "other.jsonl").unlink()
    with pytest.raises(RgeError, match="holds no judge tests"):
        read_judge_tests(tmp_path)


def test_dimensions_are_those_that_something_is_expected_of():
    with pytest.raises(ValueError, match="dimensions are correctness, grounding"):
        changed(TESTS[0], dimensions=["grounding"])


def test_the_command_measures_and_fails_only_below_a_wanted_share(capsys):
    assert main(["judge", "test", "--judge", "rules", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {row["dimension"] for row in report["by_dimension"]} >= {*DIMENSIONS, "all"}
    assert main(["judge", "test", "--judge", "rules", "--at-least", "0.5"]) == 0
    text = capsys.readouterr().out
    assert "checks failed" in text and "citations" in text
    wanted = "1" if report["pass_rate"] < 1 else "0"
    assert main(["judge", "test", "--judge", "rules", "--at-least", wanted]) == int(wanted)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judge", "nobody"], "no judge 'nobody'; judges are rules, semantic"),
        (["--judge", "rules", "--at-least", "90"], "--at-least: is 90.0; a share from 0 to 1"),
    ],
)
def test_wrong_usage_is_said_in_one_line(capsys, arguments, message):
    assert main(["judge", "test", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_judge_is_found_by_its_name():
    assert load_profile("offline").judge("semantic").kind == "semantic"
