"""The question set: read, chosen for a profile, and anchored to the chunks of an index.

Gold quotes are the anchor of a question. They name a page and stand on it verbatim, so gold chunk
ids can be resolved again for any chunk size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from rge.corpus.chunk import holds
from rge.errors import RgeError, UsageError
from rge.profile import Profile
from rge.records import CATEGORIES, Chunk, GoldQuote, Page, Question
from rge.store import read_jsonl
from rge.validation import ValidationReport, validate

if TYPE_CHECKING:
    from rge.retrieval.index import Index

__all__ = ["ValidationReport", "anchor", "load_questions", "study_questions", "validate"]

_CHUNK_SHAPING = frozenset({"chunk_size", "chunk_overlap"})


def load_questions(path: Path) -> list[Question]:
    """The questions of a JSONL file, in its order.

    Raises
    ------
    RgeError
        On a missing file, a line that is not a question, or an id that stands twice; the message
        names the line.
    """
    questions = read_jsonl(path, Question, key=lambda question: question.id)
    if not questions:
        raise RgeError(path, "holds no questions")
    return questions


def study_questions(profile: Profile, index: Index | None = None) -> list[Question]:
    """The questions a profile asks, with gold chunk ids that fit its index.

    Parameters
    ----------
    profile
        Names the file and which of its questions are asked.
    index
        Where given, gold quotes are resolved against it. Without it, the ids of the file are taken
        as they are; they belong to the chunking of the committed profile, so a profile with another
        chunking, and one whose questions have no ids, opens its index for that.

    Raises
    ------
    RgeError
        As `load_questions` and `anchor`.
    UsageError
        When the profile names no questions, or an id that is not in the file.
    """
    filings = profile.corpus.kind == "financebench"
    if filings:
        from rge.corpus.financebench import anchor_by_overlap, questions_from_financebench

        questions = questions_from_financebench(profile.corpus.folder)
        if profile.corpus.documents is not None:
            wanted = set(profile.corpus.documents)
            questions = [q for q in questions if {g.doc_id for g in q.gold_quotes} <= wanted]
    elif profile.questions is None:
        raise UsageError(profile.source, "questions is missing", do="name the file of questions")
    else:
        questions = load_questions(profile.questions)
    questions = _chosen(profile, questions)
    if index is None and (filings or _CHUNK_SHAPING & profile.overrides.keys()):
        from rge.retrieval.index import open_index

        index = open_index(profile)
    if index is None:
        return questions
    if filings:
        return anchor_by_overlap(questions, list(index.chunks.values()))
    return anchor(questions, list(index.chunks.values()), index.pages)


def anchor(
    questions: Iterable[Question], chunks: Sequence[Chunk], pages: Sequence[Page]
) -> list[Question]:
    """The questions with `gold_source_ids` resolved from their gold quotes.

    Parameters
    ----------
    questions
        Any ids they have are replaced; those without quotes have none.
    chunks, pages
        Of the corpus.

    Returns
    -------
    list of Question
        For each quote, in order, every chunk that holds it whole (two, where chunks overlap).

    Raises
    ------
    RgeError
        When a quote is not on its page or in no single chunk; the message holds the quote.
    """
    texts = {(page.doc_id, page.page): page.text for page in pages}
    on_page: dict[tuple[str, int], list[Chunk]] = {}
    for chunk in chunks:
        for number in range(chunk.page_start, chunk.page_end + 1):
            on_page.setdefault((chunk.doc_id, number), []).append(chunk)
    anchored = []
    for question in questions:
        ids: list[str] = []
        for quote in question.gold_quotes:
            ids += _resolve(question, quote, texts, on_page)
        anchored.append(question.model_copy(update={"gold_source_ids": tuple(dict.fromkeys(ids))}))
    return anchored


def _resolve(
    question: Question,
    quote: GoldQuote,
    texts: dict[tuple[str, int], str],
    on_page: dict[tuple[str, int], list[Chunk]],
) -> list[str]:
    place = (quote.doc_id, quote.page)
    where = f"question {question.id}"
    if place not in texts:
        known = sorted({doc_id for doc_id, _ in texts})
        found = f"quotes page {quote.page} of {quote.doc_id}, which is not in the corpus"
        raise RgeError(where, found, allowed=f"documents are {', '.join(known)}")
    if not holds(texts[place], quote.quote):
        raise RgeError(
            where,
            f"its quote is not on page {quote.page} of {quote.doc_id}: “{quote.quote}”",
            allowed="text that stands there verbatim, white space aside",
            do="fix the quote or its page",
        )
    ids = [chunk.chunk_id for chunk in on_page.get(place, []) if holds(chunk.text, quote.quote)]
    if not ids:
        raise RgeError(
            where,
            f"no single chunk holds its quote whole: “{quote.quote}”",
            allowed="a quote no longer than the chunk overlap always fits",
            do="shorten the quote, or give it as two",
        )
    return ids


def _chosen(profile: Profile, questions: list[Question]) -> list[Question]:
    """The questions of `question_ids`, and of those the first ones of each category in turn."""
    if profile.question_ids is not None:
        known = {question.id for question in questions}
        for question_id in profile.question_ids:
            if question_id not in known:
                raise UsageError(
                    profile.source, f"question_ids names '{question_id}', not in the set"
                )
        questions = [question for question in questions if question.id in profile.question_ids]
    if profile.limit_questions is None:
        return questions
    by_category = [[q for q in questions if q.category == name] for name in CATEGORIES]
    in_turn = [q for q in chain.from_iterable(zip_longest(*by_category)) if q is not None]
    kept = {question.id for question in in_turn[: profile.limit_questions]}
    return [question for question in questions if question.id in kept]
