"""The note schedules of both sets of accounts, in a company's own order, numbers and wording."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from rge.invented.asset_schedules import asset_schedules
from rge.invented.bank_schedules import bank_schedules
from rge.invented.blocks import Block, Cells, table
from rge.invented.claim_schedules import claim_schedules
from rge.invented.equity_schedules import equity_schedules
from rge.invented.income_schedules import income_schedules
from rge.invented.ratio_schedules import ratio_schedules
from rge.invented.risk_schedules import risk_schedules
from rge.invented.schedule import Schedule, View
from rge.invented.schedule_titles import TITLES
from rge.invented.tables import Tables

_NUMBERS = (
    ("Schedule S{n}. {title}", "Schedule C{n}. {title}"),
    ("{title} (standalone schedule {n})", "{title} (consolidated schedule {n})"),
    ("S-{n}: {title}", "G-{n}: {title}"),
    ("Annexure {n}/S {title}", "Annexure {n}/C {title}"),
    ("Statement {n} (company): {title}", "Statement {n} (group): {title}"),
)
# Characters of a label that fit half the width of a page in two lines.
_HALF_LABEL = 58
_ORDERS = ("aeciR", "ecaiR", "iaecR", "iecaR", "eciaR")


def entity_schedules(tables: Tables, entity: str) -> list[Schedule]:
    """All schedules of one entity in the report, in print order.

    Parameters
    ----------
    tables
        Tables of the report; its ledger holds every figure.
    entity
        "standalone" or "consolidated".
    """
    view = View(tables, entity)
    if view.spec.kind == "bank":
        return bank_schedules(view)
    parts = {
        "a": asset_schedules(view),
        "e": equity_schedules(view),
        "c": claim_schedules(view),
        "i": income_schedules(view),
        "R": [*ratio_schedules(view), *risk_schedules(view)],
    }
    order = _ORDERS[_pick(view, "order", len(_ORDERS))]
    return [schedule for part in order for schedule in parts[part]]


def schedule_blocks(tables: Tables, entity: str) -> list[Block]:
    """The schedules of one entity as table blocks, numbered in print order."""
    view = View(tables, entity)
    forms = _NUMBERS[_pick(view, "numbers", len(_NUMBERS))]
    form = forms[1 if view.group else 0]
    numbers: dict[str, int] = {}
    blocks = []
    for schedule in entity_schedules(tables, entity):
        number = numbers.setdefault(schedule.id, len(numbers) + 1)
        title = TITLES[schedule.id][_pick(view, schedule.id, len(TITLES[schedule.id]))]
        if schedule.suffix:
            title = f"{title}, {schedule.suffix}"
        blocks.append(_block(tables, schedule, form.format(n=number, title=title)))
    return list(_paired(blocks))


def _paired(blocks: list[Block]) -> Iterator[Block]:
    """Two small tables in a row share the width of the page."""
    waiting: Block | None = None
    for block in blocks:
        if waiting and _small(block):
            yield {"t": "pair", "tables": [waiting, block]}
            waiting = None
            continue
        if waiting:
            yield waiting
        waiting = block if _small(block) else None
        if waiting is None:
            yield block
    if waiting:
        yield waiting


def _small(block: Block) -> bool:
    rows, columns = block["rows"], block["columns"]
    if not isinstance(rows, list) or not isinstance(columns, list):
        raise TypeError("a table block holds lists")
    return len(columns) == 3 and max(len(row["c"][0]) for row in rows) <= _HALF_LABEL


def _pick(view: View, what: str, count: int) -> int:
    """The same choice in all reports of a company."""
    return zlib.crc32(f"{view.spec.slug} {what} wording".encode()) % count


def _block(tables: Tables, schedule: Schedule, title: str) -> Block:
    rows: list[Cells] = []
    for entry in schedule.entries:
        cells = [tables.money(c) if isinstance(c, int) else c for c in entry.cells]
        style = "item" if entry.kind == "memo" else entry.kind
        rows.append((style, [entry.label, *cells]))
    count = len(schedule.columns)
    size = "8.1pt" if count < 5 else "7.5pt" if count < 7 else "7.1pt"
    extra: dict[str, object] = {"size": size, "dense": True}
    widths = schedule.widths or (("1fr", *(f"{66 / count:.1f}%",) * count) if count > 4 else ())
    if widths:
        extra["widths"] = list(widths)
    if schedule.sides:
        extra["sides"] = list(schedule.sides)
    return table(
        title,
        ["Particulars", *schedule.columns],
        rows,
        unit=tables.unit if schedule.unit == "money" else schedule.unit,
        notes=schedule.notes,
        **extra,
    )
