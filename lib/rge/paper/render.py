"""`paper/index.qmd` to one HTML file and one PDF, without Quarto."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from rge.errors import RgeError
from rge.paper.checks import check_images, check_labels, check_references
from rge.paper.embed import embed_cell
from rge.paper.pages import render_notebook, with_alt
from rge.paper.pandoc import run_pandoc
from rge.paper.shortcodes import expand, split_front_matter
from rge.profile import Profile
from rge.store import sha256_file
from rge.variables import collect_variables, write_variables

_HERE = Path(__file__).parent
_META_KEYS = ("title", "subtitle", "author", "date", "keywords", "description", "lang")
PDF_NAME = "rge-paper.pdf"


@dataclass(frozen=True)
class Paper:
    """Where the rendered paper is; `skipped` when it was up to date already."""

    html: Path
    pdf: Path
    skipped: bool


@dataclass(frozen=True)
class _Job:
    """The files one rendering reads and the folder it writes."""

    root: Path
    article: Path
    notebooks: Path
    variables: Path
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
        return [self.out / "index.html", self.out / PDF_NAME, *pages]

    def notebook_files(self) -> list[Path]:
        return sorted(self.notebooks.glob("[0-9]*.ipynb"))


def render(
    profile: Profile,
    *,
    out_dir: Path | None = None,
    notebooks_dir: Path | None = None,
    variables: Path | None = None,
) -> Paper:
    """The paper of a profile as HTML and PDF, from its executed notebooks and result files.

    Nothing is done where the outputs are whole and everything they were made from is unchanged.

    Parameters
    ----------
    profile
        Gives the sources (`paper/index.qmd` under its root) and the places below.
    out_dir
        Receives index.html, rge-paper.pdf and notebooks/; by default `_build/<name>/paper`.
    notebooks_dir
        Where the executed notebooks are; by default the profile's.
    variables
        A file of variables; by default it is written anew from the result files.

    Raises
    ------
    RgeError
        With file and line, on anything in the article that leads nowhere or that a PDF cannot show.
    """
    job = _Job(
        root=profile.root,
        article=profile.root / "paper" / "index.qmd",
        notebooks=notebooks_dir or profile.notebooks_dir,
        variables=variables or write_variables(profile),
        out=out_dir or profile.build_dir / "paper",
    )
    stamp = job.out / ".inputs.json"
    fingerprint = _fingerprint(job)
    if _up_to_date(stamp, fingerprint, job):
        return Paper(job.outputs[0], job.outputs[1], skipped=True)
    stamp.unlink(missing_ok=True)
    _render(job, collect_variables(profile) if variables is None else _read_yaml(variables))
    state = {"inputs": fingerprint, "outputs": _hashes(job.outputs)}
    stamp.write_text(json.dumps(state, indent=1), encoding="utf-8")
    return Paper(job.outputs[0], job.outputs[1], skipped=False)


def _render(job: _Job, variables: dict[str, Any]) -> None:
    shutil.rmtree(job.work, ignore_errors=True)
    job.work.mkdir(parents=True)
    meta = _prepare(job, variables)
    for notebook in job.notebook_files():
        render_notebook(notebook, job.out / "notebooks" / f"{notebook.stem}.html")
    _html(job)
    _pdf(job, meta)


def _prepare(job: _Job, variables: dict[str, Any]) -> dict[str, Any]:
    """Write the article as plain Markdown with its metadata; return its front matter."""
    where = job.show(job.article)
    if not job.article.is_file():
        raise RgeError(where, "no such file", do="restore it")
    meta, lines = split_front_matter(job.article.read_text(encoding="utf-8"), where)
    embedded: list[tuple[str, str]] = []

    def embed(place: str, target: str) -> str:
        notebook, label = _target(job, place, target)
        embedded.append((place, label))
        return embed_cell(notebook, label, place, job.work, job.show(notebook))

    body = expand(lines, where, variables, embed)
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


def _target(job: _Job, place: str, target: str) -> tuple[Path, str]:
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


def _html(job: _Job) -> None:
    out = job.out / "index.html"
    run_pandoc(
        [
            *_common(job),
            *("--to", "html5", "--mathml", "--embed-resources", "--section-divs"),
            *("--toc", "--toc-depth=3", "--shift-heading-level-by=1"),
            *("--template", _HERE / "template.html", "--css", _HERE / "paper.css"),
            *("--variable", f"pdf={PDF_NAME}", "--output", out, "index.md"),
        ],
        cwd=job.work,
        where=job.show(job.article),
    )
    out.write_text(with_alt(out.read_text(encoding="utf-8")), encoding="utf-8")


def _pdf(job: _Job, meta: dict[str, Any]) -> None:
    import matplotlib
    import typst

    source = job.work / "rge-paper.typ"
    run_pandoc(
        [
            *_common(job),
            *("--to", "typst", "--template", _HERE / "template.typ"),
            *("--output", source, "index.md"),
        ],
        cwd=job.work,
        where=job.show(job.article),
    )
    try:
        typst.compile(
            str(source),
            output=str(job.out / PDF_NAME),
            root=str(job.work),
            font_paths=[str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")],
            ignore_system_fonts=True,
            timestamp=_timestamp(meta),
        )
    except RuntimeError as error:
        raise RgeError(job.show(source), f"typst: {' '.join(str(error).split())}") from error


def _common(job: _Job) -> list[str | Path]:
    return [
        *("--from", "markdown", "--standalone", "--number-sections", "--wrap=none"),
        "--syntax-highlighting=none",
        *("--metadata-file", job.work / "meta.json", "--lua-filter", _HERE / "filter.lua"),
        *("--citeproc", "--bibliography", job.work / "references.bib"),
    ]


def _timestamp(meta: dict[str, Any]) -> int:
    """Seconds since 1970 of the article's date, so that equal inputs give an equal PDF."""
    try:
        day = dt.date.fromisoformat(str(meta.get("date", "")))
    except ValueError:
        return 0
    return int(dt.datetime.combine(day, dt.time(), dt.UTC).timestamp())


def _fingerprint(job: _Job) -> str:
    """One hash over everything that the outputs are made from."""
    own = [path for path in _HERE.iterdir() if path.is_file()]
    beside = [path for path in job.article.parent.rglob("*") if path.is_file()]
    files = [*own, *beside, *job.notebook_files(), job.variables]
    parts = sorted(f"{path.name} {sha256_file(path)}" for path in files if path.is_file())
    tools = [f"{name} {version(name)}" for name in ("pypandoc_binary", "typst", "matplotlib")]
    return hashlib.sha256("\n".join([*parts, *tools, job.show(job.out)]).encode()).hexdigest()


def _up_to_date(stamp: Path, fingerprint: str, job: _Job) -> bool:
    try:
        state = json.loads(stamp.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return state == {"inputs": fingerprint, "outputs": _hashes(job.outputs)}


def _hashes(paths: list[Path]) -> dict[str, str]:
    return {str(path.name): sha256_file(path) for path in paths if path.is_file()}
