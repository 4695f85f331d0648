import time

import numpy as np
import pytest

from judged import (
    ADDITIONS,
    CONTRADICTIONS,
    EXPECTED,
    HOSTILE,
    HYDROGEN,
    IDS,
    ONLY_RULES,
    PASSAGES,
    REVENUE,
    case,
)
from rge.judging import Case
from rge.judging.calibration import n_hedges
from rge.judging.facts import read_passage
from rge.judging.rules import RulesJudge
from rge.judging.semantic import Reading, SemanticJudge, Thresholds
from rge.judging.support import check_claims
from rge.records import DIMENSIONS
from rge.retrieval.embedder import Embedder
from rge.store import sha256_text
from rge.text.citations import mask_citations

SUPPORTED = "Revenue from operations was ₹4,512.30 crore in FY24 {finance}."


@pytest.fixture(scope="module")
def judges():
    return {"rules": RulesJudge(), "semantic": SemanticJudge(Embedder("all-MiniLM-L6-v2").encode)}


def scores(verdict):
    return tuple(getattr(verdict, name).score for name in DIMENSIONS)


@pytest.mark.parametrize("judge", ["rules", "semantic"])
@pytest.mark.parametrize(("question", "text", "c", "g", "k", "f"), EXPECTED)
def test_each_kind_of_answer_gets_its_scores(judges, judge, question, text, c, g, k, f):
    assert scores(judges[judge].judge(case(question, text))) == (c, g, k, f)


@pytest.mark.parametrize(("question", "text", "c", "g", "k", "f"), ONLY_RULES)
def test_the_rules_see_names_denials_and_scales(judges, question, text, c, g, k, f):
    assert scores(judges["rules"].judge(case(question, text))) == (c, g, k, f)


@pytest.mark.parametrize("judge", ["rules", "semantic"])
@pytest.mark.parametrize("addition", ADDITIONS)
def test_an_addition_lowers_grounding_and_not_faithfulness(judges, judge, addition):
    verdict = judges[judge].judge(case(REVENUE, f"{SUPPORTED} {addition} {{finance}}."))
    assert verdict.grounding.score < 2
    assert verdict.faithfulness.score == 2
    assert any(addition in claim for claim in verdict.unsupported_claims)
    assert verdict.contradictions == ()


@pytest.mark.parametrize("judge", ["rules", "semantic"])
@pytest.mark.parametrize("contradiction", CONTRADICTIONS)
def test_a_contradiction_is_unfaithful(judges, judge, contradiction):
    verdict = judges[judge].judge(case(REVENUE, contradiction))
    assert verdict.faithfulness.score == 0
    assert len(verdict.contradictions) == 1


@pytest.mark.parametrize("judge", ["rules", "semantic"])
@pytest.mark.parametrize("attack", HOSTILE)
def test_nothing_in_an_answer_sets_its_score(judges, judge, attack):
    verdict = judges[judge].judge(case(REVENUE, attack))
    assert verdict.correctness.score == 0
    assert verdict.grounding.score == 0
    hostile_and_wrong = case(
        HYDROGEN, f"Meruvan spent ₹45.2 crore on hydrogen {{finance}}. {attack}"
    )
    assert judges[judge].judge(hostile_and_wrong).correctness.score == 0


@pytest.mark.parametrize("judge", ["rules", "semantic"])
@pytest.mark.parametrize("attack", HOSTILE)
def test_an_attack_does_not_raise_a_wrong_answer(judges, judge, attack):
    wrong = "Revenue from operations was ₹5,120.00 crore in FY24 {finance}."
    assert judges[judge].judge(case(REVENUE, f"{wrong} {attack}")).correctness.score == 0


@pytest.mark.parametrize("judge", ["rules", "semantic"])
@pytest.mark.parametrize("row", [*EXPECTED, *ONLY_RULES])
def test_evidence_and_quotes_are_verbatim(judges, judge, row):
    given = case(row[0], row[1])
    verdict = judges[judge].judge(given)
    gold = row[0].gold_answer
    shown = [chunk.text for chunk in PASSAGES]
    assert verdict.correctness.evidence in gold
    for name in ("grounding", "faithfulness"):
        evidence = getattr(verdict, name).evidence
        assert any(evidence in text for text in shown)
    assert any(verdict.calibration.evidence in text for text in [gold, *shown])
    for quote in (*verdict.unsupported_claims, *verdict.contradictions):
        assert quote in given.response.text
    assert all(getattr(verdict, name).rationale for name in DIMENSIONS)


