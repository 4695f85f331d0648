import json
import os
from collections import Counter
from pathlib import Path

import pytest

from rge.corpus.financebench import (
    anchor_by_overlap,
    questions_from_financebench,
    sources_from_financebench,
    token_overlap,
)
from rge.errors import RgeError
from rge.records import Chunk

SHARED = Path(os.environ.get("RGE_SHARED", Path(__file__).parents[2] / "shared"))
needs_shared = pytest.mark.skipif(
    not (SHARED / "financebench").is_dir(), reason="the FinanceBench filings are not here"
)

DOCUMENTS = [
    {"doc_name": f"ACME_{year}", "company": "Acme & Co", "doc_type": "10k", "doc_period": 2023}
    for year in ("2023_10K", "2023_8K_dated-2023-05-01", "2022_10K")
]


def item(number, answer, *evidence, **changes):
    return {
        "financebench_id": f"financebench_id_{number:05d}",
        "company": "Acme & Co",
        "doc_name": evidence[0][0],
        "question_type": "metrics-generated",
        "question_reasoning": "Information extraction",
        "question": "What was net income (in USD millions)?",
        "answer": answer,
        "justification": "Read from the income statement.",
        "dataset_subset_label": "OPEN_SOURCE",
        "evidence": [
            {"doc_name": name, "evidence_page_num": page, "evidence_text": text}
            for name, page, text in evidence
        ],
        **changes,
    }


def folder_with(tmp_path, *items, names=("documents.jsonl", "questions.jsonl")):
    for name, lines in zip(names, (DOCUMENTS, items), strict=True):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_each_filing_that_is_asked_about_has_slugs_of_its_own(tmp_path):
    items = [item(1, "1", ("ACME_2023_10K", 0, "x"), ("ACME_2023_8K_dated-2023-05-01", 0, "y"))]
    sources = sources_from_financebench(folder_with(tmp_path, *items))
    assert [(s.doc_id, s.company, s.fy, s.file) for s in sources] == [
        ("ACME_2023_10K", "acme-co", "2023-10k", "ACME_2023_10K.pdf"),
        (
            "ACME_2023_8K_dated-2023-05-01",
            "acme-co",
            "2023-8k-dated-2023-05-01",
            "ACME_2023_8K_dated-2023-05-01.pdf",
        ),
    ]


def test_pages_count_from_one_and_two_pages_make_a_multihop_question(tmp_path):
    one = item(1, "$1577.00", ("ACME_2023_10K", 59, "a"), ("ACME_2023_10K", 59, "b"))
    two = item(2, "24.26", ("ACME_2023_10K", 0, "a"), ("ACME_2023_10K", 1, "b"))
    first, second = questions_from_financebench(folder_with(tmp_path, one, two))
    assert [quote.page for quote in first.gold_quotes] == [60, 60]
    assert (first.category, second.category) == ("direct", "multihop")
    assert {q.expected_behavior for q in (first, second)} == {"answer"}
    assert first.notes.startswith("metrics-generated")


@pytest.mark.parametrize(
    ("answer", "question", "found"),
    [
        ("$1577.00", "Answer in USD millions.", [(1577, "$ million")]),
        ("$8.70", "Answer in USD billions.", [(8.7, "$ billion")]),
        ("$2.15", "What is the dividend?", [(2.15, "$")]),
        ("1.9%", "What is the margin?", [(1.9, "%")]),
        ("-0.02", "What is the ratio?", [(-0.02, "")]),
        ("It rose by 1.9%.", "How did it change?", []),
    ],
)
def test_an_answer_that_is_one_number_has_a_gold_value(tmp_path, answer, question, found):
    line = item(1, answer, ("ACME_2023_10K", 0, "a"), question=question)
    (read,) = questions_from_financebench(folder_with(tmp_path, line))
    assert [(value.value, value.unit) for value in read.gold_values] == found


def test_the_datasets_own_layout_is_read_too(tmp_path):
    names = (
        "data/financebench_document_information.jsonl",
        "data/financebench_open_source.jsonl",
    )
    folder = folder_with(tmp_path, item(1, "1", ("ACME_2022_10K", 0, "x")), names=names)
    assert [source.fy for source in sources_from_financebench(folder)] == ["2022-10k"]


def test_a_missing_folder_says_where_the_data_comes_from(tmp_path):
    with pytest.raises(RgeError, match=r"holds no questions\.jsonl; .*-p corpus_folder PATH"):
        sources_from_financebench(tmp_path / "none")


def test_a_question_about_an_unlisted_document_is_an_error(tmp_path):
    folder = folder_with(tmp_path, item(1, "1", ("OTHER_2020_10K", 0, "x")))
    with pytest.raises(RgeError, match=r"documents\.jsonl: lacks OTHER_2020_10K"):
        sources_from_financebench(folder)


def chunk(number, page, text):
    return Chunk(
        chunk_id=f"c{number}", company="a", fy="b", doc_id="ACME_2023_10K", page_start=page,
        page_end=page, heading="", text=text, n_tokens=9,
    )  # fmt: skip


def test_the_gold_chunk_is_on_the_page_and_holds_the_answers_number(tmp_path):
    evidence = (
        "Cash flow\nNet income\n \n$\n5,363\nCapital spending\n \n(1,577)\nDividends\n(3,193)"
    )
    line = item(1, "$1577.00", ("ACME_2023_10K", 4, evidence), justification="")
    questions = questions_from_financebench(folder_with(tmp_path, line))
    chunks = [
        chunk(1, 4, "Capital spending (1,577)"),
        chunk(2, 5, "Cash flow Net income $ 5,363"),
        chunk(3, 5, "Capital spending (1,577)  Dividends (3,193)"),
        chunk(4, 5, "Auditors and their fees 1577"),
    ]
    (anchored,) = anchor_by_overlap(questions, chunks)
    assert anchored.gold_source_ids == ("c3",)
    with pytest.raises(RgeError, match="no chunk lies on page 5 of ACME_2023_10K"):
        anchor_by_overlap(questions, chunks[:1])


def test_overlap_is_a_share_of_the_shorter_text_and_sees_through_number_formats():
    assert token_overlap("net sales 1,577.00", "NET SALES (1577)") == 1
    assert token_overlap("a b", "a c d e") == 0.5
    assert token_overlap("", "a") == 0


@needs_shared
def test_the_real_set_has_28_filings_and_74_questions_of_two_categories():
    folder = SHARED / "financebench"
    sources = sources_from_financebench(folder)
    assert len(sources) == 28 == len({(s.company, s.fy) for s in sources})
    assert all((folder / "pdfs" / source.file).is_file() for source in sources)
    categories = Counter(q.category for q in questions_from_financebench(folder))
    assert categories == {"direct": 61, "multihop": 13}
