"""Files that survive a crash: append-only JSONL for records, atomic JSON for derived results.

A record is finished when its line ends in a newline. A fragment after the last newline is what a
killed process leaves: readers skip it with a warning, the next `Appender` cuts it off and goes on.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from rge.errors import RgeError

R = TypeVar("R", bound=BaseModel)
KeyOf = Callable[[R], Hashable]

LOCK_PATIENCE_S = 5.0


def sha256_text(text: str) -> str:
    """SHA-256 of the UTF-8 bytes of `text`, as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_jsonl(
    path: Path, model: type[R], key: KeyOf[R] | None = None, *, missing_ok: bool = False
) -> list[R]:
    """Records of a JSONL file in file order, each line checked.

    Parameters
    ----------
    path
        The file, UTF-8, one JSON object a line.
    model
        The record every line must be.
    key
        Where given, a key may stand once in the file.
    missing_ok
        A file that does not exist reads as no records.

    Raises
    ------
    RgeError
        On a missing file, a line that is not the record, or a second line of one key; the message
        names the line. A torn last line is no error: it is left out with a warning on stderr.
    """
    if not path.exists():
        if missing_ok:
            return []
        raise RgeError(path, "no such file", do="run the step that writes it")
    records: list[R] = []
    lines_of: dict[Hashable, int] = {}
    for number, line, torn in _lines(path):
        try:
            record = model.model_validate_json(line)
        except ValidationError as error:
            if torn:
                print(f"{path}:{number}: torn last line left out", file=sys.stderr)
                break
            raise _bad_line(path, number, model, error) from None
        if key is not None:
            first = lines_of.setdefault(key(record), number)
            if first != number:
                raise RgeError(
                    f"{path}:{number}",
                    f"key {key(record)} stands already on line {first}",
                    allowed="a key stands once in a file",
                    do="remove one of the two lines",
                )
        records.append(record)
    return records


def _lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Line number (from 1), content and whether it is an unfinished last line."""
    data = path.read_bytes()
    *whole, last = data.split(b"\n")
    for number, line in enumerate(whole, 1):
        yield number, line, False
    if last:
        yield len(whole) + 1, last, True


def _bad_line(path: Path, number: int, model: type[BaseModel], error: ValidationError) -> RgeError:
    return RgeError(
        f"{path}:{number}",
        f"not a {model.__name__}: {first_problem(error)}",
        allowed=f"the keys are {', '.join(model.model_fields)}",
        do="fix or remove the line",
    )


def first_problem(error: ValidationError) -> str:
    """The first problem pydantic found, as `key: message, got value`."""
    problem = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"][:1].lower() + problem["msg"][1:]
    if problem["type"] in {"missing", "extra_forbidden", "json_invalid"}:
        return f"{place}: {message}" if place else message
    if problem["type"] == "value_error":
        return f"{place}: {problem['ctx']['error']}".lstrip(": ")
    got = repr(problem["input"])
    return f"{place}: {message}, got {got if len(got) <= 60 else got[:57] + '…'}".lstrip(": ")


class Appender(Generic[R]):
    """Appends records to a JSONL file that one process at a time may write.

    Each record reaches the disk before `append` returns. `keys` holds the keys already there, so a
    rerun can skip finished work.

    Raises
    ------
    RgeError
        When another process writes the file, when a line in it is bad, when a key is appended a
        second time, or when the disk is full.
    """

    def __init__(self, path: Path, model: type[R], key: KeyOf[R]) -> None:
        self.path, self.model, self.key = path, model, key
        self.records: list[R] = []
        self.keys: set[Hashable] = set()

    def __enter__(self) -> Appender[R]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _lock(self._fd, self.path)
            self._mend_tail()
            self.records = read_jsonl(self.path, self.model, self.key)
        except BaseException:
            os.close(self._fd)
            raise
        self.keys = {self.key(record) for record in self.records}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    def append(self, record: R) -> None:
        """Write one record and wait until it is on the disk."""
        self.write(record)
        self.sync()

    def write(self, record: R) -> None:
        """Hand one record to the system: it survives the process, and after `sync` the machine."""
        key = self.key(record)
        if key in self.keys:
            raise RgeError(
                self.path, f"key {key} is there already", allowed="a key stands once in a file"
            )
        line = record.model_dump_json().encode("utf-8") + b"\n"
        end = os.fstat(self._fd).st_size
        try:
            while line:
                line = line[os.write(self._fd, line) :]
        except OSError as error:
            # A part of a line would be a bad line as soon as another follows it.
            os.ftruncate(self._fd, end)
            raise disk_error(self.path, error) from error
        self.keys.add(key)
        self.records.append(record)

    def sync(self) -> None:
        """Wait until what was written is on the disk."""
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise disk_error(self.path, error) from error

    def _mend_tail(self) -> None:
        """End a whole last record with its newline; cut off a torn one."""
        data = self.path.read_bytes()
        start = data.rfind(b"\n") + 1
        tail = data[start:]
        if not tail:
            return
        try:
            self.model.model_validate_json(tail)
        except ValidationError:
            print(f"{self.path}: torn last line of {len(tail)} bytes cut off", file=sys.stderr)
            os.ftruncate(self._fd, start)
        else:
            os.write(self._fd, b"\n")


@contextmanager
def held(path: Path, where: object, found: str) -> Iterator[None]:
    """Hold a lock file, which shows the process that holds it.

    Parameters
    ----------
    path
        The lock file; it stays when the lock is given back.
    where, found
        Of the error, at once, when another process holds it; `{pid}` becomes its number.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise RgeError(
                where,
                found.format(pid=owner),
                do="wait until it has ended, or end it, and run again",
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _lock(fd: int, path: Path) -> None:
    """Become the file's only writer; the kernel of a run just killed gets a moment to end."""
    deadline = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise RgeError(
                    path, "another process is writing it", do="wait for that run or stop it"
                ) from None
            time.sleep(0.05)


def disk_error(path: Path, error: OSError) -> RgeError:
    """What a failed write means to the user."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return RgeError(
            path,
            "no space left on the disk",
            do="free some space and run again: finished records are kept",
        )
    return RgeError(path, f"cannot be written: {error.strerror}", do="fix that and run again")


def write_text(path: Path, text: str) -> None:
    """Replace a file as a whole: readers see the old content or the new, never a part."""
    if path.exists() and path.read_bytes() == text.encode("utf-8"):
        return
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, suffix=".tmp", delete=False, newline=""
        ) as file:
            temporary = Path(file.name)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise disk_error(path, error) from error


def write_jsonl(path: Path, records: Iterable[BaseModel]) -> None:
    """Replace a derived JSONL file as a whole."""
    write_text(path, "".join(record.model_dump_json() + "\n" for record in records))


def write_json(path: Path, value: Any) -> None:
    """Replace a derived JSON file as a whole; keys sorted, so equal results are equal bytes.

    Raises
    ------
    RgeError
        When a number is NaN or infinite: undefined is `None` with a reason.
    """
    try:
        text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise RgeError(
            path, f"cannot be stored: {error}", allowed="undefined is null with a reason"
        ) from None
    write_text(path, text + "\n")


def read_json(path: Path) -> Any:
    """The content of a JSON file.

    Raises
    ------
    RgeError
        On a missing file or one that is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RgeError(path, "no such file", do="run the notebook that writes it") from None
    except ValueError as error:
        raise RgeError(path, f"not JSON: {error}", do="remove it and run again") from None
