"""Runs a subject on the items: each brings its own passages, nothing is retrieved.

An attempt at a run is complete when every item was executed. A killed attempt goes on where it
stopped; an attempt with an item that could not be executed is discarded, and the next call starts
a new one. All of them stay in the file.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from tqdm import tqdm

from rge.board.grade import BoardGrade, grade_all
from rge.board.items import SYSTEM_MESSAGE, Board, Item
from rge.errors import RgeError
from rge.profile import Profile
from rge.prompting import Prompt
from rge.records import Chunk, NonEmpty, Record, Sha256, Usage
from rge.specs import SubjectSpec
from rge.store import Appender
from rge.subjects import Reply, Subject, open_subject

N_AT_A_TIME = 4
N_RETRIES = 3
SERVED = {"max_tokens": 4096, "timeout_s": 90}
LOCAL_KINDS = frozenset({"gguf", "reader-lexical", "reader-semantic"})

AnswerKey = tuple[str, str, str, int, int]


class BoardAnswer(Record):
    """What a subject returned for one item of one attempt at one run."""

    items_sha256: Sha256
    item_id: NonEmpty
    subject: NonEmpty
    run_index: Annotated[int, Field(ge=0)]
    attempt: Annotated[int, Field(ge=0)]
    text: str
    status: Literal["ok", "truncated", "refused_by_provider", "error"]
    stop_reason: str
    model_id: str
    params: dict[str, object]
    prompt_sha256: Sha256
    usage: Usage
    cost_usd: Annotated[float, Field(ge=0)]
    latency_s: Annotated[float, Field(ge=0)]
    created_at: str
    run_id: NonEmpty

    @property
    def key(self) -> AnswerKey:
        return self.items_sha256, self.item_id, self.subject, self.run_index, self.attempt


def board_prompt(item: Item) -> Prompt:
    """The item as sent: instruction and passages as system message, the question alone as user."""
    passages = item.ragqa.passages
    shown = "\n".join(f'<passage id="{p.id}">{p.text}</passage>' for p in passages)
    chunks = tuple(
        Chunk(
            chunk_id=p.id,
            company="board",
            fy="-",
            doc_id=item.id,
            page_start=1,
            page_end=1,
            heading="",
            text=p.text,
            n_tokens=len(p.text.split()),
        )
        for p in passages
    )
    system = f"{SYSTEM_MESSAGE}\n\n{shown}"
    return Prompt(item.id, item.input, chunks, system, item.input, version="board_v1")


def answers_path(profile: Profile, board: Board) -> Path:
    """Where answers are appended.

    Answers quote their items. Those to items from elsewhere go to the build folder, so that nobody
    commits another publisher's text by accident.
    """
    ours = board.path.resolve().is_relative_to(profile.root / "data" / "board")
    folder = profile.raw_dir if ours else profile.build_dir
    return folder / f"board_{profile.run_id}.jsonl"


def run_board(profile: Profile, board: Board, spec: SubjectSpec, n_runs: int) -> list[BoardGrade]:
    """Verdicts on `n_runs` complete runs of a subject; missing answers are collected first.

    Parameters
    ----------
    profile
        Names the run, the seed and the file.
    board
        The items.
    spec
        The subject. A served model gets the board's parameters; a local one keeps its profile's.
    n_runs
        Complete runs wanted, at least 1.

    Raises
    ------
    RgeError
        When an item could not be executed (the attempt is discarded, the message names the ids),
        or when a stored answer was made with another prompt or other parameters.
    """
    if n_runs < 1:
        raise RgeError("runs", f"is {n_runs}", allowed="a whole number from 1")
    path = answers_path(profile, board)
    n_new = 0
    with (
        closing(open_subject(_for_board(profile, spec), seed=profile.seed)) as subject,
        Appender(path, BoardAnswer, lambda record: record.key) as file,
    ):
        runs = []
        for run_index in range(n_runs):
            attempt, done = _open_attempt(file.records, board, spec.name, run_index)
            _refuse_drift(path, board, done, subject)
            missing = [item for item in board if item.id not in {r.item_id for r in done}]
            for item, reply, latency_s in _answers(spec, subject, missing):
                key = (board.content_sha256, item.id, spec.name, run_index, attempt)
                done.append(_record(profile, key, board_prompt(item), reply, latency_s))
                file.append(done[-1])
            _refuse_failures(path, done)
            n_new += len(missing)
            runs.append(grade_all(board, [(r.item_id, r.text) for r in done]))
    n_done = n_runs * len(board) - n_new
    print(f"{spec.name}: {n_new} new, {n_done} already done, 0 failed", file=sys.stderr)
    return runs


def run_subjects(profile: Profile, board: Board) -> dict[str, list[BoardGrade]]:
    """Verdicts of every subject of the profile, each with as many runs as its entry says."""
    return {spec.name: run_board(profile, board, spec, spec.runs) for spec in profile.subjects}


def _for_board(profile: Profile, spec: SubjectSpec) -> SubjectSpec:
    """The subject with the board's parameters, or a reader with the threshold of the study."""
    if spec.kind not in LOCAL_KINDS:
        return spec.model_copy(update={"options": {**spec.options, **SERVED}})
    from rge.thresholds import needs_choice, with_threshold

    if not needs_choice(spec):
        return spec
    from rge.retrieval.retrieve import load

    return with_threshold(profile, spec, load(profile).index_sha256)


