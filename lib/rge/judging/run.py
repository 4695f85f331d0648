"""Judges the stored responses: every judgement is stored before the next batch is begun.

Finished judgements are found again by their key, so a run that was killed goes on where it
stopped. A stored judgement is only kept while it is what today's judge, rubrics and case would be.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rge.collect import Counts
from rge.errors import RgeError, UsageError
from rge.judging.case import Case, Outcome, Verdict
from rge.judging.families import assert_cross_family
from rge.judging.hosted import HostedJudge
from rge.judging.rules import RulesJudge
from rge.judging.semantic import Encode, SemanticJudge, Thresholds
from rge.profile import Profile
from rge.records import DIMENSIONS, Judgement, Question, Response
from rge.retrieval.embedder import Embedder
from rge.retrieval.retrieve import Frozen
from rge.retrieval.vector_cache import cached
from rge.rubrics import RUBRIC_VERSION, rubrics
from rge.specs import JudgeSpec
from rge.store import Appender, read_jsonl, sha256_text

_BATCH = 32


class LocalJudge(Protocol):
    """A judge that runs here."""

    @property
    def settings(self) -> dict[str, object]: ...

    def judge_many(self, cases: Sequence[Case]) -> list[Verdict]: ...


Judge = LocalJudge | HostedJudge


def open_judge(profile: Profile, spec: JudgeSpec) -> Judge:
    """The judge that a profile entry names, ready to score.

    Raises
    ------
    UsageError
        On an option the kind does not know, a key that is not set, or a model without a price.
    """
    if spec.kind == "rules":
        _only(spec, ())
        return RulesJudge()
    if spec.kind == "semantic":
        _only(spec, ("embedder", *Thresholds.__dataclass_fields__))
        options = dict(spec.options)
        embedder = Embedder(str(options.pop("embedder", "all-MiniLM-L6-v2")))
        vectors = profile.root / "_build" / "vectors" / f"{embedder.model_id}.sqlite"
        return SemanticJudge(
            cached(_cutting(embedder), vectors),
            model_id=embedder.model_id,
            thresholds=Thresholds(**options),
        )
    return HostedJudge(profile, spec)


def _cutting(embedder: Embedder) -> Encode:
    """The embedder with texts cut to its window: of an endless sentence, the beginning counts."""

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        short = list(texts)
        lengths = embedder.n_tokens(short)
        while max(lengths, default=0) > embedder.max_tokens:
            short = [
                text[: len(text) * embedder.max_tokens // (2 * length)]
                if length > embedder.max_tokens
                else text
                for text, length in zip(short, lengths, strict=True)
            ]
            lengths = embedder.n_tokens(short)
        return embedder.encode(short)

    return encode


def _only(spec: JudgeSpec, allowed: Sequence[str]) -> None:
    for option in spec.options:
        if option not in allowed:
            raise UsageError(
                f"judge {spec.name}",
                f"option {option!r} is not known",
                allowed=f"options are {', '.join(allowed) or 'none'}",
            )


def open_judges(profile: Profile) -> dict[str, tuple[str, Judge]]:
    """Every judge of the profile by name, with its family."""
    return {spec.name: (spec.family, open_judge(profile, spec)) for spec in profile.judges}


def judge_all(
    profile: Profile,
    questions: Sequence[Question],
    frozen: Frozen,
    judges: Mapping[str, tuple[str, Judge]] | None = None,
) -> dict[tuple[str, str], Counts]:
    """Judge the stored responses of every subject with the judges of other families.

    Parameters
    ----------
    profile, questions, frozen
        As for `judge_responses`.
    judges
        Opened before, by `open_judges`; what they have embedded is not embedded again.

    Returns
    -------
    dict
        Counts by (subject, judge).
    """
    pairs = [(subject, spec) for subject in profile.subjects for spec in profile.judges_of(subject)]
    judges = judges or open_judges(profile)
    counts = {}
    for spec in profile.judges:
        for subject in (one for one, judge in pairs if judge == spec):
            path = profile.responses_path(subject.name)
            responses = read_jsonl(path, Response, key=lambda response: response.key)
            counts[subject.name, spec.name] = judge_responses(
                profile, spec, questions, frozen, responses, judges[spec.name][1]
            )
    return counts


def judge_responses(
    profile: Profile,
    spec: JudgeSpec,
    questions: Sequence[Question],
    frozen: Frozen,
    responses: Sequence[Response],
    judge: Judge | None = None,
) -> Counts:
    """Judge the responses that have no judgement yet and append it to its file.

    Parameters
    ----------
    profile
        Names run and files; its subjects name the families.
    spec
        The judge.
    questions
        The questions of the study; responses to others are left alone.
    frozen
        The passages that every subject was shown.
    responses
        Of one or more subjects of the profile.
    judge
        The judge that `spec` names, where it is open already.

    Returns
    -------
    Counts
        `failed` counts judgements without a score: the response has none to give.

    Raises
    ------
    UsageError
        When a subject is of the judge's own family; nothing is written then.
    RgeError
        When a stored judgement was made by another version of judge, rubric, passages or response.
    """
    subjects = dict.fromkeys(response.subject for response in responses)
    for subject in subjects:
        # The one place every judgement passes through.
        assert_cross_family(profile.subject(subject).family, spec.family)
    judge = judge or open_judge(profile, spec)
    asked = {question.id: question for question in questions}
    cases = [
        frozen_case(asked[r.question_id], frozen, r) for r in responses if r.question_id in asked
    ]
    total = Counts(0, 0, 0)
    for subject in subjects:
        mine = [case for case in cases if case.response.subject == subject]
        done = _judge_subject(profile, spec, judge, subject, mine)
        total = Counts(
            total.new + done.new,
            total.already_done + done.already_done,
            total.failed + done.failed,
        )
    print(f"{', '.join(subjects)} by {spec.name}: {total}", file=sys.stderr)
    return total


def frozen_case(question: Question, frozen: Frozen, response: Response) -> Case:
    """A case with the passages and the state of the gold as they were frozen."""
    passages = tuple(frozen.passages(question.id))
    return Case(question, passages, response, frozen.retrievals[question.id].gold_in_context)


def _judge_subject(
    profile: Profile, spec: JudgeSpec, judge: Judge, subject: str, cases: list[Case]
) -> Counts:
    path = profile.judgements_path(subject, spec.name)
    hashes = {case.response.key: case_sha256(judge, case) for case in cases}
    with Appender(path, Judgement, lambda judgement: judgement.key) as file:
        for stored in file.records:
            today = hashes.get(stored.key[:3])
            if today is not None and today != stored.prompt_sha256:
                raise RgeError(
                    path,
                    f"judgement {stored.key} was made with another judge, rubric or case",
                    allowed="one run holds the judgements of one version",
                    do="give the profile a new run_id, or remove this file to judge anew",
                )
        missing = [case for case in cases if (*case.response.key, spec.name) not in file.keys]
        n_failed = 0
        owner = f"{subject}_{profile.run_id}.by-{spec.name}"
        with tqdm(
            total=len(missing), desc=owner, unit="answer", file=sys.stderr, disable=not missing
        ) as bar:
            for case, outcome in outcomes(judge, missing, owner):
                judgement = to_judgement(profile, spec, case, outcome, hashes[case.response.key])
                file.append(judgement)
                n_failed += judgement.status == "unscored"
                bar.update()
    return Counts(len(missing), len(cases) - len(missing), n_failed)


def outcomes(judge: Judge, cases: Sequence[Case], owner: str) -> Iterator[tuple[Case, Outcome]]:
    """Case and outcome of every case, in any order.

    Parameters
    ----------
    judge
        Opened by `open_judge`.
    cases
        Those with nothing to score get the reason without asking.
    owner
        Stem of the files that hold a paid judge's replies.
    """
    if not isinstance(judge, HostedJudge):
        for start in range(0, len(cases), _BATCH):
            batch = cases[start : start + _BATCH]
            verdicts = iter(judge.judge_many([c for c in batch if c.unscored_reason is None]))
            for case in batch:
                reason = case.unscored_reason
                yield case, Outcome(None if reason else next(verdicts), reason)
        return
    scorable = []
    for case in cases:
        if case.unscored_reason is None:
            scorable.append(case)
        else:
            yield case, Outcome(None, case.unscored_reason)
    if scorable:
        yield from judge.outcomes(scorable, owner)


def to_judgement(
    profile: Profile, spec: JudgeSpec, case: Case, outcome: Outcome, sha256: str
) -> Judgement:
    """The record of a verdict, or of the reason why there is none."""
    question_id, subject, run_index = case.response.key
    verdict = outcome.verdict
    return Judgement(
        question_id=question_id,
        subject=subject,
        run_index=run_index,
        judge=spec.name,
        rubric_version=RUBRIC_VERSION,
        prompt_sha256=sha256,
        status="unscored" if verdict is None else "scored",
        unscored_reason=outcome.unscored_reason,
        **{name: None if verdict is None else getattr(verdict, name) for name in DIMENSIONS},
        unsupported_claims=() if verdict is None else verdict.unsupported_claims,
        contradictions=() if verdict is None else verdict.contradictions,
        usage=outcome.usage,
        cost_usd=outcome.cost_usd,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        run_id=profile.run_id,
    )


def case_sha256(judge: Judge, case: Case) -> str:
    """SHA-256 over all that a verdict depends on: judge, rubrics, question, passages, answer."""
    question = case.question.model_dump(
        mode="json", exclude={"notes", "difficulty", "absent", "status"}
    )
    parts = [
        judge.settings,
        {name: rubric.sha256 for name, rubric in rubrics().items()},
        question,
        [[chunk.chunk_id, chunk.text] for chunk in case.passages],
        [case.response.status, case.response.text, case.gold_in_context],
    ]
    return sha256_text(json.dumps(parts, ensure_ascii=False, sort_keys=True))
