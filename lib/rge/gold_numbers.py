"""Gold numbers checked against the quotes they are said to follow from."""

from __future__ import annotations

from itertools import permutations

from rge.records import Question
from rge.text import numbers

MAX_VALUES = 40  # in the quotes; with more, some pair gives any number


def follows_from_quotes(question: Question) -> bool:
    """Whether each gold value stands in a gold quote or, for multihop, follows from the quotes.

    Looked for are sums, differences, ratios and relative changes of two values, and the sum and
    mean of all, within half a per cent.
    """
    found = [v for quote in question.gold_quotes for v in numbers.parse_values(quote.quote)]
    values = [quantity.value for quantity in found]
    derived = (
        _arithmetic(values) if question.category == "multihop" and len(found) <= MAX_VALUES else ()
    )
    for gold in question.gold_values:
        wanted = numbers.quantity(gold.value, gold.unit)
        if numbers.any_match(found, wanted, rel_tol=1e-6):
            continue
        # A row of a table is written without the unit and scale of its heading.
        if not any(_agree(value, side) for value in derived for side in (wanted.value, gold.value)):
            return False
    return True


def _arithmetic(values: list[float]) -> set[float]:
    """Differences, sums, ratios and relative changes of pairs, and the sum and mean of all."""
    results = {sum(values), sum(values) / len(values)} if values else set()
    for a, b in permutations(dict.fromkeys(values), 2):
        results |= {a + b, a - b, (a - b) / 100, (a - b) * 100}
        if b:
            results |= {a / b, a / b * 100, (a - b) / b, (a - b) / b * 100}
    return results


def _agree(value: float, gold: float) -> bool:
    """Equal within half a per cent: gold of a ratio is rounded."""
    return abs(abs(value) - abs(gold)) <= 0.005 * abs(gold) + 1e-9
