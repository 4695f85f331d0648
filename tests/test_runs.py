import math
from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from rge.collected import Collected
from rge.records import Chunk, Question, Response, Usage
from rge.reports import runs

SHOWN = "acme-FY24-00000001"
HIDDEN = "acme-FY24-0000000f"


def question(number: int) -> Question:
    return Question(
        id=f"q{number}",
        version=1,
        category="direct",
        text="t",
        gold_answer="g",
        expected_behavior="answer",
        company="acme",
        fy="FY24",
        difficulty="easy",
    )


def response(number: int, text: str, status: str = "ok", **changes: object) -> Response:
    fields: dict[str, object] = {
        "question_id": f"q{number}",
        "subject": "alpha",
        "run_index": 0,
        "text": text,
        "citations": (),
        "abstained": "answered",
        "status": status,
        "stop_reason": "stop",
        "model_id": "m",
        "params": {},
        "prompt_sha256": "0" * 64,
        "usage": {},
        "cost_usd": 0.01,
        "latency_s": 2.0,
        "created_at": "2024-04-01T00:00:00Z",
        "run_id": "test-1",
    }
    return Response(**{**fields, **changes})


@pytest.fixture
def study() -> Collected:
    chunk = Chunk(
        chunk_id=SHOWN,
        company="acme",
        fy="FY24",
        doc_id="d",
        page_start=1,
        page_end=1,
        heading="",
        text="t",
        n_tokens=1,
    )
    return Collected(
        questions=[question(number) for number in range(6)],
        responses=[
            response(0, f"Revenue was 9 crore [{SHOWN}].", latency_s=1.0),
            response(1, f"One two three four [{SHOWN}] [{HIDDEN}]", status="truncated"),
            response(2, "The passages do not say.", abstained="refused"),
            response(3, "", status="error", abstained="undetermined"),
            response(4, "", status="refused_by_provider", abstained="undetermined"),
            response(0, "not planned", run_index=1),
            response(9, "not asked"),
        ],
        judgements=[],
        retrievals=[],
        passages={f"q{number}": [chunk] for number in range(6)},
        runs={"alpha": 1, "beta": 2},
    )


def test_every_planned_response_is_in_one_column(study: Collected):
    table = runs.outcomes(study).set_index("subject")
    assert table.loc["alpha"].tolist() == [6, 2, 1, 1, 1, 1]
    assert table.loc["beta"].tolist() == [12, 0, 0, 0, 0, 12]
    states = table.drop(columns="n_planned").sum(axis=1)
    assert states.tolist() == table["n_planned"].tolist()


def test_only_responses_with_text_count_as_answers(study: Collected):
    alpha = runs.answers(study).set_index("subject").loc["alpha"]
    assert (alpha.n_answers, alpha.n_answered, alpha.n_refused) == (3, 2, 1)
    assert alpha.latency_s_median == 2.0
    assert alpha.cost_usd == pytest.approx(0.05)


def test_a_citation_of_a_passage_that_was_not_shown_is_not_valid(study: Collected):
    alpha = runs.answers(study).set_index("subject").loc["alpha"]
    assert (alpha.n_citing, alpha.n_citations, alpha.n_valid_citations) == (2, 3, 2)


def test_citations_are_not_words(study: Collected):
    """Four, four and five words."""
    assert runs.answers(study).loc[0, "words_median"] == 4.0


def test_what_has_no_denominator_is_missing_not_zero(study: Collected):
    beta = runs.answers(study).set_index("subject").loc["beta"]
    assert math.isnan(beta.words_median)
    assert runs.rows(runs.answers(study))[1]["words_median"] is None


def test_the_parts_of_a_bar_add_up_to_what_was_planned(study: Collected):
    stances = runs.stances(study)
    assert stances.loc["alpha"].tolist() == [2, 1, 0, 3]
    ax = runs.draw_stances(Figure().subplots(), stances, ["alpha", "beta"])
    assert sum(bar.get_width() for bar in ax.patches) == stances.to_numpy().sum() == 18
    assert [text.get_text() for text in ax.texts][:2] == ["answers 2", "abstains 1"]


def test_the_summary_counts_what_is_stored_and_what_failed(study: Collected):
    text = runs.summary(runs.outcomes(study), runs.answers(study))
    assert text.startswith("Of 18 planned responses 5 are stored and 2 of these hold no answer")
    assert "`alpha` abstains in 1/3 (33 %) of its answers" in text
    assert "`beta` abstains in 0/0" in text


def test_rows_are_plain_values():
    table = pd.DataFrame({"name": ["a"], "n": pd.Series([3], dtype="int64"), "x": [float("nan")]})
    assert runs.rows(table) == [{"name": "a", "n": 3, "x": None}]


def test_a_study_whose_subjects_count_no_tokens_has_missing_medians_not_errors(study: Collected):
    uncounted = [r.model_copy(update={"usage": Usage()}) for r in study.responses]
    table = runs.answers(replace(study, responses=uncounted))
    assert table["input_tokens_median"].isna().all()
    assert table["input_tokens_median"].dtype == float


def test_parameters_show_every_value_that_was_sent_and_how_often(study: Collected):
    sent = [
        {"temperature": 0.0, "mode": "batch"},
        {"temperature": 0.0, "mode": "sync"},
        {"temperature": 0.0, "mode": "batch", "seed": None},
    ]
    calls = [response(n, "x", params=params) for n, params in enumerate(sent, 1)]
    questions = [question(n) for n in (1, 2, 3)]
    table = runs.parameters(replace(study, questions=questions, responses=calls, runs={"alpha": 1}))
    shown = dict(zip(table["parameter"], table["alpha"], strict=True))
    assert shown == {
        "temperature": "0.0",
        "mode": "batch (2); sync (1)",
        "seed": "not sent (1)",
        "model returned": "m",
    }
