"""Pages read by several processes at once, in the order they stand in.

A worker is a plain Python process (`python -m rge.corpus.workers`) that reads one request a line
and answers it with one line of pages. It does not import the caller's script, so it works alike in
scripts, notebooks and tests, and it ends by itself when the caller is gone and its input closes.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from rge.corpus import extract
from rge.records import Page

PAGES_A_TASK = 16
MIN_PAGES = 48  # fewer are read sooner than the workers have started


class Task(NamedTuple):
    """Pages `start` to `stop` - 1 (from 0) of a file."""

    path: Path
    doc_id: str
    start: int
    stop: int


def n_cpus() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def tasks_of(path: Path, doc_id: str, n_pages: int) -> list[Task]:
    """The ranges of pages a file is read in."""
    return [
        Task(path, doc_id, start, min(start + PAGES_A_TASK, n_pages))
        for start in range(0, n_pages, PAGES_A_TASK)
    ]


def read_tasks(tasks: Sequence[Task], n_workers: int | None = None) -> Iterator[list[Page]]:
    """Pages of each task as they come, in the order of the tasks, whoever read them.

    Parameters
    ----------
    tasks
        Ranges of files that can be opened.
    n_workers
        Processes; by default one a processor, and none beside this one for few pages.
    """
    if n_workers is None:
        n_pages = sum(task.stop - task.start for task in tasks)
        n_workers = min(n_cpus(), len(tasks)) if n_pages >= MIN_PAGES else 1
    with extract.Ranges() as ranges:

        def read_here(task: Task) -> list[Page]:
            return ranges.read(task.path, task.doc_id, task.start, task.stop)

        if n_workers <= 1:
            yield from map(read_here, tasks)
            return
        for task, pages in zip(tasks, _read_by_workers(tasks, n_workers), strict=True):
            # A worker that has died leaves its task to this process.
            yield read_here(task) if pages is None else pages


def _read_by_workers(tasks: Sequence[Task], n_workers: int) -> Iterator[list[Page] | None]:
    workers = [_start() for _ in range(n_workers)]
    idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
    for worker in workers:
        idle.put(worker)
    threads = ThreadPoolExecutor(n_workers)
    try:
        yield from threads.map(lambda task: _ask(task, idle), tasks)
    finally:
        for worker in workers:
            worker.kill()  # idle now, or no longer wanted: an error or Ctrl-C came first
        threads.shutdown(cancel_futures=True)
        for worker in workers:
            worker.wait()
            for stream in (worker.stdin, worker.stdout):
                with suppress(OSError):  # what a dead worker did not take is flushed in vain
                    if stream is not None:
                        stream.close()


def _start() -> subprocess.Popen[bytes]:
    library = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (library, os.environ.get("PYTHONPATH", ""))))
    return subprocess.Popen(
        [sys.executable, "-m", "rge.corpus.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )


def _ask(task: Task, idle: SimpleQueue[subprocess.Popen[bytes]]) -> list[Page] | None:
    """The answer of an idle worker, None where it has died."""
    worker = idle.get()
    try:
        if worker.stdin is None or worker.stdout is None:
            return None
        request = [str(task.path), task.doc_id, task.start, task.stop]
        worker.stdin.write(json.dumps(request).encode() + b"\n")
        worker.stdin.flush()
        answer = worker.stdout.readline()
    except (OSError, ValueError):
        return None
    finally:
        idle.put(worker)
    if not answer.endswith(b"\n"):
        return None
    return [Page.model_validate(page) for page in json.loads(answer)]


def main() -> None:
    """Answer requests until the input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's to handle
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing a library prints is an answer
    gc.disable()  # parsing makes millions of short-lived objects, few of them in cycles
    with extract.Ranges() as ranges:
        for line in sys.stdin.buffer:
            path, doc_id, start, stop = json.loads(line)
            pages = ranges.read(Path(path), doc_id, start, stop)
            answers.write(json.dumps([page.model_dump() for page in pages]).encode() + b"\n")
            answers.flush()
            gc.collect()


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        raise SystemExit(0) from None
