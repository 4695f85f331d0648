import numpy as np
import pytest

from rge.records import Absent, Chunk, Distractor, GoldQuote, GoldValue, Page, Question
from rge.validation import validate

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
        "gold_answer": ", ".join(f"{v} {u}" for v, u in values) or "see quotes",
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
OOD = asking("ood", "ood", absent=(Absent(text="dividend"),))
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
    (numbers,) = [c for c in result.checks if c.name == "gold numbers follow from the quotes"]
    assert numbers.detail == "2 stands in a quote, 1 difference"


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
        (changed(ADVERSARIAL, distractors=(Distractor(value="₹312 crore", why="x"),)),
         "distractors are not the gold"),
        (changed(OOD, absent=()), "out-of-domain: the answer is nowhere in the documents"),
        (changed(OOD, absent=(Absent(text="STANDALONE  profit"),)),
         "out-of-domain: the answer is nowhere in the documents"),
        (changed(DIRECT, gold_source_ids=("c1", "c3")),
         "gold chunks are those that hold the quotes"),
        (changed(DIRECT, gold_answer="5,108 crore, up from 4,512 crore"),
         "gold answer states the gold numbers"),
        (changed(DIRECT, gold_answer="5,180 crore"), "gold answer states the gold numbers"),
        (changed(DIRECT, company="acne"), "company and year have a document"),
        (changed(DIRECT, fy="FY19"), "company and year have a document"),
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
    assert (check.failed, check.detail) == (
        ("direct",),
        "4 of 3; direct 1 of 2, ood 1 of 1",
    )
    assert check.faults[0].message == "1 questions of 2 planned; write 1 more"


def test_each_company_and_year_is_asked_about_often_enough_where_that_is_planned():
    later = CHUNKS[0].model_copy(update={"chunk_id": "c4", "fy": "FY25", "doc_id": "e"})
    chunks = [*CHUNKS, later]
    free = validate(GOOD, pages=PAGES, chunks=chunks)
    assert free.ok
    result = validate(GOOD, pages=PAGES, chunks=chunks, per_company=5)
    said = {f.message for c in result.checks if not c.ok for f in c.faults}
    wanted = {
        "4 questions; at least 5 wanted",
        "no question about FY25; ask about each of its years",
    }
    assert said == wanted


def test_an_adversarial_question_without_a_distractor_in_its_passages_is_refused():
    passages = {"direct": [CHUNKS[0]], "multihop": [], "adversarial": [CHUNKS[1]], "ood": []}
    result = report(GOOD, passages=passages)
    held = {check.name: check.n - len(check.failed) for check in result.checks}
    assert held["passages hold a gold chunk"] == 2
    assert failed(result) == {"adversarial: passages hold a distractor"}
    passages["adversarial"] = [CHUNKS[2]]
    result = report(GOOD, passages=passages)
    assert result.ok
    (both,) = [c for c in result.checks if c.name.endswith("hold gold and a distractor")]
    assert (both.failed, both.detail) == (("adversarial",), "0 of 1; the aim is 90%")
    passages["adversarial"] = [CHUNKS[2], CHUNKS[1]]
    (both,) = [c for c in report(GOOD, passages=passages).checks if c.name == both.name]
    assert (both.failed, both.detail) == ((), "1 of 1; the aim is 90%")


def test_an_out_of_domain_question_far_from_every_passage_is_refused():
    near = dict.fromkeys(("direct", "multihop", "adversarial"), 0.1)
    assert report(GOOD, similarities={**near, "ood": 0.61}).ok
    result = report(GOOD, similarities={**near, "ood": 0.31})
    assert failed(result) == {"out-of-domain: passages are topically close"}
    assert "cosine 0.31 to 0.31, median 0.31" in {c.detail for c in result.checks}


def test_all_faults_of_a_question_are_told_each_with_what_to_do():
    gold = (GoldQuote(quote="₹4,512 crore", doc_id="d", page=1),
            GoldQuote(quote="Revenue", doc_id="x", page=1))  # fmt: skip
    result = report(changed(DIRECT, gold_quotes=gold))
    said = [f.message for c in result.checks if "verbatim" in c.name for f in c.faults]
    assert said == [
        "its quote is not on page 1 of d: “₹4,512 crore”; it stands on page 2",
        "its quote is not on page 1 of x: “Revenue”; there is no such document; documents are d",
    ]


def test_a_question_without_documents_is_counted_and_checked_by_its_own_words_only():
    away = asking("away", "direct", [("Sales of 12 crore", 1)], [(12, "crore")],
                  status="unanchored", company="zenith")  # fmt: skip
    away = away.model_copy(update={"gold_source_ids": ()})
    result = report([*GOOD, away], planned={"direct": 2})
    assert result.ok and result.n_by_category["direct"] == 2
    (check,) = [c for c in result.checks if c.name == "anchored: its documents are here"]
    assert check.failed == ("away",)
    wrong = away.model_copy(update={"gold_values": (GoldValue(value=13, unit="crore"),)})
    assert failed(report([*GOOD, wrong])) == {
        "gold answer states the gold numbers",
        "gold numbers follow from the quotes",
    }
    assert validate([away], pages=[], chunks=[], planned={"direct": 1}).ok


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
