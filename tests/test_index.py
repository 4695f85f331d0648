import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pdf_maker import column, make_pdf
from rge.errors import RgeError
from rge.retrieval import vectorstore
from rge.retrieval.index import Embedder, Index, build_index, index_sha256, open_index
from rge.retrieval.vectorstore import owned, query_store, write_store
from small_corpus import PAGES, small_profile
from tiny_model import DIMENSION, make_model

QUERIES = ["Who chairs the board of Acme?", "How much cargo did Zenith handle?", "revenue of FY23"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    profile = small_profile(folder)
    open_index(profile)
    return profile


@pytest.fixture
def profile(built, tmp_path):
    """A copy that a test may damage."""
    shutil.copytree(built.root, tmp_path / "copy")
    return small_profile(tmp_path / "copy")


@pytest.fixture(scope="module")
def queries():
    return Embedder("all-MiniLM-L6-v2").encode(QUERIES)


def unit_vectors(n, d=24, seed=5):
    vectors = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_an_index_holds_the_pages_and_chunks_of_its_documents(built):
    index = open_index(built)
    assert {page.doc_id for page in index.pages} == set(PAGES)
    assert {chunk.doc_id for chunk in index.chunks.values()} == set(PAGES)
    assert index.vectors.shape == (len(index.chunks), 384)
    assert index.meta["n_chunks"] == len(index.chunks)
    assert index.meta["model_id"].startswith("all-MiniLM-L6-v2@")


def test_the_nearest_chunks_answer_the_question(built, queries):
    index = open_index(built)
    best = [index.chunks[ids[0]].text for ids in index.exact_top_k(queries, 5).ids]
    assert "chaired the board" in best[0] and "212 million tonnes" in best[1] and "4,512" in best[2]


def test_opening_again_builds_nothing_and_returns_the_same(built, queries):
    before = (built.index_dir / "meta.json").stat().st_mtime_ns
    one, two = open_index(built), open_index(built)
    assert (built.index_dir / "meta.json").stat().st_mtime_ns == before
    assert one.sha256 == two.sha256
    assert one.top_k(queries, 5) == two.top_k(queries, 5) == one.exact_top_k(queries, 5)


def test_building_anew_gives_the_same_checksum(profile):
    assert build_index(profile).sha256 == open_index(profile).sha256


@pytest.mark.parametrize(
    "damage",
    ["chroma gone", "other metric", "other number", "other vectors", "other version", "nonsense"],
)
def test_a_store_that_does_not_match_is_written_again(profile, queries, damage, monkeypatch):
    index = open_index(profile)
    right, store = index.top_k(queries, 3), index.folder / "chroma"
    ids = list(index.chunks)
    if damage == "chroma gone":
        shutil.rmtree(store)
    elif damage == "other metric":
        _store_with(store, ids, index.vectors, "l2")
    elif damage == "other number":
        write_store(store, ids[:-1], index.vectors[:-1])
    elif damage == "other vectors":
        write_store(store, ids, index.vectors[::-1])
    elif damage == "other version":
        monkeypatch.setattr(vectorstore, "VERSION", "1")
        write_store(store, ids, index.vectors[::-1])
        monkeypatch.undo()
    else:
        (store / "chroma.sqlite3").write_text("nonsense", encoding="utf-8")
    assert open_index(profile).top_k(queries, 3) == right


def _store_with(store, ids, vectors, metric):
    import chromadb

    shutil.rmtree(store)
    client = chromadb.PersistentClient(str(store))
    collection = client.create_collection(
        "chunks", embedding_function=None, configuration={"hnsw": {"space": metric}}
    )
    collection.add(ids=ids, embeddings=vectors)
    client.close()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("meta.json", "{}", "made from other inputs"),
        ("chunks.jsonl", "", "0 chunks but"),
        ("vectors.npy", "x", "building the index again"),
    ],
)
def test_a_damaged_index_is_built_again_and_says_why(profile, capsys, name, content, reason):
    right = open_index(profile).sha256
    (profile.index_dir / name).write_text(content, encoding="utf-8")
    assert open_index(profile).sha256 == right
    assert reason in capsys.readouterr().err


