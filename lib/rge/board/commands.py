"""The board's commands: what they print and the exit code they end with."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rge.board.grade import BoardGrade, grade_all
from rge.board.items import Board, load_items
from rge.board.score import score
from rge.records import Estimate, NonEmpty, Record
from rge.store import read_jsonl

if TYPE_CHECKING:
    from rge.profile import Profile


class AnswerLine(Record):
    """One line of an answers file."""

    id: NonEmpty
    answer: str


def grade_command(
    items: str | Path,
    answers: str | Path,
    expect_sha256: str | None = None,
    as_json: bool = False,
) -> int:
    """Grade an answers file, print verdicts with evidence and the score; return 0.

    Parameters
    ----------
    items
        Items file.
    answers
        JSONL file, `{"id": …, "answer": …}` a line, exactly one line per item.
    expect_sha256
        Content hash the items file must have.
    as_json
        Print one JSON object instead of text.

    Raises
    ------
    RgeError
        When a file cannot be used or ids are missing, unknown or repeated: the run is discarded.
    """
    board = load_items(items, expect_sha256=expect_sha256)
    lines = read_jsonl(Path(answers), AnswerLine, lambda line: line.id)
    graded = grade_all(board, [(line.id, line.answer) for line in lines])
    estimate = score([graded], name="score")
    print(_as_json(board, graded, estimate) if as_json else _as_text(board, graded, estimate))
    return 0


def run_command(profile: Profile, items: str | Path, subject: str, runs: int) -> int:
    """Have a subject of the profile answer the items, print its score; return 0.

    Raises
    ------
    RgeError
        When an item could not be executed: the attempt is discarded.
    """
    from rge.board.run import answers_path, run_board

    board = load_items(items)
    spec = profile.subject(subject)
    graded = run_board(profile, board, spec, runs)
    for number, run in enumerate(graded):
        passed = score([run], name=f"run {number}", confidence_level=_level(profile))
        print(f"run {number}: {_score_line(run.k, passed)}")
    if runs > 1:
        mean = score(graded, name="all runs", confidence_level=_level(profile))
        print(f"mean of {runs} runs: {_score_line(sum(r.k for r in graded) / runs, mean)}")
        print(_rates(graded))
    print(f"{board.slug} {board.version}, content hash {board.content_sha256}")
    print(f"answers in {answers_path(profile, board)}")
    return 0


def _level(profile: Profile) -> float:
    return profile.analysis.confidence_level


def _rates(graded: list[BoardGrade]) -> str:
    """Pass rate of each item over the runs, with its Jeffreys interval."""
    from rge.intervals import rate_interval

    lines = []
    for number, first in enumerate(graded[0].grades):
        k = sum(run.grades[number].passed for run in graded)
        rate = rate_interval(k, len(graded), method="jeffreys", name=first.item_id)
        lines.append(f"  {first.item_id}: {k}/{len(graded)}, {_interval(rate)}")
    return "\n".join(lines)


def _score_line(k: float, estimate: Estimate) -> str:
    return f"{k:g}/{estimate.n_questions} = {estimate.value:.3f}, {_interval(estimate)}"


def _interval(estimate: Estimate) -> str:
    level = f"{100 * estimate.confidence_level:g} % Jeffreys interval"
    return f"{level} [{estimate.low:.3f}, {estimate.high:.3f}]"


def _as_text(board: Board, graded: BoardGrade, estimate: Estimate) -> str:
    lines = []
    for grade in graded.grades:
        verdict = "passed" if grade.passed else "failed"
        lines.append(f"{verdict}  {grade.item_id}  {grade.check}  {grade.reason}: {grade.detail}")
        lines += [
            f"        {found.what} {found.text!r} at {found.start}-{found.end}"
            for found in grade.evidence
        ]
    lines.append(f"score {_score_line(graded.k, estimate)}")
    lines.append(f"{board.slug} {board.version}, content hash {board.content_sha256}")
    return "\n".join(lines)


def _as_json(board: Board, graded: BoardGrade, estimate: Estimate) -> str:
    result: dict[str, Any] = {
        "slug": board.slug,
        "version": board.version,
        "content_sha256": board.content_sha256,
        "n": graded.n,
        "n_passed": graded.k,
        "score": estimate.model_dump(),
        "items": [asdict(grade) for grade in graded.grades],
    }
    return json.dumps(result, ensure_ascii=False, indent=2)
