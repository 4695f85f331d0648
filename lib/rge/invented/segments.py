"""Segment figures: external and inter-segment revenue, results, assets, reconciliation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from rge.invented.accounts import Accounts, fine
from rge.invented.spec import YEARS, Bank, Spec


@dataclass(frozen=True)
class SegmentFigures:
    """One segment in one year (lakh of rupees)."""

    id: str
    name: str
    external: int
    inter: int
    result: int
    assets: int = 0
    depreciation: int = 0

    @property
    def gross(self) -> int:
        """Revenue with sales to other segments."""
        return self.external + self.inter


@dataclass(frozen=True)
class SegmentYear:
    """All segments of a year; `unallocated` is a cost, inter-segment revenue is eliminated."""

    rows: tuple[SegmentFigures, ...]
    unallocated: int
    unallocated_assets: int = 0

    @property
    def revenue(self) -> int:
        """Revenue of the group: gross less elimination."""
        return sum(row.external for row in self.rows)

    @property
    def eliminated(self) -> int:
        """Inter-segment revenue, negative as the table prints it."""
        return -sum(row.inter for row in self.rows)

    @property
    def ebit(self) -> int:
        """Sum of segment results less unallocated cost."""
        return sum(row.result for row in self.rows) - self.unallocated

    def row(self, segment_id: str) -> SegmentFigures:
        """The segment with this id."""
        return next(row for row in self.rows if row.id == segment_id)


def company_segments(spec: Spec, rng: np.random.Generator) -> dict[str, SegmentYear]:
    """Revenue and results by segment; they drive the consolidated profit and loss."""
    years = {}
    for i, fy in enumerate(YEARS):
        rows = []
        for segment in spec.segments:
            external = fine(segment.revenue[i], rng)
            inter = round(external * segment.inter / 100 * rng.uniform(0.97, 1.03))
            result = round((external + inter) * segment.margin[i] / 100 * rng.uniform(0.99, 1.01))
            rows.append(SegmentFigures(segment.id, segment.name, external, inter, result))
        years[fy] = SegmentYear(tuple(rows), fine(spec.unallocated[i], rng))
    return years


def allocate(
    spec: Spec, years: Mapping[str, SegmentYear], accounts: Mapping[tuple[str, str], Accounts]
) -> dict[str, SegmentYear]:
    """The same segments with assets and depreciation that sum to the consolidated accounts."""
    allocated = {}
    for fy, year in years.items():
        books = accounts["consolidated", fy]
        total = books.balance["total_assets"]
        held = total - books.balance["cash"] - books.balance["current_investments"]
        weights = [
            row.gross * segment.assets
            for row, segment in zip(year.rows, spec.segments, strict=True)
        ]
        assets = split_by_weight(round(held * 0.94), weights)
        worn = split_by_weight(books.pnl["depreciation"], weights)
        rows = tuple(
            replace(row, assets=a, depreciation=d)
            for row, a, d in zip(year.rows, assets, worn, strict=True)
        )
        allocated[fy] = SegmentYear(rows, year.unallocated, total - sum(assets))
    return allocated


def bank_segments(
    spec: Spec, accounts: Mapping[tuple[str, str], Accounts], rng: np.random.Generator
) -> dict[str, SegmentYear]:
    """A bank's segments: shares of total income and of profit before tax, grossed up."""
    bank = spec.consolidated
    if not isinstance(bank, Bank):
        raise TypeError("bank_segments needs a bank")
    years = {}
    for fy in YEARS:
        books = accounts["consolidated", fy]
        noise = rng.uniform(0.98, 1.02, size=(2, len(bank.segment_income)))
        income = [row[2] * n for row, n in zip(bank.segment_income, noise[0], strict=True)]
        profit = [row[3] * n for row, n in zip(bank.segment_income, noise[1], strict=True)]
        external = split_by_weight(books.pnl["total_income"], income)
        unallocated = round(books.pnl["pbt"] * 0.018)
        results = split_by_weight(books.pnl["pbt"] + unallocated, profit)
        assets = split_by_weight(round(books.balance["total_assets"] * 0.985), income)
        rows = tuple(
            SegmentFigures(row[0], row[1], e, round(e * 0.31), r, a)
            for row, e, r, a in zip(bank.segment_income, external, results, assets, strict=True)
        )
        left = books.balance["total_assets"] - sum(assets)
        years[fy] = SegmentYear(rows, unallocated, left)
    return years


def split_by_weight(total: int, weights: list[float]) -> list[int]:
    """`total` in whole lakh by weight; the first part takes the rounding."""
    parts = [round(total * weight / sum(weights)) for weight in weights]
    parts[0] += total - sum(parts)
    return parts
