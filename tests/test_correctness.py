import pytest

from rge.judging.correctness import compare
from rge.judging.gold import read_gold
from rge.judging.polarity import polarity
from rge.records import GoldValue, Question


def question(text, gold, *values):
    return Question(
        id="q",
        version=1,
        category="direct",
        text=text,
        gold_answer=gold,
        gold_values=tuple(GoldValue(value=value, unit=unit) for value, unit in values),
        expected_behavior="answer",
        company="acme",
        fy="FY24",
        difficulty="easy",
    )


CAPEX = question("What was the capital expenditure of Acme in FY24 (in USD millions)?", "1577")
GROWTH = question(
    "What was the revenue growth (in units of percents, round to one decimal)?", "0.308"
)
BOTH = question(
    "What were revenue and profit?",
    "Revenue was ₹90 crore, profit ₹12 crore.",
    (90, "₹ crore"),
    (12, "₹ crore"),
)
LAWSUITS = question(
    "Is Acme party to material lawsuits?", "Yes, two suits over the dam are pending."
)
MARGIN = question("Does Acme have an improving margin?", "No. The margin declined by 0.8%.")
LIABILITY = question("What was the largest liability of Acme?", "Customer deposits")
DEALS = question("Which three firms did Acme acquire?", "Trillium, Array, and Therachon")


@pytest.mark.parametrize(
    ("asked", "answer", "score"),
    [
        (CAPEX, "Capital expenditure was $1,577 million.", 2),
        (CAPEX, "It was 1,577.", 2),
        (CAPEX, "It was $1.577 billion.", 2),
        (CAPEX, "It was $1,577 billion.", 0),
        (CAPEX, "It was $1,700 million.", 0),
        (CAPEX, "It was not small.", 0),
        (GROWTH, "Revenue grew by 30.8%.", 2),
        (GROWTH, "Revenue grew by 30.76%.", 2),
        (GROWTH, "Revenue grew by 38.0%.", 0),
        (GROWTH, "The ratio is 0.308.", 2),
        (BOTH, "Revenue was ₹90 crore and profit ₹12 crore.", 2),
        (BOTH, "Revenue was ₹90 crore and profit ₹13 crore.", 1),
        (BOTH, "Revenue was ₹91.5 crore and profit ₹13 crore.", 0),
        (LAWSUITS, "Yes, Acme faces material lawsuits over the dam.", 2),
        (LAWSUITS, "No, there are none.", 0),
        (LAWSUITS, "Acme did not report any material lawsuits.", 0),
        (MARGIN, "No, the margin fell.", 2),
        (MARGIN, "The margin declined from 20.1% to 19.3%.", 2),
        (MARGIN, "Yes, the margin improved by 0.8%.", 0),
        (MARGIN, "The margin improved.", 0),
        (LIABILITY, "The largest liability was customer deposits.", 2),
        (LIABILITY, "The largest liability was long-term debt.", 0),
        (DEALS, "Acme acquired Trillium, Array and Therachon.", 2),
        (DEALS, "Acme acquired Trillium, Array and Hospira.", 1),
        (DEALS, "Acme acquired Warner and Wyeth.", 0),
    ],
)
def test_answers_are_compared_as_a_reader_would(asked, answer, score):
    assert compare(answer, read_gold(asked)).score == score


def test_the_gold_number_among_unexplained_others_is_half_right():
    gold = read_gold(question("What was revenue?", "₹90 crore", (90, "₹ crore")))
    assert compare("₹90 crore ₹75 crore ₹60 crore", gold).score == 1
    assert compare("Revenue was ₹90 crore against ₹75 crore before.", gold).score == 2


def test_the_conclusion_counts_where_it_differs_from_the_working():
    gold = read_gold(question("What was revenue?", "₹90 crore", (90, "₹ crore")))
    assert compare("It started at ₹90 crore. Therefore revenue was ₹120 crore.", gold).score == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("Yes.", "yes"),
        ("No, it did not.", "no"),
        ("No. 5 is the plant in question.", ""),
        ("The company did not pay one.", "no"),
        ("It rose.", ""),
    ],
)
def test_yes_and_no_are_heard(answer, says):
    assert polarity(answer) == says
