"""Schedules of a bank's asset quality and capital that follow from the ratios it states.

The stated ratios of gross and net non-performing advances (NPA) and of coverage fix all amounts:
gross advances are net advances with provisions and with recoveries held in suspense, gross NPA is
its stated share of gross advances, provisions their stated share of gross NPA, net NPA its stated
share of net advances; what is left between them is held in suspense.
"""

from __future__ import annotations

from dataclasses import dataclass

from rge.invented.money import number
from rge.invented.schedule import Entry, Schedule, View, day, earlier
from rge.invented.segments import split_by_weight

# Additional Tier 1 instruments and deductions, in per cent of risk-weighted assets and net worth.
_ADDITIONAL = 0.86
_DEDUCTED = 2.1
# FY21 is before the years with stated ratios; it only opens the movement of FY22.
_FY21 = (0.0402, 0.0131, 0.668)


@dataclass(frozen=True)
class Quality:
    """Advances and non-performing advances of a year end (lakh)."""

    gross: int
    net: int
    gross_npa: int
    provisions: int
    net_npa: int

    @property
    def suspense(self) -> int:
        """Claims received and interest not recognised, held against NPA."""
        return self.gross_npa - self.provisions - self.net_npa


def quality(view: View, fy: str) -> Quality:
    """Amounts that reproduce the stated ratios of the year."""
    gross_ratio, net_ratio, cover = _stated(view, fy)
    net = view.line("advances", fy)
    net_npa = round(net * net_ratio)
    # gross = net + gross NPA - net NPA, and gross NPA is a share of gross.
    gross = round((net - net_npa) / (1 - gross_ratio))
    gross_npa = gross - net + net_npa
    return Quality(gross, net, gross_npa, round(gross_npa * cover), net_npa)


def _stated(view: View, fy: str) -> tuple[float, float, float]:
    ledger, report = view.tables.figures.ledger, view.tables.report
    if fy == "FY21":
        return _FY21
    ratios = (ledger.metric_shown(report, name, fy) / 100 for name in ("gnpa", "nnpa", "pcr"))
    gross, net, cover = ratios
    return gross, net, cover


def quality_schedules(view: View) -> list[Schedule]:
    """Asset quality, movement of NPA and of provisions, NPA by sector."""
    return [_summary(view), _movement(view), _provisions(view), _sectors(view)]


def _summary(view: View) -> Schedule:
    found = [quality(view, fy) for fy in view.years]
    ledger, report = view.tables.figures.ledger, view.tables.report
    entries = [
        Entry("Gross advances", tuple(q.gross for q in found)),
        Entry("Provisions for NPA", tuple(-q.provisions for q in found)),
        Entry("Claims and interest held in suspense", tuple(-q.suspense for q in found)),
        Entry("Net advances", view.pair("advances"), "total", ("advances",) * 2),
        Entry("Gross NPA", tuple(q.gross_npa for q in found), "memo"),
        Entry("Net NPA", tuple(q.net_npa for q in found), "memo"),
    ]
    for label, name in (
        ("Gross NPA, per cent of gross advances", "gnpa"),
        ("Net NPA, per cent of net advances", "nnpa"),
        ("Provision coverage, per cent of gross NPA", "pcr"),
    ):
        metric = ledger.metric(name)
        stated = (ledger.metric_shown(report, name, fy) for fy in view.years)
        entries.append(Entry(label, tuple(number(v, metric.decimals) for v in stated), "memo"))
    return Schedule("asset_quality", view.heads, view.years, tuple(entries))


def slipped(view: View, fy: str) -> int:
    """Fresh NPA of a year: the stated slippage ratio of opening standard advances (lakh)."""
    ledger, report = view.tables.figures.ledger, view.tables.report
    opening = quality(view, earlier(fy))
    return round(
        (opening.gross - opening.gross_npa) * ledger.metric_shown(report, "slip", fy) / 100
    )


