"""Schedules of what a company owns: investments, stock, receivables, cash, other assets."""

from __future__ import annotations

import re

from rge.invented.fixed_assets import depreciation_schedule, movement_schedules
from rge.invented.schedule import Entry, Schedule, View, earlier, exact
from rge.invented.spec import Entity

_BUCKETS = ("Not due", "< 6 months", "6-12 months", "1-2 years", "2-3 years", "> 3 years")
# Of gross receivables that are not disputed, in per cent by bucket.
_AGES = (63.0, 24.5, 5.6, 3.4, 1.9, 1.6)
_DISPUTED = (0.0, 4.0, 9.0, 26.0, 24.0, 37.0)
_DEEDS = (
    "Title deeds of all immovable properties are held in the name of the company.",
    "Title to two land parcels is being entered in the revenue records; all else is registered.",
    "Title deeds stand in the company's name; leased premises are held under registered leases.",
)
_CHARGE = (
    "Secured borrowings have a first charge on movable fixed assets, shared equally by lenders.",
    "Movable fixed assets are charged to the lenders named in the schedule of borrowings.",
    "No class of assets was revalued in either year.",
)


def asset_schedules(view: View) -> list[Schedule]:
    """Fixed assets to other current assets, in the order of the balance sheet."""
    deeds = view.choice("deeds", _DEEDS), view.choice("charge", _CHARGE)
    found = movement_schedules(view, "ppe", deeds)
    found += movement_schedules(view, "intangibles")
    found += depreciation_schedule(view)
    found += view.simple("investments", "investments", total="Non-current investments")
    found += view.simple("other_noncurrent", "other_noncurrent", total="Other non-current assets")
    found += _stock(view)
    found += _receivables(view)
    found += view.simple(
        "current_investments",
        "current_investments",
        total="Current investments and bank deposits",
        notes=("Mutual fund units are carried at the net asset value of the last day.",),
    )
    found += view.simple("cash", "cash", total="Cash and cash equivalents")
    found += view.simple("other_current", "other_current", total="Other current assets")
    return found


def stock_parts(view: View, fy: str) -> list[int]:
    """Inventories of a year end by kind."""
    return view.split("inventories", "inventories", fy)


def _stock(view: View) -> list[Schedule]:
    if not any(view.pair("inventories")):
        return []
    rng = view.rng("write-down")
    rate = rng.uniform(0.004, 0.011)
    written = tuple(round(view.line("inventories", fy) * rate) for fy in view.years)
    memo = Entry("Write-down to net realisable value, charged in the year", written, "memo")
    parts = [stock_parts(view, fy) for fy in view.years]
    held = view.two_years(
        "inventories", parts, total="Inventories", line="inventories", memos=(memo,)
    )
    return [held, *_consumed(view)]


def _consumed(view: View) -> list[Schedule]:
    """Materials consumed: opening stock and purchases less closing stock."""
    drivers = view.spec.consolidated if view.group else view.spec.standalone
    costs = [cost.id for cost in drivers.costs] if isinstance(drivers, Entity) else []
    labels = [label for label, _ in view.rows("inventories")]
    raw = [
        i for i, label in enumerate(labels) if re.search(r"raw|material|crude|cell", label, re.I)
    ]
    if "materials" not in costs or not raw:
        return []
    kind = labels[raw[0]]
    columns = []
    for fy in view.years:
        opening, closing = (stock_parts(view, year)[raw[0]] for year in (earlier(fy), fy))
        columns.append((opening, view.line("materials", fy) - opening + closing, -closing))
    names = (f"Opening stock: {kind}", "Purchases, including inward freight", "Less: closing stock")
    return [
        view.two_years(
            "consumed", columns, labels=names, total="Cost of materials consumed", line="materials"
        )
    ]


def allowance(view: View, fy: str) -> int:
    """Allowance for expected credit loss on trade receivables at a year end (lakh)."""
    base = view.rng("allowance").uniform(0.028, 0.055)
    step = view.rng("allowance", fy).uniform(0.93, 1.09)
    return round(view.first("receivables", fy) * base * step)


def _receivables(view: View) -> list[Schedule]:
    if not any(view.pair("receivables")):
        return []
    ages = [_ageing(view, fy) for fy in view.years]
    return [*ages, _allowances(view)]


def _ageing(view: View, fy: str) -> Schedule:
    """Undisputed and disputed receivables by age, and the allowance on them."""
    held = allowance(view, fy)
    gross = view.line("receivables", fy) + held
    rng = view.rng("ageing", fy)
    disputed = round(held * rng.uniform(0.3, 0.55))
    doubtful = round(held * rng.uniform(0.2, 0.4))
    noise = rng.uniform(0.88, 1.12, size=len(_AGES))
    good = exact(gross - disputed - doubtful, [a * n for a, n in zip(_AGES, noise, strict=True)])
    risky = exact(doubtful, [0.0, 8.0, 17.0, 30.0, 22.0, 23.0])
    late = exact(disputed, list(_DISPUTED))
    totals = [sum(column) for column in zip(good, risky, late, strict=True)]
    lost = _allowance_by_age(held, totals)
    rows = (
        ("Undisputed, considered good", good),
        ("Undisputed, credit risk increased", risky),
        ("Disputed", late),
    )
    entries = [Entry(label, (*parts, sum(parts))) for label, parts in rows]
    entries.append(Entry("Gross receivables", (*totals, gross), "sub"))
    entries.append(Entry("Allowance", (*(-v for v in lost), -held)))
    net = [t - v for t, v in zip(totals, lost, strict=True)]
    tie = (*("",) * len(net), "receivables")
    entries.append(Entry("Trade receivables", (*net, gross - held), "total", tie))
    return Schedule(
        "receivables",
        (*_BUCKETS, "Total"),
        (fy,) * (len(_BUCKETS) + 1),
        tuple(entries),
        True,
        view.tables.year_label(fy),
        notes=("Ages run from the due date of payment.",) if fy == view.years[0] else (),
    )


def _allowance_by_age(held: int, totals: list[int]) -> list[int]:
    """Oldest first: each bucket bears at most 92 % of itself, the youngest take what is left."""
    left, lost = held, [0] * len(totals)
    for i in reversed(range(len(totals))):
        lost[i] = min(left, round(totals[i] * (0.92, 0.85, 0.6, 0.35, 0.2, 1.0)[-1 - i]))
        left -= lost[i]
    lost[0] += left
    return lost


def _allowances(view: View) -> Schedule:
    """Opening allowance, charge, write-offs and closing allowance."""
    columns = []
    for fy in view.years:
        opening, closing = allowance(view, earlier(fy)), allowance(view, fy)
        used = round(opening * view.rng("written off", fy).uniform(0.11, 0.24))
        columns.append((opening, closing - opening + used, -used, closing))
    cells = list(zip(*columns, strict=True))
    labels = ("Opening balance", "Charged/(released) in the year", "Written off against it")
    entries = [Entry(label, row) for label, row in zip(labels, cells[:3], strict=True)]
    entries.append(Entry("Closing balance", cells[3], "total"))
    return Schedule("allowance", view.heads, view.years, tuple(entries))
