"""Annual reports as PDF files; the same seed gives the same bytes with the same Typst release."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from rge.errors import UsageError
from rge.invented.document import report_data
from rge.invented.ledger import Ledger, build_ledger
from rge.invented.spec import REPORT_YEARS, slugs

# A fixed creation date, so that the bytes of a PDF depend on its contents only.
_CREATED = 1_719_792_000


def render_corpus(folder: Path, *, seed: int, only: list[str] | None = None) -> list[Path]:
    """Paths of the reports written to `folder`, `{company}-{fy}.pdf`, FY23 and FY24 a company.

    Parameters
    ----------
    folder
        Where the PDF files go; made when missing.
    seed
        Draws the fine digits of all figures.
    only
        Slugs of the companies wanted; None means all.

    Raises
    ------
    UsageError
        When `only` names a company that does not exist.
    """
    chosen = slugs() if only is None else only
    for slug in chosen:
        if slug not in slugs():
            raise UsageError("only", f"no company {slug!r}", allowed=", ".join(slugs()))
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for slug in chosen:
        ledger = build_ledger(slug, seed)
        for report in REPORT_YEARS:
            path = folder / f"{slug}-{report.lower()}.pdf"
            path.write_bytes(render_report(ledger, report))
            written.append(path)
    return written


def render_report(ledger: Ledger, report: str) -> bytes:
    """One annual report as a PDF file."""
    import typst

    data = json.dumps(report_data(ledger, report), ensure_ascii=False)
    with resources.as_file(resources.files("rge.invented") / "report.typ") as layout:
        # Tags for screen readers would make the files four times as large.
        return typst.compile(
            layout,
            sys_inputs={"data": data},
            ignore_system_fonts=True,
            timestamp=_CREATED,
            pdf_tags=False,
        )
