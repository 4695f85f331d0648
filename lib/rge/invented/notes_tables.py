"""Tables of governance and of the notes: people, dividends, group companies, related parties."""

from __future__ import annotations

from dataclasses import dataclass

from rge.invented.blocks import Block, Cells, table
from rge.invented.money import number
from rge.invented.segments import split_by_weight
from rge.invented.spec import Related, Row
from rge.invented.tables import Tables


@dataclass(frozen=True)
class NoteTables:
    """Builds the smaller tables of one report."""

    tables: Tables

    @property
    def index(self) -> int:
        """Position of the report year in (FY23, FY24)."""
        return 0 if self.tables.report == "FY23" else 1

    def _crore(self, value: float) -> str:
        return self.tables.money(round(value * 100))

    def directors(self) -> Block:
        """The board during the year with attendance."""
        rows: list[Cells] = []
        for person in self._serving("director"):
            until = f"; until {person.until}" if person.until and self._left(person.until) else ""
            rows.append(
                (
                    "item",
                    [
                        person.name,
                        person.role,
                        f"{person.since}{until}",
                        person.meetings[self.index] or "–",
                    ],
                )
            )
        return table(
            "Board of directors during the year",
            ["Name", "Position", "Since", "Board meetings"],
            rows,
            sides=["left", "left", "right"],
            widths=["27%", "1fr", "33%", "auto"],
        )

    def managers(self) -> Block:
        """Remuneration of executive directors and key managers."""
        rows: list[Cells] = []
        for person in self.tables.spec.people:
            pay, before = person.pay[self.index], person.pay[0] if self.index else None
            if pay is None and before is None:
                continue
            cells = [number(pay, 2) if pay is not None else "–"]
            if self.index:
                cells.append(number(before, 2) if before is not None else "–")
            rows.append(("item", [person.name, person.role, *cells]))
        years = self.tables.years[: 1 + self.index]
        heads = ["Name", "Position", *(self.tables.year_label(fy) for fy in years)]
        return table(
            "Remuneration of directors and key managerial personnel",
            heads,
            rows,
            unit="₹ in lakh",
            sides=["left", *(["right"] * len(years))],
            widths=["30%", "1fr", *(["auto"] * len(years))],
        )

    def _serving(self, kind: str) -> list:
        end = int(self.tables.report[2:])
        people = [p for p in self.tables.spec.people if p.kind == kind]
        return [
            p
            for p in people
            if _order(p.since) <= (2000 + end, 3)
            and (not p.until or _order(p.until) >= (2000 + end - 1, 4))
        ]

    def _left(self, until: str) -> bool:
        return _order(until) <= (2000 + int(self.tables.report[2:]), 3)

    def dividends(self) -> Block:
        """Dividend declared, proposed and paid in cash."""
        ledger = self.tables.figures.ledger
        rows: list[Cells] = []
        years = self.tables.years
        for label, key in (
            ("Interim dividend per share, declared and paid (₹)", "interim"),
            ("Final dividend per share, proposed (₹)", "final"),
        ):
            values = [getattr(ledger.spec.dividends[fy], key) for fy in years]
            rows.append(("item", [label, *(number(v, 2) if v else "–" for v in values)]))
        totals = [
            ledger.spec.dividends[fy].interim + ledger.spec.dividends[fy].final for fy in years
        ]
        rows.append(
            (
                "sub",
                [
                    "Total dividend per share for the year (₹)",
                    *(number(v, 2) if v else "–" for v in totals),
                ],
            )
        )
        cash = [self.tables.money(ledger.dividends_paid[fy]) for fy in years]
        rows.append(("total", [f"Dividends paid in cash in the year ({self.tables.unit})", *cash]))
        notes = [
            "A proposed final dividend is not a liability at the year end; it is paid in the next "
            "financial year after approval by members and appears in that year's cash flow."
        ]
        heads = ["Particulars", *(self.tables.year_label(fy) for fy in years)]
        return table("Dividends", heads, rows, notes=notes)

    def group(self) -> Block:
        """Group companies: holding, revenue and profit."""
        rows: list[Cells] = [
            (
                "item",
                [
                    unit.name,
                    unit.relation,
                    unit.country,
                    f"{unit.holding[self.index]:.2f}",
                    self._crore(unit.revenue[self.index]),
                    self._crore(unit.pat[self.index]),
                ],
            )
            for unit in self.tables.spec.subsidiaries
        ]
        heads = ["Company", "Relation", "Country", "Holding %", "Revenue", "Profit after tax"]
        return table(
            "Subsidiaries, associates and joint ventures",
            heads,
            rows,
            unit=self.tables.unit,
            sides=["left", "left", "right", "right", "right"],
            size="7.9pt",
        )

    def rows(self, title: str, rows: tuple[Row, ...], *, percent: bool = False) -> Block:
        """A note of labelled amounts with their total."""
        picks = [self.index + 1, self.index]
        body: list[Cells] = []
        for row in rows:
            values = [row.values[i] for i in picks]
            cells = [number(v, 2) if percent else self._crore(v) for v in values]
            body.append(("item", [row.label, *cells]))
        sums = [sum(round(row.values[i] * 100) for row in rows) for i in picks]
        total = [number(s / 100, 2) if percent else self.tables.money(s) for s in sums]
        body.append(("total", ["Total", *total]))
        heads = ["Particulars", *(self.tables.year_label(fy) for fy in self.tables.years)]
        return table(title, heads, body, unit="per cent" if percent else self.tables.unit)

    def related(self, rows: tuple[Related, ...]) -> Block:
        """Transactions with related parties; FY23 report shows one year."""
        picks = [1, 0] if self.index else [0]
        body: list[Cells] = [
            ("item", [r.party, r.relation, r.nature, *(self._crore(r.values[i]) for i in picks)])
            for r in rows
        ]
        years = self.tables.years[: len(picks)]
        heads = ["Party", "Relation", "Nature", *(self.tables.year_label(fy) for fy in years)]
        return table(
            "Related party transactions",
            heads,
            body,
            unit=self.tables.unit,
            sides=["left", "left", *(["right"] * len(picks))],
            widths=["28%", "20%", "1fr", *(["auto"] * len(picks))],
            size="8pt",
        )

    def geography(self) -> Block:
        """Revenue by geography; the parts sum to the group's revenue."""
        ledger = self.tables.figures.ledger
        years = self.tables.years
        totals = [
            ledger.shown(self.tables.report, "consolidated", fy).pnl["revenue"] for fy in years
        ]
        weights = [share for _, share in self.tables.spec.geography]
        parts = [split_by_weight(total, weights) for total in totals]
        rows: list[Cells] = [
            ("item", [label, *(self.tables.money(part[i]) for part in parts)])
            for i, (label, _) in enumerate(self.tables.spec.geography)
        ]
        rows.append(("total", ["Revenue from operations", *(self.tables.money(t) for t in totals)]))
        heads = ["Geography", *(self.tables.year_label(fy) for fy in years)]
        return table("Revenue by geography (consolidated)", heads, rows, unit=self.tables.unit)

    def earnings(self) -> Block:
        """How earnings per share follow from profit and weighted shares (consolidated)."""
        ledger, years = self.tables.figures.ledger, self.tables.years
        report = self.tables.report
        shares = [ledger.per_share_shown(report, "consolidated", fy) for fy in years]
        books = [ledger.shown(self.tables.report, "consolidated", fy) for fy in years]
        rows: list[Cells] = [
            (
                "item",
                [
                    f"Profit/(loss) attributable to owners ({self.tables.unit})",
                    *(self.tables.money(b.pnl["owners"]) for b in books),
                ],
            ),
            (
                "item",
                [
                    "Weighted average equity shares, basic (in lakh)",
                    *(number(s.weighted, 0) for s in shares),
                ],
            ),
            (
                "item",
                [
                    "Weighted average equity shares, diluted (in lakh)",
                    *(number(s.diluted_weighted, 0) for s in shares),
                ],
            ),
            ("sub", ["Basic earnings per share (₹)", *(number(s.basic, 2) for s in shares)]),
            ("sub", ["Diluted earnings per share (₹)", *(number(s.diluted, 2) for s in shares)]),
        ]
        heads = ["Particulars", *(self.tables.year_label(fy) for fy in years)]
        return table("Earnings per share (consolidated)", heads, rows)


_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def _order(date: str) -> tuple[int, int]:
    """(year, month) of "14 August 2023", "August 2023" or "2019"."""
    words = date.split()
    return int(words[-1]), _MONTHS.index(words[-2]) + 1 if len(words) > 1 else 1
