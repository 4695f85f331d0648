"""What an answer says to a yes-or-no question."""

from __future__ import annotations

import re
from typing import Literal

from rge.judging.answering import Answering, answering
from rge.judging.words import direction
from rge.text.claims import split_sentences

Polarity = Literal["yes", "no", ""]

# A sentence must hold so much of the question's words that a "not" in it answers the question.
ON_QUESTION = 0.6

_YES = re.compile(r"^\W*(?:yes|indeed|correct|true)\b", re.IGNORECASE)
_NO = re.compile(r"^\W*(?:no|none|not)\b(?!\.\s?\d)", re.IGNORECASE)
_INDEED = re.compile(r"\b(?:is|are|has|have|had|did|does|do|was|were) indeed\b", re.IGNORECASE)
_SAYS = re.compile(
    r"\b(?:the |my )?(?:short )?answer(?: to (?:the|this|your) question)?"
    r"(?: is| would be|:)[:,]?\s*[\"'“‘*]*(yes|no)\b",
    re.IGNORECASE,
)
_THERE_IS_NO = re.compile(
    r"\bthere (?:is|are|was|were|have been|has been|had been) no(?:t any)?\b|\bnone\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:did|does|do|is|was|were|are|has|have|had|will|would|can|could)(?: not|n't)\b"
    r"|\bno (?:indication|evidence|change|material|such|significant|drop|decline|major)\b"
    r"|\bthere (?:is|are|was|were|have been|has been|had been) no\b"
    r"|\bneither\b"
    r"|\bnone\b|\bnot (?:been|reported|explicitly|a|an|have|have had|improv|retain)\w*\b",
    re.IGNORECASE,
)


def polarity(answer: str, asked: frozenset[str] = frozenset(), *, denies: bool = False) -> Polarity:
    """What `answer` says: "yes", "no", or "" where neither can be told.

    Parameters
    ----------
    answer
        Text of the response.
    asked
        Stems of the question's content words.
    denies
        Whether the question itself denies something, so that a sentence that repeats it does too.
    """
    sentences = [claim.text for claim in split_sentences(answer)]
    for sentence in sentences[:2]:
        if _YES.match(sentence):
            return "yes"
        if _NO.match(sentence):
            return "no"
    if said := _SAYS.findall(answer):
        return "yes" if said[-1].lower() == "yes" else "no"
    where = answering(answer, asked)
    if _INDEED.search(where.first):
        return "yes"
    heads = [where.first, where.conclusion]
    if asked and where.nearness >= ON_QUESTION:
        heads.append(where.nearest)
    if denies:
        return "no" if any(_THERE_IS_NO.search(head) for head in heads) else ""
    return "no" if any(_DENIES.search(head) for head in heads) else ""


def leaning(where: Answering, asks: int) -> Polarity:
    """Yes or no as a direction says it, where the question asks whether something rises or falls.

    Parameters
    ----------
    where
        The sentences that answer.
    asks
        1 for rising, -1 for falling, 0 for another question.
    """
    heads = [where.conclusion, where.first]
    if where.nearness >= ON_QUESTION:
        heads.insert(0, where.nearest)
    for head in heads:
        if asks and (stated := direction(head)):
            return "yes" if stated == asks else "no"
    return ""
