"""The text of a page from its fragments, repaired where their places leave no doubt.

Repairs: a string drawn twice at one place is taken once; what lies outside the page is left out; a
character of a rupee font becomes the sign; a table whose cells stand apart in the content stream is
put together row by row. Turned text needs no work, since fragments know their direction. What is
repaired is named, so that a reader of the pages can tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rge.corpus import rupee
from rge.corpus.fragments import Fragment, RawPage

DOUBLED = "doubled characters"
OUTSIDE = "text outside the page"
ROTATED = "rotated"
RUPEE = "rupee sign read as another character"
ROWS = "broken rows"
COLUMNS = "interleaved columns"

_SAME_PLACE = 0.15  # of the font size
_SAME_ROW = 0.4  # of the font size
MIN_COLUMN_ROWS = 10
MIN_COLUMN_LETTERS = 15


def repaired_text(raw: RawPage) -> tuple[list[Fragment], tuple[str, ...]]:
    """Fragments of a page without what is drawn twice or outside, and the repairs made."""
    repairs = []
    fragments = raw.fragments
    inside = [f if f.is_inside else f._replace(text="\n") for f in fragments]
    if _letters(inside) < _letters(fragments):
        fragments, repairs = inside, [OUTSIDE]
    once = _without_overprint(fragments)
    if _letters(once) < _letters(fragments):
        fragments = once
        repairs.append(DOUBLED)
    signed = [f._replace(text=rupee.from_font(f.text, f.font)) for f in fragments]
    if signed != fragments:
        fragments = signed
        repairs.append(RUPEE)
    return fragments, tuple(repairs)


def turned_rate(raw: RawPage, fragments: Sequence[Fragment], *, slanted: bool = False) -> float:
    """Share of the characters that a viewer shows turned, in [0, 1].

    Parameters
    ----------
    slanted
        Count only directions that are no multiple of 90 degrees.
    """
    n_all = n_turned = 0
    for fragment in fragments:
        n = len(fragment.text.strip())
        shown = (fragment.angle - raw.rotation) % 360
        n_all += n
        n_turned += n * ((min(shown % 90, -shown % 90) > 3) if slanted else 5 < shown < 355)
    return n_turned / n_all if n_all else 0.0


def row_text(fragments: Sequence[Fragment]) -> str:
    """Text row by row: what stands at one height is one line, whatever the order it is drawn in."""
    rows: list[list[tuple[int, Fragment]]] = []
    by_angle: dict[int, list[tuple[int, Fragment]]] = {}
    for order, fragment in enumerate(fragments):
        if fragment.text.strip():
            by_angle.setdefault(fragment.angle, []).append((order, fragment))
    for same in by_angle.values():
        same.sort(key=lambda item: -item[1].across)
        top = None
        for order, fragment in same:
            if top is None or top - fragment.across > _SAME_ROW * fragment.size:
                rows.append([])
                top = fragment.across
            rows[-1].append((order, fragment))
    return "\n".join(_line(row, fragments) for row in rows)


def _line(row: list[tuple[int, Fragment]], fragments: Sequence[Fragment]) -> str:
    """Fragments of one row; those that follow each other in the stream keep their own spacing."""
    row.sort(key=lambda item: (item[1].along, item[0]))
    line, last = "", -1
    for order, fragment in row:
        text = fragment.text.replace("\n", " ")
        between = fragments[last + 1 : order] if 0 <= last < order else None
        follows = between is not None and all(not f.text for f in between)
        closes = text.strip() in (")", "%", ")%")
        line += text if follows or closes or not line else f" {text}"
        last = order
    return line


def has_prose_columns(raw: RawPage, fragments: Iterable[Fragment]) -> bool:
    """Whether at many heights of the page a second line of prose starts in its middle."""
    left, _, right, _ = raw.box
    width = right - left
    starts: dict[int, list[float]] = {}
    prose_rows: Counter[int] = Counter()
    for fragment in fragments:
        if fragment.angle or sum(map(str.isalpha, fragment.text)) < MIN_COLUMN_LETTERS:
            continue
        starts.setdefault(round(fragment.y / 3), []).append((fragment.x - left) / width)
    for places in starts.values():
        if min(places) < 0.35:
            prose_rows.update({round(place * 100) for place in places if 0.4 < place < 0.7})
    return any(prose_rows[place] + prose_rows[place + 1] >= MIN_COLUMN_ROWS for place in prose_rows)


def _without_overprint(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Fragments without those that repeat an earlier one at its place."""
    places: dict[tuple[str, int], list[Fragment]] = {}
    kept = []
    for fragment in fragments:
        core = fragment.text.strip()
        earlier = places.setdefault((core, fragment.angle), [])
        reach = _SAME_PLACE * fragment.size
        if (
            core
            and fragment.is_placed
            and any(
                abs(f.x - fragment.x) <= reach and abs(f.y - fragment.y) <= reach for f in earlier
            )
        ):
            end = "\n" if fragment.text.endswith("\n") else ""
            kept.append(fragment._replace(text=end))
            continue
        if core and fragment.is_placed:
            earlier.append(fragment)
        kept.append(fragment)
    return kept


def _letters(fragments: Iterable[Fragment]) -> int:
    return sum(len(fragment.text.strip()) for fragment in fragments)
