"""How much of the evidence that people copied out of filings the extracted pages hold.

FinanceBench names, for each question, the page an answer stands on and the text copied from it. An
extraction that loses or garbles words fails here, whether or not it raised an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rge.corpus.financebench import _tokens as tokens
from rge.records import GoldQuote, Page

MIN_SHARE = 0.9


@dataclass(frozen=True)
class Coverage:
    """Evidence texts found on their pages.

    Attributes
    ----------
    shares
        Of each evidence text, the share of its tokens that stand on its page, in [0, 1].
    missing
        Evidence texts whose page was not extracted, which have no share.
    """

    shares: Sequence[tuple[GoldQuote, float]]
    missing: Sequence[GoldQuote]

    @property
    def n_found(self) -> int:
        """Evidence texts with at least 90 % of their tokens on the page."""
        return sum(share >= MIN_SHARE for _, share in self.shares)

    @property
    def n(self) -> int:
        """Evidence texts whose page was extracted."""
        return len(self.shares)

    @property
    def rate(self) -> float | None:
        """`n_found` of `n`; None without evidence."""
        return self.n_found / self.n if self.n else None


def evidence_coverage(
    quotes: Iterable[GoldQuote], pages: Mapping[str, Mapping[int, Page]]
) -> Coverage:
    """The share of each evidence text's tokens that its page holds.

    Parameters
    ----------
    quotes
        Evidence texts with document id and PDF page, from 1.
    pages
        Pages of each document id by their number; a document may be there in part.
    """
    shares: list[tuple[GoldQuote, float]] = []
    missing: list[GoldQuote] = []
    for quote in quotes:
        page = pages.get(quote.doc_id, {}).get(quote.page)
        if page is None:
            missing.append(quote)
        else:
            shares.append((quote, token_share(quote.quote, page.text)))
    return Coverage(tuple(shares), tuple(missing))


def token_share(text: str, page: str) -> float:
    """Share of the tokens of `text`, counted with repeats, that `page` holds, in [0, 1]."""
    wanted, there = Counter(tokens(text)), Counter(tokens(page))
    n = wanted.total()
    return (wanted & there).total() / n if n else 0.0
