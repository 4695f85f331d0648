"""Scores of a board: items passed out of n, with what that many items can and cannot show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from rge.board.grade import BoardGrade
from rge.board.items import CHECKS, Board
from rge.records import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from rge.board.controls import ItemControls


def score(grades: Sequence[BoardGrade], *, name: str, confidence_level: float = 0.95) -> Estimate:
    """Share of items passed, with its Jeffreys interval.

    Runs of one item are averaged first: items, not answers, are the independent draws, so more
    runs alone do not narrow the interval.

    Parameters
    ----------
    grades
        One entry a run, all of the same items; at least one.
    name
        Name of the estimate.
    confidence_level
        In (0, 1).
    """
    from rge.intervals import rate_interval

    k = sum(run.k for run in grades) / len(grades)
    n = grades[0].n
    estimate = rate_interval(k, n, method="jeffreys", confidence_level=confidence_level, name=name)
    return estimate.model_copy(update={"n_responses": n * len(grades)})


def pass_table(board: Board, grades: Mapping[str, Sequence[BoardGrade]]) -> pd.DataFrame:
    """Pass rates in [0, 1]: one row an item (index), column `check`, one column a subject.

    Rows go by check and, within a check, from the item most subjects pass to the one fewest do.
    """
    import pandas as pd

    rates = {
        subject: [sum(run.grades[i].passed for run in runs) / len(runs) for i in range(len(board))]
        for subject, runs in grades.items()
    }
    ids = pd.Index([item.id for item in board], name="item")
    table = pd.DataFrame({"check": [item.ragqa.check for item in board], **rates}, index=ids)
    order = pd.DataFrame(
        {"check": table["check"].map(CHECKS.index), "rate": -table[list(grades)].mean(axis=1)}
    )
    return table.loc[order.sort_values(["check", "rate"], kind="stable").index]


def check_table(
    table: pd.DataFrame, scores: Mapping[str, Estimate], *, digits: int = 2
) -> pd.DataFrame:
    """Items passed per check and in all: one row a subject, as texts.

    Parameters
    ----------
    table
        As `pass_table` returns it.
    scores
        Score of each subject; their order is the order of the rows.
    digits
        Decimals of the score and its interval.
    """
    import pandas as pd

    from rge.display import interval

    sizes = table["check"].value_counts()
    counts = table.groupby("check")[list(scores)].sum()
    rows = [
        {
            "subject": name,
            **{check: f"{counts[name][check]:g}/{sizes[check]}" for check in CHECKS},
            "all": f"{table[name].sum():g}/{len(table)}",
            "score": interval(estimate, digits),
        }
        for name, estimate in scores.items()
    ]
    return pd.DataFrame(rows)


def difficulty_table(table: pd.DataFrame, subjects: Sequence[str]) -> pd.DataFrame:
    """Items by the number of subjects that pass them in every run, from none to all."""
    import pandas as pd

    n_passing = (table[list(subjects)] == 1).sum(axis=1)
    rows = []
    for n in range(len(subjects) + 1):
        items = list(table.index[n_passing == n])
        rows.append({"passed_by": n, "n_items": len(items), "items": ", ".join(items)})
    return pd.DataFrame(rows)


def pair_table(
    table: pd.DataFrame, subjects: Sequence[str], *, alpha: float = 0.05
) -> pd.DataFrame:
    """Each pair of subjects with the items only one of them passes, and whether that says anything.

    An item counts as passed when it is passed in every run. `p_value` is McNemar's exact test,
    Holm-adjusted over the pairs; `verdict` is `tie` unless it is below `alpha`.
    """
    import pandas as pd

    from rge.paired import adjust, mcnemar

    passed = table[list(subjects)] == 1
    pairs = list(combinations(subjects, 2))
    tests = [mcnemar(passed[a], passed[b]) for a, b in pairs]
    adjusted = adjust([test.p_value for test in tests], method="holm")
    rows = [
        {
            "a": a,
            "b": b,
            "only a": test.n10,
            "only b": test.n01,
            "p_value": p,
            "verdict": "told apart" if p is not None and p < alpha else "tie",
        }
        for (a, b), test, p in zip(pairs, tests, adjusted, strict=True)
    ]
    return pd.DataFrame(rows)


def board_values(
    board: Board,
    controls: Mapping[str, ItemControls],
    table: pd.DataFrame,
    subjects: Sequence[str],
    pairs: pd.DataFrame,
) -> dict[str, Any]:
    """What the paper may say about a board, by key; percentages of items.

    Parameters
    ----------
    board, controls
        The items and their control answers.
    table
        As `pass_table` returns it, with subjects and controls.
    subjects
        The columns that are models; the others are controls.
    pairs
        As `pair_table` returns it.
    """
    n, checks = len(board), [item.ragqa.check for item in board]
    n_passing = (table[list(subjects)] == 1).sum(axis=1)
    names = [name for name in table.columns if name != "check"]
    lead = smallest_lead(n)
    return {
        "version": board.version,
        "content_sha256": board.content_sha256,
        "n_items": n,
        "n_subjects": len(subjects),
        "n_annual_report": sum(c.topic == "annual-report" for c in controls.values()),
        "n_by_check": {check: checks.count(check) for check in CHECKS},
        "passed": {name: _whole(table[name].sum()) for name in names},
        "passed_by_check": {
            check: {name: _whole(part[name].sum()) for name in names}
            for check, part in table.groupby("check")
        },
        "pass_rates": {
            item: {name: float(rate) for name, rate in row.items()}
            for item, row in table[names].iterrows()
        },
        "n_none_pass": int((n_passing == 0).sum()),
        "n_all_pass": int((n_passing == len(subjects)).sum()),
        "n_pairs": len(pairs),
        "n_told_apart": int((pairs["verdict"] == "told apart").sum()) if len(pairs) else 0,
        "step_percent": 100 / n,
        "smallest_lead": "more items than there are" if lead is None else lead,
    }


def _whole(k: float) -> int | float:
    """A count as an integer; a mean over runs as it is."""
    return int(k) if k == int(k) else float(k)


def smallest_lead(n: int, alpha: float = 0.05) -> int | None:
    """Fewest items by which a subject must lead for the exact sign test to tell two apart.

    The most favourable case: the leader passes every item that the other passes. None when even
    all `n` items are too few.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157; exact form: 2 · 0.5^d ≤ alpha.
    """
    return next((d for d in range(1, n + 1) if 2.0 ** (1 - d) <= alpha), None)
