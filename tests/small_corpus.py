"""Three small reports as PDF files with a profile that reads them, all below one folder."""

from __future__ import annotations

from pathlib import Path

import yaml

from pdf_maker import column, make_pdf
from rge.profile import Profile, load_profile

PAGES = {
    "acme-FY23": ["REVENUE\nAcme reported revenue of 4,512 crore for FY23, up by 9 per cent.",
                  "BOARD\nMs Devi chaired the board of Acme until June 2022."],
    "acme-FY24": ["REVENUE\nAcme reported revenue of 5,108 crore for FY24, up by 13 per cent.",
                  "BOARD\nMr Rao has chaired the board of Acme since July 2022."],
    "zenith-FY24": ["PORTS\nZenith handled 212 million tonnes of cargo in FY24 at nine ports.",
                    "DIVIDEND\nZenith paid an interim dividend of 6 rupees a share in FY24."],
}  # fmt: skip


def small_profile(folder: Path, *, size: int = 40, overlap: int = 8) -> Profile:
    """The profile; its root, documents, index and results lie in `folder`."""
    documents = []
    for doc_id, pages in PAGES.items():
        company, fy = doc_id.split("-")
        make_pdf(folder / f"{doc_id}.pdf", [column(text) for text in pages])
        entry = {"doc_id": doc_id, "company": company, "fy": fy, "title": doc_id}
        documents.append({**entry, "file": f"{doc_id}.pdf"})
    sources = folder / "sources.yaml"
    sources.write_text(yaml.safe_dump({"documents": documents}), encoding="utf-8")
    profile = load_profile("smoke")
    return profile.model_copy(
        update={
            "root": folder,
            "results_folder": folder / "results",
            "limit_questions": None,
            "corpus": profile.corpus.model_copy(update={"folder": folder, "sources": sources}),
            "chunking": profile.chunking.model_copy(update={"size": size, "overlap": overlap}),
        }
    )
