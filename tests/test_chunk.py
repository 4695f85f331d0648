import hashlib
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rge.corpus.chunk import Window, chunk_document, cut_document, holds
from rge.corpus.tokens import encoding
from rge.errors import RgeError
from rge.records import Page

SENTENCE = "Revenue from operations of the segment rose to ₹ 1,08,532.45 crore in the year {}. "


def pages_of(*texts, problems=()):
    return [
        Page(doc_id="acme-FY24", page=n, text=text, method="pypdf", problems=problems)
        for n, text in enumerate(texts, 1)
    ]


def cut(pages, size=50, overlap=10, window=None):
    return cut_document(
        pages,
        company="acme",
        fy="FY24",
        size=size,
        overlap=overlap,
        encoding=encoding(),
        window=window,
    )


def flat(text):
    return " ".join(text.split())


LONG = pages_of(*("".join(SENTENCE.format(40 * p + i) for i in range(40)) for p in range(3)))


def test_ids_hold_company_year_and_the_start_of_the_sha1_of_the_text():
    # SHA-1 of "abc" is a9993e36… (FIPS 180-2, appendix A.1).
    (chunk,) = chunk_document(
        pages_of("abc"), company="acme", fy="FY24", size=50, overlap=10, encoding=encoding()
    )
    assert chunk.chunk_id == "acme-FY24-a9993e36"


@pytest.mark.parametrize(("size", "overlap"), [(50, 10), (200, 25), (800, 100), (30, 0)])
def test_a_chunk_holds_at_most_size_tokens_and_shares_at_least_overlap(size, overlap):
    chunks = cut(LONG, size, overlap).chunks
    assert max(chunk.n_tokens for chunk in chunks) <= size
    assert all(c.n_tokens == len(encoding().encode_ordinary(c.text)) for c in chunks)
    assert min(chunk.n_tokens for chunk in chunks[:-1]) >= size // 2
    for one, after in pairwise(chunks):
        shared = max(
            n for n in range(len(one.text)) if after.text.startswith(one.text[-n:] if n else "")
        )
        # White space at the cut is trimmed off, which may take a token or two of the overlap.
        assert len(encoding().encode_ordinary(one.text[len(one.text) - shared :])) >= overlap - 2


def test_every_word_of_the_document_stands_whole_in_a_chunk():
    chunks = cut(LONG).chunks
    held = {word for chunk in chunks for word in chunk.text.split()}
    assert held == {word for page in LONG for word in page.text.split()}


def test_rows_of_a_table_are_not_cut_in_two():
    rows = [f"Expense of kind {i} 1,0{i:02d} (2,1{i:02d}) 3{i:02d}" for i in range(60)]
    chunks = cut(pages_of("\n".join(rows)), size=200, overlap=25).chunks
    assert len(chunks) > 3
    assert all(line in rows for chunk in chunks for line in chunk.text.split("\n"))


def test_pages_are_those_the_text_lies_on():
    documents = "\n".join(page.text for page in LONG)
    ends = [len("\n".join(page.text for page in LONG[: n + 1])) for n in range(3)]
    for chunk in cut(LONG).chunks:
        first = documents.index(chunk.text)
        last = first + len(chunk.text) - 1
        assert chunk.page_start == 1 + sum(first >= end for end in ends)
        assert chunk.page_end == 1 + sum(last >= end for end in ends)


def test_an_empty_page_moves_no_page_number():
    chunks = cut(pages_of("", "alpha beta", "", "gamma")).chunks
    assert [(c.page_start, c.page_end, c.text) for c in chunks] == [(2, 4, "alpha beta\n\ngamma")]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab 1,.\n₹é🙂漢", max_size=400), st.integers(4, 40))
def test_no_character_is_cut_and_nothing_is_lost_whatever_the_text(text, size):
    chunks = cut(pages_of(text), size, size // 4).chunks
    place = 0
    for chunk in chunks:
        assert chunk.n_tokens <= size
        assert chunk.text in text
    for character in flat(text).replace(" ", ""):
        place += any(character in chunk.text for chunk in chunks)
    assert place == len(flat(text).replace(" ", ""))


def test_the_same_text_twice_in_a_document_is_one_chunk():
    row = " ".join(["word"] * 40)
    result = cut(pages_of(f"{row} {row} {row} {row}"), size=10, overlap=0)
    assert len({chunk.text for chunk in result.chunks}) == len(result.chunks)
    assert result.n_repeated > 10


def test_two_texts_with_one_id_are_an_error():
    one, other = colliding()
    with pytest.raises(RgeError, match=r"page 2: chunk id acme-FY24-\w{8} stands for another text"):
        cut(pages_of(one, other), size=len(encoding().encode_ordinary(one)) + 1, overlap=0)


def colliding():
    """Two texts whose SHA-1 begin with the same 8 digits, found by search."""
    seen = {}
    for n in range(10**6, 2 * 10**6):
        text = f"entry {n}"
        first = seen.setdefault(hashlib.sha1(text.encode()).hexdigest()[:8], text)
        if first != text:
            return first, text
    raise LookupError


def test_a_chunk_the_embedder_cannot_read_whole_ends_earlier_and_is_counted():
    table = pages_of("\n".join(f"Item {i} 10{i:03d} 20{i:03d} 30{i:03d}" for i in range(200)))
    digits = Window(lambda text: len(re.findall(r"\d|[A-Za-z]+", text)) + 2, 120)
    free, held = cut(table, 200, 25), cut(table, 200, 25, digits)
    assert max(digits.n_pieces(c.text) for c in free.chunks) > 120
    assert max(digits.n_pieces(c.text) for c in held.chunks) <= 120
    assert (free.n_shortened, held.n_shortened) == (0, len(held.chunks) - 1)
    lines = {line for chunk in held.chunks for line in chunk.text.split("\n")}
    assert lines == set(table[0].text.split("\n"))


def test_a_token_the_embedder_cannot_read_is_an_error():
    with pytest.raises(RgeError, match="reads the token 'alpha' in part only"):
        cut(pages_of("alpha beta"), window=Window(lambda text: 9, 8))


def test_a_chunk_knows_the_nearest_heading_before_it():
    text = f"RISK FACTORS\n{SENTENCE * 8}\nSEGMENT REVIEW\n{SENTENCE * 8}"
    headings = [chunk.heading for chunk in cut(pages_of(text)).chunks]
    assert headings == sorted(headings)
    assert set(headings) == {"RISK FACTORS", "SEGMENT REVIEW"}


def test_a_page_of_glyph_codes_gives_no_chunks():
    assert cut(pages_of("/g1/g2/g3 " * 50, problems=("glyph codes",))).chunks == []


def test_holding_a_quote_ignores_white_space_only():
    assert holds("net\nsales  rose", "net sales rose")
    assert not holds("net sales, rose", "net sales rose")
