"""The numbered notebooks as files: their parameters, their digest, their committed form."""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path
from typing import Any

import nbformat

from rge.errors import RgeError, UsageError

NAME = re.compile(r"^(\d\d)_[a-z_]+\.ipynb$")


def numbered(folder: Path, first: int = 1, last: int = 99) -> list[Path]:
    """Notebooks `NN_name.ipynb` of a folder with first ≤ NN ≤ last, in order.

    Raises
    ------
    UsageError
        When there is none in that range.
    """
    found = {p: int(m[1]) for p in sorted(folder.glob("*.ipynb")) if (m := NAME.match(p.name))}
    chosen = [path for path, number in found.items() if first <= number <= last]
    if not chosen:
        numbers = ", ".join(f"{n:02d}" for n in found.values()) or "none"
        raise UsageError(
            folder, f"no notebook from {first:02d} to {last:02d}", allowed=f"there are {numbers}"
        )
    return chosen


def read(path: Path) -> Any:
    """The notebook at `path`, checked against the notebook format.

    Raises
    ------
    RgeError
        When the file is missing or is not a notebook.
    """
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise RgeError(path, "no such notebook") from None
    except Exception as error:
        raise RgeError(path, f"not a notebook: {' '.join(str(error).split())[:200]}") from None


def parameters(path: Path) -> dict[str, Any]:
    """Names and default values set in the cell tagged `parameters`.

    Raises
    ------
    RgeError
        When no cell carries the tag, or a value is not a plain literal.
    """
    tagged = [c for c in read(path).cells if "parameters" in c.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise RgeError(
            path,
            f"{len(tagged)} cells are tagged 'parameters'",
            allowed="one",
            do="tag the cell that sets the parameters",
        )
    found = {}
    for node in ast.parse(tagged[0].source).body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            raise RgeError(path, "the parameters cell does more than assign names")
        name = node.targets[0].id
        try:
            found[name] = ast.literal_eval(node.value)
        except ValueError:
            raise RgeError(
                path, f"parameter {name} is not a literal", allowed="plain JSON types"
            ) from None
    return found


def check_parameters(path: Path, given: dict[str, Any]) -> None:
    """Refuse a parameter that the notebook does not have; papermill would only warn.

    Raises
    ------
    UsageError
        Naming the parameter and those the notebook has.
    """
    known = parameters(path)
    for name in given:
        if name not in known:
            raise UsageError(
                path, f"no parameter '{name}'", allowed=f"parameters are {', '.join(known)}"
            )


def digest(path: Path) -> str:
    """SHA-256 over what a notebook does: cell types, tags and sources, not outputs."""
    cells = [(c.cell_type, c.metadata.get("tags", []), c.source) for c in read(path).cells]
    return hashlib.sha256(repr(cells).encode("utf-8")).hexdigest()


def normalised(notebook: Any) -> Any:
    """The notebook as it is committed: a rerun on the same inputs leaves no difference.

    Execution times, progress bars and other stderr output, widget state and interpreter versions
    go; results stay.
    """
    clean = nbformat.from_dict(notebook)
    clean.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    count = 0
    for index, cell in enumerate(clean.cells):
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        # A cell that papermill injected gets a random id; its place makes a stable one.
        if "injected-parameters" in (tags or []):
            cell.id = f"injected-{index}"
        if cell.cell_type != "code":
            continue
        if cell.source.strip():
            count += 1
            cell.execution_count = count
        cell.outputs = [_clean_output(o, count) for o in cell.outputs if not _is_noise(o)]
    return clean


def _is_noise(output: Any) -> bool:
    return output.output_type == "stream" and output.name == "stderr"


def _clean_output(output: Any, count: int) -> Any:
    if output.output_type == "execute_result":
        output.execution_count = count
    if "metadata" in output:
        output.metadata = nbformat.from_dict({})
    return output


def failure(path: Path) -> tuple[int, str, str] | None:
    """Cell number (from 1, as in the source), exception name and message of a failed cell."""
    added = {"injected-parameters", "papermill-error-cell-tag"}
    own = [c for c in read(path).cells if not added & set(c.metadata.get("tags", []))]
    for number, cell in enumerate(own, 1):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                return number, output.ename, " ".join(str(output.evalue).split())
    return None
