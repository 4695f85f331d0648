"""Two columns of prose that a PDF draws line by line across the page, put in reading order.

The content stream of such a page jumps between the columns at every line, so its text runs "left
line, right line, left line". The jumps are cheap to see in the places pypdf reports. Where they
are there, the words' exact boxes (pdfplumber) decide: if at one place across the page no word
crosses over many lines, and there is prose on both sides, each stretch of such lines is read left
side first. Whatever is less clear than that is left as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean, median
from typing import Any

from rge.corpus.fragments import RawPage

MIN_ROWS = 10  # lines, one below the other, on which both columns have words
MIN_WORDS = 4.0  # words a line and side, on average: less is a table
MIN_FILLED = 0.7  # of the column's width that its lines reach, on average: less is a table
MAX_NUMBERS = 0.15  # share of the words on either side
MIN_GAP = 6.0  # points free of words between the columns

MIN_STEP = 14.0  # points from one string to the next over the gutter: more than to the next letter

Word = dict[str, Any]
Row = list[Word]
Sides = tuple[Row, Row]


def jumps_between_columns(raw: RawPage) -> bool:
    """Whether the content stream goes to and fro between two columns, line by line.

    A line counts when, at one height, a string of the left part is followed by one that starts at
    a place in the middle where many lines have one.
    """
    left, _, right, _ = raw.box
    width = right - left
    starts: Counter[int] = Counter()
    height, last, in_left = None, 0.0, False
    for x, y in raw.starts:
        place = (x - left) / width
        if height is None or abs(y - height) > 2:
            height, in_left = y, place < 0.35
        elif in_left and 0.4 < place < 0.7 and x - last > MIN_STEP:
            starts[round(x - left)] += 1
        last = x
    return any(starts[at] + starts[at + 1] >= MIN_ROWS for at in starts)


def column_text(words: Sequence[Word], width: float) -> str | None:
    """Text with the columns one after the other; None where two columns are not certain.

    Parameters
    ----------
    words
        With `text`, `x0`, `x1`, `bottom`, in points from the upper left corner.
    width
        Of the page, points.
    """
    rows = _rows(words)
    gutter = _gutter(rows, width)
    if gutter is None:
        return None
    split = [_sides(row, gutter) for row in rows]
    lines: list[str] = []
    at, n_columns = 0, 0
    while at < len(rows):
        end = _band_end(rows, split, at)
        band = [sides for sides in split[at:end] if sides is not None]
        if _are_columns(band, gutter):
            lines += [_text(sides[i]) for i in (0, 1) for sides in band if sides[i]]
            n_columns += 1
        else:
            end = max(end, at + 1)
            lines += [_text(row) for row in rows[at:end]]
        at = end
    return "\n".join(lines) if n_columns else None


def _band_end(rows: list[Row], split: list[Sides | None], start: int) -> int:
    """Where the stretch of lines from `start` ends: at a crossing word or a larger gap."""
    end = start
    gaps: list[float] = []
    while end < len(rows) and split[end] is not None:
        if end > start:
            gap = rows[end][0]["bottom"] - rows[end - 1][0]["bottom"]
            if gaps and gap > 2.5 * median(gaps):
                break
            gaps.append(gap)
        end += 1
    return end


def _are_columns(band: list[Sides], gutter: tuple[float, float]) -> bool:
    both = [sides for sides in band if sides[0] and sides[1]]
    if len(both) < MIN_ROWS:
        return False
    left_edge = min(sides[0][0]["x0"] for sides in both)
    right_edge = max(sides[1][-1]["x1"] for sides in both)
    columns = ((left_edge, gutter[0]), (gutter[1], right_edge))
    return all(_is_prose([sides[i] for sides in both], *columns[i]) for i in (0, 1))


def _rows(words: Sequence[Word]) -> list[Row]:
    rows: list[Row] = []
    for word in sorted(words, key=lambda w: (w["bottom"], w["x0"])):
        if rows and word["bottom"] - rows[-1][0]["bottom"] <= 3:
            rows[-1].append(word)
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=lambda w: w["x0"])
    return rows


def _gutter(rows: list[Row], width: float) -> tuple[float, float] | None:
    """The free strip (its ends) that most lines have words on both sides of."""
    best, best_n = None, 0
    starts = Counter(round(w["x0"]) for row in rows for w in row if 0.4 < w["x0"] / width < 0.7)
    for start, n in starts.most_common(5):
        strip = (start - MIN_GAP, start - 0.5)
        n_split = sum(
            any(w["x0"] < strip[0] for w in row)
            and any(abs(w["x0"] - start) <= 1.5 for w in row)
            and _sides(row, strip) is not None
            for row in rows
        )
        if n >= MIN_ROWS and n_split > best_n:
            best, best_n = strip, n_split
    return best if best_n >= MIN_ROWS else None


def _sides(row: Row, gutter: tuple[float, float]) -> Sides | None:
    """The words left and right of the gutter, None where one crosses it."""
    low, high = gutter
    if any(word["x0"] < high and word["x1"] > low for word in row):
        return None
    return [w for w in row if w["x1"] <= low], [w for w in row if w["x0"] >= high]


def _is_prose(rows: list[Row], low: float, high: float) -> bool:
    words = [word["text"] for row in rows for word in row]
    n_numbers = sum(any(c.isdigit() for c in word) for word in words)
    filled = mean((row[-1]["x1"] - low) / (high - low) for row in rows)
    return (
        mean(map(len, rows)) >= MIN_WORDS
        and n_numbers <= MAX_NUMBERS * len(words)
        and filled >= MIN_FILLED
    )


def _text(row: Row) -> str:
    return " ".join(word["text"] for word in row)
