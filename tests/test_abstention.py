import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rge.text.abstention import detect, is_refusal, is_remark

ID = "meruvan-FY24-1a2b3c4d"

REFUSED = [
    "The passages do not state Meruvan's R&D spend for FY24.",
    f"The passages do not state the R&D spend [{ID}].",
    "The provided context does not contain this information.",
    "The context doesn’t mention green hydrogen.",
    "Not stated in the passages.",
    "Not disclosed.",
    "N/A",
    "Unknown",
    "I don't know.",
    "I do not know the answer to that question.",
    "I cannot answer this from the passages.",
    "It cannot be determined from the given excerpts.",
    "There is no information about the exit valuation in the documents.",
    "There's no mention of a Paytm Insurance subsidiary.",
    "Insufficient information.",
    "The passages lack any figure for market share, so I can't say.",
    "Unfortunately, none of the passages disclose the number of stores in Tier-3 cities.",
    "The passages do not state the R&D spend. They mention that revenue was ₹4,512 crore.",
    "The passages do not give the FY24 value. However, they state that FY23 revenue was ₹4,010"
    " crore.",
    "While the passages discuss R&D, they do not state the amount spent.",
    "I'm sorry, but the information provided does not include capital expenditure.",
    "As an AI, I don't have real-time data. Please refer to the annual report.",
    "The answer is not in the passages.",
    "This figure is not provided in the context.",
    # A figure in the name of a filing or a year is no answer.
    "As an AI, I don't have access to filings. However, deals of Meruvan include Sona and Tarang,"
    " as a 10-K of FY2022 would show.",
    # Nor is a formula.
    "I cannot access the statements of Meruvan. To work it out, use:\n"
    "Days = 365 * (average payables) / (cost + change in stock)\nHowever, years may differ.",
    # Reasons that are guessed, and the reader sent away.
    "The text does not state why stocks rose. However, we can infer potential reasons: demand might"
    " have been high. To get a definitive answer, one would need to review the report.",
    # The dot of a company's name ends no sentence.
    "Based on the information provided in the filing, Acme Inc. does not explicitly state a cost.",
    "There is no financial data in the passages that would allow me to tell.",
    "The passages discuss revenue at length. Therefore, it is not possible to determine it from the"
    " passages."
    " To find it, please consult the annual report.",
]
ANSWERED = [
    "The text does not say whether growth will quicken. It expects 3.5% after 3.6%, suggesting that"
    " it will not.",
    "The passages do not state it. However, the plants could be three, so ₹90 crore is spent."
    " Please check the report.",
    "Revenue was ₹4,512.30 crore in FY24.",
    f"Revenue was ₹4,512.30 crore [{ID}].",
    "4,512.30",
    "Yes.",
    "No. The company did not acquire any subsidiary.",
    "No, the company does not provide any guarantee to third parties.",
    "The company did not report any exceptional items in FY24.",
    "The board did not declare an interim dividend.",
    "Not only revenue but also profit rose in FY24.",
    "The passages not only state revenue but also show that profit rose by 12%.",
    "Revenue may be about ₹4,512 crore, although I am not certain.",
    "I am not sure, but revenue was ₹4,512 crore.",
    "Although the passages do not state it directly, revenue was ₹4,512 crore.",
    "While the exact split is not given in the passages, revenue was ₹4,512 crore in FY24.",
    "The passages do not state it directly. Based on the two halves, it can be calculated as ₹90"
    " crore.",
    "Revenue was ₹4,512 crore. The passages do not state the split by segment.",
    "Revenue was ₹4,512 crore; the segment split is not disclosed in the passages.",
    "The filing does not mention any deal in FY23. However, in FY24 Meruvan acquired Sona Ltd.",
    "There is no evidence that the plant was closed.",
    "Provisions were not reversed during the year.",
    "Dr. Asha Rao",
    "राजस्व ₹4,512 करोड़ था।",
]
UNDETERMINED = ["", "   \n", "…", f"[{ID}]", f"[{ID}].", "**", "Answer:"]


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_are_seen(text):
    assert detect(text) == "refused"


@pytest.mark.parametrize("text", ANSWERED)
def test_answers_are_not_taken_for_refusals(text):
    assert detect(text) == "answered"


@pytest.mark.parametrize("text", UNDETERMINED)
def test_what_says_nothing_is_undetermined(text):
    assert detect(text) == "undetermined"


@settings(deadline=None)
@given(st.sampled_from(REFUSED), st.sampled_from(["", " ", "\n"]))
def test_white_space_and_a_citation_change_nothing(text, space):
    assert detect(f"{space}{text}{space} [{ID}]") == "refused"


@settings(deadline=None)
@given(st.sampled_from(ANSWERED[:2]), st.sampled_from(REFUSED[:3]))
def test_an_answer_first_stays_an_answer(answer, refusal):
    assert detect(f"{answer} {refusal}") == "answered"


def test_one_sentence_can_be_asked_about():
    assert is_refusal("The passages do not state the tax rate.")
    assert not is_refusal("The tax rate was 25.2%.")
    assert is_remark("Please consult the annual report.")
    assert not is_remark("The tax rate was 25.2%.")


def test_fifty_thousand_characters_are_read_in_reasonable_time():
    assert detect("The passages do " * 3200) in ("answered", "refused", "undetermined")
