"""Patterns of an items file: untrusted, so they are bounded before and while they run.

The files mean the common ground of JavaScript and Python regular expressions. `regex` runs them
because its searches take a time limit; what only `regex` knows is refused, so that a pattern
means the same everywhere.
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from functools import lru_cache

import regex

from rge.errors import RgeError

TIME_LIMIT_S = 1.0
MAX_LENGTH = 4_000
MAX_REPEATS = 10_000

_COUNTED = re.compile(r"(?<!\\)\{(\d*)(,?)(\d*)\}")
_ODD_BRACE = re.compile(r"(?<!\\)(?:\\\\)*\{(?!\d+(?:,\d*)?\})")
_INTO = r"(?=[\s\S]*"
_LINKED = re.compile(r"\\[1-9]|\(\?P=|\(\?[a-zA-Z-]+[:)]")


@dataclass(frozen=True)
class Span:
    """Text that a pattern matched and where it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern; it matches where each of its parts is found.

    `(?=[\\s\\S]*A)(?=[\\s\\S]*B)` asks for A and B in any order. Its parts are A and B: the same
    verdict in linear instead of quadratic time, and the matched text is known.
    """

    source: str
    where: str
    parts: tuple[regex.Pattern[str], ...]

    def search(self, text: str) -> tuple[Span, ...]:
        """First match of each part; empty when a part is not found.

        Raises
        ------
        RgeError
            When the pattern runs longer than the time limit.
        """
        spans = []
        try:
            for part in self.parts:
                match = part.search(text, timeout=TIME_LIMIT_S)
                if match is None:
                    return ()
                spans.append(Span(match.group(), *match.span()))
        except TimeoutError:
            raise self._too_slow(text) from None
        return tuple(spans)

    def find_all(self, text: str) -> tuple[Span, ...]:
        """Every match of each part; empty when a part is not found."""
        if not self.search(text):
            return ()
        try:
            return tuple(
                Span(match.group(), *match.span())
                for part in self.parts
                for match in part.finditer(text, timeout=TIME_LIMIT_S)
            )
        except TimeoutError:
            raise self._too_slow(text) from None

    def _too_slow(self, text: str) -> RgeError:
        return RgeError(
            self.where,
            f"pattern {self.source!r} ran for more than {TIME_LIMIT_S:g} s"
            f" on a text of {len(text)} characters",
            allowed="a search ends within the time limit",
            do="rewrite the pattern without nested repeats",
        )


@lru_cache(maxsize=8_192)
def compile_pattern(source: str, where: str) -> Pattern:
    """The pattern, ready to search without regard to case.

    Parameters
    ----------
    source
        The pattern as the items file has it.
    where
        File, item and key, for messages.

    Raises
    ------
    RgeError
        When it is not a pattern, or too large to compile safely.
    """
    _check_size(source, where)
    if _ODD_BRACE.search(source):
        raise _refused(where, source, "has a brace that is no repeat count", "\\{ for a brace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(source, re.IGNORECASE)
            parts = tuple(_compile(part) for part in conjuncts(source))
    except (re.error, regex.error, OverflowError, RecursionError, Warning) as error:
        raise _refused(
            where, source, f"does not compile: {error}", "a regular expression"
        ) from None
    return Pattern(source, where, parts)


def conjuncts(source: str) -> tuple[str, ...]:
    """The patterns that must each be found somewhere for `source` to match.

    Another than `source` itself only when it is a row of `(?=[\\s\\S]*…)` whose bodies are no
    alternatives and share no group reference and no inline flag.
    """
    if _LINKED.search(source) or "[]" in source or "[^]" in source:
        return (source,)
    parts, position = [], 0
    while source.startswith(_INTO, position):
        end = _closing(source, position)
        body = source[position + len(_INTO) : end].removeprefix("?")
        if end < 0 or not body or body[0] in "+?" or _closing(f"({body})", 0, stop="|") >= 0:
            return (source,)
        parts.append(body)
        position = end + 1
    return tuple(parts) if parts and position == len(source) else (source,)


def _closing(source: str, start: int, *, stop: str = ")") -> int:
    """Place of the parenthesis that closes the one at `start`, or of a `stop` on its level."""
    depth, in_class, position = 0, False, start
    while position < len(source):
        character = source[position]
        if character == "\\":
            position += 1
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character == "(":
            depth += 1
        elif character == stop and depth == 1:
            return position
        elif character == ")":
            depth -= 1
        position += 1
    return -1


def _compile(source: str) -> regex.Pattern[str]:
    return regex.compile(source, regex.IGNORECASE | regex.VERSION0)


def _check_size(source: str, where: str) -> None:
    """Refuse what would take much time or memory only to compile."""
    if len(source) > MAX_LENGTH:
        found = f"is {len(source)} characters long"
        raise _refused(where, source[:40] + "…", found, f"{MAX_LENGTH} characters")
    counts = [max(int(low or 0), int(high or 0), 1) for low, _, high in _COUNTED.findall(source)]
    if math.prod(counts) > MAX_REPEATS:
        allowed = f"repeat counts whose product is at most {MAX_REPEATS}"
        raise _refused(where, source, "repeats too often", allowed)


def _refused(where: str, source: str, found: str, allowed: str) -> RgeError:
    return RgeError(where, f"pattern {source!r} {found}", allowed=f"allowed: {allowed}")
