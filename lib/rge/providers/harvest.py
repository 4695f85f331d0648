"""What came of the rows of a batch: one outcome for each, stored, with its cost."""

from __future__ import annotations

from rge.providers.caller import Caller, read
from rge.providers.journal import PlannedRow
from rge.providers.replies import Asked
from rge.providers.request import Failure, Row

Rows = dict[str, PlannedRow]


def outcomes_of(planned: Rows, rows: list[Row]) -> dict[str, Row]:
    """One row for each that was sent, in the order they were sent.

    Parameters
    ----------
    planned
        By the ids that were sent.
    rows
        As the provider delivered them: some may be missing, stand twice, or be somebody else's.
    """
    found: dict[str, Row] = {}
    for row in rows:
        # A row that stands twice counts once; a reply wins over a failure.
        if row.id in planned and (row.id not in found or found[row.id].body is None):
            found[row.id] = row
    if any(map(unreadable, rows)):
        # A row that is missing beside broken lines may be one of them.
        lost = Failure("unreadable", "row is missing beside unreadable rows", billed=None)
    else:
        # Where other rows ran, nobody says whether this one did.
        lost = Failure("server", "row is missing", billed=None if rows else False)
    return {row_id: found.get(row_id, Row(row_id, failure=lost)) for row_id in planned}


def book(caller: Caller, planned: PlannedRow, row: Row) -> int:
    """Store what came of a row and return its cost in nano-dollars.

    The cost is the worst case where it cannot be known. What cannot be read is stored as well: it
    may be paid for and is not asked again.
    """
    cost, body, failure = planned.nano, row.body, row.failure
    if body is not None:
        try:
            cost = caller.cost(read(caller.service, body), planned.nano, "batch")
        except Failure as error:
            failure = error
    elif failure is not None and not unreadable(row):
        return 0 if failure.billed is False else cost
    if caller.log.find(row.id) is None:
        asked = Asked(row.id, planned.key, planned.attempt, planned.body_sha256)
        stored = {"unreadable": str(failure)} if body is None else body
        caller.log.append(asked, stored, mode="batch", cost_nano=cost)
    return cost


def unreadable(row: Row) -> bool:
    """Whether the row is a line that cannot be read."""
    return row.failure is not None and row.failure.kind == "unreadable"
