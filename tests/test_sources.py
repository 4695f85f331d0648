from pathlib import Path

import pytest
import yaml

from rge.corpus.sources import check_document, corpus_sources, load_sources
from rge.errors import RgeError, UsageError
from rge.profile import load_profile
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
