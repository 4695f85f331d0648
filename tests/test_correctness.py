import pytest

from rge.judging.answering import answering
from rge.judging.correctness import compare
from rge.judging.gold import read_gold
from rge.judging.polarity import leaning, polarity
from rge.judging.words import content
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


FLAT = question("How much did Acme's like-for-like revenue change?", "It was flat against FY23.")
TRADE = question("What industry is Acme in?", "Acme is a well known maker of bicycles worldwide.")
WHY = question(
    "What drove the fall of Acme's overheads?",
    "Lower advertising and cheaper freight. The answer here assumes that FY24 means the 12 months"
    " ended 28 January 2024, which the firm itself calls its 53rd fiscal season.",
)
REGION = question("Which region of Acme earned most?", "The northern plains gave ~90% of profit.")
SHARE = question("What share of buy-backs fell into the last quarter?", "36%")
GIVEN_SHARE = question("What share of buy-backs fell into the last quarter?", "36%", (36, "%"))
MOST = question("Which activity brought in most cash?", "Trading activity ($1.8 bn)")
OVER = question(
    "Does any product make more than 20% of Acme's sales?",
    "Yes. Bicycles make 55% and tyres 30% of sales.",
)
NOMINEE = question("Did any nominee get far more votes against?", "Yes, it was Richard Oakes.")
FASTER = question("Is growth at Acme expected to accelerate?", "No, it slows from 3.6% to 3.5%.")
UNUSUAL = question(
    "Were there events that are not usual at Acme that raised profit?",
    "Yes, the sale of the tyre plant.",
)
MARKETS = question("Which markets does Acme serve?", "Kerala, Goa, and Odisha")


@pytest.mark.parametrize(
    ("asked", "answer", "score"),
    [
        # what did not change can be said in several ways
        (FLAT, "Like-for-like revenue was in line with the prior year.", 2),
        (FLAT, "The change was 0%.", 2),
        (FLAT, "There was no real change.", 2),
        (FLAT, "It increased by 4%.", 0),
        (FLAT, "Acme sells bicycles.", 0),
        # less than gold says, and nothing else, answers "what industry"
        (TRADE, "Acme is in the bicycles industry, selling to shops and schools.", 2),
        (TRADE, "Acme is in the tractor industry.", 0),
        # a remark of the gold answer about itself is no part of it; a reason may stand anywhere
        (WHY, "Overheads fell. Freight was cheaper and advertising lower.", 2),
        (WHY, "Overheads fell because rents fell in 12% of the shops.", 0),
        # a figure only supports the gold answer where a thing is asked for
        (REGION, "The northern plains earned most, up 81%.", 2),
        (REGION, "The coast earned most.", 0),
        (MOST, "Trading brought in most, $1,824 million.", 2),
        (MOST, "Lending brought in most.", 0),
        # gold that is coarse itself may be the rounded answer; a given gold value may not
        (SHARE, "It was 36.46%.", 2),
        (SHARE, "It was 37%.", 0),
        (GIVEN_SHARE, "It was 36.46%.", 0),
        # figures of the question are no reason
        (OVER, "Yes, bicycles and tyres each make more than 20% or 5,000 of sales.", 2),
        (OVER, "Yes: saddles make 41% and bells 22% of sales.", 1),
        # another name as the reason
        (NOMINEE, "Yes, it was Richard Oakes.", 2),
        (NOMINEE, "Yes, it was Virginia Dorset.", 1),
        (NOMINEE, "Based on the votes, there were no such nominees.", 0),
        # the answer stands in the conclusion or near the question
        (FASTER, "Growth was 3.6%. Growth at Acme is not expected to accelerate.", 2),
        (FASTER, "Therefore, the answer to the question is yes.", 0),
        (UNUSUAL, "The sale of the tyre plant is not usual and raised profit.", 2),
        (UNUSUAL, "There were no events that raised profit.", 0),
        # a list belongs to the sentence that opens it
        (MARKETS, "Acme serves these markets:\n1. Kerala: since 1990.\n2. Goa\n3. Odisha", 2),
        (MARKETS, "Acme serves these markets:\n1. Punjab\n2. Assam", 0),
    ],
)
def test_answers_to_several_kinds_of_question(asked, answer, score):
    assert compare(answer, read_gold(asked)).score == score


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("Yes.", "yes"),
        ("No, it did not.", "no"),
        ("No. 5 is the plant in question.", ""),
        ("The company did not pay one.", "no"),
        ("It rose.", ""),
        ("Acme has indeed paid one.", "yes"),
        ("A long story. So the answer is no.", "no"),
        ("There were no lawsuits.", "no"),
    ],
)
def test_yes_and_no_are_heard(answer, says):
    assert polarity(answer) == says


def test_a_direction_says_yes_or_no_where_one_is_asked_for():
    where = answering("The margin fell.", content("Is the margin improving?"))
    assert (leaning(where, 1), leaning(where, -1), leaning(where, 0)) == ("no", "yes", "")


def test_remarks_are_not_where_an_answer_answers():
    text = "I will look at dividends paid. The text does not say whether dividends were paid. It"
    where = answering(
        text + " paid ₹2 a share. Therefore, one was paid.", content("dividends paid?")
    )
    assert where.first == "I will look at dividends paid."
    assert "does not say" not in where.nearest
    assert where.conclusion == "Therefore, one was paid."


def test_the_end_of_an_endless_answer_is_not_read():
    gold = read_gold(question("What was revenue?", "₹90 crore", (90, "₹ crore")))
    assert compare("Revenue was ₹90 crore. " + "More. " * 9000, gold).score == 2
    assert compare("More. " * 9000 + "Revenue was ₹90 crore.", gold).score == 0
