"""Tables of a report as plain data: title, columns, rows of (style, cells), footnotes."""

from __future__ import annotations

from dataclasses import dataclass

from rge.invented.blocks import Block, Cells, table
from rge.invented.figures import Figures, with_unit
from rge.invented.layout import Layout, balance_layout, cash_layout, profit_layout
from rge.invented.money import in_table, number
from rge.invented.spec import Breakdown, Metric, Spec

_UNIT = {"crore": "₹ in crore", "lakh": "₹ in lakh", "million": "₹ in million"}


@dataclass(frozen=True)
class Tables:
    """Builds the tables of the report of one year from the ledger."""

    figures: Figures

    @property
    def spec(self) -> Spec:
        return self.figures.ledger.spec

    @property
    def report(self) -> str:
        return self.figures.report

    @property
    def years(self) -> tuple[str, str]:
        """This year and the comparative."""
        return self.report, f"FY{int(self.report[2:]) - 1}"

    def year_label(self, fy: str) -> str:
        """A column head for a year in the company's style; a restated one says so."""
        end = int(fy[2:])
        style = {"fy": fy, "long": f"20{end - 1}-{end}", "march": f"31 March 20{end}"}
        return style[self.spec.style["year"]]

    def money(self, lakh: int) -> str:
        """An amount in the table unit of the company."""
        return in_table(lakh, self.spec.unit)

    @property
    def unit(self) -> str:
        return _UNIT[self.spec.unit]

    def statement(self, kind: str, entity: str) -> Block:
        """`kind` is profit, balance or cash; two years side by side."""
        group = entity == "consolidated"
        drivers = self.spec.consolidated if group else self.spec.standalone
        layout: Layout
        if kind == "profit":
            layout = profit_layout(self.spec, drivers, group=group)
            title = "Statement of Profit and Loss for the year ended 31 March"
        elif kind == "balance":
            layout = balance_layout(drivers, group=group)
            title = "Balance Sheet as at 31 March"
        else:
            layout, title = (
                cash_layout(drivers),
                "Statement of Cash Flows for the year ended 31 March",
            )
        books = [self.figures.ledger.shown(self.report, entity, fy) for fy in self.years]
        first = self.figures.ledger.accounts[entity, "FY23"]
        mark = self.report == "FY24" and any(
            first.find(key) != books[1].find(key) for _, key, _ in layout if key
        )
        rows: list[Cells] = []
        for style, key, label in layout:
            amounts = [book.find(key) or 0 for book in books] if key else []
            if key and style == "item" and not any(amounts):
                continue
            rows.append(
                (style, [label, *(self.money(a) for a in amounts)] if key else [label, "", ""])
            )
        if kind == "profit":
            rows += self._per_share_rows(entity)
        heads = [self.year_label(fy) for fy in self.years]
        if mark:
            heads[1] += " (restated)"
        notes = (
            ["Comparative amounts have been restated; see the note on restatement."] if mark else []
        )
        return table(
            f"{entity.capitalize()} {title} 20{self.report[2:]}",
            ["Particulars", *heads],
            rows,
            unit=self.unit,
            notes=notes,
        )

    def _per_share_rows(self, entity: str) -> list[Cells]:
        ledger = self.figures.ledger
        shares = [ledger.per_share_shown(self.report, entity, fy) for fy in self.years]
        face = f"(₹, face value ₹{self.spec.face_value:g})"
        return [
            ("sub", [f"Basic earnings per share {face}", *(number(s.basic, 2) for s in shares)]),
            (
                "item",
                [f"Diluted earnings per share {face}", *(number(s.diluted, 2) for s in shares)],
            ),
        ]

    def segments(self) -> list[Block]:
        """One segment table a year: revenue with elimination, result to profit, assets."""
        return [self._segment_year(fy) for fy in self.years]

    def _segment_year(self, fy: str) -> Block:
        year = self.figures.ledger.segments_shown(self.report, fy)
        books = self.figures.ledger.shown(self.report, "consolidated", fy)
        m = self.money
        rows: list[Cells] = [
            ("item", [r.name, m(r.external), m(r.inter), m(r.gross), m(r.result), m(r.assets)])
            for r in year.rows
        ]
        gross, result = sum(r.gross for r in year.rows), sum(r.result for r in year.rows)
        rows += [
            (
                "sub",
                [
                    "Segment total",
                    m(year.revenue),
                    m(-year.eliminated),
                    m(gross),
                    m(result),
                    m(sum(r.assets for r in year.rows)),
                ],
            ),
            (
                "item",
                [
                    "Inter-segment elimination",
                    "–",
                    m(year.eliminated),
                    m(year.eliminated),
                    "–",
                    "–",
                ],
            ),
            (
                "item",
                [
                    "Unallocated corporate items",
                    "–",
                    "–",
                    "–",
                    m(-year.unallocated),
                    m(year.unallocated_assets),
                ],
            ),
        ]
        total_assets = books.balance["total_assets"]
        rows.append(
            (
                "total",
                ["Group", m(year.revenue), "–", m(year.revenue), m(year.ebit), m(total_assets)],
            )
        )
        restated = (
            self.report == "FY24"
            and fy == "FY23"
            and "FY23" in self.figures.ledger.segments_restated
        )
        head = f"Segment revenue and results, {self.year_label(fy)}"
        return table(
            head + (" (restated)" if restated else ""),
            [
                "Segment",
                "External revenue",
                "Inter-segment",
                "Gross revenue",
                self.spec.segment_measure,
                "Assets",
            ],
            rows,
            unit=self.unit,
            size="7.9pt",
        )

    def five_years(self) -> Block:
        """The five-year summary (consolidated)."""
        columns = self.figures.ledger.summary(self.report)
        values = list(columns.values())
        rows: list[Cells] = [
            ("item", [label, *(self.money(getattr(v, key)) for v in values)])
            for label, key in self._summary_rows()
        ]
        rows += [
            ("item", ["Earnings per share, basic (₹)", *(number(v.eps, 2) for v in values)]),
            (
                "item",
                [
                    "Dividend per share for the year (₹)",
                    *(number(v.dps, 2) if v.dps else "–" for v in values),
                ],
            ),
        ]
        notes = ["Dividend per share is for the year to which it relates, whenever paid."]
        first = self.figures.ledger.summary("FY23")
        if self.report == "FY24" and columns["FY23"] != first["FY23"]:
            what = "Revenue" if columns["FY23"].pat == first["FY23"].pat else "The column"
            notes.append(f"{what} of the preceding year is restated; earlier years are not.")
        heads = ["Particulars", *(self.year_label(fy) for fy in columns)]
        return table(
            "Five-year summary (consolidated)", heads, rows, unit=self.unit, notes=notes, size="8pt"
        )

    def _summary_rows(self) -> tuple[tuple[str, str], ...]:
        bank = self.spec.kind == "bank"
        return (
            ("Total income" if bank else "Revenue from operations", "revenue"),
            (
                "Operating profit before provisions" if bank else "EBITDA (before other income)",
                "ebitda",
            ),
            ("Profit attributable to owners", "pat"),
            ("Net worth", "net_worth"),
            ("Borrowings", "borrowings"),
        )

    def quarters(self) -> Block:
        """The four quarters of the year and their sum."""
        quarters = self.figures.ledger.quarters[self.report]
        labels = ("Revenue from operations", "EBITDA", "Profit/(loss) attributable to owners")
        if self.spec.kind == "bank":
            labels = ("Total income", "Operating profit", "Net profit attributable to owners")
        rows: list[Cells] = []
        for label, key in zip(labels, ("revenue", "ebitda", "pat"), strict=True):
            amounts = [getattr(quarter, key) for quarter in quarters]
            rows.append(("item", [label, *(self.money(a) for a in (*amounts, sum(amounts)))]))
        heads = [
            "Consolidated, unaudited by quarter",
            "Q1",
            "Q2",
            "Q3",
            "Q4",
            self.year_label(self.report),
        ]
        return table("Quarterly results", heads, rows, unit=self.unit, size="8pt")

    def metrics(self, group: str, title: str, columns: tuple[str, ...] = ()) -> Block:
        """Stated figures of a group; footnotes carry what qualifies them.

        `columns` are years or "stated" (what an offer document reported); this year and the
        year before when not given.
        """
        columns = columns or self.years
        rows: list[Cells] = []
        notes: list[str] = []
        chosen = [metric for metric in self.spec.metrics if metric.group == group]
        for metric in chosen:
            label, note = metric.label, self._qualifier(metric)
            if note:
                notes.append(f"({len(notes) + 1}) {note}")
                label += f" ({len(notes)})"
            values = [self._metric_value(metric, fy) for fy in columns]
            rows.append(("item", [label, metric.unit or "number", *values]))
        heads = ["Indicator", "Unit", *(self._column_head(group, fy) for fy in columns)]
        return table(
            title,
            heads,
            rows,
            notes=notes,
            sides=["left", *["right"] * len(columns)],
            widths=["1fr", *["auto"] * (1 + len(columns))],
        )

    def breakdown(self, chosen: Breakdown) -> Block:
        """The parts of a figure, this year and the year before, with their sum where labelled."""
        parts = [self.figures.parts(chosen, fy) for fy in self.years]
        note = chosen.note
        if isinstance(note, dict):
            note = note.get(self.report, "")
        money = bool(chosen.of) and self.figures.value(f"{chosen.of}.24").kind == "money"

        def shown(value: float) -> str:
            return self.money(round(value)) if money else number(value, chosen.decimals)

        rows: list[Cells] = [
            ("item", [row.label, *(shown(part[i]) for part in parts)])
            for i, row in enumerate(chosen.rows)
        ]
        if chosen.total:
            rows.append(("total", [chosen.total, *(shown(sum(part)) for part in parts)]))
        return table(
            chosen.title,
            ["Particulars", *(self.year_label(fy) for fy in self.years)],
            rows,
            unit=self.unit if money else chosen.unit,
            notes=[self.figures.fill(note)] if note else [],
        )

    def _column_head(self, group: str, column: str) -> str:
        if group != "prospectus":
            return self.year_label(column)
        return "Reported" if column == "stated" else f"Scheduled for {self.year_label(column)}"

    def _metric_value(self, metric: Metric, fy: str) -> str:
        if fy not in metric.values:
            return "n.a."
        return number(self.figures.ledger.metric_shown(self.report, metric.id, fy), metric.decimals)

    def _qualifier(self, metric: Metric) -> str:
        if metric.provisional is not None:
            if self.report == "FY23":
                return f"FY23: {metric.note}"
            early = with_unit(number(metric.provisional, metric.decimals), metric.unit)
            return f"FY23 is final; the preceding report carried the provisional figure {early}."
        if metric.restated is not None:
            if self.report == "FY24":
                was = with_unit(number(metric.values["FY23"], metric.decimals), metric.unit)
                return f"FY23 restated: {metric.note} The preceding report stated {was}."
            return ""
        if metric.misprint is not None:
            return metric.note if self.report == "FY24" else ""
        return metric.note
