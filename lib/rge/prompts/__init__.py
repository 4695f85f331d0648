"""Prompt texts, one Markdown file per name and version; a changed text is a new version."""

from __future__ import annotations

from importlib.resources import files


def load_prompt(name: str) -> str:
    """The text of `prompts/<name>.md`, without white space at either end.

    Parameters
    ----------
    name
        Name with version, such as `subject_v1`.
    """
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip()
