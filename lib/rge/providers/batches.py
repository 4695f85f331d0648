"""Sends requests as batches: a crash at any line loses no paid row and pays for none twice.

What is sent is written to a journal before it is sent. A batch found there after a restart is read,
not sent again; rows that the provider did not run go into the next batch, and after a few rounds
are asked one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rge.errors import RgeError
from rge.providers.caller import Caller, FollowUp, combined
from rge.providers.harvest import Rows, book, outcomes_of, unreadable
from rge.providers.journal import Journal, PlannedRow
from rge.providers.ledger import OverBudget
from rge.providers.replies import Asked
from rge.providers.request import Body, Failure, Request, Row, request_id
from rge.subjects.reply import Reply
from rge.threads import as_completed

_ROUNDS = 3  # batches a row goes into before it is asked by itself
_READS = 3  # times results with broken lines are fetched again
_POLLS_FAILED = 20  # in a row, before the run ends; the batch itself goes on


@dataclass
class _Item:
    """A request on its way."""

    asked: Asked
    request: Request
    body: Body
    n_rounds: int = 0


@dataclass
class BatchRun:
    """Replies to many requests of one caller, by batch where the provider takes them.

    Parameters
    ----------
    caller
        With its service, budget and stored replies.
    journal
        Open for writing.
    rows
        The most rows of one batch.
    poll_s
        Seconds between two looks at running batches.
    """

    caller: Caller
    journal: Journal
    rows: int
    poll_s: float = 30.0
    _waiting: dict[str, _Item] = field(default_factory=dict)  # for a batch, or in one
    _running: dict[str, tuple[Rows, str]] = field(default_factory=dict)
    _alone: list[_Item] = field(default_factory=list)
    _first: dict[str, Reply] = field(default_factory=dict)  # that were followed up
    _n_read: dict[str, int] = field(default_factory=dict)
    _failed_polls: int = 0

    def replies(
        self, requests: Mapping[str, Request], follow_up: FollowUp
    ) -> Iterator[tuple[str, Reply]]:
        """Key and reply of every request, as they come.

        Raises
        ------
        OverBudget
            When nothing runs and what is left could cross the cap.
        RgeError
            When running batches cannot be looked at any more, or every row would fail; a restart
            goes on with them.
        """
        for key, request in requests.items():
            yield from self._add(key, 0, request, follow_up)
        self._take_up()
        while self._waiting or self._running or self._alone:
            self._submit_all()
            n_running = len(self._running)
            for item, reply in self._collect():
                yield from self._finish(item, reply, follow_up)
            for item, reply in self._ask_alone():
                yield from self._finish(item, reply, follow_up)
            if self._running and len(self._running) == n_running:
                self.caller.gate.pause(self.poll_s)

    def _add(
        self, key: str, attempt: int, request: Request, follow_up: FollowUp
    ) -> Iterator[tuple[str, Reply]]:
        """Queue a request, or finish it with the reply that is stored already."""
        body = self.caller.service.body(request)
        item = _Item(self.caller.asked(key, attempt, body), request, body)
        stored = self.caller.log.find(item.asked.request_id)
        if stored is None:
            self._waiting[item.asked.request_id] = item
        else:
            yield from self._finish(item, self.caller.reply_of(stored), follow_up)

    def _finish(
        self, item: _Item, reply: Reply, follow_up: FollowUp
    ) -> Iterator[tuple[str, Reply]]:
        key = item.asked.key
        if item.asked.attempt:
            yield key, combined(self._first.pop(key), reply, item.request)
            return
        follow = follow_up(item.request, reply)
        if follow is None:
            yield key, reply
        else:
            self._first[key] = reply
            yield from self._add(key, 1, follow, follow_up)

    def _take_up(self) -> None:
        """Go on with batches of an earlier process."""
        unfinished = self.journal.unfinished()
        for name, entry in self.caller.ledger.read().open.items():
            mine = entry.owner == self.caller.owner and entry.mode == "batch"
            if mine and name not in unfinished:
                # Killed between reservation and plan: nothing was sent.
                self.caller.ledger.settle(name, 0)
        for name, (rows, batch_id) in unfinished.items():
            if batch_id is None:
                batch_id = self._find(name, frozenset(rows))
                if batch_id is None:
                    self._drop(name, "planned, but never sent")
                    continue
                self.journal.write(name, "submitted", batch_id=batch_id)
            self._running[name] = rows, batch_id

    def _submit_all(self) -> None:
        under_way = set().union(*(rows for rows, _ in self._running.values()))
        free = []
        for name, item in list(self._waiting.items()):
            if name in under_way:
                continue
            if item.n_rounds < _ROUNDS:
                free.append(name)
            else:
                self._alone.append(self._waiting.pop(name))
        for start in range(0, len(free), self.rows):
            items = {name: self._waiting[name] for name in free[start : start + self.rows]}
            if not self._submit(items):
                return

    def _submit(self, items: dict[str, _Item]) -> bool:
        """Plan, reserve and send one batch; False where its budget is still bound elsewhere."""
        name = f"rge-{request_id(self.caller.owner, self.journal.n_planned, *items)}"
        rows = {row_id: self._planned(item) for row_id, item in items.items()}
        worst = sum(row.nano for row in rows.values())
        try:
            self.caller.ledger.reserve({name: self.caller.reservation(worst, len(rows), "batch")})
        except OverBudget:
            if self._running:
                return False
            raise
        self.journal.write(name, "planned", rows=rows, nano=worst)
        batch_id = self._send(name, items)
        if batch_id is None:
            self._drop(name, "no batch could be had")
            self._leave_to_themselves(rows)
        else:
            self.journal.write(name, "submitted", batch_id=batch_id)
            self._running[name] = rows, batch_id
        return True

    def _planned(self, item: _Item) -> PlannedRow:
        worst = self.caller.worst_case(item.request, "batch")
        asked = item.asked
        return PlannedRow(
            key=asked.key, attempt=asked.attempt, body_sha256=asked.body_sha256, nano=worst
        )

    def _send(self, name: str, items: dict[str, _Item]) -> str | None:
        """The provider's id of the batch, or None where it takes none."""
        caller = self.caller
        bodies = {key: item.body for key, item in items.items()}
        for attempt in range(caller.policy.n_attempts):
            try:
                return caller.service.submit(name, bodies)
            except Failure as failure:
                print(f"{caller.owner}: batch not accepted: {failure}", file=sys.stderr)
                wait_s = caller.wait_s(failure, attempt)
                if not failure.sent_nothing:
                    # The provider may have taken it: look before sending again.
                    caller.gate.pause(self.poll_s)
                    found = self._find(name, frozenset(items))
                    if found is not None:
                        return found
                if wait_s is None:
                    return None
                caller.gate.pause(wait_s)
        return None

    def _collect(self) -> Iterator[tuple[_Item, Reply]]:
        """Rows of the batches that are done."""
        for name, (planned, batch_id) in list(self._running.items()):
            state = None
            try:
                state = self.caller.service.batch_state(batch_id)
                if state.done and not state.failed:
                    rows = list(self.caller.service.results(batch_id))
            except Failure as failure:
                # Results can be late, whatever the state says.
                self._count_poll(failure, hopeless=state is None)
                continue
            self._failed_polls = 0
            if state.failed:
                self._fail(name, planned, state.detail)
            elif state.done:
                n_read = self._n_read[name] = self._n_read.get(name, 0) + 1
                # A download that broke off is fetched again: the file itself may be whole.
                if n_read > _READS or not any(map(unreadable, rows)):
                    yield from self._harvest(name, planned, rows)

    def _fail(self, name: str, planned: Rows, detail: str) -> None:
        """No row of the batch ran: each is asked by itself."""
        print(f"{self.caller.owner}: batch failed: {detail}", file=sys.stderr)
        self._drop(name, detail)
        del self._running[name]
        self._leave_to_themselves(planned)

    def _leave_to_themselves(self, rows: Rows) -> None:
        self._alone += [self._waiting.pop(row_id) for row_id in rows if row_id in self._waiting]

    def _ask_alone(self) -> Iterator[tuple[_Item, Reply]]:
        caller, items, self._alone = self.caller, self._alone, []

        def ask(item: _Item) -> tuple[_Item, Reply]:
            return item, caller.reply(item.asked.key, item.asked.attempt, item.request)

        yield from as_completed(ask, items, caller.gate.most, stop=caller.stop)

    def _harvest(self, name: str, planned: Rows, rows: list[Row]) -> Iterator[tuple[_Item, Reply]]:
        """Store every row, settle the batch, then hand the replies on."""
        outcomes = outcomes_of(planned, rows)
        spent = sum(book(self.caller, planned[one], row) for one, row in outcomes.items())
        if name in self.caller.ledger.read().open:
            self.caller.ledger.settle(name, spent)
        n_replies = sum(row.body is not None for row in outcomes.values())
        detail = f"{n_replies} replies to {len(planned)} rows"
        self.journal.write(name, "harvested", detail=detail, nano=spent)
        del self._running[name]
        fatal = None
        for row_id, row in outcomes.items():
            stored = self.caller.log.find(row_id)
            if row_id not in self._waiting:
                continue
            if stored is not None:
                yield self._waiting.pop(row_id), self.caller.reply_of(stored)
            elif row.failure is None or row.failure.again:
                self._waiting[row_id].n_rounds += 1
            elif row.failure.kind == "fatal":
                fatal = row.failure
            else:
                yield self._waiting.pop(row_id), self.caller.failed(row.failure, "batch")
        if fatal is not None:
            self.caller.give_up(fatal)

    def _drop(self, name: str, detail: str) -> None:
        # A process that was killed right after settling did that already.
        if name in self.caller.ledger.read().open:
            self.caller.ledger.settle(name, 0)
        self.journal.write(name, "dropped", detail=detail)

    def _find(self, name: str, row_ids: frozenset[str]) -> str | None:
        """Look for a batch until the provider says whether it exists."""
        while True:
            try:
                return self.caller.service.find_batch(name, row_ids, self.journal.batch_ids)
            except Failure as failure:
                if failure.kind == "not_ready":
                    print(f"{self.caller.owner}: {failure}; waiting for it", file=sys.stderr)
                else:
                    self._count_poll(failure, hopeless=True)
                self.caller.gate.pause(self.poll_s)

    def _count_poll(self, failure: Failure, *, hopeless: bool) -> None:
        """Never send again because a look failed: the batch goes on and is paid for."""
        self._failed_polls += 1
        if (hopeless and failure.kind == "fatal") or self._failed_polls >= _POLLS_FAILED:
            raise RgeError(
                self.caller.owner,
                f"cannot look at running batches: {failure}",
                do="run again later: it goes on with them",
            ) from None
