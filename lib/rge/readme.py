"""The part of the README that states results: written from result files, never by hand."""

from __future__ import annotations

import pandas as pd

from rge.display import interval, markdown_table
from rge.errors import RgeError
from rge.profile import Profile
from rge.records import Estimate
from rge.store import read_json, write_text

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
MEASURES = {
    "GFS": "gfs_primary",
    "correctness": "c",
    "grounding": "g",
    "calibration": "k",
    "faithfulness": "f",
}


def update(profile: Profile) -> None:
    """Rewrite the results part of the README of the default study."""
    path = profile.root / "README.md"
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise RgeError(path, "has no place for results", allowed=f"one {BEGIN} … {END}")
    head, _, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    write_text(path, f"{head}{BEGIN}\n{results(profile)}\n{END}{tail}")


def results(profile: Profile) -> str:
    """Scores by subject with their intervals, and the checksums of the index, as Markdown."""
    corpus = read_json(profile.results_dir / "corpus.json")["values"]
    stored = read_json(profile.results_dir / "estimates.json")["estimates"]
    found = {e["name"]: Estimate.model_validate(e) for e in stored}
    rows = [
        {"subject": s.name}
        | {title: interval(found[f"{s.name}/overall/{m}"]) for title, m in MEASURES.items()}
        for s in profile.subjects
    ]
    n_questions = found[f"{profile.subjects[0].name}/overall/gfs_primary"].n_questions
    level = round(100 * profile.analysis.confidence_level)
    lines = [
        f"Offline study `{profile.run_id}`: {n_questions} questions over {corpus['n_documents']} "
        f"reports ({corpus['n_pages']} pages, {corpus['n_chunks']:,} chunks); mean scores with "
        f"{level} % intervals. GFS lies between 0 and 1, dimensions between 0 and 2.",
        "",
        markdown_table(pd.DataFrame(rows)),
        "",
        f"Index checksum `{corpus['index_sha256']}` (chunk ids, vectors rounded, metric, model id "
        f"and revision); `{corpus['content_sha256']}` without the vectors, which differ in their "
        "last digits between processors.",
    ]
    return "\n".join(lines)
