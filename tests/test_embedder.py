import numpy as np
import pytest

from rge.errors import RgeError
from rge.retrieval.embedder import Embedder

NAME = "all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def embedder():
    return Embedder(NAME)


def test_vectors_are_unit_float32_of_the_models_length(embedder):
    vectors = embedder.encode(["Revenue rose.", "The board met seven times."])
    assert (vectors.dtype, vectors.shape) == (np.float32, (2, 384))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    assert embedder.encode([]).shape == (0, 384)


def test_cosines_are_those_the_models_authors_publish(embedder):
    # Model card of sentence-transformers, "Semantic Textual Similarity": 0.6660, 0.1046, 0.1411.
    a, b, c = embedder.encode(
        [
            "The weather is lovely today.",
            "It's so sunny outside!",
            "He drove to the stadium.",
        ]
    )
    assert [a @ b, a @ c, b @ c] == pytest.approx([0.6660, 0.1046, 0.1411], abs=5e-4)


def test_the_same_texts_give_the_same_bytes(embedder):
    texts = [f"Revenue of segment {i} was {i * 7} crore." for i in range(40)]
    assert embedder.encode(texts).tobytes() == embedder.encode(texts).tobytes()


def test_token_counts_include_the_special_tokens_and_every_digit_group(embedder):
    assert embedder.max_tokens == 256
    assert embedder.n_tokens(["hello", ""]) == [3, 2]


def test_a_text_that_would_be_cut_off_is_an_error(embedder):
    with pytest.raises(RgeError, match=r"has 302 tokens of all-MiniLM-L6-v2; at most 256"):
        embedder.encode(["short", "word " * 300])


def test_a_model_that_is_not_here_is_one_error_and_nothing_is_downloaded():
    with pytest.raises(RgeError, match=r"embedder nobody/no-such-model: is not on this machine"):
        Embedder("nobody/no-such-model")


def test_a_model_folder_may_be_given_by_path(embedder):
    by_path = Embedder(embedder.folder)
    assert by_path.model_id.endswith(embedder.model_id.split("@")[1])
    assert by_path.encode(["x"]).tobytes() == embedder.encode(["x"]).tobytes()
