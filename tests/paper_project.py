"""A small repository with results, a notebook and an article, for the tests of the paper."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from rge.profile import Profile, load_profile

ROOT = Path(__file__).parents[1]
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="600pt" height="90pt" viewBox="0 0 600 90">'
    '<rect width="600" height="90" fill="#4477aa"/></svg>'
)
ARTICLE = """---
title: "A small paper"
author: "The authors"
date: 2026-01-02
keywords: [one, two]
bibliography: references.bib
---

# Abstract {.unnumbered}

The score was {{< var estimates.a_gfs.text >}} over {{< var corpus.n_pages >}} pages, ₹ 1,200 crore.

# First part {#sec-first}

See @fig-score, @tbl-wide, @eq-sum and @sec-second; Cohen [@cohen1960] did. `{{{< var x.y >}}}`

$$ a = b + c $$ {#eq-sum}

{{< embed ../notebooks/01_stage.ipynb#fig-score >}}

# Second part {#sec-second}

{{< embed ../notebooks/01_stage.ipynb#tbl-wide >}}

::: {#tbl-plan}

| Model | Score |
|:------|:------|
| X | planned |

What is planned.

:::

# References {.unnumbered}

::: {#refs}
:::
"""
BIB = "@article{cohen1960, author={Cohen, Jacob}, title={Kappa}, journal={J}, year={1960}}"


def code(label: str, options: str, outputs: list[dict]) -> dict:
    source = f"#| label: {label}\n{options}show()"
    return {
        "cell_type": "code",
        "id": f"cell-{label}",
        "metadata": {},
        "execution_count": None,
        "source": source,
        "outputs": outputs,
    }


def shown(mime: str, value: str) -> dict:
    return {"output_type": "display_data", "metadata": {}, "data": {mime: value}}


def wide_table(n_columns: int = 13, n_rows: int = 70) -> str:
    names = [f"column_{i}" for i in range(n_columns)]
    rows = [
        [f"reader-lexical-{r}", "a" * 64, *(["0.63 [0.55, 0.70]"] * (n_columns - 2))]
        for r in range(n_rows)
    ]
    lines = [names, ["---"] * n_columns, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_notebook(path: Path, cells: list[dict]) -> None:
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Stage one"}
    notebook = {"cells": [title, *cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def figure(svg: str = SVG) -> dict:
    options = '#| fig-cap: "Scores by *subject*."\n#| fig-alt: "A blue bar & a \\"quote\\"."\n'
    return code("fig-score", options, [shown("image/svg+xml", svg)])


def write_result(root: Path, stem: str, content: dict) -> None:
    folder = root / "data" / "results" / "offline-1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.json").write_text(json.dumps(content), encoding="utf-8")


def estimate(value: float | None = 0.63) -> dict:
    return {
        "name": "A, GFS",
        "value": value,
        "low": None if value is None else value - 0.08,
        "high": None if value is None else value + 0.07,
        "confidence_level": 0.95,
        "method": "bca",
        "n_questions": 40,
        "n_responses": 40,
        "n_unscored": 0,
    }


def make_project(root: Path) -> None:
    """A repository in little: profile, results, one notebook, one article."""
    (root / "configs").mkdir(parents=True)
    (root / "paper").mkdir()
    (root / "pyproject.toml").write_text("", encoding="utf-8")
    profile = yaml.safe_load((ROOT / "configs" / "offline.yaml").read_text(encoding="utf-8"))
    (root / "configs" / "offline.yaml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    (root / "paper" / "index.qmd").write_text(ARTICLE, encoding="utf-8")
    (root / "paper" / "references.bib").write_text(BIB, encoding="utf-8")
    write_result(root, "corpus", {"values": {"n_pages": 12345}})
    write_result(root, "estimates", {"estimates": [estimate()]})
    table = code(
        "tbl-wide", '#| tbl-cap: "Many columns."\n', [shown("text/markdown", wide_table())]
    )
    write_notebook(root / "notebooks" / "01_stage.ipynb", [figure(), table])


def offline() -> Profile:
    return load_profile("offline")
