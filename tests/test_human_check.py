import json

import numpy as np
import pytest

from rge.calibration.human_check import (
    agreement_with_people,
    confusion,
    find_labelled,
    judge_labelled,
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


def test_agreement_with_people_on_real_answers_does_not_fall():
    """Measured when the judge was written: kappa 0.71 on correctness, 0.90 on refusal."""
    path = find_labelled(load_profile("financebench"))
    if path is None:
        pytest.skip("the labelled answers are not on this machine")
    found = agreement(judge_labelled(read_labelled(path))).set_index("question")["kappa"]
    assert found["correct or not"] > 0.68
    assert found["refusal or not"] > 0.87
