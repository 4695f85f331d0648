"""Capital, categories of financial instruments and exposure to interest rates of a company."""

from __future__ import annotations

from rge.invented.money import number
from rge.invented.schedule import Entry, Schedule, View


def risk_schedules(view: View) -> list[Schedule]:
    """Net debt and equity, instruments by category (a table a year), interest sensitivity."""
    instruments = [_instruments(view, fy) for fy in view.years]
    return [_capital(view), *instruments, _sensitivity(view)]


def _capital(view: View) -> Schedule:
    """Net debt and its share of capital."""
    columns = [
        (view.line("borrowings", fy), -view.line("cash", fy), -view.line("current_investments", fy))
        for fy in view.years
    ]
    net = tuple(sum(c) for c in columns)
    equity = view.pair("total_equity")
    cells = list(zip(*columns, strict=True))
    labels = (
        "Borrowings and lease liabilities",
        "Cash and cash equivalents",
        "Current investments and bank deposits",
    )
    lines = ("borrowings", "-cash", "-current_investments")
    entries = [
        *(
            Entry(name, row, lines=(line,) * 2)
            for name, row, line in zip(labels, cells, lines, strict=True)
        ),
        Entry("Net debt/(net cash)", net, "total"),
        Entry("Total equity", equity, "memo", ("total_equity",) * 2),
        Entry(
            "Net debt to equity (times)",
            tuple(number(n / e, 2) for n, e in zip(net, equity, strict=True)),
            "memo",
        ),
    ]
    return Schedule(
        "capital",
        view.heads,
        view.years,
        tuple(entries),
        notes=("Net debt here includes leases and every lender of the entity.",),
    )


def _instruments(view: View, fy: str) -> Schedule:
    """Financial assets and liabilities by category of measurement."""
    fair = round(view.line("current_investments", fy) * view.rng("fair", fy).uniform(0.42, 0.6))
    rest = view.line("current_investments", fy) - fair
    entries = [
        Entry("Financial assets", ("",) * 3, "head"),
        Entry(
            "Current investments and bank deposits",
            (rest, fair, rest + fair),
            lines=("", "", "current_investments"),
        ),
        *(
            Entry(label, (view.line(line, fy), 0, view.line(line, fy)), lines=(line, "", line))
            for label, line in (
                ("Trade receivables", "receivables"),
                ("Cash and cash equivalents", "cash"),
            )
        ),
    ]
    held = [view.line(line, fy) for line in ("receivables", "cash")]
    entries.append(
        Entry("Financial assets, total", (rest + sum(held), fair, rest + fair + sum(held)), "sub")
    )
    entries.append(Entry("Financial liabilities", ("",) * 3, "head"))
    owed = (("Borrowings and lease liabilities", "borrowings"), ("Trade payables", "payables"))
    entries += [
        Entry(label, (view.line(line, fy), 0, view.line(line, fy)), lines=(line, "", line))
        for label, line in owed
    ]
    total = sum(view.line(line, fy) for _, line in owed)
    entries.append(Entry("Financial liabilities, total", (total, 0, total), "sub"))
    return Schedule(
        "instruments",
        ("Amortised cost", "Fair value through profit or loss", "Carrying amount"),
        (fy,) * 3,
        tuple(entries),
        True,
        view.tables.year_label(fy),
    )


def _sensitivity(view: View) -> Schedule:
    """Effect on profit before tax if floating rates moved by half a percentage point."""
    shares = [view.rng("floating", fy).uniform(0.41, 0.66) for fy in view.years]
    debt = view.pair("borrowings")
    floating = tuple(round(d * s) for d, s in zip(debt, shares, strict=True))
    fixed = tuple(d - f for d, f in zip(debt, floating, strict=True))
    entries = (
        Entry("Borrowings at floating rates", floating),
        Entry("Borrowings at fixed rates, with leases", fixed),
        Entry("Borrowings and lease liabilities", debt, "total", ("borrowings",) * 2),
        Entry(
            "Fall in profit before tax if floating rates rise 50 basis points",
            tuple(round(f * 0.005) for f in floating),
            "memo",
        ),
    )
    return Schedule("sensitivity", view.heads, view.years, entries)
