"""Files as they come in: found in a folder, unpacked from an archive, seen to be whole PDFs."""

from __future__ import annotations

import logging
import lzma
import struct
import zipfile
import zlib
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rge.corpus.sources import Source
from rge.errors import RgeError
from rge.store import sha256_file

PDF, ZIP = b"%PDF-", b"PK\x03\x04"  # how the two begin
_TAIL = 4096  # bytes at the end of a PDF in which its end mark must stand


def candidates(source: Source, folder: Path) -> list[Path]:
    """Files of a folder that may be a document: those with its hash, else those with its name.

    Names, case aside: its file, its doc_id with .pdf or .zip, the last part of an address, and the
    member of an archive.
    """
    files = sorted(
        p for p in folder.iterdir() if p.is_file() and p.suffix.lower() in (".pdf", ".zip")
    )
    names = {source.file, f"{source.doc_id}.pdf", f"{source.doc_id}.zip"}
    for place in source.places:
        names.add(unquote(urlsplit(place.url).path.rsplit("/", 1)[-1]))
        names.add((place.member or source.file).rsplit("/", 1)[-1])
    wanted = {name.lower() for name in names}
    named = [path for path in files if path.name.lower() in wanted and path.is_file()]
    if source.sha256 is None:
        return named
    hashes = {source.sha256, *(place.zip_sha256 for place in source.places)}
    # Names first: most often the file is among them, and few files are read.
    for some in (named, files):
        if same := [path for path in some if path.is_file() and sha256_file(path) in hashes]:
            return same[:1]
    return named


# What reading a damaged archive raises: its directory, and each way a member can be packed.
_DAMAGED = (
    zipfile.BadZipFile,
    NotImplementedError,
    EOFError,
    ValueError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)


def unpack(
    archive: Path, member: str, target: Path, *, max_bytes: int, where: str | None = None
) -> None:
    """Write one member of a zip archive to `target`; no other name is ever written.

    Raises
    ------
    RgeError
        When it is no sound archive, has no such member or two, or the member is locked or larger
        than `max_bytes`.
    """
    name = where or archive
    try:
        with zipfile.ZipFile(archive) as file:
            infos = [info for info in file.infolist() if info.filename == member]
            if len(infos) != 1:
                held = ", ".join(sorted(set(file.namelist()))[:5]) or "nothing"
                found = f"holds no '{member}'" if not infos else f"holds '{member}' twice"
                raise RgeError(name, f"the archive {found}; it holds {held}")
            if infos[0].flag_bits & 1:
                raise RgeError(name, f"'{member}' is locked with a password")
            _copy(file, infos[0], target, max_bytes, name)
    except _DAMAGED as error:
        raise RgeError(name, f"not a whole zip archive ({error})", do="get it again") from None
    except OSError as error:
        # A bad bzip2 stream is an OSError without a number; with one it is the disk.
        if error.errno is not None:
            raise
        raise RgeError(name, f"not a whole zip archive ({error})", do="get it again") from None


def _copy(
    file: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, max_bytes: int, where: object
) -> None:
    """Unpack a member, counting what really comes out: an archive may lie about its size."""
    n_bytes = 0
    with file.open(info) as packed, target.open("wb") as unpacked:
        while block := packed.read(1 << 16):
            n_bytes += len(block)
            if n_bytes > max_bytes:
                raise RgeError(
                    where,
                    f"'{info.filename}' is too large unpacked",
                    allowed=f"at most {max_bytes:,} bytes",
                )
            unpacked.write(block)


def count_pages(path: Path) -> int:
    """Number of pages of a PDF that is there to its end.

    Raises
    ------
    RgeError
        When it is cut off or cannot be opened.
    """
    import pypdf

    with path.open("rb") as file:
        begins = PDF in file.read(1024)
        file.seek(max(0, path.stat().st_size - _TAIL))
        ends = b"%%EOF" in file.read()
    if not begins:
        raise RgeError(path, "is not a PDF", do="get the document again")
    if not ends:
        raise RgeError(
            path, "the PDF is cut off: its end mark is missing", do="get the document again"
        )
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted:
            reader.decrypt("")
        n_pages = len(reader.pages)
    except Exception as error:  # pypdf raises many kinds on damaged files
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise RgeError(path, f"not a readable PDF ({reason})", do="get it again") from None
    finally:
        logger.setLevel(level)
    if n_pages == 0:
        raise RgeError(path, "has no pages", do="get the document again")
    return n_pages
