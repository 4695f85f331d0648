"""Amounts as whole lakh of rupees, and the ways an Indian annual report prints them."""

from __future__ import annotations

from typing import Literal

Unit = Literal["crore", "lakh", "million"]

LAKH_PER_CRORE = 100
_DECIMALS: dict[Unit, int] = {"crore": 2, "lakh": 0, "million": 1}
_LAKH_PER_UNIT: dict[Unit, float] = {"crore": 100.0, "lakh": 1.0, "million": 10.0}


def group_indian(digits: str) -> str:
    """`digits` with Indian separators: "10853245" gives "1,08,53,245"."""
    head, tail = digits[:-3], digits[-3:]
    pairs = [head[max(0, end - 2) : end] for end in range(len(head), 0, -2)]
    return ",".join([*reversed(pairs), tail])


def number(value: float, decimals: int, *, western: bool = False) -> str:
    """`value` grouped and rounded; a negative number stands in parentheses."""
    text = f"{abs(value):.{decimals}f}"
    whole, _, fraction = text.partition(".")
    grouped = f"{int(whole):,}" if western else group_indian(whole)
    body = f"{grouped}.{fraction}" if fraction else grouped
    return f"({body})" if value < 0 and float(text) != 0 else body


def in_table(lakh: int, unit: Unit) -> str:
    """An amount as a table of the given unit prints it; nil is a dash."""
    if lakh == 0:
        return "–"
    scaled = lakh / _LAKH_PER_UNIT[unit]
    return number(scaled, _DECIMALS[unit], western=unit == "million")


def in_prose(lakh: int, unit: Unit, decimals: int | None = None) -> str:
    """An amount as running text prints it: companies that tabulate in lakh write crore in text."""
    if unit == "million":
        return (
            f"₹{number(abs(lakh) / 10, 1 if decimals is None else decimals, western=True)} million"
        )
    return f"₹{number(abs(lakh) / 100, 2 if decimals is None else decimals)} crore"


def lakh_crore(lakh: int, decimals: int = 2) -> str:
    """An amount in lakh crore (1 lakh crore = ₹1 trillion), for the largest totals."""
    return f"₹{number(abs(lakh) / 1e7, decimals)} lakh crore"
