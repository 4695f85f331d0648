import pytest

from rge.text.citations import find_citations, mask_citations, parse_citations

A, B, C = "meruvan-FY24-1a2b3c4d", "meruvan-FY23-00ff00ff", "sona_bank-FY24-deadbeef"
KNOWN = (A, B, C)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (f"Revenue was ₹4 crore [{A}].", (A,)),
        (f"x [{A}, {B}]", (A, B)),
        (f"x [{A}; {B}]", (A, B)),
        (f"x [{A} and {B}]", (A, B)),
        (f"x [{A}][{B}]", (A, B)),
        (f"x [{A}] [{A}]", (A,)),
        (f"x 【{A}】", (A,)),
        (f"x 【{A}†source】", (A,)),
        (f"x ［{C}］", (C,)),
        (f"x [chunk_id: {A}]", (A,)),
        (f"x [source: {B}]", (B,)),
        (f"x [`{A}`]", (A,)),
        (f"x [{A}, p. 3]", (A,)),
        (f"x [{A.upper()}]", (A,)),
        (f"x [{A.replace('-', '‑')}]", (A,)),
        (f"According to {A}, revenue rose.", (A,)),
        (f"({B}) says so", (B,)),
        (f"[{B}][{A}]", (B, A)),
    ],
)
def test_every_form_models_write_is_read(text, valid):
    found = parse_citations(text, KNOWN)
    assert found.valid == valid
    assert found.unknown == ()


@pytest.mark.parametrize(
    "text",
    [
        "Revenue [2024] rose",
        "in [2023-24] and [FY24]",
        "[FY2023-24]",
        "[1999–2003]",
        "amounts [in ₹ crore]",
        "[sic]",
        "[₹4,512.30 crore]",
        "[12.5%]",
        "[Note 5]",
        "[…]",
        "a [b] c",
        "",
        "1a2b3c4d",
        "the 2023-24 report, well-known",
    ],
)
def test_years_ranges_amounts_and_remarks_are_no_citations(text):
    assert parse_citations(text, KNOWN) == parse_citations("", KNOWN)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("x [meruvan-FY24-99999999]", ("meruvan-FY24-99999999",)),
        (f"x [{A}, other-FY24-12345678]", ("other-FY24-12345678",)),
        ("x [7]", ("7",)),
        ("x [1-3]", ("1", "2", "3")),
        ("x [^2]", ("2",)),
        ("x [doc-4]", ("doc-4",)),
        ("x [Passage 2]", ("Passage 2",)),
    ],
)
def test_ids_that_do_not_exist_are_reported(text, unknown):
    assert parse_citations(text, KNOWN).unknown == unknown


def test_ordinal_ranges_resolve_where_ordinals_are_the_known_ids():
    found = parse_citations("x [1-3], y [5] and z [doc-1]", ("1", "2", "3", "doc-1"))
    assert found.valid == ("1", "2", "3", "doc-1")
    assert found.unknown == ("5",)


def test_marks_give_the_place_of_each_citation():
    text = f"One [{A}]. Two 【{B}】."
    spans = [text[mark.start : mark.end] for mark in find_citations(text, KNOWN)]
    assert spans == [f"[{A}]", f"【{B}】"]


def test_masking_keeps_every_other_character_in_place():
    text = f"Revenue [{A}] was 5 [2024]."
    masked = mask_citations(text, KNOWN)
    assert len(masked) == len(text)
    assert masked.startswith("Revenue ") and masked.endswith("was 5 [2024].")
    assert A not in masked


def test_fifty_thousand_brackets_are_read_in_reasonable_time():
    assert parse_citations("[" * 50_000, KNOWN).valid == ()
    assert parse_citations("a-" * 25_000, KNOWN).valid == ()
