"""The published study on 24 questions, all of it, against the loopback server."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from loopback import Loopback
from loopback.study import PRICES
from rge.collect import Counts, collect_all
from rge.judging.run import judge_all
from rge.profile import Profile
from rge.providers.hosted import ledger_of
from rge.records import Chunk, Judgement, Question, Response, Retrieval
from rge.retrieval.retrieve import Frozen
from rge.store import read_jsonl

CONFIG = Path(__file__).parents[1] / "configs" / "published.yaml"
N = 24
SUBJECTS = ("claude-sonnet-4.6", "gpt-5.4", "gemini-3.1-pro")
# Every answer takes 2,000 tokens and gives 50, every verdict takes 3,000 and gives 200. A subject
# answers 24 · 3 = 72 times, a judge of the two other families judges 2 · 72 = 144 times.
#   claude 72 · (2000·1500 + 50·7500) = 243,000,000   144 · (3000·1500 + 200·7500) = 864,000,000
#   gpt    72 · (2000·1250 + 50·7500) = 207,000,000   144 · (3000·1250 + 200·7500) = 756,000,000
#   gemini 72 · (2000·1000 + 50·6000) = 165,600,000   144 · (3000·1000 + 200·6000) = 604,800,000
BATCH = {
    "published-1/claude-sonnet-4-6/batch": 1_107_000_000,
    "published-1/gpt-5.4/batch": 963_000_000,
    "published-1/gemini-3.1-pro-preview/batch": 770_400_000,
}
# Without batches every rate is twice as high.
SYNC = {
    "published-1/claude-sonnet-4-6/sync": 2_214_000_000,
    "published-1/gpt-5.4/sync": 1_926_000_000,
    "published-1/gemini-3.1-pro-preview/sync": 1_540_800_000,
}


def answer(system: str, user: str, has_schema: bool) -> str:
    """An answer, or a verdict whose evidence stands where it should."""
    if not has_schema:
        return "Revenue was 9 crore. [acme-FY24-00000000]"
    gold = re.findall("<gold_answer>(.*?)</gold_answer>", user)[0]
    verdict: dict[str, Any] = {}
    evidence = {
        "correctness": gold,
        "grounding": "Revenue was",
        "calibration": "9 crore",
        "faithfulness": "9 crore",
    }
    for dimension, quote in evidence.items():
        verdict[f"{dimension}_evidence"] = quote
        verdict[f"{dimension}_rationale"] = "as quoted"
        verdict[f"{dimension}_score"] = 2
    return json.dumps({**verdict, "unsupported_claims": [], "contradictions": []})


def count(system: str, user: str, text: str) -> tuple[int, int]:
    return (3000, 200) if "<gold_answer>" in user else (2000, 50)


def questions() -> list[Question]:
    return [
        Question(
            id=f"q{number}",
            version=1,
            category="direct",
            text=f"What was revenue of company {number}?",
            gold_answer=f"{number} crore",
            expected_behavior="answer",
            company="acme",
            fy="FY24",
            difficulty="easy",
        )
        for number in range(N)
    ]


def frozen() -> Frozen:
    chunk = Chunk(
        chunk_id="acme-FY24-00000000",
        company="acme",
        fy="FY24",
        doc_id="acme-FY24",
        page_start=1,
        page_end=1,
        heading="",
        text="Revenue was 9 crore.",
        n_tokens=9,
    )
    retrievals = {
        f"q{number}": Retrieval(
            question_id=f"q{number}",
            chunk_ids=(chunk.chunk_id,),
            distances=(0.1,),
            index_sha256="0" * 64,
            gold_in_context="all",
        )
        for number in range(N)
    }
    return Frozen(retrievals, {chunk.chunk_id: chunk})


def published(folder: Path, url: str, **options: Any) -> Profile:
    """The committed profile with its models at the loopback server."""
    data = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    for model in (*data["subjects"], *data["judges"]):
        base_url = f"{url}/v1" if model["kind"] == "openai" else url
        model["options"] |= {"base_url": base_url, "poll_s": 0.02, **options}
    (folder / "configs").mkdir()
    shutil.copy(PRICES, folder / "configs" / "prices.yaml")
    data["results_folder"] = folder / "data" / "results"
    return Profile(**data, root=folder, source=CONFIG)


@pytest.mark.parametrize(
    ("batch", "expected"), [(True, BATCH), (False, SYNC)], ids=["batch", "synchronous"]
)
def test_the_whole_study_runs_and_its_ledger_is_the_one_worked_out_by_hand(
    tmp_path: Path, monkeypatch, batch: bool, expected: dict[str, int]
):
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-planted")
    server = Loopback(answer)
    server.count = count
    profile = published(tmp_path, server.url, batch=batch, concurrency=8)

    collected = collect_all(profile, questions(), frozen())
    assert collected == dict.fromkeys(SUBJECTS, Counts(72, 0, 0))
    judged = judge_all(profile, questions(), frozen())
    pairs = {(subject, judge) for subject in SUBJECTS for judge in SUBJECTS if subject != judge}
    assert judged == dict.fromkeys(pairs, Counts(72, 0, 0))

    accounts = ledger_of(profile).read()
    assert {key: entry.nano for key, entry in accounts.booked.items()} == expected
    assert accounts.open == {}
    assert sum(server.billed.values()) == 3 * 72 + 6 * 72

    responses = [r for s in SUBJECTS for r in read_jsonl(profile.responses_path(s), Response)]
    verdicts = [j for p in pairs for j in read_jsonl(profile.judgements_path(*p), Judgement)]
    dollars = sum(record.cost_usd for record in (*responses, *verdicts))
    assert dollars == pytest.approx(sum(expected.values()) / 1e9)
    assert {response.status for response in responses} == {"ok"}
    assert {verdict.status for verdict in verdicts} == {"scored"}
    assert all(verdict.grounding is not None for verdict in verdicts)

    n_calls = len(server.calls)
    assert collect_all(profile, questions(), frozen()) == dict.fromkeys(SUBJECTS, Counts(0, 72, 0))
    assert judge_all(profile, questions(), frozen()) == dict.fromkeys(pairs, Counts(0, 72, 0))
    assert len(server.calls) == n_calls
    assert ledger_of(profile).read() == accounts
    server.close()


def test_what_is_sent_is_recorded_with_every_response(tmp_path: Path, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-planted")
    server = Loopback(answer)
    profile = published(tmp_path, server.url)
    collect_all(profile, questions()[:2], frozen())
    server.close()
    claude, gpt, gemini = (
        read_jsonl(profile.responses_path(subject), Response)[0].params for subject in SUBJECTS
    )
    assert (claude["temperature"], claude["thinking"], claude["api_version"]) == (
        *(0, "disabled", "2023-06-01"),
    )
    assert (gpt["temperature"], gpt["effort"], gpt["seed"]) == (0, "none", 20240331)
    assert (gemini["temperature"], gemini["thinking_level"]) == (0, "low")
    assert {params["mode"] for params in (claude, gpt, gemini)} == {"batch"}
