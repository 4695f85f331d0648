"""What a labelled notebook cell showed, as Markdown that the paper can hold."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rge.errors import RgeError

_IMAGES = {"image/svg+xml": "svg", "image/png": "png"}
_ALLOWED = "SVG, PNG or Markdown output"


@dataclass(frozen=True)
class Cell:
    """A code cell: its `#|` options, stored outputs and id."""

    options: dict[str, Any]
    outputs: list[dict[str, Any]]
    cell_id: str


def read_cells(notebook: Path, where: str, shown_as: str) -> list[Cell]:
    """The code cells of a notebook.

    Raises
    ------
    RgeError
        When the file is missing or not a notebook, or a cell's options are not YAML.
    """
    try:
        data = json.loads(notebook.read_text(encoding="utf-8"))
        cells = [cell for cell in data["cells"] if cell["cell_type"] == "code"]
    except FileNotFoundError:
        raise RgeError(
            where,
            f"notebook {shown_as} does not exist",
            do="run the notebooks first: rge eval run",
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise RgeError(shown_as, f"not a notebook: {error!r}", do="restore it") from None
    return [
        Cell(_options(cell, shown_as), cell.get("outputs", []), cell.get("id", ""))
        for cell in cells
    ]


def _options(cell: dict[str, Any], shown_as: str) -> dict[str, Any]:
    """The YAML in the `#|` lines that open a cell."""
    lines = "".join(cell["source"]).split("\n")
    head = []
    for line in lines:
        if not line.startswith("#|"):
            break
        head.append(line[2:].removeprefix(" "))
    try:
        options = yaml.safe_load("\n".join(head)) if head else {}
    except yaml.YAMLError as error:
        raise RgeError(shown_as, f"cell options are not YAML: {error}", do="quote them") from None
    return options if isinstance(options, dict) else {}


def embed_cell(notebook: Path, label: str, where: str, folder: Path, shown_as: str) -> str:
    """Markdown for one cell: a numbered figure, a numbered table, or its output as it is.

    Parameters
    ----------
    notebook, label
        The notebook's file and the `label` option of the cell.
    where
        `file:line` of the embed, for messages.
    folder
        Images are written into `folder`/embedded, under names that repeat.
    shown_as
        The notebook's name in messages and links.

    Raises
    ------
    RgeError
        When the label is missing or stands twice, the cell has no output or one that a PDF cannot
        show, or a figure has no caption or alt text.
    """
    cell = _find(read_cells(notebook, where, shown_as), label, where, shown_as)
    place = f"{shown_as}#{label}"
    kind = label.partition("-")[0]
    body = [_show(output, place, cell, folder, n) for n, output in enumerate(cell.outputs)]
    if not body:
        raise RgeError(where, f"cell {place} has no stored output", do="run that notebook")
    if kind not in {"fig", "tbl"}:
        return "\n\n".join(body)
    if kind == "fig":
        _require(cell, "fig-alt", place)
    caption = _require(cell, f"{kind}-cap", place)
    page = f"notebooks/{Path(shown_as).stem}.html"
    link = f"{page}#{cell.cell_id}" if cell.cell_id else page
    opening = f'::::: {{#{label} source="{shown_as}" href="{link}"}}'
    return "\n\n".join([opening, *body, " ".join(caption.split()), ":::::"])


def _find(cells: list[Cell], label: str, where: str, shown_as: str) -> Cell:
    found = [cell for cell in cells if cell.options.get("label") == label]
    if len(found) == 1:
        return found[0]
    if found:
        raise RgeError(where, f"{shown_as} has {len(found)} cells with label '{label}'")
    labels = [str(cell.options["label"]) for cell in cells if "label" in cell.options]
    raise RgeError(
        where,
        f"no cell with label '{label}' in {shown_as}",
        allowed=f"labels are {', '.join(labels) or 'none'}",
    )


def _require(cell: Cell, option: str, place: str) -> str:
    text = str(cell.options.get(option) or "").strip()
    if not text:
        raise RgeError(place, f"the cell has no {option}", do=f"add a line '#| {option}: …'")
    return text


def _show(output: dict[str, Any], place: str, cell: Cell, folder: Path, n: int) -> str:
    kind = output.get("output_type")
    if kind == "error":
        raise RgeError(place, f"the cell raised {output.get('ename')}", do="mend the notebook")
    if kind == "stream":
        raise RgeError(
            place,
            "the cell prints beside what it shows",
            do="print in another cell",
        )
    data = {mime: _joined(value) for mime, value in output.get("data", {}).items()}
    for mime, suffix in _IMAGES.items():
        if mime in data:
            stem = place.replace("#", "-").replace("/", "-").replace(".ipynb", "")
            name = f"embedded/{stem}-{n}.{suffix}"
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            raw = data[mime].encode() if suffix == "svg" else base64.b64decode(data[mime])
            path.write_bytes(raw)
            alt = str(cell.options.get("fig-alt", "")).replace("\\", "\\\\").replace('"', '\\"')
            return f'![]({name}){{alt="{" ".join(alt.split())}"}}'
    if "text/markdown" in data:
        return data["text/markdown"].strip()
    raise RgeError(place, f"the cell shows {', '.join(data) or 'nothing'}", allowed=_ALLOWED)


def _joined(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value)
