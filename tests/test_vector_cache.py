"""Vectors kept on disk."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rge.retrieval.vector_cache import cached


class Counting:
    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked += texts
        return np.array([[len(t), hash(t) % 97] for t in texts], dtype=np.float32).reshape(-1, 2)


def test_a_text_is_embedded_once_and_keeps_its_place(tmp_path):
    encode = Counting()
    first = cached(encode, tmp_path / "v.sqlite")
    assert first(["a", "bb", "a"]).tolist() == Counting()(["a", "bb", "a"]).tolist()
    again = cached(encode, tmp_path / "v.sqlite")(["bb", "ccc", "a"])
    assert again.tolist() == Counting()(["bb", "ccc", "a"]).tolist()
    assert encode.asked == ["a", "bb", "ccc"]


def test_no_text_is_no_vector(tmp_path):
    assert cached(Counting(), tmp_path / "v.sqlite")([]).shape == (0, 2)


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be read", None])
def test_a_file_that_cannot_be_used_is_done_without(tmp_path, content):
    path = tmp_path / "v.sqlite"
    path.write_bytes(content) if content else path.mkdir()
    assert cached(Counting(), path)(["a", "bb"]).tolist() == Counting()(["a", "bb"]).tolist()


def test_more_texts_than_one_query_takes_and_several_users_at_once(tmp_path):
    path, texts = tmp_path / "v.sqlite", [f"text {i}" for i in range(1201)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: cached(Counting(), path)(texts), range(4)))
    assert all((one == found[0]).all() for one in found)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (1201,)
