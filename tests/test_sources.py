import csv
import os
from pathlib import Path

import pytest
import yaml

from rge.corpus.sources import (
    Pinned,
    check_document,
    check_pages,
    corpus_sources,
    load_sources,
    lock_path,
    read_lock,
    write_lock,
)
from rge.errors import RgeError, UsageError
from rge.profile import find_root, load_profile
from rge.store import sha256_file

ENTRY = {"doc_id": "acme-FY24", "company": "acme", "fy": "FY24", "title": "Acme", "file": "a.pdf"}


def written(tmp_path: Path, *entries: dict) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(yaml.safe_dump({"documents": list(entries)}), encoding="utf-8")
    return path


def test_documents_keep_the_order_of_the_list(tmp_path):
    other = {**ENTRY, "doc_id": "acme-FY23", "fy": "FY23", "file": "b.pdf"}
    assert [s.doc_id for s in load_sources(written(tmp_path, ENTRY, other))] == [
        "acme-FY24",
        "acme-FY23",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fy": None}, r"sources\.yaml, document 2: fy: .*; the keys are doc_id, company"),
        ({"colour": "red"}, r"document 2: colour: .*not permitted"),
        ({"company": "Acme Ltd"}, r"document 2: company: .*got 'Acme Ltd'"),
        ({"sha256": "12"}, r"document 2: sha256: .*got '12'"),
        ({}, r"doc_id acme-FY24 stands twice \(Acme; Acme\)"),
        ({"doc_id": "x", "file": "b.pdf"}, r"company and fy acme-FY24 stands twice"),
        ({"doc_id": "x", "fy": "FY23"}, r"file a\.pdf stands twice"),
        ({"file": "../a.pdf"}, r"document 2: file: .*got '\.\./a\.pdf'"),
        ({"file": "/a.pdf"}, r"document 2: file: .*got '/a\.pdf'"),
        ({"urls": [{"url": "file:///a.pdf"}]}, r"document 2: urls\.0\.url: .*got 'file:"),
        ({"urls": [{"url": "https://x.org/a.zip", "zip_sha256": "0" * 64}]}, "without the member"),
        ({"status": "hash-published"}, "status hash-published does not agree"),
        ({"status": "page-only", "urls": [{"url": "https://x.org/a"}]}, "does not agree"),
        ({"status": "listed", "urls": [{"url": "https://x.org/a", "status": "guessed"}]}, "agree"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path, change, message):
    with pytest.raises(RgeError, match=message):
        load_sources(written(tmp_path, ENTRY, {**ENTRY, **change}))


def test_a_missing_or_empty_list_says_what_to_do(tmp_path):
    with pytest.raises(RgeError, match="no such file; build the corpus"):
        load_sources(tmp_path / "none.yaml")
    with pytest.raises(RgeError, match="lists no documents; a non-empty list under `documents`"):
        load_sources(written(tmp_path))


def test_a_document_is_missing_changed_or_the_pinned_one(tmp_path):
    (source,) = load_sources(written(tmp_path, ENTRY))
    with pytest.raises(RgeError, match=r"a\.pdf: no such file, wanted for acme-FY24"):
        check_document(source, tmp_path)
    path = tmp_path / "a.pdf"
    path.write_bytes(b"one")
    pinned = source.model_copy(update={"sha256": sha256_file(path)})
    assert check_document(pinned, tmp_path) == path
    path.write_bytes(b"two")
    with pytest.raises(RgeError, match=r"a\.pdf: SHA-256 is \w+; \w+, as its entry"):
        check_document(pinned, tmp_path)
    assert check_document(source, tmp_path) == path


def test_a_profile_may_read_some_documents_of_the_list(tmp_path):
    other = {**ENTRY, "doc_id": "acme-FY23", "fy": "FY23", "file": "b.pdf"}
    profile = load_profile("offline")
    spec = {"sources": written(tmp_path, ENTRY, other), "documents": ("acme-FY23",)}
    corpus = profile.corpus.model_copy(update=spec)
    (source,) = corpus_sources(profile.model_copy(update={"corpus": corpus}))
    assert source.doc_id == "acme-FY23"
    wrong = corpus.model_copy(update={"documents": ("acme-FY22",)})
    with pytest.raises(UsageError, match="names 'acme-FY22'; one of acme-FY23, acme-FY24"):
        corpus_sources(profile.model_copy(update={"corpus": wrong}))


def test_size_and_pages_are_checked_where_the_entry_has_them(tmp_path):
    (source,) = load_sources(written(tmp_path, {**ENTRY, "bytes": 4, "pages": 7}))
    path = tmp_path / "a.pdf"
    path.write_bytes(b"five!")
    with pytest.raises(RgeError, match=r"a\.pdf: has 5 bytes; 4, as its entry in the list"):
        check_document(source, tmp_path)
    path.write_bytes(b"four")
    assert check_document(source, tmp_path) == path
    with pytest.raises(RgeError, match=r"a\.pdf: has 8 pages; 7, as its entry in the list"):
        check_pages(source, path, 8)
    check_pages(source, path, 7)


PIN = Pinned(sha256="1" * 64, bytes=3, pages=1, fetched_on="2026-01-02", url="https://x.org/a")


def with_list(path):
    profile = load_profile("offline")
    corpus = profile.corpus.model_copy(update={"sources": path})
    return profile.model_copy(update={"corpus": corpus})


def test_the_lock_file_pins_what_the_list_leaves_open_and_nothing_else(tmp_path):
    known = {**ENTRY, "doc_id": "acme-FY23", "fy": "FY23", "file": "b.pdf", "sha256": "2" * 64}
    profile = with_list(written(tmp_path, ENTRY, known))
    assert lock_path(profile) == tmp_path / "sources.lock.yaml"
    write_lock(lock_path(profile), {"acme-FY24": PIN, "acme-FY23": PIN})
    locked, listed = corpus_sources(profile)
    assert (locked.sha256, locked.pin) == ("1" * 64, "lock")
    assert (listed.sha256, listed.pin) == ("2" * 64, "list")
    (tmp_path / "a.pdf").write_bytes(b"other")
    with pytest.raises(RgeError, match="as the first fetch says"):
        check_document(locked, tmp_path)


def test_a_lock_file_reads_as_it_was_written_and_a_damaged_one_is_an_error(tmp_path):
    path = tmp_path / "sources.lock.yaml"
    assert read_lock(path) == {}
    write_lock(path, {"b": PIN, "a": PIN.model_copy(update={"url": None})})
    assert list(read_lock(path)) == ["a", "b"] and read_lock(path)["b"] == PIN
    for text in ("[", "documents: 4", "documents: {a: {sha256: x}}", "pins: {}"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(RgeError, match=r"lock\.yaml: .*put the file back as it was"):
            read_lock(path)


def published():
    return load_sources(load_profile("published").corpus.sources)


def test_the_published_study_lists_ten_companies_and_two_years_each():
    sources = published()
    companies = {source.company for source in sources}
    assert len(companies) == 10
    assert [s.doc_id for s in sources] == [
        f"{company}-{fy}" for company in dict.fromkeys(s.company for s in sources)
        for fy in ("FY23", "FY24")
    ]  # fmt: skip
    assert all(source.file == f"{source.doc_id}.pdf" for source in sources)


def test_every_document_of_the_published_study_says_how_well_its_source_is_known():
    sources = published()
    for source in sources:
        assert source.status is not None
        assert (source.sha256 is not None) == (source.status == "hash-published")
        assert source.places or source.see
        if source.sha256:
            assert source.bytes and source.pages
    assert next(s for s in sources if s.doc_id == "ola-electric-FY23").note


def test_the_published_list_agrees_with_the_source_it_was_made_from():
    shared = Path(os.environ.get("RGE_SHARED", find_root().parent / "shared"))
    path = shared / "real-reports" / "official_sources.csv"
    if not path.exists():
        pytest.skip("the list of official sources is not on this machine")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    hashes = {row["sha256"]: row for row in rows if row["sha256"]}
    named = {row["url"]: row["status"] for row in rows}
    found = {source.sha256: source for source in published() if source.sha256}
    assert set(found) == set(hashes)
    for digest, source in found.items():
        row = hashes[digest]
        assert (source.bytes, source.pages) == (int(row["bytes"]), int(row["pages"]))
        assert source.places[0].url == row["url"]
        assert (source.places[0].member or "") == row["zip_member"]
        assert (source.places[0].zip_sha256 or "") == row["zip_sha256"]
    for source in published():
        for place in source.places:
            assert (place.status == "guessed") == (named[place.url] == "guessed")
        assert {named[url] for url in source.see} <= {"index-page", "landing-page", "not-found"}
