import pytest

from judged import CHUNKS
from rge.judging.facts import dated_values, read_passage, stands_verbatim


def dated(text, columns=()):
    return [(d.value.text, sorted(d.years)) for d in dated_values(text, columns)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Revenue was ₹9 crore in FY24 against ₹8 crore in FY23", [2024, 2023]),
        ("In FY24, revenue was ₹9 crore against ₹8 crore in FY23", [2024, 2023]),
        ("Revenue rose from ₹8 crore in FY23 to ₹9 crore in FY24", [2023, 2024]),
        ("Revenue in FY24 and FY23 was ₹9 crore and ₹8 crore respectively", [2024, 2023]),
        ("FY24 revenue of ₹9 crore; FY23 revenue of ₹8 crore", [2024, 2023]),
        ("Particulars FY24 FY23: Revenue from operations 2,45,499.65 2,31,637.21", [2024, 2023]),
    ],
)
def test_each_figure_gets_the_year_it_is_said_of(text, expected):
    assert [years for _, years in dated(text)] == [[year] for year in expected]


def test_a_year_in_brackets_dates_the_figure_in_them():
    assert dated("Revenue was ₹9 crore (FY23: ₹8 crore)") == [
        ("₹9 crore", []),
        ("₹8 crore", [2023]),
    ]
    assert dated("Revenue was ₹9 crore (FY24)") == [("₹9 crore", [2024])]


def test_columns_date_the_figures_of_a_row():
    assert dated("Cement 2,950.10 2,700.40", (2024, 2023)) == [
        ("2,950.10", [2024]),
        ("2,700.40", [2023]),
    ]


def test_a_table_is_read_with_its_head():
    rows = {s.text: s for s in read_passage(CHUNKS["table"]).sentences}
    power = rows["Power 1,050.20 905.30"]
    assert [sorted(d.years) for d in power.values] == [[2024], [2023]]
    assert "segment" in power.words and "revenue" in power.words


def test_a_row_takes_the_unit_of_its_table():
    table = CHUNKS["table"].model_copy(
        update={"text": "Segment revenue ₹ in crore\nParticulars FY24 FY23\nPower 1,050.20 905.30"}
    )
    row = read_passage(table).sentences[-1]
    assert [d.value.value for d in row.values] == pytest.approx([1_050.2e7, 905.3e7])


def test_figures_without_a_head_may_be_of_any_year():
    bare = CHUNKS["table"].model_copy(update={"text": "Power 1,050.20 905.30"})
    assert [d.years for d in read_passage(bare).sentences[0].values] == [frozenset()] * 2


def test_sentences_are_verbatim():
    for chunk in CHUNKS.values():
        assert all(s.text in chunk.text for s in read_passage(chunk).sentences)


def test_word_for_word_is_found_across_line_breaks():
    passage = read_passage(CHUNKS["board"])
    assert stands_verbatim("ms. asha rao is the\nChairperson of the Company.", [passage])
    assert stands_verbatim("Ms. Asha Rao", [passage])
    assert not stands_verbatim("Asha R", [passage])
    assert not stands_verbatim("30", [passage])
