import json

import pytest

from rge.corpus_text import CorpusText
from rge.errors import RgeError, UsageError
from rge.questions_file import anchor_file, read_lines
from rge.records import Chunk, Page

TEXTS = ["Revenue was 5,108 crore.", "The Board met\nseven times.", "Seven. Seven."]
PAGES = [Page(doc_id="d", page=n, text=text, method="pypdf") for n, text in enumerate(TEXTS, 1)]
CHUNKS = [
    Chunk(chunk_id=f"c{n}", company="acme", fy="FY24", doc_id="d", page_start=n, page_end=n,
          heading="", text=text, n_tokens=9)
    for n, text in enumerate(TEXTS, 1)
]  # fmt: skip
CORPUS = CorpusText(PAGES, CHUNKS)
FIELDS = {
    "version": 1,
    "category": "direct",
    "text": "What?",
    "gold_answer": "₹5,108 crore",
    "expected_behavior": "answer",
    "company": "acme",
    "fy": "FY24",
    "difficulty": "easy",
}


def line(question_id, quote, page, **changes):
    quotes = [{"quote": quote, "doc_id": "d", "page": page}]
    # Keys in an order of their own, which a rewrite has to keep.
    return {"id": question_id, **FIELDS, "notes": "–", "gold_quotes": quotes, **changes}


def written(path, *lines):
    texts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def test_ids_are_written_and_every_other_byte_of_the_file_is_kept(tmp_path):
    odd = json.dumps(line("a", "5,108 crore", 1, gold_source_ids=["c1"]))  # \\u escapes, kept
    stale = line("b", "met seven times", 2, gold_source_ids=["c9"])
    bare = line("c", "Revenue was", 1)
    path = written(tmp_path / "q.jsonl", odd, stale, bare)
    found = anchor_file(path, CORPUS)
    assert found.changed == ("b", "c") and found.problems == ()
    first, second, third = found.text.splitlines()
    assert first == odd
    assert second == json.dumps({**stale, "gold_source_ids": ["c2"]}, ensure_ascii=False)
    assert json.loads(third) == {**bare, "gold_source_ids": ["c1"]}
    assert list(json.loads(third))[-2:] == ["gold_source_ids", "gold_quotes"]
    path.write_text(found.text, encoding="utf-8")
    assert anchor_file(path, CORPUS).changed == ()


def test_a_quote_that_moved_to_one_other_page_gets_that_page_only_when_asked(tmp_path):
    path = written(tmp_path / "q.jsonl", line("a", "Revenue was", 3))
    refused = anchor_file(path, CORPUS)
    assert (
        "q.jsonl:1: question a: its quote is not on page 3 of d: “Revenue was”"
        in (refused.problems[0])
    )
    found = anchor_file(path, CORPUS, find_pages=True)
    assert found.problems == ()
    (sentence,) = found.moved
    assert sentence.endswith("q.jsonl:1: question a: page 3 of d is now 1: “Revenue was”")
    fields = json.loads(found.text)
    assert fields["gold_quotes"][0]["page"] == 1 and fields["gold_source_ids"] == ["c1"]


def test_all_quotes_that_do_not_resolve_are_listed(tmp_path):
    path = written(
        tmp_path / "q.jsonl",
        line("a", "no such words", 1),
        "{",
        line("b", "5,108 crore", 1),
        line("c", "even", 9),
    )
    found = anchor_file(path, CORPUS, find_pages=True)
    first, second, third = found.problems
    assert ":1: question a:" in first and "“no such words”" in first
    assert ":2: not a question: " in second
    assert ":4: question c:" in third and "pages with it: 1, 2, 3" in third


def test_an_unanchored_question_waits_for_its_documents_and_then_loses_the_status(tmp_path):
    away = line("a", "Revenue was", 1, status="unanchored")
    away["gold_quotes"][0]["doc_id"] = "elsewhere"
    here = line("b", "Revenue was", 1, status="unanchored")
    path = written(tmp_path / "q.jsonl", away, here)
    found = anchor_file(path, CORPUS)
    assert (found.n_unanchored, found.changed, found.problems) == (1, ("b",), ())
    first, second = map(json.loads, found.text.splitlines())
    assert first == away
    assert "status" not in second and second["gold_source_ids"] == ["c1"]


def test_every_fault_of_a_line_is_told(tmp_path):
    bad = {**FIELDS, "category": "oos", "colour": 1}
    (found,) = read_lines(written(tmp_path / "q.jsonl", bad))
    assert found.question is None
    for part in ("id: field required", "category: input should be", "got 'oos'", "colour: extra"):
        assert part in found.problem


def test_a_missing_and_an_empty_file_are_errors(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_lines(tmp_path / "none.jsonl")
    with pytest.raises(RgeError, match="holds no questions"):
        read_lines(written(tmp_path / "q.jsonl", ""))
