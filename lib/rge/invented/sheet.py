"""Lines of a company's balance sheet, their totals and the operating cash flow between two."""

from __future__ import annotations

Lines = dict[str, int]

ASSETS = (
    "ppe",
    "intangibles",
    "investments",
    "other_noncurrent",
    "inventories",
    "receivables",
    "current_investments",
    "cash",
    "other_current",
)
EQUITY = ("share_capital", "other_equity", "minority_equity")
LIABILITIES = (
    "long_borrowings",
    "deferred_tax_liability",
    "provisions",
    "short_borrowings",
    "payables",
    "other_liabilities",
)


def operating(before: Lines, after: Lines, pnl: Lines) -> Lines:
    """Cash flow from operations by the indirect method, from two sheets and the result."""
    cash: Lines = {
        "pbt_cf": pnl["pbt"],
        "depreciation_cf": pnl["depreciation"],
        "finance_cf": pnl["finance_costs"],
        "income_cf": -pnl["other_income"],
        "associates_cf": -pnl["associates"],
        "exceptional_cf": -pnl["exceptional"],
        "share_payments_cf": pnl["share_payments"],
    }
    cash["before_working"] = sum(cash.values())
    for key in ("inventories", "receivables", "other_current"):
        cash[f"{key}_cf"] = before[key] - after[key]
    for key in ("payables", "other_liabilities", "provisions"):
        cash[f"{key}_cf"] = after[key] - before[key]
    working = [key for key in cash if key.removesuffix("_cf") in (*ASSETS, *LIABILITIES)]
    cash["generated"] = cash["before_working"] + sum(cash[key] for key in working)
    cash["tax_paid"] = -pnl["current_tax"]
    cash["operating"] = cash["generated"] + cash["tax_paid"]
    return cash


def totals(sheet: Lines) -> Lines:
    """The sheet with its subtotals and totals."""
    total = dict(sheet)
    total["noncurrent_assets"] = sum(sheet[key] for key in ASSETS[:4])
    total["current_assets"] = sum(sheet[key] for key in ASSETS[4:])
    total["total_assets"] = total["noncurrent_assets"] + total["current_assets"]
    total["net_worth"] = sheet["share_capital"] + sheet["other_equity"]
    total["total_equity"] = sum(sheet[key] for key in EQUITY)
    total["noncurrent_liabilities"] = sum(sheet[key] for key in LIABILITIES[:3])
    total["current_liabilities"] = sum(sheet[key] for key in LIABILITIES[3:])
    total["borrowings"] = sheet["long_borrowings"] + sheet["short_borrowings"]
    total["total_claims"] = (
        total["total_equity"] + total["noncurrent_liabilities"] + total["current_liabilities"]
    )
    return total


def split_borrowings(sheet: Lines, total: int) -> None:
    """Write `total` into the sheet as long-term and current borrowings."""
    sheet["short_borrowings"] = round(total * 0.24)
    sheet["long_borrowings"] = total - sheet["short_borrowings"]
