"""One small PDF for each kind of damage: what is repaired, what is flagged, what stays as it is."""

import pytest

from pdf_maker import column, make_drawn_pdf, make_pdf, show
from rge.corpus.extract import extract_pdf
from rge.corpus.pagetext import problems
from rge.corpus.rupee import from_font, is_misread

LEFT = "The left column tells of ports and of the cargo they handled during the whole year. " * 5
RIGHT = "The right column lists directors who joined and left the board in the same year. " * 5
RUPEE = "rupee sign read as another character"
TYPE1 = "/Type/Font/Subtype/Type1/Encoding/WinAnsiEncoding/BaseFont/"


def words(page):
    return " ".join(page.text.split())


def drawn(path, *lines, **options):
    return extract_pdf(make_drawn_pdf(path, ["".join(lines)], **options), "a")[0]


def test_a_picture_without_text_is_a_scan(tmp_path):
    assert drawn(tmp_path / "a.pdf", image=True).problems == ("no text (scan)",)


def test_text_laid_invisibly_under_a_picture_is_named_ocr(tmp_path):
    page = drawn(tmp_path / "a.pdf", "3 Tr\n", show(60, 700, LEFT), image=True)
    assert page.problems == ("text by OCR",)


@pytest.mark.parametrize(("turn", "rotate"), [("0 1 -1 0", 0), ("1 0 0 1", 90), ("-1 0 0 -1", 0)])
def test_turned_text_is_read_and_recorded(tmp_path, turn, rotate):
    lines = [show(100 + 12 * i, 300, t, turn=turn) for i, t in enumerate(("First line", "Second"))]
    if turn != "0 1 -1 0":
        lines = [
            show(300, 500 - 12 * i, t, turn=turn) for i, t in enumerate(("First line", "Second"))
        ]
    page = drawn(tmp_path / "a.pdf", *lines, rotate=rotate)
    assert (page.text, page.repairs, page.problems) == ("First line\nSecond", ("rotated",), ())


def test_text_turned_as_the_page_is_turned_is_upright(tmp_path):
    page = drawn(tmp_path / "a.pdf", show(300, 300, "First line", turn="0 1 -1 0"), rotate=90)
    assert page.repairs == ()


def test_slanted_text_is_flagged(tmp_path):
    page = drawn(tmp_path / "a.pdf", show(200, 300, "Draft of the report", turn="0.8 0.6 -0.6 0.8"))
    assert page.problems == ("rotated",)