def test_a_changed_vector_breaks_the_checksum_and_the_index_is_built_again(profile, capsys):
    index = open_index(profile)
    np.save(index.folder / "vectors.npy", index.vectors[::-1])
    assert open_index(profile).sha256 == index.sha256
    assert "its checksum does not hold" in capsys.readouterr().err


def test_a_changed_document_is_noticed(profile, capsys):
    before = open_index(profile)
    make_pdf(profile.root / "acme-FY23.pdf", [column("Acme restated its revenue to 4,498 crore.")])
    after = open_index(profile)
    assert "made from other inputs (documents)" in capsys.readouterr().err
    assert after.sha256 != before.sha256
    assert any("4,498" in chunk.text for chunk in after.chunks.values())


def test_a_killed_build_is_not_taken_for_an_index(profile):
    right = open_index(profile).sha256
    building = profile.index_dir.with_name(f"{profile.index_dir.name}.building")
    profile.index_dir.rename(building)
    (building / "meta.json").unlink()
    assert open_index(profile).sha256 == right
    assert not building.exists()


def test_a_second_process_is_told_at_once_that_the_index_is_in_use(built, queries):
    index = open_index(built)
    lock = built.index_dir.with_name(f"{built.index_dir.name}.lock")
    with lock.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for attempt in (lambda: index.top_k(queries, 1), lambda: build_index(built)):
            with pytest.raises(RgeError, match=r"in use by another process \(pid \d+\); wait"):
                attempt()
    assert len(index.top_k(queries, 1).ids) == len(QUERIES)


def test_the_lock_names_its_owner(tmp_path):
    with owned(tmp_path / "x"), pytest.raises(RgeError, match="in use"), owned(tmp_path / "x"):
        pass


def test_chroma_finds_what_comparing_all_finds(tmp_path):
    vectors, queries = unit_vectors(1500), unit_vectors(60, seed=6)
    ids = [f"c{i}" for i in range(len(vectors))]
    found = query_store(tmp_path / "chroma", ids, vectors, queries, 5)
    slow = [
        [ids[j] for j in sorted(range(len(ids)), key=lambda j, q=q: -float(q @ vectors[j]))[:5]]
        for q in queries
    ]
    assert found == slow


def test_more_chunks_than_there_are_cannot_be_asked_for(tmp_path):
    vectors = unit_vectors(3)
    (found,) = query_store(tmp_path / "chroma", ["a", "b", "c"], vectors, vectors[:1], 5)
    assert sorted(found) == ["a", "b", "c"] and found[0] == "a"


def test_equal_chunks_stand_in_corpus_order(tmp_path):
    vector = unit_vectors(1)
    index = Index(tmp_path, dict.fromkeys(("b", "a", "c")), np.repeat(vector, 3, axis=0), {})
    assert index.exact_top_k(vector, 2).ids == [["b", "a"]]


def test_the_checksum_depends_on_each_part_and_not_on_the_last_bits():
    vectors = np.round(unit_vectors(4), 5)
    own = index_sha256(["a", "b", "c", "d"], vectors, "m", "r")
    assert index_sha256(["a", "b", "c", "d"], vectors + np.float32(1e-7), "m", "r") == own
    others = [
        index_sha256(["a", "b", "d", "c"], vectors, "m", "r"),
        index_sha256(["a", "b", "c", "d"], vectors + np.float32(1e-4), "m", "r"),
        index_sha256(["a", "b", "c", "d"], vectors, "n", "r"),
        index_sha256(["a", "b", "c", "d"], vectors, "m", "s"),
        index_sha256(["a", "b", "c", "d"], vectors, "m", "r", metric="l2"),
    ]
    assert len({own, *others}) == 6


