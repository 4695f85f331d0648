import numpy as np
import pytest
import yaml

from rge.collected import load_collected
from rge.errors import RgeError
from rge.profile import load_profile
from rge.records import Chunk
from rge.store import write_jsonl
from rge.tables import denominators, score_table
from synthetic import made_up_study

PASSAGE = Chunk(
    chunk_id="c1",
    company="firm0",
    fy="FY24",
    doc_id="firm0-FY24",
    page_start=1,
    page_end=1,
    heading="",
    text="Revenue was ₹10 crore.",
    n_tokens=6,
)


@pytest.fixture
def profile(tmp_path, monkeypatch):
    """A study on disk whose second subject has been neither judged nor run to its end."""
    made = made_up_study(np.random.default_rng(0), n_questions=8, subjects=("alpha", "beta"))
    reader = {"kind": "reader-lexical", "runs": 1, "deterministic": True}
    settings = {
        "name": "tiny",
        "run_id": "tiny-1",
        "seed": 1,
        "corpus": {"kind": "invented", "folder": "corpus"},
        "chunking": {"encoding": "cl100k_base", "size": 200, "overlap": 25},
        "retrieval": {"embedder": "all-MiniLM-L6-v2", "top_k": 1},
        "questions": "questions.jsonl",
        "subjects": [{"name": name, "family": name, **reader} for name in made.runs],
        "judges": [
            {"name": "first", "kind": "rules", "family": "rules"},
            {"name": "second", "kind": "semantic", "family": "semantic"},
        ],
        "analysis": {"n_resamples": 100, "confidence_level": 0.95},
        "results_folder": "results",
    }
    (tmp_path / "configs").mkdir()
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "configs" / "tiny.yaml"
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    loaded = load_profile("tiny")
    write_jsonl(loaded.questions, made.questions)
    write_jsonl(loaded.collection_dir / "retrieval.jsonl", made.retrievals)
    write_jsonl(loaded.collection_dir / "passages.jsonl", [PASSAGE])
    for subject in made.runs:
        mine = [r for r in made.responses if r.subject == subject]
        write_jsonl(loaded.responses_path(subject), mine if subject == "alpha" else mine[:3])
    for judge in ("first", "second"):
        mine = [j for j in made.judgements if (j.subject, j.judge) == ("alpha", judge)]
        write_jsonl(loaded.judgements_path("alpha", judge), mine)
    return loaded


def test_everything_of_a_profile_is_read_and_what_is_missing_shows_as_missing(profile):
    study = load_collected(profile)
    assert len(study.responses) == 11
    assert study.passages["q000"] == [PASSAGE]
    table = score_table(
        study.questions, study.responses, study.judgements, study.retrievals, runs=study.runs
    )
    counts = denominators(table).set_index("subject")
    assert counts.loc["alpha", "n_scored"] == 8
    assert (counts.loc["beta", "n_unscored"], counts.loc["beta", "n_missing"]) == (3, 5)


def test_a_question_without_frozen_passages_is_an_error(profile):
    path = profile.collection_dir / "retrieval.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]), encoding="utf-8")
    with pytest.raises(RgeError, match="question q000: has no frozen passages"):
        load_collected(profile)