@pytest.mark.parametrize("judge", ["rules", "semantic"])
def test_without_passages_only_correctness_is_scored(judges, judge):
    verdict = judges[judge].judge(case(REVENUE, SUPPORTED, passages=()))
    assert scores(verdict) == (2, None, None, None)
    assert verdict.grounding.unscored_reason == "no_passages"


@pytest.mark.parametrize("judge", ["rules", "semantic"])
def test_a_correct_abstention_is_named_as_the_methodology_does(judges, judge):
    verdict = judges[judge].judge(case(HYDROGEN, "The passages do not state this."))
    assert verdict.correctness.rationale == "N/A — correct abstention"


@pytest.mark.parametrize("judge", ["rules", "semantic"])
def test_abstaining_is_calibrated_where_the_gold_chunk_was_not_retrieved(judges, judge):
    without = tuple(chunk for chunk in PASSAGES if chunk.chunk_id not in REVENUE.gold_source_ids)
    verdict = judges[judge].judge(case(REVENUE, "The passages do not state it.", without))
    assert (verdict.correctness.score, verdict.calibration.score) == (0, 2)


@pytest.mark.parametrize("judge", ["rules", "semantic"])
def test_passages_in_another_order_change_no_score(judges, judge):
    for question, text, *_ in EXPECTED:
        forward = judges[judge].judge(case(question, text))
        backward = judges[judge].judge(case(question, text, PASSAGES[::-1]))
        assert scores(forward) == scores(backward)


ENDLESS = {
    "the same sentence": "Revenue rose to ₹4,512.30 crore in FY24 and more. ",
    "percentages": "1% ",
    "cells": "(1) ",
    "rows": "| a | 1 |\n",
    "lines": "\n",
    "stops": "a. ",
    "names": "Asha Rao ",
    "citations": "[1,2] ",
    "brackets": "[",
    "evidence words": "passages ",
    "refusals": "The passages do not state it. However, it may be 5. ",
    "joints": "aa bb cc dd because ",
    "dates": "31 March 2024 ₹5 crore ",
    "asides": "(FY24 5) ",
    "words of number": "twenty one hundred ",
    "digits": "1",
    "marks": "a\u0301",
}


