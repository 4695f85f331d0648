"""Gold numbers checked against the quotes they are said to follow from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product

from rge.records import GoldValue, Question
from rge.text import numbers
from rge.text.numbers import Quantity

STANDS = "stands in a quote"
NEAR = 0.005  # relative; a rounded gold number may be this far from the exact one
MAX_VALUES = 40  # in the quotes; with more, some pair gives any number
MAX_FOUR = 8  # for rules that take four values, for the same reason


@dataclass(frozen=True)
class Derivation:
    """How a gold number follows from the quotes.

    Attributes
    ----------
    gold
        The number as the question has it.
    rule
        "stands in a quote", "difference", "growth" and so on; None where no rule gives it.
    used
        The numbers it takes, as the quotes write them.
    nearest
        Where no rule gives it: the rule that comes nearest, with its result in the gold's unit.
    """

    gold: GoldValue
    rule: str | None
    used: tuple[str, ...] = ()
    nearest: str = ""

    def __str__(self) -> str:
        """`596 ₹ crore: difference of ₹5,108 crore and ₹4,512 crore`."""
        gold = f"{self.gold.value:g} {self.gold.unit}".strip()
        if self.rule is None:
            return f"{gold}: no rule gives it{f'; nearest is {self.nearest}' * bool(self.nearest)}"
        if self.rule == STANDS:
            return f"{gold}: stands in a quote"
        return f"{gold}: {self.rule} of {' and '.join(self.used)}"


def follows_from_quotes(question: Question) -> bool:
    """Whether each gold value stands in a gold quote or, for multihop, follows from the quotes."""
    return all(derivation.rule is not None for derivation in derivations(question))


def derivations(question: Question) -> list[Derivation]:
    """How each gold value of a question follows from its quotes.

    A value that stands in a quote with its digits is found there. Values of multihop questions may
    be computed from numbers of different quotes: sum, mean, difference, product, ratio, share,
    growth, difference in percentage points, and from four numbers the change of a ratio. The result
    may differ from gold by half a unit of gold's last digit, and never by more than half a per
    cent. A table row without its heading is read in the scale of the other numbers or of the gold.
    """
    quotes = [numbers.parse_values(quote.quote) for quote in question.gold_quotes]
    found = []
    for gold in question.gold_values:
        try:
            wanted = numbers.quantity(gold.value, gold.unit)
        except ValueError:
            found.append(Derivation(gold, None, nearest="none: its unit is not understood"))
            continue
        computed = question.category == "multihop"
        found.append(_derive(gold, wanted, quotes, computed))
    return found


def _derive(
    gold: GoldValue, wanted: Quantity, quotes: list[list[Quantity]], computed: bool
) -> Derivation:
    for one in (value for values in quotes for value in values):
        if numbers.matches(one, wanted, rel_tol=1e-6):
            return Derivation(gold, STANDS, (one.text,))
    if not computed or sum(map(len, quotes)) > MAX_VALUES:
        return Derivation(gold, None)
    nearest, distance = "", math.inf
    for result in _results(wanted, quotes):
        off = abs(abs(result.value) - abs(wanted.value))
        if off <= _tolerance(gold, wanted):
            return Derivation(gold, result.rule, result.used)
        if off < distance:
            shown = f"{result.value / (wanted.scale or 1):.6g}"
            nearest, distance = f"{result.rule} of {' and '.join(result.used)} = {shown}", off
    return Derivation(gold, None, nearest=nearest)


def _tolerance(gold: GoldValue, wanted: Quantity) -> float:
    """Half a unit of gold's last written digit, at most half a per cent; in base units."""
    decimals = len(f"{gold.value:.10f}".rstrip("0").partition(".")[2])
    half_a_digit = 0.5 * 10.0**-decimals * (wanted.scale or 1.0)
    return min(half_a_digit, NEAR * abs(wanted.value)) + 1e-9 * abs(wanted.value) + 1e-12


@dataclass(frozen=True)
class _Result:
    value: float
    rule: str
    used: tuple[str, ...]


