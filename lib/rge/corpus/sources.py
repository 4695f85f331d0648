"""The documents of a corpus: what they are, where they lie and what pins their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from rge.errors import RgeError, UsageError
from rge.profile import Profile
from rge.records import NonEmpty, Record, Sha256
from rge.store import first_problem, sha256_file, write_text

CompanySlug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
YearSlug = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$")]


# Without "/" and a leading dot, so that a list of sources cannot name a file outside its folder.
FileName = Annotated[str, Field(pattern=r"^[^./\\\x00][^/\\\x00]*$")]
URL = r"^https?://[^\s/]+/\S*$"
Url = Annotated[str, Field(pattern=URL)]
Count = Annotated[int, Field(ge=1)]

# How well a document's source is known, from best to none.
Status = Literal["hash-published", "listed", "guessed", "page-only", "not-found"]


class Place(Record):
    """Where a document can be downloaded: as it is, or as the member of a zip archive.

    `status`: `listed` is an address that others name, `guessed` one made up after the pattern of
    others. `zip_sha256` is that of the archive.
    """

    url: Url
    status: Literal["listed", "guessed"] = "listed"
    member: NonEmpty | None = None
    zip_sha256: Sha256 | None = None

    @model_validator(mode="after")
    def _member_of_a_zip(self) -> Self:
        if self.zip_sha256 and not self.member:
            raise ValueError("zip_sha256 without the member to take from the archive")
        return self


class Source(Record):
    """One document. `company` and `fy` begin its chunk ids, so a corpus has each pair once.

    `urls` are tried in order; `see` are pages for a person to look at; `pin` says what fixed
    `sha256`: the list of sources, or the first fetch.
    """

    doc_id: NonEmpty
    company: CompanySlug
    fy: YearSlug
    title: NonEmpty
    file: FileName
    status: Status | None = None
    sha256: Sha256 | None = None
    bytes: Count | None = None
    pages: Count | None = None
    urls: tuple[Place, ...] = ()
    see: tuple[Url, ...] = ()
    url: str | None = None
    accessed_on: str | None = None
    note: str = ""
    seed: int | None = None
    generator: str | None = None
    pin: Literal["list", "lock"] = Field(default="list", exclude=True)

    @property
    def places(self) -> tuple[Place, ...]:
        """Addresses to download from, best first."""
        if self.urls or self.url is None or not re.match(URL, self.url):
            return self.urls
        return (Place(url=self.url),)

    @model_validator(mode="after")
    def _status_is_honest(self) -> Self:
        guessed = [place.status == "guessed" for place in self.urls]
        holds = {
            "hash-published": self.sha256 is not None,
            "listed": bool(guessed) and not all(guessed),
            "guessed": bool(guessed) and all(guessed),
            "page-only": not guessed and bool(self.see),
            "not-found": not guessed,
        }
        if self.status is not None and not holds[self.status]:
            raise ValueError(f"status {self.status} does not agree with its sha256, urls and see")
        return self


class Pinned(Record):
    """What the first fetch found: an entry of the lock file."""

    sha256: Sha256
    bytes: Count
    pages: Count
    fetched_on: str
    url: str | None = None


def lock_path(profile: Profile) -> Path:
    """The lock file of a profile's documents, beside their list."""
    listed = profile.corpus.sources or profile.corpus.folder / "sources.yaml"
    return listed.with_name(f"{listed.stem}.lock.yaml")


def read_lock(path: Path) -> dict[str, Pinned]:
    """Entries of a lock file by doc_id; none where it does not exist.

    Raises
    ------
    RgeError
        When the file is damaged.
    """
    if not path.exists():
        return {}
    do = "put the file back as it was: it holds what the first fetch found"
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {
            str(doc_id): Pinned.model_validate(entry)
            for doc_id, entry in (data["documents"] or {}).items()
        }
    except ValidationError as error:
        raise RgeError(path, first_problem(error), do=do) from None
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, KeyError, AttributeError) as error:
        raise RgeError(path, f"not a lock file: {' '.join(str(error).split())}", do=do) from None


def write_lock(path: Path, entries: dict[str, Pinned]) -> None:
    """Replace a lock file as a whole."""
    documents = {k: entries[k].model_dump(exclude_none=True) for k in sorted(entries)}
    text = yaml.safe_dump({"documents": documents}, sort_keys=False, allow_unicode=True, width=1000)
    write_text(
        path,
        f"# Written by `rge corpus fetch`: what was found first, refused if it changes.\n{text}",
    )


