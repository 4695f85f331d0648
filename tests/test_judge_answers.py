import json

import pytest

from rge.cli import main
from rge.errors import RgeError, UsageError
from rge.judging.answers import AnswerJudgement, judge_answers, read_answers
from rge.judging.rules import RulesJudge
from rge.profile import load_profile
from rge.specs import JudgeSpec
from rge.store import read_jsonl

RULES = JudgeSpec(name="rules", kind="rules", family="rules")
PASSAGE = {
    "id": "tulivar-FY24-0a1b2c3d",
    "text": "Revenue was ₹812.40 crore in FY24 against ₹640.10 crore in FY23.",
}
PLAIN = {
    "id": "a",
    "question": "What was Tulivar's revenue in FY24?",
    "gold_answer": "₹812.40 crore",
    "answer": "Revenue was ₹812.40 crore in FY24.",
}
CITED = {
    **PLAIN,
    "id": "b",
    "answer": f"Revenue was ₹812.40 crore in FY24 [{PASSAGE['id']}].",
    "passages": [PASSAGE],
    "gold_quotes": ["Revenue was ₹812.40 crore in FY24"],
}


@pytest.fixture
def judged(tmp_path):
    def run(*lines, judge=None):
        source, target = tmp_path / "answers.jsonl", tmp_path / "judgements.jsonl"
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        source.write_text(text, encoding="utf-8")
        profile = load_profile("offline")
        counts = judge_answers(profile, RULES, read_answers(source), target, judge or RulesJudge())
        return counts, {j.id: j for j in read_jsonl(target, AnswerJudgement)}

    run.target = tmp_path / "judgements.jsonl"
    return run


def scores(judgement):
    names = ("correctness", "grounding", "calibration", "faithfulness")
    return tuple(getattr(judgement, name).score for name in names)


def test_without_passages_grounding_and_faithfulness_are_unscored_with_the_reason(judged):
    _, found = judged(PLAIN)
    assert found["a"].correctness.score == 2
    for name in ("grounding", "faithfulness"):
        dimension = getattr(found["a"], name)
        assert dimension.score is None and "passages" in dimension.unscored_reason
    assert found["a"].abstained == "answered"


def test_with_passages_every_dimension_is_scored(judged):
    _, found = judged(CITED, {**CITED, "id": "c", "answer": "Revenue was ₹640.10 crore in FY24."})
    assert scores(found["b"]) == (2, 2, 2, 2)
    assert scores(found["c"])[0] == 0 and found["c"].contradictions


def test_what_is_expected_is_read_from_the_gold_answer_where_it_is_not_given(judged):
    none = {**PLAIN, "gold_answer": "The report does not disclose this."}
    _, found = judged(
        {**none, "id": "refuses", "answer": "The passages do not state it."},
        {**none, "id": "invents", "answer": "Revenue was ₹900 crore."},
        {**PLAIN, "id": "false refusal", "answer": "The passages do not state it."},
        {**PLAIN, "id": "told", "answer": "Not disclosed.", "expected_behavior": "abstain"},
    )
    assert {key: j.correctness.score for key, j in found.items()} == {
        "refuses": 2,
        "invents": 0,
        "false refusal": 0,
        "told": 2,
    }
    assert found["refuses"].abstained == "refused"


def test_a_gold_quote_that_stands_in_no_passage_was_not_shown(judged):
    elsewhere = {**PASSAGE, "text": "The Board met four times."}
    line = {**CITED, "answer": "The passages do not state it.", "passages": [elsewhere]}
    _, found = judged(line)
    assert found["b"].calibration.score == 2


def test_an_empty_answer_is_a_record_with_its_reason(judged):
    counts, found = judged({**PLAIN, "answer": " "})
    assert (found["a"].status, found["a"].unscored_reason) == ("unscored", "empty_response")
    assert counts.failed == 1


def test_finished_judgements_are_not_made_again(judged):
    judged(PLAIN)
    before = judged.target.read_bytes()
    counts, found = judged(PLAIN, CITED)
    assert (counts.new, counts.already_done) == (1, 1)
    assert judged.target.read_bytes().startswith(before)
    assert list(found) == ["a", "b"]


def test_a_run_that_was_killed_goes_on_where_it_stopped(judged):
    class Killed(RulesJudge):
        def judge_many(self, cases):
            raise KeyboardInterrupt

    judged(PLAIN)
    with pytest.raises(KeyboardInterrupt):
        judged(PLAIN, CITED, judge=Killed())
    with judged.target.open("ab") as file:
        file.write(b'{"question_id": "b", "torn')
    counts, found = judged(PLAIN, CITED)
    assert (counts.new, counts.already_done, list(found)) == (1, 1, ["a", "b"])


@pytest.mark.parametrize("key", ["answer", "gold_answer", "question", "passages"])
def test_a_judgement_of_another_line_is_refused(judged, key):
    judged(CITED)
    change = [{**PASSAGE, "text": "Other."}] if key == "passages" else "₹700 crore"
    with pytest.raises(RgeError, match="of b was made with another judge, rubric or answer"):
        judged({**CITED, key: change})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({**CITED, "id": "a"}, "answers.jsonl:2: key a stands already on line 1"),
        ({**CITED, "gold": "x"}, "answers.jsonl:2: not a AnswerLine: gold: extra inputs"),
        ({"id": "b", "question": "x", "answer": "y"}, "answers.jsonl:2: .* gold_answer: field req"),
        ({**CITED, "id": ""}, "answers.jsonl:2: not a AnswerLine: id"),
        ({**CITED, "passages": [PASSAGE, PASSAGE]}, "answers.jsonl:2: .* stands twice"),
        ({**CITED, "expected_behavior": "guess"}, "answers.jsonl:2: .*expected_behavior"),
    ],
)
def test_bad_lines_are_refused_with_their_number_before_anything_is_judged(judged, line, message):
    with pytest.raises(RgeError, match=message):
        judged(PLAIN, line)
    assert not judged.target.exists()


def test_no_judge_of_the_answers_own_family_is_asked(tmp_path):
    kin = JudgeSpec(name="kin", kind="rules", family="Given-Answers")
    with pytest.raises(UsageError, match="own family"):
        judge_answers(load_profile("offline"), kin, [], tmp_path / "out.jsonl", RulesJudge())


def test_the_command_writes_a_judgement_a_line(tmp_path, capsys):
    source, target = tmp_path / "in.jsonl", tmp_path / "new" / "out.jsonl"
    source.write_text(json.dumps(PLAIN) + "\n", encoding="utf-8")
    arguments = ["judge", "answers", "--judge", "rules", "--in", str(source), "--out"]
    assert main([*arguments, str(target)]) == 0
    assert "1 new, 0 already done" in capsys.readouterr().out
    (line,) = target.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["abstained"] == "answered"
    assert main([*arguments, str(source)]) == 2
    assert "is the file of the answers" in capsys.readouterr().err
    assert main([*arguments[:-2], str(tmp_path / "none.jsonl"), "--out", str(target)]) == 1
    assert "no such file" in capsys.readouterr().err
