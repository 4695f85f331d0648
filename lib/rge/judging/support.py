"""Each claim of an answer against the passages: supported, by the cited ones, contradicted.

A claim is supported by a set of passages when they hold its numbers (for the year it speaks of),
its names and enough of its words. A number that no passage holds is still supported where it
follows by plain arithmetic from supported numbers of the answer, or is the gold result of passages
that are all shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, permutations

from rge.judging.calibration import n_hedges
from rge.judging.case import Case
from rge.judging.conflict import Conflict, direction_differs, find_conflict
from rge.judging.correctness import MOST_READ
from rge.judging.facts import (
    Dated,
    Passage,
    Sentence,
    dated_values,
    read_passage,
    stands_verbatim,
)
from rge.judging.gold import read_gold
from rge.judging.words import content, direction, has_name, names, share
from rge.text.abstention import is_remark
from rge.text.citations import mask_citations
from rge.text.claims import Claim
from rge.text.numbers import Quantity, any_match, matches, parse_values

# Shares of a claim's words that its passages must hold, with a number in it and without. Chosen on
# control answers to questions outside the study.
WORDS_BESIDE_A_NUMBER = 0.4
WORDS_ALONE = 0.6
_MOST_OPERANDS = 8
# What is checked of an endless answer. The rest is not taken on trust: it counts as unsupported.
MOST_CLAIMS = 80
MOST_NUMBERS = 400
LONGEST_CLAIM = 2_000
_MOST_STATED = 300
_DOUBT_ALONE = 2  # content words; "this should be verified" doubts and states nothing


@dataclass(frozen=True)
class Check:
    """What the passages say about one claim.

    Attributes
    ----------
    claim
        The claim, a verbatim slice of the answer.
    supported
        Whether the shown passages hold it.
    cited
        Whether the passages it cites hold it; None where it cites none.
    evidence
        Verbatim slice of the passage nearest to it.
    reason
        What is missing, or where it was found.
    conflict
        What contradicts it, or None.
    """

    claim: Claim
    supported: bool
    cited: bool | None
    evidence: str
    reason: str
    conflict: Conflict | None


def check_claims(case: Case) -> list[Check]:
    """A check for every claim that states something; refusals and remarks are left out."""
    passages = [read_passage(chunk) for chunk in case.passages]
    operands = operands_of(case, passages)
    checked, rest = claims_to_check(case)
    return [_check(claim, case, passages, operands) for claim in checked] + rest


def claims_to_check(case: Case) -> tuple[list[Claim], list[Check]]:
    """The claims that state something and are checked, and the outcome of those that are not.

    A claim that is repeated word for word is checked once. Claims past the first 80 or past 400
    numbers, and those of more than 2,000 characters, are unsupported unread, which bounds the time
    a case takes.
    """
    claims = {(c.text, c.citations): c for c in reversed(case.claims)}
    checked: list[Claim] = []
    rest: list[Check] = []
    n_numbers = 0
    for claim in sorted(claims.values(), key=lambda c: c.start):
        if len(claim.text) > LONGEST_CLAIM or len(checked) == MOST_CLAIMS:
            rest.append(_unread(claim))
        elif is_substantive(claim, case):
            n_numbers += len(parse_values(claim.text))
            if n_numbers > MOST_NUMBERS:
                rest.append(_unread(claim))
            else:
                checked.append(claim)
    return checked, rest


def _unread(claim: Claim) -> Check:
    return Check(claim, False, None, "", "not read: the answer has no end", None)


def is_substantive(claim: Claim, case: Case) -> bool:
    """Whether a claim states something about the subject matter."""
    plain = mask_citations(claim.text, case.chunk_ids)
    has_values = bool(parse_values(plain))
    states = bool(content(plain)) or has_values
    if n_hedges(plain) and len(content(plain)) <= _DOUBT_ALONE and not has_values:
        return False
    return states and not is_remark(plain) and plain.strip().lower() not in ("yes", "no", "answer")


def _check(claim: Claim, case: Case, passages: list[Passage], operands: list[Quantity]) -> Check:
    plain = mask_citations(claim.text, case.chunk_ids)
    labels = claim.citations or case.cited.valid
    cited = [passage for passage in passages if passage.chunk_id in labels]
    missing = _missing(plain, case, passages, operands)
    nearest = nearest_sentence(plain, cited or passages)
    evidence = nearest.text if nearest else ""
    held = None
    if labels or case.cited.unknown:
        held = not missing and bool(cited) and not _missing(plain, case, cited, operands)
    conflict = find_conflict(plain, case.question, passages) if missing else None
    if conflict is None and held is False:
        # Held by another passage: only a flat denial by the cited one counts.
        denial = find_conflict(plain, case.question, cited)
        conflict = denial if denial and denial.flat else None
    where = "in the passages" if held is not False else "in a passage, not in the cited one"
    return Check(claim, not missing, held, evidence, missing or where, conflict)


def _missing(claim: str, case: Case, passages: Sequence[Passage], operands: list[Quantity]) -> str:
    """What the passages lack of a claim, in words; empty where they hold it."""
    if stands_verbatim(claim, passages):
        return ""
    numbers = dated_values(claim)
    for name in names(claim):
        if not any(has_name(name, passage.searched) for passage in passages):
            return f"{name} is not in the passages"
    for dated in numbers:
        if not (
            _held(claim, dated, case, passages) or is_derived(dated.value, case, passages, operands)
        ):
            return f"{dated.value.text} does not stand for this in the passages"
    return "" if numbers else _prose_missing(claim, passages)


def _held(claim: str, dated: Dated, case: Case, passages: Sequence[Passage]) -> bool:
    """Whether a sentence has the number, for a year and a thing that the claim allows.

    A short answer leaves out what the question said, so the question's words count as well.
    """
    words, asked = content(claim), content(case.question.text)
    towards = direction(claim)
    return any(
        (not dated.years or not known.years or dated.years & known.years)
        and matches(dated.value, known.value)
        and max(
            share(words, sentence.words | passage.about),
            share(asked, sentence.words | passage.about),
        )
        >= WORDS_BESIDE_A_NUMBER
        and not (towards and towards == -direction(sentence.text))
        for passage in passages
        for sentence in passage.sentences
        for known in sentence.values
    )


def _prose_missing(claim: str, passages: Sequence[Passage]) -> str:
    """The same for a claim without numbers: one sentence must hold its names and words."""
    named = names(claim)
    words = content(claim) - content(" ".join(named))
    best, denied = 0.0, False
    for passage in passages:
        for sentence in passage.sentences:
            if named:
                around = f"{sentence.read} {passage.label}"
                if not all(has_name(name, around) for name in named):
                    continue
            held = share(words, sentence.words | passage.about)
            if held >= WORDS_ALONE and direction_differs(claim, sentence):
                denied = True
                continue
            best = max(best, held)
    if best >= WORDS_ALONE:
        return ""
    return "a passage denies it" if denied else f"a sentence holds at most {best:.0%} of its words"


def is_derived(
    value: Quantity, case: Case, passages: Sequence[Passage], operands: list[Quantity]
) -> bool:
    """Whether the number follows from others of the answer, or is gold that the passages give."""
    gold_ids = case.question.gold_source_ids
    if case.gold_in_context == "all" and any(p.chunk_id in gold_ids for p in passages):
        golds = read_gold(case.question).values
        # A gold number that a gold passage states is looked up there, with its year and subject.
        if any(matches(value, gold) for gold in golds) and not _stated(value, case):
            return True
    for a, b in permutations(operands, 2):
        if a.unit != b.unit or not b.value:
            continue
        results = (a.value - b.value, a.value + b.value, a.value / b.value, a.value / b.value - 1)
        if any(_equals(value, result) for result in results):
            return True
    return False


def _stated(value: Quantity, case: Case) -> bool:
    """Whether a gold chunk states the number as it is."""
    return any(
        matches(value, known.value)
        for chunk in case.passages
        if chunk.chunk_id in case.question.gold_source_ids
        for sentence in read_passage(chunk).sentences
        for known in sentence.values
    )


def _equals(value: Quantity, result: float) -> bool:
    return abs(abs(value.value) - abs(result)) <= 0.01 * abs(result) and result != 0


def operands_of(case: Case, passages: list[Passage]) -> list[Quantity]:
    """Numbers of the answer that a passage holds, at most eight: more would derive anything."""
    answer = mask_citations(case.response.text, case.chunk_ids)
    stated = parse_values(answer[:MOST_READ])[:_MOST_STATED]
    known = [k.value for passage in passages for s in passage.sentences for k in s.values]
    return list(islice((value for value in stated if any_match(known, value)), _MOST_OPERANDS))


def nearest_sentence(claim: str, passages: Sequence[Passage]) -> Sentence | None:
    """The sentence of the passages that shares most numbers, then most words, with a claim."""
    values = parse_values(claim)
    words = content(claim)

    def nearness(sentence: Sentence) -> tuple[int, float]:
        known = [dated.value for dated in sentence.values]
        return sum(any_match(known, value) for value in values), share(words, sentence.words)

    sentences = [sentence for passage in passages for sentence in passage.sentences]
    return max(sentences, key=nearness, default=None)
