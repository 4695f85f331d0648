from pathlib import Path

import pytest

from rge.corpus import tokens
from rge.errors import RgeError


def test_the_ids_are_those_of_cl100k_base():
    # Published example of the encoding's authors: "tiktoken is great!" is these six tokens.
    assert tokens.encoding().encode("tiktoken is great!") == [83, 1609, 5963, 374, 2294, 0]


def test_another_vocabulary_is_refused_by_its_hash(tmp_path: Path, monkeypatch):
    other = tmp_path / "cl100k_base.tiktoken"
    other.write_text("IQ== 0\n", encoding="utf-8")
    monkeypatch.setattr(tokens, "vocabulary_path", lambda: other)
    tokens.encoding.cache_clear()
    with pytest.raises(RgeError, match=r"SHA-256 is .*published cl100k_base"):
        tokens.encoding("cl100k_base")
    tokens.encoding.cache_clear()


def test_an_unknown_encoding_names_the_known_one():
    with pytest.raises(RgeError, match="'o200k_base' is not known; one of cl100k_base"):
        tokens.encoding("o200k_base")
