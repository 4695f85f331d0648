"""What an article points to, looked up before pandoc runs, so that messages can name the line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from rge.errors import RgeError
from rge.paper.shortcodes import prose

_LABEL = re.compile(r"\{#((?:fig|tbl|eq|sec)-[\w-]+)")
_CITED = re.compile(r"(?<![\w@/.])@\{?([A-Za-z0-9_](?:[\w:.#$%&+?~/-]*\w)?)")
_REFERENCE = re.compile(r"(fig|tbl|eq|sec)-")
_BIB_ENTRY = re.compile(r"^\s*@\w+\s*\{\s*([^,\s]+)\s*,", re.MULTILINE)
_IMAGE = re.compile(r"!\[[^\]]*\]\(\s*<?([^)\s>]+)")


def check_labels(lines: list[str], embedded: Iterable[tuple[str, str]], where: str) -> set[str]:
    """All labels an article defines itself or embeds.

    Parameters
    ----------
    lines
        The article as written, one entry a line of the file.
    embedded
        (`file:line`, label) of every embedded cell.

    Raises
    ------
    RgeError
        When a label stands twice.
    """
    places = list(embedded)
    for number, line in prose(lines):
        places += [(f"{where}:{number}", label) for label in _LABEL.findall(line)]
    first: dict[str, str] = {}
    for place, label in places:
        if label in first:
            raise RgeError(place, f"label '{label}' stands already at {first[label]}")
        first[label] = place
    return set(first)


def check_references(lines: list[str], labels: set[str], bibliography: Path, where: str) -> None:
    """Stop at the first cross-reference or citation that leads nowhere.

    Raises
    ------
    RgeError
        With the line of the reference and, for a label, what there is of that kind.
    """
    entries = bib_keys(bibliography)
    for number, line in prose(lines):
        for key in _CITED.findall(line):
            kind = _REFERENCE.match(key)
            if kind and key not in labels:
                same = sorted(label for label in labels if label.startswith(kind[0]))
                raise RgeError(
                    f"{where}:{number}",
                    f"reference @{key} leads nowhere",
                    allowed=f"labels are {', '.join(same) or 'none'}",
                )
            if not kind and key not in entries:
                raise RgeError(
                    f"{where}:{number}",
                    f"citation @{key} is not in {bibliography.name}",
                    do="add the entry or correct the key",
                )


def check_images(lines: list[str], folder: Path, where: str) -> list[Path]:
    """Paths, relative to `folder`, of the images that an article shows by itself.

    Raises
    ------
    RgeError
        When an image is missing, remote or outside `folder`.
    """
    found = []
    for number, line in prose(lines):
        for target in _IMAGE.findall(line):
            path = Path(target)
            if "://" in target or path.is_absolute() or ".." in path.parts:
                raise RgeError(
                    f"{where}:{number}",
                    f"image {target} is not a file beside the article",
                    allowed="a path below the article's folder, or an embedded notebook cell",
                )
            if not (folder / path).is_file():
                raise RgeError(f"{where}:{number}", f"image {target} does not exist")
            found.append(path)
    return found


def bib_keys(path: Path) -> set[str]:
    """The keys of a BibTeX file.

    Raises
    ------
    RgeError
        When the file is missing or a key stands twice.
    """
    if not path.is_file():
        raise RgeError(path, "no such file", do="create it or correct 'bibliography'")
    keys = _BIB_ENTRY.findall(path.read_text(encoding="utf-8"))
    for key in keys:
        if keys.count(key) > 1:
            raise RgeError(path, f"entry '{key}' stands twice", do="remove one")
    return set(keys)
