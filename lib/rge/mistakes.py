"""What kind of error an unsupported claim is, and which distractor an answer took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from rge.collected import Collected
from rge.judging import words
from rge.records import Chunk, Distractor, Judgement, Question, Response
from rge.text import numbers
from rge.text.citations import mask_citations, parse_citations
from rge.text.claims import split_sentences
from rge.text.numbers import Quantity

KINDS = (
    "number in no passage",
    "number of another company",
    "number of another year",
    "name in no passage",
    "year in no passage",
    "cites a passage that was not shown",
    "no citation",
    "cited passage does not hold it",
    "wording without support",
)
TAKEN = ("gold value", "distractor", "both", "another value", "no value", "abstained", "no answer")


@dataclass(frozen=True)
class Kind:
    """Kind of error of a claim and the passage that explains it best (None: none is close)."""

    name: str
    passage: Chunk | None


def classify(claim: str, question: Question, passages: Sequence[Chunk], response: Response) -> Kind:
    """The first of `KINDS` that is true of a claim.

    Parameters
    ----------
    claim
        Verbatim slice of the answer.
    question, passages, response
        What was asked, what was shown in rank order, and the whole answer.
    """
    ids = [chunk.chunk_id for chunk in passages]
    plain = mask_citations(claim, ids)
    values = numbers.parse_values(plain)
    absent = [q for q in values if not _holding(q, passages)]
    nearest = _nearest(plain, passages)
    if absent:
        return Kind("number in no passage", nearest)
    foreign = _foreign(values, question, passages)
    if foreign:
        return foreign
    if any(not any(words.has_name(n, _shown(p)) for p in passages) for n in words.names(plain)):
        return Kind("name in no passage", nearest)
    shown_years = {year for p in passages for year in numbers.years(_shown(p))}
    if numbers.years(plain) - shown_years:
        return Kind("year in no passage", nearest)
    cited = parse_citations(_sentence_of(claim, response.text, ids), ids)
    if cited.unknown:
        return Kind("cites a passage that was not shown", nearest)
    if not cited.valid:
        return Kind("no citation", nearest)
    named = [p for p in passages if p.chunk_id in cited.valid]
    if any(not _holding(q, named) for q in values):
        return Kind("cited passage does not hold it", named[0])
    return Kind("wording without support", named[0])


def mistakes(collected: Collected) -> pd.DataFrame:
    """Every claim that a judge reported, with its kind and the passage beside it.

    Returns
    -------
    DataFrame
        One row per response and claim: `subject`, `question_id`, `run_index`, `category`,
        `company`, `fy`, `finding` (``unsupported`` or ``contradiction``), `kind`, `question` (its
        text), `claim`, `judges` (who reported it, comma-separated), and of the nearest passage
        `passage`, `doc_id`, `page`, `passage_text`.
    """
    questions = {question.id: question for question in collected.questions}
    responses = {response.key: response for response in collected.responses}
    rows = []
    for (key, finding, claim), judges in sorted(_reported(collected.judgements).items()):
        question, response = questions[key[0]], responses[key]
        kind = classify(claim, question, collected.passages[question.id], response)
        rows.append(
            {
                "subject": key[1],
                "question_id": key[0],
                "run_index": key[2],
                "category": question.category,
                "company": question.company,
                "fy": question.fy,
                "finding": finding,
                "kind": kind.name,
                "question": question.text,
                "claim": claim,
                "judges": ", ".join(sorted(judges)),
                "passage": kind.passage.chunk_id if kind.passage else None,
                "doc_id": kind.passage.doc_id if kind.passage else None,
                "page": kind.passage.page_start if kind.passage else None,
                "passage_text": kind.passage.text if kind.passage else None,
            }
        )
    names = (
        "subject question_id run_index category company fy finding kind question claim judges "
        "passage doc_id page passage_text"
    )
    return pd.DataFrame(rows, columns=names.split())


def counts_by_kind(found: pd.DataFrame, subjects: Sequence[str], finding: str) -> pd.DataFrame:
    """Claims of one finding per kind (index) and subject (columns); kinds that occur."""
    part = found[found["finding"] == finding]
    table = pd.crosstab(part["kind"], part["subject"])
    order = [kind for kind in KINDS if kind in table.index]
    return table.reindex(index=order, columns=list(subjects), fill_value=0)


def recurring(found: pd.DataFrame) -> pd.DataFrame:
    """Claims about one question that more than one response makes, most frequent first.

    Two claims are the same when they state the same numbers, or, without numbers, the same
    content words.
    """
    if found.empty:
        return pd.DataFrame(columns=["question_id", "claim", "n_responses", "subjects"])
    keyed = found.assign(key=[_fingerprint(claim) for claim in found["claim"]])
    keyed = keyed.drop_duplicates(["question_id", "key", "subject", "run_index"])
    groups = keyed.groupby(["question_id", "key"])
    table = groups.agg(
        claim=("claim", "first"),
        n_responses=("run_index", "size"),
        subjects=("subject", lambda s: ", ".join(sorted(set(s)))),
    ).reset_index()
    table = table[table["n_responses"] > 1].drop(columns="key")
    return table.sort_values(
        ["n_responses", "question_id", "claim"], ascending=[False, True, True]
    ).reset_index(drop=True)


def distractors_taken(collected: Collected) -> pd.DataFrame:
    """For each response to a question with distractors: the gold value, a distractor, or neither.

    Returns
    -------
    DataFrame
        `subject`, `question_id`, `run_index`, `gold_in_context`, `taken` (one of `TAKEN`),
        `distractor` and `why` (of the distractor taken, else None).
    """
    questions = {q.id: q for q in collected.questions if q.distractors}
    shown = {r.question_id: r.gold_in_context for r in collected.retrievals}
    rows = []
    for response in collected.responses:
        question = questions.get(response.question_id)
        if question is None:
            continue
        taken, distractor = taken_value(question, response)
        rows.append(
            {
                "subject": response.subject,
                "question_id": question.id,
                "run_index": response.run_index,
                "gold_in_context": shown.get(question.id),
                "taken": taken,
                "distractor": distractor.value if distractor else None,
                "why": distractor.why if distractor else None,
            }
        )
    names = "subject question_id run_index gold_in_context taken distractor why"
    return pd.DataFrame(rows, columns=names.split())


def taken_value(question: Question, response: Response) -> tuple[str, Distractor | None]:
    """One of `TAKEN`, and the distractor where one was taken."""
    if response.status in ("error", "refused_by_provider"):
        return "no answer", None
    if response.abstained == "refused":
        return "abstained", None
    stated = numbers.parse_values(mask_citations(response.text))
    gold = [numbers.quantity(value.value, value.unit) for value in question.gold_values]
    right = _says(response.text, stated, gold, "" if gold else question.gold_answer)
    wrong = next(
        (
            d
            for d in question.distractors
            if _says(response.text, stated, numbers.parse_values(d.value), d.value)
            and not any(numbers.any_match(numbers.parse_values(d.value), q) for q in gold)
        ),
        None,
    )
    if right and wrong:
        return "both", wrong
    if right or wrong:
        return ("distractor", wrong) if wrong else ("gold value", None)
    return ("another value" if stated else "no value"), None


def _says(text: str, stated: list[Quantity], wanted: list[Quantity], words_wanted: str) -> bool:
    """Whether all wanted numbers are stated or, where there are none, the words are there."""
    if wanted:
        return all(numbers.any_match(stated, quantity) for quantity in wanted)
    plain = words_wanted.strip(" .").casefold()
    return bool(plain) and plain in text.casefold()


def _reported(
    judgements: Iterable[Judgement],
) -> dict[tuple[tuple[str, str, int], str, str], set[str]]:
    """(response key, finding, claim) to the judges who reported it."""
    found: dict[tuple[tuple[str, str, int], str, str], set[str]] = {}
    for judgement in judgements:
        for finding, claims in (
            ("unsupported", judgement.unsupported_claims),
            ("contradiction", judgement.contradictions),
        ):
            for claim in claims:
                found.setdefault((judgement.key[:3], finding, claim), set()).add(judgement.judge)
    return found


def _shown(passage: Chunk) -> str:
    """What a reader sees of a passage: its heading and text, and whose report it is from."""
    return f"{passage.heading}\n{passage.text}\n{passage.company} {passage.fy}"


def _holding(quantity: Quantity, passages: Iterable[Chunk]) -> list[Chunk]:
    """Passages that state a number."""
    return [p for p in passages if numbers.any_match(numbers.parse_values(p.text), quantity)]


def _foreign(
    values: Iterable[Quantity], question: Question, passages: Sequence[Chunk]
) -> Kind | None:
    """A number that only passages of another company, or of another year, state."""
    for quantity in values:
        holders = _holding(quantity, passages)
        own = [p for p in holders if _same(p.company, question.company)]
        if not own:
            return Kind("number of another company", holders[0])
        if not any(_same(p.fy, question.fy) for p in own):
            return Kind("number of another year", own[0])
    return None


def _same(of_passage: str, of_question: str) -> bool:
    """Whether a passage's company or year is (one of) those the question asks about."""
    return of_passage.casefold() in of_question.casefold() or not of_question


def _nearest(claim: str, passages: Sequence[Chunk]) -> Chunk | None:
    """The passage that shares most content words with the claim, the first of equals."""
    content = words.content(claim)
    return max(passages, key=lambda p: words.share(content, words.content(_shown(p))), default=None)


def _sentence_of(claim: str, text: str, ids: Sequence[str]) -> str:
    """The sentences of the answer that the claim stands in, so that their citations count."""
    start = text.find(claim)
    if start < 0:
        return claim
    end = start + len(claim)
    inside = [s for s in split_sentences(text, ids) if s.start < end and s.end > start]
    return text[min(s.start for s in inside) : max(s.end for s in inside)] if inside else claim


def _fingerprint(claim: str) -> str:
    values = sorted(f"{q.value:.6g}{q.unit}" for q in numbers.parse_values(mask_citations(claim)))
    return " ".join(values or sorted(words.content(claim)))
