import pytest

from rge.gold_numbers import derivations, follows_from_quotes
from rge.records import GoldQuote, GoldValue, Question


def asking(quotes, value, unit, category="multihop"):
    return Question(
        id="q",
        version=1,
        category=category,
        text="?",
        gold_answer="!",
        gold_values=(GoldValue(value=value, unit=unit),),
        gold_quotes=tuple(GoldQuote(quote=text, doc_id="d", page=1) for text in quotes),
        expected_behavior="answer",
        company="acme",
        fy="FY24",
        difficulty="easy",
    )


PROSE = ["Revenue was ₹5,108 crore in FY24.", "Revenue was ₹4,512 crore in FY23."]
ROWS = ["Revenue from operations 5,108.00 4,980.00", "Revenue from operations 4,512.00 4,100.00"]
MIXED = [ROWS[0], PROSE[1]]


@pytest.mark.parametrize("quotes", [PROSE, ROWS, MIXED], ids=["prose", "rows", "mixed"])
@pytest.mark.parametrize(
    ("value", "unit", "rule"),
    [
        (596, "₹ crore", "difference"),
        (9620, "₹ crore", "sum"),
        (4810, "₹ crore", "mean"),
        (13.2, "%", "growth"),  # 596 / 4,512 = 13.21 %
        (1.132, "times", "ratio"),
        (88.3, "%", "ratio"),  # 4,512 / 5,108
    ],
)
def test_the_rule_that_gives_a_number_is_found_for_prose_and_table_rows(quotes, value, unit, rule):
    (found,) = derivations(asking(quotes, value, unit))
    assert found.rule == rule
    assert len(found.used) == 2


@pytest.mark.parametrize(
    ("value", "unit", "rule"),
    [
        (0.46, "percentage points", "difference in percentage points"),
        (46, "basis points", "difference in percentage points"),
    ],
)
@pytest.mark.parametrize(
    "quotes",
    [
        ["Gross NPA ratio was 2.41%", "Gross NPA ratio was 2.87%"],
        ["Gross NPA ratio % 2.41", "Gross NPA ratio was 2.87%"],
        ["Gross NPA ratio 2.41", "Gross NPA ratio 2.87"],
    ],
)
def test_percentage_points_and_basis_points_are_differences_of_percentages(
    quotes, value, unit, rule
):
    (found,) = derivations(asking(quotes, value, unit))
    assert found.rule == rule


def test_scales_are_read_from_the_quotes():
    lakh = ["Fees of ₹250 lakh", "Fees of ₹1.5 crore"]
    assert follows_from_quotes(asking(lakh, 4, "₹ crore"))
    assert follows_from_quotes(asking(lakh, 1, "₹ crore"))
    assert not follows_from_quotes(asking(lakh, 248.5, "₹ crore"))


def test_three_quotes_give_sums_means_and_shares():
    three = ["Telecom ₹100 crore", "Retail ₹150 crore", "Energy ₹250 crore"]
    assert derivations(asking(three, 500, "₹ crore"))[0].rule == "sum"
    assert derivations(asking(three, 166.7, "₹ crore"))[0].rule == "mean"
    assert derivations(asking(three, 20, "%"))[0].rule == "share of the sum"


def test_the_change_of_a_margin_takes_four_numbers():
    rows = ["Profit 120 90", "Revenue 1,000 900"]
    (found,) = derivations(asking(rows, 2, "percentage points"))  # 12 % less 10 %
    assert found.rule == "change of a ratio (a / b less c / d)"


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (600, "₹ crore"),
        (13.7, "%"),
        (596.4, "₹ crore"),  # half a unit of its last digit is 0.05
        (596, "$ million"),  # another currency
        (596, "percentage points"),
    ],
)
def test_a_number_that_no_rule_gives_is_refused_with_the_nearest(value, unit):
    (found,) = derivations(asking(PROSE, value, unit))
    assert found.rule is None
    assert "no rule gives it" in str(found)


def test_the_nearest_result_tells_what_the_author_meant():
    (found,) = derivations(asking(PROSE, 600, "₹ crore"))
    assert found.nearest == "difference of ₹5,108 crore and ₹4,512 crore = 596"


def test_two_currencies_are_not_added():
    assert not follows_from_quotes(asking(["Sales of ₹5 crore", "Sales of $3 crore"], 8, "₹ crore"))


def test_a_number_of_one_quote_alone_is_not_computed():
    """Multihop arithmetic takes numbers of different quotes."""
    row = ["Revenue from operations ₹ crore 5,108 4,512", "The Board met seven times."]
    assert not follows_from_quotes(asking(row, 596, "₹ crore"))


@pytest.mark.parametrize("category", ["direct", "adversarial"])
def test_direct_and_adversarial_numbers_stand_in_a_quote(category):
    assert derivations(asking(PROSE, 4512, "₹ crore", category))[0].rule == "stands in a quote"
    assert derivations(asking(ROWS, 4512, "₹ crore", category))[0].rule == "stands in a quote"
    assert not follows_from_quotes(asking(PROSE, 596, "₹ crore", category))
