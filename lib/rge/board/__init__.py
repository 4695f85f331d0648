"""The grounding board: items with their own passages, graded by fixed patterns alone."""

from rge.board.commands import grade_command, run_command
from rge.board.grade import BoardGrade, Evidence, Grade, grade, grade_all
from rge.board.items import Board, Item, content_hash, load_items

__all__ = [
    "Board",
    "BoardGrade",
    "Evidence",
    "Grade",
    "Item",
    "content_hash",
    "grade",
    "grade_all",
    "grade_command",
    "load_items",
    "run_command",
]
