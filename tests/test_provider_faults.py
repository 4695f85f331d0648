"""What goes wrong with single calls, against a server that does it on order."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopback import Fault, Loopback
from loopback.study import ASKED, KEY, QUICK, ask, calling, requests, study, subject
from rge.errors import RgeError
from rge.providers.caller import Caller
from rge.providers.hosted import with_more_room
from rge.providers.ledger import OverBudget
from rge.providers.request import Failure, Request
from rge.providers.retries import Gate, RetryPolicy, Stopped
from rge.subjects import Reply

# "system" + "question 0": (6 + 10) // 4 = 4 tokens of prompt; "answer": 6 // 4 = 1 token.
COST = {"anthropic": 4 * 3000 + 15_000, "openai": 4 * 2500 + 15_000, "google": 4 * 2000 + 12_000}
# 15 letters and spaces and one digit: 15 // 2 + 1 + 64 = 72 tokens at most, and 100 of output.
WORST = {
    "anthropic": 72 * 3750 + 100 * 15_000,
    "openai": 72 * 2500 + 100 * 15_000,
    "google": 72 * 2000 + 100 * 12_000,
}
ONE = Request("system", "question 0", 100)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "sk-planted")


@pytest.fixture
def server() -> Any:
    server = Loopback(lambda system, user, has_schema: "answer")
    yield server
    server.close()


def asked_once(
    server: Loopback, folder: Path, provider: str, policy: RetryPolicy = QUICK, **options: Any
) -> tuple[Reply, dict[str, Any]]:
    """A reply, and what the ledger then says."""
    profile = study(folder, subject(provider, server.url, batch=False, **options))
    with calling(profile, policy=policy) as caller:
        reply = caller.ask("q0", ONE, with_more_room)
    accounts = caller.ledger.read()
    assert accounts.open == {}
    (booked,) = accounts.booked.values()
    return reply, booked.model_dump()


UNBILLED = {
    "429": [Fault(429, {"error": {"message": "slow down"}})],
    "429 with Retry-After": [Fault(429, {"error": {}}, {"retry-after": "0"})],
    "529 three times": [Fault(529, {"error": {"type": "overloaded_error"}})] * 3,
    "500": [Fault(500, {"error": {"message": "oops"}})],
    "502 in HTML": [Fault(502, b"<html>Bad gateway</html>")],  # type: ignore[arg-type]
    "503 without a body": [Fault(503, b"")],  # type: ignore[arg-type]
    "a list for an error": [Fault(500, [1])],  # type: ignore[arg-type]
}
PERHAPS_BILLED = {
    "504": [Fault(504, {"error": {"message": "gateway"}})],
    "cut before the work": [Fault(drop=True)],
    "cut after the work": [Fault(drop=True, late=True)],
    "no reply in time": [Fault(delay_s=1.0)],
    "a byte now and then": [Fault(drip_s=0.1)],
    "half a reply": [Fault(body=b'{"type": "message", "content": [{"ty')],
    "a page for a reply": [Fault(body=b"<html></html>")],
    "a list for a reply": [Fault(body=b"[1, 2]")],
    "an empty reply": [Fault(body=b"")],
    "another reply": [Fault(body=b'{"ok": true}')],
}


@pytest.mark.parametrize("provider", ASKED)
@pytest.mark.parametrize("name", UNBILLED)
def test_a_refused_call_is_sent_again_and_costs_nothing(
    server: Loopback, tmp_path: Path, provider: str, name: str
):
    server.faults[f"{provider}:send"].extend(UNBILLED[name])
    reply, booked = asked_once(server, tmp_path, provider)
    assert (reply.status, reply.text) == ("ok", "answer")
    n_failed = len(UNBILLED[name])
    assert booked == {"nano": COST[provider], "n_settled": n_failed + 1, "n_unbilled": n_failed}
    assert len(server.calls) == n_failed + 1


@pytest.mark.parametrize("provider", ASKED)
@pytest.mark.parametrize("name", PERHAPS_BILLED)
def test_a_call_that_may_be_billed_is_booked_at_its_worst(
    server: Loopback, tmp_path: Path, provider: str, name: str
):
    server.faults[f"{provider}:send"].extend(PERHAPS_BILLED[name])
    options = {"timeout_s": 0.4} if name in ("no reply in time", "a byte now and then") else {}
    reply, booked = asked_once(server, tmp_path, provider, **options)
    assert (reply.status, reply.text) == ("ok", "answer")
    assert booked == {"nano": COST[provider] + WORST[provider], "n_settled": 2, "n_unbilled": 0}


def test_the_wait_that_the_provider_asks_for_is_kept(server: Loopback, tmp_path: Path):
    server.faults["openai:send"].append(Fault(429, {"error": {}}, {"retry-after-ms": "300"}))
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.3s"}
    server.faults["google:send"].append(Fault(429, {"error": {"details": [info]}}))
    for provider in ("openai", "google"):
        asked_once(server, tmp_path / provider, provider)
        first, second = (call.at for call in server.calls[-2:])
        assert 0.3 <= second - first < 1.0


@pytest.mark.parametrize("provider", ASKED)
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault(429, {"error": {"message": "later"}}, {"retry-after": "3600"}), "HTTP 429"),
        (Fault(401, {"error": {"message": "bad key sk-planted"}}), "HTTP 401"),
        (Fault(402, {"error": {"message": "pay"}}), "HTTP 402"),
        (Fault(404, {"error": {"message": "no model"}}), "HTTP 404"),
        (
            Fault(429, {"error": {"message": "Quota exceeded, limit: 0", "code": 429}}),
            "limit: 0",
        ),
        (Fault(429, {"error": {"message": "x", "code": "insufficient_quota"}}), "HTTP 429"),
    ],
    ids=["long wait", "key", "payment", "model", "no quota", "spent quota"],
)
def test_what_would_fail_every_call_ends_the_run(
    server: Loopback, tmp_path: Path, provider: str, fault: Fault, says: str
):
    if provider == "google" and fault.error["error"].get("code") == "insufficient_quota":
        pytest.skip("a word of OpenAI and Anthropic")
    server.faults[f"{provider}:send"].append(fault)
    with pytest.raises(RgeError, match=f"{provider}: .*{says}") as caught:
        asked_once(server, tmp_path, provider)
    assert "sk-planted" not in str(caught.value)
    assert len(server.calls) == 1


def test_a_limit_that_begins_with_zero_is_no_spent_quota(server: Loopback, tmp_path: Path):
    server.faults["google:send"].append(Fault(429, {"error": {"message": "limit: 0.5, wait"}}))
    assert asked_once(server, tmp_path, "google")[0].status == "ok"


@pytest.mark.parametrize("provider", ASKED)
def test_a_request_that_is_refused_as_it_stands_is_a_record(
    server: Loopback, tmp_path: Path, provider: str
):
    server.faults[f"{provider}:send"].append(Fault(400, {"error": {"message": "too odd"}}))
    reply, booked = asked_once(server, tmp_path, provider)
    assert (reply.status, reply.text) == ("error", "")
    assert "too odd" in reply.stop_reason
    assert booked == {"nano": 0, "n_settled": 1, "n_unbilled": 1}


def test_a_storm_ends_the_run_and_leaves_no_record(server: Loopback, tmp_path: Path):
    server.faults["anthropic:send"].extend([Fault(529, {"error": {}})] * 50)
    profile = study(tmp_path, subject("anthropic", server.url, batch=False))
    with calling(profile) as caller, pytest.raises(RgeError, match="HTTP 529"):
        caller.ask("q0", ONE, with_more_room)
    assert len(server.calls) == QUICK.n_attempts
    assert caller.ledger.read().spent == 0


def test_a_request_that_breaks_the_server_every_time_is_a_record_but_not_three(
    server: Loopback, tmp_path: Path
):
    server.faults["openai:send"].extend([Fault(500, {"error": {"message": "oops"}})] * 50)
    profile = study(tmp_path, subject("openai", server.url, batch=False))
    with calling(profile) as caller:
        replies = [caller.ask(f"q{n}", ONE, with_more_room) for n in range(2)]
        with pytest.raises(RgeError, match="HTTP 500"):
            caller.ask("q2", ONE, with_more_room)
    assert [reply.status for reply in replies] == ["error", "error"]


@pytest.mark.parametrize("provider", ASKED)
def test_an_answer_that_is_cut_off_is_asked_for_again_with_twice_the_room(
    tmp_path: Path, provider: str
):
    server = Loopback(lambda *_: "word " * 120)  # 150 tokens
    reply, booked = asked_once(server, tmp_path, provider)
    server.close()
    assert (reply.status, len(reply.text)) == ("ok", 599)
    assert (reply.params["max_tokens"], reply.params["retry_max_tokens"]) == (100, 200)
    price = {"anthropic": (3000, 15_000), "openai": (2500, 15_000), "google": (2000, 12_000)}
    into, out = price[provider]
    assert booked["nano"] == (4 * into + 100 * out) + (4 * into + 150 * out)
    assert (reply.usage.input, reply.usage.output) == (8, 250)
    assert reply.cost_usd == pytest.approx(booked["nano"] / 1e9)


def test_an_answer_cut_off_twice_is_truncated(tmp_path: Path):
    server = Loopback(lambda *_: "word " * 200)
    reply, _ = asked_once(server, tmp_path, "openai")
    server.close()
    assert reply.status == "truncated"
    assert len(server.calls) == 2


@pytest.mark.parametrize("provider", ASKED)
def test_another_model_than_the_one_asked_for_ends_the_run_and_its_reply_is_kept(
    server: Loopback, tmp_path: Path, provider: str, monkeypatch
):
    from loopback import providers

    monkeypatch.setitem(providers.MODELS, provider, "some-other-model")
    profile = study(tmp_path, subject(provider, server.url, batch=False))
    for _ in range(2):  # a restart does not take it either, and does not pay again
        with calling(profile) as caller, pytest.raises(RgeError, match="some-other-model answered"):
            caller.ask("q0", ONE, with_more_room)
    assert caller.ledger.read().spent == WORST[provider]
    assert len(server.calls) == 1


def test_a_reply_that_shows_no_tokens_is_booked_at_its_worst(server: Loopback, tmp_path: Path):
    body = (
        b'{"object": "chat.completion", "model": "gpt-5.4", "choices": '
        b'[{"message": {"content": "x"}, "finish_reason": "stop"}]}'
    )
    server.faults["openai:send"].append(Fault(body=body))
    reply, booked = asked_once(server, tmp_path, "openai")
    assert (reply.text, booked["nano"]) == ("x", WORST["openai"])


@pytest.mark.parametrize("provider", ASKED)
def test_stored_replies_are_not_asked_for_again(server: Loopback, tmp_path: Path, provider: str):
    profile = study(tmp_path, subject(provider, server.url, batch=False))
    asked = requests(12)
    first, n_calls = ask(profile, asked), len(server.calls)
    spent = sum(entry.nano for entry in ledger_nano(profile))
    assert ask(profile, asked) == first
    assert len(server.calls) == n_calls == 12
    assert sum(entry.nano for entry in ledger_nano(profile)) == spent


def ledger_nano(profile: Any) -> list[Any]:
    from rge.providers.hosted import ledger_of

    return list(ledger_of(profile).read().booked.values())


def test_a_prompt_or_parameter_that_changed_is_asked_for_anew(server: Loopback, tmp_path: Path):
    profile = study(tmp_path, subject("openai", server.url, batch=False))
    ask(profile, requests(1))
    ask(profile, requests(1, "another question {}"))
    warmer = study(tmp_path, subject("openai", server.url, batch=False, temperature=1.0))
    ask(warmer, requests(1))
    assert len(server.calls) == 3


class Interrupted(KeyboardInterrupt):
    """The stop button."""


def test_the_stop_button_waits_for_what_is_paid_for(server: Loopback, tmp_path: Path):
    """Replies under way are stored; nothing new is sent; the next run asks only for the rest."""
    server.latency_s = 0.2
    profile = study(tmp_path, subject("anthropic", server.url, batch=False, concurrency=4))
    asked = requests(40)
    from rge.providers.hosted import replies

    running = replies(profile, profile.subjects[0], "owner", asked, with_more_room)
    next(running)
    with pytest.raises(Interrupted):
        running.throw(Interrupted())  # type: ignore[attr-defined]
    n_sent = len(server.calls)
    assert 4 <= n_sent <= 12
    lines = (tmp_path / "data/results/owner.replies.jsonl").read_text(encoding="utf-8")
    assert lines.count("\n") == n_sent
    time.sleep(0.3)
    assert len(server.calls) == n_sent
    server.latency_s = 0.0
    assert len(ask(profile, asked)) == 40
    assert len(server.calls) == 40
    assert all(count == 1 for count in server.billed.values())


def test_a_reply_that_comes_after_the_run_is_not_written_anywhere(server: Loopback, tmp_path: Path):
    """The number of the closed file may be another file's by then."""
    profile = study(tmp_path, subject("openai", server.url, batch=False))
    with calling(profile) as caller:
        caller.ask("q0", ONE, with_more_room)
    before = (tmp_path / "data/results/owner.replies.jsonl").read_bytes()
    with pytest.raises(RgeError, match="the run is over"):
        caller.log.append(caller.asked("q1", 0, {}), {}, mode="sync", cost_nano=1)
    assert (tmp_path / "data/results/owner.replies.jsonl").read_bytes() == before


