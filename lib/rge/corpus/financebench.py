"""Real filings and questions in the FinanceBench format, as this project's sources and questions.

FinanceBench [1]_ has no adversarial and no unanswerable questions, and its evidence text comes from
another extraction tool. Hence:

- a question whose evidence is on one page is `direct`, on two pages or more `multihop`, whatever
  its own type (metrics-generated, domain-relevant, novel-generated), which goes into the notes;
- its gold quote is the evidence text with the page it names (counted from 1 here); it need not
  stand there verbatim, so the gold chunk is the chunk on that page that shares most tokens with it;
- each filing is a company and fy of its own ("amcor", "2023-10k"), since chunk ids begin with them.

References
----------
.. [1] Islam, P., et al. (2023). FinanceBench: A New Benchmark for Financial Question Answering.
   arXiv:2311.11944.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from rge.corpus.sources import Source, check_unique
from rge.errors import RgeError
from rge.records import Chunk, GoldQuote, GoldValue, Question
from rge.store import read_jsonl

# As handed on in one folder, and as the dataset's own repository lays them out.
_DOCUMENTS = ("documents.jsonl", "data/financebench_document_information.jsonl")
_QUESTIONS = ("questions.jsonl", "data/financebench_open_source.jsonl")

_BARE_NUMBER = re.compile(r"^\$?(-?[\d,]+(?:\.\d+)?)\s*(%?)$")
_TOKEN = re.compile(r"\d[\d,.]*|[^\W\d_]+")
_NEAR_BEST = 0.9  # of the best overlap: chunks between which the answer's own words decide
_DIFFICULTY = {"Information extraction": "easy", "Numerical reasoning": "hard"}


class _Document(BaseModel):
    model_config = ConfigDict(extra="ignore")
    doc_name: str
    company: str
    doc_type: str
    doc_period: int
    doc_link: str | None = None


class _Evidence(BaseModel):
    model_config = ConfigDict(extra="ignore")
    evidence_text: str
    doc_name: str
    evidence_page_num: int


class _Item(BaseModel):
    model_config = ConfigDict(extra="ignore")
    financebench_id: str
    company: str
    doc_name: str
    question_type: str
    question_reasoning: str | None = None
    question: str
    answer: str
    justification: str | None = None
    evidence: tuple[_Evidence, ...]


def sources_from_financebench(folder: Path) -> list[Source]:
    """The filings that questions of the set refer to, in the order of its document list.

    Parameters
    ----------
    folder
        Holds the two JSONL files and `pdfs/`.

    Raises
    ------
    RgeError
        When the folder or one of its files is missing or has another form.
    """
    wanted = {evidence.doc_name for item in _items(folder) for evidence in item.evidence}
    path = _file(folder, _DOCUMENTS)
    documents = read_jsonl(path, _Document, key=lambda d: d.doc_name)
    if unknown := wanted - {d.doc_name for d in documents}:
        raise RgeError(path, f"lacks {min(unknown)}, which a question refers to")
    sources = [
        Source(
            doc_id=document.doc_name,
            company=_slug(document.company),
            fy=_year(document.doc_name),
            title=f"{document.company}, {document.doc_type.upper()} {document.doc_period}",
            file=f"{document.doc_name}.pdf",
            url=document.doc_link,
        )
        for document in documents
        if document.doc_name in wanted
    ]
    check_unique(path, sources)
    return sources


def questions_from_financebench(folder: Path) -> list[Question]:
    """All questions of the set, without gold chunk ids (`anchor_by_overlap` finds them).

    Raises
    ------
    RgeError
        As `sources_from_financebench`.
    """
    return [_question(item) for item in _items(folder)]


def anchor_by_overlap(questions: Iterable[Question], chunks: Sequence[Chunk]) -> list[Question]:
    """Questions with one gold chunk for each evidence text: where its tokens are.

    Of the chunks on the page, those that share nearly as many tokens as the best one are
    candidates; among them the one that holds most numbers and words of the answer is taken.

    Raises
    ------
    RgeError
        When no chunk lies on the page.
    """
    on_page: dict[tuple[str, int], list[Chunk]] = {}
    for chunk in chunks:
        for page in range(chunk.page_start, chunk.page_end + 1):
            on_page.setdefault((chunk.doc_id, page), []).append(chunk)
    anchored = []
    for question in questions:
        ids = [_best(q, question, on_page).chunk_id for q in question.gold_quotes]
        anchored.append(question.model_copy(update={"gold_source_ids": tuple(dict.fromkeys(ids))}))
    return anchored


def token_overlap(text: str, other: str) -> float:
    """Shared tokens of two texts, with repeats, as a share of the shorter one's, in [0, 1]."""
    ours, theirs = Counter(_tokens(text)), Counter(_tokens(other))
    shorter = min(ours.total(), theirs.total())
    return (ours & theirs).total() / shorter if shorter else 0.0


