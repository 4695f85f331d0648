"""FY23 comparatives as the FY24 report restates them; profit and equity never change here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rge.invented.accounts import Accounts
from rge.invented.money import LAKH_PER_CRORE
from rge.invented.segments import SegmentYear
from rge.invented.spec import Restatement, Spec

Key = tuple[str, str]


def restate(
    spec: Spec, accounts: Mapping[Key, Accounts], segments: Mapping[str, SegmentYear]
) -> tuple[dict[Key, Accounts], dict[str, SegmentYear]]:
    """The restated FY23 accounts and segments, empty where nothing was restated."""
    books: dict[Key, Accounts] = {}
    year = segments["FY23"]
    for change in spec.restatements:
        if change.kind == "segment":
            year = _move_segment(year, change)
            continue
        key = ("consolidated", "FY23")
        books[key] = _move_lines(books.get(key, accounts[key]), change)
        if change.kind == "net":
            year = _net_segment(year, change)
    moved = {"FY23": year} if year is not segments["FY23"] else {}
    return books, moved


def _lakh(change: Restatement) -> int:
    return round(change.amount * LAKH_PER_CRORE)


def _move_lines(books: Accounts, change: Restatement) -> Accounts:
    """Move an expense between lines, or present revenue net of it (`kind: net`)."""
    pnl, amount = dict(books.pnl), _lakh(change)
    pnl[change.source] -= amount
    if change.kind == "reclass":
        pnl[change.target] += amount
        return replace(books, pnl=pnl)
    for key in ("revenue", "total_income", "total_expenses"):
        pnl[key] -= amount
    return replace(books, pnl=pnl)


def _move_segment(year: SegmentYear, change: Restatement) -> SegmentYear:
    """Move external revenue and result of a business from one segment to another."""
    revenue, result = _lakh(change), round(change.result * LAKH_PER_CRORE)
    sign = {change.source: -1, change.target: 1}
    rows = tuple(
        replace(
            row,
            external=row.external + sign.get(row.id, 0) * revenue,
            result=row.result + sign.get(row.id, 0) * result,
        )
        for row in year.rows
    )
    return replace(year, rows=rows)


def _net_segment(year: SegmentYear, change: Restatement) -> SegmentYear:
    rows = tuple(
        replace(row, external=row.external - _lakh(change)) if row.id == change.target else row
        for row in year.rows
    )
    return replace(year, rows=rows)
