import numpy as np
import pytest

from judged import CHUNKS, PASSAGES, QUESTIONS
from rge.calibration.controls import (
    SCORES,
    build_controls,
    count_controls,
    judge_controls,
    pass_rates,
    sample_controls,
)
from rge.calibration.rewording import reword, swap_unit
from rge.errors import UsageError
from rge.judging.rules import RulesJudge
from rge.records import DIMENSIONS, Retrieval
from rge.retrieval.retrieve import Frozen
from rge.text.numbers import any_match, parse_values


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


@pytest.fixture
def controls(frozen):
    return build_controls(QUESTIONS, frozen, rng=np.random.default_rng(7))


def text(controls, kind, question_id="q-revenue"):
    return next(c.response.text for c in controls if (c.kind, c.question.id) == (kind, question_id))


def test_every_label_says_that_it_is_by_construction(controls):
    assert {c.label.label_source for c in controls} == {"construction"}
    assert {c.label.labeller for c in controls} == {"construction"}


def test_labels_are_the_scores_of_their_kind(controls):
    for control in controls:
        assert tuple(getattr(control.label, name) for name in DIMENSIONS) == SCORES[control.kind]


def test_what_cannot_be_built_is_counted(controls):
    table = count_controls(controls, QUESTIONS).set_index("control")
    assert (table["built"] + table["left_out"]).loc["oracle"] == 5
    assert table.loc["year-swapper", "left_out"] == 3  # a derived figure and two without numbers
    assert table.loc["abstainer", "built"] == 1
    assert len(controls) == table["built"].sum()


def test_each_control_is_what_it_says(controls):
    oracle = text(controls, "oracle")
    assert "₹4,512.30 crore" in oracle and CHUNKS["finance"].chunk_id in oracle
    assert "₹4,010.20 crore" in text(controls, "year-swapper")
    assert "4,512.30" not in text(controls, "contradictor")
    assert CHUNKS["finance"].chunk_id not in text(controls, "mis-citer")
    assert text(controls, "fabricator").startswith(oracle.rstrip("."))
    assert oracle in text(controls, "over-hedger")


def test_gold_that_was_not_retrieved_leaves_no_control_that_needs_it(frozen):
    short = {
        key: r.model_copy(
            update={
                "chunk_ids": r.chunk_ids[3:],
                "distances": r.distances[3:],
                "gold_in_context": "none",
            }
        )
        for key, r in frozen.retrievals.items()
    }
    kinds = {
        c.kind
        for c in build_controls(
            QUESTIONS, Frozen(short, frozen.chunks), rng=np.random.default_rng(7)
        )
    }
    assert kinds == {"abstainer", "inventor"}


def test_the_same_generator_builds_the_same_controls(frozen, controls):
    again = build_controls(QUESTIONS, frozen, rng=np.random.default_rng(7))
    assert [c.response for c in again] == [c.response for c in controls]


def test_a_judge_of_the_controls_own_family_is_refused(controls):
    with pytest.raises(UsageError, match="own family"):
        judge_controls(controls, {"rules": ("construction", RulesJudge())})


def test_the_rules_judge_gives_controls_their_scores(controls):
    scores = judge_controls(controls, {"rules": ("rules", RulesJudge())})
    wrong = scores[scores["obtained"] != scores["expected"]]
    assert wrong.empty, wrong.to_string()
    assert set(pass_rates(scores)["pass_rate"]) == {1.0}


def test_an_unscored_control_does_not_pass():
    class Silent:
        def judge_many(self, cases):
            return [RulesJudge().judge(type(c)(c.question, (), c.response)) for c in cases]

    frozen = Frozen(
        {
            QUESTIONS[0].id: Retrieval(
                question_id=QUESTIONS[0].id,
                chunk_ids=tuple(chunk.chunk_id for chunk in PASSAGES),
                distances=(0.1,) * len(PASSAGES),
                index_sha256="0" * 64,
                gold_in_context="all",
            )
        },
        {chunk.chunk_id: chunk for chunk in PASSAGES},
    )
    built = build_controls(QUESTIONS[:1], frozen, rng=np.random.default_rng(1))
    rates = pass_rates(judge_controls(built, {"silent": ("silent", Silent())}))
    assert rates.loc[rates["dimension"] == "grounding", "pass_rate"].eq(0).all()


def test_a_paraphrase_keeps_every_figure_and_name(controls):
    said, oracle = text(controls, "paraphraser"), text(controls, "oracle")
    assert said != oracle
    gold = parse_values(QUESTIONS[0].gold_answer)
    assert all(any_match(parse_values(said), value) for value in gold)
    assert "Meruvan" in said and CHUNKS["finance"].chunk_id in said


@pytest.mark.parametrize(
    "gold",
    [
        "Revenue was ₹4,512.30 crore in FY24.",
        "Profit fell by 12.5% in FY24.",
        "Ms. Asha Rao was the Chairperson in FY24.",
        "The rate was 19.5 per cent.",
    ],
)
def test_rewording_changes_words_and_no_figure(gold):
    for seed in range(5):
        said = reword(gold, np.random.default_rng(seed))
        assert said and said != gold
        before, after = parse_values(gold), parse_values(said)
        assert [(q.value, q.unit) for q in before] == [(q.value, q.unit) for q in after]
        assert ("FY24" in gold) == ("FY24" in said)
        assert ("Ms. Asha Rao" in gold) == ("Ms. Asha Rao" in said)


def test_what_no_rule_rewords_is_left_out():
    assert reword("Marlow Penhale & Co.", np.random.default_rng(1)) is None


@pytest.mark.parametrize(
    ("gold", "swapped"),
    [
        ("It was ₹4,512.30 crore.", "It was ₹4,512.30 lakh."),
        ("It was ₹3 lakh crore.", "It was ₹3 crore."),
        ("It was $412.5 million.", "It was $412.5 billion."),
        ("It fell by 140 bps.", "It fell by 140 percentage points."),
        ("It was 12.5%.", "It was 12.5 basis points."),
        ("It had 27 vessels.", None),
    ],
)
def test_a_swapped_unit_keeps_the_digits_and_is_wrong(gold, swapped):
    (value,) = parse_values(gold)
    assert swap_unit(gold, value) == swapped
    if swapped:
        assert not any_match(parse_values(swapped), value)


def test_the_parrot_echoes_the_first_passage_only(controls):
    for control in controls:
        if control.kind == "parrot":
            assert control.response.text.startswith(control.passages[0].text)
            assert control.passages[0].chunk_id not in control.question.gold_source_ids


def test_a_sample_holds_at_most_so_many_of_a_kind_and_repeats_by_its_seed(controls):
    many = [*controls] * 30
    sample = sample_controls(many, most=7, rng=np.random.default_rng(4))
    table = count_controls(many, QUESTIONS, sample).set_index("control")
    assert (table["judged"] == table["built"].clip(upper=7)).all()
    again = sample_controls(many, most=7, rng=np.random.default_rng(4))
    assert [c.response for c in again] == [c.response for c in sample]
    assert sample_controls(controls, most=1000, rng=np.random.default_rng(4)) == controls
