"""A language model as judge: the prompt, the schema of its reply, and a strict reading of it.

Nothing is repaired except code fences. A reply that is not exactly one verdict leaves the response
unscored; a quote that does not stand in its source leaves its dimension unscored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, StrictInt, StrictStr, ValidationError

from rge.judging.case import Case, Verdict, unscored
from rge.judging.evidence import locate, slice_of
from rge.prompting import neutralise
from rge.prompts import load_prompt
from rge.records import DIMENSIONS, DimensionScore
from rge.rubrics import rubrics
from rge.store import sha256_text

JUDGE_PROMPT = "judge_v1"
_EXPECTED = {
    "answer": "The passages or the reports hold the answer: an answer is expected.",
    "abstain": "No report holds the answer: a plain abstention is expected.",
    "partial": "Only part of the answer is held: that part, and no more, is expected.",
}
_FENCE = re.compile(r"^```(?:json)?\s*\n(.*?)\n?```$", re.DOTALL)
_STRING: dict[str, Any] = {"type": "string"}


class _Reply(BaseModel):
    """The reply as the schema has it; types are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    correctness_evidence: StrictStr
    correctness_rationale: StrictStr
    correctness_score: StrictInt
    grounding_evidence: StrictStr
    grounding_rationale: StrictStr
    grounding_score: StrictInt
    calibration_evidence: StrictStr
    calibration_rationale: StrictStr
    calibration_score: StrictInt
    faithfulness_evidence: StrictStr
    faithfulness_rationale: StrictStr
    faithfulness_score: StrictInt
    unsupported_claims: tuple[StrictStr, ...]
    contradictions: tuple[StrictStr, ...]


@dataclass(frozen=True)
class Unreadable:
    """Why a reply is no verdict."""

    reason: str


def reply_schema() -> dict[str, Any]:
    """JSON Schema of a verdict, in the subset that all three services hold replies to.

    Flat, all keys required, evidence and rationale before the score of each dimension.
    """
    properties: dict[str, Any] = {}
    for dimension in DIMENSIONS:
        properties[f"{dimension}_evidence"] = _STRING
        properties[f"{dimension}_rationale"] = _STRING
        properties[f"{dimension}_score"] = {"type": "integer", "enum": [0, 1, 2]}
    for claims in ("unsupported_claims", "contradictions"):
        properties[claims] = {"type": "array", "items": _STRING}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@lru_cache(maxsize=1)
def judge_system() -> str:
    """The system prompt of a judge: the frame with the four rubrics, word for word."""
    return load_prompt(JUDGE_PROMPT).format(
        **{name: rubric.text.strip() for name, rubric in rubrics().items()}
    )


def judge_prompt_sha256() -> str:
    """SHA-256 of the system prompt, pinned per run."""
    return sha256_text(judge_system())


def judge_user(case: Case) -> tuple[str, str]:
    """One case as the judge sees it; category, notes and subject are not in it.

    Returns
    -------
    tuple of str
        What every answer to the question shares, and the answer; sent as one message.
    """
    question = case.question
    passages = "\n".join(
        f'<passage id="{neutralise(chunk.chunk_id)}">{neutralise(chunk.text)}</passage>'
        for chunk in case.passages
    )
    quotes = "\n".join(
        f"<gold_quote>{neutralise(gold.quote)}</gold_quote>" for gold in question.gold_quotes
    )
    parts = [
        passages,
        f"<question>{neutralise(question.text)}</question>",
        f"<expected>{_EXPECTED[question.expected_behavior]}</expected>",
        f"<gold_answer>{neutralise(question.gold_answer)}</gold_answer>",
        quotes,
    ]
    shared = "\n\n".join(part for part in parts if part)
    return shared + "\n\n", f"<answer>{neutralise(case.response.text)}</answer>"


def read_verdict(text: str, case: Case) -> Verdict | Unreadable:
    """The verdict a reply holds, or why it holds none.

    Parameters
    ----------
    text
        The whole reply: one JSON object of the schema, a code fence around it allowed.
    case
        What was judged: quotes are looked up in it.
    """
    fenced = _FENCE.match(text.strip())
    try:
        data = json.loads(fenced.group(1) if fenced else text, object_pairs_hook=_once)
        reply = _Reply.model_validate(data)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        return Unreadable(f"not_the_schema: {place or 'reply'}: {problem['msg']}")
    except ValueError as error:
        return Unreadable(f"not_json: {error}")
    scores = {name: getattr(reply, f"{name}_score") for name in DIMENSIONS}
    for name, score in scores.items():
        if score not in (0, 1, 2):
            return Unreadable(f"not_the_schema: {name}_score: {score} is not 0, 1 or 2")
    sources = _sources(case)
    return Verdict(
        **{name: _dimension(reply, name, sources[name], case) for name in DIMENSIONS},
        unsupported_claims=_claims(reply.unsupported_claims, case),
        contradictions=_claims(reply.contradictions, case),
    )


def misquoted(text: str, case: Case) -> list[str]:
    """Claims of a readable reply that do not stand in the answer: errors of the judge."""
    fenced = _FENCE.match(text.strip())
    reply = _Reply.model_validate_json(fenced.group(1) if fenced else text)
    claims = (*reply.unsupported_claims, *reply.contradictions)
    answer = neutralise(case.response.text)
    return [claim for claim in claims if locate(answer, claim) is None]


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which every key stands once: two verdicts in one are none."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"key {key} stands twice")
        found[key] = value
    return found


def _sources(case: Case) -> Mapping[str, list[str]]:
    """The texts a dimension's evidence may come from, as the judge saw them."""
    question = case.question
    passages = [neutralise(chunk.text) for chunk in case.passages]
    gold = [neutralise(question.gold_answer), *(neutralise(g.quote) for g in question.gold_quotes)]
    return {
        "correctness": gold,
        "grounding": passages,
        "calibration": [neutralise(case.response.text)],
        "faithfulness": passages,
    }


def _dimension(reply: _Reply, name: str, sources: list[str], case: Case) -> DimensionScore:
    if name in ("grounding", "faithfulness") and not case.passages:
        return unscored("passages_unknown")
    evidence = getattr(reply, f"{name}_evidence")
    if not evidence.strip():
        # An abstention claims nothing, so nothing has to be found in the passages.
        if name in ("correctness", "calibration") or case.abstained != "refused":
            return unscored("evidence_missing")
        found: str | None = ""
    else:
        found = slice_of(sources, evidence)
    if found is None:
        return unscored("evidence_not_found")
    return DimensionScore(
        evidence=found,
        rationale=getattr(reply, f"{name}_rationale"),
        score=getattr(reply, f"{name}_score"),
    )


def _claims(claims: Sequence[str], case: Case) -> tuple[str, ...]:
    """Claims as they stand in the answer; each repeat of a span is its next occurrence."""
    answer = neutralise(case.response.text)
    after: dict[str, int] = {}
    found = []
    for claim in claims:
        place = locate(answer, claim, after.get(claim, 0))
        if place is not None:
            after[claim] = place[1]
            found.append(answer[place[0] : place[1]])
    return tuple(found)
