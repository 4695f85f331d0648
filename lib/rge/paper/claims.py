"""A page that searches every claim the judges reported, each beside the passage closest to it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from rge.corpus.sources import corpus_sources
from rge.errors import RgeError
from rge.paper.job import CLAIMS_PAGE, HERE, Job
from rge.profile import Profile
from rge.reports.error_report import nearest_sentence
from rge.store import read_json

_FILTERS = ("finding", "kind", "subject", "category", "company", "question_id")


def render_claims(job: Job) -> None:
    """Write ``claims.html`` beside the paper; all that it shows is inside it.

    Links to pages of PDFs lead from there into the corpus, where that is part of the repository.

    Raises
    ------
    RgeError
        When the stored claims are not what notebook 07 writes.
    """
    profile, path = job.profile, job.claims
    pages = _pages(profile, job.out)
    try:
        claims = read_json(path)["claims"]
        articles = "\n".join(_article(claim, pages) for claim in claims)
        selects = "\n".join(_select(name, (str(c[name]) for c in claims)) for name in _FILTERS)
    except (KeyError, TypeError) as error:
        raise RgeError(path, f"not a file of claims: {error!r}", do="run notebook 07") from None
    page = Template((HERE / "claims.html").read_text(encoding="utf-8")).substitute(
        run_id=escape(profile.run_id),
        css=(HERE / "paper.css").read_text(encoding="utf-8"),
        selects=selects,
        n=len(claims),
        articles=articles,
    )
    (job.out / CLAIMS_PAGE).write_text(page, encoding="utf-8")


def _pages(profile: Profile, folder: Path) -> dict[str, str]:
    """Address of each document as seen from the paper, of those inside the repository."""
    documents = profile.corpus.folder.resolve()
    if not documents.is_relative_to(profile.root.resolve()):
        return {}
    start = folder.resolve()
    return {
        source.doc_id: quote(os.path.relpath(documents / source.file, start))
        for source in corpus_sources(profile)
        if (documents / source.file).is_file()
    }


def _select(name: str, values: Iterable[str]) -> str:
    options = "".join(f"<option>{escape(value)}</option>" for value in sorted(set(values)))
    label = name.removesuffix("_id")
    return (
        f'<label>{label} <select name="{_data(name)}"><option></option>{options}</select></label>'
    )


def _data(name: str) -> str:
    """The name under which a script finds a `data-` attribute."""
    return name.replace("_", "")


def _article(claim: Mapping[str, Any], pages: Mapping[str, str]) -> str:
    data = " ".join(f'data-{_data(name)}="{escape(str(claim[name]))}"' for name in _FILTERS)
    key = f"{claim['question_id']} {claim['subject']} {claim['run_index']}"
    facts = (
        f"<b>{escape(claim['finding'])}</b>: {escape(claim['kind'])} · {escape(key)} · "
        f"{escape(claim['category'])} · {escape(claim['company'])} · by {escape(claim['judges'])}"
    )
    return (
        f'<article {data}>\n<p class="facts">{facts}</p>\n'
        f'<p class="claim">{escape(claim["claim"])}</p>\n'
        f"<details><summary>Question and passage</summary>\n"
        f"<p>{escape(claim['question'])}</p>\n{_passage(claim, pages)}"
        f'<p class="facts">Everything about it: <code>rge trace {escape(key)}</code></p>\n'
        f"</details>\n</article>"
    )


def _passage(claim: Mapping[str, Any], pages: Mapping[str, str]) -> str:
    if not claim["passage"]:
        return '<p class="facts">No passage is close.</p>\n'
    text = claim["passage_text"]
    sentence = nearest_sentence(claim["claim"], text)
    before, found, after = text.partition(sentence)
    shown = f"{escape(before)}<mark>{escape(found)}</mark>{escape(after)}"
    place = f"page {int(claim['page'])} of {claim['doc_id']}"
    if claim["doc_id"] in pages:
        address = f"{pages[claim['doc_id']]}#page={int(claim['page'])}"
        place = f'<a href="{escape(address)}">{escape(place)}</a>'
    else:
        place = escape(place)
    return (
        f'<p class="facts">{escape(claim["passage"])}, {place}</p>\n'
        f'<div class="passage">{shown}</div>\n'
    )
