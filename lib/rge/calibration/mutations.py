"""Mutants of right answers: one small change that must cost a point.

A judge that gives a mutant what it gives the answer it came from does not see that change. Mutants
enter no result of a study.

| mutation | the change | dimension that must fall |
|---|---|---|
| swap a digit | the first digit of a gold figure is another one | correctness |
| drop the citations | nothing is cited | grounding |
| negate a clause | the main verb is denied, or a denial taken back | correctness |
| swap two citations | two claims, each cited to the other's passage | grounding |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from rge.calibration.controls import FAMILY, Control
from rge.judging.case import Case, Outcome
from rge.judging.facts import Sentence, read_passage
from rge.judging.families import assert_cross_family
from rge.judging.gold import read_gold
from rge.judging.run import Judge, outcomes
from rge.records import DIMENSIONS, Chunk
from rge.text.abstention import detect
from rge.text.citations import find_citations, mask_citations, parse_citations
from rge.text.numbers import any_match, matches, parse_values

MUST_FALL = {
    "swap a digit": "correctness",
    "drop the citations": "grounding",
    "negate a clause": "correctness",
    "swap two citations": "grounding",
}
_DENIED = (
    (re.compile(r"\b(did|does|do|is|was|were|are|has|have|had|will|can) not\b"), r"\1"),
    (re.compile(r"\bno (?=[a-z])"), "an "),
    (re.compile(r"\b(is|was|were|are|has|have|had|will|can)\b(?! not)"), r"\1 not"),
)
_PAST = {"rose": "rise", "fell": "fall", "grew": "grow", "stood": "stand", "made": "make"}
_PAST |= {"shrank": "shrink", "came": "come", "cost": "cost", "held": "hold", "ran": "run"}
_PAST |= {"sold": "sell", "paid": "pay", "spent": "spend", "met": "meet", "won": "win"}
_REGULAR = re.compile(
    r"\b(?:increas|declin|decreas|declar|improv|narrow|widen|reach|earn|total|amount|exceed"
    r"|report|capitalis|employ|launch|open|acquir|handl|discount)ed\b"
)
_FEWEST_WORDS, _MOST_WORDS = 6, 40


@dataclass(frozen=True)
class Mutant:
    """A right answer before and after one change."""

    kind: str
    question_id: str
    before: Case
    after: Case


def build_mutants(controls: Sequence[Control], *, rng: np.random.Generator) -> list[Mutant]:
    """Every mutant that can be made of the oracle answers among `controls`.

    Parameters
    ----------
    controls
        From `build_controls`; kinds other than the oracle are passed over.
    rng
        Chooses digits and the second claim.
    """
    makers: dict[str, Callable[[Case, np.random.Generator], tuple[str, str] | None]] = {
        "swap a digit": _with_other_digit,
        "drop the citations": _without_citations,
        "negate a clause": _negated,
        "swap two citations": _with_citations_swapped,
    }
    mutants = []
    for control in controls:
        if control.kind != "oracle":
            continue
        for kind, make in makers.items():
            texts = make(control.case, rng)
            if texts is not None:
                before, after = (answered(control.case, text) for text in texts)
                mutants.append(Mutant(kind, control.question.id, before, after))
    return mutants


def answered(case: Case, text: str) -> Case:
    """`case` with another answer."""
    response = case.response.model_copy(
        update={
            "text": text,
            "citations": parse_citations(text, case.chunk_ids).valid,
            "abstained": detect(text),
        }
    )
    return replace(case, response=response)


def _with_other_digit(case: Case, rng: np.random.Generator) -> tuple[str, str] | None:
    text = case.response.text
    changed = swap_digit(mask_citations(text, case.chunk_ids), case, rng)
    return (
        None
        if changed is None
        else (text, text[: changed[0]] + changed[1] + text[changed[0] + 1 :])
    )


def swap_digit(plain: str, case: Case, rng: np.random.Generator) -> tuple[int, str] | None:
    """Place and new value of the first digit of a gold figure in `plain`; None without one.

    The new figure stands in no passage, so that it is wrong in every reading.
    """
    golds = read_gold(case.question).values
    known = [q for chunk in case.passages for q in parse_values(chunk.text)]
    for value in parse_values(plain):
        digit = re.search(r"[1-9]", value.text)
        if digit is None or not any(matches(value, gold) for gold in golds):
            continue
        place = value.start + digit.start()
        for new in rng.permutation([d for d in "123456789" if d != plain[place]]):
            changed = parse_values(plain[:place] + str(new) + plain[place + 1 :])
            mutated = [q for q in changed if q.start == value.start]
            if mutated and not any_match(known, mutated[0]) and not any_match(golds, mutated[0]):
                return place, str(new)
    return None


def _without_citations(case: Case, rng: np.random.Generator) -> tuple[str, str] | None:
    text = case.response.text
    plain = re.sub(r"\s+([.;,])", r"\1", " ".join(mask_citations(text, case.chunk_ids).split()))
    return None if plain == text else (text, plain)


def _negated(case: Case, rng: np.random.Generator) -> tuple[str, str] | None:
    text = case.response.text
    denied = negate(text)
    return None if denied is None else (text, denied)


def negate(text: str) -> str | None:
    """`text` with its first clause denied, or its denial taken back; None where no rule applies."""
    opener = re.match(r"(Yes|No)\b[,.]?\s*", text)
    if opener:
        rest = negate(text[opener.end() :])
        other = "No" if opener[1] == "Yes" else "Yes"
        return None if rest is None else f"{other}{text[opener.end(1) : opener.end()]}{rest}"
    for pattern, wording in _DENIED:
        changed, n = pattern.subn(wording, text, count=1)
        if n:
            return changed
    for word in re.finditer(r"\b[a-z]+\b", text):
        if word[0] in _PAST:
            return f"{text[: word.start()]}did not {_PAST[word[0]]}{text[word.end() :]}"
    regular = _REGULAR.search(text)
    if regular is None:
        return None
    stem = regular[0][:-2]
    base = stem + "e" if re.search(r"(?:as|in|ar|ov|is|ir|l)$", stem) and stem != "total" else stem
    if regular[0] in ("earned", "opened", "widened", "totaled"):
        base = stem
    return f"{text[: regular.start()]}did not {base}{text[regular.end() :]}"


def _with_citations_swapped(case: Case, rng: np.random.Generator) -> tuple[str, str] | None:
    """The oracle with a sentence of another passage behind it, and their citations exchanged."""
    marks = find_citations(case.response.text, case.chunk_ids)
    cited = {label for mark in marks for label in mark.labels}
    if len(marks) != 1 or len(cited) != 1:
        return None
    claim = mask_citations(case.response.text, case.chunk_ids).strip(" .")
    golds = read_gold(case.question).values
    held = [c for c in case.passages if c.chunk_id in cited]
    others = [
        chunk
        for chunk in case.passages
        if chunk.chunk_id not in case.question.gold_source_ids
        and golds
        and not any(any_match(parse_values(chunk.text), gold) for gold in golds)
    ]
    for place in rng.permutation(len(others)):
        sentence = _own_sentence(read_passage(others[place]).sentences, held)
        if sentence is not None:
            mine, other = next(iter(cited)), others[place].chunk_id
            texts = [f"{claim} [{a}]. {sentence} [{b}]." for a, b in ((mine, other), (other, mine))]
            return texts[0], texts[1]
    return None


def _own_sentence(sentences: Sequence[Sentence], held: Sequence[Chunk]) -> str | None:
    """A whole sentence with a figure that the cited passages do not hold."""
    known = [q for other in held for q in parse_values(other.text)]
    for sentence in sentences:
        words = sentence.text.split()
        whole = sentence.text.endswith(".") and sentence.text[:1].isupper() and not sentence.context
        figures = parse_values(sentence.text)
        if (
            whole
            and _FEWEST_WORDS <= len(words) <= _MOST_WORDS
            and figures
            and not any(any_match(known, figure) for figure in figures)
        ):
            return " ".join(words).rstrip(".")
    return None


def judge_mutants(
    mutants: Sequence[Mutant],
    judges: Mapping[str, tuple[str, Judge]],
    *,
    owner: str = "mutants",
) -> pd.DataFrame:
    """What each judge gave before and after the change: one row per mutant and judge.

    Returns
    -------
    DataFrame
        Columns mutation, question_id, judge, `before` and `after` (sum of the four scores; NaN
        where one is unscored), `lost` (whether the sum fell), `fell` (whether the dimension that
        must fall did). `lost` and `fell` are None where a score is missing.
    """
    rows = []
    for name, (family, judge) in judges.items():
        assert_cross_family(FAMILY, family)
        verdicts = _verdicts(mutants, judge, f"{owner}.by-{name}")
        for place, mutant in enumerate(mutants):
            before, after = verdicts[place, "before"], verdicts[place, "after"]
            known = None not in (*before.values(), *after.values())
            must = MUST_FALL[mutant.kind]
            totals = [sum(s.values()) if known else np.nan for s in (before, after)]  # type: ignore[arg-type]
            rows.append(
                {
                    "mutation": mutant.kind,
                    "question_id": mutant.question_id,
                    "judge": name,
                    "before": totals[0],
                    "after": totals[1],
                    "lost": totals[1] < totals[0] if known else None,
                    "fell": after[must] < before[must] if known else None,  # type: ignore[operator]
                }
            )
    return pd.DataFrame(rows)


def _verdicts(
    mutants: Sequence[Mutant], judge: Judge, owner: str
) -> dict[tuple[int, str], dict[str, int | None]]:
    """Scores by mutant and side; each case gets a key of its own, so that a judge can tell them."""
    cases = {}
    for place, mutant in enumerate(mutants):
        for side in ("before", "after"):
            case: Case = getattr(mutant, side)
            key = f"{mutant.kind}-{side}".replace(" ", "-")
            response = case.response.model_copy(update={"subject": key})
            cases[place, side] = replace(case, response=response)
    found = {case.response.key: o for case, o in outcomes(judge, list(cases.values()), owner)}
    return {key: _scores(found[case.response.key]) for key, case in cases.items()}


def _scores(outcome: Outcome) -> dict[str, int | None]:
    verdict = outcome.verdict
    return {name: None if verdict is None else getattr(verdict, name).score for name in DIMENSIONS}


def lost_shares(scores: pd.DataFrame) -> pd.DataFrame:
    """Share of mutants that lose points, by mutation and judge.

    Returns
    -------
    DataFrame
        Columns mutation, must_fall, judge, `n` mutants scored, `n_unscored`, `lost` (share that
        loses any point) and `fell` (share that loses it where it must); NaN without mutants.
    """
    rows = []
    for kind, must in MUST_FALL.items():
        for judge in scores["judge"].unique():
            cell = scores[(scores["mutation"] == kind) & (scores["judge"] == judge)]
            known = cell.dropna(subset=["lost"])
            rows.append(
                {
                    "mutation": kind,
                    "must_fall": must,
                    "judge": judge,
                    "n": len(known),
                    "n_unscored": len(cell) - len(known),
                    "lost": float(known["lost"].astype(float).mean()) if len(known) else np.nan,
                    "fell": float(known["fell"].astype(float).mean()) if len(known) else np.nan,
                }
            )
    return pd.DataFrame(rows)
