"""The blocks of one report in order, as the data the layout file reads."""

from __future__ import annotations

from rge.errors import RgeError
from rge.invented.blocks import Block
from rge.invented.figures import Figures
from rge.invented.ledger import Ledger
from rge.invented.notes_tables import NoteTables
from rge.invented.prose import Part, Section, markup, report_prose
from rge.invented.schedules import schedule_blocks
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
_TWO_COLUMNS = (
    *("review", "business", "operations", "strategy", "outlook", "mda", "finance", "risks"),
    *("safeguards", "people", "esg", "community"),
)
# The order of a report; a company writes the sections it has, "-" starts a page.
ORDER = (
    *("letter", "review", "-", "business", "operations", "strategy", "outlook", "-"),
    *("mda", "finance", "offer", "risks", "safeguards", "-"),
    *("governance", "remuneration", "directors", "people", "esg", "community", "-"),
    *("audit", "standalone", "consolidated", "policies", "notes", "events", "meeting", "glossary"),
)
_STATEMENTS = ("standalone", "consolidated")
_APART = ("glance", "erratum")
_WORDS_A_BLOCK = 300
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
    """The heading and text of a section, in blocks short enough for a page in two columns."""
    columns = 2 if section.id in _TWO_COLUMNS else 1
    blocks: list[Block] = [{"t": "h1", "text": section.title}]
    for parts in _groups(section.parts) if columns == 2 else [section.parts]:
        blocks.append(
            {
                "t": "prose",
                "columns": columns,
                "large": section.id == "letter",
                "parts": [{"heading": part.heading, "body": part.body} for part in parts],
            }
        )
    return blocks


def _groups(parts: tuple[Part, ...]) -> list[list[Part]]:
    groups: list[list[Part]] = []
    words = _WORDS_A_BLOCK
    for part in parts:
        length = len(part.plain.split())
        if words + length > _WORDS_A_BLOCK:
            groups.append([])
            words = 0
        groups[-1].append(part)
        words += length
    return groups


def _main(tables: Tables, notes: NoteTables, prose: dict[str, Section]) -> list[Block]:
    for section in prose:
        if section not in (*ORDER, *_APART):
            raise RgeError(
                f"companies/{tables.spec.slug}.md: section {section}",
                "has no place in a report",
                allowed=", ".join(name for name in (*ORDER, *_APART) if name != "-"),
            )
    after = _tables_by_section(tables, notes)
    blocks: list[Block] = []
    for name in ORDER:
        if name == "-":
            blocks.append({"t": "break"})
        elif name in _STATEMENTS:
            blocks += _statements(tables, name)
        elif name in prose:
            blocks += [*_section(prose[name]), *after.get(name, [])]
            blocks += [tables.breakdown(b) for b in tables.spec.breakdowns if b.section == name]
    if "erratum" in prose:
        body = "\n\n".join(markup(part.plain) for part in prose["erratum"].parts)
        blocks.append({"t": "box", "title": prose["erratum"].title, "body": body})
    return blocks


def _statements(tables: Tables, entity: str) -> list[Block]:
    title: Block = {"t": "h1", "text": f"{entity.capitalize()} financial statements"}
    kinds = ("profit", "balance", "cash")
    statements = [tables.statement(kind, entity) for kind in kinds]
    heading: Block = {"t": "h1", "text": f"{entity.capitalize()} schedules"}
    schedules = schedule_blocks(tables, entity)
    return [title, *statements, heading, *schedules]


def _tables_by_section(tables: Tables, notes: NoteTables) -> dict[str, list[Block]]:
    """The tables that follow the text of a section."""
    spec = tables.spec
    board = [notes.directors(), notes.managers(), notes.dividends()]
    if spec.holders:
        board.append(notes.rows("Shareholding pattern at 31 March", spec.holders, percent=True))
    closing = [notes.earnings(), notes.group()]
    if spec.geography:
        closing.append(notes.geography())
    if spec.contingent:
        closing.append(notes.rows("Contingent liabilities", spec.contingent))
    closing.append(notes.related(spec.related))
    after = {
        "business": [tables.metrics("operating", "Key operating indicators"), tables.quarters()],
        "mda": tables.segments(),
        "governance": board,
        "esg": [tables.metrics("esg", "Environmental and social indicators")],
        "notes": closing,
    }
    if any(metric.group == "prospectus" for metric in spec.metrics):
        columns = ("stated", *REPORT_YEARS)
        title = "As stated in the offer document"
        after["offer"] = [tables.metrics("prospectus", title, columns)]
    return after
