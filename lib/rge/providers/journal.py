"""What became of each batch, written before and after every step."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from rge.records import NonEmpty, Record, Sha256
from rge.store import Appender


class PlannedRow(Record):
    """Which request a row of a batch is; `nano` is its worst case in nano-dollars."""

    key: NonEmpty
    attempt: Annotated[int, Field(ge=0)]
    body_sha256: Sha256
    nano: Annotated[int, Field(ge=0)]


class BatchEvent(Record):
    """One line of the journal: what became of a batch, under the name we gave it.

    `rows` stand with `planned`, by the id they are sent under. `nano` is what was reserved for the
    batch (planned) or what it cost (harvested), in nano-dollars.
    """

    name: NonEmpty
    event: Literal["planned", "submitted", "harvested", "dropped"]
    batch_id: str = ""
    rows: dict[str, PlannedRow] = Field(default_factory=dict)
    detail: str = ""
    nano: Annotated[int, Field(ge=0)] = 0
    created_at: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.event


class Journal:
    """The batches of one owner; a context manager that holds the file's lock."""

    def __init__(self, path: Path) -> None:
        self._file: Appender[BatchEvent] = Appender(path, BatchEvent, lambda event: event.key)

    def __enter__(self) -> Journal:
        self._file.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._file.__exit__(*details)

    def write(self, name: str, event: str, **fields: Any) -> None:
        """Add a line and wait until it is on the disk."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._file.append(
            BatchEvent.model_validate({"name": name, "event": event, "created_at": now, **fields})
        )

    def unfinished(self) -> dict[str, tuple[dict[str, PlannedRow], str | None]]:
        """Rows and provider's id (None where not known) of batches that are not read yet."""
        found: dict[str, tuple[dict[str, PlannedRow], str | None]] = {}
        for event in self._file.records:
            if event.event == "planned":
                found[event.name] = event.rows, None
            elif event.event == "submitted":
                found[event.name] = found[event.name][0], event.batch_id
            else:
                found.pop(event.name, None)
        return found

    @property
    def batch_ids(self) -> frozenset[str]:
        """Provider's ids of all batches so far."""
        return frozenset(event.batch_id for event in self._file.records if event.batch_id)

    @property
    def n_planned(self) -> int:
        """Batches planned so far."""
        return sum(event.event == "planned" for event in self._file.records)
