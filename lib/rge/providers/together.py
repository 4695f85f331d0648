"""Lets threads that wait for the disk write together: one sync serves all of them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Together(Generic[T]):
    """Hands items of many threads to `write`, as many at a time as have gathered.

    Parameters
    ----------
    write
        Called by one thread at a time. When it raises, its items stay undone: each thread tries
        its own again and gets the error of its own.
    """

    def __init__(self, write: Callable[[list[T]], None]) -> None:
        self._write = write
        self._gathering, self._writing = Lock(), Lock()
        self._waiting: list[T] = []

    def later(self, item: T) -> None:
        """Have `item` written with the next one, or by `flush`."""
        with self._gathering:
            self._waiting.append(item)

    def flush(self) -> None:
        """Write what was left for later."""
        with self._gathering:
            last = self._waiting[-1:]
        for item in last:
            self._until_written(item)

    def __call__(self, item: T) -> None:
        """Return when `item` is written, by this thread or another."""
        self.later(item)
        self._until_written(item)

    def _until_written(self, item: T) -> None:
        with self._writing:
            with self._gathering:
                items = self._waiting[:]
            if not any(other is item for other in items):
                return
            try:
                self._write(items)
            except BaseException:
                with self._gathering:
                    self._waiting = [other for other in self._waiting if other is not item]
                raise
            with self._gathering:
                del self._waiting[: len(items)]
