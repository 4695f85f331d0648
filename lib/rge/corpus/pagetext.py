"""What extracted page text looks like: made tidy, measured, and flagged where it is unusable."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from rge.corpus import rupee

# Ligatures and bullets that fonts give codes of their own; spaces that are not U+0020.
_TRANSLATED = {
    **dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)),
    **dict.fromkeys((0xF0B7, 0xF0A7, 0xF0D8), "•"),
    **dict.fromkeys((0xA0, 0x2007, 0x202F, 0x2009, 0x200A, 0x3000), " "),
    # Soft hyphens, zero-width characters and byte-order marks carry no text.
    **dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF)),
}
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LEADERS = re.compile(r"\s*(?:\.\s?){5,}\s*")  # the dots that lead from an entry to its page
_REPEATED_LINE = re.compile(r"^(.{8,}?)\1+$")

_NUMBER = re.compile(r"^[\[($₹€£~+\-–—]*\d[\d,.]*[%)\]x]*$")
_WORD = re.compile(r"[^\W\d_]{2,}")
_GLYPH_CODE = re.compile(r"/[gG]\d+|\(cid:\d+\)")
_UNMAPPED = re.compile(r"[\ufffd\ue000-\uf8ff]")
_MOJIBAKE = re.compile(r"â€|Ã[\x80-\xbf©¨¢ª«®]|Â[\xa0-\xbf]")
# Scripts that put no spaces between words cannot lack them.
_RUN_OF_LETTERS = re.compile(
    r"[^\W\d_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]+"
)
_DOUBLED = re.compile(r"(?:(.)\1+)+")

NO_TEXT = "no text"
SCAN = "no text (scan)"
OCR = "text by OCR"

MIN_CHARACTERS = 10  # fewer letters and digits on a page: nothing to read
LONG_WORD = 25  # letters; hardly an English word is longer


@dataclass(frozen=True)
class TableShape:
    """How much of a page is numbers, and how many of them stand in a row behind its label.

    Attributes
    ----------
    n_tokens, n_numbers
        White-space separated tokens, and those of them that are a number.
    labelled_rate
        Share of the numbers that stand behind a word on their line, in [0, 1]; 1 without numbers.
    n_lines, n_bare
        Lines, and those of them that hold figures or dates and not one word.
    """

    n_tokens: int
    n_numbers: int
    labelled_rate: float
    n_lines: int
    n_bare: int

    @property
    def is_table_heavy(self) -> bool:
        """At least 30 numbers, and at least 15 % of all tokens."""
        return self.n_numbers >= 30 and self.n_numbers >= 0.15 * self.n_tokens

    @property
    def has_broken_rows(self) -> bool:
        """Fewer than 70 % of a table-heavy page's numbers stand behind a label, or bare lines.

        Bare lines: at least 15, and at least a quarter of all.
        """
        return (self.is_table_heavy and self.labelled_rate < 0.7) or self.has_bare_lines

    @property
    def has_bare_lines(self) -> bool:
        """At least 15 lines, and a quarter of all, are cells torn from their row."""
        return self.n_bare >= max(15, 0.25 * self.n_lines)


def table_shape(text: str) -> TableShape:
    """The table shape of a page's text."""
    n_tokens = n_numbers = n_labelled = n_bare = 0
    lines = text.splitlines()
    for line in lines:
        has_label = False
        for token in line.split():
            n_tokens += 1
            has_label = has_label or bool(_WORD.search(token))
            if _NUMBER.match(token):
                n_numbers += 1
                n_labelled += has_label
        n_bare += not has_label and any(map(str.isdigit, line))
    rate = n_labelled / n_numbers if n_numbers else 1.0
    return TableShape(n_tokens, n_numbers, rate, len(lines), n_bare)


def numbers_kept(text: str, other: str) -> float:
    """Share of the numbers of `other`, counted with repeats, that `text` holds too, in [0, 1]."""
    theirs, ours = _numbers(other), _numbers(text)
    n = theirs.total()
    return (theirs & ours).total() / n if n else 1.0


def words_kept(text: str, other: str) -> float:
    """Share of the words of `other`, counted with repeats, that `text` holds too, in [0, 1]."""
    theirs, ours = Counter(other.split()), Counter(text.split())
    n = theirs.total()
    return (theirs & ours).total() / n if n else 1.0


def _numbers(text: str) -> Counter[str]:
    """Digits of each number: a bracket may stand on the next line in one of two readings."""
    return Counter(re.sub(r"[^\d.,]", "", token) for token in text.split() if _NUMBER.match(token))


def tidy(text: str) -> str:
    """`text` as it is stored: UTF-8 safe, one space between words, no blank lines.

    Ligatures become letters, and a row of leader dots one ellipsis: an embedder reads each dot as a
    word. A line that a PDF prints several times over itself for a bold look
    and that therefore reads "NOTESNOTES…" is taken once.
    """
    text = _SURROGATE.sub("\ufffd", text.translate(_TRANSLATED))
    lines = (" ".join(_CONTROL.sub("", line).split()) for line in text.splitlines())
    lines = (_LEADERS.sub(" … ", line).strip() for line in lines)
    return "\n".join(_REPEATED_LINE.sub(r"\1", line) for line in lines if line)


def problems(text: str) -> tuple[str, ...]:
    """The kinds of damage found in a page's text, none for a usable page.

    Kinds: `no text`, `glyph codes` (a font without a character map), `unmapped characters`,
    `mojibake`, `spaces missing`, `doubled characters`, `rupee sign read as another character`.
    """
    n_read = sum(character.isalnum() for character in text)
    if n_read < MIN_CHARACTERS:
        return (NO_TEXT,)
    runs = _RUN_OF_LETTERS.findall(text)
    n_letters = sum(map(len, runs))
    words = [run for run in runs if len(run) >= 4]
    long_letters = sum(len(run) for run in runs if len(run) > LONG_WORD)
    doubled = sum(bool(_DOUBLED.fullmatch(word)) for word in words)
    codes = _GLYPH_CODE.findall(text)
    found = {
        "glyph codes": len(codes) >= 5 and sum(map(len, codes)) >= 0.05 * len(text),
        "unmapped characters": len(_UNMAPPED.findall(text)) >= max(3, 0.01 * n_read),
        "mojibake": len(_MOJIBAKE.findall(text)) >= 3,
        "spaces missing": long_letters >= max(100, 0.05 * n_letters),
        "doubled characters": doubled >= max(3, 0.05 * len(words)),
        "rupee sign read as another character": rupee.is_misread(text),
    }
    return tuple(kind for kind, is_there in found.items() if is_there)
