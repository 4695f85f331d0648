import json

import pytest
import yaml

from pdf_maker import column, make_pdf
from rge import cli, corpus_commands
from rge.corpus import extract
from rge.corpus.check import page_ranges
from rge.corpus.sources import Pinned, lock_path, write_lock
from rge.errors import UsageError
from rge.profile import load_profile
from rge.store import sha256_file
from small_corpus import PAGES, small_profile


@pytest.fixture
def profile(tmp_path):
    return small_profile(tmp_path)


def by_id(profile):
    text, n_bad = corpus_commands.check(profile, as_json=True)
    found = json.loads(text)
    assert found["n_bad"] == n_bad and found["n_documents"] == len(PAGES)
    return {entry["doc_id"]: entry for entry in found["documents"]}, n_bad


def change(profile, doc_id, **fields):
    path = profile.corpus.sources
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    next(e for e in data["documents"] if e["doc_id"] == doc_id).update(fields)
    path.write_text(yaml.safe_dump(data), encoding="utf-8")


def test_what_is_right_has_no_reason_and_its_text_is_counted(profile):
    found, n_bad = by_id(profile)
    assert n_bad == 0
    entry = found["acme-FY23"]
    assert (entry["present"], entry["hash"], entry["pages"]) == (True, "unpinned", 2)
    assert entry["methods"] == {"pypdf": 2} and entry["problems"] == {} and entry["reason"] == ""
    pages = extract.extract_pdf(profile.root / "acme-FY23.pdf", "x")
    assert entry["characters"] == sum(len(page.text) for page in pages)


def test_every_way_a_document_can_be_wrong_is_told_apart(profile):
    root = profile.root
    pin = sha256_file(root / "acme-FY23.pdf")
    change(profile, "acme-FY23", sha256="0" * 64)
    (root / "acme-FY24.pdf").unlink()
    (root / "zenith-FY24.pdf").write_bytes(b"not a pdf")
    found, n_bad = by_id(profile)
    assert n_bad == 3
    assert [found[doc_id]["hash"] for doc_id in PAGES] == ["differs", None, "unpinned"]
    assert pin in found["acme-FY23"]["reason"]
    assert found["acme-FY24"]["reason"] == "no file, and no source is known"
    assert "not a readable PDF" in found["zenith-FY24"]["reason"]
    change(profile, "acme-FY23", sha256=pin, pages=5)
    found, _ = by_id(profile)
    assert found["acme-FY23"]["hash"] == "ok"
    assert "has 2 pages; 5, as its entry" in found["acme-FY23"]["reason"]


def test_a_document_that_the_first_fetch_pinned_is_pinned(profile):
    digest = sha256_file(profile.root / "acme-FY23.pdf")
    entry = Pinned(sha256=digest, bytes=1, pages=2, fetched_on="2026-01-02")
    write_lock(lock_path(profile), {"acme-FY23": entry})
    assert by_id(profile)[0]["acme-FY23"]["hash"] == "pinned"
    make_pdf(profile.root / "acme-FY23.pdf", [column("another text on this page")])
    found, n_bad = by_id(profile)
    assert found["acme-FY23"]["hash"] == "differs" and n_bad == 1


def test_pages_with_a_problem_are_named_and_leave_the_document_usable(profile, capsys):
    page = [column("Revenue was 4,512 crore in the year under review.")]
    make_pdf(profile.root / "acme-FY23.pdf", [*page, [], [], *page, []])
    found, n_bad = by_id(profile)
    assert n_bad == 0 and found["acme-FY23"]["problems"] == {"no text": [2, 3, 5]}
    table, _ = corpus_commands.check(profile)
    assert "no text: 2–3, 5" in table


def test_page_numbers_are_shortened_to_ranges():
    assert page_ranges([]) == ""
    assert page_ranges([4]) == "4"
    assert page_ranges([1, 2, 3, 7, 9, 10]) == "1–3, 7, 9–10"


def test_a_second_check_reads_no_pdf(profile, monkeypatch):
    first = by_id(profile)

    def fail(*_):
        raise AssertionError("read again")

    monkeypatch.setattr(extract, "extract_pdf", fail)
    assert by_id(profile) == first


def test_the_table_keeps_addresses_as_they_are(profile, capsys):
    page = "https://example.org/annual_report_2024.html"
    (profile.root / "acme-FY24.pdf").unlink()
    change(profile, "acme-FY24", see=[page], status="page-only")
    table, n_bad = corpus_commands.check(profile)
    assert n_bad == 1 and f"acme-FY24: no file, and no address of one: see {page}" in table
    assert "1 of 3 documents cannot be used" in capsys.readouterr().err
    (row,) = (line for line in table.splitlines() if line.startswith("| acme-FY24"))
    assert [cell.strip() for cell in row.strip("|").split("|")][1:4] == [
        "page-only",
        "missing",
        "–",
    ]


def test_the_commands_exit_codes_follow_what_is_missing(profile, monkeypatch, capsys):
    monkeypatch.setattr("rge.profile.load_profile", lambda *a, **k: profile)
    assert cli.main(["corpus", "check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_bad"] == 0
    (profile.root / "acme-FY24.pdf").unlink()
    assert cli.main(["corpus", "check"]) == 1


def test_a_corpus_that_is_written_is_not_fetched():
    with pytest.raises(UsageError, match="written, not fetched; run `rge corpus build`"):
        corpus_commands.fetch(load_profile("offline"))


def test_fetching_from_a_folder_puts_files_in_their_place(profile, tmp_path, monkeypatch, capsys):
    corpus = profile.corpus.model_copy(update={"kind": "annual-reports"})
    profile = profile.model_copy(update={"corpus": corpus})
    monkeypatch.setattr("rge.profile.load_profile", lambda *a, **k: profile)
    saved = tmp_path / "saved"
    saved.mkdir()
    (profile.root / "acme-FY24.pdf").rename(saved / "ACME-fy24.pdf")
    assert cli.main(["corpus", "fetch", "--from-dir", str(saved)]) == 0
    out = capsys.readouterr().out
    assert "acme-FY24: ACME-fy24.pdf" in out and "found in its place and pinned" in out
    assert by_id(profile)[0]["acme-FY24"]["hash"] == "pinned"
    assert cli.main(["corpus", "fetch", "--only", "acme-FY24", "--from-dir", str(saved)]) == 0
    assert "| acme-FY24 | present |" in capsys.readouterr().out
    assert cli.main(["corpus", "fetch", "--only", "acme-FY25"]) == 2
    assert "no document 'acme-FY25'; one of acme-FY23" in capsys.readouterr().err


def test_the_committed_list_of_the_published_study_is_what_check_reports():
    profile = load_profile("published")
    found, n_bad = corpus_commands.check(profile, as_json=True)
    assert json.loads(found)["n_documents"] == 20
    assert n_bad == sum(bool(entry["reason"]) for entry in json.loads(found)["documents"])
