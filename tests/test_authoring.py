import json
import re

import pytest

from rge.authoring import Desk, example
from rge.errors import RgeError, UsageError
from rge.records import Question
from small_corpus import small_profile

DIRECT = {
    "id": "d1",
    "version": 1,
    "category": "direct",
    "text": "What revenue did Acme report for FY24?",
    "gold_answer": "Acme reported 5,108 crore.",
    "gold_values": [{"value": 5108, "unit": "crore"}],
    "gold_quotes": [{"quote": "revenue of 5,108 crore", "doc_id": "acme-FY24", "page": 1}],
    "distractors": [],
    "expected_behavior": "answer",
    "company": "acme",
    "fy": "FY24",
    "difficulty": "easy",
    "notes": "",
}
ADVERSARIAL = {
    **DIRECT,
    "id": "a1",
    "category": "adversarial",
    "text": "Which revenue did Acme state in its report for FY24?",
    "distractors": [{"value": "4,512 crore", "why": "revenue of the year before"}],
}
MULTIHOP = {
    **DIRECT,
    "id": "m1",
    "category": "multihop",
    "text": "By how much did the revenue of Acme rise from FY23 to FY24?",
    "gold_answer": "It rose by 596 crore.",
    "gold_values": [{"value": 596, "unit": "crore"}],
    "gold_quotes": [
        {"quote": "revenue of 5,108 crore", "doc_id": "acme-FY24", "page": 1},
        {"quote": "revenue of 4,512 crore", "doc_id": "acme-FY23", "page": 1},
    ],
}
OOD = {
    **DIRECT,
    "id": "o1",
    "category": "ood",
    "text": "What revenue did Acme report for FY22?",
    "gold_answer": "The reports do not state this.",
    "gold_values": [],
    "gold_quotes": [],
    "expected_behavior": "abstain",
    "absent": ["for FY22", {"text": "5,108 crore", "doc_id": "acme-FY23"}],
}
GOOD = [DIRECT, ADVERSARIAL, MULTIHOP, OOD]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    profile = small_profile(tmp_path_factory.mktemp("desk"), size=24, overlap=6)
    return Desk(profile, against=None)


def test_sound_drafts_of_every_category_have_no_problem(desk):
    verdicts = desk.check_all(GOOD)
    assert [verdict.problems for verdict in verdicts] == [()] * 4
    direct, adversarial, multihop, ood = verdicts
    assert direct.gold == (1,) and direct.gold_shown
    assert adversarial.distractor_shown and adversarial.distractors[0][1] is not None
    assert multihop.numbers == ("596 crore: difference of 5,108 crore and 4,512 crore",)
    assert ood.gold == () and not ood.gold_shown
    assert direct.nearest is not None and direct.nearest[0] in {"a1", "o1"}


@pytest.mark.parametrize(
    ("draft", "problem"),
    [
        ({**DIRECT, "colour": 1}, "colour: extra inputs are not permitted"),
        ({k: v for k, v in DIRECT.items() if k != "fy"}, "fy: field required.*fields are id"),
        ({**DIRECT, "gold_quotes": [{**DIRECT["gold_quotes"][0], "page": 2}]},
         "is not on page 2 of acme-FY24: “revenue of 5,108 crore”; it stands on page 1"),
        ({**DIRECT, "gold_quotes": [{**DIRECT["gold_quotes"][0], "quote": "of 5,109"}]},
         "it stands nowhere in that document"),
        ({**DIRECT, "gold_values": [{"value": 5109, "unit": "crore"}]},
         "does not follow from the quotes: 5109 crore"),
        ({**ADVERSARIAL, "distractors": [{"value": "4,513 crore", "why": "x"}]},
         "“4,513 crore” stands nowhere in the corpus"),
        ({**ADVERSARIAL, "distractors": [{"value": "5,108", "why": "x"}]},
         "within 1% of the gold 5108 crore"),
        ({**MULTIHOP, "gold_values": [{"value": 600, "unit": "crore"}]},
         "nearest is difference of 5,108 crore and 4,512 crore = 596"),
        ({**MULTIHOP, "gold_quotes": MULTIHOP["gold_quotes"][:1]}, "holds all its quotes"),
        ({**OOD, "absent": []}, "names nothing in `absent`"),
        ({**OOD, "absent": ["REVENUE of 5,108"]}, "should be absent and stands on page 1 of acme"),
        ({**OOD, "absent": [{"text": "x", "doc_id": "acme-FY22"}]}, "document 'acme-FY22'"),
        ({**OOD, "text": "How long should sourdough be baked?"}, "nearest passage is at cosine 0"),
    ],
)  # fmt: skip
def test_each_fault_of_a_draft_is_told(desk, draft, problem):
    verdict = desk.check(draft)
    assert not verdict.ok
    assert any(re.search(problem, said) for said in verdict.problems)


