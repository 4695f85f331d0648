import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rge.text.numbers import (
    any_match,
    matches,
    parse,
    parse_values,
    quantity,
    rounds_to,
    years,
)

# text, value in base units, unit
LITERALS = [
    ("₹4,512.30 crore", 45_123_000_000, "INR"),
    ("₹ 4,512.30 crores", 45_123_000_000, "INR"),
    ("Rs. 4,512 crore", 45_120_000_000, "INR"),
    ("Rs 4,512 Cr.", 45_120_000_000, "INR"),
    ("Rs4,512 cr", 45_120_000_000, "INR"),
    ("INR 45 lakh", 4_500_000, "INR"),
    ("₹45 lacs", 4_500_000, "INR"),
    ("₹1.2 lakh crore", 1.2e12, "INR"),
    ("INR 12.5 lakh crore", 12.5e12, "INR"),
    ("three lakh crore rupees", 3e12, "INR"),
    ("twenty-five crore", 25e7, ""),
    ("five per cent", 0.05, "ratio"),
    ("4,512 crore rupees", 45_120_000_000, "INR"),
    ("₹4,512 million", 4_512_000_000, "INR"),
    ("₹4.5 billion", 4.5e9, "INR"),
    ("₹1.2 trillion", 1.2e12, "INR"),
    ("₹12,34,56,789", 123_456_789, "INR"),
    ("12,34,567", 1_234_567, ""),
    ("1,234,567", 1_234_567, ""),
    ("1,00,000 employees", 100_000, ""),
    ("₹ 5,000/-", 5_000, "INR"),
    ("₹2,024 crore", 20_240_000_000, "INR"),
    ("2024 crore", 20_240_000_000, ""),
    ("₹.50", 0.5, "INR"),
    ("$13.2 billion", 13.2e9, "USD"),
    ("$2,018mn", 2.018e9, "USD"),
    ("US$ 5 million", 5e6, "USD"),
    ("$3M", 3e6, "USD"),
    ("$1.5B", 1.5e9, "USD"),
    ("USD 700 million", 7e8, "USD"),
    ("12 million dollars", 12e6, "USD"),
    ("€40 million", 4e7, "EUR"),
    ("£3 bn", 3e9, "GBP"),
    ("12.5%", 0.125, "ratio"),
    ("12.5 %", 0.125, "ratio"),
    ("12.5 per cent", 0.125, "ratio"),
    ("12.5 percent", 0.125, "ratio"),
    ("-14.76%", -0.1476, "ratio"),
    ("−0.9 %", -0.009, "ratio"),
    ("(14.76)%", -0.1476, "ratio"),
    ("1.5 percentage points", 0.015, "points"),
    ("1.5 percent points", 0.015, "points"),
    ("a 1-percentage-point rise", 0.01, "points"),
    ("2 pp", 0.02, "points"),
    ("150 bps", 0.015, "points"),
    ("25 basis points", 0.0025, "points"),
    ("(1,234.5)", -1234.5, ""),
    ("Profit (1,234.5) crore", -12_345_000_000, ""),
    ("Depreciation (1,488)", -1488, ""),
    ("₹(45.2) crore", -452_000_000, "INR"),
    ("-₹45.2 crore", -452_000_000, "INR"),
    ("₹-45.2 crore", -452_000_000, "INR"),
    ("₹12.50 per share", 12.5, "INR"),
    ("2.5x", 2.5, "times"),
    ("0.67 times", 0.67, "times"),
    ("seven subsidiaries", 7, ""),
    ("1577", 1577, ""),
    ("4,512.", 4512, ""),
    ("a share (12%) of it", 0.12, "ratio"),
    ("the unit (₹45.2 crore) grew", 452_000_000, "INR"),
    ("0.62", 0.62, ""),
    ("10 lakh", 1_000_000, ""),
    ("₹3 thousand", 3_000, "INR"),
    ("revenue – 4,512 crore", 45_120_000_000, ""),
    ("- 45 stores", 45, ""),
    ("1900 bps", 0.19, "points"),
    ("₹4,512\ncrore", 45_120_000_000, "INR"),
    ("12.5\nper cent", 0.125, "ratio"),
]


