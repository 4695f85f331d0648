"""Finds a quote in its source, whatever became of its spaces, dashes, quotation marks, ligatures.

What is returned is the slice of the source: records hold what really stands there.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_QUOTES = dict.fromkeys("‘’‚‛′", "'") | dict.fromkeys("“”„‟″«»", '"')
_PLAIN = _DASHES | _QUOTES | {"\u00ad": "", "\u200b": ""}


def locate(source: str, quote: str, start: int = 0) -> tuple[int, int] | None:
    """Where `quote` stands in `source`, as offsets; None where it does not.

    Parameters
    ----------
    source
        The text that should hold it.
    quote
        Compared without regard to white space, kind of dash and quotation mark, and ligatures;
        letter case and every other character count.
    start
        Offset from which the search goes, so that a repeated span can be found again.
    """
    wanted, _ = _normal(quote)
    wanted = wanted.strip()
    if not wanted:
        return None
    text, places = _normal(source[start:])
    found = text.find(wanted)
    if found < 0:
        return None
    first, last = places[found], places[found + len(wanted) - 1]
    return start + first, start + last + 1


def slice_of(sources: Iterable[str], quote: str) -> str | None:
    """The slice of the first source that holds `quote`."""
    for source in sources:
        place = locate(source, quote)
        if place is not None:
            return source[place[0] : place[1]]
    return None


def _normal(text: str) -> tuple[str, list[int]]:
    """Normalised text, and for each of its characters the offset it came from."""
    letters: list[str] = []
    places: list[int] = []
    for offset, character in enumerate(text):
        plain = _PLAIN.get(character)
        if plain is None:
            plain = " " if character.isspace() else unicodedata.normalize("NFKC", character)
        for letter in plain:
            if letter == " " and (not letters or letters[-1] == " "):
                continue
            letters.append(letter)
            places.append(offset)
    return "".join(letters), places
