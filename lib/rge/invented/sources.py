"""sources.yaml of an invented corpus: one entry per document, with what pins its bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import yaml

from rge.errors import RgeError
from rge.invented.spec import REPORT_YEARS, load_spec, slugs

GENERATOR_VERSION = "2"

_HEAD = """\
# The invented annual reports. Keys of an entry under `documents`:
#   doc_id     {company}-{fy}, as pages and chunks name the document
#   company    short name of the company, as chunk ids begin
#   fy         financial year, April to March, named by the year it ends in
#   title      company and report
#   file       PDF file in this folder
#   sha256     of the file; bytes: its size; pages: its PDF pages
#   seed       that drew the fine digits; generator: version of the texts, specs and layout
# Written by `python -m rge.invented`; change the generator, not this file.
"""


def write_sources(folder: Path, *, seed: int) -> Path:
    """The path of `sources.yaml`, written for the reports that stand in `folder`.

    Raises
    ------
    RgeError
        When a report of the corpus is missing from `folder`.
    """
    documents = [_entry(folder, slug, fy, seed) for slug in slugs() for fy in REPORT_YEARS]
    body = yaml.safe_dump({"documents": documents}, sort_keys=False, allow_unicode=True, width=100)
    path = folder / "sources.yaml"
    path.write_text(_HEAD + body, encoding="utf-8")
    return path


def _entry(folder: Path, slug: str, fy: str, seed: int) -> dict[str, object]:
    from pypdf import PdfReader

    path = folder / f"{slug}-{fy.lower()}.pdf"
    if not path.is_file():
        raise RgeError(path, "no such report", do="render the corpus first")
    end = int(fy[2:])
    return {
        "doc_id": f"{slug}-{fy}",
        "company": slug,
        "fy": fy,
        "title": f"{load_spec(slug).name}: Annual Report 20{end - 1}-{end}",
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bytes": path.stat().st_size,
        "pages": len(PdfReader(path).pages),
        "seed": seed,
        "generator": GENERATOR_VERSION,
    }