def test_it_runs_inside_a_running_event_loop(server: Loopback, tmp_path: Path):
    import asyncio

    async def cell() -> int:
        n = 0
        for run, provider in enumerate((*ASKED, *ASKED)):
            for batch in (False, True):
                folder = tmp_path / f"{provider}-{batch}-{run}"
                n += len(
                    ask(study(folder, subject(provider, server.url, batch=batch)), requests(3))
                )
        return n

    assert asyncio.run(cell()) == 36


def test_the_cap_stops_a_run_before_the_call_that_could_cross_it(server: Loopback, tmp_path: Path):
    """Five calls of 27,000 are spent; a sixth could cost 1,770,000."""
    profile = study(tmp_path, subject("anthropic", server.url, batch=False))
    cap = 5 * COST["anthropic"] + WORST["anthropic"] - 1
    with calling(profile, cap=cap) as caller:
        for number in range(5):
            caller.ask(f"q{number}", ONE, with_more_room)
        with pytest.raises(OverBudget, match=r"1 sync request to claude-sonnet-4-6 \(\$0\.0018\)"):
            caller.ask("q5", ONE, with_more_room)
    assert len(server.calls) == 5


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_of_refusals_halves_the_rate_once():
    clock = Clock()
    gate = Gate(32, clock=clock)
    for _ in range(32):
        gate.enter()
    for _ in range(32):
        gate.leave(Failure("rate_limited", "slow"), 5.0)
    assert gate.limit == 16
    clock.now = 5.0
    gate.enter()
    gate.leave(Failure("overloaded", "slow"), 5.0)
    assert gate.limit == 8


