"""The text of a corpus as questions are checked against it: by page, by chunk, by company.

White space counts as one space everywhere, so that a line break in a page is no difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from rge.records import Chunk, Distractor, GoldQuote, Page
from rge.text import numbers

Place = tuple[str, int]
_AROUND = 40  # characters around digits that may hold their unit


class CorpusText:
    """Pages and chunks of a corpus, ready for looking texts up.

    Parameters
    ----------
    pages, chunks
        Of the corpus and its index.

    Attributes
    ----------
    chunks
        By chunk id.
    pages
        Text by document and PDF page.
    """

    def __init__(self, pages: Sequence[Page], chunks: Sequence[Chunk]) -> None:
        self.pages: dict[Place, str] = {(p.doc_id, p.page): squeeze(p.text) for p in pages}
        self.chunks: dict[str, Chunk] = {chunk.chunk_id: chunk for chunk in chunks}
        self._texts = {chunk.chunk_id: squeeze(chunk.text) for chunk in chunks}
        self._on_page: dict[Place, list[str]] = {}
        for chunk in chunks:
            for number in range(chunk.page_start, chunk.page_end + 1):
                self._on_page.setdefault((chunk.doc_id, number), []).append(chunk.chunk_id)

    @cached_property
    def documents(self) -> list[str]:
        """Ids of the documents, in corpus order."""
        return list(dict.fromkeys(doc_id for doc_id, _ in self.pages))

    @cached_property
    def years(self) -> dict[str, list[str]]:
        """Years of each company's documents, by company."""
        years: dict[str, list[str]] = {}
        for chunk in self.chunks.values():
            if chunk.fy not in years.setdefault(chunk.company, []):
                years[chunk.company].append(chunk.fy)
        return years

    @cached_property
    def everything(self) -> str:
        """All pages as one text."""
        return "\n".join(self.pages.values())

    def documents_of(self, company: str) -> list[str]:
        """Ids of a company's documents."""
        return list(dict.fromkeys(c.doc_id for c in self.chunks.values() if c.company == company))

    def chunks_with(self, quote: GoldQuote) -> list[str]:
        """Ids of the chunks on a quote's page that hold it whole, in corpus order."""
        wanted = squeeze(quote.quote)
        on_page = self._on_page.get((quote.doc_id, quote.page), [])
        return [chunk_id for chunk_id in on_page if wanted in self._texts[chunk_id]]

    def stands(self, quote: GoldQuote) -> bool:
        """Whether a quote stands verbatim on its page."""
        return squeeze(quote.quote) in self.pages.get((quote.doc_id, quote.page), "")

    def pages_with(self, doc_id: str, text: str) -> list[int]:
        """Pages of a document on which a text stands verbatim."""
        wanted = squeeze(text)
        return [n for (doc, n), page in self.pages.items() if doc == doc_id and wanted in page]

    def places_of(self, text: str, documents: Sequence[str]) -> list[Place]:
        """Document and page wherever a text stands in the documents, whatever its case."""
        wanted = squeeze(text).casefold()
        return [
            place
            for place, folded in self._folded.items()
            if place[0] in documents and wanted in folded
        ]

    def chunk_holds(self, chunk_id: str, quote: GoldQuote) -> bool:
        """Whether a chunk of the corpus holds a quote whole, wherever it comes from."""
        return squeeze(quote.quote) in self._texts[chunk_id]

    def rank_of(self, distractor: Distractor, shown: Sequence[str]) -> int | None:
        """Place, from 1, of the first chunk in which a distractor's value stands, or None."""
        for rank, chunk_id in enumerate(shown, 1):
            if stands_in(self._texts[chunk_id], distractor.value):
                return rank
        return None

    @cached_property
    def _folded(self) -> dict[Place, str]:
        return {place: text.casefold() for place, text in self.pages.items()}


def squeeze(text: str) -> str:
    """The text with every run of white space as one space, none at the ends."""
    return " ".join(text.split())


def stands_in(text: str, value: str) -> bool:
    """Whether a distractor's value stands in a text: verbatim, or with its numbers as printed.

    A table gives the unit of "₹4,512.30 crore" in its heading and the digits in its rows; another
    unit is another value.

    Parameters
    ----------
    text
        With single spaces, as `squeeze` leaves it.
    """
    if _find(text, squeeze(value)) is not None:
        return True
    wanted = [one for one in numbers.parse_values(value) if re.search(r"\d", one.text)]
    return bool(wanted) and all(_number_stands(text, one) for one in wanted)


def _number_stands(text: str, wanted: numbers.Quantity) -> bool:
    (digits, *_) = re.findall(r"\d[\d,]*(?:\.\d+)?", wanted.text)
    match = _find(text, digits)
    while match is not None:
        start = max(0, match.start() - _AROUND)
        near = numbers.parse_values(text[start : match.end() + _AROUND])
        if any(digits in one.text and numbers.matches(one, wanted, 1e-9) for one in near):
            return True
        match = _find(text, digits, match.end())
    return False


def _find(text: str, value: str, start: int = 0) -> re.Match[str] | None:
    """The value where no letter or digit goes on before or after it."""
    pattern = rf"(?<![^\W_]){re.escape(value)}(?![^\W_]|[.,]\d)"
    if value[:1].isdigit():
        pattern = rf"(?<![\d.,]){re.escape(value)}(?!\d|[.,]\d)"
    return re.compile(pattern).search(text, start)
