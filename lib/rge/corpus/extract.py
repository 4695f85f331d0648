"""Page texts of a PDF, with what was repaired and what could not be.

pypdf reads every page, in the order of its content stream, which keeps the columns of a page apart.
Where its places show that the stream is not the reading order, the page is put right: a table drawn
column by column goes row by row, two columns drawn line by line go one after the other. pdfplumber,
five times slower, is asked where exact boxes are needed (columns, characters drawn twice) or where
pypdf's text is damaged or its rows stay broken, and taken only where its text is measurably better.
Each page records its reader, its repairs and the kinds of damage left.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rge.corpus import columns, pagetext, repair, rupee
from rge.corpus.fragments import Fragment, RawPage, read_fragments
from rge.corpus.printed import with_printed_numbers
from rge.errors import RgeError
from rge.records import Page
from rge.store import read_jsonl, sha256_file, write_jsonl

if TYPE_CHECKING:
    import pdfplumber
    import pypdf

VERSION = "4"  # of the page texts: a new one makes cached pages stale

# What pdfplumber may lose of the numbers pypdf read, and must gain in labelled rows, to be taken.
MIN_NUMBERS_KEPT = 0.98
MIN_WORDS_KEPT = 0.9  # lower, since the two readers cut words at other places
MIN_GAIN = 0.1
MAX_PAGES_OPEN = 640
MAX_NUMBERS_IN_PROSE = 0.08  # of the words of a page that may be two columns of prose
MAX_LABELLED_TO_REREAD = 0.5
UNREADABLE = "unreadable"
# "no text" is not among them: what one reader finds no text on is a picture to the other too.
_SECOND_READER = frozenset({"glyph codes", "spaces missing", repair.DOUBLED, UNREADABLE})


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
    pages, errors = read_documents({doc_id: path}, cache)
    if errors:
        raise errors[doc_id]
    return pages[doc_id]


def read_documents(
    files: Mapping[str, Path],
    cache: Path | None,
    *,
    n_workers: int | None = None,
    progress: Callable[[int], object] = lambda n_pages: None,
) -> tuple[dict[str, list[Page]], dict[str, RgeError]]:
    """Pages of every file that can be read, and one error for each that cannot.

    Parameters
    ----------
    files
        PDF file of each document id.
    cache
        As for `read_pages`; None reads every file anew. A file joins it as soon as it is read.
    n_workers
        Processes; by default one a processor, and none beside this one for few pages.
    progress
        Called with the number of pages just read.
    """
    from rge.corpus.workers import Task, read_tasks, tasks_of

    pages: dict[str, list[Page]] = {}
    errors: dict[str, RgeError] = {}
    tasks: list[Task] = []
    stored: dict[str, Path] = {}
    for doc_id, path in files.items():
        try:
            if cache is not None:
                stored[doc_id] = _stored(path, cache)
                if stored[doc_id].exists():
                    found = read_jsonl(stored[doc_id], Page, key=lambda page: page.page)
                    pages[doc_id] = [p.model_copy(update={"doc_id": doc_id}) for p in found]
                    continue
            tasks += tasks_of(path, doc_id, count_pages(path))
        except RgeError as error:
            errors[doc_id] = error
    left = Counter(task.doc_id for task in tasks)
    read: dict[str, list[Page]] = {}
    for task, found in zip(tasks, read_tasks(tasks, n_workers), strict=True):
        read.setdefault(task.doc_id, []).extend(found)
        progress(len(found))
        left[task.doc_id] -= 1
        if not left[task.doc_id]:
            pages[task.doc_id] = with_printed_numbers(read.pop(task.doc_id))
            if task.doc_id in stored:
                write_jsonl(stored[task.doc_id], pages[task.doc_id])
    return {doc_id: pages[doc_id] for doc_id in files if doc_id in pages}, errors


def extract_pdf(path: Path, doc_id: str, *, n_workers: int | None = None) -> list[Page]:
    """Text of every page of a PDF, in order, with the reader used and the problems left.

    Raises
    ------
    RgeError
        When the file is missing, empty, not a readable PDF, has no pages, or needs a password (an
        empty one is tried).
    """
    pages, errors = read_documents({doc_id: path}, None, n_workers=n_workers)
    if errors:
        raise errors[doc_id]
    return pages[doc_id]


def count_pages(path: Path) -> int:
    """Pages of a PDF.

    Raises
    ------
    RgeError
        As `extract_pdf`.
    """
    with _quiet():
        return len(_open(path).pages)


class Ranges:
    """Reads ranges of pages, one file open at a time."""

    def __init__(self) -> None:
        self.path: Path | None = None
        self.n_read = 0

    def __enter__(self) -> Ranges:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def read(self, path: Path, doc_id: str, start: int, stop: int) -> list[Page]:
        """Pages `start` to `stop` - 1, counted from 0."""
        with _quiet():
            # Both readers keep what they have parsed: a long document is opened again in between.
            if path != self.path or self.n_read >= MAX_PAGES_OPEN:
                self._close()
                self.path, self.reader, self.plumber = path, _open(path), _Plumber(path)
            self.n_read += stop - start
            return [_page(self.reader, self.plumber, n, doc_id) for n in range(start, stop)]

    def _close(self) -> None:
        if self.path is not None:
            self.plumber.close()
            self.reader.close()
        self.path, self.n_read = None, 0


def _stored(path: Path, cache: Path) -> Path:
    if not path.is_file():
        raise _missing(path)
    return cache / f"{sha256_file(path)}-{VERSION}.jsonl"


def _page(reader: pypdf.PdfReader, plumber: _Plumber, index: int, doc_id: str) -> Page:
    """One page: pypdf's text with its repairs, or pdfplumber's where that is measurably better."""
    page = Page(doc_id=doc_id, page=index + 1, text="", method="pypdf", problems=(UNREADABLE,))
    try:
        raw = read_fragments(reader.pages[index])
        fragments, repairs = repair.repaired_text(raw)
    except Exception:  # pypdf raises many kinds on damaged pages; the others must go on
        return _reread(page, plumber, index, raw=None)
    text = pagetext.tidy("".join(fragment.text for fragment in fragments))
    if repair.turned_rate(raw, fragments) >= 0.5:
        repairs = (*repairs, repair.ROTATED)
    page = page.model_copy(
        update={"text": text, "problems": _problems(text, raw), "repairs": repairs}
    )
    shape = pagetext.table_shape(text)
    is_prose = shape.n_numbers <= MAX_NUMBERS_IN_PROSE * shape.n_tokens
    if is_prose and columns.jumps_between_columns(raw):
        page = _in_columns(page, plumber, index)
    if pagetext.table_shape(page.text).has_broken_rows and not repair.has_prose_columns(
        raw, fragments
    ):
        page = _in_rows(page, raw, fragments)
        # Rows that places do not put together, pdfplumber rarely does: it is slow, so last.
        is_bad = pagetext.table_shape(page.text).labelled_rate < MAX_LABELLED_TO_REREAD
        if repair.ROWS not in page.repairs and repair.ROTATED not in repairs and is_bad:
            return _reread(page, plumber, index, raw)
    if _SECOND_READER & set(page.problems) and repair.ROTATED not in repairs:
        return _reread(page, plumber, index, raw)
    return page


def _problems(text: str, raw: RawPage) -> tuple[str, ...]:
    found = pagetext.problems(text)
    if found == (pagetext.NO_TEXT,) and raw.has_image:
        return (pagetext.SCAN,)
    if raw.n_invisible > 0.5 * raw.n_shown:
        found = (*found, pagetext.OCR)
    if repair.turned_rate(raw, raw.fragments, slanted=True) >= 0.5:
        found = (*found, repair.ROTATED)
    return found


def _in_rows(page: Page, raw: RawPage, fragments: list[Fragment]) -> Page:
    """The page with the cells of its tables row by row, where that loses nothing."""
    text = pagetext.tidy(repair.row_text(fragments))
    if not _has_better_rows(text, page.text):
        return page
    return _repaired(page, text, repair.ROWS, problems=_problems(text, raw))


def _in_columns(page: Page, plumber: _Plumber, index: int) -> Page:
    """The page with its two columns one after the other, flagged where that would lose words."""
    text = plumber.columns(index)
    if text is None:
        return page
    if pagetext.words_kept(text, page.text) < MIN_NUMBERS_KEPT:
        return page.model_copy(update={"problems": (*page.problems, repair.COLUMNS)})
    return _repaired(page, text, repair.COLUMNS, method="pdfplumber")


def _reread(page: Page, plumber: _Plumber, index: int, raw: RawPage | None) -> Page:
    """The page as pdfplumber reads it, where that is better; it names what it repaired."""
    damage = tuple(kind for kind in page.problems if kind in _SECOND_READER)
    text = plumber.text(index, once=repair.DOUBLED in damage)
    if text is None:
        return page
    problems = pagetext.problems(text) if raw is None else _problems(text, raw)
    if _SECOND_READER & set(problems) or pagetext.NO_TEXT in problems:
        return page
    if not damage and not _has_better_rows(text, page.text):
        return page
    repairs = [kind for kind in damage if kind != UNREADABLE] or [repair.ROWS]
    page = page.model_copy(update={"repairs": (*page.repairs, *repairs[1:])})
    return _repaired(page, text, repairs[0], problems=problems, method="pdfplumber")


def _repaired(page: Page, text: str, kind: str, **changes: object) -> Page:
    repairs = dict.fromkeys((*page.repairs, kind))
    return page.model_copy(update={"text": text, "repairs": tuple(repairs), **changes})


def _has_better_rows(other: str, text: str) -> bool:
    """Whether more numbers have a label, or far fewer lines are bare, and nothing is lost."""
    new, old = pagetext.table_shape(other), pagetext.table_shape(text)
    gain = new.labelled_rate - old.labelled_rate
    is_better = gain >= MIN_GAIN or (gain >= 0 and old.has_bare_lines and not new.has_bare_lines)
    return (
        is_better
        and pagetext.numbers_kept(other, text) >= MIN_NUMBERS_KEPT
        and pagetext.words_kept(other, text) >= MIN_WORDS_KEPT
    )


class _Plumber:
    """The same file in pdfplumber, opened with the first page that needs it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pdf: pdfplumber.PDF | None = None

    def close(self) -> None:
        if self._pdf is not None:
            self._pdf.close()

    def text(self, index: int, *, once: bool = False) -> str | None:
        """Tidy text of a page, `once` without characters drawn twice; None where that fails."""
        with self._page(index) as page:
            if page is None:
                return None
            return pagetext.tidy((page.dedupe_chars() if once else page).extract_text())
        return None

    def columns(self, index: int) -> str | None:
        """Tidy text of a page with its two columns in order, None where it has no two columns."""
        with self._page(index) as page:
            if page is None:
                return None
            text = columns.column_text(page.extract_words(), float(page.width))
            return None if text is None else pagetext.tidy(text)
        return None

    @contextmanager
    def _page(self, index: int) -> Iterator[pdfplumber.page.Page | None]:
        import pdfplumber

        try:
            if self._pdf is None:
                self._pdf = pdfplumber.open(self.path, password="")
            page = self._pdf.pages[index]
            for char in page.chars:
                char["text"] = rupee.from_font(char["text"], char["fontname"])
            yield page
            page.close()  # its objects would stay in memory until the document is closed
        except Exception:  # the page keeps what pypdf found, with its problems
            return


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