def _movement(view: View) -> Schedule:
    columns = []
    for fy in view.years:
        opening, closing = quality(view, earlier(fy)).gross_npa, quality(view, fy).gross_npa
        added = slipped(view, fy)
        noise = view.rng("npa", fy).uniform(0.9, 1.1, size=3)
        gone = split_by_weight(
            opening + added - closing, [w * n for w, n in zip((31, 36, 33), noise, strict=True)]
        )
        columns.append((opening, added, *(-v for v in gone), closing))
    cells = list(zip(*columns, strict=True))
    labels = (
        "Opening gross NPA",
        "Slippages",
        "Upgraded to standard",
        "Recovered",
        "Written off, including technically",
        "Closing gross NPA",
    )
    entries = [Entry(label, row) for label, row in zip(labels[:-1], cells, strict=False)]
    entries.append(Entry(labels[-1], cells[-1], "total"))
    return Schedule("npa", view.heads, view.years, tuple(entries))


def _provisions(view: View) -> Schedule:
    columns = []
    for fy in view.years:
        opening, closing = (quality(view, year).provisions for year in (earlier(fy), fy))
        used = round(opening * view.rng("npa provisions", fy).uniform(0.3, 0.42))
        columns.append((opening, closing - opening + used, -used, closing))
    cells = list(zip(*columns, strict=True))
    labels = ("Opening provisions", "Made in the year, net of write-backs", "Used on write-off")
    entries = [Entry(label, row) for label, row in zip(labels, cells[:3], strict=True)]
    entries.append(Entry("Closing provisions", cells[3], "total"))
    return Schedule("npa_provisions", view.heads, view.years, tuple(entries))


def _sectors(view: View) -> Schedule:
    """Gross advances and NPA by the company's sectors, this year and the year before."""
    rows = view.rows("advances")
    columns: list[list[int]] = []
    for fy in view.years:
        found = quality(view, fy)
        net = view.split("advances", "advances", fy, rows)
        risk = view.rng("sector risk").uniform(0.45, 1.9, size=len(rows))
        noise = view.rng("sector risk", fy).uniform(0.9, 1.1, size=len(rows))
        bad = split_by_weight(
            found.gross_npa, [n * r * s for n, r, s in zip(net, risk, noise, strict=True)]
        )
        held = split_by_weight(found.gross - found.net, [float(b) for b in bad])
        columns += [[n + h for n, h in zip(net, held, strict=True)], bad]
    labels = [label for label, _ in rows]
    entries = []
    for label, *cells in zip(labels, *columns, strict=True):
        entries.append(Entry(label, _with_share(cells)))
    entries.append(Entry("Total", _with_share([sum(column) for column in columns]), "total"))
    heads = tuple(
        f"{what} {head}" for head in view.heads for what in ("Gross advances", "Gross NPA", "NPA %")
    )
    years = tuple(fy for fy in view.years for _ in range(3))
    return Schedule("npa_sector", heads, years, tuple(entries))


def _with_share(cells: list[int]) -> tuple[int | str, ...]:
    (a, b), (c, d) = cells[:2], cells[2:]
    return a, b, number(b / a * 100, 2), c, d, number(d / c * 100, 2)


