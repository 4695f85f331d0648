"""Runs the numbered notebooks of a profile in order, one process each, and skips finished work.

The notebooks resume by themselves (finished responses and judgements are kept), so running one
again costs little. What this module adds is knowing that nothing changed at all, and then not
starting a kernel.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import yaml

from rge import notebooks
from rge.errors import RgeError
from rge.profile import Profile
from rge.store import read_json, sha256_file, write_json, write_text

CELL_TIMEOUT_S = 4 * 3600
SOURCES = ("lib/rge", "configs", "data/corpus", "data/questions", "data/labels", "data/board")


def run(
    profile: Profile,
    *,
    first: int = 1,
    last: int = 99,
    parameters: dict[str, Any] | None = None,
) -> list[Path]:
    """Execute the notebooks from `first` to `last` and return where the executed copies are.

    The default study's notebooks are rewritten in place, normalised; those of any other profile go
    to its build folder. `parameters` go to each notebook that has them; one that no notebook has
    is refused before anything runs.

    Raises
    ------
    RgeError
        When a cell fails: notebook, cell and the error's own line. Notebooks before it are done.
    """
    given = {"profile": str(profile.source), **(parameters or {})}
    if profile.source == profile.root / "configs" / f"{profile.name}.yaml":
        given["profile"] = profile.name
    sources = notebooks.numbered(profile.root / "notebooks", first, last)
    _check_all(sources, given)
    with _only_run(profile):
        stamp = _Stamp(profile)
        return [_run_one(profile, stamp, source, given) for source in sources]


def plan(profile: Profile) -> str:
    """What a run would do: one line a subject with its planned and stored responses."""
    from rge.records import Question, Response
    from rge.store import read_jsonl

    n_questions = profile.limit_questions
    if profile.questions is not None and profile.questions.is_file():
        stored = len(read_jsonl(profile.questions, Question, lambda q: q.id))
        n_questions = min(stored, profile.limit_questions or stored)
    lines = [f"profile {profile.name}, run {profile.run_id}"]
    for spec in profile.subjects:
        path = profile.responses_path(spec.name)
        n_done = len(read_jsonl(path, Response, lambda r: r.key, missing_ok=True))
        judges = ", ".join(j.name for j in profile.judges_of(spec))
        planned = "all questions" if n_questions is None else str(n_questions * spec.runs)
        lines.append(f"{spec.name}: {planned} responses, {n_done} stored; judges {judges}")
    return "\n".join(lines)


def set_aside(profile: Profile) -> Path | None:
    """Move this run's stored results out of the way, so that everything is done anew.

    Returns the folder they are in now, or None when there was nothing. Nothing is deleted.
    """
    found = sorted(profile.raw_dir.glob(f"*_{profile.run_id}.*jsonl"))
    found += [p for p in {profile.results_dir, profile.collection_dir} if p.exists()]
    if not found:
        return None
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target = profile.build_dir / "set-aside" / stamp
    target.mkdir(parents=True)
    for path in found:
        path.rename(target / path.name)
    print(f"{len(found)} stored files set aside in {target}", file=sys.stderr)
    return target


def _check_all(sources: list[Path], given: dict[str, Any]) -> None:
    known = {name for source in sources for name in notebooks.parameters(source)}
    for name in given:
        if name not in known:
            notebooks.check_parameters(sources[-1], {name: None})


@contextlib.contextmanager
def _only_run(profile: Profile) -> Iterator[None]:
    """One run of a profile at a time; a second one is told so at once."""
    profile.build_dir.mkdir(parents=True, exist_ok=True)
    path = profile.build_dir / "run.lock"
    with path.open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RgeError(
                path, f"profile {profile.name} is running already", do="wait for it or stop it"
            ) from None
        yield


class _Stamp:
    """What the last run read and left behind; equal on both sides means nothing to do.

    Once a notebook has to run, those after it run too. A killed run leaves outputs that no stamp
    knows, so the next one goes through every notebook and finds the finished records.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.path = profile.build_dir / "stamp.json"
        stored = read_json(self.path) if self.path.exists() else {}
        self.inputs: dict[str, str] = stored.get("inputs", {})
        self.intact = stored.get("outputs") == _outputs(profile)

    def knows(self, name: str, inputs: str) -> bool:
        self.intact = self.intact and self.inputs.get(name) == inputs
        return self.intact

    def put(self, name: str, inputs: str) -> None:
        self.inputs[name] = inputs
        write_json(self.path, {"inputs": self.inputs, "outputs": _outputs(self.profile)})


