"""Kills runs with signal 9 at random points, lets them finish, and counts what became of the money.

    python tests/kill_points.py --n 200

A synchronous reply that is on its way when the process dies is paid for and lost: no provider
takes a request back or answers it twice for one price. It is counted as such and booked at its
worst case. In batches nothing may be lost.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loopback import Loopback
from loopback.study import ASKED, KEY, ask, requests, study, subject
from rge.providers.hosted import ledger_of, prices_of
from rge.providers.ledger import Accounts
from rge.providers.prices import Tokens

N, ROWS, AT_ONCE = 12, 4, 4


@dataclass
class Point:
    """What one kill did.

    Attributes
    ----------
    killed
        Whether the process was still at work.
    lost
        Replies that were stored and are gone, or never came.
    in_flight
        Requests answered and billed a second time because the first reply was never stored.
    received
        Those of them whose reply the process held when it died, within the moment before it was
        on the disk.
    twice
        Requests billed twice although their reply was stored, or more often than processes died.
    off_by
        Nano-dollars by which the ledger differs from stored costs and the worst case of every
        request that was under way.
    below
        Nano-dollars by which the ledger understates what the server billed.
    """

    killed: bool
    lost: int
    in_flight: int
    received: int
    twice: int
    off_by: int
    below: int


def work(folder: str, url: str, provider: str, batch: bool) -> None:
    """The process that is killed: notes every reply the moment it has it."""
    from rge.providers.caller import Caller

    trace = os.open(f"{folder}/received", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    in_turn = Caller._in_turn

    def noted(*given: Any) -> Any:
        body = in_turn(*given)
        os.write(trace, b"x")
        return body

    Caller._in_turn = noted  # type: ignore[method-assign]
    ask(_profile(folder, url, provider, batch), requests(N))


def _profile(folder: str, url: str, provider: str, batch: bool) -> Any:
    options = {"batch": batch, "batch_rows": ROWS, "concurrency": AT_ONCE}
    return study(Path(folder), subject(provider, url, **options))


def kill_once(provider: str, *, batch: bool, folder: Path, rng: np.random.Generator) -> Point:
    """Kill a run of 12 requests at a random call of the server or shortly after; let it finish."""
    server = Loopback(lambda system, user, has_schema: f"answer to {user}")
    server.latency_s = 0.004
    processes = multiprocessing.get_context("forkserver")
    wanted = (str(folder), server.url, provider, batch)
    profile = _profile(*wanted)
    first = processes.Process(target=work, args=wanted)
    first.start()
    # About as many calls as a run takes.
    most = 13 if not batch else 12 if provider == "anthropic" else 16
    n_calls = int(rng.integers(0, most))
    deadline = time.monotonic() + 20
    while len(server.calls) < n_calls and first.is_alive() and time.monotonic() < deadline:
        time.sleep(0.0005)
    time.sleep(float(rng.uniform(0, 0.03)))
    killed = first.is_alive()
    first.kill()
    first.join()
    # What was on the wire arrives at the server all the same.
    time.sleep(0.03)
    kept, open_ = _stored(folder), _accounts(profile).open
    answers = ask(profile, requests(N))
    server.close()
    return _point(profile, server, killed, kept, open_, answers)


def _point(
    profile: Any, server: Loopback, killed: bool, kept: Any, open_: Any, answers: Any
) -> Point:
    stored, accounts = _stored(profile.root), _accounts(profile)
    expected = sum(reply["cost_nano"] for reply in stored.values())
    cut = [
        entry.nano
        for name, entry in open_.items()
        if entry.mode == "sync" and name.rpartition("-")[0] not in kept
    ]
    again = {user: n - 1 for (_, _, user), n in _by_user(server).items() if n > 1}
    keys = {f"question {reply['key'][1:]}" for reply in kept.values()}
    wrong = {user for user, n in again.items() if user in keys or n > 1}
    lost = [one for one in kept if one not in stored]
    lost += [f"q{n}" for n in range(N) if answers[f"q{n}"].text != f"answer to question {n}"]
    received = (profile.root / "received").stat().st_size if cut else len(kept)
    return Point(
        killed=killed,
        lost=len(lost),
        in_flight=len(again) - len(wrong),
        received=min(max(received - len(kept), 0), len(again)),
        twice=len(wrong),
        off_by=accounts.spent - expected - sum(cut) + accounts.reserved,
        below=max(0, _billed(profile, server) - accounts.spent),
    )


def _by_user(server: Loopback) -> Counter[tuple[str, str, str]]:
    counts: Counter[tuple[str, str, str]] = Counter()
    for (provider, _, user), n in server.billed.items():
        counts[provider, "", user] += n
    return counts


def _billed(profile: Any, server: Loopback) -> int:
    """What the server would put on the bill, by the rule it counts tokens by."""
    total = 0
    for (provider, mode, user), n in server.billed.items():
        tokens = Tokens((len("system") + len(user)) // 4, len(f"answer to {user}") // 4)
        price = prices_of(profile).of(ASKED[provider])
        total += n * price.cost(tokens, batch=mode == "batch")
    return total


def _stored(folder: Path) -> dict[str, Any]:
    path = folder / "data" / "results" / "owner.replies.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    return {line["request_id"]: line for line in lines}


def _accounts(profile: Any) -> Accounts:
    return ledger_of(profile).read()


def points(n: int, *, batch: bool, rng: np.random.Generator) -> list[Point]:
    """`n` kills, over the three providers in turn."""
    os.environ[KEY] = "sk-planted"
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(
        ["kill_points", "anthropic", "openai", "google.genai", "rge.providers.deadline"]
    )
    found = []
    for number in range(n):
        provider = list(ASKED)[number % 3]
        with tempfile.TemporaryDirectory() as folder:
            found.append(kill_once(provider, batch=batch, folder=Path(folder), rng=rng))
    return found


def summary(found: list[Point]) -> str:
    """The figures in a line."""
    return (
        f"{len(found)} points, {sum(p.killed for p in found)} while at work: "
        f"{sum(p.lost for p in found)} replies lost, {sum(p.twice for p in found)} paid twice, "
        f"{sum(p.in_flight for p in found)} under way when the process died "
        f"({sum(p.received for p in found)} of them received and not yet stored), "
        f"ledger off at {sum(p.off_by != 0 for p in found)} points, "
        f"below the bill at {sum(p.below > 0 for p in found)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for batch in (True, False):
        found = points(given.n, batch=batch, rng=np.random.default_rng(given.seed))
        print("batch      " if batch else "synchronous", summary(found), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "lib"))
    main()