def _open_attempt(
    records: Iterable[BoardAnswer], board: Board, subject: str, run_index: int
) -> tuple[int, list[BoardAnswer]]:
    """The attempt to go on with and its finished answers; a new one after a discarded one."""
    run = (board.content_sha256, subject, run_index)
    mine = [r for r in records if (r.items_sha256, r.subject, r.run_index) == run]
    attempt = max((r.attempt for r in mine), default=0)
    done = [r for r in mine if r.attempt == attempt]
    if any(r.status == "error" for r in done):
        return attempt + 1, []
    return attempt, done


def _answers(
    spec: SubjectSpec, subject: Subject, items: Sequence[Item]
) -> Iterator[tuple[Item, Reply, float]]:
    """Replies with their latency in seconds; the first alone, as it opens the connection."""
    if not items:
        return
    bar = tqdm(total=len(items), desc=f"board {spec.name}", unit="answer", file=sys.stderr)
    n_at_a_time = 1 if spec.kind in LOCAL_KINDS else N_AT_A_TIME
    with bar, ThreadPoolExecutor(n_at_a_time) as pool:
        for some in (items[:1], items[1:]):
            for answered in pool.map(lambda item: _ask(subject, item), some):
                bar.update()
                yield answered


def _ask(subject: Subject, item: Item) -> tuple[Item, Reply, float]:
    started = time.perf_counter()
    reply = subject.answer(board_prompt(item))
    for _ in range(N_RETRIES):
        if reply.status != "error" or not reply.stop_reason.startswith("connection lost"):
            break
        reply = subject.answer(board_prompt(item))
    return item, reply, time.perf_counter() - started


def _record(
    profile: Profile, key: AnswerKey, prompt: Prompt, reply: Reply, latency_s: float
) -> BoardAnswer:
    items_sha256, item_id, subject, run_index, attempt = key
    return BoardAnswer(
        items_sha256=items_sha256,
        item_id=item_id,
        subject=subject,
        run_index=run_index,
        attempt=attempt,
        text=reply.text,
        status=reply.status,
        stop_reason=reply.stop_reason,
        model_id=reply.model_id,
        params=reply.params,
        prompt_sha256=prompt.sha256,
        usage=reply.usage,
        cost_usd=reply.cost_usd,
        latency_s=round(latency_s, 3),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        run_id=profile.run_id,
    )


def _refuse_failures(path: Path, done: Sequence[BoardAnswer]) -> None:
    failed = [record for record in done if record.status == "error"]
    if failed:
        ids = ", ".join(record.item_id for record in failed)
        raise RgeError(
            path,
            f"not executed: {ids} ({failed[0].stop_reason})",
            allowed="a score counts only when every item was executed",
            do="this attempt is discarded: run again for a new one",
        )


def _refuse_drift(path: Path, board: Board, done: Sequence[BoardAnswer], subject: Subject) -> None:
    """Raise when a stored answer is not what would be asked for today."""
    params = json.loads(json.dumps(subject.params))
    prompts = {item.id: board_prompt(item).sha256 for item in board}
    for record in done:
        today = {"prompt_sha256": prompts.get(record.item_id), **params}
        found = {"prompt_sha256": record.prompt_sha256, **record.params}
        for name in sorted((today.keys() | found.keys()) - {"retry_max_tokens"}):
            if today.get(name) == found.get(name):
                continue
            raise RgeError(
                path,
                f"the answer of {record.subject} to {record.item_id} was made with {name} "
                f"{found.get(name)!r}, today it is {today.get(name)!r}",
                allowed="one run holds answers to one prompt with one set of parameters",
                do="give the profile a new run_id, or move the file away",
            )