def _run_one(profile: Profile, stamp: _Stamp, source: Path, given: dict[str, Any]) -> Path:
    own = notebooks.parameters(source)
    changed = {k: v for k, v in given.items() if k in own and own[k] != v}
    target = profile.notebooks_dir / source.name
    inputs = _inputs(profile, source, changed)
    if stamp.knows(source.name, inputs):
        print(f"{source.name}: nothing changed", file=sys.stderr)
        return target
    started = time.monotonic()
    raw = profile.build_dir / "running" / source.name
    _papermill(profile, source, raw, changed)
    write_text(target, nbformat.writes(notebooks.normalised(notebooks.read(raw))) + "\n")
    raw.unlink()
    stamp.put(source.name, inputs)
    print(f"{source.name}: done in {time.monotonic() - started:.0f} s", file=sys.stderr)
    return target


def _papermill(profile: Profile, source: Path, raw: Path, changed: dict[str, Any]) -> None:
    raw.parent.mkdir(parents=True, exist_ok=True)
    # A notebook's progress bars go to this terminal; papermill's own messages are kept for errors.
    terminal = os.dup(2)
    command = [sys.executable, "-m", "papermill", str(source), str(raw)]
    command += ["--parameters_yaml", yaml.safe_dump(changed)] if changed else []
    command += ["--kernel", "python3", "--language", "python", "--cwd", str(profile.root)]
    command += ["--no-progress-bar", "--stderr-file", f"/dev/fd/{terminal}"]
    command += ["--execution-timeout", str(CELL_TIMEOUT_S), "--log-level", "ERROR"]
    try:
        done = subprocess.run(
            command,
            cwd=profile.root,
            text=True,
            stderr=subprocess.PIPE,
            pass_fds=(terminal,),
            preexec_fn=_die_with_parent,
        )
    finally:
        os.close(terminal)
    failed = notebooks.failure(raw) if raw.exists() else None
    if failed:
        number, name, message = failed
        detail = message if name in {"RgeError", "UsageError"} else f"{name}: {message}"
        raise RgeError(f"{source.name}, cell {number}", detail)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RgeError(source.name, f"could not be run: {last}", do="see the message and run again")


def _die_with_parent() -> None:
    """Let a killed run take its notebook along (Linux; elsewhere the notebook ends by itself)."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _inputs(profile: Profile, source: Path, changed: dict[str, Any]) -> str:
    """Digest of everything a notebook reads that no notebook writes."""
    parts = [notebooks.digest(source), repr(sorted(changed.items())), repr(profile.overrides)]
    for name in SOURCES:
        parts += _tree(profile.root / name)
    if profile.corpus.kind == "financebench":
        parts += _tree(profile.corpus.folder)
    return hashlib.sha256("\n".join(parts).encode("utf-8")).hexdigest()


def _outputs(profile: Profile) -> str:
    """Digest of what the notebooks of this run have written up to now."""
    parts = _tree(profile.results_dir) + _tree(profile.figures_dir)
    raw = sorted(profile.raw_dir.glob(f"*_{profile.run_id}*.jsonl"))
    executed = sorted(profile.notebooks_dir.glob("*.ipynb"))
    parts += [f"{path.name} {sha256_file(path)}" for path in raw + executed]
    return hashlib.sha256("\n".join(parts).encode("utf-8")).hexdigest()


def _tree(folder: Path) -> list[str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return [f"{p.relative_to(folder)} {sha256_file(p)}" for p in files]
