"""The figures of the paper. Each function draws on the axes it is given and returns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from rge.ranking import EQUAL, PRIMARY, Ranking, leader_region, region
from rge.records import Estimate
from rge.variance import SOURCES, VarianceSplit

if TYPE_CHECKING:
    from IPython.display import SVG

WIDTH = 6.5  # inches, the text width of the paper
# Okabe and Ito (2008): told apart with every common kind of colour blindness, and in grey.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
GREY = "#555555"
LIGHT = "#CCCCCC"
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "svg.hashsalt": "rge",
    "svg.fonttype": "path",
    "figure.constrained_layout.use": True,
}
STRATUM_NAMES = {"multihop": "multi-hop", "ood": "out of domain"}


def subject_colors(subjects: Sequence[str]) -> dict[str, str]:
    """One colour per subject, by its place in the profile: the same in every figure."""
    return {subject: PALETTE[i % len(PALETTE)] for i, subject in enumerate(subjects)}


def new(height: float, *, n_columns: int = 1, width: float = WIDTH) -> tuple[Figure, list[Axes]]:
    """An empty figure, `width` and `height` in inches, with its axes.

    Sets the house style for the whole process: texts take it up when they are drawn.
    """
    mpl.rcParams.update(STYLE)
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, n_columns, squeeze=False)[0])


def save(figure: Figure, path: Path) -> SVG:
    """Write the figure as SVG whose bytes repeat, and return it for a notebook to show."""
    from IPython.display import SVG

    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        figure.savefig(path, format="svg", metadata={"Date": None})
    return SVG(filename=str(path))


def scores_by_stratum(
    ax: Axes,
    estimates: Mapping[str, Estimate],
    subjects: Sequence[str],
    strata: Sequence[str],
    *,
    measure: str = "gfs_primary",
    label: str = "Grounding Fidelity Score",
) -> Axes:
    """Mean and interval of a measure: strata down the page, subjects as dots, best on top.

    Parameters
    ----------
    ax
        Axes to draw on.
    estimates
        Name to Estimate; ``<subject>/<stratum>/<measure>`` is read.
    subjects, strata
        Subjects in profile order; strata from top to bottom.
    """
    colors = subject_colors(subjects)
    height = 0.8 / len(subjects)
    for row, stratum in enumerate(strata):
        found = {s: estimates[f"{s}/{stratum}/{measure}"] for s in subjects}
        ranked = sorted(subjects, key=lambda s: (-(found[s].value or 0.0), subjects.index(s)))
        for place, subject in enumerate(ranked):
            y = row + (place - (len(subjects) - 1) / 2) * height
            marker = MARKERS[subjects.index(subject) % len(MARKERS)]
            _dot(ax, found[subject], y, colors[subject], marker)
            if row == 0:
                _name_dot(ax, found[subject], y, subject, colors[subject])
        if row:
            ax.axhline(row - 0.5, color=LIGHT, linewidth=0.5, zorder=0)
    ax.set_yticks(range(len(strata)), [STRATUM_NAMES.get(s, s) for s in strata])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(strata) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel(label)
    return ax


def differences(
    ax: Axes,
    estimates: Mapping[str, Estimate],
    subjects: Sequence[str],
    *,
    measure: str = "gfs_primary",
    label: str = "Difference in Grounding Fidelity Score",
) -> Axes:
    """Paired differences with two intervals: questions resampled, and whole documents beside.

    The larger mean stands first, so that every value is positive; sorted, largest on top.
    """
    rows: list[tuple[str, Estimate, Estimate]] = []
    for i, a in enumerate(subjects):
        for b in subjects[i + 1 :]:
            key = f"{a} minus {b}/overall/{measure}"
            by_question, by_document = estimates[key], estimates[f"{key}/by document, t"]
            if by_question.value is not None and by_question.value < 0:
                rows.append((f"{b} − {a}", _turned(by_question), _turned(by_document)))
            elif by_question.value is not None:
                rows.append((f"{a} − {b}", by_question, by_document))
    rows.sort(key=lambda row: -(row[1].value or 0.0))
    for y, (_, by_question, by_document) in enumerate(rows):
        _dot(ax, by_question, y - 0.12, "black", "o")
        _dot(ax, by_document, y + 0.12, GREY, "none")
    handles = [
        ax.plot([], [], marker, color=color, markersize=4.5, linestyle="-", label=text)[0]
        for marker, color, text in (
            ("o", "black", "questions resampled"),
            ("none", GREY, "clustered by document"),
        )
    ]
    ax.legend(handles=handles, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    ax.axvline(0, color=GREY, linewidth=0.8, linestyle=(0, (3, 2)), zorder=0)
    ax.set_yticks(range(len(rows)), [row[0] for row in rows])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(1, len(rows)) - 0.5, -0.5)
    ax.set_xlabel(label)
    return ax


def weight_ternary(ax: Axes, ranking: Ranking, subjects: Sequence[str]) -> Axes:
    """All weightings as a triangle, coloured by the subject that leads.

    Thin lines separate weightings with different orders of all subjects; the registered weights
    are a filled dot, equal weights an open one.
    """
    colors = subject_colors(subjects)
    handles = []
    for subject in ranking.means:
        corners = _to_plane(leader_region(ranking.means, subject))
        if len(corners) > 2:
            ax.fill(*corners.T, color=colors[subject], alpha=0.3, linewidth=0, zorder=1)
            handles.append(Patch(color=colors[subject], alpha=0.3, label=f"{subject} leads"))
    ax.legend(handles=handles, frameon=False, loc="upper left", bbox_to_anchor=(0, 1))
    for order in permutations(ranking.means) if len(ranking.means) <= 5 else ():
        corners = _to_plane(region(ranking.means, order))
        if len(corners) > 2:
            ax.fill(*corners.T, fill=False, edgecolor=GREY, linewidth=0.6, zorder=2)
    triangle = _to_plane(np.eye(3))
    ax.fill(*triangle.T, fill=False, edgecolor="black", linewidth=0.8, zorder=3)
    for weights, face, name in ((PRIMARY, "black", "registered"), (EQUAL, "white", "equal")):
        x, y = _to_plane(weights[None, :])[0]
        ax.plot(x, y, "o", color="black", markerfacecolor=face, markersize=5, zorder=4)
        side = 1 if name == "registered" else -1
        to = "left" if side > 0 else "right"
        ax.annotate(name, (x + 0.025 * side, y), ha=to, va="center", zorder=4)
    for corner, text, offset in zip(
        triangle,
        ("grounding only", "correctness only", "calibration only"),
        ((0, 0.03), (-0.02, -0.03), (0.02, -0.03)),
        strict=True,
    ):
        ax.annotate(text, corner + offset, ha="center", va="bottom" if offset[1] > 0 else "top")
    ax.set_aspect("equal")
    ax.set_xlim(-0.75, 1.25)
    ax.set_ylim(-0.12, 0.97)
    ax.axis("off")
    return ax


def abstention_by_context(
    ax: Axes,
    estimates: Mapping[str, Estimate],
    subjects: Sequence[str],
    contexts: Sequence[tuple[str, str]],
) -> Axes:
    """Share of responses that abstain, by what the passages held; Wilson intervals.

    Parameters
    ----------
    ax
        Axes to draw on.
    estimates
        Name to Estimate; ``<subject>/<context>/refused`` is read.
    subjects
        In profile order.
    contexts
        (name in the estimates, label) from left to right.
    """
    colors = subject_colors(subjects)
    width = 0.7 / len(subjects)
    for place, subject in enumerate(subjects):
        xs = np.arange(len(contexts)) + (place - (len(subjects) - 1) / 2) * width
        for x, (name, _) in zip(xs, contexts, strict=True):
            estimate = estimates[f"{subject}/{name}/refused"]
            if estimate.value is None or estimate.low is None or estimate.high is None:
                ax.annotate("none", (x, 0.01), ha="center", color=colors[subject])
                continue
            ax.plot([x, x], [estimate.low, estimate.high], color=colors[subject])
            ax.plot(x, estimate.value, MARKERS[place], color=colors[subject], markersize=4.5)
    handles = [
        ax.plot([], [], MARKERS[i], color=colors[s], markersize=4.5, label=s)[0]
        for i, s in enumerate(subjects)
    ]
    ax.legend(handles=handles, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    ax.set_xticks(range(len(contexts)), [label for _, label in contexts])
    ax.tick_params(axis="x", length=0)
    ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel("share of responses that abstain")
    return ax


def variance_shares(ax: Axes, splits: Mapping[str, VarianceSplit]) -> Axes:
    """Variance of the judges' scores by source, one stacked bar per subject.

    Lengths are variances in squared GFS units, so that bars of different subjects can be compared;
    a part names its share of the bar where that fits.
    """
    tints = ("#332288", "#88CCEE", "#D55E00", "#DDCC77", "#CC6677", "#BBBBBB")
    known = [{k for k, v in s.components.items() if v is not None} for s in splits.values()]
    shade = {k: tint for k, tint in zip(SOURCES, tints, strict=True) if any(k in s for s in known)}
    longest = max((_total(split) for split in splits.values()), default=0.0)
    for y, split in enumerate(splits.values()):
        start = 0.0
        for source, value in split.components.items():
            if value:
                ax.barh(y, value, left=start, height=0.55, color=shade[source], edgecolor="white")
                if value > 0.09 * longest:
                    share = f"{100 * value / _total(split):.0f} %"
                    color = "white" if source in ("document", "run") else "black"
                    ax.annotate(
                        share, (start + value / 2, y), ha="center", va="center", color=color
                    )
                start += value
        if not start:
            ax.annotate("no variance, or undefined", (0, y), va="center", color=GREY)
    handles = [
        Patch(color=color, label=source.replace(" x ", " × ")) for source, color in shade.items()
    ]
    ax.legend(handles=handles, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=5)
    ax.set_yticks(range(len(splits)), list(splits))
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(splits) - 0.5, -0.5)
    ax.set_xlabel("variance of the judges' Grounding Fidelity Scores")
    return ax


def bars_by_subject(ax: Axes, counts: pd.DataFrame, subjects: Sequence[str], *, label: str) -> Axes:
    """Counts per kind, one bar per subject, most frequent kind on top.

    Parameters
    ----------
    ax
        Axes to draw on.
    counts
        Index: kind; columns: subjects.
    subjects
        In profile order.
    label
        Text of the x axis.
    """
    colors = subject_colors(subjects)
    totals = counts.sum(axis=1)
    order = sorted(counts.index, key=lambda kind: (-totals[kind], str(kind)))
    height = 0.8 / max(1, len(subjects))
    for row, kind in enumerate(order):
        for place, subject in enumerate(subjects):
            y = row + (place - (len(subjects) - 1) / 2) * height
            count = int(counts.loc[kind, subject])
            ax.barh(y, count, height=0.9 * height, color=colors[subject])
            ax.annotate(
                f"{count}", (count, y), xytext=(3, 0), textcoords="offset points", va="center"
            )
    handles = [Patch(color=colors[subject], label=subject) for subject in subjects]
    ax.legend(handles=handles, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    ax.set_yticks(range(len(order)), order)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(1, len(order)) - 0.5, -0.5)
    ax.set_xlim(0, max(1.0, 1.12 * float(counts.max(axis=None)) if len(counts) else 1.0))
    ax.set_xlabel(label)
    return ax


def _dot(ax: Axes, estimate: Estimate, y: float, color: str, marker: str) -> None:
    """A value with its interval; a cross where the interval is undefined, nothing without value."""
    if estimate.value is None:
        return
    if estimate.low is None or estimate.high is None:
        ax.plot(estimate.value, y, "x", color=color, markersize=4.5, zorder=3)
        return
    ax.plot([estimate.low, estimate.high], [y, y], color=color, solid_capstyle="butt", zorder=2)
    if marker != "none":
        ax.plot(estimate.value, y, marker, color=color, markersize=4.5, zorder=3)


def _name_dot(ax: Axes, estimate: Estimate, y: float, text: str, color: str) -> None:
    """The name beside an interval, on the side with more room."""
    if estimate.value is None:
        return
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    right = 1 - high > low
    ax.annotate(
        text,
        (high if right else low, y),
        xytext=(5 if right else -5, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
        color=color,
    )


def _turned(estimate: Estimate) -> Estimate:
    """The estimate of b - a from that of a - b."""
    ends = {"low": estimate.high, "high": estimate.low, "value": estimate.value}
    return estimate.model_copy(
        update={name: None if end is None else -end for name, end in ends.items()}
    )


def _total(split: VarianceSplit) -> float:
    return sum(value for value in split.components.values() if value)


def _to_plane(weights: np.ndarray) -> np.ndarray:
    """Weights (g, c, k) as points: grounding on top, correctness left, calibration right."""
    corners = np.array([[0.5, np.sqrt(0.75)], [0.0, 0.0], [1.0, 0.0]])
    return weights @ corners
