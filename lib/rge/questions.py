"""The question set: read, chosen for a profile, and anchored to the chunks of an index."""

from __future__ import annotations

from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from rge.anchoring import anchor
from rge.errors import RgeError, UsageError
from rge.profile import Profile
from rge.records import CATEGORIES, Question
from rge.store import read_jsonl
from rge.validation import ValidationReport, validate

if TYPE_CHECKING:
    from rge.retrieval.index import Index

__all__ = [
    "ValidationReport",
    "anchor",
    "left_out",
    "load_questions",
    "study_questions",
    "validate",
]

# Parameters that make other chunks, so that the gold ids of a file do not hold any more.
CHUNK_SHAPING = frozenset({"chunk_size", "chunk_overlap"})


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

    Questions with status `unanchored` are left out; `left_out` tells which.

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
    questions = [question for question in questions if question.status == "anchored"]
    questions = _chosen(profile, questions)
    if index is None and (filings or CHUNK_SHAPING & profile.overrides.keys()):
        from rge.retrieval.index import open_index

        index = open_index(profile)
    if index is None:
        return questions
    if filings:
        return anchor_by_overlap(questions, list(index.chunks.values()))
    return anchor(questions, list(index.chunks.values()), index.pages)


def left_out(profile: Profile) -> list[Question]:
    """The questions of a profile's file whose documents are not on this machine yet."""
    if profile.questions is None or profile.corpus.kind == "financebench":
        return []
    return [q for q in load_questions(profile.questions) if q.status == "unanchored"]


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
