import numpy as np
import pytest

from rge.records import Chunk, Distractor, GoldQuote, GoldValue, Page, Question
from rge.validation import stands_in, validate

TEXT = {
    1: "Revenue of Acme was ₹5,108 crore in FY24.",
    2: "Revenue of Acme was ₹4,512 crore in FY23. Standalone profit was ₹310 crore.",
    3: "Consolidated profit was ₹340 crore.",
}
PAGES = [Page(doc_id="d", page=n, text=text, method="pypdf") for n, text in TEXT.items()]
CHUNKS = [
    Chunk(chunk_id=f"c{n}", company="acme", fy="FY24", doc_id="d", page_start=n, page_end=n,
          heading="", text=text, n_tokens=9)
    for n, text in TEXT.items()
]  # fmt: skip


def asking(question_id, category, quotes=(), values=(), distractors=(), **changes):
    gold = tuple(GoldQuote(quote=text, doc_id="d", page=page) for text, page in quotes)
    fields = {
        "id": question_id,
        "version": 1,
        "category": category,
        "text": f"What about {question_id}?",
        "gold_answer": "see quotes",
        "gold_values": tuple(GoldValue(value=v, unit=u) for v, u in values),
        "gold_source_ids": tuple(f"c{page}" for _, page in quotes),
        "gold_quotes": gold,
        "distractors": tuple(Distractor(value=v, why="another profit") for v in distractors),
        "expected_behavior": "abstain" if category == "ood" else "answer",
        "company": "acme",
        "fy": "FY24",
        "difficulty": "easy",
    }
    return Question(**{**fields, **changes})


Q24, Q23 = ("Revenue of Acme was ₹5,108 crore", 1), ("Revenue of Acme was ₹4,512 crore", 2)
STANDALONE = ("Standalone profit was ₹310 crore", 2)
DIRECT = asking("direct", "direct", [Q24], [(5108, "₹ crore")])
MULTIHOP = asking("multihop", "multihop", [Q24, Q23], [(596, "₹ crore")])
ADVERSARIAL = asking("adversarial", "adversarial", [STANDALONE], [(310, "₹ crore")], ["₹340 crore"])
OOD = asking("ood", "ood")
GOOD = [DIRECT, MULTIHOP, ADVERSARIAL, OOD]


def report(questions, **options):
    return validate(questions, pages=PAGES, chunks=CHUNKS, **options)


def failed(result):
    return {check.name for check in result.checks if not check.ok}


def changed(question, **changes):
    return [q if q.id != question.id else q.model_copy(update=changes) for q in GOOD]


def test_a_sound_set_passes_every_check():
    result = report(GOOD, planned=dict.fromkeys(("direct", "multihop", "adversarial", "ood"), 1))
    assert result.ok and result.n_failed == 0 and failed(result) == set()
    assert result.n_by_category == {"direct": 1, "multihop": 1, "adversarial": 1, "ood": 1}
    assert {row["result"] for row in result.rows()} == {"holds"}


@pytest.mark.parametrize(
    ("questions", "name"),
    [
        ([*GOOD, DIRECT], "id stands once"),
        (changed(DIRECT, text="what about  OOD?"), "text stands once"),
        (changed(DIRECT, gold_source_ids=("c9",)), "gold chunks are in the index"),
        (changed(DIRECT, gold_source_ids=()), "has gold quotes and gold chunks"),
        (changed(DIRECT, gold_quotes=(GoldQuote(quote="5,109", doc_id="d", page=1),)),
         "gold quotes stand verbatim on their page"),
        (changed(DIRECT, gold_values=(GoldValue(value=5109, unit="₹ crore"),)),
         "gold numbers follow from the quotes"),
        (changed(MULTIHOP, gold_values=(GoldValue(value=600, unit="₹ crore"),)),
         "gold numbers follow from the quotes"),
        (changed(OOD, gold_source_ids=("c1",)), "out-of-domain: no gold, abstention expected"),
        (changed(OOD, expected_behavior="answer"), "out-of-domain: no gold, abstention expected"),
        (changed(MULTIHOP, gold_source_ids=("c1",)), "multihop: two gold chunks or more"),
        (changed(MULTIHOP, gold_quotes=MULTIHOP.gold_quotes[:1]),
         "multihop: no chunk holds all quotes"),
        (changed(ADVERSARIAL, distractors=(Distractor(value="₹355 crore", why="x"),)),
         "adversarial: distractors stand in the corpus"),
        (changed(ADVERSARIAL, distractors=()), "adversarial: distractors stand in the corpus"),
    ],
)  # fmt: skip
def test_each_fault_fails_its_check(questions, name):
    result = report(questions)
    assert name in failed(result)
    assert not result.ok and result.n_failed >= 1


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (596, "₹ crore"),  # 5,108 - 4,512
        (13.2, "%"),  # 596 / 4,512
        (9620, "₹ crore"),  # the sum
        (4810, "₹ crore"),  # the mean
        (1.132, ""),  # the ratio
    ],
)
def test_multihop_arithmetic_on_the_quotes_is_recomputed(value, unit):
    gold = asking("multihop", "multihop", [Q24, Q23], [(value, unit)])
    assert report([gold]).ok


def test_too_few_questions_of_a_category_fail_where_a_number_is_planned():
    result = report(GOOD, planned={"direct": 2, "ood": 1})
    (check,) = [c for c in result.checks if c.name == "planned number in each category"]
    assert (check.failed, check.detail) == (("direct",), "direct 1 of 2, ood 1 of 1")


def test_retrieval_is_reported_and_refuses_nothing():
    passages = {"direct": [CHUNKS[0]], "multihop": [], "adversarial": [CHUNKS[1]], "ood": []}
    result = report(GOOD, passages=passages)
    held = {check.name: check.n - len(check.failed) for check in result.checks}
    assert held["passages hold a gold chunk"] == 2
    assert held["adversarial: passages hold a distractor"] == 0
    passages["adversarial"] = [CHUNKS[2], CHUNKS[1]]
    held = {c.name: c.n - len(c.failed) for c in report(GOOD, passages=passages).checks}
    assert held["adversarial: passages hold gold and a distractor"] == 1
    assert result.ok


def test_questions_that_ask_the_same_are_reported_with_the_closest_pair():
    vectors = np.eye(4, dtype=np.float32)
    vectors[1] = vectors[0]
    (check,) = [c for c in report(GOOD, vectors=vectors).checks if "alike" in c.name]
    assert check.failed == ("direct", "multihop") and check.ok
    assert check.detail == "closest pair direct, multihop: cosine 1.000"


def test_gold_of_another_tool_need_not_stand_verbatim():
    loose = changed(DIRECT, gold_quotes=(GoldQuote(quote="Acme revenue", doc_id="d", page=1),))
    result = report(loose, verbatim=False)
    assert result.ok
    rows = {row["check"]: row["result"] for row in result.rows()}
    assert rows["gold quotes stand verbatim on their page"] == "reported"


def test_a_distractor_may_stand_in_a_table_without_its_unit():
    row = "Profit for the year 4,512.30 3,998.10"
    assert stands_in(row, "₹4,512.30 crore")
    assert not stands_in(row, "₹512.30 crore") and not stands_in(row, "₹4,512 crore")
    assert not stands_in(row, "Ms Devi")
