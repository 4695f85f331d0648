"""A file that is being downloaded, and the note that says which version of it the bytes are of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rge.errors import RgeError
from rge.store import read_json, write_json


@dataclass(frozen=True)
class Part:
    """The bytes of a file got so far, beside its final place.

    `<name>.part` holds them, `<name>.part.json` their address and the version the server named: an
    ETag or the date of the last change. Without a version the bytes cannot be continued.
    """

    path: Path

    @classmethod
    def of(cls, target: Path) -> Part:
        """The part of a file whose final place is `target`."""
        return cls(target.with_name(f"{target.name}.part"))

    @property
    def n_bytes(self) -> int:
        """Bytes there are."""
        return self.path.stat().st_size if self.path.exists() else 0

    def version(self, url: str) -> str | None:
        """The version to ask this address for the rest of; None where that cannot be."""
        if self.n_bytes == 0 or not self._note.exists():
            return None
        try:
            note = read_json(self._note)
        except RgeError:
            return None
        if not isinstance(note, dict) or note.get("url") != url:
            return None
        version = note.get("version")
        return version if isinstance(version, str) and version else None

    def begin(self, url: str, version: str | None) -> None:
        """Start anew with no bytes."""
        self.discard()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        if version:
            write_json(self._note, {"url": url, "version": version})

    def discard(self) -> None:
        """Remove the bytes and the note."""
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    @property
    def _note(self) -> Path:
        return self.path.with_name(f"{self.path.name}.json")
