"""The Chroma store of an index: derived from its vectors, checked when opened, rebuilt if wrong.

One process at a time may have it open: a second Chroma client on the same files can wait for many
minutes without a word, so a lock refuses it at once.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rge.store import held

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

VERSION = "2"  # of the store: what is put into it and how
METRIC = "cosine"
COLLECTION = "chunks"
BATCH = 1000  # vectors an add; the graph depends on it, so it is fixed


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Holds the lock of an index folder; the lock file stands beside the folder.

    Raises
    ------
    RgeError
        At once, when another process holds it.
    """
    path = folder.with_name(f"{folder.name}.lock")
    with held(path, folder, "the index is in use by another process (pid {pid})"):
        yield


def write_store(folder: Path, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Put the vectors into a new Chroma store at `folder`, replacing what is there.

    Parameters
    ----------
    ids, vectors
        In chunk order; vectors of shape (n, dimension).
    """
    shutil.rmtree(folder, ignore_errors=True)
    with _client(folder) as client:
        collection = client.create_collection(
            COLLECTION,
            embedding_function=None,
            metadata={"fingerprint": fingerprint(ids, vectors)},
            # A search list as long as the collection makes the graph search exhaustive, and one
            # thread makes the graph the same every time.
            configuration={
                "hnsw": {
                    "space": METRIC,
                    "ef_search": max(100, len(ids)),
                    "ef_construction": 200,
                    "max_neighbors": 32,
                    "num_threads": 1,
                }
            },
        )
        for start in range(0, len(ids), BATCH):
            collection.add(
                ids=list(ids[start : start + BATCH]), embeddings=vectors[start : start + BATCH]
            )


def query_store(
    folder: Path,
    ids: Sequence[str],
    vectors: NDArray[np.float32],
    queries: NDArray[np.float32],
    k: int,
) -> list[list[str]]:
    """Ids of the `k` nearest vectors of each query, in Chroma's order.

    A store that cannot be opened, has another version or metric, or was written from other vectors
    is written again from `ids` and `vectors` first.
    """
    if not _is_sound(folder, ids, vectors):
        write_store(folder, ids, vectors)
    with _client(folder) as client:
        result = _collection(client).query(
            query_embeddings=queries, n_results=min(k, len(ids)), include=["distances"]
        )
    return [list(found) for found in result["ids"]]


def fingerprint(ids: Sequence[str], vectors: NDArray[np.float32]) -> str:
    """SHA-256 over what a store is written from: its version, Chroma's, metric, ids and vectors."""
    head = [VERSION, version("chromadb"), METRIC, list(ids), list(vectors.shape)]
    digest = hashlib.sha256(json.dumps(head).encode("utf-8"))
    digest.update(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
    return digest.hexdigest()


def _is_sound(folder: Path, ids: Sequence[str], vectors: NDArray[np.float32]) -> bool:
    if not (folder / "chroma.sqlite3").is_file():
        return False
    try:
        with _client(folder) as client:
            collection = _collection(client)
            hnsw: dict[str, Any] = dict(collection.configuration.get("hnsw") or {})
            return (
                collection.count() == len(ids)
                and hnsw.get("space") == METRIC
                and (collection.metadata or {}).get("fingerprint") == fingerprint(ids, vectors)
            )
    except Exception:  # whatever is wrong with the store, the vectors beside it are the source
        _forget_clients()
        return False


def _forget_clients() -> None:
    """Chroma keeps a client that failed to open and would hand it out again for the same path."""
    from chromadb.api.shared_system_client import SharedSystemClient

    SharedSystemClient.clear_system_cache()


def _collection(client: Any) -> Collection:
    return client.get_collection(COLLECTION, embedding_function=None)


@contextmanager
def _client(folder: Path) -> Iterator[Any]:
    import chromadb
    from chromadb.config import Settings

    client: Any = chromadb.PersistentClient(
        str(folder), settings=Settings(anonymized_telemetry=False, allow_reset=False)
    )
    try:
        yield client
    finally:
        client.close()
