"""The page of reported claims shows what was stored, as text, and needs nothing beside it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from paper_project import make_project, offline, write_result
from rge.errors import RgeError
from rge.paper import render
from rge.paper.claims import render_claims
from rge.paper.job import job_of

HOSTILE = '<script>alert(1)</script> "quoted" & </article><b data-kind="x">₹5 crore'
CLAIM = {
    "subject": "alpha",
    "question_id": "q1",
    "run_index": 0,
    "category": "direct",
    "company": "firm",
    "fy": "FY24",
    "finding": "unsupported",
    "kind": "number in no passage",
    "question": "What was revenue?",
    "claim": HOSTILE,
    "judges": "rules",
    "passage": "firm-FY24-00000000",
    "doc_id": "firm-FY24",
    "page": 7,
    "passage_text": "Costs fell. Revenue was ₹4 crore. <i>Audited</i>.",
}
NOWHERE = CLAIM | {"claim": "Nothing is near.", "passage": None, "doc_id": None, "page": None}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    make_project(root)
    folder = root / "data" / "corpus" / "invented"
    folder.mkdir(parents=True)
    (folder / "one report.pdf").write_bytes(b"%PDF-")
    (folder / "sources.yaml").write_text(
        "documents:\n- {doc_id: firm-FY24, company: firm, fy: FY24, title: One, "
        "file: one report.pdf}\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(root)
    return root


def page_of(*claims: dict) -> str:
    profile = offline()
    write_result(profile.root, "errors", {"values": {}, "claims": list(claims)})
    job = job_of(profile)
    job.out.mkdir(parents=True, exist_ok=True)
    render_claims(job)
    return (job.out / "claims.html").read_text(encoding="utf-8")


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag == name]


def test_what_a_model_wrote_is_text_and_never_markup(project: Path):
    tags = Tags(page_of(CLAIM))
    assert len(tags.of("script")) == 1
    assert len(tags.of("article")) == 1
    assert not tags.of("i") and len(tags.of("b")) == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page_of(CLAIM)


def test_every_claim_can_be_chosen_by_each_of_its_facts(project: Path):
    tags = Tags(page_of(CLAIM, NOWHERE | {"subject": "beta"}))
    names = [attributes["name"] for attributes in tags.of("select")]
    assert names == ["finding", "kind", "subject", "category", "company", "questionid"]
    for article, subject in zip(tags.of("article"), ("alpha", "beta"), strict=True):
        assert all(article[f"data-{name}"] for name in names)
        assert article["data-subject"] == subject


def test_the_nearest_sentence_is_marked_and_the_page_of_the_pdf_linked(project: Path):
    page = page_of(CLAIM | {"claim": "Revenue was ₹5 crore."})
    assert "<mark>Revenue was ₹4 crore.</mark>" in page
    [address] = [a["href"] for a in Tags(page).of("a") if "corpus" in str(a["href"])]
    assert address == "../../../data/corpus/invented/one%20report.pdf#page=7"
    target = offline().build_dir / "paper" / address.partition("#")[0].replace("%20", " ")
    assert target.resolve().is_file()


def test_a_claim_that_no_passage_is_near_says_so(project: Path):
    assert "No passage is close." in page_of(NOWHERE)


def test_a_corpus_outside_the_repository_is_named_and_not_linked(project: Path, tmp_path: Path):
    outside = tmp_path / "elsewhere"
    (project / "data" / "corpus" / "invented").rename(outside)
    (project / "data" / "corpus" / "invented").symlink_to(outside)
    page = page_of(CLAIM)
    assert "page 7 of firm-FY24" in page
    assert "elsewhere" not in page and "#page=" not in page


def test_the_page_loads_nothing_from_elsewhere(project: Path):
    page = page_of(CLAIM)
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", page)


def test_the_paper_leads_to_the_page_where_there_are_claims(project: Path):
    without = render(offline()).html.read_text(encoding="utf-8")
    assert "claims.html" not in without
    page_of(CLAIM)
    html = render(offline()).html
    assert 'href="claims.html"' in html.read_text(encoding="utf-8")
    assert (html.parent / "claims.html").is_file()
    assert render(offline()).skipped
    (html.parent / "claims.html").unlink()
    assert not render(offline()).skipped


def test_a_file_that_is_none_of_claims_is_refused_by_name(project: Path):
    with pytest.raises(RgeError, match=r"errors\.json: not a file of claims"):
        page_of({"claim": "alone"})
