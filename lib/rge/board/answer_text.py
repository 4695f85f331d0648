"""An answer as the rules read it: prepared text, its statements and its clauses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rge.board.patterns import Span

_THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.IGNORECASE | re.DOTALL)
_PLAIN = {
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u02bc"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f"), '"'),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u202f"), " "),
}
# A sentence ends before white space and a capital ("Rs. 120" does not end one); a line ends too.
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_\-•]*[A-Z\[])|\n")
_LEADS_ON = re.compile(r":[*_\s]*\Z")
_ONLY_CITES = re.compile(r"\s*(?:[\[(【][^\[\]()【】]{1,80}[\])】][\s.,;]*)+")
_BACK_REFERENCE = re.compile(
    r"[\s\"'(*_\-•]*(?:it|its|this|that|these|those|they|their|which)\b", re.IGNORECASE
)
_CLAUSE_START = re.compile(
    r"(?<=[.!?])\s|;|,?\s(?:but|while|whereas|although|though|however|yet)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Prepared:
    """Answer text without reasoning traces, with dashes, quotes and spaces made plain.

    `cuts` holds, per removed trace, its place in `text` and its length in the raw answer.
    """

    text: str
    cuts: tuple[tuple[int, int], ...]

    def raw_span(self, span: Span) -> tuple[int, int]:
        """Start and end of `span` in the raw answer."""
        start = span.start + sum(length for place, length in self.cuts if place <= span.start)
        end = span.end + sum(length for place, length in self.cuts if place < span.end)
        return start, max(start, end)


def prepare(answer: str) -> Prepared:
    """The answer as the rules read it.

    `<think>…</think>` is removed, also when it is never closed; dashes, curly quotes and
    non-breaking spaces are replaced one for one by their plain forms.
    """
    kept, cuts, position, length = [], [], 0, 0
    for trace in _THINK.finditer(answer):
        kept.append(answer[position : trace.start()])
        length += trace.start() - position
        cuts.append((length, trace.end() - trace.start()))
        position = trace.end()
    kept.append(answer[position:])
    return Prepared("".join(kept).translate(_PLAIN), tuple(cuts))


def statements(text: str) -> list[Span]:
    """Sentences and lines of `text` that hold something, in order.

    Three things are joined to the sentence before: one that opens with it, its, this, that, these,
    those, they, their or which; a bracketed citation standing alone; what follows a colon.
    """
    spans: list[Span] = []
    for start, end in _pieces(text, 0, len(text), _SENTENCE_END):
        if not text[start:end].strip():
            continue
        if spans and (
            _BACK_REFERENCE.match(text, start, end)
            or _ONLY_CITES.fullmatch(text, start, end)
            or _LEADS_ON.search(spans[-1].text)
        ):
            start = spans.pop().start
        spans.append(Span(text[start:end], start, end))
    return spans


def clauses(text: str, mark: re.Pattern[str]) -> list[Span]:
    """Statements cut at full stops, semicolons and contrasts, each piece with a `mark`.

    A piece without a mark belongs to the piece before it: in "doc-a says 155, but it was
    withdrawn" the second half speaks about doc-a.
    """
    found: list[Span] = []
    for statement in statements(text):
        start, marked = statement.start, False
        for piece_start, piece_end in _pieces(text, start, statement.end, _CLAUSE_START):
            if mark.search(text, piece_start, piece_end):
                if marked:
                    found.append(Span(text[start:piece_start], start, piece_start))
                    start = piece_start
                marked = True
        found.append(Span(text[start : statement.end], start, statement.end))
    return found


def _pieces(text: str, start: int, end: int, boundary: re.Pattern[str]) -> list[tuple[int, int]]:
    """Consecutive pieces of text[start:end]; each boundary belongs to the piece it opens."""
    starts = [start, *(match.start() for match in boundary.finditer(text, start, end)), end]
    return [(a, b) for a, b in pairwise(starts) if a < b]


@lru_cache(maxsize=8_192)
def ids_pattern(ids: tuple[str, ...]) -> re.Pattern[str]:
    """Finds passage ids that stand as words of their own, the longest id first."""
    longest_first = sorted(ids, key=len, reverse=True)
    alternatives = "|".join(re.escape(passage_id) for passage_id in longest_first)
    return re.compile(rf"(?<![^\W_])(?:{alternatives})(?![^\W_])", re.IGNORECASE)
