"""Statements of a bank over FY22 to FY24; investments take up what the cash target leaves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rge.errors import RgeError
from rge.invented.accounts import Accounts, ShareFlows, fine
from rge.invented.sheet import Lines
from rge.invented.spec import YEARS, Bank, Spec

ASSETS = ("cash", "investments", "advances", "fixed_assets", "other_assets")
EQUITY = ("share_capital", "other_equity", "minority_equity")
LIABILITIES = ("deposits", "bank_borrowings", "other_liabilities")


def bank_accounts(
    spec: Spec, bank: Bank, *, name: str, owners: Mapping[str, ShareFlows], rng: np.random.Generator
) -> dict[str, Accounts]:
    """Accounts of FY22, FY23 and FY24 (and the FY21 balance sheet they start from)."""
    levels = {
        key: [fine(level, rng) for level in getattr(bank, key)]
        for key in ("advances", "deposits", "borrowings", "cash")
    }
    sheet: Lines = {
        "cash": levels["cash"][0],
        "advances": levels["advances"][0],
        "fixed_assets": fine(bank.fixed_assets, rng),
        "other_assets": round(levels["advances"][0] * bank.other_assets / 100),
        "share_capital": owners["FY21"].capital,
        "other_equity": fine(bank.equity, rng) - owners["FY21"].capital,
        "minority_equity": fine(bank.minority_equity, rng),
        "deposits": levels["deposits"][0],
        "bank_borrowings": levels["borrowings"][0],
        "other_liabilities": round(levels["advances"][0] * bank.other_liabilities / 100),
    }
    sheet["investments"] = _claims(sheet) - sum(sheet.get(key, 0) for key in ASSETS)
    accounts = {"FY21": Accounts({}, _totals(sheet), {})}
    for index, fy in enumerate(YEARS):
        level = {key: values[index + 1] for key, values in levels.items()}
        pnl = _profit(spec, bank, index, sheet, level, rng)
        closing, cash = _roll(bank, index, sheet, level, pnl, owners[fy], rng)
        if closing["investments"] < 0:
            raise RgeError(
                f"{spec.slug} {name} {fy}",
                "investments are negative",
                do="raise deposits or lower advances in the spec",
            )
        accounts[fy] = Accounts(pnl, _totals(closing), cash)
        sheet = closing
    return accounts


def _profit(
    spec: Spec, bank: Bank, i: int, before: Lines, level: Lines, rng: np.random.Generator
) -> Lines:
    """Profit and loss of year `i` from average volumes, yields and costs."""
    earning = (before["advances"] + level["advances"]) / 2 + before["investments"] * 1.06
    funds = (before["deposits"] + level["deposits"]) / 2
    funds += (before["bank_borrowings"] + level["borrowings"]) / 2
    pnl: Lines = {
        "interest_earned": round(earning * bank.yield_assets[i] / 100 * rng.uniform(0.999, 1.001)),
        "interest_expended": round(funds * bank.cost_funds[i] / 100 * rng.uniform(0.999, 1.001)),
    }
    pnl["nii"] = pnl["interest_earned"] - pnl["interest_expended"]
    pnl["other_income"] = round(pnl["nii"] * bank.fee_income[i] / 100 * rng.uniform(0.99, 1.01))
    pnl["revenue"] = pnl["total_income"] = pnl["interest_earned"] + pnl["other_income"]
    net = pnl["net_income"] = pnl["nii"] + pnl["other_income"]
    pnl["operating_expenses"] = round(net * bank.cost_income[i] / 100 * rng.uniform(0.998, 1.002))
    pnl["employees"] = round(pnl["operating_expenses"] * bank.employee_share / 100)
    pnl["depreciation"] = round(before["fixed_assets"] * 0.17)
    pnl["other_expenses"] = pnl["operating_expenses"] - pnl["employees"] - pnl["depreciation"]
    pnl["operating_profit"] = net - pnl["operating_expenses"]
    pnl["provisions_charge"] = round(
        level["advances"] * bank.provisions[i] / 100 * rng.uniform(0.98, 1.02)
    )
    pnl["pbt"] = pnl["operating_profit"] - pnl["provisions_charge"]
    pnl["tax"] = round(pnl["pbt"] * spec.tax_rate / 100 * rng.uniform(0.99, 1.01))
    pnl["total_expenditure"] = (
        pnl["interest_expended"] + pnl["operating_expenses"] + pnl["provisions_charge"] + pnl["tax"]
    )
    pnl["pat"] = pnl["total_income"] - pnl["total_expenditure"]
    pnl["minority"] = round(pnl["pat"] * bank.minority / 100)
    pnl["owners"] = pnl["pat"] - pnl["minority"]
    pnl["ebitda"] = pnl["operating_profit"]
    return pnl


def _roll(
    bank: Bank,
    i: int,
    before: Lines,
    level: Lines,
    pnl: Lines,
    owners: ShareFlows,
    rng: np.random.Generator,
) -> tuple[Lines, Lines]:
    after = dict(before)
    after["advances"], after["deposits"] = level["advances"], level["deposits"]
    after["bank_borrowings"], after["cash"] = level["borrowings"], level["cash"]
    capex = fine(bank.capex[i], rng)
    after["fixed_assets"] += capex - pnl["depreciation"]
    other = level["advances"] / 100 * rng.uniform(0.97, 1.03)
    after["other_assets"] = round(other * bank.other_assets)
    after["other_liabilities"] = round(other * bank.other_liabilities)
    after["share_capital"] = owners.capital
    after["minority_equity"] += pnl["minority"]
    after["other_equity"] += pnl["owners"] - owners.dividends + owners.issued
    after["other_equity"] -= owners.capital - before["share_capital"]
    after["investments"] = _claims(after) - sum(
        after[key] for key in ASSETS if key != "investments"
    )
    cash: Lines = {
        "pbt_cf": pnl["pbt"],
        "depreciation_cf": pnl["depreciation"],
        "provisions_cf": pnl["provisions_charge"],
    }
    cash["before_working"] = sum(cash.values())
    cash["advances_cf"] = before["advances"] - after["advances"] - pnl["provisions_charge"]
    for key in ("investments", "other_assets"):
        cash[f"{key}_cf"] = before[key] - after[key]
    for key in ("deposits", "other_liabilities"):
        cash[f"{key}_cf"] = after[key] - before[key]
    cash["generated"] = sum(v for k, v in cash.items() if k != "before_working")
    cash["tax_paid"] = -pnl["tax"]
    cash["operating"] = cash["generated"] + cash["tax_paid"]
    cash["capex"] = cash["investing"] = -capex
    cash["issued"] = owners.issued
    cash["borrowed"] = after["bank_borrowings"] - before["bank_borrowings"]
    cash["dividends_paid"] = -owners.dividends
    cash["financing"] = cash["issued"] + cash["borrowed"] + cash["dividends_paid"]
    cash["net_change"] = cash["operating"] + cash["investing"] + cash["financing"]
    cash["opening_cash"] = before["cash"]
    cash["closing_cash"] = before["cash"] + cash["net_change"]
    return after, cash


def _claims(sheet: Lines) -> int:
    return sum(sheet[key] for key in (*EQUITY, *LIABILITIES))


def _totals(sheet: Lines) -> Lines:
    total = dict(sheet)
    total["total_assets"] = sum(sheet[key] for key in ASSETS)
    total["net_worth"] = sheet["share_capital"] + sheet["other_equity"]
    total["total_equity"] = sum(sheet[key] for key in EQUITY)
    total["borrowings"] = sheet["bank_borrowings"]
    total["total_claims"] = _claims(sheet)
    return total
