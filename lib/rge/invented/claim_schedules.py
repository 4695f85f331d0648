"""Schedules of what a company owes: borrowings, leases, payables, provisions, deferred tax."""

from __future__ import annotations

import re

from rge.invented.schedule import Entry, Rows, Schedule, View, day, earlier, exact
from rge.invented.segments import split_by_weight

MATURITY = ("Within 1 year", "1-2 years", "2-3 years", "3-5 years", "Over 5 years")


def claim_schedules(view: View) -> list[Schedule]:
    """Borrowings to commitments."""
    found: list[Schedule] = []
    if any(view.pair("borrowings")):
        found += [_borrowings(view), _maturity(view), _financing(view), _leases(view)]
    found += _payables(view)
    found += [_provisions(view, fy) for fy in view.years if view.line("provisions", fy)]
    found += view.simple(
        "other_liabilities", "other_liabilities", total="Other current liabilities"
    )
    found += _deferred_tax(view)
    found += [_liquidity(view, fy) for fy in view.years]
    found.append(_commitments(view))
    return found


def _instruments(view: View) -> Rows:
    """Instruments with weights; a row for leases is added where the company names none."""
    rows = view.rows("borrowings")
    if any("lease" in label.lower() for label, _ in rows):
        return rows
    return (*rows, ("Lease liabilities", 0.08 * sum(weight for _, weight in rows)))


def borrowing_parts(view: View, fy: str) -> tuple[list[int], list[int]]:
    """Long-term and current part of each instrument at a year end."""
    rows = _instruments(view)
    return tuple(  # type: ignore[return-value]
        view.split(f"borrowings {line}", line, fy, rows)
        for line in ("long_borrowings", "short_borrowings")
    )


def _borrowings(view: View) -> Schedule:
    columns = [part for fy in view.years for part in borrowing_parts(view, fy)]
    labels = [label for label, _ in _instruments(view)]
    entries = [Entry(label, tuple(cells)) for label, *cells in zip(labels, *columns, strict=True)]
    lines = ("long_borrowings", "short_borrowings") * 2
    sums = tuple(sum(column) for column in columns)
    entries.append(Entry("Borrowings and lease liabilities", sums, "total", lines))
    heads = tuple(f"{kind} {h}" for h in view.heads for kind in ("Non-current", "Current"))
    notes = (
        view.choice(
            "covenants",
            (
                "No loan was in default at either year end; covenants are tested half-yearly.",
                "Quarterly returns filed with lenders agree with the books of account.",
                "Interest and principal were paid on their due dates in both years.",
            ),
        ),
    )
    years = tuple(fy for fy in view.years for _ in range(2))
    return Schedule(
        "borrowings",
        heads,
        years,
        tuple(entries),
        notes=notes,
        widths=("1fr", *("15.5%",) * 4),
    )


def maturity_parts(view: View, fy: str) -> list[int]:
    """Borrowings by year of repayment; the first bucket is the current part."""
    noise = view.rng("maturity", fy).uniform(0.85, 1.15, size=4)
    weights = [w * n for w, n in zip((24.0, 21.0, 32.0, 23.0), noise, strict=True)]
    later = split_by_weight(view.line("long_borrowings", fy), weights)
    return [view.line("short_borrowings", fy), *later]


def _maturity(view: View) -> Schedule:
    return view.two_years(
        "maturity",
        [maturity_parts(view, fy) for fy in view.years],
        labels=MATURITY,
        total="Borrowings and lease liabilities",
        line="borrowings",
    )


def _financing(view: View) -> Schedule:
    """Opening borrowings and cash flows of the year lead to closing borrowings."""
    opening = tuple(view.line("borrowings", earlier(fy)) for fy in view.years)
    entries = (
        Entry("Opening borrowings and lease liabilities", opening),
        Entry("Proceeds", view.pair("borrowed"), lines=("borrowed",) * 2),
        Entry("Repayments", view.pair("repaid"), lines=("repaid",) * 2),
        Entry(
            "Closing borrowings and lease liabilities",
            view.pair("borrowings"),
            "total",
            ("borrowings",) * 2,
        ),
    )
    return Schedule("financing", view.heads, view.years, entries)


