"""What `rge corpus` does: fetch the documents, check them, build the index."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rge.corpus import check as corpus_check
from rge.corpus.fetch import Fetcher, Limits, Outcome
from rge.corpus.sources import Source, corpus_sources, lock_path
from rge.display import markdown_table
from rge.errors import UsageError
from rge.profile import Profile


def fetch(
    profile: Profile,
    *,
    from_dir: Path | None = None,
    only: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> tuple[str, int]:
    """Get the documents of a profile; a Markdown table of what became of each, and how many failed.

    Parameters
    ----------
    from_dir
        Take files from this folder instead of the network.
    only
        The doc_ids to get; all by default.
    limits
        Bounds of a download.

    Raises
    ------
    UsageError
        When the profile writes its documents itself, or a doc_id is not in its list.
    RgeError
        When another process fetches, or the list of sources or the lock file is damaged.
    """
    from rge.retrieval.index import documents_folder

    if profile.corpus.kind == "invented":
        raise UsageError(
            profile.source,
            "its documents are written, not fetched",
            do="run `rge corpus build`",
        )
    sources = _chosen(profile, only)
    fetcher = Fetcher(
        documents_folder(profile),
        lock_path(profile),
        from_dir=from_dir,
        limits=limits or Limits(),
        rng=np.random.default_rng(),  # only pauses depend on it
    )
    outcomes = fetcher.fetch(sources)
    return _as_table(outcomes), sum(outcome.result == "failed" for outcome in outcomes)


def check(profile: Profile, *, as_json: bool = False) -> tuple[str, int]:
    """A Markdown table with a row a document (or JSON), and how many documents cannot be used.

    A document can be used when it is there, is the one its entry pins, has as many pages as that
    says, and can be read. Pages with damaged text are named, and leave it usable.
    """
    from rge.retrieval.index import documents_folder, pages_cache

    sources = corpus_sources(profile)
    checks = corpus_check.check_documents(sources, documents_folder(profile), pages_cache(profile))
    found = corpus_check.as_json(checks)
    if as_json:
        return json.dumps(found, indent=1, ensure_ascii=False), found["n_bad"]
    if found["n_bad"]:
        print(f"{found['n_bad']} of {len(checks)} documents cannot be used", file=sys.stderr)
    return corpus_check.as_table(checks), found["n_bad"]


def build(profile: Profile) -> str:
    """Write the invented reports where the profile has them, index the corpus, say what is there.

    Raises
    ------
    RgeError
        When a document is missing, changed or unreadable.
    """
    from rge.retrieval.index import build_index

    if profile.corpus.kind == "invented":
        from rge.invented import render_corpus, write_sources

        render_corpus(profile.corpus.folder, seed=profile.seed)
        write_sources(profile.corpus.folder, seed=profile.seed)
    index = build_index(profile)
    n_documents = len({chunk.doc_id for chunk in index.chunks.values()})
    return f"{n_documents} documents, {len(index.chunks):,} chunks, index {index.sha256}"


def _chosen(profile: Profile, only: Sequence[str] | None) -> list[Source]:
    sources = corpus_sources(profile)
    known = {source.doc_id for source in sources}
    for doc_id in only or ():
        if doc_id not in known:
            raise UsageError(
                "--only", f"no document '{doc_id}'", allowed=f"one of {', '.join(sorted(known))}"
            )
    return [source for source in sources if not only or source.doc_id in only]


def _as_table(outcomes: Sequence[Outcome]) -> str:
    """The table, and below it where each file came from or why it is not there: as plain lines,
    since a table would change addresses that are to be copied."""
    rows = [
        {
            "document": outcome.doc_id,
            "result": outcome.result,
            "bytes": "–" if outcome.n_bytes is None else f"{outcome.n_bytes:,}",
        }
        for outcome in outcomes
    ]
    details = [f"{outcome.doc_id}: {outcome.detail}" for outcome in outcomes if outcome.detail]
    return "\n".join([markdown_table(pd.DataFrame(rows)), *([""] if details else []), *details])
