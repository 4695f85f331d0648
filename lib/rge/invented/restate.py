"""FY23 comparatives as the FY24 report restates them, and what the correction leaves in FY24."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rge.errors import RgeError
from rge.invented.accounts import Accounts
from rge.invented.money import LAKH_PER_CRORE
from rge.invented.segments import SegmentYear
from rge.invented.sheet import totals
from rge.invented.spec import Restatement, Spec

Key = tuple[str, str]
_CORRECTED_ASSETS = ("inventories", "receivables")
_CORRECTED_CLAIMS = ("payables", "other_liabilities", "provisions")


def restate(
    spec: Spec, accounts: Mapping[Key, Accounts], segments: Mapping[str, SegmentYear]
) -> tuple[dict[Key, Accounts], dict[str, SegmentYear]]:
    """The restated accounts and segments by year, empty where nothing was restated.

    A corrected error (`kind: profit`) changes profit, equity and the balance sheet of FY23, and
    the balance sheet of FY24 that starts from it; every other kind changes lines of FY23 only.

    Raises
    ------
    RgeError
        When a correction names a line or a segment that the accounts do not have.
    """
    books: dict[Key, Accounts] = {}
    years = dict(segments)
    for change in spec.restatements:
        if change.kind == "segment":
            years["FY23"] = _move_segment(years["FY23"], change)
            continue
        if change.kind == "profit":
            _correct(spec, accounts, books, years, change)
            continue
        key = ("consolidated", "FY23")
        books[key] = _move_lines(books.get(key, accounts[key]), change)
        if change.kind == "net":
            years["FY23"] = _net_segment(years["FY23"], change)
    return books, {fy: year for fy, year in years.items() if year is not segments[fy]}


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


def _correct(
    spec: Spec,
    accounts: Mapping[Key, Accounts],
    books: dict[Key, Accounts],
    years: dict[str, SegmentYear],
    change: Restatement,
) -> None:
    """Correct an error of FY23 in both years' accounts and in the segment it arose in."""
    _check(spec, accounts, years["FY23"], change)
    for entity in ("consolidated", "standalone") if change.both else ("consolidated",):
        amount = _lakh(change)
        tax = round(amount * spec.tax_rate / 100)
        for fy in ("FY23", "FY24"):
            start = books.get((entity, fy), accounts[entity, fy])
            balance = _corrected_sheet(start.balance, change.target, amount, tax)
            books[entity, fy] = replace(start, balance=balance)
        corrected = books[entity, "FY23"]
        books[entity, "FY23"] = replace(
            corrected,
            pnl=_corrected_profit(corrected.pnl, change.source, amount, tax),
            cash=_corrected_cash(corrected.cash, change.target, amount),
        )
    for fy in ("FY23", "FY24"):
        years[fy] = _correct_segment(years[fy], change, flows=fy == "FY23")


def _check(
    spec: Spec, accounts: Mapping[Key, Accounts], year: SegmentYear, change: Restatement
) -> None:
    pnl, ids = accounts["consolidated", "FY23"].pnl, [row.id for row in year.rows]
    allowed = (*_CORRECTED_ASSETS, *_CORRECTED_CLAIMS)
    for field, value, options in (
        ("from", change.source, tuple(pnl)),
        ("to", change.target, allowed),
        ("segment", change.segment, tuple(ids)),
    ):
        if value not in options:
            raise RgeError(
                f"companies/{spec.slug}.yaml: restatements: {field}",
                f"{value!r} cannot be corrected",
                allowed=", ".join(options),
            )


def _corrected_profit(
    before: Mapping[str, int], source: str, amount: int, tax: int
) -> dict[str, int]:
    """Profit lower by `amount` before tax; the tax on it is deferred tax."""
    pnl = dict(before)
    if source == "revenue":
        for key in ("revenue", "total_income"):
            pnl[key] -= amount
    else:
        for key in (source, "total_expenses"):
            pnl[key] += amount
    for key in ("ebitda", "before_exceptional", "pbt"):
        pnl[key] -= amount
    for key in ("deferred_tax", "tax"):
        pnl[key] -= tax
    for key in ("pat", "owners", "comprehensive"):
        pnl[key] -= amount - tax
    return pnl


def _corrected_sheet(
    before: Mapping[str, int], target: str, amount: int, tax: int
) -> dict[str, int]:
    sheet = dict(before)
    sheet[target] += -amount if target in _CORRECTED_ASSETS else amount
    sheet["deferred_tax_liability"] -= tax
    sheet["other_equity"] -= amount - tax
    return totals(sheet)


def _corrected_cash(before: Mapping[str, int], target: str, amount: int) -> dict[str, int]:
    """Less profit and a smaller change of working capital: cash from operations is the same."""
    cash = dict(before)
    for key in ("pbt_cf", "before_working"):
        cash[key] -= amount
    cash[f"{target}_cf"] += amount
    return cash


def _correct_segment(year: SegmentYear, change: Restatement, *, flows: bool) -> SegmentYear:
    amount = _lakh(change)
    lost = amount if change.target in _CORRECTED_ASSETS else 0
    row = year.row(change.segment)
    corrected = replace(row, assets=row.assets - lost)
    if flows:
        sold = amount if change.source == "revenue" else 0
        corrected = replace(corrected, result=row.result - amount, external=row.external - sold)
    rows = tuple(corrected if r.id == change.segment else r for r in year.rows)
    return replace(year, rows=rows)


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
