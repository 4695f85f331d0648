"""What an extractive reader can quote: the sentences and table rows of a passage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rge.records import Chunk
from rge.text.claims import split_sentences

_CELL = r"\(?[-–−+₹$€]{0,2}\s?\d[\d,]*(?:\.\d+)?\s?%?\)?"
_ONLY_CELLS = re.compile(rf"(?:{_CELL}|[-–—]|nil)(?:\s+(?:{_CELL}|[-–—]|nil))*", re.IGNORECASE)
_ENDS_IN_CELL = re.compile(rf"(?:^|\s)(?:{_CELL}|[-–—]|nil)$", re.IGNORECASE)
_PERIOD = re.compile(
    r"\b(?:FY\s?'?\d{2,4}(?:-\d{2})?|(?:19|20)\d{2}(?:-\d{2,4})?)\b", re.IGNORECASE
)
_UNIT = re.compile(r"₹|\$|\b(?:crores?|lakhs?|millions?|billions?|thousands?|in %)", re.IGNORECASE)
_DAY = re.compile(r"(?<![\d.,])\d{1,2}(?![\d%)]|[.,]\d)")
_AMOUNT = re.compile(r"\d[,.]\d|\d\s?%|\d{4}")
_TWO_CELLS = re.compile(rf"{_CELL}\s+(?:{_CELL}|[-–—]|nil)$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?][\"”’)\]]*$")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_WORDS_IN_A_LABEL = 12


@dataclass(frozen=True)
class Span:
    """A quotable part of a passage.

    Attributes
    ----------
    chunk_id
        The passage it stands in.
    text
        The sentence, or a table row behind what its columns and section are called.
    context
        Company, fiscal year and heading of the passage: read with the text, not quoted.
    """

    chunk_id: str
    text: str
    context: str

    @property
    def read(self) -> str:
        """Text with its context, as the reader weighs it."""
        return f"{self.context}: {self.text}"


def split_passage(chunk: Chunk) -> list[Span]:
    """Spans of a passage in reading order; at least one.

    A table row is useless without its column heads, so the nearest lines above that name periods,
    units or a section go in front of it.
    """
    identity = f"{chunk.company.replace('-', ' ')} {chunk.fy}"
    context = f"{identity}, {chunk.heading}" if chunk.heading else identity
    pieces = _joined_cells([" ".join(piece.text.split()) for piece in split_sentences(chunk.text)])
    texts = list(_quotable(pieces)) or pieces or [" ".join(chunk.text.split())]
    return [Span(chunk.chunk_id, text, context) for text in texts]


def _joined_cells(pieces: list[str]) -> list[str]:
    """Lines of nothing but numbers put behind their label: some PDFs hold one cell a line."""
    joined: list[str] = []
    for piece in pieces:
        if joined and _ONLY_CELLS.fullmatch(piece) and not joined[-1].endswith((".", "!", "?")):
            joined[-1] += f" {piece}"
        else:
            joined.append(piece)
    return joined


def _quotable(pieces: list[str]) -> Iterator[str]:
    """Sentences as they are, rows behind their heads; heads, titles and page feet are left out."""
    label, columns = "", ""
    for place, piece in enumerate(pieces):
        if _is_row(piece):
            head = "; ".join(part for part in (label, columns) if part)
            yield f"{head}: {piece}" if head else piece
        elif _is_sentence(piece, cut_off=place in (0, len(pieces) - 1)):
            label = columns = ""
            yield piece
        elif _PERIOD.search(piece) or _UNIT.search(piece):
            columns = piece if not columns or _PERIOD.search(columns) else f"{columns}; {piece}"
        else:
            label = piece


def _is_sentence(piece: str, *, cut_off: bool) -> bool:
    """Whether a piece ends like a sentence; at the edge of a passage a long one may be cut off."""
    if _SENTENCE_END.search(piece):
        return True
    return cut_off and len(_LETTERS.findall(piece)) > _WORDS_IN_A_LABEL


def _is_row(piece: str) -> bool:
    """Whether a line ends in amounts: two cells, or one that is no year, day or page number."""
    if _SENTENCE_END.search(piece) or len(_LETTERS.findall(piece)) > _WORDS_IN_A_LABEL:
        return False
    if not _ENDS_IN_CELL.search(piece):
        return False
    rest = _PERIOD.sub(" ", piece)
    if len(rest) < len(piece):
        rest = _DAY.sub(" ", rest)
    return bool(_AMOUNT.search(rest) or _TWO_CELLS.search(rest))
