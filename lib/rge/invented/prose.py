"""The hand-written text of a company: years, sections and paragraphs, as Typst markup.

`# FY24` opens a year, `## id | Title` a section, `### Heading` a part of it; blank lines part
paragraphs, `- ` starts a list item, `**bold**`, and `^[footnote]` stands behind what it qualifies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rge.errors import RgeError
from rge.invented.figures import Figures
from rge.invented.spec import REPORT_YEARS, load_prose

_SPECIAL = re.compile(r"([\\#$*_`<>@=~\[\]/])")


@dataclass(frozen=True)
class Part:
    """A headed part of a section; `body` is Typst markup, `plain` its source with figures."""

    heading: str
    body: str
    plain: str


@dataclass(frozen=True)
class Section:
    """A section of a report: its title and parts (the first may have no heading)."""

    id: str
    title: str
    parts: tuple[Part, ...]


def report_prose(figures: Figures) -> dict[str, Section]:
    """The sections of one report by id, figures filled in."""
    slug, report = figures.ledger.spec.slug, figures.report
    years = re.split(r"^# (FY\d\d)\s*$", load_prose(slug), flags=re.MULTILINE)
    texts = dict(zip(years[1::2], years[2::2], strict=True))
    if report not in texts:
        raise RgeError(
            f"companies/{slug}.md", f"has no '# {report}'", allowed=" and ".join(REPORT_YEARS)
        )
    chunks = re.split(r"^## (\w+) \| (.+)$", texts[report], flags=re.MULTILINE)
    return {
        key: Section(key, title.strip(), _parts(figures.fill(body)))
        for key, title, body in zip(chunks[1::3], chunks[2::3], chunks[3::3], strict=True)
    }


def _parts(text: str) -> tuple[Part, ...]:
    pieces = re.split(r"^### (.+)$", text, flags=re.MULTILINE)
    headed = [("", pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]
    return tuple(
        Part(heading.strip(), markup(body.strip()), body.strip())
        for heading, body in headed
        if body.strip()
    )


def markup(text: str) -> str:
    """Typst markup of the light markup above; everything else is literal."""
    escaped = _SPECIAL.sub(r"\\\1", text)
    escaped = re.sub(r"\\\*\\\*(.+?)\\\*\\\*", r"#strong[\1]", escaped)
    escaped = re.sub(r" \\\\$", "#linebreak()", escaped, flags=re.MULTILINE)
    return re.sub(r"\^\\\[(.+?)\\\]", r"#footnote[\1]", escaped)