def test_the_folder_is_marked_with_everything_it_was_made_from(built):
    meta = json.loads((built.index_dir / "meta.json").read_text(encoding="utf-8"))
    assert set(meta["inputs"]["documents"]) == set(PAGES)
    assert meta["inputs"]["chunking"] == {"encoding": "cl100k_base", "size": 40, "overlap": 8}
    embedder = Embedder("all-MiniLM-L6-v2")
    assert (meta["model_id"], meta["revision"]) == (embedder.model_id, embedder.revision)
    assert meta["batch_size"] == meta["inputs"]["batch_size"] == embedder.batch_size == 32
    assert set(meta["made_with"]) >= {"chromadb", "torch", "sentence-transformers"}


def with_model(profile, folder):
    retrieval = profile.retrieval.model_copy(update={"embedder": str(folder)})
    return profile.model_copy(update={"retrieval": retrieval})


def test_an_index_with_another_model_is_built_by_its_path_and_opens_again(tmp_path):
    model = make_model(tmp_path / "models" / "tiny-m3")
    profile = with_model(small_profile(tmp_path / "corpus"), model)
    index = build_index(profile)
    assert index.vectors.shape == (len(index.chunks), DIMENSION)
    assert index.meta["model_id"].startswith("tiny-m3@") and index.meta["commit"] is None
    queries = Embedder(model).encode(QUERIES)
    before = index.top_k(queries, 5)
    again = open_index(profile)
    assert again.top_k(queries, 5) == before == again.exact_top_k(queries, 5)
    assert again.sha256 == index.sha256


def test_a_model_of_another_revision_means_another_index(tmp_path, capsys):
    model = make_model(tmp_path / "models" / "tiny-m3")
    profile = with_model(small_profile(tmp_path / "corpus"), model)
    before = open_index(profile)
    make_model(model, pooling="mean")
    after = open_index(profile)
    assert "made from other inputs (revision)" in capsys.readouterr().err
    assert after.meta["model_id"] == before.meta["model_id"] and after.sha256 != before.sha256


REOPEN = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from small_corpus import small_profile
from rge.retrieval.index import Embedder, open_index
index = open_index(small_profile(Path(sys.argv[1])))
found = index.top_k(Embedder("all-MiniLM-L6-v2").encode(json.loads(sys.argv[3])), 5)
print(json.dumps([index.sha256, found.ids, found.distances]))
"""


def reopened(profile):
    words = [str(profile.root), str(Path(__file__).parent), json.dumps(QUERIES)]
    return subprocess.run(
        [sys.executable, "-c", REOPEN, *words], capture_output=True, text=True, timeout=120
    )


def test_another_process_gets_the_same_top_five(profile, queries):
    index = open_index(profile)
    ids, distances = index.top_k(queries, 5)
    done = reopened(profile)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [index.sha256, ids, distances]


def test_another_process_is_refused_at_once_while_the_index_is_in_use(profile):
    open_index(profile)
    with owned(profile.index_dir):
        done = reopened(profile)
    assert done.returncode == 1
    assert f"in use by another process (pid {os.getpid()})" in done.stderr


def test_documents_that_are_missing_are_counted_and_the_first_is_named(profile):
    for name in ("acme-FY24.pdf", "zenith-FY24.pdf"):
        (profile.root / name).unlink()
    with pytest.raises(RgeError, match=r"2 of 3 documents cannot be used, the first: .*acme-FY24"):
        build_index(profile)


def test_a_broken_document_does_not_keep_the_others_from_being_read(profile):
    (profile.root / "acme-FY23.pdf").write_bytes(b"%PDF-1.4 broken")
    cache = profile.root / "_build" / "pages"
    shutil.rmtree(cache, ignore_errors=True)
    with pytest.raises(RgeError, match=r"acme-FY23\.pdf: not a readable PDF"):
        build_index(profile)
    assert len(list(cache.glob("*.jsonl"))) == len(PAGES) - 1


def test_a_document_with_another_number_of_pages_is_refused(profile):
    listed = profile.corpus.sources
    text = listed.read_text(encoding="utf-8").replace("fy: FY23", "fy: FY23\n  pages: 444")
    listed.write_text(text, encoding="utf-8")
    with pytest.raises(RgeError, match=r"acme-FY23\.pdf: has 2 pages; 444, as its entry"):
        build_index(profile)
