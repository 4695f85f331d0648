"""The blocks of one report in order, as the data the layout file reads."""

from __future__ import annotations

from rge.invented.blocks import Block
from rge.invented.figures import Figures
from rge.invented.ledger import Ledger
from rge.invented.notes_tables import NoteTables
from rge.invented.prose import Section, markup, report_prose
from rge.invented.spec import REPORT_YEARS
from rge.invented.tables import Tables

_STYLE = {
    "accent": "#1f3a5f",
    "font": "Libertinus Serif",
    "size": "9.6pt",
    "head": "rule",
    "foot": "outer",
    "h1": "bar",
    "cover": "left",
}
_TWO_COLUMNS = ("business", "outlook", "mda", "risks", "esg")
DISCLAIMER = (
    "{name} and every person, product, place of business and figure in this report are invented "
    "for research on question answering. Any likeness to a real company or person is unintended."
)


def report_data(ledger: Ledger, report: str) -> dict[str, object]:
    """Everything the layout needs for the report of one year."""
    figures = Figures(ledger, report)
    tables = Tables(figures)
    prose = report_prose(figures)
    spec, end = ledger.spec, int(report[2:])
    title = f"Annual Report 20{end - 1}-{end}"
    cover = {
        "tagline": spec.tagline[0 if report == "FY23" else 1],
        "sub": f"Financial year ended 31 March 20{end}",
        "small": DISCLAIMER.format(name=spec.name),
    }
    return {
        "company": spec.name,
        "short": spec.short,
        "report": title,
        "title": f"{spec.name}: {title}",
        "style": _STYLE | spec.style,
        "first": int(spec.style.get("first", "1")),
        "cover": [cover],
        "front": _front(tables, prose),
        "main": _main(tables, NoteTables(tables), prose),
    }


def _front(tables: Tables, prose: dict[str, Section]) -> list[Block]:
    spec = tables.spec
    about = [[key, markup(tables.figures.fill(value))] for key, value in spec.about.items()]
    glance = [[part.heading, part.body] for part in prose["glance"].parts]
    return [
        {"t": "contents", "title": "Contents"},
        {"t": "pairs", "title": "Corporate information", "rows": about},
        {"t": "break"},
        {"t": "h1", "text": prose["glance"].title, "front": True},
        {"t": "pairs", "title": "", "rows": glance},
        tables.five_years(),
    ]


def _section(section: Section) -> list[Block]:
    columns = 2 if section.id in _TWO_COLUMNS else 1
    return [
        {"t": "h1", "text": section.title},
        {
            "t": "prose",
            "columns": columns,
            "large": section.id == "letter",
            "parts": [{"heading": part.heading, "body": part.body} for part in section.parts],
        },
    ]


def _main(tables: Tables, notes: NoteTables, prose: dict[str, Section]) -> list[Block]:
    spec = tables.spec
    brk: Block = {"t": "break"}
    blocks: list[Block] = [*_section(prose["letter"]), brk]
    blocks += [
        *_section(prose["business"]),
        tables.metrics("operating", "Key operating indicators"),
        tables.quarters(),
        *_section(prose["outlook"]),
        brk,
    ]
    blocks += [*_section(prose["mda"]), *tables.segments()]
    if any(metric.group == "prospectus" for metric in spec.metrics):
        blocks += [
            *_section(prose["offer"]),
            tables.metrics(
                "prospectus", "As stated in the offer document", ("stated", *REPORT_YEARS)
            ),
        ]
    blocks += [*_section(prose["risks"]), brk]
    blocks += [
        *_section(prose["governance"]),
        notes.directors(),
        notes.managers(),
        notes.dividends(),
    ]
    if spec.holders:
        blocks.append(notes.rows("Shareholding pattern at 31 March", spec.holders, percent=True))
    blocks += [
        *_section(prose["esg"]),
        tables.metrics("esg", "Environmental and social indicators"),
        brk,
    ]
    for entity in ("standalone", "consolidated"):
        blocks.append({"t": "h1", "text": f"{entity.capitalize()} financial statements"})
        blocks += [tables.statement(kind, entity) for kind in ("profit", "balance", "cash")]
        blocks.append(brk)
    blocks += _section(prose["notes"])
    blocks += [notes.earnings(), notes.group()]
    if spec.geography:
        blocks.append(notes.geography())
    if spec.contingent:
        blocks.append(notes.rows("Contingent liabilities", spec.contingent))
    blocks.append(notes.related(spec.related))
    blocks += _section(prose["events"])
    if "erratum" in prose:
        body = "\n\n".join(markup(part.plain) for part in prose["erratum"].parts)
        blocks.append({"t": "box", "title": prose["erratum"].title, "body": body})
    return blocks
