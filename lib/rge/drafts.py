"""A draft question read, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from rge.anchoring import resolve
from rge.corpus_text import CorpusText, squeeze
from rge.gold_numbers import derivations
from rge.questions_file import problems_of
from rge.records import GoldQuote, Question
from rge.validation import ALIKE, CLOSE, RULES


@dataclass(frozen=True)
class Verdict:
    """What the desk found out about a draft.

    Attributes
    ----------
    id
        Of the draft, or "?".
    problems
        What has to be mended before the draft can join the set.
    question
        The draft with its gold chunk ids; None where it is not a question yet.
    gold
        For each gold quote, its rank among the passages (from 1) or None.
    distractors
        The same for each distractor's value.
    similarity
        Cosine of the question to its nearest chunk.
    numbers
        How each gold number follows from the quotes.
    nearest
        The most similar other question and the cosine to it; None where there is no other.
    """

    id: str
    problems: tuple[str, ...]
    question: Question | None = None
    gold: tuple[int | None, ...] = ()
    distractors: tuple[tuple[str, int | None], ...] = ()
    similarity: float = 0.0
    numbers: tuple[str, ...] = ()
    nearest: tuple[str, float] | None = None

    @property
    def ok(self) -> bool:
        return not self.problems

    @property
    def gold_shown(self) -> bool:
        """Whether some gold stands among the passages."""
        return any(self.gold)

    @property
    def distractor_shown(self) -> bool:
        """Whether some declared distractor stands among the passages."""
        return any(rank for _, rank in self.distractors)

    def __str__(self) -> str:
        """A line on the retrieval, then one a problem."""
        if self.question is None:
            facts = ["not a question yet"]
        else:
            facts = [self.question.category, f"nearest passage {self.similarity:.2f}"]
        if self.gold:
            n = sum(rank is not None for rank in self.gold)
            facts.append(f"gold {n} of {len(self.gold)} in passages{_ranks(self.gold)}")
        if self.distractors:
            shown = [f"{value} at {rank}" for value, rank in self.distractors if rank]
            facts.append(f"distractors {', '.join(shown) or 'none shown'}")
        if self.nearest:
            facts.append(f"likest {self.nearest[0]} {self.nearest[1]:.2f}")
        facts += self.numbers
        lines = [f"{'ok  ' if self.ok else 'FAIL'} {self.id}: {'; '.join(facts)}"]
        return "\n".join([*lines, *(f"     - {problem}" for problem in self.problems)])


def judge(
    question: Question,
    corpus: CorpusText,
    shown: Sequence[str],
    similarity: float,
    likeness: Sequence[tuple[Question, float]],
) -> Verdict:
    """The verdict on a draft.

    Parameters
    ----------
    question
        Its gold ids are resolved here.
    shown
        Chunk ids of its passages, in rank order.
    similarity
        Cosine to the first of them.
    likeness
        Every other question with the cosine to it.
    """
    question = resolve(question, corpus).question
    # Ids were just resolved, so what remains of that kind follows from a fault told elsewhere.
    problems = [
        problem
        for rule in RULES
        if rule.concerns(question)
        for problem in rule.problems(question, corpus)
        if "rge questions anchor" not in problem
    ]
    gold = tuple(_rank_of_quote(quote, corpus, shown) for quote in question.gold_quotes)
    distractors = tuple((d.value, corpus.rank_of(d, shown)) for d in question.distractors)
    problems += _retrieval_problems(question, distractors, similarity)
    problems += _likeness_problems(question, likeness)
    nearest = max(likeness, key=lambda pair: pair[1], default=None)
    computed = question.category == "multihop"
    return Verdict(
        id=question.id,
        problems=tuple(problems),
        question=question,
        gold=gold,
        distractors=distractors,
        similarity=similarity,
        numbers=tuple(str(one) for one in derivations(question) if computed and one.rule),
        nearest=None if nearest is None else (nearest[0].id, nearest[1]),
    )


def _rank_of_quote(quote: GoldQuote, corpus: CorpusText, shown: Sequence[str]) -> int | None:
    holding = corpus.chunks_with(quote)
    return next((rank for rank, i in enumerate(shown, 1) if i in holding), None)


def as_line(question: Question) -> str:
    """A question as one line of a question file, without the newline."""
    return json.dumps(question.model_dump(mode="json"), ensure_ascii=False)


def read_draft(draft: Mapping[str, Any] | str) -> tuple[Question | None, str, str]:
    """The question of a draft, its id, and what is wrong where it is none."""
    if isinstance(draft, str):
        try:
            draft = json.loads(draft)
        except ValueError as error:
            return None, "?", f"not JSON: {error}"
        if not isinstance(draft, dict):
            return None, "?", "not a JSON object; a question is an object with its fields"
    draft_id = str(draft.get("id", "?"))
    try:
        return Question.model_validate_json(json.dumps(dict(draft))), draft_id, ""
    except ValidationError as error:
        fields = ", ".join(Question.model_fields)
        return None, draft_id, f"{problems_of(error)}; fields are {fields}"


def same(other: Question, question: Question) -> bool:
    """Whether a question of the set is the draft itself, checked again."""
    return other.id == question.id and squeeze(other.text) == squeeze(question.text)


def _retrieval_problems(
    question: Question, distractors: Sequence[tuple[str, int | None]], similarity: float
) -> list[str]:
    if question.status == "unanchored":
        return []
    if question.category == "adversarial" and not any(rank for _, rank in distractors):
        return [
            "no passage holds a declared distractor; declare a wrong value that they hold, or "
            "word the question nearer to it (see Desk.passages)"
        ]
    if question.category == "ood" and similarity < CLOSE:
        return [f"its nearest passage is at cosine {similarity:.2f}, under {CLOSE}; ask nearer"]
    return []


def _likeness_problems(question: Question, cosines: Sequence[tuple[Question, float]]) -> list[str]:
    problems = []
    for other, cosine in cosines:
        if other.id == question.id:
            problems.append(f"id {question.id} stands already, for “{other.text}”")
        if cosine >= ALIKE:
            problems.append(f"asks nearly the same as {other.id} ({cosine:.3f}): “{other.text}”")
    return problems


def _ranks(ranks: Sequence[int | None]) -> str:
    """` (ranks 1, 4)`, or nothing where none is shown."""
    shown = [str(rank) for rank in ranks if rank is not None]
    return f" (rank {', '.join(shown)})" if shown else ""