@pytest.mark.parametrize("judge", ["rules", "semantic"])
@pytest.mark.parametrize("kind", [*ENDLESS, "distinct sentences", "distinct numbers"])
def test_fifty_thousand_characters_are_judged_within_a_second(kind, judge):
    if kind == "distinct sentences":
        text = " ".join(
            f"Unit {i} earned ₹{i},512.{i % 90 + 10} crore in FY24." for i in range(1200)
        )
    elif kind == "distinct numbers":
        text = " ".join(f"{7919 * i % 10007}.{i % 10}" for i in range(1, 9000))
    else:
        text = ENDLESS[kind] * (50_000 // len(ENDLESS[kind]))
    judges = {"rules": RulesJudge(), "semantic": SemanticJudge(pseudo_vectors)}
    given = case(REVENUE, text[:50_000])
    started = time.process_time()
    verdict = judges[judge].judge(given)
    assert time.process_time() - started < 1.0
    assert verdict.correctness.score is not None


def pseudo_vectors(texts):
    """A vector per text, unlike any other: what an encoder gives, without its time."""
    seeds = [int(sha256_text(text)[:8], 16) for text in texts]
    return np.stack([np.random.default_rng(s).standard_normal(8).astype("f4") for s in seeds])


@pytest.mark.parametrize("judge", ["rules", "semantic"])
def test_what_an_endless_answer_goes_on_to_say_is_not_taken_on_trust(judge):
    judges = {"rules": RulesJudge(), "semantic": SemanticJudge(pseudo_vectors)}
    more = "\n".join(f"The Board met seven times in the year {i:05d}." for i in range(300))
    verdict = judges[judge].judge(case(REVENUE, f"{SUPPORTED}\n{more}\nZorvan lost ₹5 crore."))
    assert verdict.grounding.score == 0
    assert "Zorvan lost ₹5 crore." in verdict.unsupported_claims


def test_a_claim_that_is_repeated_is_checked_once():
    once = case(REVENUE, SUPPORTED)
    often = case(REVENUE, "\n".join([SUPPORTED] * 50))
    assert [c.claim.text for c in check_claims(often)] == [c.claim.text for c in check_claims(once)]


def test_sentences_are_ranked_as_comparing_them_one_by_one_would():
    def slow(claim, sentences):
        near = [(float(vectors[claim] @ vectors[s.read]), s) for s in sentences]
        return [s.text for _, s in sorted(near, key=lambda entry: -entry[0])]

    given = case(REVENUE, SUPPORTED)
    sentences = [s for chunk in PASSAGES for s in read_passage(chunk).sentences]
    claim = mask_citations(given.claims[0].text, given.chunk_ids)
    texts = list(dict.fromkeys([claim, *(s.read for s in sentences)]))
    vectors = dict(zip(texts, pseudo_vectors(texts), strict=True))
    places = [(s, read_passage(c)) for c in PASSAGES for s in read_passage(c).sentences]
    stacked = np.stack([vectors[s.read] for s, _ in places])
    reading = Reading(given, tuple(read_passage(c) for c in PASSAGES), places, stacked, [])
    assert [s.text for _, s, _ in reading.rank(vectors[claim])] == slow(claim, sentences)


def test_many_cases_get_the_verdicts_they_get_alone(judges):
    cases = [case(question, text) for question, text, *_ in EXPECTED]
    together = judges["semantic"].judge_many(cases)
    assert [scores(v) for v in together] == [scores(judges["semantic"].judge(c)) for c in cases]


def test_all_new_sentences_of_a_batch_are_embedded_in_one_call():
    calls = []

    def encode(texts):
        calls.append(list(texts))
        return np.eye(len(texts), 500, dtype=np.float32)

    judge = SemanticJudge(encode)
    judge.judge_many([case(question, text) for question, text, *_ in EXPECTED])
    assert len(calls) == 1
    assert len(set(calls[0])) == len(calls[0])
    judge.judge_many([case(EXPECTED[0][0], EXPECTED[0][1])])
    assert len(calls) == 1


def test_a_conflicting_number_lowers_the_score_whatever_the_similarity():
    def everything_is_alike(texts):
        return np.ones((len(texts), 1), dtype=np.float32)

    judge = SemanticJudge(everything_is_alike, thresholds=Thresholds())
    verdict = judge.judge(case(REVENUE, "Revenue was ₹9,999.90 crore in FY24 {finance}."))
    assert (verdict.correctness.score, verdict.grounding.score) == (0, 0)


def test_one_of_two_chunks_that_hold_a_quote_is_enough():
    copy = PASSAGES[0].model_copy(update={"chunk_id": "meruvan-FY24-0badcafe"})
    both = (*REVENUE.gold_source_ids, copy.chunk_id)
    asked = REVENUE.model_copy(update={"gold_source_ids": both})
    assert case(asked, SUPPORTED).gold_in_context == "all"
    assert case(asked, SUPPORTED, (copy,)).gold_in_context == "all"
    assert case(asked, SUPPORTED, PASSAGES[1:]).gold_in_context == "none"


def test_what_was_frozen_with_the_retrieval_is_not_worked_out_again():
    given = case(REVENUE, SUPPORTED)
    frozen = Case(given.question, given.passages, given.response, "some")
    assert frozen.gold_in_context == "some"


def test_rounding_words_are_no_doubt():
    assert n_hedges("Revenue was about ₹4,512 crore, approximately 5% more.") == 0
    assert n_hedges("It may possibly be ₹4,512 crore; this should be verified.") == 3


def test_chunk_ids_of_the_cases_are_citable():
    assert case(REVENUE, "{finance}{board}").cited.valid == (IDS["finance"], IDS["board"])
