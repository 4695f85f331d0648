"""Page texts of a PDF: pypdf, and pdfplumber where pypdf breaks the rows of a table.

pypdf follows the content stream, which keeps the columns of a page apart, but some PDFs draw a
table cell by cell, so that a number ends up on another line than its label. pdfplumber puts
together what stands at one height: right for such tables, wrong for two columns of prose. It is
therefore tried only where pypdf's text fails a check (`pagetext`), and taken only where its own
text is measurably better. Each page records which reader gave its text.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rge.corpus import pagetext
from rge.errors import RgeError
from rge.records import Page
from rge.store import read_jsonl, sha256_file, write_jsonl

if TYPE_CHECKING:
    import pdfplumber
    import pypdf

VERSION = "2"  # of the page texts: a new one makes cached pages stale

# What pdfplumber may lose of the numbers pypdf read, and must gain in labelled rows, to be taken.
MIN_NUMBERS_KEPT = 0.98
MIN_GAIN = 0.1
UNREADABLE = "unreadable"
_SECOND_READER = frozenset({"no text", "glyph codes", "spaces missing", UNREADABLE})


def read_pages(path: Path, doc_id: str, cache: Path) -> list[Page]:
    """Pages of a PDF, from the cache where the same file was read before.

    Parameters
    ----------
    path
        The PDF file.
    doc_id
        Id the pages carry.
    cache
        Folder of `<sha256 of the file>-<extractor version>.jsonl` files.

    Raises
    ------
    RgeError
        As `extract_pdf`.
    """
    if not path.is_file():
        raise _missing(path)
    stored = cache / f"{sha256_file(path)}-{VERSION}.jsonl"
    if stored.exists():
        pages = read_jsonl(stored, Page, key=lambda page: page.page)
        return [page.model_copy(update={"doc_id": doc_id}) for page in pages]
    pages = extract_pdf(path, doc_id)
    write_jsonl(stored, pages)
    return pages


def extract_pdf(path: Path, doc_id: str) -> list[Page]:
    """Text of every page of a PDF, in order, with the reader used and the problems left.

    Raises
    ------
    RgeError
        When the file is missing, empty, not a readable PDF, has no pages, or needs a password (an
        empty one is tried).
    """
    with _quiet():
        reader = _open(path)
        with _Plumber(path) as plumber:
            return [_page(reader, plumber, number, doc_id) for number in range(len(reader.pages))]


def _page(reader: pypdf.PdfReader, plumber: _Plumber, index: int, doc_id: str) -> Page:
    try:
        text = pagetext.tidy(reader.pages[index].extract_text())
        problems = pagetext.problems(text)
    except Exception:  # pypdf raises many kinds on damaged pages; the others must go on
        text, problems = "", (UNREADABLE,)
    shape = pagetext.table_shape(text)
    page = Page(doc_id=doc_id, page=index + 1, text=text, method="pypdf", problems=problems)
    if not (shape.has_broken_rows or _SECOND_READER & set(problems)):
        return page
    other = plumber.text(index)
    if other is None or not _is_better(other, text, problems):
        return page
    update = {"text": other, "method": "pdfplumber", "problems": pagetext.problems(other)}
    return page.model_copy(update=update)


def _is_better(other: str, text: str, problems: tuple[str, ...]) -> bool:
    if pagetext.problems(other):
        return False
    if _SECOND_READER & set(problems):
        return True
    gain = pagetext.table_shape(other).labelled_rate - pagetext.table_shape(text).labelled_rate
    return gain >= MIN_GAIN and pagetext.numbers_kept(other, text) >= MIN_NUMBERS_KEPT


class _Plumber:
    """The same file in pdfplumber, opened with the first page that needs it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pdf: pdfplumber.PDF | None = None

    def __enter__(self) -> _Plumber:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pdf is not None:
            self._pdf.close()

    def text(self, index: int) -> str | None:
        """Tidy text of a page, None where pdfplumber fails too."""
        import pdfplumber

        try:
            if self._pdf is None:
                self._pdf = pdfplumber.open(self.path, password="")
            page = self._pdf.pages[index]
            text = pagetext.tidy(page.extract_text())
            page.close()  # its objects would stay in memory until the document is closed
        except Exception:  # the page keeps what pypdf found, with its problems
            return None
        return text


def _open(path: Path) -> pypdf.PdfReader:
    import pypdf

    if not path.is_file():
        raise _missing(path)
    if path.stat().st_size == 0:
        raise RgeError(path, "is empty", do="get the document again")
    try:
        reader = pypdf.PdfReader(path)
        locked = reader.is_encrypted and not reader.decrypt("")
        n_pages = 0 if locked else len(reader.pages)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RgeError(
            path,
            f"not a readable PDF ({reason[:120]})",
            allowed="a whole PDF file",
            do="get the document again",
        ) from None
    if locked:
        raise RgeError(
            path, "is protected by a password", do="put a copy without a password in its place"
        )
    if n_pages == 0:
        raise RgeError(path, "has no pages", do="get the document again")
    return reader


def _missing(path: Path) -> RgeError:
    return RgeError(path, "no such file", do="put the document there, or fix its entry's `file`")


@contextmanager
def _quiet() -> Iterator[None]:
    """Both readers log every oddity of a file; what matters is in a page's problems."""
    loggers = [logging.getLogger(name) for name in ("pypdf", "pdfminer")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
