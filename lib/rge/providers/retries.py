"""How long to wait and how many requests to have under way: one retry layer for all providers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rge.providers.request import Failure


@dataclass(frozen=True)
class RetryPolicy:
    """When a failed request is sent again.

    Attributes
    ----------
    n_attempts
        Times a request is sent at most.
    base_s, longest_s
        The n-th wait is drawn uniformly from half to all of `base_s` · 2ⁿ, at most `longest_s`.
    longest_retry_after_s
        A provider that asks to wait longer ends the run; finished work is kept.
    """

    n_attempts: int = 8
    base_s: float = 1.0
    longest_s: float = 60.0
    longest_retry_after_s: float = 120.0

    def wait_s(self, failure: Failure, attempt: int, rng: np.random.Generator) -> float | None:
        """Seconds until the next attempt, or None where there is none.

        Parameters
        ----------
        failure
            Of the attempt before.
        attempt
            Its number, from 0.
        rng
            Draws the jitter.
        """
        if not failure.again or attempt + 1 >= self.n_attempts:
            return None
        if failure.retry_after_s is not None:
            if failure.retry_after_s > self.longest_retry_after_s:
                return None
            return float(failure.retry_after_s + rng.uniform(0, 0.1 * self.base_s))
        return float(min(self.base_s * 2**attempt, self.longest_s) * rng.uniform(0.5, 1.0))


class Stopped(Exception):
    """The run was ended while a request waited for its turn."""


@dataclass
class Gate:
    """Lets so many requests through at a time as the provider bears.

    A provider that is overloaded or limits the rate halves the number, once however many requests
    it turns away at a time; every `recover_after` replies in a row raise it by one, up to `most`.
    """

    most: int
    recover_after: int = 16
    clock: Callable[[], float] = time.monotonic
    limit: int = field(init=False)

    def __post_init__(self) -> None:
        self.limit = self.most
        self.n_running = 0
        self._in_a_row = 0
        self._closed_until = 0.0
        self._stopped = False
        self._changed = threading.Condition()

    def enter(self) -> None:
        """Wait for a turn.

        Raises
        ------
        Stopped
            When the run ends meanwhile.
        """
        with self._changed:
            while True:
                if self._stopped:
                    raise Stopped
                pause = self._closed_until - self.clock()
                if self.n_running < self.limit and pause <= 0:
                    self.n_running += 1
                    return
                self._changed.wait(pause if pause > 0 else None)

    def leave(self, failure: Failure | None, wait_s: float | None = None) -> None:
        """End a turn; a rate limit or overload closes the gate for everybody for `wait_s`."""
        with self._changed:
            self.n_running -= 1
            if failure is None:
                self._in_a_row += 1
                if self._in_a_row >= self.recover_after and self.limit < self.most:
                    self.limit, self._in_a_row = self.limit + 1, 0
            else:
                self._in_a_row = 0
                if failure.kind in ("rate_limited", "overloaded"):
                    now = self.clock()
                    if now >= self._closed_until:
                        self.limit = max(1, self.limit // 2)
                    self._closed_until = max(self._closed_until, now + (wait_s or 0.0))
            self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Wait, without a turn.

        Raises
        ------
        Stopped
            When the run ends meanwhile.
        """
        until = self.clock() + seconds
        with self._changed:
            while not self._stopped and (left := until - self.clock()) > 0:
                self._changed.wait(left)
            if self._stopped:
                raise Stopped

    def stop(self) -> None:
        """End all waits."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
