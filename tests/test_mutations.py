from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from judged import CHAIR, CHUNKS, DIVIDEND, HYDROGEN, IDS, PASSAGES, QUESTIONS, REVENUE, case
from rge.calibration.controls import build_controls
from rge.calibration.mutations import (
    MUST_FALL,
    build_mutants,
    judge_mutants,
    lost_shares,
    negate,
    swap_digit,
)
from rge.errors import UsageError
from rge.judging.rules import RulesJudge
from rge.records import Retrieval
from rge.retrieval.retrieve import Frozen
from rge.text.citations import parse_citations
from rge.text.numbers import any_match, parse_values


@pytest.fixture(scope="module")
def controls():
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
    frozen = Frozen(retrievals, {chunk.chunk_id: chunk for chunk in CHUNKS.values()})
    return build_controls(QUESTIONS, frozen, rng=np.random.default_rng(7))


@pytest.fixture(scope="module")
def mutants(controls):
    return build_mutants(controls, rng=np.random.default_rng(3))


def of(mutants, kind, question):
    return next(m for m in mutants if (m.kind, m.question_id) == (kind, question.id))


def test_every_mutation_is_made_of_some_oracle_and_of_nothing_else(mutants):
    assert {mutant.kind for mutant in mutants} == set(MUST_FALL)
    assert HYDROGEN.id not in {mutant.question_id for mutant in mutants}
    assert all(m.before.response.text != m.after.response.text for m in mutants)


def test_a_digit_makes_a_figure_that_neither_gold_nor_a_passage_has(mutants):
    mutant = of(mutants, "swap a digit", REVENUE)
    before, after = mutant.before.response.text, mutant.after.response.text
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1
    (new,) = parse_values(after.split("[")[0])
    known = [q for chunk in PASSAGES for q in parse_values(chunk.text)]
    assert not any_match(known, new)
    assert parse_citations(after, IDS.values()).valid == parse_citations(before, IDS.values()).valid


def test_a_text_without_a_gold_figure_has_no_digit_to_swap():
    rng = np.random.default_rng(1)
    assert swap_digit("The Board met seven times.", case(REVENUE, "x"), rng) is None
    assert swap_digit("It was ₹999.00 crore.", case(REVENUE, "x"), rng) is None


def test_dropped_citations_leave_the_words(mutants):
    after = of(mutants, "drop the citations", CHAIR).after.response
    assert (after.text, after.citations) == ("Ms. Asha Rao was the Chairperson of Meruvan.", ())


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Revenue was ₹5 crore.", "Revenue was not ₹5 crore."),
        ("The Board did not declare it.", "The Board did declare it."),
        ("No, it was not sold.", "Yes, it was sold."),
        ("Yes, it was sold.", "No, it was not sold."),
        ("Profit fell by 4%.", "Profit did not fall by 4%."),
        ("The Board declared a dividend.", "The Board did not declare a dividend."),
        ("Sales increased by 4%.", "Sales did not increase by 4%."),
        ("It earned ₹5 crore.", "It did not earn ₹5 crore."),
        ("₹5 crore.", None),
    ],
)
def test_a_clause_is_denied_or_its_denial_taken_back(text, denied):
    assert negate(text) == denied


def test_two_claims_are_cited_to_each_others_passage(mutants):
    mutant = of(mutants, "swap two citations", REVENUE)
    before, after = mutant.before.response, mutant.after.response
    assert len(before.citations) == 2 and after.citations == before.citations[::-1]
    assert IDS["finance"] in before.citations
    assert RulesJudge().judge(mutant.before).grounding.score == 2


def test_the_rules_judge_sees_wrong_digits_and_citations(mutants):
    scores = judge_mutants(mutants, {"rules": ("rules", RulesJudge())})
    table = lost_shares(scores).set_index("mutation")
    for kind in ("swap a digit", "drop the citations", "swap two citations"):
        assert table.loc[kind, "lost"] == table.loc[kind, "fell"] == 1
    assert table["n"].sum() == len(mutants)


def test_a_judge_that_always_says_the_same_sees_nothing(mutants):
    class Constant:
        settings: ClassVar[dict[str, object]] = {}

        def judge_many(self, cases):
            return [RulesJudge().judge(mutants[0].before) for _ in cases]

    table = lost_shares(judge_mutants(mutants, {"constant": ("constant", Constant())}))
    assert set(table["lost"]) == {0.0}


def test_an_unscored_mutant_is_counted_and_not_taken_for_a_loss(mutants):
    class Blind:
        settings: ClassVar[dict[str, object]] = {}

        def judge_many(self, cases):
            return [RulesJudge().judge(type(c)(c.question, (), c.response)) for c in cases]

    table = lost_shares(judge_mutants(mutants, {"blind": ("blind", Blind())}))
    assert table["n"].eq(0).all() and table["n_unscored"].sum() == len(mutants)
    assert table["lost"].isna().all()


def test_the_share_is_of_the_mutants_with_scores():
    rows = [("swap a digit", "a", True), ("swap a digit", "b", False), ("swap a digit", "c", None)]
    scores = pd.DataFrame(
        [
            {"mutation": kind, "question_id": q, "judge": "j", "lost": lost, "fell": lost}
            for kind, q, lost in rows
        ]
    )
    row = lost_shares(scores).set_index("mutation").loc["swap a digit"]
    assert (row["n"], row["n_unscored"], row["lost"]) == (2, 1, 0.5)


def test_the_same_generator_makes_the_same_mutants(controls, mutants):
    again = build_mutants(controls, rng=np.random.default_rng(3))
    assert [m.after.response.text for m in again] == [m.after.response.text for m in mutants]


def test_a_judge_of_the_mutants_own_family_is_refused(mutants):
    with pytest.raises(UsageError, match="own family"):
        judge_mutants(mutants, {"rules": ("construction", RulesJudge())})


def test_a_taken_back_denial_is_a_mutant_of_a_no(mutants):
    after = of(mutants, "negate a clause", DIVIDEND).after.response.text
    assert after.startswith("Yes, the Board did declare")
