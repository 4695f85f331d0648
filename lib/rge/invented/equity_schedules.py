"""Schedules of capital: shares, the statement of changes in equity, minority, dividends."""

from __future__ import annotations

from rge.invented.money import number
from rge.invented.schedule import Entry, Schedule, View, day, earlier
from rge.invented.spec import YEARS

Components = dict[str, int]
_NAMES = {
    "premium": "Securities premium",
    "options": "Share-based payment reserve",
    "statutory": "Statutory reserve",
    "oci": "Other comprehensive income",
    "surplus": "Retained earnings",
}


def equity_schedules(view: View) -> list[Schedule]:
    """Share capital, other equity by component (a table a year) and minority interest."""
    found = [_capital(view)]
    moved = equity_movements(view)
    found += [_changes(view, fy, moved[fy]) for fy in view.years]
    if view.group and any(view.pair("minority_equity")):
        found.append(_minority(view))
    return found


def _capital(view: View) -> Schedule:
    spec, rows = view.spec, []
    for fy in view.years:
        i = YEARS.index(fy)
        rows.append((round(spec.shares[i]), round(spec.shares[i + 1]) - round(spec.shares[i])))
    counts = [tuple(number(n, 0) for n in column) for column in zip(*rows, strict=True)]
    closing = tuple(number(a + b, 0) for a, b in rows)
    opening = tuple(view.line("share_capital", earlier(fy)) for fy in view.years)
    capital = view.pair("share_capital")
    grown = tuple(b - a for a, b in zip(opening, capital, strict=True))
    issued = "Shares issued, including on options"
    if any(n < 0 for _, n in rows):
        issued = "Shares issued, including on options, less (bought back)"
    entries = (
        Entry("Number of shares (in lakh)", ("", ""), "head"),
        Entry("At the beginning of the year", counts[0], "memo"),
        Entry(issued, counts[1], "memo"),
        Entry("At the end of the year", closing, "memo"),
        Entry(f"Amount, face value ₹{spec.face_value:g} a share", ("", ""), "head"),
        Entry("At the beginning of the year", opening),
        Entry(issued, grown),
        Entry("Issued, subscribed and paid-up capital", capital, "total", ("share_capital",) * 2),
    )
    note = "All shares rank equally for dividend and vote; none is held by a subsidiary."
    return Schedule("share_capital", view.heads, view.years, entries, notes=(note,))


def equity_movements(view: View) -> dict[str, dict[str, Components]]:
    """Other equity of FY22 to FY24: for each event of a year its amount by component."""
    balance = _opening(view)
    years: dict[str, dict[str, Components]] = {}
    for fy in YEARS:
        events = _events(view, fy)
        closing = {
            key: balance[key] + sum(e.get(key, 0) for e in events.values()) for key in balance
        }
        years[fy] = {"opening": balance, **events, "closing": closing}
        balance = closing
    return years


def _opening(view: View) -> Components:
    """Other equity of FY21 by component; loss makers stand on premium and a deficit."""
    total = view.first("other_equity", "FY21")
    rng = view.rng("equity")
    losses = sum(view.spec.history["pat"]) < 0
    premium = round(total * (rng.uniform(1.35, 1.6) if losses else rng.uniform(0.14, 0.3)))
    parts = {"premium": premium}
    if view.spec.kind == "bank":
        parts["statutory"] = round(total * rng.uniform(0.17, 0.21))
    else:
        if any(view.first("share_payments", fy) for fy in YEARS):
            parts["options"] = round(total * rng.uniform(0.012, 0.03))
        parts["oci"] = round(total * rng.uniform(0.008, 0.03))
    return parts | {"surplus": total - sum(parts.values())}


def _events(view: View, fy: str) -> dict[str, Components]:
    owners = view.line("owners", fy)
    issued, paid = view.line("issued", fy), view.line("-dividends_paid", fy)
    grown = view.line("share_capital", fy) - view.line("share_capital", earlier(fy))
    events: dict[str, Components] = {"Profit/(loss) for the year, owners": {"surplus": owners}}
    if view.spec.kind == "bank":
        moved = round(owners * 0.25)
        events["Transfer to statutory reserve"] = {"statutory": moved, "surplus": -moved}
    else:
        events["Other comprehensive income"] = {"oci": view.line("oci", fy)}
        granted = view.line("share_payments", fy)
        events["Share-based payments"] = {"options": granted}
        vested = round(granted * view.rng("exercised", fy).uniform(0.25, 0.45)) if grown > 0 else 0
        events["Transfer on exercise of options"] = {"options": -vested, "premium": vested}
    label = (
        "Premium on shares issued" if issued >= grown else "Buy-back of shares, above face value"
    )
    events[label] = {"premium": issued - grown}
    events["Dividends paid"] = {"surplus": -paid}
    return {name: moved for name, moved in events.items() if any(moved.values())}


def _changes(view: View, fy: str, events: dict[str, Components]) -> Schedule:
    """One year of other equity: a column a component, a row an event."""
    keys = list(events["opening"])
    entries = []
    for name, amounts in events.items():
        cells = tuple(amounts.get(key, 0) for key in keys)
        if name == "opening":
            entries.append(Entry(f"At {day(fy, opening=True)}", (*cells, sum(cells))))
        elif name == "closing":
            tie = (*("",) * len(keys), "other_equity")
            entries.append(Entry(f"At {day(fy)}", (*cells, sum(cells)), "total", tie))
        else:
            entries.append(Entry(name, (*cells, sum(cells))))
    heads = tuple(_NAMES[key] for key in keys)
    total = "Reserves and surplus" if view.spec.kind == "bank" else "Other equity"
    notes: tuple[str, ...] = ()
    if view.first("owners", "FY23") != view.line("owners", "FY23") and fy == "FY23":
        notes = (f"Profit of {view.tables.year_label(fy)} and the closing balance are restated.",)
    return Schedule(
        "equity",
        (*heads, total),
        (fy,) * (len(keys) + 1),
        tuple(entries),
        True,
        view.tables.year_label(fy),
        notes=notes,
    )


def _minority(view: View) -> Schedule:
    opening = tuple(view.line("minority_equity", earlier(fy)) for fy in view.years)
    entries = (
        Entry("At the beginning of the year", opening),
        Entry("Share of profit for the year", view.pair("minority"), lines=("minority",) * 2),
        Entry(
            "At the end of the year",
            view.pair("minority_equity"),
            "total",
            ("minority_equity",) * 2,
        ),
    )
    return Schedule("minority", view.heads, view.years, entries)
