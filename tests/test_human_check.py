import json

import numpy as np
import pytest

from rge.calibration.human_check import (
    agreement_with_people,
    confusion,
    find_labelled,
    judge_labelled,
    part_of,
    read_labelled,
    values,
)
from rge.errors import RgeError
from rge.profile import load_profile

REVENUE = "What was revenue in FY22 (in USD millions)?"
ROWS = [
    ("q1", REVENUE, 90, "It was $90 million.", "Correct Answer"),
    ("q1", REVENUE, 90, "It was $95 million.", "Incorrect Answer"),
    ("q2", "Did Acme pay a dividend?", "Yes", "Yes, it paid one.", "Correct Answer"),
    ("q2", "Did Acme pay a dividend?", "Yes", "The text does not say.", "Refusal"),
]


def write(path, rows=ROWS):
    lines = [
        json.dumps(
            {
                "financebench_id": qid,
                "question": question,
                "gold_answer": gold,
                "model_answer": answer,
                "label": label,
                "run": "r",
            }
        )
        for qid, question, gold, answer, label in rows
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def agreement(judged):
    rng = np.random.default_rng(1)
    return agreement_with_people(judged, confidence_level=0.95, n_resamples=200, rng=rng)


def test_the_judge_reads_answers_as_people_labelled_them(tmp_path):
    judged = judge_labelled(read_labelled(write(tmp_path / "a.jsonl")))
    assert judged["correctness"].tolist() == [2, 0, 2, 0]
    assert judged["abstained"].tolist() == ["answered", "answered", "answered", "refused"]
    assert agreement(judged)["kappa"].tolist() == [1.0, 1.0]
    assert confusion(judged).iloc[:, 1:].to_numpy().sum() == len(ROWS)


def test_a_profile_without_labelled_answers_says_so():
    assert find_labelled(load_profile("offline")) is None
    people = agreement(judge_labelled([]))
    assert people["kappa"].isna().all()
    assert values(people)["correct or not"]["kappa_reason"] == "no labelled answers here"
    assert len(confusion(judge_labelled([]))) == 3


def test_a_path_that_is_given_must_exist(tmp_path):
    with pytest.raises(RgeError, match="no such file"):
        find_labelled(load_profile("offline"), str(tmp_path / "none.jsonl"))


@pytest.mark.parametrize("line", ["{", '{"question": "q"}'])
def test_a_bad_line_is_named(tmp_path, line):
    path = write(tmp_path / "a.jsonl")
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(RgeError, match=r"a\.jsonl:5: not a labelled answer"):
        read_labelled(path)


def test_an_unknown_label_is_named(tmp_path):
    path = write(tmp_path / "a.jsonl", [(*ROWS[0][:4], "Good")])
    with pytest.raises(RgeError, match=r"a\.jsonl:1: label 'Good'"):
        read_labelled(path)


def test_a_hash_puts_a_quarter_of_the_questions_aside():
    parts = [part_of(f"question {n}") for n in range(4000)]
    assert 900 < parts.count("held out") < 1100
    assert part_of("question 7") == part_of("question 7")
    judged = judge_labelled([])
    assert "part" in judged.columns


def test_agreement_with_people_on_real_answers_does_not_fall():
    """Measured: kappa 0.86 and 0.96 in development, 0.74 and 0.84 held out, 0.82 and 0.92 in all.

    The held-out part is not looked at here, so that a change that fits it alone is not rewarded.
    """
    path = find_labelled(load_profile("financebench"))
    if path is None:
        pytest.skip("the labelled answers are not on this machine")
    answers = [a for a in read_labelled(path) if part_of(a.question_id) == "development"]
    found = agreement(judge_labelled(answers)).set_index("question")["kappa"]
    assert found["correct or not"] > 0.82
    assert found["refusal or not"] > 0.93
