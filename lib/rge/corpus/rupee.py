"""The rupee sign where a font without a character map hides it behind another character.

Before U+20B9 was common, reports drew the sign with fonts of one glyph, mapped to a back-tick or a
letter. A font that is named after the rupee says what the character means: it is replaced. Where
the font says nothing, "H 1,234.50 crore" or "(C in crore)" betrays it: the page is flagged only.
"""

from __future__ import annotations

import re
from collections import Counter

SIGN = "₹"

_FONT = re.compile(r"rupee|rupya", re.I)
_UNIT = r"(?:crores?|lakhs?|lacs?|millions?|billions?|thousands?)\b"
_SUSPECT = "[`A-Z´¹~^]"
_IN_UNIT = re.compile(
    rf"\(\s*({_SUSPECT})\s+[Ii]n\s+{_UNIT}|^\s*({_SUSPECT})\s+[Ii]n\s+{_UNIT}", re.I | re.M
)
_AMOUNT = re.compile(
    rf"(?<![\w.&/-])({_SUSPECT})\s?\d[\d,]*(?:\.\d+)?\s*(?:/-|{_UNIT}|(?:per|each)\b)", re.I
)
_BACK_TICK = re.compile(r"`\s?\d|\(\s*`\s*\)")


def from_font(text: str, font: str) -> str:
    """`text` of a fragment, with the sign where its font is named after the rupee.

    A fragment of more than one such character is left alone: some fonts with the word in their
    name hold the whole alphabet.
    """
    core = text.strip().strip("()[]")
    if not _FONT.search(font) or len(core) != 1 or core.isdigit() or core == SIGN:
        return text
    return text.replace(core, SIGN)


def is_misread(text: str) -> bool:
    """Whether a character stands where only a currency sign makes sense, at least twice.

    One "(C in crore)" is enough: no letter has another meaning there.
    """
    heads = Counter(
        a or b for a, b in _IN_UNIT.findall(text) if (a or b).isupper() or not (a or b).isalpha()
    )
    if heads or len(_BACK_TICK.findall(text)) >= 2:
        return True
    amounts = Counter(sign for sign in _AMOUNT.findall(text) if not sign.islower())
    return any(n >= 2 for n in amounts.values())
