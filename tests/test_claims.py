from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rge.text.claims import split_claims, split_sentences

A, B = "meruvan-FY24-1a2b3c4d", "meruvan-FY23-00ff00ff"


def texts(text):
    return [claim.text for claim in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One thing. Two things.", ["One thing.", "Two things."]),
        ("It rose to Rs. 450 crore. It fell.", ["It rose to Rs. 450 crore.", "It fell."]),
        ("Meruvan Ltd. reported 5. It grew.", ["Meruvan Ltd. reported 5.", "It grew."]),
        ("Owned by Meruvan Ltd. The rest is free.", ["Owned by Meruvan Ltd.", "The rest is free."]),
        ("See Note No. 12 for it. Done.", ["See Note No. 12 for it.", "Done."]),
        ("No. The firm did not.", ["No.", "The firm did not."]),
        ("A. K. Sharma chairs it. He left.", ["A. K. Sharma chairs it.", "He left."]),
        ("The U.S. unit grew. Fine.", ["The U.S. unit grew.", "Fine."]),
        ("Growth was 4.5 per cent. Good", ["Growth was 4.5 per cent.", "Good"]),
        ("no stop at the end", ["no stop at the end"]),
        ("राजस्व बढ़ा। लाभ घटा।", ["राजस्व बढ़ा।", "लाभ घटा।"]),
        ("收入增长。利润下降。", ["收入增长。", "利润下降。"]),
        ("Is it? Yes! Good.", ["Is it?", "Yes!", "Good."]),
        ("Revenue 4,512 4,010\nProfit 312 290", ["Revenue 4,512 4,010", "Profit 312 290"]),
        ("| Revenue | 4,512 |\n| Profit | 312 |", ["Revenue | 4,512", "Profit | 312"]),
        ("- first item\n- second item", ["first item", "second item"]),
        ("1. Revenue rose.\n2. Profit fell.", ["Revenue rose.", "Profit fell."]),
        ("It was approx. 5 crore vs. 4 crore.", ["It was approx. 5 crore vs. 4 crore."]),
        ("He said “it rose.” Then it fell.", ["He said “it rose.”", "Then it fell."]),
        ("It rose to 5 crore.The rest fell.", ["It rose to 5 crore.", "The rest fell."]),
        ("", []),
        (" \n ... \n", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, sentences):
    assert texts(text) == sentences


def test_a_wrapped_line_of_running_text_is_one_sentence():
    text = (
        "The consolidated revenue of the company from its operations during the year\n"
        "increased to ₹4,512.30 crore."
    )
    assert texts(text) == [text]


def test_a_heading_is_not_glued_to_the_paragraph_below_it():
    assert texts("Borrowings\nThe company repaid its loans.") == [
        "Borrowings",
        "The company repaid its loans.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"Revenue rose [{A}]. Profit fell [{B}].",
        f"Revenue rose. [{A}] Profit fell. [{B}]",
        f"Revenue rose.[{A}] Profit fell.[{B}]",
        f"Revenue rose. [{A}]. Profit fell. [{B}].",
        f"- Revenue rose [{A}]\n- Profit fell [{B}]",
    ],
)
def test_a_citation_belongs_to_the_claim_before_it(text):
    assert [claim.citations for claim in split_sentences(text)] == [(A,), (B,)]


def test_punctuation_inside_a_citation_splits_nothing():
    assert len(split_sentences(f"Revenue rose [{A}, p. 3; {B}] in the year.")) == 1


def test_a_clause_with_its_own_statement_is_a_claim_of_its_own():
    text = f"Revenue rose to ₹4,512 crore in FY24, driven by strong demand from exports [{A}]."
    claims = split_claims(text)
    assert [claim.text for claim in claims] == [
        "Revenue rose to ₹4,512 crore in FY24",
        f"driven by strong demand from exports [{A}].",
    ]
    assert [claim.citations for claim in claims] == [(A,), (A,)]


def test_a_list_of_names_stays_whole():
    assert len(split_claims("The firms acquired are Trillium, Array, and Therachon.")) == 1


@settings(deadline=None)
@given(st.text(alphabet="ab. ,;\n[]1-A।|", max_size=80))
def test_every_claim_is_a_verbatim_slice_in_order(text):
    claims = split_claims(text)
    assert all(text[claim.start : claim.end] == claim.text for claim in claims)
    assert all(a.end <= b.start for a, b in pairwise(claims))


@settings(deadline=None)
@given(st.text(alphabet="ab. ,;\n1A।|", max_size=80))
def test_no_word_is_lost(text):
    kept = "".join(claim.text for claim in split_claims(text))
    assert kept.count("b") == text.count("b")