@pytest.mark.parametrize(("text", "value", "unit"), LITERALS)
def test_one_number_is_read_with_value_and_unit(text, value, unit):
    found = parse_values(text)
    assert len(found) == 1
    assert found[0].value == pytest.approx(value, rel=1e-12)
    assert found[0].unit == unit
    assert text[found[0].start : found[0].end] == found[0].text


@pytest.mark.parametrize(
    "text",
    [
        "FY24",
        "FY 2023-24",
        "in 2024",
        "2023-24",
        "31 March 2024",
        "March 31, 2024",
        "31.03.2024",
        "2024-03-31",
        "Q1 FY24",
        "page 45",
        "p. 12",
        "Note 12",
        "Section 134",
        "Ind AS 116",
        "Form 10-K",
        "1. Revenue rose",
        "the 45th meeting",
        "3M",
        "one of them",
        "[meruvan-FY24-12345678]",
        "meruvan-FY24-1a2b3c4d",
        "COVID-19",
        "Tata-2",
        "",
    ],
)
def test_years_dates_pages_references_and_names_are_no_values(text):
    assert parse_values(text) == []


MATCH = [
    ("₹4,512.30 crore", "₹4,512.30 crore", True),
    ("₹4,500 crore", "₹4,512.30 crore", True),
    ("₹4,466 crore", "₹4,512.30 crore", False),
    ("₹45,123 million", "₹4,512.30 crore", True),
    ("₹45.12 billion", "₹4,512.30 crore", True),
    ("₹0.045123 lakh crore", "₹4,512.30 crore", True),
    ("₹45,12,30,00,000", "₹4,512.30 crore", True),
    ("₹4,512.30 lakh", "₹4,512.30 crore", False),
    ("₹4,512.30 million", "₹4,512.30 crore", False),
    ("₹4,512.30", "₹4,512.30 crore", False),
    ("4,512.30 crore", "₹4,512.30 crore", True),
    ("4,512.30", "₹4,512.30 crore", True),
    ("4,512 employees", "₹4,512.30 crore", False),
    ("$4,512.30 crore", "₹4,512.30 crore", False),
    ("45,123,000,000", "₹4,512.30 crore", True),
    ("12.5%", "12.5 per cent", True),
    ("0.125", "12.5%", True),
    ("12.5", "12.5%", True),
    ("12.5 percentage points", "12.5%", False),
    ("150 bps", "1.5 percentage points", True),
    ("150 bps", "1.5%", False),
    ("-0.9%", "-0.9%", True),
    ("0.9%", "-0.9%", False),
    ("(0.9)%", "-0.9%", True),
    ("a decline of 0.9%", "-0.9%", True),
    ("a 0.9% drop", "-0.9%", True),
    ("an increase of 42%", "a decline of 42%", False),
    ("42%", "a decline of 42%", True),
    ("fell by 42%", "42% decline", True),
    ("loss of ₹12 crore", "(12) crore", True),
    ("$1,577 million", "1577", True),
    ("$8.738 billion", "8.7", True),
    ("₹12.50 per share", "₹12.50", True),
    ("₹12.50 per share", "₹12.50 per unit", False),
    ("2.5x", "2.5 times", True),
    ("2.5%", "2.5 times", False),
    ("982", "982 stores", True),
    ("0", "0", True),
    ("0.1", "0", False),
]


@pytest.mark.parametrize(("found", "gold", "agree"), MATCH)
def test_numbers_agree_by_value_unit_scale_and_sign(found, gold, agree):
    assert matches(parse_values(found)[0], parse_values(gold)[0]) is agree


def test_rounding_asked_for_by_the_question_is_honoured():
    found, gold = parse_values("1.86%")[0], parse_values("1.9%")[0]
    assert not matches(found, gold)
    assert matches(found, gold, decimals=1)
    assert not matches(parse_values("1.84%")[0], gold, decimals=1)


