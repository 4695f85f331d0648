"""A page as pypdf reads it, in pieces: each piece with its place, direction and font.

The pieces, joined in the order of the content stream, are the page's text. Their places tell what
text alone cannot: that a string is drawn twice over itself, lies outside the page, is turned, or
stands in a font that holds nothing but the rupee sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pypdf import PageObject

Matrix = tuple[float, float, float, float, float, float]
Box = tuple[float, float, float, float]

_SHOWS = frozenset({b"Tj", b"TJ", b"'", b'"'})
_MOVES = frozenset({b"Td", b"TD", b"Tm", b"T*", b"'", b'"', b"BT"})
_INVISIBLE = 3  # text rendering mode of the words that OCR lays under the image of a scan
_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_MARGIN = 6.0  # points beyond the edge that a string may start at: an overhang is not outside


class Fragment(NamedTuple):
    """A piece of text with white space as pypdf put it.

    Attributes
    ----------
    text
        As read; may be empty, may end in a line break.
    x, y
        Where it starts, in points from the lower left corner of the page's own axes.
    angle
        Direction of its line, degrees counter-clockwise, in [0, 360).
    size
        Font size as drawn, points.
    font
        Name of the font, with its subset prefix; empty where unknown.
    is_inside
        Whether it starts on the visible part of the page.
    is_placed
        Whether the PDF moves to its start; else it goes on where another ends, and x and y are the
        start of their line.
    """

    text: str
    x: float
    y: float
    angle: int
    size: float
    font: str
    is_inside: bool
    is_placed: bool

    @property
    def along(self) -> float:
        """Distance along the reading direction, points."""
        turn = math.radians(self.angle)
        return self.x * math.cos(turn) + self.y * math.sin(turn)

    @property
    def across(self) -> float:
        """Distance across the reading direction, points; smaller further down the text."""
        turn = math.radians(self.angle)
        return self.y * math.cos(turn) - self.x * math.sin(turn)


@dataclass
class RawPage:
    """What pypdf finds on a page.

    Attributes
    ----------
    box
        The visible part: left, bottom, right, top, in points.
    rotation
        How far viewers turn the page, degrees clockwise, in [0, 360).
    fragments
        In the order of the content stream; their texts joined are the page's text.
    starts
        (x, y) of every string that the PDF moves to, finer than the fragments.
    n_shown, n_invisible
        Strings drawn, and those of them drawn invisibly.
    has_image
        Whether the page draws an image.
    """

    box: Box
    rotation: int
    fragments: list[Fragment] = field(default_factory=list)
    starts: list[tuple[float, float]] = field(default_factory=list)
    n_shown: int = 0
    n_invisible: int = 0
    has_image: bool = False


class _Form(NamedTuple):
    """Where the content being read is drawn: the page itself, or a form within a form on it."""

    resources: Any
    to_page: Matrix
    visible: Box


class _Reading:
    """Collects what pypdf reports while it reads a page.

    pypdf gives places within a form in the form's own axes, which need not be the page's: a PDF of
    single pages cut from spreads draws each spread twice, moved and clipped.
    """

    def __init__(self, page: PageObject) -> None:
        self.raw = RawPage(box=_box(page), rotation=int(page.rotation or 0) % 360)
        self.forms = [_Form(_get(page, "/Resources"), _IDENTITY, self.raw.box)]
        self.entered: _Form | None = None  # its outer text is reported before its first operator
        self.depths: list[int] = []  # of `forms`, at each operator Do that is not done yet
        self.is_invisible = False
        self.has_moved = False  # since the last string
        self.is_first_placed: bool | None = None  # of the strings since the last fragment

    def before(self, operator: bytes, operands: Any, cm: list[float], tm: list[float]) -> None:
        if self.entered is not None:
            self.forms.append(self.entered)
            self.entered = None
        self.has_moved = self.has_moved or operator in _MOVES
        if operator in _SHOWS:
            if self.has_moved:
                *_, x, y = _product(_product(tm, cm), self.forms[-1].to_page)
                self.raw.starts.append((x, y))
            if self.is_first_placed is None:
                self.is_first_placed = self.has_moved
            self.has_moved = False
            self.raw.n_shown += 1
            self.raw.n_invisible += self.is_invisible
        elif operator == b"Tr" and operands:
            self.is_invisible = operands[0] == _INVISIBLE
        elif operator == b"Do":
            self.depths.append(len(self.forms))
            if operands:
                self._enter(operands[0], cm)

    def after(self, operator: bytes, *_: object) -> None:
        if operator == b"Do":
            del self.forms[self.depths.pop() :]
            self.entered = None

    def took(self, text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        form = self.forms[-1]
        a, b, c, d, x, y = _product(_product(tm, cm), form.to_page)
        angle = round(math.degrees(math.atan2(b, a))) % 360 if a or b else 0
        name = str(font.get("/BaseFont", "") if font else "").lstrip("/")
        left, bottom, right, top = form.visible
        inside = left - _MARGIN <= x <= right + _MARGIN and bottom - _MARGIN <= y <= top + _MARGIN
        size = abs(size) * math.hypot(c, d)
        placed = bool(self.is_first_placed)
        self.raw.fragments.append(Fragment(text, x, y, angle, size, name, inside, placed))
        if text.strip():
            self.is_first_placed = None

    def _enter(self, name: str, cm: list[float]) -> None:
        outer = self.forms[-1]
        drawn = _get(outer.resources, "/XObject", name)
        kind = _get(drawn, "/Subtype")
        self.raw.has_image = self.raw.has_image or kind == "/Image"
        if kind != "/Form":
            return
        matrix = [float(value) for value in _get(drawn, "/Matrix") or _IDENTITY]
        to_page = _product(_product(matrix, cm), outer.to_page)
        visible = outer.visible
        if bounds := _get(drawn, "/BBox"):
            visible = _overlap(visible, _moved([float(value) for value in bounds], to_page))
        self.entered = _Form(_get(drawn, "/Resources") or outer.resources, to_page, visible)


def read_fragments(page: PageObject) -> RawPage:
    """The pieces of a page.

    Raises
    ------
    Exception
        Of many kinds, whatever pypdf raises on a damaged page.
    """
    reading = _Reading(page)
    whole = page.extract_text(
        visitor_operand_before=reading.before,
        visitor_operand_after=reading.after,
        visitor_text=reading.took,
    )
    raw = reading.raw
    if "".join(fragment.text for fragment in raw.fragments) != whole:
        # The places cannot be trusted; the text can.
        raw.fragments, raw.starts = [Fragment(whole, 0.0, 0.0, 0, 0.0, "", True, False)], []
    return raw


def _get(item: Any, *keys: str) -> Any:
    """The object under nested keys, None where there is none."""
    for key in keys:
        try:
            item = item[key].get_object()
        except (KeyError, TypeError, AttributeError):
            return None
    return item


def _product(m: Sequence[float], n: Sequence[float]) -> Matrix:
    return (
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    )


def _moved(box: Sequence[float], matrix: Matrix) -> Box:
    """The smallest upright box around a moved one."""
    corners = [_product((1, 0, 0, 1, x, y), matrix)[4:] for x in box[::2] for y in box[1::2]]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _overlap(one: Box, other: Box) -> Box:
    return (
        max(one[0], other[0]),
        max(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
    )


def _box(page: PageObject) -> Box:
    """Where media box and crop box overlap; a box may name its corners in any order."""
    media, crop = (
        _moved([float(value) for value in box], _IDENTITY) for box in (page.mediabox, page.cropbox)
    )
    both = _overlap(media, crop)
    return both if both[0] < both[2] and both[1] < both[3] else media
