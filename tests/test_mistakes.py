import pandas as pd
import pytest

from rge.collected import Collected
from rge.mistakes import (
    KINDS,
    TAKEN,
    classify,
    counts_by_kind,
    distractors_taken,
    mistakes,
    recurring,
    taken_value,
)
from rge.records import Chunk, Distractor, GoldValue
from rge.reports import error_report
from synthetic import judgement, question, response, retrieval


def chunk(number: int, text: str, *, company: str = "firm0", fy: str = "FY24") -> Chunk:
    return Chunk(
        chunk_id=f"{company}-{fy}-{number:08x}",
        company=company,
        fy=fy,
        doc_id=f"{company}-{fy}",
        page_start=number,
        page_end=number,
        heading="Results",
        text=text,
        n_tokens=10,
    )


PASSAGES = [
    chunk(1, "Revenue from operations was ₹4,512 crore in FY24."),
    chunk(2, "Revenue from operations was ₹4,010 crore.", fy="FY23"),
    chunk(3, "Revenue was ₹777 crore.", company="firm9"),
    chunk(4, "Vikram Rao is the chairperson. Employees numbered 1,250."),
]
ASKED = question(1, "adversarial").model_copy(
    update={
        "company": "firm0",
        "fy": "FY24",
        "gold_values": (GoldValue(value=4512.0, unit="₹ crore"),),
        "distractors": (
            Distractor(value="₹4,010 crore", why="the figure of the year before"),
            Distractor(value="₹777 crore", why="another company's revenue"),
        ),
    }
)


@pytest.mark.parametrize(
    ("claim", "rest", "kind", "passage"),
    [
        ("Revenue was ₹9,999 crore", "", "number in no passage", 1),
        ("Revenue was ₹777 crore", "", "number of another company", 3),
        ("Revenue was ₹4,010 crore", "", "number of another year", 2),
        ("The chair is Sita Menon", "", "name in no passage", 4),
        ("Revenue doubled in 2019", "", "year in no passage", 1),
        ("Revenue was ₹4,512 crore", " [ghost-FY24-12345678]", "cites a passage that was", 1),
        ("Revenue was ₹4,512 crore", "", "no citation", 1),
        ("Revenue was ₹4,512 crore", " [firm0-FY24-00000004]", "cited passage does not hold", 4),
        ("The outlook is bright", " [firm0-FY24-00000001]", "wording without support", 1),
    ],
)
def test_the_kind_of_an_error_is_the_first_that_is_true(claim, rest, kind, passage):
    answer = response("q001", "alpha", text=f"{claim}{rest}.")
    found = classify(claim, ASKED, PASSAGES, answer)
    assert found.name.startswith(kind)
    assert found.passage.page_start == passage


def test_without_passages_a_claim_still_has_a_kind():
    found = classify("Revenue was ₹5 crore", ASKED, [], response("q001", "alpha"))
    assert (found.name, found.passage) == ("number in no passage", None)


@pytest.mark.parametrize(
    ("text", "changes", "taken", "value"),
    [
        ("Revenue was ₹4,512 crore.", {}, "gold value", None),
        ("Revenue was ₹45.12 billion.", {}, "gold value", None),
        ("Revenue was ₹4,010 crore.", {}, "distractor", "₹4,010 crore"),
        ("₹4,512 crore, after ₹4,010 crore.", {}, "both", "₹4,010 crore"),
        ("Revenue was ₹5,000 crore.", {}, "another value", None),
        ("Revenue rose.", {}, "no value", None),
        ("₹4,010 crore", {"abstained": "refused"}, "abstained", None),
        ("₹4,010 crore", {"status": "error"}, "no answer", None),
    ],
)
def test_the_value_a_response_states_is_gold_a_distractor_or_neither(text, changes, taken, value):
    found, distractor = taken_value(ASKED, response("q001", "alpha", text=text, **changes))
    assert found == taken
    assert found in TAKEN
    assert (distractor.value if distractor else None) == value


