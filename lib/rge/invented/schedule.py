"""A note schedule as data, and the view of the ledger that schedules are made from."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rge.invented.accounts import Accounts
from rge.invented.schedule_defaults import DEFAULTS
from rge.invented.segments import split_by_weight
from rge.invented.spec import Spec
from rge.invented.tables import Tables

Cell = int | str
Rows = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Entry:
    """A row: whole lakh or text by column; `lines` names the statement line of each column.

    A `sub` row is the sum of the items since the last `sub`, `total` or `head`; a `total` row the
    sum of all items since the last `total`; a `memo` row stands outside of the sums.
    """

    label: str
    cells: tuple[Cell, ...]
    kind: Literal["item", "sub", "total", "head", "memo"] = "item"
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """One table; `years` holds the year of each column, `across` that the last column is a sum."""

    id: str
    columns: tuple[str, ...]
    years: tuple[str, ...]
    entries: tuple[Entry, ...]
    across: bool = False
    suffix: str = ""
    unit: str = "money"
    notes: tuple[str, ...] = ()
    widths: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """What the schedules of one entity in the report of one year draw on."""

    tables: Tables
    entity: str

    @property
    def spec(self) -> Spec:
        return self.tables.spec

    @property
    def group(self) -> bool:
        return self.entity == "consolidated"

    @property
    def years(self) -> tuple[str, str]:
        """This year and the comparative."""
        return self.tables.years

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(self.tables.year_label(fy) for fy in self.years)

    def books(self, fy: str) -> Accounts:
        """Accounts of `fy` as this report prints them."""
        return self.tables.figures.ledger.shown(self.tables.report, self.entity, fy)

    def line(self, name: str, fy: str) -> int:
        """A statement line in lakh; `-name` is its negative, `a+b` a sum."""
        return _read(self.books(fy), name)

    def first(self, name: str, fy: str) -> int:
        """The same line before any restatement."""
        return _read(self.tables.figures.ledger.accounts[self.entity, fy], name)

    def pair(self, name: str) -> tuple[int, ...]:
        return tuple(self.line(name, fy) for fy in self.years)

    def rng(self, key: str, fy: str = "") -> np.random.Generator:
        """Digits of one schedule and year; independent of the ledger's and of other schedules'."""
        slug, seed = self.spec.slug, self.tables.figures.ledger.seed
        place = zlib.crc32(f"{self.entity} {key} {fy}".encode())
        return np.random.default_rng([seed, zlib.crc32(f"{slug} schedules".encode()), place])

    def rows(self, key: str) -> Rows:
        """Labels and weights of a schedule: the company's own, else neutral ones.

        A list for one entity (`borrowings_standalone`) goes before the list for both; from the
        latter the parent's schedule leaves out rows that name a subsidiary, the group's schedule
        of investments those in subsidiaries.
        """
        apart = f"{key}_{self.entity}"
        if apart in self.spec.schedules:
            return self.spec.schedules[apart]
        if apart == "investments_standalone" and self.spec.kind == "company":
            # What the parent holds is stated by kind of instrument, not company by company.
            return DEFAULTS[apart]
        rows = self.spec.schedules.get(key) or DEFAULTS.get(apart) or DEFAULTS[key]
        return tuple(row for row in rows if not self._foreign(key, row[0])) or rows

    def _foreign(self, key: str, label: str) -> bool:
        if self.group:
            return key == "investments" and "subsidiar" in label.lower()
        own = self.spec.name.split()[0]
        names = {s.name.split()[0] for s in self.spec.subsidiaries if s.relation == "Subsidiary"}
        return any(name in label for name in names - {own})

    def weights(self, key: str, fy: str, rows: Rows, spread: float = 0.07) -> list[float]:
        """Weights of a year: varied a little, for a row of the parent as for the group's.

        The same variation keeps a part of the parent's line from passing that of the group.
        """
        noise = self.rng(key, fy).uniform(1 - spread, 1 + spread, size=len(rows))
        shared: dict[str, float] = {}
        if not self.group:
            group = View(self.tables, "consolidated")
            theirs = group.rows(key) if key in self.spec.schedules else rows
            drawn = group.rng(key, fy).uniform(1 - spread, 1 + spread, size=len(theirs))
            shared = {label: float(n) for (label, _), n in zip(theirs, drawn, strict=True)}
        return [w * shared.get(label, n) for (label, w), n in zip(rows, noise, strict=True)]

    def split(self, key: str, line: str, fy: str, rows: Rows | None = None) -> list[int]:
        """A statement line in parts by weight.

        A restatement changes the largest part only, unless it is more than half of that part: then
        every part changes in proportion, so that none turns negative.
        """
        chosen = rows or self.rows(key)
        first, now = self.first(line, fy), self.line(line, fy)
        weights = self.weights(key, fy, chosen)
        parts = split_by_weight(first, weights)
        largest = max(range(len(parts)), key=lambda i: abs(parts[i]))
        if 2 * abs(now - first) > abs(parts[largest]):
            return split_by_weight(now, weights)
        parts[largest] += now - first
        return parts

    def two_years(
        self,
        key: str,
        parts: Sequence[Sequence[int]],
        *,
        total: str,
        line: str,
        labels: Sequence[str] = (),
        notes: tuple[str, ...] = (),
        memos: tuple[Entry, ...] = (),
    ) -> Schedule:
        """Rows of this year and the comparative (`parts`, a sequence a year) with their total."""
        names = labels or [label for label, _ in self.rows(key)]
        entries = [
            Entry(name, tuple(cells))
            for name, *cells in zip(names, *parts, strict=True)
            if any(cells)
        ]
        entries.append(Entry(total, self.pair(line), "total", (line, line)))
        return Schedule(
            key, self.heads, self.years, (*entries, *memos), notes=self._restated(line) + notes
        )

    def _restated(self, line: str) -> tuple[str, ...]:
        before = self.years[1]
        if self.first(line, before) == self.line(line, before) or before != "FY23":
            return ()
        return (f"Comparative amounts of {self.heads[1]} are restated.",)

    def simple(
        self, key: str, line: str, *, total: str, notes: tuple[str, ...] = ()
    ) -> list[Schedule]:
        """One statement line in parts, both years; nothing where the line is nil."""
        if not any(self.pair(line)):
            return []
        parts = [self.split(key, line, fy) for fy in self.years]
        return [self.two_years(key, parts, total=total, line=line, notes=notes)]

    def choice(self, key: str, options: Sequence[str]) -> str:
        """The wording this company uses, the same in all its reports."""
        return options[zlib.crc32(f"{self.spec.slug} {key}".encode()) % len(options)]


def exact(total: int, weights: Sequence[float]) -> list[int]:
    """Parts by weight in whole lakh; rounding falls on the largest, never where nothing is."""
    largest = max(range(len(weights)), key=lambda i: weights[i])
    turned = split_by_weight(total, [weights[largest], *weights[:largest], *weights[largest + 1 :]])
    return [*turned[1 : largest + 1], turned[0], *turned[largest + 1 :]]


def day(fy: str, *, opening: bool = False) -> str:
    """The balance sheet date of a year, or the first day of it."""
    end = int(fy[2:])
    return f"1 April 20{end - 1}" if opening else f"31 March 20{end}"


def earlier(fy: str) -> str:
    """The year before."""
    return f"FY{int(fy[2:]) - 1}"


def _read(books: Accounts, name: str) -> int:
    if "+" in name:
        return sum(_read(books, part) for part in name.split("+"))
    amount = books.find(name.removeprefix("-"))
    if amount is None:
        raise KeyError(name)
    return -amount if name.startswith("-") else amount
