"""The parent's side of the model process: start, ask with a deadline, kill, start again."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

from rge.errors import RgeError

START_TIMEOUT_S = 180.0
_WORKER = Path(__file__).with_name("gguf_worker.py")


class NoReply(Exception):
    """The model process gave no reply; the message is the reason."""


class ModelProcess:
    """A child process with one loaded model, started when first asked.

    Parameters
    ----------
    config
        Path and sizes, as `gguf_worker.load` reads them.
    command
        Program that speaks the worker's protocol.
    """

    def __init__(self, config: dict[str, Any], command: list[str] | None = None) -> None:
        self.config = config
        self._command = command or [sys.executable, "-P", str(_WORKER)]
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """The model's reply to one request.

        Raises
        ------
        NoReply
            When the deadline passes or the process dies; the next call starts a new one.
        RgeError
            When the model cannot be started.
        """
        if self._process is None:
            self._start()
        try:
            return self._exchange(request, time.monotonic() + timeout_s)
        except BaseException:
            # An unread reply would be taken for the answer to the next question.
            self.close()
            raise

    def close(self) -> None:
        """End the child process. Harmless when there is none."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except BrokenPipeError:
                continue

    def _start(self) -> None:
        self._buffer = b""
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                # Threads that wait must not spin: they take the cores from whatever else runs.
                env={**os.environ, "OMP_WAIT_POLICY": "passive"},
                # Ctrl-C goes to the parent alone, which then ends the child.
                start_new_session=True,
            )
            try:
                self._exchange(self.config, time.monotonic() + START_TIMEOUT_S)
            except NoReply as error:
                self.close()
                raise RgeError(
                    self.config.get("path", "model"),
                    f"the model does not start: {_last_line(errors) or error}",
                    allowed="a GGUF file that this machine can load",
                    do="check the file and the memory",
                ) from None
            except BaseException:
                self.close()
                raise

    def _exchange(self, message: dict[str, Any], deadline: float) -> dict[str, Any]:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(message).encode("utf-8") + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise NoReply(_end_of(process)) from None
        while b"\n" not in self._buffer:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([process.stdout], [], [], remaining)[0]:
                raise NoReply("timeout")
            part = os.read(process.stdout.fileno(), 65536)
            if not part:
                raise NoReply(_end_of(process))
            self._buffer += part
        line, self._buffer = self._buffer.split(b"\n", 1)
        reply: dict[str, Any] = json.loads(line)
        return reply


def _end_of(process: subprocess.Popen[bytes]) -> str:
    return f"model process ended with code {process.wait()}"


def _last_line(file: IO[bytes]) -> str:
    file.seek(0)
    lines = file.read().decode("utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