def _best(
    quote: GoldQuote, question: Question, on_page: dict[tuple[str, int], list[Chunk]]
) -> Chunk:
    found = on_page.get((quote.doc_id, quote.page), [])
    if not found:
        raise RgeError(
            f"question {question.id}",
            f"no chunk lies on page {quote.page} of {quote.doc_id}, where its evidence is",
            do="see the problems of that page in notebook 01",
        )
    overlaps = [token_overlap(quote.quote, chunk.text) for chunk in found]
    near = [c for c, o in zip(found, overlaps, strict=True) if o >= _NEAR_BEST * max(overlaps)]
    focus = set(_tokens(f"{question.gold_answer} {question.notes}")) & set(_tokens(quote.quote))

    def held(chunk: Chunk) -> tuple[int, int]:
        both = focus & set(_tokens(chunk.text))
        return sum(token[0].isdigit() for token in both), len(both)

    return max(near, key=held)


def _tokens(text: str) -> list[str]:
    """Words in lower case and numbers without separators: "1,577.00" is "1577"."""
    found = []
    for token in _TOKEN.findall(text.lower()):
        if token[0].isdigit():
            token = token.replace(",", "").rstrip(".")
            token = token.rstrip("0").rstrip(".") if "." in token else token
        found.append(token)
    return found


def _question(item: _Item) -> Question:
    quotes = tuple(
        GoldQuote(quote=e.evidence_text, doc_id=e.doc_name, page=e.evidence_page_num + 1)
        for e in item.evidence
    )
    pages = {(quote.doc_id, quote.page) for quote in quotes}
    reasoning = item.question_reasoning or "not given"
    return Question(
        id=item.financebench_id,
        version=1,
        category="direct" if len(pages) == 1 else "multihop",
        text=item.question,
        gold_answer=item.answer,
        gold_values=_values(item.answer, item.question),
        gold_quotes=quotes,
        expected_behavior="answer",
        company=_slug(item.company),
        fy=_year(item.doc_name),
        difficulty=_DIFFICULTY.get(reasoning, "medium"),
        notes=f"{item.question_type}; reasoning: {reasoning}. {item.justification or ''}".strip(),
    )


def _values(answer: str, question: str) -> tuple[GoldValue, ...]:
    """The value of an answer that is one bare number; the unit may stand in the question only."""
    found = _BARE_NUMBER.match(answer.strip())
    if found is None:
        return ()
    unit = "%" if found[2] else ""
    scale = re.search(r"USD (million|billion|thousand)", question)
    if not unit and (scale or answer.strip().startswith("$")):
        unit = f"$ {scale[1]}" if scale else "$"
    return (GoldValue(value=float(found[1].replace(",", "")), unit=unit),)


def _items(folder: Path) -> list[_Item]:
    return read_jsonl(_file(folder, _QUESTIONS), _Item, key=lambda item: item.financebench_id)


def _file(folder: Path, names: Sequence[str]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise RgeError(
        folder,
        f"holds no {names[0]}",
        allowed="a folder with documents.jsonl, questions.jsonl and pdfs/ in the FinanceBench form",
        do="get the data (README, Real filings) and pass its folder with -p corpus_folder PATH",
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _year(doc_name: str) -> str:
    """The part of a document name after the company: "AMCOR_2023_10K" is "2023-10k"."""
    found = re.search(r"(?:19|20)\d\d.*", doc_name)
    return _slug(found[0] if found else doc_name)
