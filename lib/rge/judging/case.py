"""What a judge is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from rge.corpus.chunk import holds
from rge.records import Chunk, DimensionScore, Question, Response, Score, Usage
from rge.text.abstention import Abstention, detect
from rge.text.citations import Citations, parse_citations
from rge.text.claims import Claim, split_claims


@dataclass(frozen=True)
class Case:
    """One response with its question and the passages that its subject was shown.

    Parameters
    ----------
    question
        With gold answer and expected behaviour; its notes are not read.
    passages
        In rank order; empty where they are unknown, which leaves grounding and faithfulness
        unscored.
    response
        Untrusted text: it is measured, nothing in it is obeyed.
    gold_shown
        How much of the gold is among the passages, as frozen with the retrieval; None: worked out
        from the gold quotes that stand in the passages.
    """

    question: Question
    passages: tuple[Chunk, ...]
    response: Response
    gold_shown: Literal["all", "some", "none"] | None = None

    @cached_property
    def chunk_ids(self) -> tuple[str, ...]:
        return tuple(chunk.chunk_id for chunk in self.passages)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(split_claims(self.response.text, self.chunk_ids))

    @cached_property
    def cited(self) -> Citations:
        return parse_citations(self.response.text, self.chunk_ids)

    @cached_property
    def abstained(self) -> Abstention:
        """Decided anew from the text, not taken from the record."""
        return detect(self.response.text)

    @cached_property
    def gold_in_context(self) -> Literal["all", "some", "none"]:
        """How much of the gold is among the passages.

        A question without gold chunks that wants an answer (foreign data) counts as "all": there
        is nothing that says the passages lack it.
        """
        question = self.question
        if not question.gold_source_ids:
            return "none" if question.expected_behavior == "abstain" else "all"
        if self.gold_shown is not None:
            return self.gold_shown
        gold = [c for c in self.passages if c.chunk_id in question.gold_source_ids]
        quotes = [q.quote for q in question.gold_quotes]
        shown = sum(any(holds(chunk.text, quote) for chunk in gold) for quote in quotes)
        wanted = len(quotes) or len(question.gold_source_ids)
        shown = shown if quotes else len(gold)
        return "all" if shown == wanted else "some" if shown else "none"

    @property
    def unscored_reason(self) -> str | None:
        """Why there is nothing to score, or None. A truncated answer is scored as it stands."""
        if self.response.status == "error":
            return "response_error"
        if self.response.status == "refused_by_provider":
            return "response_refused_by_provider"
        return None if self.response.text.strip() else "empty_response"


@dataclass(frozen=True)
class Verdict:
    """Scores of the four dimensions, and the claims that cost points, verbatim."""

    correctness: DimensionScore
    grounding: DimensionScore
    calibration: DimensionScore
    faithfulness: DimensionScore
    unsupported_claims: tuple[str, ...] = field(default=())
    contradictions: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Outcome:
    """A verdict, or the reason why there is none, and what it took."""

    verdict: Verdict | None
    unscored_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0


def scored(score: Score, evidence: str, rationale: str) -> DimensionScore:
    """A dimension with its score."""
    return DimensionScore(evidence=evidence, rationale=rationale, score=score)


def unscored(reason: str) -> DimensionScore:
    """A dimension without a score and the reason why."""
    return DimensionScore(evidence="", rationale="", score=None, unscored_reason=reason)
