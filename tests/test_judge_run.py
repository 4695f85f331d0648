import pytest

from judged import CHUNKS, HYDROGEN, PASSAGES, QUESTIONS, REVENUE, response
from rge.errors import RgeError, UsageError
from rge.judging import assert_cross_family
from rge.judging.run import judge_all, judge_responses
from rge.profile import load_profile
from rge.records import Judgement, Response, Retrieval
from rge.retrieval.retrieve import Frozen
from rge.specs import JudgeSpec, SubjectSpec
from rge.store import read_jsonl, write_jsonl

RULES = JudgeSpec(name="rules", kind="rules", family="rules")


@pytest.fixture
def profile(tmp_path):
    subjects = tuple(
        SubjectSpec(name=name, kind="reader-lexical", family=family, runs=1)
        for name, family in (("reader", "lexical"), ("kin", "Rules"))
    )
    return load_profile("offline").model_copy(
        update={"results_folder": tmp_path, "subjects": subjects, "judges": (RULES,)}
    )


@pytest.fixture
def frozen():
    ids = tuple(chunk.chunk_id for chunk in PASSAGES)
    retrievals = {
        q.id: Retrieval(
            question_id=q.id,
            chunk_ids=ids,
            distances=(0.1,) * len(ids),
            index_sha256="0" * 64,
            gold_in_context="all",
        )
        for q in QUESTIONS
    }
    return Frozen(retrievals, {chunk.chunk_id: chunk for chunk in CHUNKS.values()})


RESPONSES = [
    response(REVENUE, "Revenue from operations was ₹4,512.30 crore in FY24."),
    response(HYDROGEN, "The passages do not state it."),
]


def stored(profile, subject="reader"):
    path = profile.judgements_path(subject, "rules")
    return read_jsonl(path, Judgement, key=lambda j: j.key)


def test_finished_judgements_are_not_made_again(profile, frozen):
    first = judge_responses(profile, RULES, QUESTIONS, frozen, RESPONSES[:1])
    before = profile.judgements_path("reader", "rules").read_bytes()
    second = judge_responses(profile, RULES, QUESTIONS, frozen, RESPONSES)
    assert (first.new, second.new, second.already_done) == (1, 1, 1)
    assert profile.judgements_path("reader", "rules").read_bytes().startswith(before)
    assert [j.question_id for j in stored(profile)] == ["q-revenue", "q-hydrogen"]


@pytest.mark.parametrize(
    ("status", "text", "reason"),
    [
        ("error", "", "response_error"),
        ("refused_by_provider", "", "response_refused_by_provider"),
        ("ok", "  \n", "empty_response"),
    ],
)
def test_what_cannot_be_scored_is_a_record_with_its_reason(profile, frozen, status, text, reason):
    counts = judge_responses(
        profile, RULES, QUESTIONS, frozen, [response(REVENUE, text, status=status)]
    )
    (judgement,) = stored(profile)
    assert (judgement.status, judgement.unscored_reason) == ("unscored", reason)
    assert judgement.correctness is None
    assert counts.failed == 1


def test_a_truncated_answer_is_scored_as_it_stands(profile, frozen):
    cut = response(REVENUE, "Revenue from operations was ₹4,512.30 crore in", status="truncated")
    judge_responses(profile, RULES, QUESTIONS, frozen, [cut])
    assert stored(profile)[0].correctness.score == 2


@pytest.mark.parametrize("change", ["answer", "passage", "gold"])
def test_a_judgement_of_another_case_is_refused(profile, frozen, change):
    judge_responses(profile, RULES, QUESTIONS, frozen, RESPONSES)
    questions, responses = list(QUESTIONS), list(RESPONSES)
    if change == "answer":
        responses[0] = response(REVENUE, "Revenue from operations was ₹4,512.30 crore")
    elif change == "gold":
        questions[0] = REVENUE.model_copy(update={"gold_answer": "₹4,512.31 crore"})
    else:
        chunk = PASSAGES[0].model_copy(update={"text": "Other."})
        frozen = Frozen(frozen.retrievals, {**frozen.chunks, chunk.chunk_id: chunk})
    with pytest.raises(RgeError, match="another judge, rubric or case"):
        judge_responses(profile, RULES, questions, frozen, responses)


def test_notes_and_difficulty_are_no_part_of_the_case(profile, frozen):
    judge_responses(profile, RULES, QUESTIONS, frozen, RESPONSES)
    noted = [q.model_copy(update={"notes": "check", "difficulty": "hard"}) for q in QUESTIONS]
    assert judge_responses(profile, RULES, noted, frozen, RESPONSES).new == 0


@pytest.mark.parametrize("family", ["rules", "RULES", " rules ", "Ru-les"])
def test_no_judge_scores_its_own_family(family):
    with pytest.raises(UsageError, match="own family"):
        assert_cross_family(family, "rules")


@pytest.mark.parametrize("families", [("", "rules"), ("lexical", " "), ("-", "rules")])
def test_a_family_without_a_name_is_refused(families):
    with pytest.raises(UsageError, match="is not named"):
        assert_cross_family(*families)


def test_the_call_site_cannot_be_passed_by_a_relative(profile, frozen):
    """Not alone, not hidden behind another subject, not by any entry point, and nothing is left."""
    kin = response(REVENUE, "Revenue was ₹4,512.30 crore.", subject="kin")
    for responses in ([kin], [*RESPONSES, kin]):
        with pytest.raises(UsageError, match="own family"):
            judge_responses(profile, RULES, QUESTIONS, frozen, responses)
    write_jsonl(profile.responses_path("reader"), RESPONSES)
    write_jsonl(profile.responses_path("kin"), [kin])
    with pytest.raises(UsageError, match="own family"):
        judge_all(profile, QUESTIONS, frozen)
    assert not list(profile.results_folder.glob("*.by-*"))


def test_a_renamed_judge_is_still_of_its_family(profile, frozen):
    disguised = JudgeSpec(name="somebody-else", kind="rules", family="rules")
    kin = response(REVENUE, "Revenue was ₹4,512.30 crore.", subject="kin")
    with pytest.raises(UsageError, match="own family"):
        judge_responses(profile, disguised, QUESTIONS, frozen, [kin])


def test_a_response_of_a_subject_outside_the_profile_is_refused(profile, frozen):
    with pytest.raises(UsageError, match="no subject 'stranger'"):
        judge_responses(
            profile, RULES, QUESTIONS, frozen, [response(REVENUE, "x", subject="stranger")]
        )


def test_unknown_kinds_and_options_are_usage_errors(profile, frozen):
    paid = JudgeSpec(name="opus", kind="anthropic", family="claude")
    with pytest.raises(UsageError, match="options: model: field required"):
        judge_responses(profile, paid, QUESTIONS, frozen, RESPONSES)
    typo = JudgeSpec(name="rules", kind="rules", family="rules", options={"tolerence": 1})
    with pytest.raises(UsageError, match="'tolerence' is not known"):
        judge_responses(profile, typo, QUESTIONS, frozen, RESPONSES)


def test_judge_all_judges_every_pair(profile, frozen):
    only = profile.model_copy(update={"subjects": profile.subjects[:1]})
    write_jsonl(only.responses_path("reader"), RESPONSES)
    counts = judge_all(only, QUESTIONS, frozen)
    assert {pair: c.new for pair, c in counts.items()} == {("reader", "rules"): 2}
    assert read_jsonl(only.responses_path("reader"), Response) == RESPONSES
