"""Gold quotes resolved to the chunks that hold them.

Gold quotes are the anchor of a question. They name a page and stand on it verbatim, so gold chunk
ids can be resolved again for any chunk size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rge.corpus_text import CorpusText
from rge.errors import RgeError
from rge.records import Chunk, GoldQuote, Page, Question


@dataclass(frozen=True)
class Anchored:
    """A question with its gold resolved.

    Attributes
    ----------
    question
        With the `gold_source_ids` found, and pages of its quotes where they were looked for.
    problems
        One error a quote that does not resolve.
    moved
        Each quote that stands on another page than it named: quote, old page, new page.
    """

    question: Question
    problems: tuple[RgeError, ...] = ()
    moved: tuple[tuple[GoldQuote, int, int], ...] = ()


def anchor(
    questions: Iterable[Question], chunks: Sequence[Chunk], pages: Sequence[Page]
) -> list[Question]:
    """The questions with `gold_source_ids` resolved from their gold quotes.

    Parameters
    ----------
    questions
        Any ids they have are replaced; those without quotes have none.
    chunks, pages
        Of the corpus.

    Returns
    -------
    list of Question
        For each quote, in order, every chunk that holds it whole (two, where chunks overlap).

    Raises
    ------
    RgeError
        When a quote is not on its page or in no single chunk; the message holds the quote.
    """
    corpus = CorpusText(pages, chunks)
    anchored = []
    for question in questions:
        found = resolve(question, corpus)
        if found.problems:
            raise found.problems[0]
        anchored.append(found.question)
    return anchored


def resolve(question: Question, corpus: CorpusText, *, find_pages: bool = False) -> Anchored:
    """A question with the gold ids its quotes have in a corpus.

    Parameters
    ----------
    find_pages
        Whether a quote that is not on its page, but on exactly one of its document, moves there.
    """
    ids: list[str] = []
    quotes, problems, moved = [], [], []
    for quote in question.gold_quotes:
        placed = _placed(quote, corpus) if find_pages else quote
        if placed.page != quote.page:
            moved.append((quote, quote.page, placed.page))
        problem = _problem(question, placed, corpus)
        if problem is not None:
            problems.append(problem)
        ids += corpus.chunks_with(placed)
        quotes.append(placed)
    update = {"gold_source_ids": tuple(dict.fromkeys(ids)), "gold_quotes": tuple(quotes)}
    return Anchored(question.model_copy(update=update), tuple(problems), tuple(moved))


def _placed(quote: GoldQuote, corpus: CorpusText) -> GoldQuote:
    """The quote on the one page of its document where it stands, else as it is."""
    if corpus.stands(quote):
        return quote
    pages = corpus.pages_with(quote.doc_id, quote.quote)
    return quote.model_copy(update={"page": pages[0]}) if len(pages) == 1 else quote


def _problem(question: Question, quote: GoldQuote, corpus: CorpusText) -> RgeError | None:
    where = f"question {question.id}"
    if (quote.doc_id, quote.page) not in corpus.pages and not corpus.pages_with(
        quote.doc_id, quote.quote
    ):
        known = ", ".join(sorted(corpus.documents))
        found = f"quotes page {quote.page} of {quote.doc_id}, which is not in the corpus"
        return RgeError(where, f"{found}: “{quote.quote}”", allowed=f"documents are {known}")
    if not corpus.stands(quote):
        pages = corpus.pages_with(quote.doc_id, quote.quote)
        others = ", ".join(map(str, pages)) or "none"
        return RgeError(
            where,
            f"its quote is not on page {quote.page} of {quote.doc_id}: “{quote.quote}”",
            allowed=f"text that stands there verbatim, white space aside; pages with it: {others}",
            do="fix the quote or its page",
        )
    if not corpus.chunks_with(quote):
        return RgeError(
            where,
            f"no single chunk holds its quote whole: “{quote.quote}”",
            allowed="a quote no longer than the chunk overlap always fits",
            do="shorten the quote, or give it as two",
        )
    return None
