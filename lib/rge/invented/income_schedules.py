"""Schedules of income, costs and tax of a company."""

from __future__ import annotations

import re

from rge.invented.money import number
from rge.invented.schedule import Entry, Schedule, View
from rge.invented.segments import split_by_weight
from rge.invented.spec import Entity, Metric

# Rate enacted for domestic companies that claim no exemptions, with surcharge and cess.
_ENACTED = 25.168


def income_schedules(view: View) -> list[Schedule]:
    """Revenue to earnings per share."""
    found = view.simple("revenue", "revenue", total="Revenue from operations")
    found += view.simple("other_income", "other_income", total="Other income")
    found += _employees(view)
    found += view.simple("finance_costs", "finance_costs", total="Finance costs")
    found += _other_expenses(view)
    found.append(_auditors(view))
    found.append(tax_schedule(view))
    if not view.group:
        found += [earnings_schedule(view), *csr_schedule(view)]
    return found


def _employees(view: View) -> list[Schedule]:
    """Employee benefits; a row for share-based payments shows what the cash flow adds back."""
    drivers = view.spec.consolidated if view.group else view.spec.standalone
    costs = [cost.id for cost in drivers.costs] if isinstance(drivers, Entity) else []
    if "employees" not in costs:
        return []
    rows = view.rows("employees")
    based = [i for i, (label, _) in enumerate(rows) if _is_share_based(label)]
    columns = []
    for fy in view.years:
        paid = view.line("share_payments", fy)
        others = tuple(row for i, row in enumerate(rows) if i not in based)
        parts = split_by_weight(
            view.line("employees", fy) - (paid if based else 0),
            view.weights("employees", fy, others),
        )
        for i in based:
            parts.insert(i, paid)
        columns.append(parts)
    return [
        view.two_years("employees", columns, total="Employee benefits expense", line="employees")
    ]


def _is_share_based(label: str) -> bool:
    return bool(re.match(r"(employee )?(share[- ]based|stock option|ESOP)", label, re.I))


def audit_fee(view: View, fy: str) -> int:
    """What the auditors of the entity were paid in a year (lakh); it grows with revenue."""
    base = View(view.tables, "consolidated").rng("audit fee").uniform(0.26, 0.36)
    drift = {"FY22": 0.93, "FY23": 1.0, "FY24": 1.08}[fy]
    return round(24 + base * drift * view.first("revenue", fy) ** 0.5)


def _other_expenses(view: View) -> list[Schedule]:
    drivers = view.spec.consolidated if view.group else view.spec.standalone
    total = drivers.other_label if isinstance(drivers, Entity) else "Other expenses"
    fee = tuple(audit_fee(view, fy) for fy in view.years)
    parts = [view.split("other_expenses", "other_expenses", fy) for fy in view.years]
    memo = Entry("Includes auditors' remuneration of", fee, "memo")
    return [
        view.two_years("other_expenses", parts, total=total, line="other_expenses", memos=(memo,))
    ]


def _auditors(view: View) -> Schedule:
    rows = view.rows("auditors")
    fees = tuple(audit_fee(view, fy) for fy in view.years)
    columns = [
        split_by_weight(fee, view.weights("auditors", fy, rows))
        for fee, fy in zip(fees, view.years, strict=True)
    ]
    cells = zip(*columns, strict=True)
    entries = [Entry(label, row) for (label, _), row in zip(rows, cells, strict=True)]
    entries.append(Entry("Auditors' remuneration", fees, "total"))
    return Schedule("auditors", view.heads, view.years, tuple(entries), notes=("Without tax.",))


def tax_schedule(view: View) -> Schedule:
    """From profit before tax at the enacted rate to the tax charge."""
    profits, taxes = view.pair("pbt"), view.pair("tax")
    columns = [_effects(view, fy) for fy in view.years]
    labels = list(columns[0])
    entries = [
        Entry("Profit/(loss) before tax", profits, "memo", ("pbt",) * 2),
        *(
            Entry(label, cells)
            for label in labels
            if any(cells := tuple(column[label] for column in columns))
        ),
        Entry("Tax expense of the year", taxes, "total", ("tax",) * 2),
        Entry(
            "Effective rate of tax (%)",
            tuple(_percent(t, p) for t, p in zip(taxes, profits, strict=True)),
            "memo",
        ),
    ]
    if view.spec.kind != "bank":
        entries += [
            Entry("of which current tax", view.pair("current_tax"), "memo", ("current_tax",) * 2),
            Entry(
                "of which deferred tax", view.pair("deferred_tax"), "memo", ("deferred_tax",) * 2
            ),
        ]
    return Schedule("tax", view.heads, view.years, tuple(entries))


