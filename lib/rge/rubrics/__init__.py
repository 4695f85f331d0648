"""The scoring rubrics: one text per dimension, versioned by itself, the same for people and judges.

A changed text needs a new file and a new version here: records carry `RUBRIC_VERSION`, and prompts
and judges hash the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from rge.errors import UsageError
from rge.records import DIMENSIONS
from rge.store import sha256_text

VERSIONS = {"correctness": 1, "grounding": 1, "calibration": 1, "faithfulness": 1}
_LETTERS = {"correctness": "c", "grounding": "g", "calibration": "k", "faithfulness": "f"}
RUBRIC_VERSION = ".".join(f"{_LETTERS[name]}{VERSIONS[name]}" for name in DIMENSIONS)


@dataclass(frozen=True)
class Rubric:
    """The rubric of one dimension: what 0, 1 and 2 mean."""

    dimension: str
    version: int
    text: str

    @property
    def sha256(self) -> str:
        return sha256_text(self.text)


def load_rubric(dimension: str, version: int | None = None) -> Rubric:
    """The rubric of `dimension`, of the current version unless another is named.

    Raises
    ------
    UsageError
        When there is no such dimension or version.
    """
    if dimension not in VERSIONS:
        raise UsageError("dimension", repr(dimension), allowed=f"one of {', '.join(VERSIONS)}")
    number = VERSIONS[dimension] if version is None else version
    file = files(__package__) / f"{dimension}_v{number}.md"
    if not file.is_file():
        raise UsageError(
            f"rubric {dimension}", f"no version {number}", do="use a version that exists"
        )
    return Rubric(dimension, number, file.read_text(encoding="utf-8"))


def rubrics() -> dict[str, Rubric]:
    """The current rubric of every dimension, in their usual order."""
    return {dimension: load_rubric(dimension) for dimension in DIMENSIONS}
