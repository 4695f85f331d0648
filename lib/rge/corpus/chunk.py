"""Chunks of a document: windows of tokens with content-addressed ids.

A chunk holds at most `size` tokens and repeats at least `overlap` tokens of the one before. Cuts
fall on a line end where the last `overlap` tokens of the window hold one, else on white space, so
that no row, word or number ("1,08" of "1,08,532.45") is cut in two unless it is longer than that.
A page whose text is no text (`UNUSABLE` problems) gives no chunks.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rge.corpus.headings import find_headings
from rge.errors import RgeError
from rge.records import Chunk, Page

if TYPE_CHECKING:
    import tiktoken

VERSION = "1"  # of the cuts: a new one gives other chunks
UNUSABLE = frozenset({"glyph codes", "unreadable"})  # pages whose text would be noise in an index


@dataclass(frozen=True)
class Window:
    """What an embedding model reads of a text before it would cut it off.

    Attributes
    ----------
    n_pieces
        Counts the model's own tokens of a text, special tokens included.
    max_pieces
        The most it reads.
    """

    n_pieces: Callable[[str], int]
    max_pieces: int


@dataclass(frozen=True)
class Cut:
    """Chunks of one document, in order.

    Attributes
    ----------
    chunks
        Each text once.
    n_repeated
        Windows left out because their text stands in an earlier chunk.
    n_shortened
        Chunks made shorter than `size` asks, because the embedder counts more pieces than tokens.
    """

    chunks: list[Chunk]
    n_repeated: int
    n_shortened: int


def chunk_document(
    pages: Sequence[Page],
    *,
    company: str,
    fy: str,
    size: int,
    overlap: int,
    encoding: tiktoken.Encoding,
    window: Window | None = None,
) -> list[Chunk]:
    """Chunks of one document, as `cut_document` without its counts."""
    return cut_document(
        pages, company=company, fy=fy, size=size, overlap=overlap, encoding=encoding, window=window
    ).chunks


def cut_document(
    pages: Sequence[Page],
    *,
    company: str,
    fy: str,
    size: int,
    overlap: int,
    encoding: tiktoken.Encoding,
    window: Window | None = None,
) -> Cut:
    """Chunks of one document with what was left out and shortened.

    Parameters
    ----------
    pages
        All pages of one document, in order.
    company, fy
        Of the document; they begin every chunk id.
    size, overlap
        Tokens: at most `size` a chunk, at least `overlap` shared with the one before.
    encoding
        Counts the tokens.
    window
        Where given, a chunk the embedder could not read whole ends earlier.

    Raises
    ------
    RgeError
        When two different texts get one chunk id, or a single token is too long for the embedder.
    """
    document = _Document(pages, encoding)
    chunks: dict[str, Chunk] = {}
    n_repeated = n_shortened = 0
    for start, end, shortened in _windows(document, size, overlap, window):
        chunk = document.chunk(start, end, company, fy)
        if chunk is None:
            continue
        same = chunks.setdefault(chunk.chunk_id, chunk)
        if same.text != chunk.text:
            raise RgeError(
                f"{chunk.doc_id}, page {chunk.page_start}",
                f"chunk id {chunk.chunk_id} stands for another text on page {same.page_start} too",
                do="change chunking.size or overlap by a few tokens",
            )
        n_repeated += same is not chunk
        n_shortened += same is chunk and shortened
    return Cut(list(chunks.values()), n_repeated, n_shortened)


def holds(text: str, quote: str) -> bool:
    """Whether `text` holds `quote` verbatim, white space aside."""
    return " ".join(quote.split()) in " ".join(text.split())


class _Document:
    """The joined text of a document with its token boundaries as character offsets."""

    def __init__(self, pages: Sequence[Page], encoding: tiktoken.Encoding) -> None:
        self.pages, self.encoding = pages, encoding
        texts = ["" if UNUSABLE & set(page.problems) else page.text for page in pages]
        self.text = "\n".join(texts)
        self.page_starts = [0]
        for text in texts[:-1]:
            self.page_starts.append(self.page_starts[-1] + len(text) + 1)
        tokens = encoding.encode_ordinary(self.text)
        # A character of several tokens counts to the first: no cut goes through a character.
        _, starts = encoding.decode_with_offsets(tokens)
        self.offsets = [*starts, len(self.text)]
        self.n_tokens = len(tokens)
        headings = find_headings(texts)
        self.heading_starts = [self.page_starts[page] + at for page, at, _ in headings]
        self.headings = [heading for _, _, heading in headings]

    def slice(self, start: int, end: int) -> str:
        return self.text[self.offsets[start] : self.offsets[end]].strip()

    def boundary(self, position: int, reach: int, floor: int) -> int:
        """The last good place for a cut in (floor, position], `position` where there is none."""
        for token in range(position, max(position - reach, floor), -1):
            if self.text[self.offsets[token] - 1] == "\n":
                return token
        for token in range(position, floor, -1):
            at = self.offsets[token]
            if self.text[at - 1].isspace() or self.text[at : at + 1].isspace():
                return token
        return position

    def chunk(self, start: int, end: int, company: str, fy: str) -> Chunk | None:
        """The chunk of a token range, None where it is white space only."""
        raw = self.text[self.offsets[start] : self.offsets[end]]
        text = raw.strip()
        if not text:
            return None
        first = self.offsets[start] + len(raw) - len(raw.lstrip())
        last = first + len(text) - 1
        heading = bisect_right(self.heading_starts, first) - 1
        digest = hashlib.sha1(text.encode("utf-8")).hexdigest()[:8]
        return Chunk(
            chunk_id=f"{company}-{fy}-{digest}",
            company=company,
            fy=fy,
            doc_id=self.pages[0].doc_id,
            page_start=self._page_at(first),
            page_end=self._page_at(last),
            heading=self.headings[heading] if heading >= 0 else "",
            text=text,
            n_tokens=len(self.encoding.encode_ordinary(text)),
        )

    def _page_at(self, offset: int) -> int:
        return self.pages[bisect_right(self.page_starts, offset) - 1].page


def _windows(
    document: _Document, size: int, overlap: int, window: Window | None
) -> Iterator[tuple[int, int, bool]]:
    """Token ranges of the chunks, and whether the embedder made one shorter."""
    start, last = 0, document.n_tokens
    while start < last:
        length, end, shortened = size, _end(document, start, size, overlap), False
        while reason := _too_long(document, start, end, size, window):
            if end - start == 1:
                raise RgeError(
                    document.pages[0].doc_id,
                    f"the embedder reads the token {document.slice(start, end)!r} in part only",
                    do="choose another embedder",
                )
            shortened = shortened or reason == "pieces"
            length = max(1, min(length, end - start) * (3 if reason == "pieces" else 4) // 4)
            length -= reason == "tokens"
            end = _end(document, start, max(1, length), overlap)
        yield start, end, shortened
        if end == last:
            return
        # A shortened chunk may be no longer than the overlap; the next one then follows without.
        target = end - overlap if end - overlap > start else end
        start = document.boundary(target, overlap, start)


def _end(document: _Document, start: int, length: int, overlap: int) -> int:
    target = start + length
    if target >= document.n_tokens:
        return document.n_tokens
    return document.boundary(target, overlap, start + min(overlap, length - 1))


def _too_long(
    document: _Document, start: int, end: int, size: int, window: Window | None
) -> str | None:
    """Which limit a token range breaks: a cut can change how the text at its ends is tokenised."""
    text = document.slice(start, end)
    if len(document.encoding.encode_ordinary(text)) > size:
        return "tokens"
    if window is not None and window.n_pieces(text) > window.max_pieces:
        return "pieces"
    return None
