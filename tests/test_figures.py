from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rge import figures
from rge.estimates import by_name, mean_estimates, rate_estimates, strata_names
from rge.ranking import leader_region, rank
from rge.reliability import variance_splits
from rge.tables import score_table
from synthetic import made_up_study

CONTEXTS = [("gold_all", "all"), ("gold_some", "some"), ("gold_none", "none"), ("ood", "ood")]


@cache
def study(unscored_rate: float = 0.0):
    made = made_up_study(np.random.default_rng(0), n_questions=24, unscored_rate=unscored_rate)
    table = score_table(
        made.questions, made.responses, made.judgements, made.retrievals, runs=made.runs
    )
    rng = np.random.default_rng(1)
    found = mean_estimates(table, n_resamples=200, confidence_level=0.95, rng=rng)
    found += rate_estimates(table, confidence_level=0.95)
    return table, by_name(found), rank(table, n_resamples=100, rng=rng), list(made.runs)


def draw_all(unscored_rate: float = 0.0):
    table, found, ranked, names = study(unscored_rate)
    counts = pd.DataFrame({name: [i, 2] for i, name in enumerate(names)}, index=["one", "two"])
    drawn = {}
    for name, draw in {
        "scores": lambda ax: figures.scores_by_stratum(ax, found, names, strata_names(table)),
        "differences": lambda ax: figures.differences(ax, found, names),
        "weights": lambda ax: figures.weight_ternary(ax, ranked, names),
        "abstention": lambda ax: figures.abstention_by_context(ax, found, names, CONTEXTS),
        "variance": lambda ax: figures.variance_shares(ax, variance_splits(table)),
        "kinds": lambda ax: figures.bars_by_subject(ax, counts, names, label="claims"),
        "no kinds": lambda ax: figures.bars_by_subject(ax, counts.head(0), names, label="claims"),
    }.items():
        figure, [ax] = figures.new(3.0)
        assert draw(ax) is ax
        drawn[name] = figure
    return drawn


@pytest.fixture(scope="module")
def drawn():
    return draw_all()


def test_every_figure_is_svg_whose_bytes_repeat(drawn, tmp_path):
    again = draw_all()
    for name, figure in drawn.items():
        first, second = tmp_path / f"{name}.svg", tmp_path / f"{name}-2.svg"
        shown = figures.save(figure, first)
        figures.save(again[name], second)
        assert first.read_bytes() == second.read_bytes(), name
        assert shown.data.startswith("<svg")
        assert "<dc:date>" not in first.read_text(encoding="utf-8")


def test_no_figure_is_wider_than_the_text_or_set_smaller_than_eight_points(drawn, tmp_path):
    for name, figure in drawn.items():
        figures.save(figure, tmp_path / "one.svg")
        assert figure.get_figwidth() <= 6.5, name
        texts = [text for text in figure.findobj(lambda a: hasattr(a, "get_fontsize"))]
        assert {round(text.get_fontsize()) for text in texts if text.get_text()} <= {8, 9}, name


def test_no_figure_has_a_title(drawn):
    assert all(not ax.get_title() for figure in drawn.values() for ax in figure.axes)


def test_everything_drawn_lies_inside_its_figure(drawn, tmp_path):
    for name, figure in drawn.items():
        figures.save(figure, tmp_path / "one.svg")
        box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
        assert box.x0 >= -0.02, name
        assert box.y0 >= -0.02, name
        assert box.x1 <= figure.get_figwidth() + 0.02, name
        assert box.y1 <= figure.get_figheight() + 0.02, name


def test_an_unscored_study_still_draws():
    assert len(draw_all(unscored_rate=1.0)) == 7


def test_a_subject_has_the_same_colour_whatever_is_drawn():
    names = ["one", "two", "three"]
    colors = figures.subject_colors(names)
    assert len(set(colors.values())) == 3
    assert figures.subject_colors(names[:2])["two"] == colors["two"]


def test_subjects_are_sorted_by_value_with_the_best_on_top():
    _, found, _, names = study()
    _, [ax] = figures.new(3.0)
    figures.scores_by_stratum(ax, found, names, ["overall"])
    height = {color: None for color in figures.subject_colors(names).values()}
    for line in ax.lines:
        if len(line.get_xdata()) == 1:
            height[line.get_color()] = line.get_ydata()[0]
    ranked = sorted(names, key=lambda s: -found[f"{s}/overall/gfs_primary"].value)
    colors = figures.subject_colors(names)
    assert [height[colors[s]] for s in ranked] == sorted(height.values())


def test_the_coloured_part_of_the_triangle_is_where_a_subject_leads():
    _, _, ranked, names = study()
    _, [ax] = figures.new(3.0)
    figures.weight_ternary(ax, ranked, names)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    leading = [name for name in names if len(leader_region(ranked.means, name)) > 2]
    assert legend == [f"{name} leads" for name in leading]
