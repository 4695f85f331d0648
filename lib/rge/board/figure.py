"""Figures of the board: who passes which item, and the scores with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rge.board.items import CHECKS
from rge.records import Estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

INK, PALE = "#222222", "#d9d9d9"


def draw_items(
    ax: Axes, table: pd.DataFrame, subjects: Sequence[str], colours: Mapping[str, str]
) -> Axes:
    """One square per item and subject, filled as far as its pass rate goes.

    Parameters
    ----------
    ax
        Drawn on; its y axis runs downward in the table's row order.
    table
        As `rge.board.score.pass_table` returns it.
    subjects
        Columns of the table, left to right.
    colours
        Colour of each subject; ink where it has none.
    """
    for column, subject in enumerate(subjects):
        colour = colours.get(subject, INK)
        for row, rate in enumerate(table[subject]):
            ax.scatter(column, row, s=34, marker="s", facecolor="none", edgecolor=PALE, zorder=1)
            if rate > 0:
                ax.scatter(column, row, s=34 * rate, marker="s", color=colour, zorder=2)
    edges = [list(table["check"]).index(check) for check in CHECKS if check in set(table["check"])]
    for edge in edges[1:]:
        ax.axhline(edge - 0.5, color=PALE, linewidth=0.8)
    ax.set_yticks(range(len(table)), list(table.index), fontsize=7)
    ax.set_xticks(range(len(subjects)), list(subjects), fontsize=8, rotation=45, ha="left")
    ax.xaxis.tick_top()
    ax.set_xlim(-0.6, len(subjects) - 0.4)
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def draw_scores(ax: Axes, scores: Sequence[Estimate], colours: Mapping[str, str]) -> Axes:
    """Scores with their intervals, highest on top, each labelled with its name and k of n."""
    ranked = sorted(scores, key=lambda estimate: estimate.value or 0.0)
    for row, estimate in enumerate(ranked):
        if estimate.value is None or estimate.low is None or estimate.high is None:
            continue
        colour = colours.get(estimate.name, INK)
        ax.plot([estimate.low, estimate.high], [row, row], color=colour, linewidth=1.6)
        ax.plot(estimate.value, row, "o", color=colour, markersize=5, clip_on=False)
        k = estimate.value * estimate.n_questions
        label = f"{estimate.name} {k:.3g}/{estimate.n_questions}"
        ax.annotate(
            label,
            (estimate.value, row),
            (0, 5),
            textcoords="offset points",
            fontsize=7,
            ha="right" if estimate.value > 0.5 else "left",
        )
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.6, len(ranked) - 0.2)
    ax.set_yticks([])
    ax.set_xlabel("share of items passed", fontsize=8)
    ax.tick_params(axis="x", labelsize=8)
    ax.spines[["top", "left", "right"]].set_visible(False)
    return ax
