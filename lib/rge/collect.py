"""Collects the responses of subjects: every answer is stored before the next question is asked.

Finished responses are found again by their key (question, subject, run_index), so a run that was
killed goes on where it stopped. A stored response is only kept while it is what today's prompt and
parameters would have asked for.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from rge.errors import RgeError
from rge.profile import Profile
from rge.prompting import Prompt, build_prompt
from rge.records import Question, Response, ResponseKey
from rge.specs import SubjectSpec, is_hosted
from rge.store import Appender
from rge.subjects import Reply, open_subject
from rge.subjects.reply import read_options
from rge.text.abstention import detect
from rge.text.citations import parse_citations
from rge.threads import as_completed
from rge.thresholds import with_threshold

if TYPE_CHECKING:
    from rge.retrieval.retrieve import Frozen

# How an answer was sent, not what was asked: of the second attempt, or batch or synchronous.
_NOT_ASKED = frozenset({"retry_max_tokens", "mode"})
Answered = tuple[ResponseKey, Reply, float | None]  # key, reply, seconds


@dataclass(frozen=True)
class Counts:
    """What one stage did: records written now, found finished, and failed among the new ones."""

    new: int
    already_done: int
    failed: int

    def __str__(self) -> str:
        return f"{self.new} new, {self.already_done} already done, {self.failed} failed"


def collect_all(
    profile: Profile, questions: Sequence[Question], frozen: Frozen
) -> dict[str, Counts]:
    """Collect the responses of every subject of the profile, one after the other.

    Every subject is opened before the first is asked, so that a wrong option or a missing model
    stops the run before any work.

    Returns
    -------
    dict
        Counts by subject name, in the profile's order.
    """
    specs = [with_threshold(profile, spec, frozen.index_sha256) for spec in profile.subjects]
    for spec in specs:
        parameters(profile, spec)
    return {spec.name: collect(profile, spec, questions, frozen) for spec in specs}


def collect(
    profile: Profile, spec: SubjectSpec, questions: Sequence[Question], frozen: Frozen
) -> Counts:
    """Collect a subject's missing responses and append them to its results file.

    Parameters
    ----------
    profile
        Names the run, the seed and the file.
    spec
        The subject; each question is asked `spec.runs` times.
    questions
        Asked in this order, the whole set once per run.
    frozen
        The passages of every question, the same for all subjects.

    Returns
    -------
    Counts
        A response with status `error` is a finished record like any other and counts as failed.
        It is not asked again: a key stands once in a file. To repeat it, remove its line.

    Raises
    ------
    RgeError
        When a stored response was made with another prompt or other parameters, or when the
        subject cannot run at all. Responses collected up to then are kept.
    """
    spec = with_threshold(profile, spec, frozen.index_sha256)
    prompts = {q.id: build_prompt(q, frozen.passages(q.id)) for q in questions}
    path = profile.responses_path(spec.name)
    params = parameters(profile, spec)
    with Appender(path, Response, lambda response: response.key) as file:
        planned = [(q.id, spec.name, run) for run in range(spec.runs) for q in questions]
        asked = frozenset(planned)
        for stored in file.records:
            if stored.key in asked:
                _refuse_drift(profile, stored, prompts[stored.question_id], params)
        missing = [key for key in planned if key not in file.keys]
        n_failed = _store_missing(profile, spec, prompts, missing, file)
    counts = Counts(len(missing), len(planned) - len(missing), n_failed)
    print(f"{spec.name}: {counts}", file=sys.stderr)
    return counts


def parameters(profile: Profile, spec: SubjectSpec) -> dict[str, Any]:
    """The parameters of every first attempt, known before any call.

    Raises
    ------
    UsageError, RgeError
        On a wrong option, a missing model or key, or a model without a price.
    """
    if is_hosted(spec):
        from rge.providers.hosted import checked_service

        return checked_service(profile, spec).params
    with closing(open_subject(spec, seed=profile.seed)) as subject:
        return subject.params


def _store_missing(
    profile: Profile,
    spec: SubjectSpec,
    prompts: dict[str, Prompt],
    missing: list[ResponseKey],
    file: Appender[Response],
) -> int:
    """Ask what is missing, store each answer as it comes, return how many failed."""
    n_failed = 0
    answers = _hosted_answers if is_hosted(spec) else _local_answers
    with _bar(missing) as bar:
        for key, reply, latency_s in answers(profile, spec, prompts, missing):
            response = _response(profile, key, prompts[key[0]], reply, latency_s)
            file.append(response)
            n_failed += response.status == "error"
            bar.update()
    return n_failed


def _local_answers(
    profile: Profile, spec: SubjectSpec, prompts: dict[str, Prompt], missing: list[ResponseKey]
) -> Iterator[Answered]:
    with closing(open_subject(spec, seed=profile.seed)) as subject:

        def ask(key: ResponseKey) -> Answered:
            started = time.perf_counter()
            reply = subject.answer(prompts[key[0]])
            return key, reply, time.perf_counter() - started

        yield from as_completed(ask, missing, subject.concurrency, stop=subject.close)


def _hosted_answers(
    profile: Profile, spec: SubjectSpec, prompts: dict[str, Prompt], missing: list[ResponseKey]
) -> Iterator[Answered]:
    from rge.providers.hosted import replies, with_more_room
    from rge.providers.options import HostedOptions
    from rge.providers.request import Request

    keys = {"/".join(map(str, key)): key for key in missing}
    room = read_options(HostedOptions, spec).max_tokens
    requests = {
        # Every run of a question sends the same text.
        name: Request(prompt.system, prompt.user, room, n_shared=len(prompt.user))
        for name, key in keys.items()
        for prompt in [prompts[key[0]]]
    }
    owner = f"{spec.name}_{profile.run_id}"
    for name, reply in replies(profile, spec, owner, requests, with_more_room):
        # A row of a batch has no latency of its own, and threads share the provider's limits.
        yield keys[name], reply, None


def _bar(missing: list[ResponseKey]) -> Any:
    name = missing[0][1] if missing else ""
    return tqdm(total=len(missing), desc=name, unit="answer", file=sys.stderr, disable=not missing)


def _response(
    profile: Profile, key: ResponseKey, prompt: Prompt, reply: Reply, latency_s: float | None
) -> Response:
    question_id, subject, run_index = key
    return Response(
        question_id=question_id,
        subject=subject,
        run_index=run_index,
        text=reply.text,
        citations=parse_citations(reply.text, prompt.chunk_ids).valid,
        abstained=detect(reply.text),
        status=reply.status,
        stop_reason=reply.stop_reason,
        model_id=reply.model_id,
        params=reply.params,
        prompt_sha256=prompt.sha256,
        usage=reply.usage,
        cost_usd=reply.cost_usd,
        latency_s=None if latency_s is None else round(latency_s, 3),
        created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        run_id=profile.run_id,
    )


def _refuse_drift(
    profile: Profile, stored: Response, prompt: Prompt, params: dict[str, Any]
) -> None:
    """Raise when a stored response is not what would be asked for today."""
    today = {"run_id": profile.run_id, "prompt_sha256": prompt.sha256, **_plain(params)}
    found = {"run_id": stored.run_id, "prompt_sha256": stored.prompt_sha256, **stored.params}
    for name in sorted((today.keys() | found.keys()) - _NOT_ASKED):
        if today.get(name) != found.get(name):
            raise RgeError(
                profile.responses_path(stored.subject),
                f"response {stored.key} was made with {name} {found.get(name)!r}, "
                f"today it is {today.get(name)!r}",
                allowed="one run holds responses to one prompt with one set of parameters",
                do="give the profile a new run_id, or run again with --fresh",
            )


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as they read back from a file."""
    plain: dict[str, Any] = json.loads(json.dumps(params))
    return plain
