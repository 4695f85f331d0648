"""The index of a corpus: pages, chunks and vectors in one derived folder, with a checksum.

The vectors and chunks are the source; the Chroma store beside them is written from them. A folder
is finished when it bears its name: it is built under another one and renamed, so a killed build is
never taken for a whole index.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rge.corpus import chunk, extract, tokens
from rge.corpus.sources import Source, check_document, check_pages, corpus_sources
from rge.errors import RgeError
from rge.profile import Profile
from rge.records import Chunk, Page
from rge.retrieval.embedder import Embedder
from rge.retrieval.vectorstore import METRIC, owned, query_store, write_store
from rge.store import read_json, read_jsonl, sha256_file, sha256_text, write_json, write_jsonl

__all__ = ["Embedder", "Index", "Ranking", "build_index", "index_sha256", "open_index"]

T = TypeVar("T")

VERSION = "2"  # of the folder's content
LIBRARIES = ("chromadb", "sentence-transformers", "tokenizers", "torch", "transformers")
DECIMALS = 5  # of a vector component in the checksum


class Ranking(NamedTuple):
    """Nearest chunks of each query.

    Attributes
    ----------
    ids
        Chunk ids, nearest first.
    distances
        Cosine distances, one list a query; in [0, 2], rounded to 6 decimals.
    """

    ids: list[list[str]]
    distances: list[list[float]]


@dataclass(frozen=True)
class Index:
    """An opened index.

    Attributes
    ----------
    folder
        Where it lies.
    chunks
        By chunk id, in corpus order.
    vectors
        Unit vectors in the same order, float32 of shape (n, dimension).
    meta
        What `meta.json` says: sha256, content_sha256, model_id, revision and commit of the model,
        metric, batch_size, n_chunks, n_repeated, n_shortened, the embedder's tokens of the longest
        chunk (`n_pieces_max`) and its limit (`n_pieces_read`), the inputs the index was made from,
        and the versions of the libraries that made it (`made_with`).
    """

    folder: Path
    chunks: dict[str, Chunk]
    vectors: NDArray[np.float32] = field(repr=False)
    meta: dict[str, Any] = field(repr=False)

    @property
    def sha256(self) -> str:
        """Checksum over chunk ids, rounded vectors, metric, model id and revision.

        Another processor may round a component the other way: there, compare `content_sha256`.
        """
        return str(self.meta["sha256"])

    @cached_property
    def pages(self) -> list[Page]:
        """All pages of the corpus."""
        return read_jsonl(self.folder / "pages.jsonl", Page)

    def top_k(self, queries: NDArray[np.float32], k: int) -> Ranking:
        """The `k` nearest chunks of each query as Chroma finds them.

        Parameters
        ----------
        queries
            Unit vectors of shape (n, dimension).

        Raises
        ------
        RgeError
            When another process has the store open.
        """
        ids = list(self.chunks)
        with owned(self.folder):
            found = query_store(self.folder / "chroma", ids, self.vectors, queries, k)
        place = {chunk_id: row for row, chunk_id in enumerate(ids)}
        distances = self._distances(queries)
        rows = [[place[chunk_id] for chunk_id in one] for one in found]
        return Ranking(found, [distances[q, r].tolist() for q, r in enumerate(rows)])

    def exact_top_k(self, queries: NDArray[np.float32], k: int) -> Ranking:
        """The `k` nearest chunks of each query by comparing all; equals go in chunk order."""
        ids = list(self.chunks)
        distances = self._distances(queries)
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return Ranking(
            [[ids[row] for row in rows] for rows in order],
            np.take_along_axis(distances, order, axis=1).tolist(),
        )

    def _distances(self, queries: NDArray[np.float32]) -> NDArray[np.float64]:
        # Rounded, so that texts that are equal are equally far on every machine.
        cosines = queries.astype(np.float64) @ self.vectors.T.astype(np.float64)
        return np.round(1 - cosines, 6)


def open_index(profile: Profile) -> Index:
    """The index of a profile; built from its documents where it is missing or does not match.

    Raises
    ------
    RgeError
        When a document is missing, changed or unreadable, or another process builds this index.
    """
    sources, inputs = _inputs(profile)
    folder = profile.index_dir
    try:
        return _load(folder, inputs)
    except _Stale as reason:
        if folder.exists():
            print(f"{folder.name}: {reason}; building the index again", file=sys.stderr)
    with owned(folder):
        return _build(profile, sources, inputs)


def build_index(profile: Profile) -> Index:
    """The index of a profile, built anew whatever is there.

    Raises
    ------
    RgeError
        As `open_index`.
    """
    sources, inputs = _inputs(profile)
    with owned(profile.index_dir):
        return _build(profile, sources, inputs)


def index_sha256(
    ids: Sequence[str],
    vectors: NDArray[np.float32],
    model_id: str,
    revision: str,
    metric: str = METRIC,
) -> str:
    """SHA-256 over chunk ids, vectors rounded to 5 decimals, metric, model id and revision."""
    # Adding zero turns -0.0 into 0.0, which rounds the same and has other bytes.
    rounded = np.round(vectors.astype(np.float64), DECIMALS) + 0.0
    digest = hashlib.sha256(json.dumps([list(ids), metric, model_id, revision]).encode("utf-8"))
    digest.update(rounded.astype("<f8").tobytes())
    return digest.hexdigest()


class _Stale(Exception):
    """Why a folder is not the index that is wanted."""


def _inputs(profile: Profile) -> tuple[list[Source], dict[str, Any]]:
    """Documents, checked, and everything the index is made from."""
    sources = corpus_sources(profile)
    folder = documents_folder(profile)
    paths = _each(sources, folder, lambda source: check_document(source, folder))
    files = {
        source.doc_id: [source.company, source.fy, source.sha256 or sha256_file(path)]
        for source, path in zip(sources, paths, strict=True)
    }
    embedder = Embedder(profile.retrieval.embedder)
    return sources, {
        "version": VERSION,
        "documents": files,
        "extract": extract.VERSION,
        "chunk": chunk.VERSION,
        "chunking": profile.chunking.model_dump(),
        "model_id": embedder.model_id,
        "revision": embedder.revision,
        "batch_size": embedder.batch_size,
        "metric": METRIC,
    }


def _each(sources: list[Source], folder: Path, work: Callable[[Source], T]) -> list[T]:
    """What `work` gives for every document; one that fails does not hide the others."""
    done, failed = [], []
    for source in sources:
        try:
            done.append(work(source))
        except RgeError as error:
            failed.append(error)
    if len(failed) == 1:
        raise failed[0]
    if failed:
        raise RgeError(
            folder,
            f"{len(failed)} of {len(sources)} documents cannot be used, the first: {failed[0]}",
            do="run `rge corpus check` to see all, or name those to use in corpus.documents",
        )
    return done


def documents_folder(profile: Profile) -> Path:
    """Where the PDF files of a profile lie."""
    folder = profile.corpus.folder
    return folder / "pdfs" if profile.corpus.kind == "financebench" else folder


def pages_cache(profile: Profile) -> Path:
    """Where the texts of pages lie that were read before."""
    return profile.root / "_build" / "pages"


def _load(folder: Path, inputs: dict[str, Any]) -> Index:
    if not (folder / "meta.json").is_file():
        raise _Stale("there is no whole index")
    try:
        meta = read_json(folder / "meta.json")
        chunks = read_jsonl(folder / "chunks.jsonl", Chunk, key=lambda c: c.chunk_id)
        vectors = np.load(folder / "vectors.npy", allow_pickle=False)
    except (RgeError, OSError, ValueError) as error:
        raise _Stale(str(error)) from None
    changed = [key for key, value in inputs.items() if meta.get("inputs", {}).get(key) != value]
    if changed:
        raise _Stale(f"made from other inputs ({', '.join(changed)})")
    ids = [c.chunk_id for c in chunks]
    if vectors.shape[0] != len(ids):
        raise _Stale(f"{len(ids)} chunks but {vectors.shape[0]} vectors")
    found = index_sha256(ids, vectors, inputs["model_id"], inputs["revision"])
    if found != meta.get("sha256"):
        raise _Stale("its checksum does not hold")
    return Index(folder, dict(zip(ids, chunks, strict=True)), vectors, meta)


def _build(profile: Profile, sources: list[Source], inputs: dict[str, Any]) -> Index:
    folder = profile.index_dir
    building = folder.with_name(f"{folder.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    embedder = Embedder(profile.retrieval.embedder)
    pages = _read(profile, sources)
    cuts = _cut(profile, sources, pages, embedder)
    chunks = [one for cut in cuts for one in cut.chunks]
    if not chunks:
        raise RgeError(profile.corpus.folder, "the documents hold no text that can be indexed")
    ids = [one.chunk_id for one in chunks]
    texts = [one.text for one in chunks]
    vectors = embedder.encode(texts, show_progress=True)
    meta = {
        "inputs": inputs,
        "model_id": embedder.model_id,
        "revision": embedder.revision,
        "commit": embedder.commit,
        "batch_size": embedder.batch_size,
        "metric": METRIC,
        "made_with": {name: version(name) for name in LIBRARIES},
        "n_chunks": len(ids),
        "n_repeated": sum(cut.n_repeated for cut in cuts),
        "n_shortened": sum(cut.n_shortened for cut in cuts),
        "n_pieces_max": max(embedder.n_tokens(texts)),
        "n_pieces_read": embedder.max_tokens,
        "sha256": index_sha256(ids, vectors, embedder.model_id, embedder.revision),
        "content_sha256": sha256_text(
            json.dumps([ids, METRIC, embedder.model_id, embedder.revision])
        ),
    }
    write_jsonl(building / "pages.jsonl", (page for one in pages.values() for page in one))
    write_jsonl(building / "chunks.jsonl", chunks)
    np.save(building / "vectors.npy", vectors)
    write_store(building / "chroma", ids, vectors)
    write_json(building / "meta.json", meta)
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)
    return Index(folder, dict(zip(ids, chunks, strict=True)), vectors, meta)


def _read(profile: Profile, sources: list[Source]) -> dict[str, list[Page]]:
    folder, cache = documents_folder(profile), pages_cache(profile)
    files = {source.doc_id: folder / source.file for source in sources}
    with tqdm(desc="read documents", unit="page", file=sys.stderr) as bar:
        pages, errors = extract.read_documents(files, cache, progress=bar.update)

    def checked(source: Source) -> None:
        if source.doc_id in errors:
            raise errors[source.doc_id]
        check_pages(source, files[source.doc_id], len(pages[source.doc_id]))

    _each(sources, folder, checked)
    return pages


def _cut(
    profile: Profile, sources: list[Source], pages: dict[str, list[Page]], embedder: Embedder
) -> list[chunk.Cut]:
    chunking = profile.chunking
    window = chunk.Window(lambda text: embedder.n_tokens([text])[0], embedder.max_tokens)
    return [
        chunk.cut_document(
            pages[source.doc_id],
            company=source.company,
            fy=source.fy,
            size=chunking.size,
            overlap=chunking.overlap,
            encoding=tokens.encoding(chunking.encoding),
            window=window,
        )
        for source in tqdm(sources, desc="cut chunks", unit="document")
    ]