def lease_liability(view: View, fy: str) -> int:
    """Lease liabilities among the borrowings of a year end."""
    labels = [label.lower() for label, _ in _instruments(view)]
    place = [i for i, label in enumerate(labels) if "lease" in label]
    long, short = borrowing_parts(view, fy)
    return sum(long[i] + short[i] for i in place)


def _leases(view: View) -> Schedule:
    columns = []
    for fy in view.years:
        opening, closing = lease_liability(view, earlier(fy)), lease_liability(view, fy)
        rng = view.rng("leases", fy)
        interest = round((opening + closing) / 2 * rng.uniform(0.078, 0.088))
        paid = interest + round(opening * rng.uniform(0.16, 0.24))
        added = closing - opening - interest + paid
        if added < 0:
            paid, added = paid - added, 0
        columns.append((opening, added, interest, -paid, closing))
    cells = list(zip(*columns, strict=True))
    labels = ("Opening lease liabilities", "New and changed leases", "Interest", "Payments")
    entries = [Entry(label, row) for label, row in zip(labels, cells[:4], strict=True)]
    entries.append(Entry("Closing lease liabilities", cells[4], "total"))
    return Schedule("leases", view.heads, view.years, tuple(entries))


def _payables(view: View) -> list[Schedule]:
    parts = [view.split("payables", "payables", fy) for fy in view.years]
    if not any(view.pair("payables")):
        return []
    kinds = view.two_years("payables", parts, total="Trade payables", line="payables")
    return [kinds, *(_payables_ageing(view, fy) for fy in view.years)]


def small_enterprises(view: View, fy: str) -> int:
    """Dues to micro and small enterprises: the company's own row for them, else a share."""
    labels = [label for label, _ in view.rows("payables")]
    small = [i for i, label in enumerate(labels) if re.search(r"micro|MSME|small", label, re.I)]
    if small:
        return view.split("payables", "payables", fy)[small[0]]
    return round(view.line("payables", fy) * view.rng("small", fy).uniform(0.05, 0.11))


def _payables_ageing(view: View, fy: str) -> Schedule:
    total, small = view.line("payables", fy), small_enterprises(view, fy)
    rng = view.rng("payables ageing", fy)
    disputed = round((total - small) * rng.uniform(0.004, 0.012))
    ages = (
        (0.0, 91.0, 8.6, 0.3, 0.1, 0.0),
        (21.0, 52.0, 24.0, 1.6, 0.8, 0.6),
        (0.0, 0.0, 21.0, 26.0, 22.0, 31.0),
    )
    labels = ("Micro and small enterprises", "Others", "Disputed dues")
    amounts = (small, total - small - disputed, disputed)
    entries, columns = [], []
    for label, amount, weights in zip(labels, amounts, ages, strict=True):
        noise = rng.uniform(0.9, 1.1, size=len(weights))
        parts = exact(amount, [w * n for w, n in zip(weights, noise, strict=True)])
        columns.append(parts)
        entries.append(Entry(label, (*parts, amount)))
    sums = tuple(sum(column) for column in zip(*columns, strict=True))
    tie = (*("",) * len(sums), "payables")
    entries.append(Entry("Trade payables", (*sums, total), "total", tie))
    heads = ("Unbilled", "Not due", "< 1 year", "1-2 years", "2-3 years", "> 3 years", "Total")
    return Schedule(
        "payables_ageing", heads, (fy,) * 7, tuple(entries), True, view.tables.year_label(fy)
    )


