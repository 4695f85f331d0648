"""Executed notebooks as pages beside the paper, so that its links work without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rge.paper.pandoc import run_pandoc

_HERE = Path(__file__).parent


def render_notebook(notebook: Path, out: Path) -> None:
    """Write one notebook as a self-contained HTML page.

    Parameters
    ----------
    notebook
        An executed notebook.
    out
        The page; its folder must lie one below the paper's.

    Raises
    ------
    RgeError
        When pandoc cannot read the notebook.
    """
    data = json.loads(notebook.read_text(encoding="utf-8"))
    data["cells"] = [part for cell in data["cells"] for part in _parts(cell)]
    out.parent.mkdir(parents=True, exist_ok=True)
    source = out.with_suffix(".ipynb")
    source.write_text(json.dumps(data), encoding="utf-8")
    try:
        run_pandoc(
            [
                *("--from", "ipynb", "--to", "html5", "--standalone", "--embed-resources"),
                *("--mathml", "--syntax-highlighting=none", "--css", _HERE / "paper.css"),
                *("--template", _HERE / "template.html", "--lua-filter", _HERE / "filter.lua"),
                *("--metadata", f"pagetitle={_title(data, notebook)}", "--metadata", "lang=en"),
                *("--variable", "back=../index.html", "--output", out, source),
            ],
            cwd=out.parent,
            where=notebook,
        )
    finally:
        source.unlink()
    out.write_text(with_alt(out.read_text(encoding="utf-8")), encoding="utf-8")


def with_alt(html: str) -> str:
    """The same page with `alt` where pandoc wrote a role and a label for embedded SVG."""
    return html.replace('<img role="img" aria-label="', '<img alt="')


def _parts(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """A cell, its Markdown outputs split off as cells: pandoc shows only their plain text."""
    shown, split = [], []
    for n, output in enumerate(cell.get("outputs", [])):
        text = output.get("data", {}).get("text/markdown")
        if text is None:
            shown.append(output)
        else:
            cell_id = f"{cell.get('id', 'cell')}-{n}"
            split.append({"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": text})
    return [cell | {"outputs": shown} if split else cell, *split]


def _title(data: dict[str, Any], notebook: Path) -> str:
    for cell in data["cells"]:
        for line in "".join(cell["source"]).split("\n"):
            if cell["cell_type"] == "markdown" and line.startswith("# "):
                return line[2:].strip()
    return notebook.stem
