"""A claim beside its page: the frame stands where the evidence stands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from rge import figures
from rge.page_figure import boxes_of, example_figure, page_excerpt
from rge.profile import load_profile

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "data" / "corpus" / "invented" / "thalivo-fy24.pdf"
LINE = "Weighted average equity shares, basic (in lakh)"


def test_a_line_of_the_page_is_found_where_it_is_drawn():
    [(left, bottom, right, top), *_] = boxes_of(REPORT, 29, LINE)
    assert 0 < left < right < 595 and 0 < bottom < top < 842
    assert right - left > 10 * (top - bottom)


def test_white_space_and_line_breaks_do_not_matter():
    assert boxes_of(REPORT, 29, LINE.replace(" ", "\n  ")) == boxes_of(REPORT, 29, LINE)


def test_words_that_are_not_on_the_page_have_no_place():
    assert boxes_of(REPORT, 29, "words that no report holds") == []
    assert boxes_of(REPORT, 2, LINE) == []


@pytest.mark.parametrize("middle", ["top", "bottom"])
def test_the_excerpt_shows_what_it_frames(middle: str):
    """Even at an end of the page there is ink inside the frame."""
    boxes = {
        "top": boxes_of(REPORT, 29, LINE),
        "bottom": [(60.0, 20.0, 535.0, 60.0)],
    }[middle]
    _, [ax] = figures.new(2)
    page_excerpt(ax, {"file": REPORT, "page": 29, "boxes": boxes})
    image = np.asarray(ax.images[0].get_array())
    [frame] = [p for p in ax.patches if isinstance(p, Rectangle)][:1]
    x, y = frame.get_xy()
    assert y >= 0 and y + frame.get_height() <= image.shape[0]
    inside = image[int(y) : int(y + frame.get_height()), int(x) : int(x + frame.get_width())]
    assert inside.size and (middle == "bottom" or inside.min() < 128)


def test_a_run_without_a_contradiction_says_so():
    profile = load_profile("offline")
    claims = pd.DataFrame(
        columns=["finding", "category", "judges", "claim", "question_id", "subject"]
    )
    figure = example_figure(claims, None, profile)  # type: ignore[arg-type]
    texts = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert texts == ["No reported contradiction has evidence that is found on a page."]
