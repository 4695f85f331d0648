import json

import pytest

from rge.corpus.chunk import chunk_document
from rge.corpus.tokens import encoding
from rge.errors import RgeError, UsageError
from rge.profile import load_profile
from rge.questions import anchor, left_out, load_questions, study_questions
from rge.records import GoldQuote, Page, Question

LINE = {
    "id": "q1",
    "version": 1,
    "category": "direct",
    "text": "What was the revenue?",
    "gold_answer": "5,108 crore",
    "expected_behavior": "answer",
    "company": "acme",
    "fy": "FY24",
    "difficulty": "easy",
}
WORDS = " ".join(f"word{i}" for i in range(120))
TEXTS = [f"Revenue was\n5,108 crore. {WORDS}", f"{WORDS} The board met seven times. {WORDS}"]
PAGES = [
    Page(doc_id="acme-FY24", page=n, text=text, method="pypdf") for n, text in enumerate(TEXTS, 1)
]


def chunks_of(size, overlap):
    return chunk_document(
        PAGES, company="acme", fy="FY24", size=size, overlap=overlap, encoding=encoding()
    )


def asking(*quotes, **changes):
    gold = tuple(GoldQuote(quote=text, doc_id=doc_id, page=page) for text, doc_id, page in quotes)
    return Question(**{**LINE, "gold_quotes": gold, **changes})


def written(path, *lines):
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({**LINE, "id": "q2", "category": "oos"}, r"q\.jsonl:2: .*category: .*got 'oos'"),
        ({**LINE, "id": "q2", "colour": "red"}, r"q\.jsonl:2: .*colour"),
        ({k: v for k, v in LINE.items() if k != "text"}, r"q\.jsonl:2: .*text"),
        ("{not json", r"q\.jsonl:2: "),
        (LINE, r"q\.jsonl:2: key q1 stands already on line 1"),
    ],
)
def test_a_wrong_line_is_named_by_its_number(tmp_path, second, message):
    with pytest.raises(RgeError, match=message):
        load_questions(written(tmp_path / "q.jsonl", LINE, second))


def test_an_empty_or_missing_file_is_an_error(tmp_path):
    with pytest.raises(RgeError, match="holds no questions"):
        load_questions(written(tmp_path / "q.jsonl"))
    with pytest.raises(RgeError, match="no such file"):
        load_questions(tmp_path / "none.jsonl")


@pytest.mark.parametrize(("size", "overlap"), [(60, 15), (200, 25), (800, 100)])
def test_gold_ids_are_the_chunks_that_hold_the_quote_for_any_chunk_size(size, overlap):
    chunks = chunks_of(size, overlap)
    quotes = [("Revenue was 5,108 crore.", 1), ("The board met seven times.", 2)]
    (question,) = anchor([asking(*((q, "acme-FY24", n) for q, n in quotes))], chunks, PAGES)
    slow = [
        c.chunk_id
        for quote, _ in quotes
        for c in chunks
        if " ".join(quote.split()) in " ".join(c.text.split())
    ]
    assert list(question.gold_source_ids) == list(dict.fromkeys(slow))
    assert slow


def test_ids_in_the_file_are_replaced_and_questions_without_quotes_have_none():
    stale = asking(gold_source_ids=("acme-FY24-00000000",), category="ood")
    (question,) = anchor([stale], chunks_of(60, 15), PAGES)
    assert question.gold_source_ids == ()


@pytest.mark.parametrize(
    ("quote", "message"),
    [
        (("Revenue was 5,109 crore.", "acme-FY24", 1), "quote is not on page 1 of acme-FY24: “Rev"),
        (("The board met seven times.", "acme-FY24", 1), "is not on page 1 .*fix the quote"),
        (("Revenue", "acme-FY22", 1), "page 1 of acme-FY22, which is not in the corpus"),
        ((WORDS, "acme-FY24", 1), "no single chunk holds its quote whole: “word0 .*shorten"),
    ],
)
def test_a_quote_that_does_not_resolve_is_an_error_with_the_quote(quote, message):
    with pytest.raises(RgeError, match=f"question q1: .*{message}"):
        anchor([asking(quote)], chunks_of(60, 15), PAGES)


def test_a_quote_on_another_page_with_the_same_words_is_not_taken():
    first = f"word3 {WORDS}"
    twice = [
        PAGES[0].model_copy(update={"text": first}),
        PAGES[1].model_copy(update={"text": first}),
    ]
    chunks = chunk_document(
        twice, company="acme", fy="FY24", size=60, overlap=15, encoding=encoding()
    )
    (question,) = anchor([asking(("word60 word61", "acme-FY24", 2))], chunks, twice)
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    assert all(by_id[i].page_start <= 2 <= by_id[i].page_end for i in question.gold_source_ids)


def profile_with(path, **changes):
    return load_profile("offline").model_copy(update={"questions": path, **changes})


def test_a_limit_takes_the_categories_in_turn_and_keeps_file_order(tmp_path):
    categories = ["direct"] * 4 + ["multihop"] * 4 + ["adversarial"] * 4 + ["ood"] * 4
    lines = [{**LINE, "id": f"q{i:02d}", "category": c} for i, c in enumerate(categories)]
    path = written(tmp_path / "q.jsonl", *lines)
    chosen = study_questions(profile_with(path, limit_questions=6))
    assert [q.id for q in chosen] == ["q00", "q01", "q04", "q05", "q08", "q12"]
    assert len(study_questions(profile_with(path, limit_questions=99))) == 16


def test_question_ids_choose_and_an_unknown_one_is_refused(tmp_path):
    path = written(tmp_path / "q.jsonl", LINE, {**LINE, "id": "q2"})
    assert [q.id for q in study_questions(profile_with(path, question_ids=("q2",)))] == ["q2"]
    with pytest.raises(UsageError, match="question_ids names 'q7'"):
        study_questions(profile_with(path, question_ids=("q7",)))
    with pytest.raises(UsageError, match="questions is missing"):
        study_questions(profile_with(None))


def test_questions_without_their_documents_are_left_out_of_a_study_and_counted(tmp_path):
    away = {**LINE, "id": "q2", "status": "unanchored"}
    profile = profile_with(written(tmp_path / "q.jsonl", LINE, away))
    assert [q.id for q in study_questions(profile)] == ["q1"]
    assert [q.id for q in left_out(profile)] == ["q2"]


def test_status_and_absent_stand_in_a_line_only_where_they_say_something():
    plain = Question.model_validate(LINE)
    assert not {"status", "absent"} & plain.model_dump(mode="json").keys()
    absent = ["no such words", {"text": "electric", "doc_id": "acme-FY23"}]
    full = Question.model_validate({**LINE, "status": "unanchored", "absent": absent})
    line = full.model_dump_json()
    assert json.loads(line)["absent"] == absent and json.loads(line)["status"] == "unanchored"
    assert Question.model_validate_json(line) == full
