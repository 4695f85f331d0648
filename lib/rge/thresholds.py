"""The score under which a reader abstains, chosen on questions outside the study."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rge.errors import RgeError, UsageError
from rge.profile import Profile
from rge.records import Chunk
from rge.retrieval.embedder import Embedder
from rge.specs import SubjectSpec
from rge.store import read_json, sha256_file, sha256_text, write_json
from rge.subjects.readers import (
    LexicalScorer,
    ReaderOptions,
    SemanticScorer,
    best_span,
    open_scorer,
)
from rge.subjects.reply import read_options


@dataclass(frozen=True)
class Point:
    """What one threshold does to the held-out questions; rates in [0, 1]."""

    threshold: float
    answered_rate: float
    abstained_rate: float
    balanced_accuracy: float


@dataclass(frozen=True)
class Choice:
    """The chosen threshold, how it does on the questions it was chosen on, and every alternative.

    Attributes
    ----------
    threshold
        Scores below it abstain.
    balanced_accuracy
        Mean of the share of answerable questions answered and unanswerable ones abstained from.
        Too favourable for new questions: the same questions chose the threshold.
    n_answerable, n_unanswerable
        Held-out questions of each sort.
    curve
        One point per threshold that tells the held-out scores apart, ascending.
    """

    threshold: float
    balanced_accuracy: float
    n_answerable: int
    n_unanswerable: int
    curve: tuple[Point, ...]


def choose(scores: Sequence[float], answerable: Sequence[bool]) -> Choice:
    """The threshold with the highest balanced accuracy.

    Candidates lie half-way between neighbouring scores and beyond both ends. Of equal candidates
    the one in the widest gap is taken, then the lower one.

    Parameters
    ----------
    scores
        Best score of each held-out question.
    answerable
        Whether the question should be answered from its passages.

    Raises
    ------
    RgeError
        When either sort of question is missing: there is nothing to weigh.
    """
    values, right = np.asarray(scores, dtype=float), np.asarray(answerable, dtype=bool)
    if not right.any() or right.all():
        raise RgeError(
            "held-out questions",
            f"{int(right.sum())} can be answered from their passages, {int((~right).sum())} cannot",
            allowed="at least one of each sort",
            do="add questions, or set options.threshold in the profile",
        )
    cuts, gaps = _candidates(values)
    curve = tuple(_point(cut, values, right) for cut in cuts)
    accuracy = np.array([point.balanced_accuracy for point in curve])
    best = min(np.flatnonzero(accuracy == accuracy.max()), key=lambda i: (-gaps[i], cuts[i]))
    return Choice(
        threshold=curve[best].threshold,
        balanced_accuracy=curve[best].balanced_accuracy,
        n_answerable=int(right.sum()),
        n_unanswerable=int((~right).sum()),
        curve=curve,
    )


def _candidates(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Thresholds, ascending, and the width of the gap each lies in (0 beyond the ends)."""
    distinct = np.unique(values)
    inner = (distinct[1:] + distinct[:-1]) / 2
    cuts = np.concatenate([[distinct[0] - 0.01], inner, [distinct[-1] + 0.01]])
    return np.round(cuts, 6), np.concatenate([[0.0], np.diff(distinct), [0.0]])


def _point(cut: float, values: NDArray[np.float64], right: NDArray[np.bool_]) -> Point:
    answered = values >= cut
    answered_rate = float(answered[right].mean())
    abstained_rate = float((~answered[~right]).mean())
    return Point(float(cut), answered_rate, abstained_rate, (answered_rate + abstained_rate) / 2)


@dataclass(frozen=True)
class Case:
    """A held-out question as a reader sees it, and whether it should answer."""

    question: str
    passages: tuple[Chunk, ...]
    answerable: bool


def choose_for(scorer: LexicalScorer | SemanticScorer, cases: Sequence[Case]) -> Choice:
    """The threshold `choose` finds for the scores that a reader gives to held-out questions."""
    scores = [best_span(scorer, case.question, case.passages)[1] for case in cases]
    return choose(scores, [case.answerable for case in cases])


