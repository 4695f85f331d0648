"""What one rendering reads and writes, and the article as plain Markdown that pandoc knows."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rge.errors import RgeError
from rge.paper.checks import check_images, check_labels, check_references
from rge.paper.embed import embed_cell
from rge.paper.shortcodes import expand, split_front_matter
from rge.profile import Profile
from rge.variables import collect_variables, write_variables

PDF_NAME = "rge-paper.pdf"
CLAIMS_PAGE = "claims.html"
HERE = Path(__file__).parent
_META_KEYS = ("title", "subtitle", "author", "date", "keywords", "description", "lang")


@dataclass(frozen=True)
class Job:
    """The files one rendering reads and the folder it writes.

    `variables` is the file that holds the numbers of the sentences, `values` what it holds.
    """

    profile: Profile
    root: Path
    article: Path
    notebooks: Path
    variables: Path
    values: dict[str, Any]
    out: Path

    def show(self, path: Path) -> str:
        """A path as messages name it: from the root where it lies below."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    @property
    def work(self) -> Path:
        return self.out / "source"

    @property
    def outputs(self) -> list[Path]:
        pages = [self.out / "notebooks" / f"{path.stem}.html" for path in self.notebook_files()]
        found = [self.out / CLAIMS_PAGE] if self.claims.is_file() else []
        return [self.out / "index.html", self.out / PDF_NAME, *found, *pages]

    @property
    def claims(self) -> Path:
        """What notebook 07 stores of the reported claims; not every paper has it."""
        return self.profile.results_dir / "errors.json"

    def notebook_files(self) -> list[Path]:
        return sorted(self.notebooks.glob("[0-9]*.ipynb"))


def job_of(
    profile: Profile,
    *,
    out_dir: Path | None = None,
    notebooks_dir: Path | None = None,
    variables: Path | None = None,
) -> Job:
    """The rendering of a profile's paper; the parameters are those of `render`."""
    return Job(
        profile=profile,
        root=profile.root,
        article=profile.root / "paper" / "index.qmd",
        notebooks=notebooks_dir or profile.notebooks_dir,
        variables=variables or write_variables(profile),
        values=collect_variables(profile) if variables is None else _read_yaml(variables),
        out=out_dir or profile.build_dir / "paper",
    )


def prepare(job: Job) -> dict[str, Any]:
    """Write the article as plain Markdown with its metadata; return its front matter."""
    shutil.rmtree(job.work, ignore_errors=True)
    job.work.mkdir(parents=True)
    where = job.show(job.article)
    if not job.article.is_file():
        raise RgeError(where, "no such file", do="restore it")
    meta, lines = split_front_matter(job.article.read_text(encoding="utf-8"), where)
    embedded: list[tuple[str, str]] = []

    def embed(place: str, target: str) -> str:
        notebook, label = _target(job, place, target)
        embedded.append((place, label))
        return embed_cell(notebook, label, place, job.work, job.show(notebook))

    body = expand(lines, where, job.values, embed)
    bibliography = job.article.parent / str(meta.get("bibliography", "references.bib"))
    labels = check_labels(lines, embedded, where)
    check_references(lines, labels, bibliography, where)
    for image in check_images(lines, job.article.parent, where):
        (job.work / image).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(job.article.parent / image, job.work / image)
    shutil.copyfile(bibliography, job.work / "references.bib")
    (job.work / "index.md").write_text("\n".join(body), encoding="utf-8")
    known = {key: meta[key] for key in _META_KEYS if key in meta} | {"link-citations": True}
    known = {"lang": "en"} | known | {"date": str(meta.get("date", ""))}
    (job.work / "meta.json").write_text(json.dumps(known), encoding="utf-8")
    return meta


def pandoc_options(job: Job) -> list[str | Path]:
    """What every way of writing the article shares."""
    return [
        *("--from", "markdown", "--standalone", "--number-sections", "--wrap=none"),
        "--syntax-highlighting=none",
        *("--metadata-file", job.work / "meta.json", "--lua-filter", HERE / "filter.lua"),
    ]


def timestamp(meta: dict[str, Any]) -> int:
    """Seconds since 1970 of the article's date, so that equal inputs give equal files."""
    try:
        day = dt.date.fromisoformat(str(meta.get("date", "")))
    except ValueError:
        return 0
    return int(dt.datetime.combine(day, dt.time(), dt.UTC).timestamp())


def _target(job: Job, place: str, target: str) -> tuple[Path, str]:
    """Notebook and label of an embed; the profile's executed copy stands in for the notebook."""
    name, _, label = target.partition("#")
    if not label or " " in target or not name.endswith(".ipynb"):
        raise RgeError(
            place, f"embed target '{target}'", allowed="../notebooks/NAME.ipynb#LABEL, no options"
        )
    path = Path(os.path.normpath(job.article.parent / name))
    if path.parent == job.root / "notebooks":
        path = job.notebooks / path.name
    return path, label


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except FileNotFoundError:
        raise RgeError(path, "no such file", do="run the notebooks") from None
