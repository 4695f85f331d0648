from rge.records import Chunk
from rge.subjects.spans import split_passage

TABLE = """Statement of profit and loss
(₹ in crore)
Particulars FY24 FY23
Revenue from operations 1,08,532.45 96,120.10
Finance costs 1,204.00 (998.20)
The Board declared an interim dividend of Rs. 6.25 per
share on 29 January 2024. It met nine times."""


def spans(text: str, heading: str = "") -> list[str]:
    chunk = Chunk(
        chunk_id="acme-FY24-00000001",
        company="acme-ports",
        fy="FY24",
        doc_id="d",
        page_start=1,
        page_end=1,
        heading=heading,
        text=text,
        n_tokens=9,
    )
    return [span.text for span in split_passage(chunk)]


def test_a_row_is_quoted_behind_its_column_heads_and_unit():
    row = spans(TABLE)[0]
    assert row.endswith(": Revenue from operations 1,08,532.45 96,120.10")
    assert "Particulars FY24 FY23" in row
    assert "₹ in crore" in row


def test_each_row_is_a_span_of_its_own():
    rows = [text for text in spans(TABLE) if "Finance costs" in text]
    assert len(rows) == 1
    assert "Revenue" not in rows[0]


def test_wrapped_sentences_are_joined_and_carry_no_table_heads():
    assert spans(TABLE)[-2:] == [
        "The Board declared an interim dividend of Rs. 6.25 per share on 29 January 2024.",
        "It met nine times.",
    ]


def test_titles_and_column_heads_alone_are_not_quotable():
    assert not {"Particulars FY24 FY23", "Statement of profit and loss"} & set(spans(TABLE))


def test_a_date_head_is_no_row():
    text = "Particulars March 31, 2024 March 31, 2023\nInventories 4,120 3,980"
    assert spans(text) == ["Particulars March 31, 2024 March 31, 2023: Inventories 4,120 3,980"]


def test_page_feet_and_long_titles_are_not_quotable():
    text = (
        "It met nine times.\nMeruvan | 4\nMERUVAN LIMITED Consolidated financial statements and"
        " notes to them for the year ended on the last day of March\nTotal 5 6\nCash 1,204"
    )
    assert [span.rpartition(": ")[2] for span in spans(text)] == [
        "It met nine times.",
        "Total 5 6",
        "Cash 1,204",
    ]


def test_a_sentence_cut_off_by_the_passage_is_quotable():
    text = "of the year the company paid back all of its loans in foreign currency. We\nNotes"
    assert spans(text)[0].startswith("of the year")


def test_cells_on_lines_of_their_own_join_their_label():
    text = "Net sales\n$ 32,765\n$ 31,657\nCost of sales\n16,682\n16,055"
    assert spans(text) == ["Net sales $ 32,765 $ 31,657", "Cost of sales 16,682 16,055"]


def test_a_passage_of_titles_only_can_still_be_quoted():
    assert spans("Notice of meeting") == ["Notice of meeting"]


def test_company_year_and_heading_are_read_but_not_quoted():
    chunk = Chunk(
        chunk_id="acme-FY24-00000001",
        company="acme-ports",
        fy="FY24",
        doc_id="d",
        page_start=1,
        page_end=1,
        heading="Cargo",
        text="Volumes rose by a tenth.",
        n_tokens=9,
    )
    (span,) = split_passage(chunk)
    assert span.read == "acme ports FY24, Cargo: Volumes rose by a tenth."
    assert span.text == "Volumes rose by a tenth."
