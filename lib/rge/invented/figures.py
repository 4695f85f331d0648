"""Figures for running text: `[[c.revenue.24]]` becomes what this year's report prints for it.

Names: `c.` consolidated and `s.` standalone lines (with `eps`, `deps`), `o.` consolidated as first
reported, `seg.<id>.`, `m.<id>.` stated figures, `prov.`/`mis.` their provisional and misprinted
values, `b.<table>.<row>.` parts of a breakdown, `d.` dividends, `q.<line>.<quarter>.`, `r.<n>`
restated amounts, `sub.<n>.`; the last part is the year. Before the name: `g:` growth,
`bps:` change in basis points, `pct:a/b` a ratio, `lc:` lakh crore. After it: `|0` decimals.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rge.errors import RgeError
from rge.invented.ledger import Ledger
from rge.invented.money import in_prose, lakh_crore, number
from rge.invented.segments import split_by_weight
from rge.invented.spec import YEARS, Breakdown

_PATTERN = re.compile(r"\[\[([^\[\]]+)\]\]")


@dataclass(frozen=True)
class Figure:
    """A value with the kind that decides how it is printed."""

    value: float
    kind: str
    decimals: int = 2


@dataclass(frozen=True)
class Figures:
    """Resolves figure expressions for the report of one year."""

    ledger: Ledger
    report: str

    def fill(self, text: str) -> str:
        """`text` with every expression replaced."""
        return _PATTERN.sub(lambda match: self.print(match.group(1)), text)

    def print(self, expression: str) -> str:
        """One expression as text.

        Raises
        ------
        RgeError
            When the ledger holds no such figure.
        """
        body, _, places = expression.partition("|")
        decimals = int(places) if places else None
        where = f"{self.ledger.spec.slug}-{self.report}: [[{expression}]]"
        try:
            return self._print(body, decimals)
        except (KeyError, StopIteration, ValueError, IndexError, TypeError) as error:
            raise RgeError(where, f"names no figure of the ledger ({error!r})") from None

    def _print(self, body: str, decimals: int | None) -> str:
        mode, _, rest = body.rpartition(":")
        if mode == "g":
            now, before = self.value(rest).value, self.value(_earlier(rest)).value
            return self.percent(abs(now / before - 1) * 100, 1 if decimals is None else decimals)
        if mode == "bps":
            change = self.value(rest).value - self.value(_earlier(rest)).value
            return f"{abs(round(change * 100))} basis points"
        if mode == "pct":
            top, bottom = rest.split("/")
            ratio = self.value(top).value / self.value(bottom).value
            return self.percent(ratio * 100, 1 if decimals is None else decimals)
        if mode == "lc":
            return lakh_crore(round(self.value(rest).value), 2 if decimals is None else decimals)
        return self._format(self.value(rest), decimals)

    def _format(self, figure: Figure, decimals: int | None) -> str:
        places = figure.decimals if decimals is None else decimals
        if figure.kind == "money":
            return in_prose(round(figure.value), self.ledger.spec.unit, decimals)
        if figure.kind == "rupees":
            return f"₹{number(figure.value, places)}"
        if figure.kind == "%":
            return self.percent(figure.value, places)
        return with_unit(number(figure.value, places), figure.kind)

    def percent(self, value: float, decimals: int) -> str:
        """A percentage in the house style of the company."""
        return f"{number(value, decimals)}{self.ledger.spec.style['percent']}"

    def value(self, name: str) -> Figure:
        """The figure behind a name such as `c.revenue.24`."""
        head, *parts = name.split(".")
        finders: dict[str, Callable[[list[str]], Figure]] = {
            "c": lambda p: self._line("consolidated", p, self.report),
            "s": lambda p: self._line("standalone", p, self.report),
            "o": lambda p: self._line("consolidated", p, "FY23"),
            "seg": self._segment,
            "m": self._metric,
            "prov": self._metric_early,
            "mis": self._metric_early,
            "d": self._dividend,
            "q": self._quarter,
            "r": self._restated,
            "sub": self._subsidiary,
            "b": self._part,
        }
        return finders[head]([head, *parts] if head in ("prov", "mis") else parts)

    def _line(self, entity: str, parts: list[str], report: str) -> Figure:
        key, fy = parts[0], f"FY{parts[1]}"
        if key in ("eps", "deps"):
            per_share = self.ledger.per_share_shown(report, entity, fy)
            return Figure(per_share.basic if key == "eps" else per_share.diluted, "rupees")
        amount = self.ledger.shown(report, entity, fy).find(key)
        if amount is None:
            raise KeyError(key)
        return Figure(amount, "money")

    def _segment(self, parts: list[str]) -> Figure:
        year = self.ledger.segments_shown(self.report, f"FY{parts[2]}")
        row = year.row(parts[0])
        if parts[1] == "margin":
            return Figure(row.result / row.gross * 100, "%", 1)
        return Figure(getattr(row, parts[1]), "money")

    def _metric(self, parts: list[str]) -> Figure:
        metric = self.ledger.metric(parts[0])
        value = self.ledger.metric_shown(self.report, parts[0], f"FY{parts[1]}")
        return Figure(value, metric.unit, metric.decimals)

    def _metric_early(self, parts: list[str]) -> Figure:
        metric = self.ledger.metric(parts[1])
        value = metric.provisional if parts[0] == "prov" else metric.misprint
        if value is None:
            raise KeyError(parts[1])
        return Figure(value, metric.unit, metric.decimals)

    def parts(self, breakdown: Breakdown, fy: str) -> list[float]:
        """What each row of a breakdown shows for a year; they sum to the figure they split."""
        weights = [row.values[YEARS.index(fy)] for row in breakdown.rows]
        if not breakdown.of:
            return weights
        whole = self.value(f"{breakdown.of}.{fy[2:]}")
        scale = 1 if whole.kind == "money" else 10**breakdown.decimals
        return [part / scale for part in split_by_weight(round(whole.value * scale), weights)]

    def _part(self, parts: list[str]) -> Figure:
        breakdown = next(b for b in self.ledger.spec.breakdowns if b.id == parts[0])
        row = [r.id for r in breakdown.rows].index(parts[1])
        value = self.parts(breakdown, f"FY{parts[2]}")[row]
        money = breakdown.of and self.value(f"{breakdown.of}.{parts[2]}").kind == "money"
        return Figure(value, "money" if money else breakdown.unit, breakdown.decimals)

    def _dividend(self, parts: list[str]) -> Figure:
        fy = f"FY{parts[1]}"
        if parts[0] == "paid":
            return Figure(self.ledger.dividends_paid[fy], "money")
        dividend = self.ledger.spec.dividends[fy]
        total = dividend.interim + dividend.final
        return Figure(
            {"interim": dividend.interim, "final": dividend.final, "total": total}[parts[0]],
            "rupees",
        )

    def _quarter(self, parts: list[str]) -> Figure:
        quarter = self.ledger.quarters[f"FY{parts[2]}"][int(parts[1]) - 1]
        return Figure(getattr(quarter, parts[0]), "money")

    def _restated(self, parts: list[str]) -> Figure:
        return Figure(self.ledger.spec.restatements[int(parts[0])].amount * 100, "money")

    def _subsidiary(self, parts: list[str]) -> Figure:
        unit = self.ledger.spec.subsidiaries[int(parts[0])]
        pair = unit.revenue if parts[1] == "revenue" else unit.pat
        return Figure(pair[int(parts[2]) - 23] * 100, "money")


def with_unit(text: str, unit: str) -> str:
    """A printed number beside its unit; "₹ crore" puts the sign before and the word after."""
    for sign in ("₹", "US$"):
        if unit.startswith(sign):
            return f"{sign}{text}{unit.removeprefix(sign)}"
    return f"{text} {unit}".strip()


def _earlier(name: str) -> str:
    head, _, year = name.rpartition(".")
    before = f"FY{int(year) - 1}"
    if before not in YEARS:
        raise ValueError(f"no year before {year}")
    return f"{head}.{before[2:]}"