def test_the_rate_recovers_with_replies():
    gate = Gate(4)
    gate.enter()
    gate.leave(Failure("rate_limited", "slow"), 0.0)
    assert gate.limit == 2
    for _ in range(2 * gate.recover_after):
        gate.enter()
        gate.leave(None)
    assert gate.limit == 4


def test_never_more_are_under_way_than_the_gate_lets_through(server: Loopback, tmp_path: Path):
    server.latency_s = 0.02
    profile = study(tmp_path, subject("openai", server.url, batch=False, concurrency=3))
    most, under_way, lock = 0, 0, threading.Lock()
    answer = server.rule

    def counted(system: str, user: str, has_schema: bool) -> str:
        nonlocal most, under_way
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.02)
        with lock:
            under_way -= 1
        return answer(system, user, has_schema)

    server.rule = counted
    ask(profile, requests(30))
    assert most == 3


def test_all_who_wait_at_a_gate_are_let_go_when_it_stops():
    gate = Gate(1)
    gate.enter()
    ended = []

    def wait() -> None:
        try:
            gate.enter()
        except Stopped:
            ended.append("enter")

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    gate.stop()
    for thread in threads:
        thread.join(5)
    assert ended == ["enter"] * 8
    with pytest.raises(Stopped):
        gate.pause(60)