def _results(wanted: Quantity, quotes: list[list[Quantity]]) -> Iterator[_Result]:
    """What the rules make of the numbers, those that take the fewest first."""
    across = [pair for one, other in permutations(quotes, 2) for pair in product(one, other)]
    for a, b in across:
        yield from _of_pair(a, b, wanted)
    if len(quotes) > 2 and math.prod(map(len, quotes)) <= MAX_VALUES:
        for values in product(*quotes):
            yield from _of_several(list(values), wanted)
    every = [value for values in quotes for value in values]
    if len(every) <= MAX_FOUR and wanted.unit in ("ratio", "points", "times", ""):
        yield from _of_four(every, wanted)


def _of_pair(a: Quantity, b: Quantity, wanted: Quantity) -> Iterator[_Result]:
    used = (a.text, b.text)
    for x, y in _readings((a, b), wanted):
        if _same_unit(a, b):
            yield from (
                _Result(value, rule, used) for rule, value in _comparisons(x, y, a, b, wanted)
            )
        elif y and wanted.unit != "points":
            yield _Result(x / y, "ratio", used)
        if wanted.unit not in ("ratio", "points", "times"):
            yield _Result(x * y, "product", used)


def _comparisons(
    x: float, y: float, a: Quantity, b: Quantity, wanted: Quantity
) -> Iterator[tuple[str, float]]:
    """Rules that make sense for two numbers of one unit and a result of the wanted unit."""
    shares = "ratio" in (a.unit, b.unit) or "points" in (a.unit, b.unit)
    bare = a.unit == b.unit == ""
    if wanted.unit == "points":
        if shares or bare:
            yield "difference in percentage points", x - y
        return
    if wanted.unit not in ("ratio", "times") or shares or bare:
        yield "difference", x - y
        yield "sum", x + y
        yield "mean", (x + y) / 2
    if y and wanted.unit in ("ratio", "times", ""):
        yield "ratio", x / y
        yield "growth", (x - y) / y
        if x + y:
            yield "share of the sum", x / (x + y)


def _of_several(values: list[Quantity], wanted: Quantity) -> Iterator[_Result]:
    """One number of each of three or more quotes: their sum and mean, and one against the rest."""
    if not all(_same_unit(a, b) for a, b in combinations(values, 2)):
        return
    used = tuple(value.text for value in values)
    for reading in _readings(tuple(values), wanted):
        total = sum(reading)
        if wanted.unit not in ("ratio", "points", "times"):
            yield _Result(total, "sum", used)
        yield _Result(total / len(reading), "mean", used)
        for i, one in enumerate(reading):
            rest, order = total - one, (used[i], *used[:i], *used[i + 1 :])
            if wanted.unit not in ("ratio", "times", "points"):
                yield _Result(one - rest, "difference of the first and the sum of the rest", order)
            if rest and wanted.unit in ("ratio", "times", ""):
                yield _Result(one / rest, "ratio of the first to the sum of the rest", order)
            if total and wanted.unit == "ratio":
                yield _Result(one / total, "share of the sum", order)


def _of_four(values: list[Quantity], wanted: Quantity) -> Iterator[_Result]:
    """Change of a ratio: a / b less c / d, as points or as a ratio; and difference of growths."""
    for a, b, c, d in permutations(values, 4):
        x, y, u, v = (value.value for value in (a, b, c, d))
        if not (y and v):
            continue
        used = (a.text, b.text, c.text, d.text)
        if _same_unit(a, c) and _same_unit(b, d):
            yield _Result(x / y - u / v, "change of a ratio (a / b less c / d)", used)
        if u and wanted.unit == "ratio":
            yield _Result(x / y / (u / v) - 1, "growth of a ratio (a / b over c / d)", used)


def _readings(values: tuple[Quantity, ...], wanted: Quantity) -> Iterator[tuple[float, ...]]:
    """The numbers in base units; those without scale as they are, then in each likely scale.

    A table gives the scale once, in its heading, so a row of it is read in the scale of the other
    numbers, of the gold, or as per cent where the gold is one.
    """
    scales = {1.0, *(value.scale for value in values if value.scale)}
    if wanted.scale:
        scales.add(wanted.scale)
    if wanted.unit in ("ratio", "points"):
        scales.add(0.01)
    given = tuple(value.value for value in values)
    yield given
    if any(value.scale is None for value in values):
        for scale in sorted(scales - {1.0}):
            yield tuple(v.value if v.scale else v.written * scale for v in values)


def _same_unit(a: Quantity, b: Quantity) -> bool:
    shares = {"ratio", "points"}
    return a.unit == b.unit or not a.unit or not b.unit or {a.unit, b.unit} == shares
