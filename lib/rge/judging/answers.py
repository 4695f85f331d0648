"""Scores anybody's answers: a question, its gold answer and an answer a line.

Finished judgements are found again by their id; a stored one is only kept while it is what today's
judge, rubrics and line would give.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import model_validator
from tqdm import tqdm

from rge.collect import Counts
from rge.errors import RgeError
from rge.judging.case import Case
from rge.judging.families import assert_cross_family
from rge.judging.plain_case import Behavior, PlainPassage, plain_case
from rge.judging.run import Judge, case_sha256, open_judge, outcomes, to_judgement
from rge.profile import Profile
from rge.records import Judgement, NonEmpty, Record
from rge.specs import JudgeSpec
from rge.store import Appender, read_jsonl, sha256_text
from rge.text.abstention import Abstention

SUBJECT = "given-answers"


class AnswerLine(Record):
    """One line of a file of answers.

    Without `expected_behavior` an abstention is expected where the gold answer is one itself, an
    answer everywhere else. Without `passages` grounding and faithfulness are left unscored.
    """

    id: NonEmpty
    question: NonEmpty
    gold_answer: NonEmpty
    answer: str
    expected_behavior: Behavior | None = None
    passages: tuple[PlainPassage, ...] = ()
    gold_quotes: tuple[NonEmpty, ...] = ()

    @model_validator(mode="after")
    def _ids_differ(self) -> AnswerLine:
        repeated = [key for key, n in Counter(p.id for p in self.passages).items() if n > 1]
        if repeated:
            raise ValueError(f"passages: id {repeated[0]} stands twice")
        return self

    @property
    def case(self) -> Case:
        return plain_case(
            self.id,
            self.question,
            self.gold_answer,
            self.answer,
            subject=SUBJECT,
            expected_behavior=self.expected_behavior,
            passages=self.passages,
            gold_quotes=self.gold_quotes,
        )


class AnswerJudgement(Judgement):
    """A judgement with the id of its line and whether the answer abstains."""

    id: NonEmpty
    abstained: Abstention


def read_answers(path: Path) -> list[AnswerLine]:
    """The answers of a JSONL file, in file order.

    Raises
    ------
    RgeError
        On a missing or empty file, a line that is not an answer (a key that is not known, too), or
        an id that stands twice; the message names the line.
    """
    lines = read_jsonl(path, AnswerLine, key=lambda line: line.id)
    if not lines:
        raise RgeError(path, "holds no answers", allowed="one answer a line, as JSON")
    return lines


def judge_answers(
    profile: Profile,
    spec: JudgeSpec,
    lines: Sequence[AnswerLine],
    target: Path,
    judge: Judge | None = None,
) -> Counts:
    """Append the judgement of every line that has none yet to `target`.

    Parameters
    ----------
    profile
        Names the run, the budget and where a paid judge's replies are kept.
    spec
        The judge.
    lines
        From `read_answers`.
    target
        JSONL of `AnswerJudgement`, in the order in which the judge finished.
    judge
        The judge that `spec` names, where it is open already.

    Returns
    -------
    Counts
        `failed` counts answers without a score.

    Raises
    ------
    RgeError
        When a stored judgement was made by another judge, rubric or line.
    """
    assert_cross_family(SUBJECT, spec.family)
    judge = judge or open_judge(profile, spec)
    cases = {line.id: line.case for line in lines}
    hashes = {key: case_sha256(judge, case) for key, case in cases.items()}
    with Appender(target, AnswerJudgement, lambda judgement: judgement.id) as file:
        for stored in file.records:
            _check_stored(target, stored, spec, hashes)
        missing = [case for key, case in cases.items() if key not in file.keys]
        owner = f"answers-{sha256_text(str(target.resolve()))[:8]}.by-{spec.name}"
        n_failed = 0
        with tqdm(
            total=len(missing), desc=spec.name, unit="answer", file=sys.stderr, disable=not missing
        ) as bar:
            for case, outcome in outcomes(judge, missing, owner):
                key = case.question.id
                record = to_judgement(profile, spec, case, outcome, hashes[key])
                fields = {name: getattr(record, name) for name in Judgement.model_fields}
                file.append(AnswerJudgement(**fields, id=key, abstained=case.abstained))
                n_failed += record.status == "unscored"
                bar.update()
    return Counts(len(missing), len(cases) - len(missing), n_failed)


def _check_stored(
    target: Path, stored: AnswerJudgement, spec: JudgeSpec, hashes: dict[str, str]
) -> None:
    other_judge = stored.judge != spec.name
    if other_judge or hashes.get(stored.id, stored.prompt_sha256) != stored.prompt_sha256:
        raise RgeError(
            target,
            f"the judgement of {stored.id} was made with another judge, rubric or answer",
            allowed="one file holds the judgements of one version",
            do="name another file, or remove this one to judge anew",
        )
