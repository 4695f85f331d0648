"""Collects the responses of subjects: every answer is stored before the next question is asked.

Finished responses are found again by their key (question, subject, run_index), so a run that was
killed goes on where it stopped. A stored response is only kept while it is what today's prompt and
parameters would have asked for.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from rge.errors import RgeError
from rge.profile import Profile
from rge.prompting import Prompt, build_prompt
from rge.records import Question, Response, ResponseKey
from rge.specs import SubjectSpec
from rge.store import Appender
from rge.subjects import Reply, Subject, open_subject
from rge.text.abstention import detect
from rge.text.citations import parse_citations
from rge.thresholds import with_threshold

if TYPE_CHECKING:
    from rge.retrieval.retrieve import Frozen

# A parameter of the second attempt only, so no sign that the first was another.
_RETRY_ONLY = frozenset({"retry_max_tokens"})


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
        open_subject(spec, seed=profile.seed).close()
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
    with (
        closing(open_subject(spec, seed=profile.seed)) as subject,
        Appender(path, Response, lambda response: response.key) as file,
    ):
        planned = [(q.id, spec.name, run) for run in range(spec.runs) for q in questions]
        asked = frozenset(planned)
        for stored in file.records:
            if stored.key in asked:
                _refuse_drift(profile, stored, prompts[stored.question_id], subject)
        missing = [key for key in planned if key not in file.keys]
        n_failed = _ask_missing(profile, subject, prompts, missing, file)
    counts = Counts(len(missing), len(planned) - len(missing), n_failed)
    print(f"{spec.name}: {counts}", file=sys.stderr)
    return counts


def _ask_missing(
    profile: Profile,
    subject: Subject,
    prompts: dict[str, Prompt],
    missing: list[ResponseKey],
    file: Appender[Response],
) -> int:
    """Ask what is missing, store each answer as it comes, return how many failed."""

    def ask(key: ResponseKey) -> Response:
        prompt = prompts[key[0]]
        started = time.perf_counter()
        reply = subject.answer(prompt)
        return _response(profile, key, prompt, reply, time.perf_counter() - started)

    n_failed = 0
    pool = ThreadPoolExecutor(subject.concurrency)
    try:
        with _bar(missing) as bar:
            for response in _as_completed(pool, ask, missing, subject.concurrency):
                file.append(response)
                n_failed += response.status == "error"
                bar.update()
    except BaseException:
        subject.close()  # ends the answers under way, which nobody waits for any more
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return n_failed


def _bar(missing: list[ResponseKey]) -> Any:
    name = missing[0][1] if missing else ""
    return tqdm(total=len(missing), desc=name, unit="answer", file=sys.stderr, disable=not missing)


def _as_completed(
    pool: ThreadPoolExecutor,
    ask: Callable[[ResponseKey], Response],
    keys: Iterable[ResponseKey],
    n_at_once: int,
) -> Iterator[Response]:
    """Answers as they come, with never more than `n_at_once` questions under way."""
    keys = iter(keys)
    running = {pool.submit(ask, key) for key in islice(keys, n_at_once)}
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        # Answers first: a failure that ends the run must not take a finished answer with it.
        for future in sorted(done, key=lambda finished: finished.exception() is not None):
            yield future.result()
        running |= {pool.submit(ask, key) for key in islice(keys, len(done))}


def _response(
    profile: Profile, key: ResponseKey, prompt: Prompt, reply: Reply, latency_s: float
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
        latency_s=round(latency_s, 3),
        created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        run_id=profile.run_id,
    )


def _refuse_drift(profile: Profile, stored: Response, prompt: Prompt, subject: Subject) -> None:
    """Raise when a stored response is not what would be asked for today."""
    today = {"run_id": profile.run_id, "prompt_sha256": prompt.sha256, **_plain(subject.params)}
    found = {"run_id": stored.run_id, "prompt_sha256": stored.prompt_sha256, **stored.params}
    for name in sorted((today.keys() | found.keys()) - _RETRY_ONLY):
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
