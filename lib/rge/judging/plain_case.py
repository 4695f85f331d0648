"""Cases from plain parts: a question, its gold answer, an answer, and passages where known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rge.corpus.chunk import holds
from rge.judging.case import Case
from rge.records import Chunk, GoldQuote, GoldValue, NonEmpty, Question, Record, Response, Usage
from rge.store import sha256_text
from rge.text.abstention import detect
from rge.text.citations import parse_citations

Behavior = Literal["answer", "abstain", "partial"]
UNKNOWN = "-"


class PlainPassage(Record):
    """A passage as it was shown, with the id that citations name."""

    id: NonEmpty
    text: NonEmpty


def plain_case(
    key: str,
    question: str,
    gold_answer: str,
    answer: str,
    *,
    subject: str,
    expected_behavior: Behavior | None = None,
    passages: Sequence[PlainPassage] = (),
    gold_quotes: Sequence[str] = (),
    gold_values: Sequence[GoldValue] = (),
    company: str = UNKNOWN,
    fy: str = UNKNOWN,
) -> Case:
    """The case that a judge of a study would be given.

    Parameters
    ----------
    key
        Names question and response.
    question, gold_answer, answer
        Texts; the answer may be empty, which leaves the case unscored.
    subject
        Who answered.
    expected_behavior
        None: to abstain where the gold answer is itself an abstention, else to answer.
    passages
        In rank order. Without any, grounding and faithfulness stay unscored.
    gold_quotes
        Verbatim spans that hold the answer; one that stands in no passage was not shown.
    gold_values
        Numbers of the gold answer with their units; without them its text is read.
    company, fy
        What the passages are of.
    """
    chunks = tuple(_chunk(passage, company, fy) for passage in passages)
    expected = expected_behavior or ("abstain" if detect(gold_answer) == "refused" else "answer")
    sources = [_source(quote, chunks) for quote in gold_quotes]
    asked = Question(
        id=key,
        version=1,
        category="ood" if expected == "abstain" else "direct",
        text=question,
        gold_answer=gold_answer,
        gold_values=tuple(gold_values),
        gold_source_ids=tuple(dict.fromkeys(sources)),
        gold_quotes=tuple(GoldQuote(quote=q, doc_id=UNKNOWN, page=1) for q in gold_quotes),
        expected_behavior=expected,
        company=company,
        fy=fy,
        difficulty="medium",
    )
    return Case(asked, chunks, _response(key, subject, answer, [c.chunk_id for c in chunks]))


def _chunk(passage: PlainPassage, company: str, fy: str) -> Chunk:
    return Chunk(
        chunk_id=passage.id,
        company=company,
        fy=fy,
        doc_id=UNKNOWN,
        page_start=1,
        page_end=1,
        heading="",
        text=passage.text,
        n_tokens=max(1, len(passage.text.split())),
    )


def _source(quote: str, chunks: Sequence[Chunk]) -> str:
    """Id of the passage that holds a gold quote; an id of its own where none was shown."""
    held = next((chunk.chunk_id for chunk in chunks if holds(chunk.text, quote)), None)
    return held or f"not-shown-{sha256_text(quote)[:8]}"


def _response(key: str, subject: str, answer: str, ids: Sequence[str]) -> Response:
    return Response(
        question_id=key,
        subject=subject,
        run_index=0,
        text=answer,
        citations=parse_citations(answer, ids).valid,
        abstained=detect(answer),
        status="ok",
        stop_reason="given",
        model_id=UNKNOWN,
        params={},
        prompt_sha256=sha256_text(f"{subject} {key}"),
        usage=Usage(),
        cost_usd=0.0,
        latency_s=None,
        created_at="",
        run_id=subject,
    )
