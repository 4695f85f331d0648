import math

import numpy as np
import pytest

from rge.errors import UsageError
from rge.prompting import Prompt
from rge.records import Chunk
from rge.specs import SubjectSpec
from rge.subjects import open_subject
from rge.subjects.readers import ABSTENTION, K1, B, bm25_share
from rge.text.abstention import detect


def spec(kind: str = "reader-lexical", **options: object) -> SubjectSpec:
    return SubjectSpec(name="reader", kind=kind, family="reader", runs=1, options=options)


def chunk(number: int, text: str, fy: str = "FY24") -> Chunk:
    return Chunk(
        chunk_id=f"acme-{fy}-{number:08x}",
        company="acme",
        fy=fy,
        doc_id=f"acme-{fy}",
        page_start=1,
        page_end=1,
        heading="",
        text=text,
        n_tokens=9,
    )


def prompt(question: str, *passages: Chunk) -> Prompt:
    return Prompt("q1", question, passages, system="s", user="u")


PASSAGES = (
    chunk(1, "The Board met nine times. Cargo volume rose to 210 million tonnes."),
    chunk(2, "Employees numbered 4,567. Revenue from operations was ₹ 12,345 crore."),
)


def slow_bm25(query: list[str], documents: list[list[str]]) -> list[float]:
    """Robertson's formula with Lucene's idf, term by term."""
    n = len(documents)
    mean_length = sum(map(len, documents)) / n
    scores = []
    for document in documents:
        score = 0.0
        for term in query:
            n_holding = sum(term in other for other in documents)
            tf = document.count(term)
            idf = math.log(1 + (n - n_holding + 0.5) / (n_holding + 0.5))
            score += idf * tf / (tf + K1 * (1 - B + B * len(document) / mean_length))
        scores.append(score)
    return scores


def test_bm25_share_is_bm25_over_its_bound():
    query = ["revenue", "fy24", "absent"]
    documents = [
        ["revenue", "from", "operation", "fy24"],
        ["revenue", "revenue", "note"],
        ["board", "met", "nine", "time", "in", "fy24"],
    ]
    n_holding = [2, 2, 0]
    bound = sum(math.log(1 + (3 - k + 0.5) / (k + 0.5)) for k in n_holding)
    expected = np.array(slow_bm25(query, documents)) / bound
    np.testing.assert_allclose(bm25_share(query, documents), expected, atol=1e-5)


def test_shares_lie_between_zero_and_one_whatever_the_repetition():
    rng = np.random.default_rng(3)
    words = list("abcdefgh")
    for _ in range(50):
        documents = [list(rng.choice(words, size=rng.integers(1, 30))) for _ in range(6)]
        shares = bm25_share(list(rng.choice([*words, "z"], size=4)), documents)
        assert (shares >= 0).all()
        assert (shares < 1).all()


def test_a_word_that_no_passage_holds_lowers_the_share():
    documents = [["dividend", "paid"], ["board", "met"]]
    known = bm25_share(["dividend"], documents)[0]
    assert bm25_share(["dividend", "hydrogen"], documents)[0] < known


def test_no_shared_word_scores_zero():
    assert bm25_share(["hydrogen"], [["board"], ["met"]]).tolist() == [0.0, 0.0]


def test_the_lexical_reader_quotes_the_sentence_and_cites_its_passage():
    reader = open_subject(spec(threshold=0.2), seed=1)
    reply = reader.answer(prompt("What was the revenue from operations of acme?", *PASSAGES))
    assert reply.text == "Revenue from operations was ₹ 12,345 crore. [acme-FY24-00000002]"
    assert reply.status == "ok"
    assert reply.params["threshold"] == 0.2


def test_the_year_of_the_passage_decides_between_equal_sentences():
    passages = [chunk(1, "Revenue was ₹ 9 crore.", "FY23"), chunk(2, "Revenue was ₹ 8 crore.")]
    reader = open_subject(spec(threshold=0.0), seed=1)
    assert "₹ 8 crore" in reader.answer(prompt("Revenue of acme in FY24?", *passages)).text
    assert "₹ 9 crore" in reader.answer(prompt("Revenue of acme in FY23?", *passages)).text


def test_the_first_passage_wins_a_tie():
    passages = [chunk(1, "Revenue was ₹ 9 crore."), chunk(2, "Revenue was ₹ 8 crore.")]
    reader = open_subject(spec(threshold=0.0), seed=1)
    assert "₹ 9 crore" in reader.answer(prompt("Revenue of acme?", *passages)).text


def test_below_the_threshold_the_reader_abstains_plainly():
    reader = open_subject(spec(threshold=0.99), seed=1)
    reply = reader.answer(prompt("What was spent on green hydrogen research?", *PASSAGES))
    assert (reply.text, reply.status) == (ABSTENTION, "ok")
    assert detect(reply.text) == "refused"


def test_without_passages_the_reader_abstains():
    assert open_subject(spec(threshold=-9.0), seed=1).answer(prompt("Revenue?")).text == ABSTENTION


def test_a_reader_needs_a_threshold():
    with pytest.raises(UsageError, match="subject reader: has no threshold; a number"):
        open_subject(spec(threshold=None), seed=1)


def test_an_unknown_option_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match=r"thresold.*options of kind reader-lexical are threshold"):
        open_subject(spec(thresold=0.2), seed=1)
