"""Vectors that were computed before, kept on disk: a sentence is embedded once a machine.

The file is derived and may be deleted at any time. Several processes may use it at once.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Encode = Callable[[Sequence[str]], NDArray[np.float32]]

_AT_ONCE = 500  # keys of one query


def cached(encode: Encode, path: Path) -> Encode:
    """`encode` with a memory.

    Parameters
    ----------
    encode
        Texts to vectors, float32 of shape (n, d).
    path
        The SQLite file; its name should tell the model and its revision. A file that cannot be
        used, on a full disk for example, is done without.
    """

    def encode_new(texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [hashlib.sha256(text.encode("utf-8")).digest() for text in texts]
        known = _load(path, keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            vectors = encode(list(new.values()))
            known |= dict(zip(new, vectors, strict=True))
            _store(path, {key: known[key] for key in new})
        if not keys:
            return encode([])
        return np.stack([known[key] for key in keys])

    return encode_new


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=60)
    connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
    return connection


def _load(path: Path, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
    found: dict[bytes, NDArray[np.float32]] = {}
    try:
        with closing(_open(path)) as connection:
            for some in _parts(list(dict.fromkeys(keys))):
                marks = ",".join("?" * len(some))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
                for key, vector in connection.execute(query, some):
                    found[key] = np.frombuffer(vector, dtype=np.float32)
    except (sqlite3.Error, OSError):
        return {}
    return found


def _store(path: Path, vectors: dict[bytes, NDArray[np.float32]]) -> None:
    rows = [(key, np.asarray(v, dtype=np.float32).tobytes()) for key, v in vectors.items()]
    try:
        with closing(_open(path)) as connection, connection:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
    except (sqlite3.Error, OSError):
        return


def _parts(keys: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(keys), _AT_ONCE):
        yield keys[start : start + _AT_ONCE]
