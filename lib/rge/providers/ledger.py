"""The money spent on paid services, shared by every process and every restart.

Before a call its worst case is reserved, afterwards the reservation is settled to what the provider
billed. A reservation whose process died is kept at its worst case until it is known what the call
cost: a budget errs by stopping too early.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from rge.errors import RgeError
from rge.providers.prices import NANO, dollars
from rge.providers.together import Together
from rge.specs import Section
from rge.store import disk_error, first_problem

NanoDollars = Annotated[int, Field(ge=0)]


class OverBudget(RgeError):
    """The next call could cross the cap; nothing was sent."""


class Reservation(Section):
    """Worst case of a call or batch under way."""

    nano: NanoDollars
    run_id: str
    owner: str
    model: str
    mode: Literal["sync", "batch"]
    n_requests: Annotated[int, Field(ge=1)]


class Booked(Section):
    """What was settled for one run, model and mode."""

    nano: NanoDollars = 0
    n_settled: Annotated[int, Field(ge=0)] = 0
    n_unbilled: Annotated[int, Field(ge=0)] = 0


class Accounts(Section):
    """The whole ledger; `booked` is keyed `run_id/model/mode`."""

    version: Literal[1] = 1
    open: dict[str, Reservation] = Field(default_factory=dict)
    booked: dict[str, Booked] = Field(default_factory=dict)

    @property
    def spent(self) -> int:
        """Settled nano-dollars."""
        return sum(entry.nano for entry in self.booked.values())

    @property
    def reserved(self) -> int:
        """Nano-dollars that calls under way may still cost."""
        return sum(entry.nano for entry in self.open.values())


@dataclass
class _Change:
    """What is to be done to the accounts, and why it was refused."""

    make: Callable[[Accounts], Accounts]
    refusal: RgeError | None = None


@dataclass(frozen=True)
class Ledger:
    """The ledger file with its cap.

    Parameters
    ----------
    path
        `.budget_ledger.json`; made with the first reservation. A lock file stands beside it.
    cap, warn_at
        Nano-dollars, cumulative over every run that books here.
    warn
        Called with a message, once each time spending passes `warn_at`.
    """

    path: Path
    cap: int = 100 * NANO
    warn_at: int = 50 * NANO
    warn: Callable[[str], None] = print
    _write: Together[_Change] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_write", Together(self._change_all))

    def read(self) -> Accounts:
        """What is booked and what is under way.

        Raises
        ------
        RgeError
            When the file is not a ledger: money may have been spent that it no longer shows.
        """
        try:
            return Accounts.model_validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return Accounts()
        except ValidationError as error:
            raise RgeError(
                self.path,
                f"not a ledger: {first_problem(error)}",
                do="restore it; no paid call is made without it",
            ) from None

    def reserve(self, requests: Mapping[str, Reservation]) -> None:
        """Set aside the worst case of calls, all or none.

        Parameters
        ----------
        requests
            Reservation by id of the call (or batch); an id that is open already is refused.

        Raises
        ------
        OverBudget
            When spent, reserved and these together could pass the cap; the message itemises them.
        """

        def add(accounts: Accounts) -> Accounts:
            for name in requests.keys() & accounts.open.keys():
                raise RgeError(self.path, f"{name} is reserved already", do="settle it first")
            wanted = sum(entry.nano for entry in requests.values())
            if accounts.spent + accounts.reserved + wanted > self.cap:
                raise OverBudget(
                    "budget",
                    f"up to ${dollars(wanted):.4f} for {_itemised(requests.values())} on top of "
                    f"${dollars(accounts.spent):.4f} spent and ${dollars(accounts.reserved):.4f} "
                    f"under way",
                    allowed=f"${dollars(self.cap):.2f} in all",
                    do="finished responses are kept; raise the cap or ask less",
                )
            return accounts.model_copy(update={"open": {**accounts.open, **requests}})

        self._change(add)

    def settle(self, name: str, nano: int | None, *, later: bool = False) -> None:
        """Replace a reservation by what the provider billed.

        Parameters
        ----------
        name
            Id that was reserved.
        nano
            Nano-dollars billed; 0 for a call that costs nothing (refused before it ran); None
            where it cannot be known, which books the worst case.
        later
            Do it with the next change or by `flush`; until then the worst case stays reserved.

        Raises
        ------
        RgeError
            When `name` is not reserved: settling twice would book twice.
        """

        def move(accounts: Accounts) -> Accounts:
            entry = accounts.open.get(name)
            if entry is None:
                raise RgeError(self.path, f"{name} is not reserved", do="reserve before a call")
            changed = _booked(accounts, entry, entry.nano if nano is None else nano)
            if accounts.spent < self.warn_at <= changed.spent:
                spent, cap = dollars(changed.spent), dollars(self.cap)
                self.warn(f"budget: ${spent:.2f} of ${cap:.2f} spent")
            left = {key: value for key, value in accounts.open.items() if key != name}
            return changed.model_copy(update={"open": left})

        if later:
            self._write.later(_Change(move))
        else:
            self._change(move)

    def flush(self) -> None:
        """Settle what was left for later."""
        self._write.flush()

    def _change(self, make: Callable[[Accounts], Accounts]) -> None:
        change = _Change(make)
        self._write(change)
        if change.refusal is not None:
            raise change.refusal

    def _change_all(self, changes: list[_Change]) -> None:
        with self._locked():
            accounts = self.read()
            for change in changes:
                try:
                    accounts = change.make(accounts)
                except RgeError as error:
                    change.refusal = error
            self._replace(accounts.model_dump_json(indent=1) + "\n")

    def _replace(self, text: str) -> None:
        """As `write_text`, several hundred times a second; the lock keeps the name free."""
        temporary = self.path.with_suffix(".tmp")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        except OSError as error:
            raise disk_error(self.path, error) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # The ledger itself is replaced on every change, so the lock is a file of its own.
        descriptor = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _booked(accounts: Accounts, entry: Reservation, nano: int) -> Accounts:
    key = f"{entry.run_id}/{entry.model}/{entry.mode}"
    was = accounts.booked.get(key, Booked())
    now = Booked(
        nano=was.nano + nano,
        n_settled=was.n_settled + entry.n_requests,
        n_unbilled=was.n_unbilled + (entry.n_requests if nano == 0 else 0),
    )
    return accounts.model_copy(update={"booked": {**accounts.booked, key: now}})


def _itemised(entries: Any) -> str:
    totals: dict[tuple[str, str], list[int]] = {}
    for entry in entries:
        item = totals.setdefault((entry.model, entry.mode), [0, 0])
        item[0] += entry.n_requests
        item[1] += entry.nano
    return ", ".join(
        f"{n} {mode} request{'s' * (n != 1)} to {model} (${dollars(nano):.4f})"
        for (model, mode), (n, nano) in sorted(totals.items())
    )