def _provisions(view: View, fy: str) -> Schedule:
    """Each kind of provision from its opening to its closing balance."""
    before = earlier(fy)
    opening, closing = (view.split("provisions", "provisions", year) for year in (before, fy))
    shares = view.rng("provisions used", fy).uniform(0.22, 0.46, size=len(opening))
    entries, columns = [], []
    for (label, _), start, end, share in zip(
        view.rows("provisions"), opening, closing, shares, strict=True
    ):
        used = round(start * share)
        made = end - start + used
        if made < 0:
            used, made = used - made, 0
        columns.append((start, made, -used, end))
        entries.append(Entry(label, columns[-1]))
    sums = tuple(sum(column) for column in zip(*columns, strict=True))
    entries.append(Entry("Total", sums, "total", ("provisions", "", "", "provisions")))
    heads = (f"At {day(fy, opening=True)}", "Made", "Used or released", f"At {day(fy)}")
    return Schedule(
        "provisions", heads, (before, fy, fy, fy), tuple(entries), True, view.tables.year_label(fy)
    )


def _deferred_tax(view: View) -> list[Schedule]:
    """Components of the net liability and the charge of the year, both years in one table."""
    line = "deferred_tax_liability"
    if not any(view.pair(line)):
        return []
    this, before = view.years
    ends = [view.split("deferred_tax", line, fy) for fy in (earlier(before), before, this)]
    labels = [label for label, _ in view.rows("deferred_tax")]
    entries = [
        Entry(label, (a, b - a, b, c - b, c)) for label, a, b, c in zip(labels, *ends, strict=True)
    ]
    sums = tuple(sum(int(e.cells[i]) for e in entries) for i in range(5))
    restated = view.first(line, before) != view.line(line, before)
    lines = (line, "deferred_tax", line, "deferred_tax", line)
    entries.append(Entry("Deferred tax liabilities (net)", sums, "total", lines))
    notes: tuple[str, ...]
    notes = ("Movements are recognised in profit or loss; assets are shown as negative amounts.",)
    if restated:
        notes += (f"Amounts of {view.heads[1]} are restated.",)
    heads = (
        f"At {day(before, opening=True)}",
        f"Charge {view.heads[1]}",
        f"At {day(before)}",
        f"Charge {view.heads[0]}",
        f"At {day(this)}",
    )
    years = (earlier(before), before, before, this, this)
    return [Schedule("deferred_tax", heads, years, tuple(entries), notes=notes)]


def _liquidity(view: View, fy: str) -> Schedule:
    """Financial liabilities by time to payment."""
    rng = view.rng("liquidity", fy)
    debt = maturity_parts(view, fy)
    rows = [("Borrowings and lease liabilities", debt, "borrowings")]
    for label, line, late in (
        ("Trade payables", "payables", 0.012),
        ("Other current liabilities", "other_liabilities", 0.035),
    ):
        total = view.line(line, fy)
        second = round(total * late * rng.uniform(0.8, 1.2))
        rows.append((label, [total - second, second, 0, 0, 0], line))
    blank = ("",) * 5
    entries = [
        Entry(label, (*parts, sum(parts)), lines=(*blank, line)) for label, parts, line in rows
    ]
    sums = tuple(sum(column) for column in zip(*(parts for _, parts, _ in rows), strict=True))
    tie = (*blank, "borrowings+payables+other_liabilities")
    entries.append(Entry("Financial liabilities", (*sums, sum(sums)), "total", tie))
    return Schedule(
        "liquidity",
        (*MATURITY, "Total"),
        (fy,) * 6,
        tuple(entries),
        True,
        view.tables.year_label(fy),
        notes=("Carrying amounts, without future interest.",) if fy == view.years[0] else (),
    )


def _commitments(view: View) -> Schedule:
    columns = []
    for fy in view.years:
        # Drawn for the group alone, so that the parent never commits more than the group.
        share = View(view.tables, "consolidated").rng("committed", fy).uniform(0.28, 0.6)
        total = round(view.line("-capex", fy) * share)
        weights = view.weights("commitments", fy, view.rows("commitments"))
        columns.append(split_by_weight(total, weights))
    cells = list(zip(*columns, strict=True))
    labels = [label for label, _ in view.rows("commitments")]
    entries = [Entry(label, row) for label, row in zip(labels, cells, strict=True)]
    entries.append(Entry("Commitments", tuple(sum(c) for c in columns), "total"))
    return Schedule("commitments", view.heads, view.years, tuple(entries))
