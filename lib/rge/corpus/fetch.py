"""The documents of a study, got from where their list says or from a folder, never swapped unseen.

A file is taken when it is the one its entry pins: by the list of sources, or by the lock file that
the first fetch wrote. Another one is set aside as `<name>.rejected`. What is in its place already
is never replaced.
"""

from __future__ import annotations

import os
import shutil
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np
from tqdm import tqdm

from rge.corpus.download import Limits, download
from rge.corpus.incoming import PDF, ZIP, candidates, count_pages, unpack
from rge.corpus.part import Part
from rge.corpus.sources import (
    Pinned,
    Place,
    Source,
    check_document,
    check_pages,
    check_size,
    read_lock,
    write_lock,
)
from rge.errors import RgeError
from rge.store import held, sha256_file

__all__ = ["Fetcher", "Limits", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """What became of one document.

    Attributes
    ----------
    doc_id
        The document.
    result
        `present` before, `fetched` from an address, `taken` from the folder given, or `failed`.
    n_bytes
        Size of the file; None where there is none.
    detail
        Where it came from, or why it is not there.
    """

    doc_id: str
    result: Literal["present", "fetched", "taken", "failed"]
    n_bytes: int | None
    detail: str


@dataclass
class Fetcher:
    """Gets documents into a folder, one process at a time.

    Attributes
    ----------
    folder, lock
        Where the PDF files belong, and the lock file.
    from_dir
        Where given, files are looked for there, and nothing is downloaded.
    limits
        Bounds of a download.
    rng
        Source of the jitter of pauses between attempts.
    sleep
        Waits so many seconds.
    """

    folder: Path
    lock: Path
    from_dir: Path | None = None
    limits: Limits = field(default_factory=Limits)
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    sleep: Callable[[float], None] = time.sleep

    def fetch(self, sources: Sequence[Source]) -> list[Outcome]:
        """Get every document that is not there; one that fails does not stop the others.

        Raises
        ------
        RgeError
            When another process fetches into the folder, the lock file is damaged, or `from_dir`
            is no folder.
        """
        if self.from_dir is not None and not self.from_dir.is_dir():
            raise RgeError(self.from_dir, "no such folder", do="name the folder with the files")
        with held(
            self.folder / ".fetch.lock",
            self.folder,
            "another process (pid {pid}) is fetching documents into it",
        ):
            return [self._outcome(source) for source in sources]

    def _outcome(self, source: Source) -> Outcome:
        try:
            if (self.folder / source.file).exists():
                return self._present(source)
            if self.from_dir is not None:
                return self._from_folder(source, self.from_dir)
            return self._from_network(source)
        except RgeError as error:
            return Outcome(source.doc_id, "failed", None, str(error))
        except OSError as error:
            reason = f"{error.filename or self.folder}: {error.strerror or error}"
            return Outcome(source.doc_id, "failed", None, reason)

    def _present(self, source: Source) -> Outcome:
        path = check_document(source, self.folder)
        if source.sha256 is not None:
            return Outcome(source.doc_id, "present", path.stat().st_size, "")
        pinned = self._accept(source, path, path, url=None)
        return Outcome(source.doc_id, "present", pinned.bytes, "found in its place and pinned")

    def _from_network(self, source: Source) -> Outcome:
        if not source.places:
            where = f": see {' or '.join(source.see)}" if source.see else ""
            raise RgeError(
                source.title,
                f"no address to download it from is known{where}",
                do="save the PDF by hand and use --from-dir",
            )
        reasons = []
        for place in source.places:
            try:
                pinned = self._from_place(source, place)
            except RgeError as error:
                reasons.append(str(error))
            else:
                return Outcome(source.doc_id, "fetched", pinned.bytes, _origin(source, place))
        return Outcome(source.doc_id, "failed", None, " | ".join(reasons))

    def _from_place(self, source: Source, place: Place) -> Pinned:
        target = self.folder / source.file
        part = Part.of(target.with_suffix(".zip") if place.member else target)
        with tqdm(
            desc=source.doc_id, unit="B", unit_scale=True, unit_divisor=1024, leave=False
        ) as bar:

            def progress(n_bytes: int, n_total: int | None) -> None:
                bar.total = n_total
                bar.update(n_bytes - bar.n)

            download(
                place.url,
                part,
                magic=ZIP if place.member else PDF,
                limits=self.limits,
                rng=self.rng,
                progress=progress,
                sleep=self.sleep,
            )
        try:
            if place.member is None:
                return self._accept(source, part.path, target, url=place.url)
            return self._from_zip(source, part.path, place.member, place.zip_sha256, place.url)
        finally:
            part.discard()

    def _from_zip(
        self, source: Source, archive: Path, member: str, zip_sha256: str | None, url: str | None
    ) -> Pinned:
        # The hash of the document decides where it is known: a site may pack it again.
        if source.sha256 is None and zip_sha256 not in (None, sha256_file(archive)):
            raise RgeError(
                url or archive, "the archive has another SHA-256", allowed=str(zip_sha256)
            )
        target = self.folder / source.file
        unpacked = target.with_name(f"{target.name}.unpacked.tmp")
        try:
            unpack(archive, member, unpacked, max_bytes=self.limits.max_bytes, where=url)
            return self._accept(source, unpacked, target, url=url)
        finally:
            unpacked.unlink(missing_ok=True)

    def _from_folder(self, source: Source, folder: Path) -> Outcome:
        found = candidates(source, folder)
        if not found:
            raise RgeError(
                folder,
                f"holds no file for {source.doc_id}",
                allowed=f"{source.file}, the name in its address, or the SHA-256 of its entry",
                do=f"save '{source.title}' there as {source.file}",
            )
        if len(found) > 1:
            raise RgeError(
                folder,
                f"holds several files for {source.doc_id}: {', '.join(p.name for p in found)}",
                do="leave one of them",
            )
        path, target = found[0], self.folder / source.file
        members = [place.member for place in source.places if place.member]
        if members and zipfile.is_zipfile(path):
            pinned = self._from_zip(source, path, members[0], None, None)
        else:
            copy = target.with_name(f"{target.name}.copied.tmp")
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
                pinned = self._accept(source, copy, target, url=None)
            finally:
                copy.unlink(missing_ok=True)
        return Outcome(source.doc_id, "taken", pinned.bytes, path.name)

    def _accept(self, source: Source, path: Path, target: Path, *, url: str | None) -> Pinned:
        """Check a whole file, record it and move it to its place."""
        try:
            pinned = _checked(source, path, url)
        except RgeError as error:
            if url is None:  # the user's own file
                raise
            aside = target.with_name(f"{target.name}.rejected")
            path.replace(aside)
            found = f"{error.found}; the file is set aside as {aside.name}"
            raise RgeError(url, found, allowed=error.allowed, do=error.do) from None
        if source.sha256 is None:
            # Before the file is in place: a run killed in between has then pinned it all the same.
            write_lock(self.lock, {**read_lock(self.lock), source.doc_id: pinned})
        if path != target:
            _sync(path)
            path.replace(target)
        return pinned


def _checked(source: Source, path: Path, url: str | None) -> Pinned:
    """What a file is, where that is what its entry says."""
    found = sha256_file(path)
    if source.sha256 not in (None, found):
        raise RgeError(
            path,
            f"SHA-256 is {found}",
            allowed=f"{source.sha256}, as the {_PIN[source.pin]} says",
            do=_CHANGED[source.pin],
        )
    n_pages = count_pages(path)
    check_pages(source, path, n_pages)
    check_size(source, path)
    return Pinned(
        sha256=found,
        bytes=path.stat().st_size,
        pages=n_pages,
        fetched_on=datetime.now(UTC).date().isoformat(),
        url=url,
    )


_PIN = {"list": "list of sources", "lock": "lock file"}
_CHANGED = {
    "list": "get that file, or pin the new hash in the list of sources if it is meant to change",
    "lock": "get the first file again, or remove its entry from the lock file if it may change",
}


def _origin(source: Source, place: Place) -> str:
    if source.sha256 is not None or place.status == "listed":
        return place.url
    return f"{place.url} (a guessed address: open the file and see that it is '{source.title}')"


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
