"""Statements of one entity over FY22 to FY24, rolled forward so that every line ties.

All amounts are whole lakh of rupees. Each movement on the balance sheet is a line of the cash flow
statement or a non-cash item added back in it, so the sheet balances without a plug; treasury (the
current investments, then short-term borrowing) takes up what is left after the cash target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rge.errors import RgeError
from rge.invented.money import LAKH_PER_CRORE
from rge.invented.sheet import (
    ASSETS,
    EQUITY,
    LIABILITIES,
    Lines,
    operating,
    split_borrowings,
    totals,
)
from rge.invented.spec import YEARS, Entity, Spec


@dataclass(frozen=True)
class Accounts:
    """One year of one entity: profit and loss, balance sheet, cash flow (lakh of rupees)."""

    pnl: Mapping[str, int]
    balance: Mapping[str, int]
    cash: Mapping[str, int]

    def find(self, key: str) -> int | None:
        """The amount of a line, wherever it stands."""
        for lines in (self.pnl, self.balance, self.cash):
            if key in lines:
                return lines[key]
        return None


@dataclass(frozen=True)
class ShareFlows:
    """What owners paid in and received in a year (lakh), and the capital at its end."""

    capital: int
    issued: int
    dividends: int


def fine(crore: float, rng: np.random.Generator, spread: float = 0.004) -> int:
    """`crore` in lakh with invented fine digits; nil stays nil."""
    return round(crore * LAKH_PER_CRORE * (1 + spread * rng.uniform(-1, 1)))


def entity_accounts(
    spec: Spec,
    entity: Entity,
    *,
    name: str,
    revenue: Mapping[str, int],
    ebit: Mapping[str, int],
    owners: Mapping[str, ShareFlows],
    rng: np.random.Generator,
) -> dict[str, Accounts]:
    """Accounts of FY22, FY23 and FY24 (and the FY21 balance sheet they start from)."""
    borrowings = [fine(level, rng) for level in entity.borrowings]
    sheet = _opening(entity, revenue["FY21"], owners["FY21"].capital, borrowings[0], rng)
    accounts = {"FY21": Accounts({}, totals(sheet), {})}
    for index, fy in enumerate(YEARS):
        average = (borrowings[index] + borrowings[index + 1]) / 2
        pnl = _profit(spec, entity, index, revenue[fy], ebit[fy], average, rng)
        target = round(entity.cash[index + 1] / 100 * revenue[fy] * rng.uniform(0.98, 1.02))
        closing, cash = _roll(
            entity, index, sheet, pnl, owners[fy], borrowings[index + 1], target, rng
        )
        for key in (*ASSETS, "other_equity", "long_borrowings"):
            if closing[key] < 0:
                raise RgeError(
                    f"{spec.slug} {name} {fy}",
                    f"{key} is {closing[key]} lakh",
                    allowed="a balance of nil or more",
                    do="change the spec",
                )
        accounts[fy] = Accounts(pnl, totals(closing), cash)
        sheet = closing
    return accounts


def _profit(
    spec: Spec,
    entity: Entity,
    i: int,
    revenue: int,
    ebit: int,
    borrowings: float,
    rng: np.random.Generator,
) -> Lines:
    """Profit and loss of year `i`; other expenses are what the result leaves for them."""
    pnl: Lines = {"revenue": revenue}
    pnl["other_income"] = round(revenue * entity.other_income[i] / 100 * rng.uniform(0.98, 1.02))
    pnl["total_income"] = revenue + pnl["other_income"]
    for cost in entity.costs:
        pnl[cost.id] = round(revenue * cost.share[i] / 100 * rng.uniform(0.995, 1.005))
    named = sum(pnl[cost.id] for cost in entity.costs)
    pnl["finance_costs"] = round(borrowings * entity.interest_rate / 100 * rng.uniform(0.98, 1.02))
    pnl["depreciation"] = round(revenue * entity.depreciation[i] / 100 * rng.uniform(0.99, 1.01))
    pnl["other_expenses"] = revenue - named - pnl["depreciation"] - ebit
    if pnl["other_expenses"] <= 0:
        raise RgeError(
            spec.slug, f"year {YEARS[i]}: nothing left for other expenses", do="lower a cost share"
        )
    pnl["total_expenses"] = pnl["total_income"] - ebit - pnl["other_income"] + pnl["finance_costs"]
    pnl["before_exceptional"] = pnl["total_income"] - pnl["total_expenses"]
    pnl["associates"] = fine(entity.associates[i], rng)
    pnl["exceptional"] = fine(entity.exceptional[i], rng)
    pnl["pbt"] = pnl["before_exceptional"] + pnl["associates"] + pnl["exceptional"]
    _tax(pnl, spec.tax_rate, rng)
    pnl["minority"] = round(max(pnl["pat"], 0) * entity.minority / 100)
    pnl["owners"] = pnl["pat"] - pnl["minority"]
    pnl["oci"] = round(abs(pnl["pat"]) * entity.oci / 100 * rng.uniform(-1, 2))
    pnl["comprehensive"] = pnl["pat"] + pnl["oci"]
    pnl["ebitda"] = ebit + pnl["depreciation"]
    pnl["share_payments"] = round(revenue * entity.share_payments[i] / 100)
    return pnl


def _tax(pnl: Lines, rate: float, rng: np.random.Generator) -> None:
    taxable = pnl["pbt"] - pnl["associates"]
    if taxable > 0 and rate > 0:
        total = round(taxable * rate / 100 * rng.uniform(0.98, 1.02))
        pnl["deferred_tax"] = round(total * rng.uniform(0.06, 0.13))
        pnl["current_tax"] = total - pnl["deferred_tax"]
    else:
        pnl["current_tax"] = round(abs(pnl["other_income"]) * 0.012)
        pnl["deferred_tax"] = 0
    pnl["tax"] = pnl["current_tax"] + pnl["deferred_tax"]
    pnl["pat"] = pnl["pbt"] - pnl["tax"]


def _working(entity: Entity, revenue: int, rng: np.random.Generator) -> Lines:
    """Working capital at the end of a year, from shares of its revenue."""
    shares = {
        "inventories": entity.inventories,
        "receivables": entity.receivables,
        "other_current": entity.other_assets,
        "payables": entity.payables,
        "other_liabilities": entity.other_liabilities,
        "provisions": entity.provisions,
    }
    return {key: round(revenue * s / 100 * rng.uniform(0.97, 1.03)) for key, s in shares.items()}


def _opening(
    entity: Entity, revenue: int, capital: int, borrowings: int, rng: np.random.Generator
) -> Lines:
    """The FY21 sheet; current investments are what the rest leaves."""
    sheet = _working(entity, revenue, rng)
    sheet |= {
        "ppe": fine(entity.ppe, rng),
        "intangibles": fine(entity.intangibles, rng),
        "investments": fine(entity.investments, rng),
        "other_noncurrent": round(revenue * 0.03),
        "cash": round(entity.cash[0] / 100 * revenue),
        "share_capital": capital,
        "minority_equity": fine(entity.minority_equity, rng),
        "other_equity": fine(entity.equity, rng) - capital,
        "deferred_tax_liability": round(fine(entity.ppe, rng) * 0.03),
    }
    split_borrowings(sheet, borrowings)
    claims = sum(sheet[key] for key in (*EQUITY, *LIABILITIES))
    sheet["current_investments"] = claims - sum(sheet.get(key, 0) for key in ASSETS)
    return sheet


def _roll(
    entity: Entity,
    i: int,
    before: Lines,
    pnl: Lines,
    owners: ShareFlows,
    borrowings: int,
    cash_target: int,
    rng: np.random.Generator,
) -> tuple[Lines, Lines]:
    """The closing sheet and the cash flow statement that leads to it."""
    after = dict(before) | _working(entity, pnl["revenue"], rng)
    capex = round(pnl["revenue"] * entity.capex[i] / 100 * rng.uniform(0.98, 1.02))
    intangible = round(capex * 0.12)
    worn = round(pnl["depreciation"] * 0.12)
    invested = fine(entity.invested[i], rng)
    after["ppe"] += capex - intangible - (pnl["depreciation"] - worn)
    after["intangibles"] += intangible - worn
    after["investments"] += invested + pnl["associates"] + pnl["oci"]
    after[entity.exceptional_on] += pnl["exceptional"]
    after["deferred_tax_liability"] += pnl["deferred_tax"]
    after["share_capital"] = owners.capital
    after["minority_equity"] += pnl["minority"]
    after["other_equity"] += (
        pnl["comprehensive"]
        - pnl["minority"]
        + pnl["share_payments"]
        - owners.dividends
        + owners.issued
        - (owners.capital - before["share_capital"])
    )
    cash = operating(before, after, pnl)
    before_debt = before["long_borrowings"] + before["short_borrowings"]
    cash |= {
        "capex": -capex,
        "acquired": -invested,
        "income_received": pnl["other_income"],
        "issued": owners.issued,
        "interest_paid": -pnl["finance_costs"],
        "dividends_paid": -owners.dividends,
    }
    spare = (
        before["cash"]
        + before["current_investments"]
        + cash["operating"]
        - capex
        - invested
        + pnl["other_income"]
        + owners.issued
        - pnl["finance_costs"]
        - owners.dividends
        + borrowings
        - before_debt
        - cash_target
    )
    floor = round(0.005 * pnl["revenue"])
    borrowings += max(0, floor - spare)
    after["current_investments"] = max(spare, floor)
    after["cash"] = cash_target
    split_borrowings(after, borrowings)
    cash["treasury"] = before["current_investments"] - after["current_investments"]
    cash["investing"] = sum(cash[k] for k in ("capex", "acquired", "treasury", "income_received"))
    repaid = round(before_debt * 0.24)
    cash["borrowed"], cash["repaid"] = borrowings - before_debt + repaid, -repaid
    if cash["borrowed"] < 0:
        cash["borrowed"], cash["repaid"] = 0, borrowings - before_debt
    cash["financing"] = sum(
        cash[k] for k in ("issued", "borrowed", "repaid", "interest_paid", "dividends_paid")
    )
    cash["net_change"] = cash["operating"] + cash["investing"] + cash["financing"]
    cash["opening_cash"], cash["closing_cash"] = before["cash"], before["cash"] + cash["net_change"]
    return after, cash
