"""`paper/index.qmd` to one HTML file and one PDF, without Quarto."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rge.paper.claims import render_claims
from rge.paper.job import (
    CLAIMS_PAGE,
    HERE,
    PDF_NAME,
    Job,
    job_of,
    pandoc_options,
    prepare,
    timestamp,
)
from rge.paper.pages import render_notebook, with_alt
from rge.paper.pandoc import run_pandoc
from rge.paper.typesetting import compile_typst
from rge.profile import Profile
from rge.store import sha256_file


@dataclass(frozen=True)
class Paper:
    """Where the rendered paper is; `skipped` when it was up to date already."""

    html: Path
    pdf: Path
    skipped: bool


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
    job = job_of(profile, out_dir=out_dir, notebooks_dir=notebooks_dir, variables=variables)
    stamp = job.out / ".inputs.json"
    fingerprint = _fingerprint(job)
    if _up_to_date(stamp, fingerprint, job):
        return Paper(job.outputs[0], job.outputs[1], skipped=True)
    stamp.unlink(missing_ok=True)
    _render(job)
    state = {"inputs": fingerprint, "outputs": _hashes(job.outputs)}
    stamp.write_text(json.dumps(state, indent=1), encoding="utf-8")
    return Paper(job.outputs[0], job.outputs[1], skipped=False)


def _render(job: Job) -> None:
    meta = prepare(job)
    for notebook in job.notebook_files():
        render_notebook(notebook, job.out / "notebooks" / f"{notebook.stem}.html")
    if job.claims.is_file():
        render_claims(job)
    _html(job)
    _pdf(job, meta)


def _html(job: Job) -> None:
    out = job.out / "index.html"
    beside = ("--variable", f"claims={CLAIMS_PAGE}") if job.claims.is_file() else ()
    run_pandoc(
        [
            *_with_references(job),
            *("--to", "html5", "--mathml", "--embed-resources", "--section-divs"),
            *("--toc", "--toc-depth=3", "--shift-heading-level-by=1"),
            *("--template", HERE / "template.html", "--css", HERE / "paper.css"),
            *("--variable", f"pdf={PDF_NAME}", *beside, "--output", out, "index.md"),
        ],
        cwd=job.work,
        where=job.show(job.article),
    )
    out.write_text(with_alt(out.read_text(encoding="utf-8")), encoding="utf-8")


def _pdf(job: Job, meta: dict[str, Any]) -> None:
    source = job.work / "rge-paper.typ"
    run_pandoc(
        [
            *_with_references(job),
            *("--to", "typst", "--template", HERE / "template.typ"),
            *("--output", source, "index.md"),
        ],
        cwd=job.work,
        where=job.show(job.article),
    )
    compile_typst(
        source,
        job.out / PDF_NAME,
        root=job.work,
        where=job.show(source),
        timestamp=timestamp(meta),
    )


def _with_references(job: Job) -> list[str | Path]:
    return [*pandoc_options(job), "--citeproc", "--bibliography", job.work / "references.bib"]


def _fingerprint(job: Job) -> str:
    """One hash over everything that the outputs are made from."""
    own = [path for path in HERE.iterdir() if path.is_file()]
    beside = [path for path in job.article.parent.rglob("*") if path.is_file()]
    files = [*own, *beside, *job.notebook_files(), job.variables, job.claims]
    parts = sorted(f"{path.name} {sha256_file(path)}" for path in files if path.is_file())
    tools = [f"{name} {version(name)}" for name in ("pypandoc_binary", "typst", "matplotlib")]
    return hashlib.sha256("\n".join([*parts, *tools, job.show(job.out)]).encode()).hexdigest()


def _up_to_date(stamp: Path, fingerprint: str, job: Job) -> bool:
    try:
        state = json.loads(stamp.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return state == {"inputs": fingerprint, "outputs": _hashes(job.outputs)}


def _hashes(paths: list[Path]) -> dict[str, str]:
    return {str(path.name): sha256_file(path) for path in paths if path.is_file()}
