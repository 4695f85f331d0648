import pytest

from rge import figures
from rge.records import GoldValue, Question, Retrieval
from rge.reports import question_report
from rge.validation import Check, Fault, ValidationReport, validate


def asking(question_id, category, difficulty="easy", **changes):
    fields = {
        "id": question_id,
        "version": 1,
        "category": category,
        "text": f"What about {question_id}?",
        "gold_answer": "5,108 crore",
        "expected_behavior": "abstain" if category == "ood" else "answer",
        "company": f"company of {category}",
        "fy": "FY24",
        "difficulty": difficulty,
    }
    return Question(**{**fields, **changes})


QUESTIONS = [
    asking("d1", "direct", gold_values=(GoldValue(value=1, unit="%"),)),
    asking("d2", "direct", "hard"),
    asking("d3", "direct"),
    asking("m1", "multihop"),
    asking("o1", "ood"),
]
SHOWN = {"d1": "all", "d2": "none", "d3": "all", "m1": "some", "o1": "none"}
RETRIEVALS = [
    Retrieval(
        question_id=question_id,
        chunk_ids=("a",),
        distances=(0.25,),
        index_sha256="0" * 64,
        gold_in_context=kind,
    )
    for question_id, kind in SHOWN.items()
]


def test_the_taxonomy_has_a_row_for_each_category_asked_and_one_for_all():
    table = question_report.taxonomy(QUESTIONS).set_index("category")
    assert list(table.index) == ["direct", "multi-hop", "out of domain", "all"]
    assert list(table.questions) == [3, 1, 1, 5]
    assert list(table.loc["direct", ["easy", "medium", "hard"]]) == [2, 0, 1]
    assert table.loc["direct", "with_a_gold_number"] == 1
    assert table.loc["all", "companies"] == 3


def test_retrieval_counts_answerable_questions_by_how_much_gold_is_shown():
    table = question_report.retrieval(QUESTIONS, RETRIEVALS).set_index("category")
    assert table.loc["direct"].to_dict() == {"questions": 3, "all": 2, "some": 0, "none": 1}
    assert table.loc["multi-hop"].to_dict() == {"questions": 1, "all": 0, "some": 1, "none": 0}
    assert "out of domain" not in table.index


def test_retrieval_counts_distracted_questions_where_a_report_says_so():
    tempted = [asking(f"a{n}", "adversarial") for n in (1, 2, 3)]
    found = [RETRIEVALS[0].model_copy(update={"question_id": q.id}) for q in tempted]
    failed = (Fault("a2", "no distractor"),)
    report = ValidationReport((Check("adversarial: passages hold a distractor", 3, failed),))
    table = question_report.retrieval([*QUESTIONS, *tempted], [*RETRIEVALS, *found], report)
    distracted = table.set_index("category").with_a_distractor
    assert distracted["adversarial"] == 2 and distracted.isna()["direct"]


def test_companies_are_counted_by_category_and_year():
    later = asking("d9", "direct", fy="FY23")
    table = question_report.companies([*QUESTIONS, later]).set_index("company")
    assert table.loc["company of direct"].to_dict() == {
        "questions": 4,
        "direct": 4,
        "multi-hop": 0,
        "adversarial": 0,
        "out of domain": 0,
        "FY23": 1,
        "FY24": 3,
    }


def test_faults_have_a_row_each_and_none_is_said_in_words():
    report = ValidationReport(
        (
            Check("one", 2, (Fault("a", "wrong"), Fault("a", "also wrong"))),
            Check("two", 2, (Fault("b", "odd"),), required=False),
        )
    )
    table = question_report.faults(report)
    assert list(table.problem) == ["wrong", "also wrong"]
    assert list(question_report.faults(report, required=False).question) == ["b"]
    assert list(question_report.faults(ValidationReport(())).problem) == ["none"]


def test_examples_show_one_question_of_each_category():
    table = question_report.examples(QUESTIONS)
    assert list(table.question) == ["What about d1?", "What about m1?", "What about o1?"]


def test_the_bars_of_a_category_fill_its_row():
    table = question_report.retrieval(QUESTIONS, RETRIEVALS)
    _, [ax] = figures.new(2)
    question_report.draw_retrieval(ax, table)
    by_row: dict[float, float] = {}
    for bar in ax.patches:
        by_row[bar.get_y()] = by_row.get(bar.get_y(), 0) + bar.get_width()
    assert list(by_row.values()) == pytest.approx([1, 1])


def test_every_question_is_a_dot_at_its_similarity():
    _, [ax] = figures.new(2)
    question_report.draw_similarity(ax, QUESTIONS, RETRIEVALS)
    dots = [x for line in ax.lines for x in line.get_xdata()]
    assert dots == [0.75] * len(QUESTIONS)


def test_the_answer_says_what_was_counted_and_what_fails():
    report = validate(QUESTIONS, pages=[], chunks=[])
    table = question_report.retrieval(QUESTIONS, RETRIEVALS)
    values = question_report.values(QUESTIONS, table, report)
    assert (values["n_questions"], values["n_adversarial"], values["n_gold_all"]) == (5, 0, 2)
    text = question_report.answer(values)
    assert "5 questions (3 direct, 1 multihop and 1 out of domain)" in text.replace(
        "multi-hop", "multihop"
    )
    assert "Required checks fail" in text and "2/4 (50 %)" in text