def test_a_distractor_that_no_passage_holds_is_a_problem(tmp_path):
    profile = small_profile(tmp_path, size=24, overlap=6)
    narrow = profile.retrieval.model_copy(update={"top_k": 1})
    desk = Desk(profile.model_copy(update={"retrieval": narrow}), against=None)
    draft = {**ADVERSARIAL, "distractors": [{"value": "212 million", "why": "x"}]}
    verdict = desk.check(draft)
    assert verdict.gold_shown and not verdict.distractor_shown
    (said,) = verdict.problems
    assert said.startswith("no passage holds a declared distractor")


def test_the_line_holds_the_ids_of_the_chunks_with_the_quotes_and_reads_back(desk):
    line = desk.line(MULTIHOP)
    question = Question.model_validate_json(line)
    chunks = desk.index.chunks
    for quote in MULTIHOP["gold_quotes"]:
        holding = [i for i in question.gold_source_ids if quote["quote"] in chunks[i].text]
        assert holding
    fields = json.loads(line)
    assert "status" not in fields and "absent" not in fields
    assert json.loads(desk.line(OOD))["absent"] == OOD["absent"]
    with pytest.raises(RgeError, match=r"draft d1: .*does not follow.*mend the draft"):
        desk.line({**DIRECT, "gold_values": [{"value": 1, "unit": "crore"}]})


def test_the_same_id_or_the_same_question_stands_once(desk):
    again = {**DIRECT, "id": "d2"}
    first, second = desk.check_all([DIRECT, again])
    assert first.problems[0].startswith("asks nearly the same as d2 (1.000)")
    assert second.nearest == ("d1", pytest.approx(1.0, abs=1e-5))
    reworded = {**DIRECT, "text": "How many ports does Zenith run?"}
    assert "id d1 stands already" in desk.check_all([DIRECT, reworded])[0].problems[0]


def test_a_draft_that_stands_in_the_set_already_is_not_compared_with_itself(desk):
    known = [Question.model_validate(draft) for draft in GOOD]
    same = Desk(desk.profile, against=known, index=desk.index)
    assert same.check(DIRECT).ok
    assert not same.check({**DIRECT, "text": "What was the revenue of Acme in FY24, again?"}).ok


def test_find_looks_in_a_document_a_company_or_everywhere(desk):
    found = desk.find("acme", "CHAIRED   the board")
    assert list(zip(found.document, found.page, strict=True)) == [
        ("acme-FY23", 2),
        ("acme-FY24", 2),
    ]
    assert "Ms Devi" in found.text[0]
    assert len(desk.find("acme-FY24", "chaired the board")) == 1
    assert len(desk.find("", "fy24")) == 3
    assert desk.find("zenith", "no such words").empty
    with pytest.raises(RgeError, match="acne: no such document or company; documents are acme-FY"):
        desk.find("acne", "board")


def test_a_page_is_shown_as_extracted_and_one_beyond_the_end_is_refused(desk):
    assert "nine ports" in " ".join(desk.page("zenith-FY24", 1).split())
    with pytest.raises(RgeError, match="zenith-FY24 page 3: no such page; pages are 1 to 2"):
        desk.page("zenith-FY24", 3)


def test_passages_mark_quotes_and_distractors(desk):
    table = desk.passages(
        ADVERSARIAL["text"], quotes=["revenue of 5,108 crore"], distractors=["₹4,512 crore"]
    )
    assert list(table["rank"]) == [1, 2, 3, 4, 5]
    assert list(table.cosine) == sorted(table.cosine, reverse=True)
    marks = [mark for mark in table.holds if mark]
    assert any(mark.startswith("gold “revenue of 5,108") for mark in marks)
    assert any("distractor ₹4,512 crore" in mark for mark in marks)
    assert len(desk.passages("ports", k=2)) == 2


def test_the_example_of_a_company_has_distractors_where_one_of_its_questions_does():
    known = [Question.model_validate(draft) for draft in GOOD]
    assert example(known).id == example(known, "acme").id == "a1"
    assert example([known[0], known[3]]).id == "d1"
    with pytest.raises(UsageError, match="no question about 'acne'; one of acme"):
        example(known, "acne")
