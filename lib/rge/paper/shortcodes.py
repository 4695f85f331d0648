"""Quarto shortcodes of an article, replaced line by line: `embed` and `var`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import yaml

from rge.errors import RgeError
from rge.variables import lookup

_SHORTCODE = re.compile(r"(?<!\{)\{\{<\s*(\S+)\s*(.*?)\s*>\}\}(?!\})")
_ESCAPED = re.compile(r"\{(\{\{<.*?>\}\})\}")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*(.*)$")
_SUPPORTED = "embed (alone in its paragraph) and var"


def split_front_matter(text: str, where: str) -> tuple[dict[str, Any], list[str]]:
    """The YAML block at the top of an article, and all its lines with that block blanked.

    Lines keep their numbers, so that messages about the body name lines of the file.

    Raises
    ------
    RgeError
        When the block is missing, not closed or not YAML.
    """
    lines = text.split("\n")
    try:
        if lines[0].strip() != "---":
            raise ValueError("no front matter")
        end = next(i for i, line in enumerate(lines) if i and line.strip() == "---")
        meta = yaml.safe_load("\n".join(lines[1:end])) or {}
    except (StopIteration, ValueError):
        raise RgeError(
            f"{where}:1", "no front matter", allowed="a YAML block between two lines of ---"
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = 2 + (mark.line if mark else 0)
        raise RgeError(
            f"{where}:{line}", f"front matter is not YAML: {getattr(error, 'problem', error)}"
        ) from None
    return meta, [""] * (end + 1) + lines[end + 1 :]


def expand(
    lines: list[str],
    where: str,
    variables: Mapping[str, Any],
    embed: Callable[[str, str], str],
) -> list[str]:
    """The lines of an article with every shortcode replaced.

    Parameters
    ----------
    lines
        The article without front matter, one entry a line of the file.
    where
        Name of the file in messages.
    variables
        Nested mapping of texts that `{{< var a.b >}}` reads.
    embed
        Called with (`file:line`, target) for `{{< embed target >}}`; returns Markdown.

    Raises
    ------
    RgeError
        On a shortcode other than these, a variable that does not exist, an embed that is not alone
        in its paragraph, or a cell that would have to be executed.
    """
    refuse_executable_cells(lines, where)
    out = []
    for number, line in enumerate(lines, 1):
        place = f"{where}:{number}"
        around = [*lines[max(number - 2, 0) : number - 1], *lines[number : number + 1]]
        match = _SHORTCODE.fullmatch(line.strip())
        if match and match[1] == "embed":
            if any(text.strip() for text in around):
                raise RgeError(
                    place, "embed is not alone in its paragraph", do="put blank lines around it"
                )
            out.append(embed(place, match[2]))
            continue
        line = _SHORTCODE.sub(partial(_inline, place, variables), line)
        out.append(_ESCAPED.sub(r"\1", line))
    return out


def refuse_executable_cells(lines: list[str], where: str) -> None:
    """Stop at a code cell such as ```{python}: only notebooks compute."""
    for number, language in _fences(lines):
        if re.match(r"\{\w", language):
            raise RgeError(
                f"{where}:{number}",
                f"a {language} cell would have to be executed",
                allowed="the paper only shows what notebooks computed",
                do="move it to a notebook and embed its output",
            )


def prose(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Line number and text of every line outside code blocks, inline code removed."""
    fence = ""
    for number, line in enumerate(lines, 1):
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
            continue
        if match:
            fence = match[1]
            continue
        yield number, re.sub(r"(`+).+?\1", "", line)


def _fences(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Line number and info string of every opening code fence."""
    fence = ""
    for number, line in enumerate(lines, 1):
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
            yield number, match[2].strip()
        elif match and match[1].startswith(fence) and not match[2].strip():
            fence = ""


def _inline(place: str, variables: Mapping[str, Any], match: re.Match[str]) -> str:
    name, argument = match[1], match[2]
    if name == "embed":
        raise RgeError(place, "embed stands inside a line", do="give it a paragraph of its own")
    if name != "var":
        raise RgeError(place, f"shortcode '{name}' is not supported", allowed=_SUPPORTED)
    text = lookup(variables, argument)
    if text is None:
        raise _unknown_variable(place, argument, variables)
    return text


def _unknown_variable(place: str, name: str, variables: Mapping[str, Any]) -> RgeError:
    group, _, _ = name.partition(".")
    close = difflib.get_close_matches(name, list(_names(variables)), n=3, cutoff=0.6)
    source = {
        "profile": "the profile",
        "registered": "configs/preregistration.yaml",
        "published": "configs/published.yaml",
    }.get(group, f"{group}.json of the results folder")
    return RgeError(
        place,
        f"variable '{name}' is not defined",
        allowed=f"close names are {', '.join(close)}" if close else "",
        do=f"correct the name, or let {source} hold it",
    )


def _names(node: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _names(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"
