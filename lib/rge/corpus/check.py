"""Whether the documents of a study are there, are the ones meant, and can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from tqdm import tqdm

from rge.corpus import extract
from rge.corpus.sources import Source, check_document, check_pages
from rge.display import markdown_table
from rge.errors import RgeError
from rge.records import Page


@dataclass(frozen=True)
class DocumentCheck:
    """What is known about one document.

    Attributes
    ----------
    doc_id, status
        As the list of sources has them.
    present
        Whether there is a file in its place.
    hash
        `ok`: the one in the list of sources; `pinned`: the one the first fetch found; `unpinned`:
        nothing says which one it should be; `differs`; None without a file.
    pages, characters
        Of its text; None where it was not read.
    methods
        Number of pages by the reader that gave their text.
    problems, repairs
        Page numbers, counted from 1, by kind of damage left and of damage repaired.
    reason
        Why it cannot be used; empty where it can.
    """

    doc_id: str
    status: str | None
    present: bool
    hash: Literal["ok", "pinned", "unpinned", "differs"] | None
    pages: int | None = None
    characters: int | None = None
    methods: dict[str, int] = field(default_factory=dict)
    problems: dict[str, list[int]] = field(default_factory=dict)
    repairs: dict[str, list[int]] = field(default_factory=dict)
    reason: str = ""


def check_documents(sources: Sequence[Source], folder: Path, cache: Path) -> list[DocumentCheck]:
    """One entry a document; pages are read from the cache where they are in it.

    Parameters
    ----------
    sources
        The documents, with their pins.
    folder, cache
        Where the PDF files and the texts of their pages lie.
    """
    bar = tqdm(sources, desc="check documents", unit="document", leave=False)
    return [check_one(source, folder, cache) for source in bar]


def check_one(source: Source, folder: Path, cache: Path) -> DocumentCheck:
    """What is known about one document; what is wrong with it is in `reason`."""
    path = folder / source.file
    if not path.is_file():
        return DocumentCheck(source.doc_id, source.status, False, None, reason=missing(source))
    try:
        check_document(source, folder)
    except RgeError as error:
        return DocumentCheck(source.doc_id, source.status, True, "differs", reason=str(error))
    pin: dict[str, Literal["ok", "pinned"]] = {"list": "ok", "lock": "pinned"}
    known = pin[source.pin] if source.sha256 else "unpinned"
    pages: list[Page] = []
    reason = ""
    try:
        pages = extract.read_pages(path, source.doc_id, cache)
        check_pages(source, path, len(pages))
    except RgeError as error:
        reason = str(error)
    return DocumentCheck(
        source.doc_id,
        source.status,
        True,
        known,
        len(pages) or None,
        sum(len(page.text) for page in pages) if pages else None,
        {name: len(numbers) for name, numbers in _by(pages, lambda page: (page.method,)).items()},
        _by(pages, lambda page: page.problems),
        _by(pages, lambda page: page.repairs),
        reason,
    )


def missing(source: Source) -> str:
    """Why a document that is not there is not, and what to do about it."""
    if source.places:
        return "no file; run `rge corpus fetch`"
    if source.see:
        return f"no file, and no address of one: see {' or '.join(source.see)}"
    return "no file, and no source is known"


def as_table(checks: Sequence[DocumentCheck]) -> str:
    """A Markdown table with a row a document, and below it why some cannot be used.

    The reasons are plain lines: a table would change addresses that are to be copied.
    """
    rows = [
        {
            "document": check.doc_id,
            "source": check.status or "–",
            "file": "here" if check.present else "missing",
            "hash": check.hash or "–",
            "pages": "–" if check.pages is None else f"{check.pages:,}",
            "characters": "–" if check.characters is None else f"{check.characters:,}",
            "read by": ", ".join(f"{name} {n}" for name, n in check.methods.items()) or "–",
            "problems": _listed(check.problems) or ("see below" if check.reason else "none"),
            "repaired": _listed(check.repairs) or "–",
        }
        for check in checks
    ]
    reasons = [f"{check.doc_id}: {check.reason}" for check in checks if check.reason]
    return "\n".join([markdown_table(pd.DataFrame(rows)), *([""] if reasons else []), *reasons])


def as_json(checks: Iterable[DocumentCheck]) -> dict[str, Any]:
    """The same for machines."""
    entries = [asdict(check) for check in checks]
    n_bad = sum(bool(entry["reason"]) for entry in entries)
    return {"documents": entries, "n_documents": len(entries), "n_bad": n_bad}


def page_ranges(numbers: Sequence[int]) -> str:
    """Ascending page numbers, runs of them shortened: ``3, 17–20``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)


def _listed(kinds: Mapping[str, Sequence[int]]) -> str:
    return "; ".join(f"{kind}: {page_ranges(numbers)}" for kind, numbers in kinds.items())


def _by(pages: Sequence[Page], kinds_of: Callable[[Page], Iterable[str]]) -> dict[str, list[int]]:
    """Page numbers by kind, the most frequent kind first."""
    found: dict[str, list[int]] = {}
    for page in pages:
        for kind in kinds_of(page):
            found.setdefault(kind, []).append(page.page)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))
