"""The five rules: shared cases, control answers, and what must not change a verdict."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rge.board import grade, grade_all, grade_command, load_items
from rge.board.answer_text import prepare
from rge.board.controls import control_grades, load_controls
from rge.board.items import CHECKS
from rge.errors import RgeError
from test_board import ITEMS, PUBLIC, ROOT, needs_public

CASES = [
    json.loads(line)
    for line in (ITEMS.parent / "board_cases.jsonl").read_text(encoding="utf-8").splitlines()
]
BOARD = load_items(ITEMS)
BY_ID = {item.id: item for item in BOARD}
POOL_FOLDER = ROOT / "data" / "board" / "rge-board"
POOL = load_items(POOL_FOLDER / "v0.1.0.json")
CONTROLS = load_controls(POOL_FOLDER / "controls-v0.1.0.json", POOL)


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_shared_case(case):
    graded = grade(BY_ID[case["item"]], case["answer"])
    assert (graded.passed, graded.reason) == (case["passed"], case["reason"]), graded.detail


def test_the_shared_cases_cover_every_check_and_reason_both_ways():
    assert len(CASES) >= 84
    assert len({case["case"] for case in CASES}) == len(CASES)
    verdicts = Counter((BY_ID[c["item"]].ragqa.check, c["passed"]) for c in CASES)
    assert set(verdicts) == {(check, passed) for check in CHECKS for passed in (True, False)}
    assert len({case["reason"] for case in CASES}) == 9


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_evidence_points_at_its_text_in_the_raw_answer(case):
    for found in grade(BY_ID[case["item"]], case["answer"]).evidence:
        raw = case["answer"][found.start : found.end]
        assert prepare(raw).text == found.text


@given(st.text(alphabet="<thinkTHINK/> a–’\u00a0\n", max_size=60))
def test_prepared_text_maps_back_onto_the_raw_answer(answer):
    prepared = prepare(answer)
    removed = sum(length for _, length in prepared.cuts)
    assert len(prepared.text) + removed == len(answer)
    assert not set("–’\u00a0") & set(prepared.text)


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_trace_in_front_changes_no_verdict(case):
    before = grade(BY_ID[case["item"]], case["answer"])
    after = grade(BY_ID[case["item"]], "<think>doc-a 31 weeks not stated</think>" + case["answer"])
    assert (before.passed, before.reason) == (after.passed, after.reason)


def test_every_item_of_the_pool_can_be_passed_and_failed_for_the_reason_given():
    for item in POOL:
        for answer in CONTROLS[item.id].passing:
            assert grade(item, answer).passed, (item.id, answer)
        for control in CONTROLS[item.id].failing:
            graded = grade(item, control.answer)
            assert (graded.passed, graded.reason) == (False, control.reason), (item.id, control)


def test_the_pool_has_its_breadth_and_half_of_it_is_about_annual_reports():
    checks = Counter(item.ragqa.check for item in POOL)
    assert checks["must-answer"] >= 8 and checks["must-refuse"] >= 6
    assert checks["must-cite"] >= 5 and checks["must-prefer-context"] >= 5
    topics = Counter(control.topic for control in CONTROLS.values())
    assert topics["annual-report"] * 2 >= len(POOL)


def test_no_pool_item_is_passed_by_its_question_or_by_saying_nothing():
    for item in POOL:
        for answer in ("", item.input, "Thank you for the question."):
            assert not grade(item, answer).passed, (item.id, answer)


def test_declining_always_earns_the_refusals_and_nothing_else():
    graded = control_grades(POOL, CONTROLS)
    assert {g.check for g in graded["abstainer"].grades if g.passed} == {"must-refuse"}
    assert graded["reference"].k == len(POOL)


def test_repeating_every_passage_earns_no_refusal_and_no_citation():
    graded = control_grades(POOL, CONTROLS)["parrot"].grades
    assert not [g for g in graded if g.passed and g.check in {"must-refuse", "must-cite"}]


def test_controls_of_other_items_are_refused():
    with pytest.raises(RgeError, match="belongs to items with hash"):
        load_controls(POOL_FOLDER / "controls-v0.1.0.json", BOARD)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda pairs: pairs[1:], "missing ids permit"),
        (lambda pairs: [*pairs, ("other", "x")], "unknown ids other"),
        (lambda pairs: [*pairs, pairs[0]], "repeated ids permit"),
    ],
)
def test_an_incomplete_run_gets_no_score(change, message):
    pairs = [(item.id, "An answer of some length.") for item in BOARD]
    with pytest.raises(RgeError, match=f"{message}.*the run is discarded"):
        grade_all(BOARD, change(pairs))


def test_the_order_of_answers_does_not_matter():
    pairs = [(item.id, CONTROLS[item.id].passing[0]) for item in POOL]
    assert grade_all(POOL, pairs) == grade_all(POOL, reversed(pairs))


# Written by hand for the public items: one answer that passes, one that fails.
PUBLIC_ANSWERS = {
    "hard-qual-derived-001": ("2,000 kWh, of which 800 are provisional.", "2,000 kWh."),
    "hard-qual-effective-001": ("48 pounds; 55 from 1 January 2027.", "48 pounds [doc-1]."),
    "hard-qual-buried-001": ("7.4 kW, never certified.", "7.4 kW."),
    "hard-qual-uncertainty-001": ("About 3.5 h, indicative only.", "3.5 hours."),
    "hard-qual-answerable-001": ("No, base\u2011plan only.", "The passages do not mention the T2."),
    "hard-qual-partial-001": ("N1; N3 isn’t mentioned.", "N1 only."),
    "ref-001": ("The X9 is not covered; the X4 has 26 months.", "Not stated; expect 26 months."),
    "hard-refuse-supersede-001": (
        "The current rating is not stated. Revision A had 140 °C.",
        "It does not say so, but 140 °C is safe.",
    ),
    "hard-refuse-temporal-001": (
        "No information on 2026; it was 4.8% in 2024 and 5.1% in 2025.",
        "Not stated for 2026; from 2024 to 2025 it rose, so 5.4%.",
    ),
    "hard-cite-supersede-001": (
        "doc-d: 165 °C. doc-a (155 °C) was withdrawn.",
        "165 °C, see doc-d and doc-b.",
    ),
    "ctx-001": ("48 units.", "60 units."),
}


@needs_public
@pytest.mark.parametrize("passing", [True, False])
def test_hand_made_answers_to_the_public_items_get_their_verdicts(passing):
    answers = [(key, pair[0 if passing else 1]) for key, pair in PUBLIC_ANSWERS.items()]
    graded = grade_all(load_items(PUBLIC), answers)
    assert [g.item_id for g in graded.grades if g.passed != passing] == []


def answers_file(folder, pairs):
    path = folder / "answers.jsonl"
    lines = [json.dumps({"id": key, "answer": answer}) + "\n" for key, answer in pairs]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_the_command_prints_verdicts_evidence_score_and_hash(tmp_path, capsys):
    path = answers_file(tmp_path, [(i.id, CONTROLS[i.id].passing[0]) for i in POOL])
    assert grade_command(POOL.path, path, POOL.content_sha256) == 0
    printed = capsys.readouterr().out
    assert "passed  ans-restated-001  must-answer" in printed
    assert "expected '5,037' at 17-22" in printed
    # Jeffreys' interval for 28 of 28 is closed at 1; its low end is qbeta(0.025, 28.5, 0.5).
    assert "score 28/28 = 1.000, 95 % Jeffreys interval [0.915, 1.000]" in printed
    assert POOL.content_sha256 in printed


def test_the_command_prints_one_json_object(tmp_path, capsys):
    pairs = [(i.id, CONTROLS[i.id].failing[0].answer) for i in POOL]
    assert grade_command(POOL.path, answers_file(tmp_path, pairs), as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["n"], printed["n_passed"], printed["score"]["value"]) == (28, 0, 0.0)
    assert {item["reason"] for item in printed["items"]} >= {"expected-missing", "no-decline"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "permit", "answer": "again"}', "answers.jsonl:7: key permit stands already"),
        ('{"id": "permit"}', "answers.jsonl:7: not a AnswerLine: answer: field required"),
        ('{"id": "x", "answer": null}', "answers.jsonl:7: .*string"),
        ('{"id": "x", "answer": "a", "score": 1}', "answers.jsonl:7: .*score"),
    ],
)
def test_a_bad_line_of_answers_is_named(tmp_path, line, message):
    path = answers_file(tmp_path, [(item.id, "text") for item in BOARD])
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(RgeError, match=message):
        grade_command(ITEMS, path)
