"""Control answers of a pool: for each item one that passes and one that fails, and why.

They show that every item can be passed and failed, and what strategies without any reading earn.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from rge.board.grade import BoardGrade, Reason, grade_all
from rge.board.items import CHECKS, Board
from rge.errors import RgeError
from rge.records import NonEmpty, Record, Sha256
from rge.store import first_problem, read_json

if TYPE_CHECKING:
    import pandas as pd

ABSTENTION = "The passages do not contain the answer to this question."


class FailingAnswer(Record):
    """A wrong answer a model might give, and the reason the rules must name."""

    answer: str
    reason: Reason


class ItemControls(Record):
    """What an item is about and its control answers; `trap` names what makes it hard."""

    id: NonEmpty
    topic: Literal["annual-report", "general"]
    trap: NonEmpty
    passing: Annotated[tuple[NonEmpty, ...], Field(min_length=1)]
    failing: Annotated[tuple[FailingAnswer, ...], Field(min_length=1)]


class Controls(Record):
    """The companion of one items file, bound to it by its content hash."""

    slug: NonEmpty
    version: NonEmpty
    content_sha256: Sha256
    items: tuple[ItemControls, ...]


def load_controls(path: Path, board: Board) -> dict[str, ItemControls]:
    """Controls by item id, in the board's order.

    Raises
    ------
    RgeError
        When the file belongs to other items, or an item has no controls or has them twice.
    """
    try:
        controls = Controls.model_validate(read_json(path))
    except ValidationError as error:
        raise RgeError(path, first_problem(error), do="fix the file") from None
    if controls.content_sha256 != board.content_sha256:
        raise RgeError(
            path,
            f"belongs to items with hash {controls.content_sha256}",
            allowed=f"the items' hash is {board.content_sha256}",
            do="check the answers against the items, then put the new hash in",
        )
    ids = [control.id for control in controls.items]
    if sorted(ids) != sorted(item.id for item in board):
        odd = set(ids) ^ {item.id for item in board} or {i for i in ids if ids.count(i) > 1}
        raise RgeError(path, f"ids {', '.join(sorted(odd))}", allowed="each item once")
    by_id = {control.id: control for control in controls.items}
    return {item.id: by_id[item.id] for item in board}


def control_grades(board: Board, controls: dict[str, ItemControls]) -> dict[str, BoardGrade]:
    """Verdicts on three answers per item that need no model.

    `reference` gives the first passing control answer, `abstainer` always declines, `parrot`
    repeats all passages with their ids.
    """
    answers = {
        "reference": [(item.id, controls[item.id].passing[0]) for item in board],
        "abstainer": [(item.id, ABSTENTION) for item in board],
        "parrot": [
            (item.id, "\n".join(f"[{p.id}] {p.text}" for p in item.ragqa.passages))
            for item in board
        ],
    }
    return {name: grade_all(board, pairs) for name, pairs in answers.items()}


def pool_table(board: Board, controls: Mapping[str, ItemControls]) -> pd.DataFrame:
    """Items per check and topic, one row a check."""
    import pandas as pd

    rows = []
    for check in CHECKS:
        topics = [controls[item.id].topic for item in board if item.ragqa.check == check]
        about_reports = topics.count("annual-report")
        rows.append({"check": check, "n_items": len(topics), "annual_report": about_reports})
    return pd.DataFrame(rows)
