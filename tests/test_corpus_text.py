import pytest

from rge.corpus_text import CorpusText, squeeze, stands_in
from rge.records import Chunk, Distractor, GoldQuote, Page

ROW = "Profit for the year 4,512.30 3,998.10"
PAGES = [
    Page(doc_id="a-FY23", page=1, text="Revenue was\n5,108 crore.", method="pypdf"),
    Page(doc_id="a-FY23", page=2, text="The Board met. Revenue was 5,108 crore.", method="pypdf"),
    Page(doc_id="b-FY23", page=1, text="revenue was small", method="pypdf"),
]
CHUNKS = [
    Chunk(
        chunk_id=f"c{n}",
        company=page.doc_id[0],
        fy="FY23",
        doc_id=page.doc_id,
        page_start=page.page,
        page_end=page.page,
        heading="",
        text=page.text,
        n_tokens=9,
    )
    for n, page in enumerate(PAGES, 1)
]


@pytest.mark.parametrize(
    ("text", "value", "stands"),
    [
        (ROW, "₹4,512.30 crore", True),  # a table gives the unit once, in its heading
        (ROW, "3,998.10", True),
        (ROW, "₹512.30 crore", False),
        (ROW, "₹4,512 crore", False),
        (ROW, "Ms Devi", False),
        ("it rose to ₹178 from ₹170", "₹178", True),
        ("a fall of 178 basis points", "₹178", False),  # another unit is another value
        ("a margin of 12.5% and 12.5 million homes", "12.5 million", True),
        ("12 stores were opened", "12%", False),
        ("the ratio stood at 12 % of sales", "12%", True),
        ("Ms Devi chaired it", "Ms Devi", True),
        ("Ms Devisen chaired it", "Ms Devi", False),
        ("opened on 4 May 2023", "4 May 2023", True),
        ("opened on 14 May 2023", "4 May 2023", False),
        ("₹1,780 crore", "178", False),
    ],
)
def test_a_distractor_stands_with_its_digits_and_no_other_unit(text, value, stands):
    assert stands_in(text, value) is stands


def test_quotes_are_looked_up_with_white_space_aside_on_their_own_page():
    corpus = CorpusText(PAGES, CHUNKS)
    quote = GoldQuote(quote="Revenue was 5,108 crore.", doc_id="a-FY23", page=2)
    assert corpus.stands(quote) and corpus.chunks_with(quote) == ["c2"]
    assert corpus.pages_with("a-FY23", quote.quote) == [1, 2]
    elsewhere = quote.model_copy(update={"doc_id": "b-FY23", "page": 1})
    assert not corpus.stands(elsewhere) and corpus.chunks_with(elsewhere) == []


def test_places_are_found_whatever_the_case_in_the_named_documents_only():
    corpus = CorpusText(PAGES, CHUNKS)
    assert corpus.places_of("REVENUE  was", corpus.documents_of("a")) == [
        ("a-FY23", 1),
        ("a-FY23", 2),
    ]
    assert corpus.places_of("revenue.was", corpus.documents) == []  # a literal, never a pattern
    assert corpus.years == {"a": ["FY23"], "b": ["FY23"]}


def test_the_rank_of_a_distractor_is_that_of_the_first_passage_with_it():
    corpus = CorpusText(PAGES, CHUNKS)
    value = Distractor(value="₹5,108 crore", why="x")
    assert corpus.rank_of(value, ["c3", "c2", "c1"]) == 2
    assert corpus.rank_of(value, ["c3"]) is None
    assert squeeze(" a\n b ") == "a b"
