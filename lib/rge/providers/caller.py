"""Sends requests one by one: reserved before, stored as they come, settled afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import Any, Literal

import numpy as np

from rge.errors import RgeError
from rge.providers.ledger import Ledger, Reservation
from rge.providers.prices import ModelPrice, PriceTable, Tokens, dollars
from rge.providers.replies import Asked, ReplyLog, StoredReply
from rge.providers.request import (
    Answer,
    Body,
    Failure,
    Request,
    Service,
    body_sha256,
    readable,
    request_id,
)
from rge.providers.retries import Gate, RetryPolicy, Stopped
from rge.subjects.reply import Reply, add_usage

# Given a request and its reply, the request to send once more, or None to take the reply.
FollowUp = Callable[[Request, Reply], Request | None]
Mode = Literal["sync", "batch"]
_GIVE_UP_AFTER = 3  # requests in a row that failed after all their attempts
# These say nothing about the request: the run ends and asks it again when it goes on.
_NOT_ITS_FAULT = frozenset(("fatal", "rate_limited", "overloaded", "connection"))


class Caller:
    """One service with its price, its budget and its stored replies.

    Parameters
    ----------
    service
        Where requests go.
    owner
        Names the stored replies' file; reservations carry it.
    run_id
        Of the run that pays.
    prices, ledger
        What calls cost and what may be spent.
    log
        Stored replies, open for writing; its lock makes this the only caller of the owner.
    concurrency
        Requests under way at a time.
    policy
        When a failed request is sent again.
    rng
        Draws the jitter of waits.
    """

    def __init__(
        self,
        service: Service,
        *,
        owner: str,
        run_id: str,
        prices: PriceTable,
        ledger: Ledger,
        log: ReplyLog,
        concurrency: int,
        rng: np.random.Generator,
        policy: RetryPolicy | None = None,
    ) -> None:
        self.service, self.owner, self.run_id = service, owner, run_id
        self.prices, self.ledger, self.log = prices, ledger, log
        self.price: ModelPrice = prices.of(service.model)
        self.gate = Gate(concurrency)
        self.policy = policy or RetryPolicy()
        self._rng, self._drawing = rng, Lock()
        self._n_failed_in_a_row, self._counting = 0, Lock()
        self._settle_orphans()

    def ask(self, key: str, request: Request, follow_up: FollowUp) -> Reply:
        """The reply to a request, or to the one that follows it up.

        Raises
        ------
        OverBudget
            When the call could cross the cap.
        RgeError
            When every further request would fail too: key, quota, model, a provider that is down.
        """
        first = self.reply(key, 0, request)
        follow = follow_up(request, first)
        if follow is None:
            return first
        return combined(first, self.reply(key, 1, follow), follow)

    def reply(self, key: str, attempt: int, request: Request) -> Reply:
        """The reply to one request, stored or asked for; a failure is a reply that says so."""
        body = self.service.body(request)
        asked = self.asked(key, attempt, body)
        stored = self.log.find(asked.request_id)
        if stored is None:
            try:
                stored = self._send(asked, body, request)
            except Failure as failure:
                self.give_up(failure)
                return self.failed(failure, "sync")
            self._n_failed_in_a_row = 0
        return self.reply_of(stored)

    def asked(self, key: str, attempt: int, body: Body) -> Asked:
        """What a reply to `body` is stored under."""
        sha256 = body_sha256(body)
        name = request_id(self.run_id, self.owner, key, attempt, sha256)
        return Asked(name, key, attempt, sha256)

    def worst_case(self, request: Request, mode: Mode) -> int:
        """The most nano-dollars a request can cost."""
        return self.price.worst_case(
            request.tokens_at_most(),
            request.max_tokens,
            batch=mode == "batch",
            cached=self.service.caching,
        )

    def reservation(self, nano: int, n_requests: int, mode: Mode) -> Reservation:
        """What is set aside for requests that are sent together."""
        return Reservation(
            nano=nano,
            run_id=self.run_id,
            owner=self.owner,
            model=self.price.model,
            mode=mode,
            n_requests=n_requests,
        )

    def cost(self, answer: Answer, worst: int, mode: Mode) -> int:
        """Nano-dollars of a reply; `worst` where it shows no tokens or another model."""
        if answer.tokens == Tokens(0, 0) or not self.price.names(answer.model_id):
            return worst
        return self.price.cost(answer.tokens, batch=mode == "batch")

    def reply_of(self, stored: StoredReply) -> Reply:
        """What a stored reply says.

        Raises
        ------
        RgeError
            When another model than the one asked for gave it.
        """
        try:
            answer = read(self.service, stored.body)
        except Failure as failure:
            return replace(self.failed(failure, stored.mode), cost_usd=dollars(stored.cost_nano))
        if not self.price.names(answer.model_id):
            raise RgeError(
                self.owner,
                f"{answer.model_id} answered",
                allowed=f"{self.price.model} was asked for",
                do="if they are the same at the same price, add it to snapshots in "
                "configs/prices.yaml; the reply is kept",
            )
        return Reply(
            text=answer.text,
            stop_reason=answer.stop_reason,
            status=answer.status,
            model_id=answer.model_id,
            usage=answer.usage,
            params=self.params(stored.mode),
            cost_usd=dollars(stored.cost_nano),
        )

    def failed(self, failure: Failure, mode: Mode) -> Reply:
        """The reply that records a failure."""
        return Reply("", str(failure), "error", self.service.model, params=self.params(mode))

    def params(self, mode: str) -> dict[str, Any]:
        """Parameters in force, with how the request was sent."""
        return {**self.service.params, "mode": mode}

    def wait_s(self, failure: Failure, attempt: int) -> float | None:
        """Seconds until a failed request is sent again, None where it is not."""
        with self._drawing:
            return self.policy.wait_s(failure, attempt, self._rng)

    def stop(self) -> None:
        """Begin nothing new; what is under way goes on."""
        if self.gate.n_running:
            print(f"{self.owner}: waiting for replies that are paid for", file=sys.stderr)
        self.gate.stop()

    def close(self) -> None:
        """End waits, settle what is left, close the connection."""
        self.gate.stop()
        self.ledger.flush()
        self.service.close()

    def _send(self, asked: Asked, body: Body, request: Request) -> StoredReply:
        """Send until there is a reply; the last failure is raised."""
        worst = self.worst_case(request, "sync")
        for attempt in range(self.policy.n_attempts):
            name = f"{asked.request_id}-{attempt}"
            # Before its turn, so that the provider is never idle while the disk is busy.
            self.ledger.reserve({name: self.reservation(worst, 1, "sync")})
            try:
                raw = self._in_turn(name, body, attempt)
                cost = self.cost(read(self.service, raw), worst, "sync")
            except Failure as failure:
                self.ledger.settle(name, 0 if failure.billed is False else None)
                wait_s = self.wait_s(failure, attempt)
                if wait_s is None:
                    raise
                self.gate.pause(wait_s)
                continue
            # Stored before it is settled: a reply that was paid for must not be lost. Where it is
            # never settled, the next process finds its cost here.
            stored = self.log.append(asked, raw, mode="sync", cost_nano=cost, n_sent=attempt + 1)
            self.ledger.settle(name, cost, later=True)
            return stored
        raise AssertionError("the policy ends the loop")

    def _in_turn(self, name: str, body: Body, attempt: int) -> Body:
        """A reply's body; after a failure all wait who would meet the same."""
        try:
            self.gate.enter()
        except Stopped:
            self.ledger.settle(name, 0)
            raise
        failure = None
        try:
            return self.service.send(body)
        except Failure as error:
            failure = error
            raise
        finally:
            self.gate.leave(failure, None if failure is None else self.wait_s(failure, attempt))

    def give_up(self, failure: Failure) -> None:
        """End the run where the failure is not the request's, or too many followed each other.

        Raises
        ------
        RgeError
            Then; the request is asked again when the run goes on.
        """
        with self._counting:
            self._n_failed_in_a_row += 1 if failure.again else 0
            too_many = self._n_failed_in_a_row >= _GIVE_UP_AFTER
        if too_many or failure.kind in _NOT_ITS_FAULT:
            raise RgeError(
                self.owner,
                f"{self.service.provider}: {failure}",
                do="fix that or wait, and run again: finished responses are kept",
            ) from None

    def _settle_orphans(self) -> None:
        """Reservations of an earlier process of this owner, which is dead: we hold its lock.

        A request whose reply is stored costs what it cost; any other may have been billed.
        """
        for name, entry in self.ledger.read().open.items():
            if entry.owner == self.owner and entry.mode == "sync":
                stored = self.log.find(name.rpartition("-")[0])
                last = stored is not None and name.endswith(f"-{stored.n_sent - 1}")
                self.ledger.settle(name, stored.cost_nano if stored and last else None)


def read(service: Service, body: Body) -> Answer:
    """What a reply's body says.

    Raises
    ------
    Failure
        Where it is no reply: it is paid for or not, and cannot be read.
    """
    answer = readable(service.answer, body)
    # A reply to a blocked prompt may name no model.
    return replace(answer, model_id=answer.model_id or service.model)


def combined(first: Reply, second: Reply, follow: Request) -> Reply:
    """The reply of a request that was followed up; the first one where the second failed."""
    kept = first if second.status == "error" else second
    return replace(
        kept,
        usage=add_usage(first.usage, second.usage),
        cost_usd=first.cost_usd + second.cost_usd,
        params={**kept.params, "retry_max_tokens": follow.max_tokens},
    )
