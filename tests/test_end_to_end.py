"""The study as a user runs it: commands, kernels and files, nothing replaced."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rge.profile import find_root, load_profile
from rge.records import CATEGORIES, DIMENSIONS, Judgement, Response
from rge.store import read_jsonl

pytestmark = pytest.mark.slow

ROOT = find_root(Path(__file__).parent)
SHARED = Path(os.environ.get("RGE_SHARED", ROOT.parent / "shared"))
SLICE = ("ULTABEAUTY_2023Q4_EARNINGS", "MGMRESORTS_2022Q4_EARNINGS", "AMCOR_2023Q4_EARNINGS")


def rge(*words):
    command = [sys.executable, "-m", "rge", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def responses_of(profile):
    return {
        spec.name: read_jsonl(profile.responses_path(spec.name), Response, lambda r: r.key)
        for spec in profile.subjects
    }


def check_every_planned_record_is_there(profile, n_questions):
    for spec in profile.subjects:
        responses = read_jsonl(profile.responses_path(spec.name), Response, lambda r: r.key)
        assert len(responses) == n_questions * spec.runs
        for judge in profile.judges:
            path = profile.judgements_path(spec.name, judge.name)
            judgements = read_jsonl(path, Judgement, lambda j: j.key)
            assert {j.key[:3] for j in judgements} == {r.key for r in responses}


@pytest.fixture(scope="module")
def smoke():
    shutil.rmtree(ROOT / "_build/smoke", ignore_errors=True)
    done = rge("eval", "run", "--config", "smoke")
    assert done.returncode == 0, done.stderr[-2000:]
    return load_profile("smoke")


def test_the_smoke_profile_ends_with_every_planned_record(smoke):
    check_every_planned_record_is_there(smoke, n_questions=8)
    counts = json.loads((smoke.results_dir / "questions.json").read_text("utf-8"))["values"]
    assert [counts[f"n_{name}"] for name in CATEGORIES] == [2, 2, 2, 2]


def test_a_deterministic_subject_says_the_same_twice(smoke):
    texts = {}
    for response in responses_of(smoke)["reader-lexical"]:
        texts.setdefault(response.question_id, []).append(response.text)
    assert all(len(runs) == 2 and len(set(runs)) == 1 for runs in texts.values())


def test_every_quoted_claim_and_every_evidence_is_verbatim(smoke):
    from rge.questions import study_questions
    from rge.retrieval import retrieve

    frozen = retrieve.load(smoke)
    questions = {question.id: question for question in study_questions(smoke)}
    n_claims = 0
    for subject, responses in responses_of(smoke).items():
        texts = {response.key: response.text for response in responses}
        for judge in smoke.judges:
            for judgement in read_jsonl(smoke.judgements_path(subject, judge.name), Judgement):
                shown = [chunk.text for chunk in frozen.passages(judgement.question_id)]
                question = questions[judgement.question_id]
                gold = [question.gold_answer, *(quote.quote for quote in question.gold_quotes)]
                sources = "\n".join([*shown, *gold, texts[judgement.key[:3]]])
                for claim in (*judgement.unsupported_claims, *judgement.contradictions):
                    n_claims += 1
                    assert claim in texts[judgement.key[:3]]
                for name in DIMENSIONS:
                    dimension = getattr(judgement, name)
                    assert dimension is None or dimension.evidence in sources
    assert n_claims > 0


def test_a_rerun_finds_nothing_to_do(smoke):
    before = responses_of(smoke)
    done = rge("eval", "run", "--config", "smoke")
    assert done.stderr.count("nothing changed") == 8
    assert responses_of(smoke) == before


def test_a_rerun_that_must_look_again_asks_and_judges_nothing_twice(smoke):
    (smoke.build_dir / "stamp.json").unlink()
    raw = {p.name: p.read_bytes() for p in smoke.raw_dir.glob("*.jsonl")}
    done = rge("eval", "run", "--config", "smoke", "--from", "3", "--to", "4")
    assert done.returncode == 0, done.stderr[-2000:]
    assert {p.name: p.read_bytes() for p in smoke.raw_dir.glob("*.jsonl")} == raw


def test_the_smoke_paper_is_its_own_copy(smoke):
    committed = (ROOT / "_variables.yml").read_bytes()
    done = rge("paper", "--config", "smoke")
    assert done.returncode == 0, done.stderr
    html = (smoke.build_dir / "paper/index.html").read_text(encoding="utf-8")
    assert "smoke-1" in html
    assert (smoke.build_dir / "paper/rge-paper.pdf").read_bytes().startswith(b"%PDF")
    assert (ROOT / "_variables.yml").read_bytes() == committed


@pytest.mark.parametrize("folder", [".", "notebooks"])
def test_papermill_by_hand_takes_a_parameter_and_leaves_the_study_alone(tmp_path, folder):
    profile = load_profile()
    before = {p: p.read_bytes() for p in profile.results_dir.iterdir()}
    notebook = ROOT / "notebooks/06_statistics.ipynb"
    command = [sys.executable, "-m", "papermill", str(notebook), str(tmp_path / "out.ipynb")]
    command += ["-p", "n_resamples", "2000"]
    done = subprocess.run(command, cwd=ROOT / folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert {p: p.read_bytes() for p in profile.results_dir.iterdir()} == before
    own = load_profile(n_resamples=2000).results_dir / "estimates.json"
    assert json.loads(own.read_text(encoding="utf-8"))["estimates"]


def test_a_corrupt_document_stops_the_run_with_one_line(tmp_path):
    data = yaml.safe_load((ROOT / "configs/smoke.yaml").read_text(encoding="utf-8"))
    folder = tmp_path / "corpus"
    shutil.copytree(ROOT / "data/corpus/invented", folder)
    victim = sorted(folder.glob("*.pdf"))[0]
    victim.write_bytes(victim.read_bytes()[:1000])
    data |= {"name": "corrupt", "run_id": "corrupt-1", "results_folder": str(tmp_path / "results")}
    data["corpus"] |= {"folder": str(folder), "sources": str(folder / "sources.yaml")}
    config = tmp_path / "corrupt.yaml"
    config.write_text(yaml.safe_dump(data), encoding="utf-8")
    done = rge("eval", "run", "--config", str(config))
    shutil.rmtree(ROOT / "_build/corrupt", ignore_errors=True)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("rge: 01_corpus.ipynb, cell ")
    assert victim.name in last


@pytest.mark.skipif(
    not (SHARED / "financebench").is_dir(), reason="no FinanceBench data beside the repository"
)
def test_the_same_notebooks_run_on_real_filings(tmp_path):
    data = yaml.safe_load((ROOT / "configs/financebench.yaml").read_text(encoding="utf-8"))
    data |= {"name": "filings", "run_id": "filings-1", "limit_questions": 6}
    data["results_folder"] = "_build/filings/results"
    data["corpus"] |= {"folder": str(SHARED / "financebench"), "documents": list(SLICE)}
    config = tmp_path / "filings.yaml"
    config.write_text(yaml.safe_dump(data), encoding="utf-8")
    shutil.rmtree(ROOT / "_build/filings", ignore_errors=True)
    done = rge("eval", "run", "--config", str(config), "--to", "6")
    assert done.returncode == 0, done.stderr[-2000:]
    profile = load_profile(config)
    check_every_planned_record_is_there(profile, n_questions=6)
    corpus = json.loads((profile.results_dir / "corpus.json").read_text("utf-8"))["values"]
    assert corpus["n_documents"] == len(SLICE)