def _effects(view: View, fy: str) -> dict[str, int]:
    """Expected tax and what parts the charge from it; the last effect takes the rest."""
    profit = view.line("pbt", fy)
    expected = round(profit * _ENACTED / 100)
    rng = view.rng("tax", fy)
    bank = view.spec.kind == "bank"
    shared = 0 if bank else view.line("associates", fy)
    exceptional = 0 if bank else view.line("exceptional", fy)
    effects = {
        f"Tax at the enacted rate of {_ENACTED:g} per cent": expected,
        "Result of associates and joint ventures, shown after tax": round(-shared * _ENACTED / 100),
        "Exceptional items without tax effect": round(-exceptional * _ENACTED / 100 * 0.7),
        "Expenses not deductible": round(abs(expected) * rng.uniform(0.008, 0.024)),
        "Income exempt or taxed at lower rates": -round(abs(expected) * rng.uniform(0.006, 0.03)),
    }
    left = view.line("tax", fy) - sum(effects.values())
    losses = "Losses for which no deferred tax asset is recognised (net of use)"
    rates = "Other rates of group companies" if view.group else "Rates and reliefs of other periods"
    young = view.spec.tax_rate < 10
    earlier_years = 0 if young else round(left * rng.uniform(0.15, 0.35))
    return effects | {
        losses: left if young else 0,
        rates: 0 if young else left - earlier_years,
        "Tax of earlier years": earlier_years,
    }


def _percent(part: int, whole: int) -> str:
    return number(part / whole * 100, 2) if whole > 0 else "n.m."


def earnings_schedule(view: View) -> Schedule:
    """Earnings per share of the entity."""
    ledger, report = view.tables.figures.ledger, view.tables.report
    shares = [ledger.per_share_shown(report, view.entity, fy) for fy in view.years]
    entries = (
        Entry(
            "Profit/(loss) for equity shareholders", view.pair("owners"), "memo", ("owners",) * 2
        ),
        Entry(
            "Weighted average shares, basic (in lakh)",
            tuple(number(s.weighted, 0) for s in shares),
            "memo",
        ),
        Entry(
            "Weighted average shares, diluted (in lakh)",
            tuple(number(s.diluted_weighted, 0) for s in shares),
            "memo",
        ),
        Entry("Basic earnings per share (₹)", tuple(number(s.basic, 2) for s in shares), "memo"),
        Entry(
            "Diluted earnings per share (₹)", tuple(number(s.diluted, 2) for s in shares), "memo"
        ),
    )
    return Schedule("earnings", view.heads, view.years, entries)


def csr_schedule(view: View) -> list[Schedule]:
    """How the stated spend on social responsibility was made; nothing where none is stated."""
    stated = [metric for metric in view.spec.metrics if metric.id == "csr"]
    if not stated:
        return []
    spent = tuple(_in_lakh(view, stated[0], fy) for fy in view.years)
    rows = view.rows("csr")
    columns = [
        split_by_weight(total, view.weights("csr", fy, rows))
        for total, fy in zip(spent, view.years, strict=True)
    ]
    cells = list(zip(*columns, strict=True))
    entries = [Entry(label, row) for (label, _), row in zip(rows, cells, strict=True)]
    entries.append(Entry("CSR spend", spent, "total"))
    return [Schedule("csr", view.heads, view.years, tuple(entries))] if any(spent) else []


def _in_lakh(view: View, metric: Metric, fy: str) -> int:
    scale = 100 if "crore" in metric.unit else 10 if "million" in metric.unit else 1
    ledger, report = view.tables.figures.ledger, view.tables.report
    return round(ledger.metric_shown(report, metric.id, fy) * scale)
