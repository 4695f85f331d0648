import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from file_server import FileServer
from rge.errors import RgeError
from rge.retrieval.embedder import Embedder
from tiny_model import DIMENSION, make_model

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


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "tiny-m3")


def test_another_model_is_run_from_its_folder(tiny):
    """Its vectors are those worked out by hand from its weights: first token, unit length."""
    import torch
    from transformers import AutoTokenizer, XLMRobertaModel

    texts = ["the revenue of acme", "zenith dividend", "board"]
    other = Embedder(tiny)
    vectors = other.encode(texts)
    assert vectors.shape == (3, DIMENSION) and other.dimension == DIMENSION
    assert (other.max_tokens, other.n_tokens(texts)) == (64, [6, 4, 3])

    tokenizer = AutoTokenizer.from_pretrained(str(tiny))
    model = XLMRobertaModel.from_pretrained(str(tiny)).eval()
    with torch.no_grad():
        first = [
            model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 0].numpy()
            for text in texts
        ]
    by_hand = np.stack([vector / np.linalg.norm(vector) for vector in first])
    assert vectors == pytest.approx(by_hand, abs=1e-5)


def test_the_revision_is_that_of_all_files_that_shape_a_vector(tiny, tmp_path):
    copy = shutil.copytree(tiny, tmp_path / "copy")
    (copy / "README.md").write_text("a card", encoding="utf-8")
    assert Embedder(copy).revision == Embedder(tiny).revision
    assert Embedder(copy).model_id.split("@") == ["copy", Embedder(tiny).model_id.split("@")[1]]
    pooled = make_model(tmp_path / "mean", pooling="mean")
    assert Embedder(pooled).model_id.split("@")[1] == Embedder(tiny).model_id.split("@")[1]
    assert Embedder(pooled).revision != Embedder(tiny).revision
    other = make_model(tmp_path / "other", seed=1)
    assert Embedder(other).model_id.split("@")[1] != Embedder(tiny).model_id.split("@")[1]


def test_weights_replaced_in_place_are_noticed(tiny, tmp_path):
    folder = shutil.copytree(tiny, tmp_path / "m")
    before = Embedder(folder)
    ids = before.model_id, before.revision
    make_model(folder, seed=3)
    after = Embedder(folder)
    assert after.model_id != ids[0] and after.revision != ids[1]


def test_a_folder_that_does_not_say_how_to_pool_is_refused(tiny, tmp_path):
    """The library would fall back on the mean without a word; bge-m3 is not made for that."""
    folder = shutil.copytree(tiny, tmp_path / "m")
    (folder / "modules.json").unlink()
    with pytest.raises(RgeError, match=r"it holds no modules\.json"):
        Embedder(folder)


def test_a_folder_without_weights_or_with_broken_ones_is_one_error(tiny, tmp_path):
    folder = shutil.copytree(tiny, tmp_path / "m")
    (folder / "pytorch_model.bin").write_bytes(b"not weights")
    with pytest.raises(RgeError, match="the embedding model cannot be loaded"):
        Embedder(folder).encode(["x"])
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(RgeError, match="holds no weights"):
        _ = Embedder(folder).model_id


CACHED = """
import json, sys
import rge.retrieval.embedder as module
from rge.errors import RgeError
try:
    embedder = module.Embedder("BAAI/bge-m3")
    vectors = embedder.encode(["the board of acme"])
except RgeError as error:
    print(json.dumps({"error": str(error)}))
else:
    about = [embedder.model_id, embedder.revision, embedder.commit, vectors.tolist()]
    print(json.dumps({"found": about}))
"""


def run_with_cache(home):
    """In a process of its own that would ask a hub on loopback, if it asked any."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "TRANSFORMERS_"))}
    hub = FileServer()
    environment = {**kept, "HF_HOME": str(home), "HF_ENDPOINT": hub.url, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", CACHED], capture_output=True, text=True, env=environment
    )
    hub.close()
    assert done.returncode == 0, done.stderr
    assert hub.asked == [] and "loopback only" not in done.stderr
    return json.loads(done.stdout)


def test_a_model_in_the_cache_is_found_by_its_name_without_the_network(tiny, tmp_path):
    commit = "5617a9f61b028005a4858fdac845db406aefb181"
    model = tmp_path / "hub" / "models--BAAI--bge-m3"
    shutil.copytree(tiny, model / "snapshots" / commit)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(commit, encoding="utf-8")
    model_id, revision, found, vectors = run_with_cache(tmp_path)["found"]
    by_path = Embedder(tiny)
    assert model_id == f"bge-m3@{by_path.model_id.split('@')[1]}"
    assert (revision, found) == (by_path.revision, commit)
    assert np.array(vectors) == pytest.approx(by_path.encode(["the board of acme"]), abs=1e-6)


def test_a_model_that_is_in_no_cache_is_one_error_without_the_network(tmp_path):
    error = run_with_cache(tmp_path)["error"]
    assert error.startswith("embedder BAAI/bge-m3: is not on this machine, and models are never")
    assert "hf download BAAI/bge-m3" in error


def test_a_snapshot_that_came_in_part_is_one_error(tiny, tmp_path):
    model = tmp_path / "hub" / "models--BAAI--bge-m3"
    folder = shutil.copytree(tiny, model / "snapshots" / "abc")
    (folder / "pytorch_model.bin").unlink()
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("abc", encoding="utf-8")
    assert "the embedding model cannot be loaded" in run_with_cache(tmp_path)["error"]
