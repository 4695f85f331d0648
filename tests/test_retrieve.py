import pytest

from rge.errors import RgeError
from rge.questions import anchor
from rge.records import Chunk, GoldQuote, Question, Retrieval
from rge.retrieval import retrieve
from rge.retrieval.index import Embedder, Ranking, open_index
from rge.store import read_jsonl, write_jsonl
from small_corpus import small_profile


def question(question_id, text, *quotes, category="direct"):
    return Question(
        id=question_id,
        version=1,
        category=category,
        text=text,
        gold_answer="see the quote",
        gold_quotes=tuple(GoldQuote(quote=q, doc_id=d, page=p) for d, p, q in quotes),
        expected_behavior="answer" if quotes else "abstain",
        company="acme",
        fy="FY24",
        difficulty="easy",
    )


REVENUE = ("acme-FY24", 1, "revenue of 5,108 crore for FY24")
BEFORE = ("acme-FY23", 1, "revenue of 4,512 crore for FY23")
ASKED = [
    question("q1", "What was the revenue of Acme in FY24?", REVENUE),
    question("q2", "How did Acme's revenue change?", REVENUE, BEFORE, category="multihop"),
    question("q3", "How many aircraft does Zenith own?", category="ood"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    profile = small_profile(tmp_path_factory.mktemp("corpus"))
    return profile, open_index(profile)


@pytest.fixture
def study(built, tmp_path):
    """The built profile with results of its own, its index, and anchored questions."""
    profile, index = built
    own = profile.model_copy(update={"results_folder": tmp_path / "results"})
    return own, index, anchor(ASKED, list(index.chunks.values()), index.pages)


def test_frozen_passages_are_read_back_in_rank_order_without_the_index(study):
    profile, index, questions = study
    retrievals = retrieve.freeze(profile, questions, index)
    frozen = retrieve.load(profile)
    assert list(frozen.retrievals.values()) == retrievals
    for retrieval in retrievals:
        passages = frozen.passages(retrieval.question_id)
        assert [chunk.chunk_id for chunk in passages] == list(retrieval.chunk_ids)
        assert list(retrieval.distances) == sorted(retrieval.distances)
    assert frozen.index_sha256 == index.sha256


def test_gold_in_context_is_all_for_answered_and_none_for_unanswerable_questions(study):
    profile, index, questions = study
    found = {r.question_id: r.gold_in_context for r in retrieve.freeze(profile, questions, index)}
    assert found == {"q1": "all", "q2": "all", "q3": "none"}


def test_freezing_again_changes_no_byte(study):
    profile, index, questions = study
    first = retrieve.freeze(profile, questions, index)
    files = [profile.collection_dir / name for name in ("retrieval.jsonl", "passages.jsonl")]
    before = [path.read_bytes() for path in files]
    assert retrieve.freeze(profile, questions, index) == first
    assert [path.read_bytes() for path in files] == before


def test_last_bits_and_the_checksum_of_another_processor_keep_the_frozen_file(study):
    profile, index, questions = study
    path = profile.collection_dir / "retrieval.jsonl"
    stored = [
        r.model_copy(
            update={"distances": tuple(d + 5e-5 for d in r.distances), "index_sha256": "0" * 64}
        )
        for r in retrieve.freeze(profile, questions, index)
    ]
    write_jsonl(path, stored)
    assert retrieve.freeze(profile, questions, index) == stored
    assert read_jsonl(path, Retrieval) == stored


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("other words", r"retrieval\.jsonl: question q1 now retrieves other passages.*--fresh"),
        ("one more", r"retrieval\.jsonl: question q4 is not in it; give the profile a new run_id"),
        ("one less", r"question q3 is not in the question set any more"),
        ("moved", r"question q2 is now at other distances from its passages; equal within"),
    ],
)
def test_a_retrieval_that_differs_is_refused_and_names_the_question(study, change, message):
    profile, index, questions = study
    stored = retrieve.freeze(profile, questions, index)
    if change == "other words":
        questions[0] = questions[0].model_copy(update={"text": "Which dividend did Zenith pay?"})
    elif change == "one more":
        questions.append(questions[2].model_copy(update={"id": "q4"}))
    elif change == "one less":
        questions.pop()
    else:
        far = tuple(distance + 0.01 for distance in stored[1].distances)
        stored[1] = stored[1].model_copy(update={"distances": far})
        write_jsonl(profile.collection_dir / "retrieval.jsonl", stored)
    before = (profile.collection_dir / "retrieval.jsonl").read_bytes()
    with pytest.raises(RgeError, match=message):
        retrieve.freeze(profile, questions, index)
    assert (profile.collection_dir / "retrieval.jsonl").read_bytes() == before


def test_a_gold_chunk_of_another_index_is_refused(study):
    profile, index, questions = study
    questions[0] = questions[0].model_copy(update={"gold_source_ids": ("acme-FY24-00000000",)})
    with pytest.raises(RgeError, match="question q1: gold chunk acme-FY24-00000000 is not in the"):
        retrieve.freeze(profile, questions, index)


def test_a_store_that_is_not_exact_is_refused(built):
    _, index = built

    class Inexact:
        folder, exact_top_k = index.folder, index.exact_top_k

        def top_k(self, queries, k):
            found = index.exact_top_k(queries, k + 1)
            return Ranking([i[1:] for i in found.ids], [d[1:] for d in found.distances])

    with pytest.raises(RgeError, match="Chroma does not return the nearest chunks of 'revenue'"):
        retrieve.rank(Inexact(), Embedder("all-MiniLM-L6-v2"), ["revenue"], 2)


def test_missing_results_say_which_notebook_writes_them(study):
    profile, index, questions = study
    with pytest.raises(RgeError, match=r"retrieval\.jsonl: no such file"):
        retrieve.load(profile)
    retrieve.freeze(profile, questions, index)
    with pytest.raises(RgeError, match="question q9: has no frozen passages; run notebook 02"):
        retrieve.load(profile).passages("q9")
    write_jsonl(profile.collection_dir / "passages.jsonl", [])
    with pytest.raises(RgeError, match=r"passages\.jsonl: lacks .*, shown for q1"):
        retrieve.load(profile)


def chunk(chunk_id, text):
    return Chunk(
        chunk_id=chunk_id, company="a", fy="b", doc_id="d", page_start=1, page_end=1, heading="",
        text=text, n_tokens=1,
    )  # fmt: skip


CHUNKS = {c.chunk_id: c for c in [chunk("a", "x one y"), chunk("b", "y one z"), chunk("c", "two")]}


@pytest.mark.parametrize(
    ("shown", "found"),
    [("abc", "all"), ("bc", "all"), ("ac", "all"), ("ab", "some"), ("c", "some"), ("", "none")],
)
def test_one_of_two_overlapping_chunks_is_enough_for_a_quote(shown, found):
    gold = question("q", "?", ("d", 1, "one"), ("d", 1, "two"))
    gold = gold.model_copy(update={"gold_source_ids": ("a", "b", "c")})
    assert retrieve.gold_in_context(gold, list(shown), CHUNKS) == found


def test_gold_without_a_verbatim_quote_needs_every_gold_chunk():
    gold = question("q", "?", ("d", 1, "otherwise extracted"))
    gold = gold.model_copy(update={"gold_source_ids": ("a", "c")})
    assert retrieve.gold_in_context(gold, ["a"], CHUNKS) == "some"
    assert retrieve.gold_in_context(gold, ["c", "a"], CHUNKS) == "all"
