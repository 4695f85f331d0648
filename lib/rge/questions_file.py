"""A question file as it stands: its lines with their numbers, every fault told, edited in place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rge.anchoring import Anchored, resolve
from rge.corpus_text import CorpusText
from rge.errors import RgeError, UsageError
from rge.records import Question


@dataclass(frozen=True)
class Line:
    """One line of a file.

    Attributes
    ----------
    number
        From 1.
    text
        As it stands, without its newline.
    question
        None where the line is no question.
    problem
        What is wrong then.
    """

    number: int
    text: str
    question: Question | None = None
    problem: str = ""


@dataclass(frozen=True)
class Anchoring:
    """A file with its gold resolved.

    Attributes
    ----------
    text
        The whole new content.
    changed
        Ids of the questions whose line changes.
    moved
        A sentence for each quote that now names another page.
    problems
        An error for each quote that does not resolve and each line that is no question.
    n_unanchored
        Questions left as they are, because a document of theirs is not in the corpus.
    """

    text: str
    changed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    n_unanchored: int = 0


def read_lines(path: Path) -> list[Line]:
    """The lines of a question file, those that are no question with what is wrong.

    Empty lines are left out.

    Raises
    ------
    UsageError
        When there is no such file.
    RgeError
        When nothing is in it.
    """
    if not path.is_file():
        raise UsageError(path, "no such file", do="name a file with one question a line")
    texts = path.read_text(encoding="utf-8").split("\n")
    lines = [_line(number, text) for number, text in enumerate(texts, 1) if text.strip()]
    if not lines:
        raise RgeError(path, "holds no questions")
    return lines


def _line(number: int, text: str) -> Line:
    try:
        return Line(number, text, Question.model_validate_json(text))
    except ValidationError as error:
        return Line(number, text, problem=problems_of(error))


def problems_of(error: ValidationError) -> str:
    """Everything pydantic found, as `key: message, got value`, joined by semicolons."""
    found = []
    for problem in error.errors(include_url=False):
        place = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"][:1].lower() + problem["msg"][1:]
        if problem["type"] not in {"missing", "extra_forbidden", "json_invalid"}:
            got = repr(problem["input"])
            message += f", got {got if len(got) <= 60 else got[:57] + '…'}"
        found.append(f"{place}: {message}" if place else message)
    return "; ".join(found)


def anchor_file(path: Path, corpus: CorpusText, *, find_pages: bool = False) -> Anchoring:
    """A question file with `gold_source_ids` resolved from its gold quotes; nothing is written.

    Lines that stay the same keep every byte; in the others the order of keys is kept. A question
    with status `unanchored` loses it when the corpus holds its documents.

    Parameters
    ----------
    find_pages
        Whether a quote that is not on its page, but on exactly one of its document, moves there.
    """
    new = _Edits()
    for line in read_lines(path):
        where = f"{path}:{line.number}"
        if line.question is None:
            new.problems.append(f"{where}: not a question: {line.problem}")
            new.texts.append(line.text)
            continue
        question = line.question
        # A question without gold has its documents here when its company and year are.
        here = question.fy in corpus.years.get(question.company, ()) and all(
            quote.doc_id in corpus.documents for quote in question.gold_quotes
        )
        if question.status == "unanchored" and not here:
            new.n_unanchored += 1
            new.texts.append(line.text)
            continue
        found = resolve(question, corpus, find_pages=find_pages)
        new.problems += [f"{where}: {problem}" for problem in found.problems]
        new.moved += [
            f"{where}: question {question.id}: page {old} of {quote.doc_id} is now {page}: "
            f"“{quote.quote}”"
            for quote, old, page in found.moved
        ]
        new.texts.append(_edited(line.text, found))
        if new.texts[-1] != line.text:
            new.changed.append(question.id)
    return Anchoring(
        "".join(f"{text}\n" for text in new.texts),
        tuple(new.changed),
        tuple(new.moved),
        tuple(new.problems),
        new.n_unanchored,
    )


@dataclass
class _Edits:
    texts: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    n_unanchored: int = 0


def _edited(text: str, found: Anchored) -> str:
    """The line with its ids, pages and status; the same text where none of them changes."""
    given: dict[str, Any] = json.loads(text)
    fields = dict(given)
    ids = list(found.question.gold_source_ids)
    if fields.get("gold_source_ids", []) != ids:
        fields = _with_ids(fields, ids)
    if found.moved:
        quotes = zip(fields["gold_quotes"], found.question.gold_quotes, strict=True)
        fields["gold_quotes"] = [{**old, "page": new.page} for old, new in quotes]
    if not found.problems:
        fields.pop("status", None)
    return text if fields == given else json.dumps(fields, ensure_ascii=False)


def _with_ids(fields: dict[str, Any], ids: Sequence[str]) -> dict[str, Any]:
    """The fields with `gold_source_ids` set; a new key stands before the quotes."""
    if "gold_source_ids" in fields:
        return {**fields, "gold_source_ids": list(ids)}
    new: dict[str, Any] = {}
    for key, value in fields.items():
        if key == "gold_quotes":
            new["gold_source_ids"] = list(ids)
        new[key] = value
    return new