@pytest.mark.parametrize(
    ("found", "gold", "rounds"),
    [
        ("$1,824 million", "$1.8 bn", True),
        ("$1,851 million", "$1.8 bn", False),
        ("36.46%", "36%", True),
        ("36.5%", "36%", True),
        ("36.6%", "36%", False),
        ("-36.4%", "36%", False),
        ("₹36.4 crore", "36%", False),
        ("36.4", "36", False),  # a bare number has no place that was rounded
        ("1.4 percentage points", "1 percentage point", False),  # one digit says too little
        ("36.24%", "36.2%", False),  # three digits are held to one per cent
    ],
)
def test_a_gold_number_of_two_digits_may_be_the_rounded_one(found, gold, rounds):
    assert rounds_to(parse_values(found)[0], parse_values(gold)[0]) is rounds


def test_a_number_without_end_is_no_value():
    assert parse_values("1" * 5000) == []


def test_a_unit_written_once_holds_for_both_ends_of_a_range():
    assert [q.value for q in parse_values("₹3 to 4 crore")] == [3e7, 4e7]
    assert [q.value for q in parse_values("$3.0 to $3.5 billion")] == [3e9, 3.5e9]
    assert [q.unit for q in parse_values("12–15%")] == ["ratio", "ratio"]


def test_a_row_of_a_table_gives_its_bare_figures():
    found = parse_values("Revenue from operations 12 4,512.30 4,010.20 (12.3)")
    assert [q.value for q in found] == [12, 4512.3, 4010.2, -12.3]
    assert any_match(found, parse_values("₹4,010.20 crore")[0])


def test_gold_values_are_read_with_their_unit():
    gold = quantity(4512.3, "₹ crore")
    assert (gold.value, gold.unit) == (45_123_000_000, "INR")
    assert quantity(-12.5, "%").value == -0.125
    assert quantity(2024, "stores").value == 2024
    assert quantity(1.5, "percentage points").unit == "points"
    assert quantity(12.5, "INR per share").per == "share"


def test_years_are_told_with_their_century():
    assert years("FY24, FY 2022-23 and March 31, 2021") == {2024, 2023, 2021}


def test_words_of_direction_count_only_for_changes_not_for_levels():
    text = "After increasing to 36.8%, the margin fell by 2.2%."
    assert [q.direction for q in parse_values(text)] == [0, -1]


@settings(deadline=None)
@given(st.integers(1, 10**9), st.sampled_from(["crore", "lakh", "million", "%", "bps"]))
def test_grouping_changes_no_value(number, unit):
    western = parse_values(f"{number:,} {unit}")
    plain = parse_values(f"{number} {unit}")
    assert [q.value for q in western] == [q.value for q in plain]


@settings(deadline=None)
@given(st.floats(0.01, 1e6), st.floats(-0.03, 0.03))
def test_the_tolerance_is_one_per_cent_of_gold(value, error):
    gold = quantity(value, "%")
    found = quantity(value * (1 + error), "%")
    if abs(abs(error) - 0.01) > 1e-6 and value > 1:
        assert matches(found, gold) is (abs(error) < 0.01)


@settings(deadline=None)
@given(
    st.floats(0.01, 1e6), st.sampled_from(["₹ crore", "%", "times", "percentage points", "$ mn"])
)
def test_every_quantity_matches_itself_and_not_its_negative(value, unit):
    gold = quantity(value, unit)
    assert matches(gold, gold)
    if value > 0.02:
        assert not matches(quantity(-value, unit), gold)


@settings(deadline=None)
@given(st.text(alphabet="0123456789 ,.-()%₹$aFY crore\n", max_size=60))
def test_any_text_is_read_and_every_place_is_right(text):
    for q in parse(text):
        assert text[q.start : q.end] == q.text
        assert q.kind != "value" or math.isfinite(q.value)
