"""The sections of a profile: what each key of the YAML may hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[int, Field(ge=1)]
Slug = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CorpusSpec(Section):
    """Where the documents are; `sources` lists them with their hashes."""

    kind: Literal["invented", "annual-reports", "financebench"]
    folder: Path
    sources: Path | None = None
    documents: tuple[str, ...] | None = None


class ChunkingSpec(Section):
    """Chunk `size` and `overlap` in tokens of `encoding`."""

    encoding: Literal["cl100k_base"]
    size: Positive
    overlap: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _overlap_fits(self) -> ChunkingSpec:
        if self.overlap >= self.size:
            raise ValueError(f"overlap {self.overlap} is not smaller than size {self.size}")
        return self


class RetrievalSpec(Section):
    """Embedding model (a known name or a local path) and number of passages."""

    embedder: str
    top_k: Positive


class PlannedSpec(Section):
    """Questions planned of each category, and the fewest about each company."""

    direct: Annotated[int, Field(ge=0)] = 0
    multihop: Annotated[int, Field(ge=0)] = 0
    adversarial: Annotated[int, Field(ge=0)] = 0
    ood: Annotated[int, Field(ge=0)] = 0
    per_company: Positive | None = None

    @property
    def by_category(self) -> dict[str, int]:
        """Questions planned, by category."""
        return self.model_dump(exclude={"per_company"})


class SubjectSpec(Section):
    """A model under test. `deterministic` subjects need one run: repeats are the same text."""

    name: Slug
    kind: Literal[
        "gguf",
        "reader-lexical",
        "reader-semantic",
        "openai-compatible",
        "anthropic",
        "openai",
        "google",
    ]
    family: Slug
    runs: Positive
    deterministic: bool = False
    options: dict[str, Any] = {}


class JudgeSpec(Section):
    """A judge; its family may not be the family of a subject it scores."""

    name: Slug
    kind: Literal["rules", "semantic", "anthropic", "openai", "google"]
    family: Slug
    options: dict[str, Any] = {}


def same_family(one: str, other: str) -> bool:
    """Whether two names mean one model family, without regard to case, spaces and separators."""
    return plain_family(one) == plain_family(other)


def plain_family(family: str) -> str:
    """Letters and digits of a family's name, folded."""
    return "".join(letter for letter in family.casefold() if letter.isalnum())


def is_hosted(spec: SubjectSpec | JudgeSpec) -> bool:
    """Whether the model of a profile entry is behind a paid service."""
    return spec.kind in ("anthropic", "openai", "google")


class BudgetSpec(Section):
    """What paid services may cost in US dollars, over all runs and restarts, and when to warn."""

    cap_usd: Annotated[float, Field(gt=0)] = 100.0
    warn_usd: Annotated[float, Field(gt=0)] = 50.0


class AnalysisSpec(Section):
    """Bootstrap replicates and the level of every interval."""

    n_resamples: Annotated[int, Field(ge=100)]
    confidence_level: Annotated[float, Field(gt=0.5, lt=1)]