def adequacy_schedule(view: View) -> Schedule:
    """Capital and risk-weighted assets that give the stated ratios, provisional ones too."""
    ledger, report = view.tables.figures.ledger, view.tables.report
    columns = []
    for fy in view.years:
        worth = view.line("net_worth", fy)
        final, tier_one = (ledger.metric(name).values[fy] / 100 for name in ("crar", "cet"))
        total = round(worth * (1 - _DEDUCTED / 100) / tier_one * final)
        ratio = ledger.metric_shown(report, "crar", fy)
        weighted = round(total / ratio * 100)
        common = round(weighted * tier_one)
        added = round(total / final * _ADDITIONAL / 100)
        columns.append((worth, common - worth, added, total - common - added, total, weighted))
    cells = list(zip(*columns, strict=True))
    labels = (
        "Capital and reserves",
        "Regulatory adjustments",
        "Additional Tier 1 instruments",
        "Tier 2 capital",
    )
    entries = [
        Entry(label, row, lines=("net_worth",) * 2 if i == 0 else ())
        for i, (label, row) in enumerate(zip(labels, cells[:4], strict=True))
    ]
    entries.append(Entry("Total capital", cells[4], "total"))
    split = [_weighted(view, fy, w) for fy, w in zip(view.years, cells[5], strict=True)]
    for label, row in zip(
        ("Credit risk", "Market risk", "Operational risk"), zip(*split, strict=True), strict=True
    ):
        entries.append(Entry(f"Risk-weighted assets: {label.lower()}", row))
    entries.append(Entry("Risk-weighted assets", cells[5], "total"))
    for label, name in (("Common Equity Tier 1 ratio (%)", "cet"), ("Total ratio (%)", "crar")):
        stated = (ledger.metric_shown(report, name, fy) for fy in view.years)
        entries.append(Entry(label, tuple(number(v, 2) for v in stated), "memo"))
    early = ledger.metric("crar").provisional is not None and report == "FY23"
    notes = (f"The total ratio at {day('FY23')} is provisional.",) if early else ()
    return Schedule("adequacy", view.heads, view.years, tuple(entries), notes=notes)


def _weighted(view: View, fy: str, total: int) -> list[int]:
    noise = view.rng("weighted", fy).uniform(0.97, 1.03, size=3)
    return split_by_weight(total, [w * n for w, n in zip((84.5, 5.2, 10.3), noise, strict=True)])


def bank_ratio_schedules(view: View) -> list[Schedule]:
    """Average balances with yields and costs, and the ratios a bank discloses."""
    return [_spread(view), _ratios(view)]


def average(view: View, line: str, fy: str) -> float:
    """Mean of the opening and closing balance (lakh)."""
    return (view.line(line, fy) + view.line(line, earlier(fy))) / 2


def _spread(view: View) -> Schedule:
    entries = []
    for label, lines in (
        ("Advances", "advances"),
        ("Investments", "investments"),
        ("Cash and bank balances", "cash"),
        ("Deposits", "deposits"),
        ("Borrowings", "bank_borrowings"),
    ):
        cells = tuple(round(average(view, lines, fy)) for fy in view.years)
        entries.append(Entry(f"{label}, mean of opening and closing", cells, "memo"))
    earning, owed = "advances+investments+cash", "deposits+bank_borrowings"
    for label, above, below in (
        ("Interest earned on mean advances, investments and cash (%)", "interest_earned", earning),
        ("Interest expended on mean deposits and borrowings (%)", "interest_expended", owed),
        ("Net interest income on mean advances, investments and cash (%)", "nii", earning),
    ):
        cells_text = tuple(
            number(view.line(above, fy) / average(view, below, fy) * 100, 2) for fy in view.years
        )
        entries.append(Entry(label, cells_text, "memo"))
    return Schedule("spread", view.heads, view.years, tuple(entries))


def _ratios(view: View) -> Schedule:
    rows = (
        ("Other income to mean total assets (%)", "other_income", "total_assets"),
        ("Operating profit to mean total assets (%)", "operating_profit", "total_assets"),
        ("Return on mean total assets (%)", "pat", "total_assets"),
        ("Return on mean net worth (%)", "owners", "net_worth"),
        ("Provisions and contingencies to mean advances (%)", "provisions_charge", "advances"),
    )
    entries = [
        Entry(
            label,
            tuple(number(view.line(a, fy) / average(view, b, fy) * 100, 2) for fy in view.years),
            "memo",
        )
        for label, a, b in rows
    ]
    for label, above, below in (
        ("Operating expenses to net income (%)", "operating_expenses", "net_income"),
        ("Advances to deposits (%)", "advances", "deposits"),
        ("Payments to employees to operating expenses (%)", "employees", "operating_expenses"),
        ("Tax to profit before tax (%)", "tax", "pbt"),
    ):
        cells = tuple(
            number(view.line(above, fy) / view.line(below, fy) * 100, 2) for fy in view.years
        )
        entries.append(Entry(label, cells, "memo"))
    return Schedule("bank_ratios", view.heads, view.years, tuple(entries), unit="")