@pytest.mark.parametrize("attempt", range(8))
def test_waits_grow_and_are_drawn_from_the_upper_half(attempt: int):
    policy = RetryPolicy(n_attempts=9, base_s=1.0, longest_s=60.0)
    rng = np.random.default_rng(attempt)
    full = min(2.0**attempt, 60.0)
    waits = [policy.wait_s(Failure("server", "x"), attempt, rng) for _ in range(200)]
    assert all(wait is not None and full / 2 <= wait <= full for wait in waits)
    assert len(set(waits)) == 200


def test_the_last_attempt_and_the_hopeless_have_no_wait():
    policy, rng = RetryPolicy(n_attempts=3), np.random.default_rng(0)
    assert policy.wait_s(Failure("server", "x"), 1, rng) is not None
    assert policy.wait_s(Failure("server", "x"), 2, rng) is None
    assert policy.wait_s(Failure("rejected", "x"), 0, rng) is None
    assert policy.wait_s(Failure("rate_limited", "x", retry_after_s=121), 0, rng) is None


def test_a_run_killed_between_call_and_reply_books_the_worst(server: Loopback, tmp_path: Path):
    """The next process of this owner finds the reservation: the call may have been billed."""
    profile = study(tmp_path, subject("openai", server.url, batch=False))
    with calling(profile) as caller:
        caller.ledger.reserve({"f" * 40 + "-0": caller.reservation(777, 1, "sync")})
    assert caller.ledger.read().reserved == 777
    with calling(profile) as later:
        assert isinstance(later, Caller)
    accounts = later.ledger.read()
    assert (accounts.reserved, accounts.spent) == (0, 777)
