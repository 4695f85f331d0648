"""Schedules of a bank's statements, in the order of a bank's balance sheet and profit and loss."""

from __future__ import annotations

import re

from rge.invented.bank_quality import (
    adequacy_schedule,
    bank_ratio_schedules,
    quality_schedules,
)
from rge.invented.equity_schedules import equity_schedules
from rge.invented.fixed_assets import movement_schedules
from rge.invented.income_schedules import csr_schedule, earnings_schedule, tax_schedule
from rge.invented.schedule import Entry, Rows, Schedule, View, day
from rge.invented.segments import split_by_weight

_HELD = ("Held to maturity", "Available for sale", "Held for trading", "Total")
_PERIODS = (
    *("Next day", "2-7 days", "8-30 days", "31-90 days", "91-180 days", "181-365 days"),
    *("1-3 years", "3-5 years", "Over 5 years"),
)
_PATTERN = {
    "deposits": (1.1, 3.4, 3.9, 6.8, 8.2, 15.6, 38.0, 12.0, 11.0),
    "advances": (1.8, 1.6, 4.1, 8.3, 8.8, 11.6, 33.4, 12.4, 18.0),
    "investments": (6.2, 2.6, 4.4, 6.9, 5.8, 9.1, 21.0, 14.0, 30.0),
    "bank_borrowings": (0.6, 3.1, 5.2, 9.4, 11.8, 16.2, 29.7, 14.0, 10.0),
}


def bank_schedules(view: View) -> list[Schedule]:
    """Liabilities, assets, income, expenditure, risk."""
    found = [*equity_schedules(view), _deposits(view)]
    found += _two(view, "bank_borrowings", "borrowings", "bank_borrowings", "Borrowings")
    found += _two(
        view,
        "bank_liabilities",
        "other_liabilities",
        "other_liabilities",
        "Other liabilities and provisions",
    )
    found += _two(
        view,
        "bank_cash",
        "cash",
        "cash",
        "Cash and balances with the Reserve Bank and other banks",
    )
    found += [_investments(view, fy) for fy in view.years]
    found += _two(view, "advances", "advances", "advances", "Advances, net of provisions")
    found += _two(view, "security", "security", "advances", "Advances, net of provisions")
    found += movement_schedules(
        view, "fixed_assets", ("Premises include the cost of flats for staff.",)
    )
    found += _two(view, "other_assets", "other_assets", "other_assets", "Other assets")
    found += _two(view, "interest_earned", "interest_earned", "interest_earned", "Interest earned")
    found += _two(view, "fee_income", "fee_income", "other_income", "Other income")
    found += _two(
        view, "interest_expended", "interest_expended", "interest_expended", "Interest expended"
    )
    found.append(_expenses(view))
    found += _two(
        view,
        "provisions_charge",
        "provisions_charge",
        "provisions_charge",
        "Provisions and contingencies (other than tax)",
    )
    found.append(tax_schedule(view))
    if not view.group:
        found += [earnings_schedule(view), *csr_schedule(view), *quality_schedules(view)]
        found.append(adequacy_schedule(view))
    found += [_maturity(view, fy) for fy in view.years]
    found += bank_ratio_schedules(view)
    return found


def _rows(view: View, key: str, default: str) -> Rows:
    return view.rows(key if key in view.spec.schedules else default)


def _two(view: View, schedule: str, key: str, line: str, total: str) -> list[Schedule]:
    """A statement line in parts; `key` names the company's own labels for it."""
    rows = _rows(view, key, schedule)
    parts = [view.split(schedule, line, fy, rows) for fy in view.years]
    labels = [label for label, _ in rows]
    return [view.two_years(schedule, parts, total=total, line=line, labels=labels)]


def casa(view: View, fy: str) -> int:
    """Current and savings deposits: the stated ratio of total deposits (lakh)."""
    ledger, report = view.tables.figures.ledger, view.tables.report
    ratio = ledger.metric_shown(report, "casa", fy)
    return round(view.line("deposits", fy) * ratio / 100)


