"""One reported claim as a reader would check it: the page, the passage on it, the verdicts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from rge.collected import Collected
from rge.corpus.sources import corpus_sources
from rge.figures import GREY, PALETTE, STYLE, WIDTH
from rge.judging.evidence import locate
from rge.profile import Profile
from rge.records import DIMENSIONS
from rge.reports.error_report import shortened

Box = tuple[float, float, float, float]  # left, bottom, right, top in points

_DPI = 200
_SHOWN = 150  # points of the page's height that are shown
_LINE = 108  # characters of a line of text below the page


def example_figure(claims: pd.DataFrame, collected: Collected, profile: Profile) -> Figure:
    """The page, the framed evidence and the verdicts of one contradiction, or that there is none.

    Parameters
    ----------
    claims, collected, profile
        As for `choose_example`.
    """
    mpl.rcParams.update(STYLE)
    figure = Figure(figsize=(WIDTH, 3.1), layout="constrained")
    page, text = figure.subplots(2, 1, height_ratios=[1.8, 1.1])
    example = choose_example(claims, collected, profile)
    if example is None:
        page.axis("off")
        text.axis("off")
        page.text(0, 1, "No reported contradiction has evidence that is found on a page.", va="top")
        return figure
    page_excerpt(page, example)
    verdicts(text, example, collected)
    return figure


def choose_example(
    claims: pd.DataFrame, collected: Collected, profile: Profile
) -> Mapping[str, Any] | None:
    """A contradiction that most judges report, and the evidence against it on its page.

    Adversarial questions come first, then the shorter claim; evidence is what a judge quoted for
    faithfulness, framed where it is found on a page of its passage.

    Parameters
    ----------
    claims
        From `rge.mistakes.mistakes`.
    collected
        Judgements and passages of the run.
    profile
        Says where the documents lie.

    Returns
    -------
    mapping or None
        The row of the claim, with the judge's `evidence`, its `passage`, `doc_id`, `page`, `file`
        and the `boxes` of the evidence; None where no evidence is found on a page.
    """
    files = {s.doc_id: profile.corpus.folder / s.file for s in corpus_sources(profile)}
    order = (
        claims[claims["finding"] == "contradiction"]
        .assign(
            calm=lambda found: found["category"].ne("adversarial"),
            few=lambda found: -found["judges"].str.count(","),
            length=lambda found: found["claim"].str.len(),
        )
        .sort_values(["calm", "few", "length", "question_id", "subject"])
    )
    for _, row in order.iterrows():
        for place in _evidence(row, collected):
            file = files[place["doc_id"]]
            boxes = boxes_of(file, place["page"], place["evidence"]) if file.is_file() else []
            if boxes:
                return row.to_dict() | place | {"file": file, "boxes": boxes}
    return None


def _evidence(row: pd.Series, collected: Collected) -> Iterator[dict[str, Any]]:
    """What judges quoted against a claim, with each page of the passage that holds it."""
    key = (row["question_id"], row["subject"], int(row["run_index"]))
    for judgement in collected.judgements:
        score = judgement.faithfulness
        if judgement.key[:3] != key or score is None or not score.evidence:
            continue
        for chunk in collected.passages[key[0]]:
            if score.evidence in chunk.text:
                for page in range(chunk.page_start, chunk.page_end + 1):
                    yield {
                        "evidence": score.evidence,
                        "passage": chunk.chunk_id,
                        "doc_id": chunk.doc_id,
                        "page": page,
                    }


def boxes_of(file: Path, page: int, sentence: str) -> list[Box]:
    """Where the lines of a sentence stand on a page of a PDF (1-based); none when not found."""
    import pypdfium2

    document = pypdfium2.PdfDocument(file)
    try:
        text = document[page - 1].get_textpage()
        whole = text.get_text_range()
        for part in (sentence, *sorted(sentence.splitlines(), key=len, reverse=True)):
            place = locate(whole, part)
            if place:
                n = text.count_rects(place[0], place[1] - place[0])
                return [text.get_rect(i) for i in range(n)]
        return []
    finally:
        document.close()


def page_excerpt(ax: Axes, example: Mapping[str, Any]) -> Axes:
    """The part of the page around the passage, the sentence framed.

    Parameters
    ----------
    ax
        Loses its axes.
    example
        From `choose_example`.
    """
    image, height = _picture(example["file"], int(example["page"]))
    boxes: Sequence[Box] = example["boxes"]
    middle = height - (max(b[3] for b in boxes) + min(b[1] for b in boxes)) / 2
    top = min(max(0.0, middle - _SHOWN / 2), max(0.0, height - _SHOWN))
    scale = _DPI / 72
    rows = slice(int(top * scale), int((top + _SHOWN) * scale))
    shown = image[rows]
    ax.imshow(shown, cmap="gray", vmin=0, vmax=255, interpolation="antialiased", aspect="equal")
    for left, bottom, right, upper in boxes:
        corner = (left * scale - 3, (height - upper - top) * scale - 3)
        size = ((right - left) * scale + 6, (upper - bottom) * scale + 6)
        ax.add_patch(Rectangle(corner, *size, fill=False, edgecolor=PALETTE[1], linewidth=1.2))
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_edgecolor(GREY)
    return ax


def verdicts(ax: Axes, example: Mapping[str, Any], collected: Collected) -> Axes:
    """Question, claim, place of the passage and each judge's scores, as lines of text."""
    key = (example["question_id"], example["subject"], int(example["run_index"]))
    lines = [
        f"Question {key[0]}: {example['question']}",
        f"{key[1]} states: {shortened(example['claim'])}",
        f"Framed: evidence against it in passage {example['passage']}, page {example['page']}.",
    ]
    for judgement in collected.judgements:
        if judgement.key[:3] != key or judgement.status != "scored":
            continue
        scores = ((name, getattr(judgement, name)) for name in DIMENSIONS)
        given = ", ".join(
            f"{name} {'unscored' if found is None or found.score is None else found.score}"
            for name, found in scores
        )
        lines.append(f"{judgement.judge}: {given}.")
    text = "\n".join(textwrap.fill(line, _LINE, subsequent_indent="    ") for line in lines)
    ax.text(0, 1, text.replace("$", r"\$"), va="top", linespacing=1.5, transform=ax.transAxes)
    ax.axis("off")
    return ax


def _picture(file: Path, page: int) -> tuple[NDArray[np.uint8], float]:
    """A page in grey, shape (rows, columns), and its height in points."""
    import pypdfium2

    document = pypdfium2.PdfDocument(file)
    try:
        found = document[page - 1]
        bitmap = found.render(scale=_DPI / 72, grayscale=True)
        pixels = np.array(bitmap.to_numpy(), dtype=np.uint8)
        return pixels.reshape(pixels.shape[0], -1)[:, : bitmap.width], float(found.get_height())
    finally:
        document.close()
