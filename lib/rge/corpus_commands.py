"""What `rge corpus` and `rge questions` do: build the corpus, check it, check the questions."""

from __future__ import annotations

import sys

import pandas as pd

from rge.corpus.sources import check_document, corpus_sources
from rge.display import markdown_table
from rge.errors import RgeError
from rge.profile import Profile
from rge.questions import study_questions
from rge.reports import corpus_report, question_report
from rge.retrieval import retrieve
from rge.retrieval.index import Embedder, build_index, documents_folder
from rge.retrieval.index import open_index as open_profile_index
from rge.validation import validate


def build(profile: Profile) -> str:
    """Write the invented reports where the profile has them, index the corpus, say what is there.

    Raises
    ------
    RgeError
        When a document is missing, changed or unreadable.
    """
    if profile.corpus.kind == "invented":
        from rge.invented import render_corpus, write_sources

        render_corpus(profile.corpus.folder, seed=profile.seed)
        write_sources(profile.corpus.folder, seed=profile.seed)
    index = build_index(profile)
    n_documents = len({chunk.doc_id for chunk in index.chunks.values()})
    return f"{n_documents} documents, {len(index.chunks):,} chunks, index {index.sha256}"


def check(profile: Profile) -> tuple[str, int]:
    """A Markdown table with a row a document, and how many documents cannot be used."""
    problems = {}
    sources = corpus_sources(profile)
    for source in sources:
        try:
            check_document(source, documents_folder(profile))
        except RgeError as error:
            problems[source.doc_id] = str(error)
    if problems:
        rows = [{"document": s.doc_id, "problem": problems.get(s.doc_id, "none")} for s in sources]
        return markdown_table(pd.DataFrame(rows)), len(problems)
    return markdown_table(corpus_report.documents(sources, open_profile_index(profile))), 0


def validate_questions(profile: Profile) -> tuple[str, int]:
    """A Markdown table with a row a check, and how many required checks do not hold."""
    index = open_profile_index(profile)
    questions = study_questions(profile, index)
    embedder = Embedder(profile.retrieval.embedder)
    texts = [question.text for question in questions]
    ranking = retrieve.rank(index, embedder, texts, profile.retrieval.top_k)
    passages = {
        question.id: [index.chunks[chunk_id] for chunk_id in ids]
        for question, ids in zip(questions, ranking.ids, strict=True)
    }
    report = validate(
        questions,
        pages=index.pages,
        chunks=list(index.chunks.values()),
        passages=passages,
        vectors=embedder.encode(texts),
        verbatim=profile.corpus.kind != "financebench",
    )
    if not report.ok:
        print(f"{report.n_failed} required checks do not hold", file=sys.stderr)
    return markdown_table(question_report.checks(report)), report.n_failed