@pytest.fixture
def collected() -> Collected:
    one = response("q001", "alpha", text="Revenue was ₹9,999 crore. Sita Menon is the chair.")
    two = response("q001", "beta", text="Revenue was ₹9,999 crore.")
    three = response("q001", "gamma", text="Revenue was ₹4,010 crore.")
    scores = (0, 0, 0, 0)
    judged = [
        judgement(
            one,
            "rules",
            scores,
            unsupported_claims=("Revenue was ₹9,999 crore.", "Sita Menon is the chair."),
        ),
        judgement(one, "semantic", scores, unsupported_claims=("Revenue was ₹9,999 crore.",)),
        judgement(two, "rules", scores, unsupported_claims=("Revenue was ₹9,999 crore.",)),
        judgement(three, "rules", scores, contradictions=("Revenue was ₹4,010 crore.",)),
        judgement(three, "semantic", None),
    ]
    return Collected(
        questions=[ASKED],
        responses=[one, two, three],
        judgements=judged,
        retrievals=[retrieval(ASKED, "all")],
        passages={"q001": PASSAGES},
        runs={"alpha": 1, "beta": 1, "gamma": 1},
    )


def test_a_claim_that_both_judges_report_stands_once_with_both_names(collected):
    found = mistakes(collected)
    assert len(found) == 4
    row = found[(found["subject"] == "alpha") & found["claim"].str.contains("9,999")].iloc[0]
    assert row["judges"] == "rules, semantic"
    assert (row["kind"], row["page"]) == ("number in no passage", 1)


def test_counts_by_kind_add_up_to_the_claims(collected):
    found = mistakes(collected)
    counts = counts_by_kind(found, list(collected.runs), "unsupported")
    assert list(counts.index) == ["number in no passage", "name in no passage"]
    assert list(counts.columns) == ["alpha", "beta", "gamma"]
    assert counts.to_numpy().sum() == 3


def test_a_claim_recurs_when_two_responses_state_the_same_number(collected):
    found = recurring(mistakes(collected))
    assert len(found) == 1
    assert found["n_responses"].iloc[0] == 2
    assert found["subjects"].iloc[0] == "alpha, beta"


def test_reports_agree_with_what_they_count(collected):
    claims, taken = mistakes(collected), distractors_taken(collected)
    overview = error_report.overview(claims, collected).set_index("subject")
    assert overview.loc["alpha", "claims reported"] == 2
    assert overview.loc["alpha", "by both judges"] == 1
    assert overview.loc["gamma", "with a contradiction"] == 1
    where = error_report.where(claims, list(collected.runs))
    assert where.loc[where["by"] == "company", "all"].sum() == len(claims)
    rows = error_report.taken_rows(taken)
    assert list(rows["kind"]) == ["wrong year"]
    values = error_report.values(claims, taken, ["gamma"], overview.reset_index())
    assert values["n_kinds"]["number in no passage"] == 2
    assert values["distractors"]["gamma"]["n_distractor"] == 1
    assert "4 reported claims" in error_report.answer(claims, taken, ["gamma"])


def test_examples_show_each_kind_once_beside_its_passage(collected):
    shown = error_report.examples(mistakes(collected))
    assert list(shown["kind"]) == sorted(shown["kind"], key=KINDS.index)
    assert shown["the passage says"].iloc[0] == "Revenue from operations was ₹4,512 crore in FY24."


def test_a_study_without_claims_or_distractors_reports_that(collected):
    empty = Collected(
        questions=[question(1, "direct")],
        responses=collected.responses,
        judgements=[],
        retrievals=collected.retrievals,
        passages=collected.passages,
        runs=collected.runs,
    )
    claims, taken = mistakes(empty), distractors_taken(empty)
    names = list(empty.runs)
    assert claims.empty and taken.empty and recurring(claims).empty
    assert error_report.examples(claims).empty
    assert error_report.outcomes(taken, names).empty
    assert error_report.taken_rows(taken).empty
    assert len(error_report.where(claims, names)) == 0
    assert error_report.overview(claims, empty)["claims reported"].sum() == 0
    assert error_report.answer(claims, taken, names) == (
        "No judge reported a claim. No question of this study has distractors."
    )


@pytest.mark.parametrize(
    ("why", "kind"),
    [
        ("the figure of the year before", "wrong year"),
        ("the FY23 value", "wrong year"),
        ("the consolidated figure", "wrong basis"),
        ("the revenue of another segment", "wrong segment"),
        ("its subsidiary's figure", "wrong entity"),
        ("it looks round", "other"),
    ],
)
def test_the_kind_of_a_distractor_follows_from_why_it_is_plausible(why, kind):
    assert error_report.distractor_kind(why) == kind


def test_a_long_passage_is_cut_at_a_word():
    text = error_report.shortened("word " * 100, 50)
    assert len(text) <= 52
    assert text.endswith("word …")


def test_records_hold_no_nan(collected):
    rows = error_report.records(mistakes(collected))
    assert all(not (isinstance(v, float) and pd.isna(v)) for row in rows for v in row.values())
