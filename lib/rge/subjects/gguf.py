"""A local model from a GGUF file, run on the CPU by llama.cpp (`xllamacpp`)."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from queue import LifoQueue
from typing import Annotated, Any

from pydantic import Field

from rge.errors import RgeError, UsageError
from rge.profile import find_root
from rge.prompting import Prompt
from rge.records import Sha256, Usage
from rge.specs import SubjectSpec
from rge.store import sha256_file
from rge.subjects.gguf_process import ModelProcess, NoReply
from rge.subjects.reply import Options, Reply, Status, read_options

_STATUS: dict[str, Status] = {"stop": "ok", "length": "truncated"}


class GgufOptions(Options):
    """Options of kind gguf: a GGUF file by `path`, or by its name in an installed `package`.

    `max_tokens` is the budget of an answer; as with every subject, an answer that it cuts off gets
    the double before it counts as truncated. `timeout_s` is the limit of one answer. Each of
    `n_processes` holds the model (about 0.25 GB) and answers on its own: two of one thread each
    finish sooner than one of two, whose threads wait for each other at every layer.
    """

    path: Path | None = None
    package: str | None = None
    file: str | None = None
    sha256: Sha256 | None = None
    max_tokens: Annotated[int, Field(ge=1)] = 96
    timeout_s: Annotated[float, Field(gt=0)] = 300.0
    n_ctx: Annotated[int, Field(ge=256)] = 4096
    n_threads: Annotated[int, Field(ge=1)] = 1
    n_threads_batch: Annotated[int, Field(ge=1)] = 1
    n_processes: Annotated[int, Field(ge=1)] = 2


class GgufSubject:
    """A GGUF model, greedy, in child processes that are ended when an answer takes too long."""

    def __init__(self, spec: SubjectSpec, *, seed: int) -> None:
        options = read_options(GgufOptions, spec)
        path = _model_path(spec, options)
        digest = _checked_hash(path, options.sha256)
        self._model_id = path.name
        self._timeout_s = options.timeout_s
        # Greedy text of a larger budget begins with the text of a smaller one, so the second
        # attempt of a cut-off answer is sent at once and the prompt is read only one time.
        self._sampling = {"temperature": 0, "seed": seed, "max_tokens": 2 * options.max_tokens}
        sizes = {
            "n_ctx": options.n_ctx,
            "n_threads": options.n_threads,
            "n_threads_batch": options.n_threads_batch,
        }
        self.params: dict[str, Any] = {
            "model": path.name,
            "model_sha256": digest,
            **self._sampling,
            **sizes,
        }
        self.concurrency = options.n_processes
        config = {"path": str(path), **sizes}
        self._processes = [ModelProcess(config) for _ in range(options.n_processes)]
        self._idle: LifoQueue[ModelProcess] = LifoQueue()
        for process in self._processes:
            self._idle.put(process)

    def answer(self, prompt: Prompt) -> Reply:
        """The model's answer; one that takes longer than the time limit is an error reply.

        Raises
        ------
        RgeError
            When the model cannot be started.
        """
        request = {
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "cache_prompt": False,
            **self._sampling,
        }
        process = self._idle.get()
        try:
            body = process.ask(request, self._timeout_s)
        except NoReply as error:
            return self._failed(str(error))
        finally:
            self._idle.put(process)
        if "error" in body:
            problem = body["error"]
            return self._failed(f"{problem.get('type', 'error')}: {problem.get('message', '')}")
        return self._reply(body)

    def close(self) -> None:
        """End the model processes."""
        for process in self._processes:
            process.close()

    def _reply(self, body: dict[str, Any]) -> Reply:
        choice = body["choices"][0]
        text = (choice["message"].get("content") or "").strip()
        stop_reason = str(choice["finish_reason"])
        status = _STATUS.get(stop_reason, "error")
        if not text and status == "ok":
            status, stop_reason = "error", f"{stop_reason}: no text"
        usage = body.get("usage", {})
        return Reply(
            text=text,
            stop_reason=stop_reason,
            status=status,
            model_id=self._model_id,
            usage=Usage(input=usage.get("prompt_tokens"), output=usage.get("completion_tokens")),
            params=self.params,
        )

    def _failed(self, reason: str) -> Reply:
        return Reply("", reason, "error", self._model_id, params=self.params)


def _model_path(spec: SubjectSpec, options: GgufOptions) -> Path:
    if options.path is not None and options.package is None and options.file is None:
        path = options.path.expanduser()
        return path if path.is_absolute() else find_root() / path
    if options.path is None and options.package is not None and options.file is not None:
        return file_in_package(options.package, options.file)
    raise UsageError(
        f"subject {spec.name}",
        f"path {options.path}, package {options.package}, file {options.file}",
        allowed="either path, or package and file",
        do="fix the options in the profile",
    )


def file_in_package(package: str, name: str) -> Path:
    """A data file of an installed package, found without importing the package.

    Importing may need requirements that only the package's own code uses.

    Raises
    ------
    RgeError
        When the package is not installed or has no file of that name.
    """
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        raise RgeError(
            f"package {package}", "is not installed", do="run `make setup`, or give a path"
        ) from None
    for file in files:
        if file.name == name:
            return Path(str(file.locate()))
    raise RgeError(f"package {package}", f"has no file {name}", do="fix `file` in the profile")


def _checked_hash(path: Path, expected: str | None) -> str:
    if not path.is_file():
        raise RgeError(path, "no such file", allowed="a GGUF file", do="fix `path` in the profile")
    digest = sha256_file(path)
    if expected is not None and digest != expected:
        raise RgeError(
            path,
            f"SHA-256 is {digest}",
            allowed=f"expected {expected}",
            do="install the file again",
        )
    return digest
