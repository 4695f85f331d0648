"""Grading by fixed patterns alone: no judge, no network, the same verdict every time.

The five rules are those of the public grounding board. What its description leaves open is fixed
here and listed in data/board/README.md: patterns ignore case; a passage id is a word of its own;
a value is attributed within its own statement; a clause is a statement cut at contrasts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rge.board.answer_text import Prepared, clauses, prepare, statements
from rge.board.items import Board, Check, Item
from rge.board.patterns import Span
from rge.errors import RgeError

SHORTEST_REFUSAL = 20

Reason = Literal[
    "passed",
    "forbidden-content",
    "expected-missing",
    "too-short",
    "no-decline",
    "value-not-in-passages",
    "value-not-attributed",
    "citation-missing",
    "wrong-citation",
]
Found = tuple[tuple[str, Span], ...]


@dataclass(frozen=True)
class Evidence:
    """What was matched, as the rules read it, and its place in the raw answer.

    `what` is expected, forbidden, decline, attribution, exclusion, citation or other-citation.
    """

    what: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Grade:
    """Verdict on one answer: the deciding reason, the same in words, and the evidence."""

    item_id: str
    check: Check
    passed: bool
    reason: Reason
    detail: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class BoardGrade:
    """Verdicts on one complete run, in item order; `k` of `n` items are passed."""

    grades: tuple[Grade, ...]
    content_sha256: str

    @property
    def k(self) -> int:
        return sum(grade.passed for grade in self.grades)

    @property
    def n(self) -> int:
        return len(self.grades)


def grade(item: Item, answer: str) -> Grade:
    """Verdict on one answer by the item's patterns.

    Parameters
    ----------
    item
        The item that was asked.
    answer
        What the subject returned, raw.

    Raises
    ------
    RgeError
        When a pattern runs longer than its time limit; the message names the item.
    """
    prepared = prepare(answer)
    if item.ragqa.check == "must-refuse":
        return _must_refuse(item, prepared)
    if found := _match(item, "forbidden", prepared.text):
        detail = f"says what it must not: {found[0][1].text!r}"
        return _verdict(item, prepared, "forbidden-content", detail, found)
    if item.ragqa.check == "must-cite":
        return _must_cite(item, prepared)
    return _must_match(item, prepared, ())


def grade_all(board: Board, answers: Iterable[tuple[str, str]]) -> BoardGrade:
    """Verdicts on one answer per item.

    Parameters
    ----------
    board
        The items.
    answers
        Pairs of item id and raw answer, in any order.

    Raises
    ------
    RgeError
        When an id is missing, unknown or repeated: the run is discarded, no score is given.
    """
    pairs = list(answers)
    counts = Counter(item_id for item_id, _ in pairs)
    known = [item.id for item in board]
    problems = {
        "missing": [item_id for item_id in known if item_id not in counts],
        "unknown": [item_id for item_id in counts if item_id not in set(known)],
        "repeated": [item_id for item_id, n in counts.items() if n > 1],
    }
    found = ", ".join(f"{kind} ids {', '.join(ids)}" for kind, ids in problems.items() if ids)
    if found:
        raise RgeError(
            f"{board.slug} {board.version}",
            found,
            allowed=f"exactly one answer for each of the {len(known)} items",
            do="the run is discarded: run all items again",
        )
    by_id = dict(pairs)
    return BoardGrade(tuple(grade(item, by_id[item.id]) for item in board), board.content_sha256)


def _must_match(item: Item, prepared: Prepared, before: Found) -> Grade:
    """Rule 3, and the last part of rule 5."""
    found = _match(item, "expected", prepared.text)
    if not found:
        detail = "no expected pattern matches"
        return _verdict(item, prepared, "expected-missing", detail, before)
    return _verdict(item, prepared, "passed", "an expected pattern matches", before + found)


def _must_refuse(item: Item, prepared: Prepared) -> Grade:
    """Rule 4."""
    length = len(prepared.text.strip())
    if length < SHORTEST_REFUSAL:
        detail = f"{length} characters are an outage, a refusal has {SHORTEST_REFUSAL} or more"
        return _verdict(item, prepared, "too-short", detail, ())
    found = _match(item, "decline", prepared.text)
    if not found:
        return _verdict(item, prepared, "no-decline", "no decline pattern matches", ())
    for pattern in item.patterns("forbidden"):
        values = pattern.find_all(prepared.text)
        in_passages = {_plain(span.text) for span in pattern.find_all(item.passage_text)}
        spoken = statements(prepared.text) if values else []
        for value in values:
            stated: Found = (("forbidden", value),)
            if _plain(value.text) not in in_passages:
                detail = f"states {value.text!r}, which no passage holds"
                return _verdict(item, prepared, "value-not-in-passages", detail, stated)
            place = next((s for s in spoken if s.start <= value.start < s.end), value)
            attributed = _match(item, "attribution", prepared.text, place)
            if not attributed:
                detail = f"states {value.text!r} without saying what it belongs to"
                return _verdict(item, prepared, "value-not-attributed", detail, stated)
            found += stated + attributed
    return _verdict(item, prepared, "passed", "declines, and attributes what it states", found)


def _plain(value: str) -> str:
    return " ".join(value.casefold().split())


def _must_cite(item: Item, prepared: Prepared) -> Grade:
    """Rule 5."""
    expected = (item.ragqa.expected_citation or "").casefold()
    named = [Span(m.group(), *m.span()) for m in item.cited_ids.finditer(prepared.text)]
    right = [span for span in named if span.text.casefold() == expected]
    others = [span for span in named if span.text.casefold() != expected]
    if not right:
        detail = f"does not name {item.ragqa.expected_citation}"
        found = tuple(("other-citation", span) for span in others)
        return _verdict(item, prepared, "citation-missing", detail, found)
    found = (("citation", right[0]),)
    for clause in clauses(prepared.text, item.cited_ids) if others else ():
        inside = [span for span in others if clause.start <= span.start < clause.end]
        ruled_out = _match(item, "exclusion", prepared.text, clause) if inside else ()
        named_here = tuple(("other-citation", span) for span in inside)
        if inside and not ruled_out:
            detail = f"names {inside[0].text} without ruling it out"
            return _verdict(item, prepared, "wrong-citation", detail, named_here)
        found += named_here + ruled_out
    return _must_match(item, prepared, found)


def _match(item: Item, kind: str, text: str, within: Span | None = None) -> Found:
    """What the first matching pattern of a kind matched, in `text` or inside one span of it."""
    offset = within.start if within else 0
    for pattern in item.patterns(kind):
        if spans := pattern.search(within.text if within else text):
            return tuple((kind, Span(s.text, s.start + offset, s.end + offset)) for s in spans)
    return ()


def _verdict(item: Item, prepared: Prepared, reason: Reason, detail: str, found: Found) -> Grade:
    evidence = tuple(Evidence(what, span.text, *prepared.raw_span(span)) for what, span in found)
    return Grade(item.id, item.ragqa.check, reason == "passed", reason, detail, evidence)
