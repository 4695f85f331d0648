"""The documents of a corpus: what they are, where they lie and what pins their bytes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, ValidationError

from rge.errors import RgeError, UsageError
from rge.profile import Profile
from rge.records import NonEmpty, Record, Sha256
from rge.store import first_problem, sha256_file

CompanySlug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
YearSlug = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$")]


class Source(Record):
    """One document. `company` and `fy` begin its chunk ids, so a corpus has each pair once."""

    doc_id: NonEmpty
    company: CompanySlug
    fy: YearSlug
    title: NonEmpty
    file: NonEmpty
    sha256: Sha256 | None = None
    bytes: Annotated[int, Field(ge=1)] | None = None
    pages: Annotated[int, Field(ge=1)] | None = None
    url: str | None = None
    accessed_on: str | None = None
    seed: int | None = None
    generator: str | None = None


def corpus_sources(profile: Profile) -> list[Source]:
    """The documents a profile reads, in the order of their list.

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
        When the file is missing or its SHA-256 is another one.
    """
    path = folder / source.file
    if not path.is_file():
        raise RgeError(
            path,
            f"no such file, wanted for {source.doc_id}",
            do="get the document and put it there",
        )
    if source.sha256 is not None and (found := sha256_file(path)) != source.sha256:
        raise RgeError(
            path,
            f"SHA-256 is {found}",
            allowed=f"{source.sha256}, as its entry in the list of sources says",
            do="get the document again, or pin the new hash if it is meant to change",
        )
    return path
