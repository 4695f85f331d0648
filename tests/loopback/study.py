"""A small study against the loopback server, also as a process of its own that can be killed.

`python -m loopback.study '{"folder": …, "url": …, "provider": …, "batch": …, "n": …}'` asks the
questions and prints what it took.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rge.profile import Profile
from rge.providers.batches import BatchRun
from rge.providers.caller import Caller
from rge.providers.hosted import ledger_of, open_service, prices_of, replies, with_more_room
from rge.providers.journal import Journal
from rge.providers.options import HostedOptions
from rge.providers.prices import NANO
from rge.providers.replies import ReplyLog
from rge.providers.request import Request
from rge.providers.retries import RetryPolicy
from rge.specs import AnalysisSpec, ChunkingSpec, CorpusSpec, RetrievalSpec, SubjectSpec
from rge.subjects import Reply
from rge.subjects.reply import read_options

PRICES = Path(__file__).parents[2] / "configs" / "prices.yaml"
KEY = "LOOPBACK_KEY"
QUICK = RetryPolicy(base_s=0.001, longest_s=0.01, longest_retry_after_s=1.0)
ASKED = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-5.4",
    "google": "gemini-3.1-pro-preview",
}


def subject(provider: str, url: str, **options: Any) -> SubjectSpec:
    """A subject behind the loopback server; polls and waits are short."""
    base_url = f"{url}/v1" if provider == "openai" else url
    given = {
        "model": ASKED[provider],
        "key": KEY,
        "base_url": base_url,
        "max_tokens": 100,
        "poll_s": 0.01,
        **options,
    }
    return SubjectSpec(name=provider, kind=provider, family=provider, runs=1, options=given)


def study(folder: Path, spec: SubjectSpec, **fields: Any) -> Profile:
    """A profile of one subject whose repository is `folder`."""
    (folder / "configs").mkdir(parents=True, exist_ok=True)
    shutil.copy(PRICES, folder / "configs" / "prices.yaml")
    return Profile(
        name="loopback",
        run_id="r1",
        seed=1,
        corpus=CorpusSpec(kind="invented", folder=folder),
        chunking=ChunkingSpec(encoding="cl100k_base", size=800, overlap=100),
        retrieval=RetrievalSpec(embedder="none", top_k=5),
        subjects=(spec,),
        judges=(),
        analysis=AnalysisSpec(n_resamples=100, confidence_level=0.95),
        results_folder=folder / "data" / "results",
        root=folder,
        source=folder,
        **fields,
    )


def requests(n: int, user: str = "question {}", max_tokens: int = 100) -> dict[str, Request]:
    """`n` requests by key."""
    return {f"q{i}": Request("system", user.format(i), max_tokens) for i in range(n)}


@contextmanager
def calling(
    profile: Profile, owner: str = "owner", policy: RetryPolicy = QUICK, cap: int = 100 * NANO
) -> Iterator[Caller]:
    """A caller as the library makes it, but with short waits and a cap of its own."""
    spec = profile.subjects[0]
    with ReplyLog(profile.raw_dir / f"{owner}.replies.jsonl") as log:
        caller = Caller(
            open_service(spec, seed=profile.seed),
            owner=owner,
            run_id=profile.run_id,
            prices=prices_of(profile),
            ledger=replace(ledger_of(profile), cap=cap),
            log=log,
            concurrency=read_options(HostedOptions, spec).concurrency,
            rng=np.random.default_rng(1),
            policy=policy,
        )
        with closing(caller):
            yield caller


@contextmanager
def batching(caller: Caller, profile: Profile, rows: int = 300) -> Iterator[BatchRun]:
    """Batches of a caller, polled all the time."""
    with Journal(profile.raw_dir / f"{caller.owner}.batches.jsonl") as journal:
        yield BatchRun(caller, journal, rows=rows, poll_s=0.01)


def ask(profile: Profile, asked: dict[str, Request], owner: str = "owner") -> dict[str, Reply]:
    """All replies, by key."""
    return dict(replies(profile, profile.subjects[0], owner, asked, with_more_room))


def main() -> None:
    wanted = json.loads(sys.argv[1])
    spec = subject(
        wanted["provider"], wanted["url"], batch=wanted["batch"], **wanted.get("options", {})
    )
    profile = study(Path(wanted["folder"]), spec)
    asked = requests(wanted["n"], "question {} " + "words of a passage " * wanted.get("length", 0))
    if wanted.get("warm"):
        ask(profile, requests(1, "warm"), "warm")
    wall, cpu = time.perf_counter(), time.process_time()
    answers = ask(profile, asked)
    print(
        json.dumps(
            {
                "n": len(answers),
                "wall_s": time.perf_counter() - wall,
                "cpu_s": time.process_time() - cpu,
                "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


if __name__ == "__main__":
    main()