def corpus_sources(profile: Profile) -> list[Source]:
    """The documents a profile reads, in the order of their list, with what pins their bytes.

    Raises
    ------
    RgeError
        When the list is missing or wrong.
    UsageError
        When `corpus.documents` names one that is not in it.
    """
    corpus = profile.corpus
    if corpus.kind == "financebench":
        from rge.corpus.financebench import sources_from_financebench

        sources = sources_from_financebench(corpus.folder)
    elif corpus.sources is None:
        raise UsageError(profile.source, "corpus.sources is missing", do="name the list of sources")
    else:
        sources = load_sources(corpus.sources)
    pins = read_lock(lock_path(profile))
    sources = [_with_pin(source, pins.get(source.doc_id)) for source in sources]
    if corpus.documents is None:
        return sources
    known = {source.doc_id for source in sources}
    for doc_id in corpus.documents:
        if doc_id not in known:
            raise UsageError(
                profile.source,
                f"corpus.documents names '{doc_id}'",
                allowed=f"one of {', '.join(sorted(known))}",
            )
    return [source for source in sources if source.doc_id in corpus.documents]


def _with_pin(source: Source, found: Pinned | None) -> Source:
    """The list of sources has the last word; the lock file pins what the list leaves open."""
    if source.sha256 is not None or found is None:
        return source
    return source.model_copy(update={"sha256": found.sha256, "pin": "lock"})


def load_sources(path: Path) -> list[Source]:
    """The documents listed under `documents` of a YAML file, in its order.

    Raises
    ------
    RgeError
        When the file is missing or not such a list, or a doc_id, a file, or a company and fy
        together stand twice.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RgeError(path, "no such file", do="build the corpus, or fix corpus.sources") from None
    except yaml.YAMLError as error:
        raise RgeError(path, f"not YAML: {' '.join(str(error).split())}") from None
    entries = data.get("documents") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not entries:
        raise RgeError(path, "lists no documents", allowed="a non-empty list under `documents`")
    sources = []
    for number, entry in enumerate(entries, 1):
        try:
            sources.append(Source.model_validate(entry))
        except ValidationError as error:
            raise RgeError(
                f"{path}, document {number}",
                first_problem(error),
                allowed=f"the keys are {', '.join(Source.model_fields)}",
                do="fix the entry",
            ) from None
    check_unique(path, sources)
    return sources


def check_unique(where: Path, sources: Iterable[Source]) -> None:
    """Refuse a doc_id, a file, or a company and fy together that stand twice.

    Raises
    ------
    RgeError
        Naming both documents.
    """
    seen: dict[str, str] = {}
    for source in sources:
        for key in (
            f"doc_id {source.doc_id}",
            f"file {source.file}",
            f"company and fy {source.company}-{source.fy}",
        ):
            if key in seen:
                raise RgeError(
                    where,
                    f"{key} stands twice ({seen[key]}; {source.title})",
                    do="keep one of the two entries",
                )
            seen[key] = source.title


def check_document(source: Source, folder: Path) -> Path:
    """The path of a document whose bytes are those its entry pins.

    Raises
    ------
    RgeError
        When the file is missing, or its size or SHA-256 is another one.
    """
    path = folder / source.file
    if not path.is_file():
        raise RgeError(
            path,
            f"no such file, wanted for {source.doc_id}",
            do="get the document and put it there",
        )
    do = "remove it and get the document again, or pin the new hash if it is meant to change"
    if source.sha256 is not None and (found := sha256_file(path)) != source.sha256:
        by = "its entry in the list of sources" if source.pin == "list" else "the first fetch"
        raise RgeError(path, f"SHA-256 is {found}", allowed=f"{source.sha256}, as {by} says", do=do)
    check_size(source, path)
    return path


def check_size(source: Source, path: Path) -> None:
    """Refuse a file of another size than its entry says.

    Raises
    ------
    RgeError
        Naming both sizes.
    """
    if source.bytes is not None and (size := path.stat().st_size) != source.bytes:
        raise RgeError(
            path,
            f"has {size:,} bytes",
            allowed=f"{source.bytes:,}, as its entry in the list of sources says",
            do=f"get '{source.title}', or correct the entry",
        )


def check_pages(source: Source, path: Path, n_pages: int) -> None:
    """Refuse a document with another number of pages than its entry says.

    Raises
    ------
    RgeError
        Naming both numbers.
    """
    if source.pages is not None and n_pages != source.pages:
        raise RgeError(
            path,
            f"has {n_pages} pages",
            allowed=f"{source.pages}, as its entry in the list of sources says",
            do=f"get '{source.title}', or correct the entry",
        )
