"""A profile: one YAML file that says what a study reads, runs and reports.

Overrides (notebook parameters) are part of the profile they make: whatever shapes responses gets a
`run_id` of its own, so that exploring never mixes with the committed results.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Annotated, Any

import yaml
from dotenv import load_dotenv
from pydantic import BaseModel, Field, ValidationError, model_validator

from rge.errors import UsageError
from rge.specs import (
    AnalysisSpec,
    BudgetSpec,
    ChunkingSpec,
    CorpusSpec,
    JudgeSpec,
    PlannedSpec,
    Positive,
    RetrievalSpec,
    Section,
    Slug,
    SubjectSpec,
    same_family,
)
from rge.store import first_problem

DEFAULT_PROFILE = "offline"


class Profile(Section):
    """Everything a study needs to know, with absolute paths."""

    name: Slug
    run_id: Slug
    seed: Annotated[int, Field(ge=0)]
    corpus: CorpusSpec
    chunking: ChunkingSpec
    retrieval: RetrievalSpec
    questions: Path | None = None
    held_out: Path | None = None
    planned: PlannedSpec | None = None
    question_ids: tuple[str, ...] | None = None
    limit_questions: Positive | None = None
    subjects: tuple[SubjectSpec, ...]
    judges: tuple[JudgeSpec, ...]
    analysis: AnalysisSpec
    budget: BudgetSpec = BudgetSpec()
    results_folder: Path = Path("data/results")
    root: Path
    source: Path
    overrides: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _names_are_unique(self) -> Profile:
        for what, names in (
            ("subject", [s.name for s in self.subjects]),
            ("judge", [j.name for j in self.judges]),
        ):
            if len(set(names)) < len(names):
                raise ValueError(f"a {what} name stands twice: {', '.join(names)}")
        return self

    @property
    def is_default(self) -> bool:
        """True for the committed study: its figures and variables live in the repository."""
        return self.name == DEFAULT_PROFILE and not self.overrides

    @property
    def build_dir(self) -> Path:
        """Derived, never committed: executed notebooks, figures and paper of this profile."""
        suffix = f"-{_short_hash(self.overrides)}" if self.overrides else ""
        return self.root / "_build" / f"{self.name}{suffix}"

    @property
    def raw_dir(self) -> Path:
        """Raw responses and judgements; exploring with overrides stays out of the repository."""
        if self.overrides and not _only_analysis(self.overrides):
            return self.build_dir / "results"
        return self.results_folder

    @property
    def collection_dir(self) -> Path:
        """Frozen retrieval, passages and thresholds: what responses depend on."""
        return self.raw_dir / self.run_id

    @property
    def results_dir(self) -> Path:
        """Result files that the paper reads."""
        if _only_analysis(self.overrides):
            return self.build_dir / "results" / self.run_id
        return self.collection_dir

    @property
    def index_dir(self) -> Path:
        """Derived pages, chunks and vectors, one folder per corpus, chunking and embedder.

        What the folder holds carries its own fingerprint, so a changed PDF or extractor is noticed.
        """
        parts = {
            "corpus": self.corpus.model_dump(mode="json"),
            "chunking": self.chunking.model_dump(),
            "embedder": self.retrieval.embedder,
        }
        return self.root / "_build" / "index" / _short_hash(parts)

    @property
    def figures_dir(self) -> Path:
        return self.root / "figures" if self.is_default else self.build_dir / "figures"

    @property
    def variables_path(self) -> Path:
        return (self.root if self.is_default else self.build_dir) / "_variables.yml"

    @property
    def notebooks_dir(self) -> Path:
        """Where the executed notebooks of this profile are."""
        return self.root / "notebooks" if self.is_default else self.build_dir / "notebooks"

    def responses_path(self, subject: str) -> Path:
        return self.raw_dir / f"{subject}_{self.run_id}.jsonl"

    def judgements_path(self, subject: str, judge: str) -> Path:
        return self.raw_dir / f"{subject}_{self.run_id}.by-{judge}.jsonl"

    def judges_of(self, subject: SubjectSpec) -> tuple[JudgeSpec, ...]:
        """The judges of other families than the subject's.

        Raises
        ------
        UsageError
            When there is none.
        """
        judges = tuple(j for j in self.judges if not same_family(j.family, subject.family))
        if not judges:
            raise UsageError(
                self.source,
                f"every judge is of subject {subject.name}'s own family {subject.family!r}",
                allowed="a judge of another family for every subject",
                do="add one, or remove the subject",
            )
        return judges

    def subject(self, name: str) -> SubjectSpec:
        """The subject of that name.

        Raises
        ------
        UsageError
            When the profile has no such subject.
        """
        for spec in self.subjects:
            if spec.name == name:
                return spec
        names = ", ".join(s.name for s in self.subjects)
        raise UsageError(self.source, f"no subject '{name}'", allowed=f"subjects are {names}")

    def judge(self, name: str) -> JudgeSpec:
        """The judge of that name.

        Raises
        ------
        UsageError
            When the profile has no such judge.
        """
        for spec in self.judges:
            if spec.name == name:
                return spec
        names = ", ".join(s.name for s in self.judges)
        raise UsageError(self.source, f"no judge '{name}'", allowed=f"judges are {names}")


_ANALYSIS_KEYS = frozenset(AnalysisSpec.model_fields)
_PLACES = {
    "chunk_size": ("chunking", "size"),
    "chunk_overlap": ("chunking", "overlap"),
    "embedder": ("retrieval", "embedder"),
    "top_k": ("retrieval", "top_k"),
    "corpus_folder": ("corpus", "folder"),
    "documents": ("corpus", "documents"),
    "n_resamples": ("analysis", "n_resamples"),
    "confidence_level": ("analysis", "confidence_level"),
    "limit_questions": ("limit_questions",),
    "seed": ("seed",),
    "subjects": ("subjects",),
}


def load_profile(name_or_path: str | Path = DEFAULT_PROFILE, **overrides: Any) -> Profile:
    """The profile in `configs/<name>.yaml` (or at a path), with overrides applied.

    Parameters
    ----------
    name_or_path
        Profile name, or the path of a YAML file.
    **overrides
        Values that replace the profile's: chunk_size, chunk_overlap (tokens), top_k, embedder,
        corpus_folder, documents (ids), n_resamples, confidence_level, limit_questions, seed,
        subjects (names). None keeps the profile's value. The environment variable RGE_SEED stands
        in for `seed`; the repository's .env is read where it exists, and the real environment wins
        over it.

    Raises
    ------
    UsageError
        When the file is missing or not a valid profile, or an override is not known.
    """
    root = find_root()
    load_dotenv(root / ".env", override=False)
    path = _profile_path(root, name_or_path)
    data = _read_yaml(path)
    deviations = _apply(data, _with_environment(overrides), path)
    try:
        profile = Profile(**data, root=root, source=path, overrides=deviations)
    except ValidationError as error:
        raise _bad_profile(path, error) from None
    except TypeError as error:
        raise UsageError(path, str(error), do="fix the profile") from None
    return profile.model_copy(update=_resolved(profile))


def find_root(start: Path | None = None) -> Path:
    """The repository: the nearest folder upward that holds pyproject.toml and configs/.

    The working directory is looked at first, then the place of this file, so that notebooks work
    from the root and from their own folder.
    """
    for origin in (start or Path.cwd(), Path(__file__)):
        for folder in (origin, *origin.parents):
            if (folder / "pyproject.toml").is_file() and (folder / "configs").is_dir():
                return folder
    raise UsageError(
        Path.cwd(),
        "not inside the repository",
        allowed="a folder below the one that holds pyproject.toml and configs/",
        do="change to the repository and run again",
    )


def _profile_path(root: Path, name_or_path: str | Path) -> Path:
    given = Path(name_or_path)
    candidates = [root / "configs" / f"{name_or_path}.yaml"]
    if given.suffix in {".yaml", ".yml"}:
        candidates = [given if given.is_absolute() else base / given for base in (Path.cwd(), root)]
    for path in candidates:
        if path.is_file():
            return path
    known = ", ".join(
        sorted(p.stem for p in (root / "configs").glob("*.yaml") if _is_profile(p)) or ["none"]
    )
    raise UsageError(name_or_path, "no such profile", allowed=f"profiles are {known}")


def _is_profile(path: Path) -> bool:
    return path.stem not in {"preregistration", "prices"}


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise UsageError(path, f"not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise UsageError(path, f"holds a {type(data).__name__}", allowed="a mapping of keys")
    for reserved in ("root", "source", "overrides"):
        if reserved in data:
            raise UsageError(path, f"unknown key '{reserved}'", do="remove it")
    return data


def _with_environment(overrides: dict[str, Any]) -> dict[str, Any]:
    seed = os.environ.get("RGE_SEED", "").strip()
    if overrides.get("seed") is None and seed:
        if not seed.isdigit():
            raise UsageError("RGE_SEED", f"is '{seed}'", allowed="a whole number from 0")
        return {**overrides, "seed": int(seed)}
    return overrides


def _apply(data: dict[str, Any], overrides: dict[str, Any], path: Path) -> dict[str, Any]:
    """Put overrides into `data`; return those that change something."""
    deviations = {}
    for key, value in overrides.items():
        if key not in _PLACES:
            raise UsageError(
                f"parameter {key}",
                "unknown",
                allowed=f"parameters are {', '.join(sorted(_PLACES))}",
            )
        if value is None:
            continue
        if key == "subjects":
            value = _chosen_subjects(data, value, path)
        *parents, leaf = _PLACES[key]
        section = data
        for parent in parents:
            section = section.get(parent) or {}
        if section.get(leaf) != value:
            deviations[key] = overrides[key]
            section[leaf] = value
    if not _only_analysis(deviations) and deviations:
        shaping = {k: v for k, v in deviations.items() if k not in _ANALYSIS_KEYS}
        data["run_id"] = f"{data.get('run_id')}-{_short_hash(shaping)}"
    return deviations


def _chosen_subjects(data: dict[str, Any], names: list[str], path: Path) -> list[Any]:
    known = {subject.get("name"): subject for subject in data.get("subjects", [])}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise UsageError(
            path, f"no subject {unknown or names}", allowed=f"subjects are {', '.join(known)}"
        )
    return [subject for name, subject in known.items() if name in names]


def _only_analysis(deviations: dict[str, Any]) -> bool:
    """True when something deviates and none of it can change a response."""
    return bool(deviations) and set(deviations) <= _ANALYSIS_KEYS


def _short_hash(value: dict[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]


def _resolved(profile: Profile) -> dict[str, Any]:
    """Paths of the profile made absolute from the repository root."""

    def absolute(path: Path | None) -> Path | None:
        return None if path is None else (profile.root / path).resolve()

    corpus = profile.corpus.model_copy(
        update={
            "folder": absolute(profile.corpus.folder),
            "sources": absolute(profile.corpus.sources),
        }
    )
    return {
        "corpus": corpus,
        "results_folder": absolute(profile.results_folder),
        "questions": absolute(profile.questions),
        "held_out": absolute(profile.held_out),
    }


def _bad_profile(path: Path, error: ValidationError) -> UsageError:
    problem = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        allowed = ", ".join(_keys_at(problem["loc"][:-1]))
        return UsageError(
            path, f"unknown key '{place}'", allowed=f"keys are {allowed}", do="fix or remove it"
        )
    if problem["type"] == "missing":
        return UsageError(path, f"key '{place}' is missing", do="add it")
    return UsageError(path, first_problem(error), do="fix the value")


def _keys_at(place: tuple[int | str, ...]) -> list[str]:
    sections: dict[str, type[BaseModel]] = {
        "corpus": CorpusSpec,
        "chunking": ChunkingSpec,
        "retrieval": RetrievalSpec,
        "planned": PlannedSpec,
        "subjects": SubjectSpec,
        "judges": JudgeSpec,
        "analysis": AnalysisSpec,
        "budget": BudgetSpec,
    }
    model = sections.get(str(place[0]), Profile) if place else Profile
    return [key for key in model.model_fields if key not in {"root", "source", "overrides"}]