def held_out_cases(profile: Profile) -> list[Case]:
    """The held-out questions of a profile with the passages its index gives them.

    One should be answered when that is its expected behaviour and the passages hold some of its
    gold: a reader that abstains where retrieval found nothing does right.
    """
    from rge.questions import anchor, load_questions
    from rge.retrieval.index import open_index
    from rge.retrieval.retrieve import gold_in_context, rank

    index = open_index(profile)
    questions = load_questions(_held_out(profile))
    anchored = anchor(questions, list(index.chunks.values()), index.pages)
    embedder = Embedder(profile.retrieval.embedder)
    ranking = rank(index, embedder, [q.text for q in anchored], profile.retrieval.top_k)
    return [
        Case(
            question.text,
            tuple(index.chunks[chunk_id] for chunk_id in ids),
            question.expected_behavior != "abstain"
            and gold_in_context(question, ids, index.chunks) != "none",
        )
        for question, ids in zip(anchored, ranking.ids, strict=True)
    ]


def needs_choice(spec: SubjectSpec) -> bool:
    """Whether a subject is a reader whose threshold the profile leaves open."""
    return spec.kind.startswith("reader-") and spec.options.get("threshold") is None


def with_threshold(
    profile: Profile,
    spec: SubjectSpec,
    index_sha256: str,
    cases: Callable[[Profile], Sequence[Case]] = held_out_cases,
) -> SubjectSpec:
    """The entry with its threshold filled in; an entry that needs none comes back as it is.

    A choice is stored with its inputs in the run's `thresholds.json` and taken from there while
    the inputs are the same, so that a rerun needs neither index nor embedding model.

    Parameters
    ----------
    index_sha256
        Of the index the study's passages come from.
    cases
        Gives the held-out questions with their passages; called when a choice has to be made.

    Raises
    ------
    UsageError
        When the profile names no held-out questions.
    """
    if not needs_choice(spec):
        return spec
    source = read_options(ReaderOptions, spec).threshold_from
    if source is not None:
        entry = _entry_of(profile.root / source, spec)
    else:
        entry = _chosen(profile, spec, index_sha256, cases)
    options = {**spec.options, "threshold": entry["threshold"]}
    return spec.model_copy(update={"options": options})


def _held_out(profile: Profile) -> Path:
    if profile.held_out is None:
        raise UsageError(
            profile.source,
            "a reader has no threshold and there are no held-out questions",
            allowed="options.threshold or threshold_from, or held_out as a file of questions",
            do="set one of them in the profile",
        )
    return profile.held_out


def _chosen(
    profile: Profile,
    spec: SubjectSpec,
    index_sha256: str,
    cases: Callable[[Profile], Sequence[Case]],
) -> dict[str, Any]:
    path = thresholds_path(profile)
    stored: dict[str, Any] = read_json(path) if path.exists() else {}
    scorer = open_scorer(spec)
    parts = {
        "held_out": sha256_file(_held_out(profile)),
        "index": index_sha256,
        "top_k": profile.retrieval.top_k,
        "scorer": scorer.params,
    }
    inputs = sha256_text(json.dumps(parts, sort_keys=True))
    entry: dict[str, Any] | None = stored.get(spec.name)
    if entry is None or entry["inputs_sha256"] != inputs:
        choice = choose_for(scorer, cases(profile))
        entry = {"scorer": scorer.params, "inputs_sha256": inputs, **asdict(choice)}
        write_json(path, {**stored, spec.name: entry})
    return entry


def _entry_of(path: Path, spec: SubjectSpec) -> dict[str, Any]:
    stored: dict[str, Any] = read_json(path)
    scorer = open_scorer(spec).params
    for entry in stored.values():
        if entry["scorer"] == scorer:
            found: dict[str, Any] = entry
            return found
    raise RgeError(
        path,
        f"no threshold for the scorer of {spec.name} ({scorer})",
        do="run the profile that writes the file, or set options.threshold",
    )


def thresholds_path(profile: Profile) -> Path:
    """Where the chosen thresholds of a run are stored."""
    return profile.collection_dir / "thresholds.json"
