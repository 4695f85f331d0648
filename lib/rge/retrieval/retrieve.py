"""Retrieval, done once: the passages of every question, frozen and shown to all subjects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rge.corpus.chunk import holds
from rge.errors import RgeError
from rge.profile import Profile
from rge.records import Chunk, Question, Retrieval
from rge.retrieval.embedder import Embedder
from rge.retrieval.index import Index, Ranking
from rge.store import read_jsonl, write_jsonl

# What the last bits of a vector may change on another processor.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Frozen:
    """The frozen retrieval of a run; needs no index.

    Attributes
    ----------
    retrievals
        By question id.
    chunks
        Every chunk that is shown for any question, by chunk id.
    """

    retrievals: dict[str, Retrieval]
    chunks: dict[str, Chunk]

    @property
    def index_sha256(self) -> str:
        """Checksum of the index the passages come from."""
        return next(iter(self.retrievals.values())).index_sha256

    def passages(self, question_id: str) -> list[Chunk]:
        """The chunks of a question in rank order.

        Raises
        ------
        RgeError
            When the question was not retrieved.
        """
        if question_id not in self.retrievals:
            raise RgeError(
                f"question {question_id}",
                "has no frozen passages",
                do="run notebook 02 on this question set, or with --fresh",
            )
        return [self.chunks[chunk_id] for chunk_id in self.retrievals[question_id].chunk_ids]


def rank(index: Index, embedder: Embedder, texts: Sequence[str], k: int) -> Ranking:
    """The `k` nearest chunks of each text: Chroma's, checked against comparing all.

    Parameters
    ----------
    texts
        Questions.
    k
        Number of chunks.

    Returns
    -------
    Ranking
        In exact order; chunks that are equally far stand in corpus order.

    Raises
    ------
    RgeError
        When a chunk that Chroma returns is farther than the one that belongs at its rank.
    """
    queries = embedder.encode(texts)
    exact = index.exact_top_k(queries, k)
    found = index.top_k(queries, k)
    for text, right, near in zip(texts, exact.distances, found.distances, strict=True):
        if len(near) != len(right) or not np.allclose(near, right, rtol=0, atol=2e-6):
            raise RgeError(
                index.folder,
                f"Chroma does not return the nearest chunks of {text[:60]!r}: {near}",
                allowed=f"distances {right}, as comparing all chunks gives",
                do="remove that folder and build the index again",
            )
    return exact


def freeze(profile: Profile, questions: Sequence[Question], index: Index) -> list[Retrieval]:
    """The passages of every question, stored once per run.

    Writes `retrieval.jsonl` and `passages.jsonl`. Where they exist and today's retrieval agrees
    (the same chunks; distances within 1e-4, which another processor may cause) they are kept.

    Raises
    ------
    RgeError
        When the stored retrieval is another one, naming the first question that differs; when a
        gold chunk is not in the index; when Chroma's result is not exact.
    """
    _check_gold(questions, index)
    embedder = Embedder(profile.retrieval.embedder)
    ranking = rank(index, embedder, [q.text for q in questions], profile.retrieval.top_k)
    retrievals = [
        Retrieval(
            question_id=question.id,
            chunk_ids=tuple(ids),
            distances=tuple(distances),
            index_sha256=index.sha256,
            gold_in_context=gold_in_context(question, ids, index.chunks),
        )
        for question, ids, distances in zip(questions, ranking.ids, ranking.distances, strict=True)
    ]
    path = profile.collection_dir / "retrieval.jsonl"
    if path.exists():
        stored = read_jsonl(path, Retrieval, key=lambda r: r.question_id)
        _check_same(str(path), stored, retrievals)
        retrievals = stored
    shown = dict.fromkeys(chunk_id for r in retrievals for chunk_id in r.chunk_ids)
    write_jsonl(profile.collection_dir / "passages.jsonl", [index.chunks[one] for one in shown])
    write_jsonl(path, retrievals)
    return retrievals


def load(profile: Profile) -> Frozen:
    """The frozen retrieval of a profile's run.

    Raises
    ------
    RgeError
        When it is missing, or a passage of it is.
    """
    folder = profile.collection_dir
    retrievals = read_jsonl(folder / "retrieval.jsonl", Retrieval, key=lambda r: r.question_id)
    chunks = read_jsonl(folder / "passages.jsonl", Chunk, key=lambda c: c.chunk_id)
    if not retrievals:
        raise RgeError(folder / "retrieval.jsonl", "is empty", do="run notebook 02")
    frozen = Frozen({r.question_id: r for r in retrievals}, {c.chunk_id: c for c in chunks})
    for retrieval in retrievals:
        for chunk_id in retrieval.chunk_ids:
            if chunk_id not in frozen.chunks:
                raise RgeError(
                    folder / "passages.jsonl",
                    f"lacks {chunk_id}, shown for {retrieval.question_id}",
                    do="run notebook 02 again",
                )
    return frozen


def gold_in_context(
    question: Question, shown: Sequence[str], chunks: dict[str, Chunk]
) -> Literal["all", "some", "none"]:
    """How much of a question's gold stands in the chunks that are shown.

    Overlapping chunks can hold the same quote, and one of them is enough: `all` means that every
    gold quote stands in a shown gold chunk (every gold chunk is shown, for gold without a verbatim
    quote in it). Questions without gold have `none`.
    """
    groups = gold_groups(question, chunks)
    n_shown = sum(bool(group & set(shown)) for group in groups)
    if not groups or n_shown == 0:
        return "none"
    return "all" if n_shown == len(groups) else "some"


def gold_groups(question: Question, chunks: dict[str, Chunk]) -> list[set[str]]:
    """Gold chunk ids by piece of evidence: those that hold one quote, any of which will do."""
    gold = question.gold_source_ids
    groups = [{i for i in gold if holds(chunks[i].text, q.quote)} for q in question.gold_quotes]
    groups = [group for group in groups if group]
    grouped = set().union(*groups)
    return groups + [{i} for i in gold if i not in grouped]


def _check_gold(questions: Sequence[Question], index: Index) -> None:
    for question in questions:
        for chunk_id in question.gold_source_ids:
            if chunk_id not in index.chunks:
                raise RgeError(
                    f"question {question.id}",
                    f"gold chunk {chunk_id} is not in the index",
                    do="resolve its quotes again for this index (rge.questions.anchor)",
                )


def _check_same(path: str, stored: list[Retrieval], today: list[Retrieval]) -> None:
    do = "give the profile a new run_id, or run with --fresh to set this run's results aside"
    before = {r.question_id: r for r in stored}
    if gone := before.keys() - {r.question_id for r in today}:
        raise RgeError(path, f"question {min(gone)} is not in the question set any more", do=do)
    for new in today:
        old = before.get(new.question_id)
        if old is None:
            raise RgeError(path, f"question {new.question_id} is not in it", do=do)
        if old.chunk_ids != new.chunk_ids or old.gold_in_context != new.gold_in_context:
            found = f"question {new.question_id} now retrieves other passages or has other gold"
            raise RgeError(path, found, allowed="what was frozen for this run", do=do)
        if not np.allclose(old.distances, new.distances, rtol=0, atol=TOLERANCE):
            found = f"question {new.question_id} is now at other distances from its passages"
            raise RgeError(path, found, allowed=f"equal within {TOLERANCE}", do=do)