def test_a_line_drawn_twice_at_one_place_is_read_once(tmp_path):
    twice = [show(60, 700 - 14 * (i // 2), f"Line number {i // 2}") for i in range(8)]
    page = drawn(tmp_path / "a.pdf", *twice)
    assert page.text.split("\n") == [f"Line number {i}" for i in range(4)]
    assert page.repairs == ("doubled characters",)


def test_equal_lines_at_two_places_are_both_kept(tmp_path):
    page = drawn(tmp_path / "a.pdf", *(show(60, 700 - 14 * i, "Nil and nil") for i in range(3)))
    assert (page.text, page.repairs) == ("Nil and nil\n" * 2 + "Nil and nil", ())


def test_a_sign_twice_on_one_line_is_no_double(tmp_path):
    shown = (("F1", "Share of "), ("R", "J"), ("F1", "2 each, in "), ("R", "J"))
    line = "".join(f"/{font} 9 Tf ({text}) Tj " for font, text in shown)
    line = f"BT 60 700 Td {line} ET\n"
    page = drawn(tmp_path / "a.pdf", line, fonts={"R": TYPE1 + "ABCDEF+Rupee"})
    assert (page.text, page.repairs) == ("Share of ₹2 each, in ₹", (RUPEE,))


def test_letters_drawn_twice_one_by_one_are_read_once(tmp_path):
    text = "Total income of the company"
    letters = [
        show(60 + 6 * i + d, 700, c) for i, c in enumerate(text) for d in (0, 0.3) if c != " "
    ]
    page = drawn(tmp_path / "a.pdf", *letters)
    assert "doubled characters" in page.repairs and "doubled characters" not in page.problems
    assert page.text.replace(" ", "") == text.replace(" ", "")


def test_what_lies_outside_the_page_is_left_out(tmp_path):
    page = drawn(tmp_path / "a.pdf", show(60, 700, "On this page"), show(700, 700, "On the next"))
    assert (page.text, page.repairs) == ("On this page", ("text outside the page",))


@pytest.mark.parametrize("sign", ["`", "H", "C", "K"])
def test_a_character_of_a_rupee_font_is_the_sign(tmp_path, sign):
    parts = [show(60, 700, sign, font="R"), show(66, 700, "1,234.50 crore")]
    page = drawn(tmp_path / "a.pdf", *parts, fonts={"R": TYPE1 + "ABCDEF+ITFRupee"})
    assert page.text.startswith("₹") and sign not in page.text
    assert (page.repairs, page.problems) == ((RUPEE,), ())


def test_a_font_with_the_whole_alphabet_keeps_its_words():
    assert from_font("Hotels", "RupeeSans") == "Hotels"
    assert from_font("H ", "RupeeForadian") == "₹ "
    assert from_font("H", "Helvetica") == "H"


@pytest.mark.parametrize(
    "text",
    [
        "Revenue of H 1,234.50 crore and profit of H 99 crore",
        "Statement of Profit and Loss (C in crore)",
        "` in Crore\nTotal 12.5",
        "a par value of `2 per share, at `10",
    ],
)
def test_a_rupee_sign_seen_by_context_only_is_flagged_and_left(text):
    assert is_misread(text) and RUPEE in problems(text)


@pytest.mark.parametrize(
    "text",
    [
        "Revenue of ₹ 1,234.50 crore and profit of ₹ 99 crore",
        "Schedule C 12 and Form H 15 were filed; Vitamin K 2 million units",
        "Class A 10 million shares",
        "(in crore)",
        "rise in crore terms",
    ],
)
def test_other_capitals_before_numbers_are_no_rupee(text):
    assert not is_misread(text)


def test_columns_drawn_line_by_line_across_the_page_are_read_one_after_the_other(tmp_path):
    left, right = column(LEFT * 2, width=54), column(RIGHT * 2, x=320, width=54)
    assert len(left) >= 10
    head = [(60, 810, "A heading that stands over both of the columns of this page, in full")]
    interleaved = [line for both in zip(left, right, strict=False) for line in both]
    (page,) = extract_pdf(make_pdf(tmp_path / "a.pdf", [head + interleaved]), "a")
    n = min(len(left), len(right))
    expected = " ".join([head[0][2], *(t for *_, t in left[:n]), *(t for *_, t in right[:n])])
    assert words(page) == " ".join(expected.split())
    assert (page.method, page.repairs) == ("pdfplumber", ("interleaved columns",))


def test_a_table_of_words_is_not_taken_for_columns(tmp_path):
    rows = [(f"Member number {chr(65 + i)}", "Independent") for i in range(20)]
    lines = [(60 + 270 * c, 780 - 14 * r, rows[r][c]) for r in range(20) for c in range(2)]
    (page,) = extract_pdf(make_pdf(tmp_path / "a.pdf", [lines]), "a")
    assert page.text.split("\n") == [" ".join(row) for row in rows] and page.repairs == ()


def test_scripts_without_spaces_lack_none():
    assert (
        problems("负责四川省甘孜州丹巴磨子电站引水隧洞爆破方案优化设计及爆破震动监测工" * 10) == ()
    )


def test_printed_numbers_are_kept_beside_the_pdf_pages(tmp_path):
    pages = [
        [*column(f"Text {chr(65 + i)} of 7 pages"), (60, 40, f"Acme | {i + 41}")] for i in range(5)
    ]
    found = extract_pdf(make_pdf(tmp_path / "a.pdf", pages), "a")
    assert [(p.page, p.printed) for p in found] == [(i + 1, (str(i + 41),)) for i in range(5)]


def test_a_number_that_no_other_page_counts_on_from_is_not_printed(tmp_path):
    pages = [[*column("Some text of the page"), (60, 40, f"in {n}")] for n in (2019, 7, 2024, 31)]
    assert {p.printed for p in extract_pdf(make_pdf(tmp_path / "a.pdf", pages), "a")} == {()}


def test_two_printed_pages_on_one_are_flagged_with_both_numbers(tmp_path):
    spreads = [
        "".join(
            [
                show(60, 700, "Left text"),
                show(660, 700, "Right text"),
                show(60, 40, str(2 * i + 10)),
                show(1100, 40, str(2 * i + 11)),
            ]
        )
        for i in range(4)
    ]
    pages = extract_pdf(make_drawn_pdf(tmp_path / "a.pdf", spreads, box="0 0 1190 842"), "a")
    assert [p.printed for p in pages] == [(str(2 * i + 10), str(2 * i + 11)) for i in range(4)]
    assert all("two printed pages" in p.problems for p in pages)
