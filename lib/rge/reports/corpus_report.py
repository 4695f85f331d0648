"""What a corpus became: documents, problems, chunks and the index, as tables and a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rge.corpus.sources import Source
from rge.display import joined
from rge.figures import GREY, PALETTE
from rge.records import Page
from rge.retrieval.index import Index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ["document", "pages", "characters", "pypdf", "pdfplumber", "chunks", "problems"]


def documents(sources: Iterable[Source], index: Index) -> pd.DataFrame:
    """One row per document.

    Columns: document, pages, characters, pages read by pypdf and by pdfplumber, chunks, and the
    problems left with the number of pages that have them.
    """
    n_chunks = Counter(chunk.doc_id for chunk in index.chunks.values())
    rows = []
    for source in sources:
        pages = [page for page in index.pages if page.doc_id == source.doc_id]
        methods = Counter(page.method for page in pages)
        rows.append(
            {
                "document": source.doc_id,
                "pages": len(pages),
                "characters": sum(len(page.text) for page in pages),
                "pypdf": methods["pypdf"],
                "pdfplumber": methods["pdfplumber"],
                "chunks": n_chunks[source.doc_id],
                "problems": _kinds(pages) or "none",
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def problem_pages(index: Index) -> pd.DataFrame:
    """One row per page with a problem: document, page, problems, and how its text begins."""
    rows = [
        {
            "document": page.doc_id,
            "page": page.page,
            "problems": ", ".join(page.problems),
            "text": page.text[:60],
        }
        for page in index.pages
        if page.problems
    ]
    return pd.DataFrame(rows, columns=["document", "page", "problems", "text"])


def chunk_facts(index: Index) -> pd.DataFrame:
    """Chunks in numbers: one row per fact, columns `fact` and `value`."""
    n_tokens = [chunk.n_tokens for chunk in index.chunks.values()]
    spread = sum(chunk.page_end > chunk.page_start for chunk in index.chunks.values())
    headed = sum(bool(chunk.heading) for chunk in index.chunks.values())
    facts = {
        "chunks": len(n_tokens),
        "tokens, median": int(np.median(n_tokens)),
        "tokens, fewest and most": f"{min(n_tokens)} and {max(n_tokens)}",
        "on more than one page": spread,
        "with a heading": headed,
        "left out, same text earlier in the document": index.meta["n_repeated"],
        "made shorter to fit the embedder": index.meta["n_shortened"],
        "embedder's tokens, most of a chunk": index.meta["n_pieces_max"],
        "embedder's tokens, most it reads": index.meta["n_pieces_read"],
    }
    return pd.DataFrame({"fact": list(facts), "value": [str(value) for value in facts.values()]})


def index_facts(index: Index) -> pd.DataFrame:
    """The index in numbers: one row per fact, columns `fact` and `value`."""
    facts = {
        "vectors": " × ".join(str(n) for n in index.vectors.shape),
        "vectors in memory": f"{index.vectors.nbytes / 1e6:.1f} MB",
        "embedding model": index.meta["model_id"],
        "metric": index.meta["metric"],
        "checksum": index.sha256,
        "checksum without vectors": index.meta["content_sha256"],
    }
    return pd.DataFrame({"fact": list(facts), "value": list(facts.values())})


def draw_chunks(ax: Axes, index: Index, size: int) -> Axes:
    """Histogram of tokens per chunk, with the size that the profile asks for."""
    n_tokens = [chunk.n_tokens for chunk in index.chunks.values()]
    ax.hist(n_tokens, bins=np.linspace(0, size, 41).tolist(), color=PALETTE[0])
    ax.axvline(size, color=GREY, linestyle="--")
    ax.annotate(
        f"size {size}",
        (size, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-3, 0),
        textcoords="offset points",
        ha="right",
        va="top",
        color=GREY,
    )
    ax.set_xlabel("tokens per chunk")
    ax.set_ylabel("chunks")
    ax.set_xlim(0, 1.02 * size)
    return ax


def values(table: pd.DataFrame, sources: Iterable[Source], index: Index) -> dict[str, Any]:
    """Numbers that the paper reads, by name."""
    return {
        "n_documents": len(table),
        "n_companies": len({source.company for source in sources}),
        "n_pages": int(table["pages"].sum()),
        "n_characters": int(table["characters"].sum()),
        "n_pages_pdfplumber": int(table["pdfplumber"].sum()),
        "n_pages_with_problems": len(problem_pages(index)),
        "n_chunks": len(index.chunks),
        "n_chunks_repeated": index.meta["n_repeated"],
        "n_chunks_shortened": index.meta["n_shortened"],
        "model_id": index.meta["model_id"],
        "index_sha256": index.sha256,
        "content_sha256": index.meta["content_sha256"],
    }


def answer(found: dict[str, Any], index: Index) -> str:
    """One paragraph: what was read and whether the index can be trusted."""
    kinds = Counter(kind for page in index.pages for kind in page.problems)
    left = joined([f"{n} with {kind}" for kind, n in kinds.most_common()]) if kinds else "none"
    return (
        f"{found['n_documents']} documents gave {found['n_pages']:,} pages "
        f"({found['n_pages_pdfplumber']} of them read by pdfplumber) and {found['n_chunks']:,} "
        f"chunks. Pages with a problem: {left}. The longest chunk has "
        f"{index.meta['n_pieces_max']} of the {index.meta['n_pieces_read']} tokens that the "
        "embedder reads, so none is cut off."
    )


def _kinds(pages: Iterable[Page]) -> str:
    kinds = Counter(kind for page in pages for kind in page.problems)
    return ", ".join(f"{kind}: {n}" for kind, n in kinds.most_common())