def _deposits(view: View) -> Schedule:
    """Deposits by type; current and savings rows sum to the stated CASA ratio."""
    rows = view.rows("deposits")
    low = [bool(re.search(r"current|saving", label, re.I)) for label, _ in rows]
    columns = []
    for fy in view.years:
        weights = view.weights("deposits", fy, rows)
        cheap = casa(view, fy)
        first = iter(split_by_weight(cheap, [w for w, c in zip(weights, low, strict=True) if c]))
        rest = iter(
            split_by_weight(
                view.line("deposits", fy) - cheap,
                [w for w, c in zip(weights, low, strict=True) if not c],
            )
        )
        columns.append([next(first) if c else next(rest) for c in low])
    shares = tuple(f"{casa(view, fy) / view.line('deposits', fy) * 100:.1f}" for fy in view.years)
    memo = Entry("Current and savings deposits, per cent of the total", shares, "memo")
    return view.two_years("deposits", columns, total="Deposits", line="deposits", memos=(memo,))


def _investments(view: View, fy: str) -> Schedule:
    """Classes of investments by category of valuation."""
    rows = _rows(view, "investments", "bank_investments")
    parts = view.split("bank_investments", "investments", fy, rows)
    rng = view.rng("held", fy)
    cells = []
    for total, (label, _) in zip(parts, rows, strict=True):
        long = 0.68 if re.search(r"government|treasury|sovereign|state", label, re.I) else 0.12
        held = round(total * long * rng.uniform(0.93, 1.05))
        trading = round(total * rng.uniform(0.012, 0.045))
        cells.append((held, total - held - trading, trading, total))
    entries = [Entry(label, row) for (label, _), row in zip(rows, cells, strict=True)]
    sums = tuple(sum(column) for column in zip(*cells, strict=True))
    tie = ("", "", "", "investments")
    entries.append(Entry("Investments, net of provisions", sums, "total", tie))
    return Schedule(
        "bank_investments", _HELD, (fy,) * 4, tuple(entries), True, view.tables.year_label(fy)
    )


def _expenses(view: View) -> Schedule:
    """Operating expenses: payments to employees and depreciation stand as the ledger has them."""
    rows = view.rows("operating_expenses")
    fixed = {
        "employees": r"employee|staff|salar|personnel",
        "depreciation": r"depreciation",
    }
    named = {
        line: [i for i, (label, _) in enumerate(rows) if re.search(pattern, label, re.I)][:1]
        for line, pattern in fixed.items()
    }
    others = [i for i in range(len(rows)) if [i] not in named.values()]
    default = {
        "employees": "Payments to and provisions for employees",
        "depreciation": "Depreciation on fixed assets",
    }
    labels = [rows[named[k][0]][0] if named[k] else default[k] for k in fixed]
    columns = []
    for fy in view.years:
        chosen = tuple(rows[i] for i in others)
        parts = split_by_weight(
            view.line("other_expenses", fy), view.weights("operating_expenses", fy, chosen)
        )
        columns.append([*(view.line(line, fy) for line in fixed), *parts])
    return view.two_years(
        "operating_expenses",
        columns,
        labels=[*labels, *(rows[i][0] for i in others)],
        total="Operating expenses",
        line="operating_expenses",
    )


def _maturity(view: View, fy: str) -> Schedule:
    """Deposits, advances, investments and borrowings by residual maturity."""
    columns = []
    for line, weights in _PATTERN.items():
        noise = view.rng(f"alm {line}", fy).uniform(0.9, 1.1, size=len(weights))
        parts = [w * n for w, n in zip(weights, noise, strict=True)]
        columns.append(split_by_weight(view.line(line, fy), parts))
    cells = list(zip(*columns, strict=True))
    entries = [Entry(label, row) for label, row in zip(_PERIODS, cells, strict=True)]
    sums = tuple(sum(column) for column in columns)
    entries.append(Entry("Total", sums, "total", tuple(_PATTERN)))
    heads = ("Deposits", "Advances", "Investments", "Borrowings")
    notes = (f"At {day(fy)}; savings and current balances by observed behaviour.",)
    return Schedule(
        "alm", heads, (fy,) * 4, tuple(entries), suffix=view.tables.year_label(fy), notes=notes
    )
