"""Ratios of an entity, with the reason of a large change."""

from __future__ import annotations

from dataclasses import dataclass

from rge.invented.money import number
from rge.invented.schedule import Entry, Schedule, View, earlier

# A change beyond this needs a reason beside it.
_LARGE = 25.0


@dataclass(frozen=True)
class Ratio:
    """A ratio of two statement lines; `averaged` takes the mean of opening and closing below."""

    id: str
    label: str
    above: str
    below: str
    unit: str = "times"
    averaged: bool = False
    above_name: str = ""
    below_name: str = ""

    def parts(self, view: View, fy: str) -> tuple[float, float]:
        """Numerator and denominator in lakh."""
        below = float(view.line(self.below, fy))
        if self.averaged:
            below = (below + view.line(self.below, earlier(fy))) / 2
        return float(view.line(self.above, fy)), below

    def value(self, view: View, fy: str) -> float | None:
        """The ratio, None where the denominator is not positive."""
        above, below = self.parts(view, fy)
        if below <= 0:
            return None
        return above / below * (100 if self.unit == "%" else 1)


RATIOS = (
    Ratio(
        "current",
        "Current ratio",
        "current_assets",
        "current_liabilities",
        above_name="current assets",
        below_name="current liabilities",
    ),
    Ratio(
        "gearing",
        "Debt-equity ratio",
        "borrowings",
        "total_equity",
        above_name="borrowings",
        below_name="equity",
    ),
    Ratio(
        "cover",
        "Debt service coverage ratio",
        "pat+depreciation+finance_costs",
        "finance_costs+-repaid",
        above_name="earnings available for debt service",
        below_name="interest and repayments",
    ),
    Ratio(
        "roe",
        "Return on equity",
        "pat",
        "total_equity",
        "%",
        True,
        "profit for the year",
        "average equity",
    ),
    Ratio(
        "stock",
        "Inventory turnover ratio",
        "revenue",
        "inventories",
        averaged=True,
        above_name="revenue",
        below_name="average inventories",
    ),
    Ratio(
        "debtors",
        "Trade receivables turnover ratio",
        "revenue",
        "receivables",
        averaged=True,
        above_name="revenue",
        below_name="average receivables",
    ),
    Ratio(
        "creditors",
        "Trade payables turnover ratio",
        "total_expenses",
        "payables",
        averaged=True,
        above_name="total expenses",
        below_name="average payables",
    ),
    Ratio(
        "working",
        "Net capital turnover ratio",
        "revenue",
        "current_assets+-current_liabilities",
        above_name="revenue",
        below_name="working capital",
    ),
    Ratio(
        "margin",
        "Net profit margin",
        "pat",
        "revenue",
        "%",
        above_name="profit for the year",
        below_name="revenue",
    ),
    Ratio(
        "ebitda",
        "EBITDA margin",
        "ebitda",
        "revenue",
        "%",
        above_name="EBITDA",
        below_name="revenue",
    ),
    Ratio(
        "roce",
        "Return on capital employed",
        "pbt+finance_costs",
        "total_equity+borrowings",
        "%",
        above_name="profit before interest and tax",
        below_name="capital employed",
    ),
    Ratio(
        "interest",
        "Interest coverage ratio",
        "ebitda",
        "finance_costs",
        above_name="EBITDA",
        below_name="finance costs",
    ),
)


def ratio_schedules(view: View) -> list[Schedule]:
    """The ratios of both years in one table."""
    return [_ratios(view)]


def _ratios(view: View) -> Schedule:
    this, before = view.years
    entries = []
    for ratio in RATIOS:
        now, then = ratio.value(view, this), ratio.value(view, before)
        change = _change(now, then)
        unit = " (%)" if ratio.unit == "%" else ""
        reason = _reason(view, ratio) if change is not None and abs(change) > _LARGE else ""
        cells = (
            _shown(now),
            _shown(then),
            number(change, 1) if change is not None else "n.m.",
            reason,
        )
        entries.append(Entry(ratio.label + unit, cells, "memo"))
    heads = (*view.heads, "Change %", "Reason, where the change is above 25 per cent")
    return Schedule(
        "ratios",
        heads,
        (this, before, this, this),
        tuple(entries),
        unit="",
        widths=("25%", "auto", "auto", "auto", "1fr"),
        sides=("right", "right", "right", "left"),
        notes=(
            "Averages are of opening and closing balances; n.m.: not meaningful, since a "
            "denominator or a ratio is nil or negative.",
        ),
    )


def _shown(value: float | None) -> str:
    return "n.m." if value is None else number(value, 2)


def _change(now: float | None, then: float | None) -> float | None:
    """Change in per cent; undefined when a sign turns or a ratio has no meaning."""
    if now is None or then is None or then <= 0 or now < 0:
        return None
    return (now / then - 1) * 100


def _reason(view: View, ratio: Ratio) -> str:
    """What moved, from the numerator and denominator themselves."""
    (top, bottom), (top0, bottom0) = (ratio.parts(view, fy) for fy in view.years)
    moves = [
        f"{name} {_moved(now, then)}"
        for name, now, then in (
            (ratio.above_name, top, top0),
            (ratio.below_name, bottom, bottom0),
        )
    ]
    joint = view.choice("reason", (" while ", ", whereas ", "; "))
    text = joint.join(moves)
    return text[0].upper() + text[1:]


def _moved(now: float, then: float) -> str:
    if then <= 0:
        return "turned positive"
    change = round((now / then - 1) * 100, 1)
    if change == 0:
        return "did not change"
    return f"{'rose' if change > 0 else 'fell'} {number(abs(change), 1)} per cent"
