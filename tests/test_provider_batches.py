"""Batches of the three providers, and all that can become of their rows."""

import itertools
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopback import Fault, Loopback
from loopback.study import ASKED, KEY, ask, batching, calling, requests, study, subject
from rge.errors import RgeError
from rge.profile import Profile
from rge.providers.hosted import ledger_of, with_more_room
from rge.providers.ledger import OverBudget
from rge.subjects import Reply

# "system" + "question 0": 4 tokens of prompt; "answer": 1 token; at batch prices.
COST = {"anthropic": 4 * 1500 + 7500, "openai": 4 * 1250 + 7500, "google": 4 * 1000 + 6000}
SYNC = {"anthropic": 4 * 3000 + 15_000, "openai": 4 * 2500 + 15_000, "google": 4 * 2000 + 12_000}
# 72 tokens at most (see test_provider_faults), 100 of output.
WORST = {
    "anthropic": 72 * 1875 + 100 * 7500,
    "openai": 72 * 1250 + 100 * 7500,
    "google": 72 * 1000 + 100 * 6000,
}
every_provider = pytest.mark.parametrize("provider", ASKED)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "sk-planted")


@pytest.fixture
def server() -> Iterator[Loopback]:
    server = Loopback(lambda system, user, has_schema: "answer")
    yield server
    server.close()


def run(
    server: Loopback, folder: Path, provider: str, n: int = 6, rows: int = 300, **options: Any
) -> tuple[dict[str, Reply], dict[str, int]]:
    """Replies by key, and nano-dollars by mode."""
    profile = study(folder, subject(provider, server.url, **options))
    with calling(profile) as caller, batching(caller, profile, rows) as batches:
        replies = dict(batches.replies(requests(n), with_more_room))
    return replies, spent(profile)


def spent(profile: Profile) -> dict[str, int]:
    accounts = ledger_of(profile).read()
    assert accounts.open == {}
    return {key.rpartition("/")[2]: entry.nano for key, entry in accounts.booked.items()}


def operations(server: Loopback, kind: str) -> int:
    return sum(call.operation.endswith(f":{kind}") for call in server.calls)


def events(folder: Path) -> list[dict[str, Any]]:
    path = folder / "data" / "results" / "owner.batches.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@every_provider
def test_rows_are_matched_by_id_whatever_their_order(
    server: Loopback, tmp_path: Path, provider: str
):
    server.rule = lambda system, user, has_schema: f"{user} answered"
    replies, _ = run(server, tmp_path, provider, n=30, rows=7)
    assert {key: reply.text for key, reply in replies.items()} == {
        f"q{n}": f"question {n} answered" for n in range(30)
    }
    assert {reply.params["mode"] for reply in replies.values()} == {"batch"}
    assert operations(server, "create") == 5  # of 7 rows at most
    assert sorted(server.billed.values()) == [1] * 30


@every_provider
def test_a_batch_costs_half_and_its_row_ids_are_known_before_it_is_sent(
    server: Loopback, tmp_path: Path, provider: str
):
    _, nano = run(server, tmp_path, provider)
    assert nano == {"batch": 6 * COST[provider]}
    planned, submitted, harvested = events(tmp_path)
    (batch,) = server.batches.values()
    assert set(planned["rows"]) == set(batch.rows)
    assert [row["key"] for row in planned["rows"].values()] == [f"q{n}" for n in range(6)]
    assert submitted["batch_id"] == batch.id
    assert harvested["nano"] == 6 * COST[provider]


@every_provider
def test_between_two_looks_at_a_batch_there_is_a_pause(
    server: Loopback, tmp_path: Path, provider: str
):
    server.polls_until_done = 5
    profile = study(tmp_path, subject(provider, server.url))
    with calling(profile) as caller, batching(caller, profile) as batches:
        batches.poll_s = 0.1
        dict(batches.replies(requests(3), with_more_room))
    polls = [call.at for call in server.calls if call.operation.endswith(":poll")]
    assert len(polls) >= 6
    assert min(b - a for a, b in itertools.pairwise(polls[:6])) >= 0.1


# provider, n-th batch and row -> fate; states of the replies; n sent by batch and alone
ROWS = {
    "errored": "ok",
    "expired": "ok",
    "missing": "ok",
    "duplicate": "ok",
    "rejected": "error",
    "unreadable": "error",
    "garbled": "error",
}


@every_provider
@pytest.mark.parametrize("fate", ROWS)
def test_one_row_fares_badly_and_the_others_do_not_notice(
    server: Loopback, tmp_path: Path, provider: str, fate: str
):
    server.row_fates[provider, 0, 2] = fate
    replies, nano = run(server, tmp_path, provider)
    assert [replies[f"q{n}"].status for n in (0, 1, 3, 4, 5)] == ["ok"] * 5
    assert replies["q2"].status == ROWS[fate]
    again = fate in ("errored", "expired", "missing")
    assert operations(server, "create") == 1 + again
    paid = 5 + (ROWS[fate] == "ok")
    # Of a missing or unreadable row nobody says that it was not billed.
    unknown = WORST[provider] if fate in ("missing", "unreadable", "garbled") else 0
    assert nano == {"batch": paid * COST[provider] + unknown}
    if again:
        assert list(server.batches.values())[1].rows.keys() <= server_rows(server, 0)


def server_rows(server: Loopback, number: int) -> set[str]:
    return set(list(server.batches.values())[number].rows)


@every_provider
def test_an_unreadable_row_is_paid_for_once_and_not_asked_again(
    server: Loopback, tmp_path: Path, provider: str
):
    server.row_fates[provider, 0, 2] = "unreadable"
    first = run(server, tmp_path, provider)
    n_calls = len(server.calls)
    assert run(server, tmp_path, provider) == first
    assert len(server.calls) == n_calls
    assert first[0]["q2"].cost_usd == pytest.approx(WORST[provider] / 1e9)


@every_provider
def test_a_download_that_broke_off_is_fetched_again(
    server: Loopback, tmp_path: Path, provider: str
):
    server.shuffle = False
    server.faults[f"{provider}:results"].append(Fault(body=b'{"custom_id": "x", "key": "x", "re'))
    replies, nano = run(server, tmp_path, provider)
    assert {reply.status for reply in replies.values()} == {"ok"}
    assert nano == {"batch": 6 * COST[provider]}


@every_provider
def test_a_row_that_no_batch_answers_is_asked_by_itself(
    server: Loopback, tmp_path: Path, provider: str
):
    for number in range(10):
        server.row_fates[provider, number, 0] = "errored"
    replies, nano = run(server, tmp_path, provider, n=1)
    assert (replies["q0"].status, replies["q0"].params["mode"]) == ("ok", "sync")
    assert (operations(server, "create"), operations(server, "send")) == (3, 1)
    assert nano == {"batch": 0, "sync": SYNC[provider]}


@every_provider
@pytest.mark.parametrize("fate", ["expired", "cancelled", "expired half-way"])
def test_of_a_batch_that_ended_early_only_the_rest_is_sent_again(
    server: Loopback, tmp_path: Path, provider: str, fate: str
):
    server.batch_fates[provider, 0] = fate
    replies, nano = run(server, tmp_path, provider)
    assert {reply.status for reply in replies.values()} == {"ok"}
    assert nano == {"batch": 6 * COST[provider]}
    n_again = 3 if fate == "expired half-way" else 6
    assert len(server_rows(server, 1)) == n_again
    assert sorted(server.billed.values()) == [1] * 6


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_the_rows_of_a_batch_that_failed_as_a_whole_are_asked_by_themselves(
    server: Loopback, tmp_path: Path, provider: str
):
    server.batch_fates[provider, 0] = "failed"
    replies, nano = run(server, tmp_path, provider)
    assert {reply.params["mode"] for reply in replies.values()} == {"sync"}
    assert nano == {"batch": 0, "sync": 6 * SYNC[provider]}


def test_a_partly_successful_job_of_google_is_read(server: Loopback, tmp_path: Path):
    server.batch_fates["google", 0] = "partially_succeeded"
    server.row_fates["google", 0, 1] = "rejected"
    replies, nano = run(server, tmp_path, "google")
    assert [reply.status for reply in replies.values()].count("ok") == 5
    assert nano == {"batch": 5 * COST["google"]}


@every_provider
def test_all_rows_can_fail_in_a_batch_that_is_complete(
    server: Loopback, tmp_path: Path, provider: str
):
    for row in range(6):
        server.row_fates[provider, 0, row] = "rejected"
    replies, nano = run(server, tmp_path, provider)
    assert {reply.status for reply in replies.values()} == {"error"}
    assert nano == {"batch": 0}


@every_provider
def test_a_model_that_does_not_exist_ends_the_run_and_the_other_rows_are_kept(
    server: Loopback, tmp_path: Path, provider: str
):
    server.row_fates[provider, 0, 0] = "fatal"
    with pytest.raises(RgeError, match="finished responses are kept"):
        run(server, tmp_path, provider)
    replies, nano = run(server, tmp_path, provider)
    assert {reply.status for reply in replies.values()} == {"ok"}
    assert nano == {"batch": 6 * COST[provider]}
    assert len(server_rows(server, 1)) == 1


@every_provider
def test_results_can_be_late(server: Loopback, tmp_path: Path, provider: str):
    missing = {"type": "error", "error": {"type": "not_found_error", "message": "no results"}}
    server.faults[f"{provider}:results"].extend([Fault(404, missing)] * 5)
    replies, nano = run(server, tmp_path, provider)
    assert {reply.status for reply in replies.values()} == {"ok"}
    assert nano == {"batch": 6 * COST[provider]}


@every_provider
@pytest.mark.parametrize("status", [400, 500, 529])
def test_a_failed_look_never_sends_anything_again(
    server: Loopback, tmp_path: Path, provider: str, status: int
):
    server.faults[f"{provider}:poll"].extend([Fault(status, {"error": {}})] * 6)
    replies, _ = run(server, tmp_path, provider)
    assert len(replies) == 6
    assert (operations(server, "create"), operations(server, "send")) == (1, 0)


@every_provider
def test_when_no_look_succeeds_the_run_ends_and_a_restart_goes_on(
    server: Loopback, tmp_path: Path, provider: str
):
    server.faults[f"{provider}:poll"].extend([Fault(500, {"error": {}})] * 20)
    with pytest.raises(RgeError, match="cannot look at running batches"):
        run(server, tmp_path, provider)
    replies, nano = run(server, tmp_path, provider)
    assert (len(replies), nano) == (6, {"batch": 6 * COST[provider]})
    assert operations(server, "create") == 1


@every_provider
@pytest.mark.parametrize(
    "fault",
    [Fault(drop=True, late=True), Fault(body=b"<html>"), Fault(504, {"error": {}})],
    ids=["cut", "page", "504 before the work"],
)
def test_a_batch_that_may_have_been_taken_is_looked_for_before_it_is_sent_again(
    server: Loopback, tmp_path: Path, provider: str, fault: Fault
):
    server.faults[f"{provider}:create"].append(fault)
    replies, nano = run(server, tmp_path, provider)
    assert (len(replies), nano) == (6, {"batch": 6 * COST[provider]})
    assert len(server.batches) == 1
    assert sorted(server.billed.values()) == [1] * 6


@every_provider
def test_where_no_batch_can_be_had_rows_are_asked_by_themselves_several_at_a_time(
    server: Loopback, tmp_path: Path, provider: str
):
    server.faults[f"{provider}:create"].append(Fault(400, {"error": {"message": "no batches"}}))
    all_under_way = threading.Barrier(8)
    answer = server.rule

    def together(system: str, user: str, has_schema: bool) -> str:
        all_under_way.wait(60)  # one that is asked only after another's reply breaks it
        return answer(system, user, has_schema)

    server.rule = together
    replies, nano = run(server, tmp_path, provider, n=8, concurrency=8)
    assert not all_under_way.broken
    assert {reply.params["mode"] for reply in replies.values()} == {"sync"}
    assert nano == {"batch": 0, "sync": 8 * SYNC[provider]}


@every_provider
def test_a_cut_off_row_goes_into_the_next_batch_with_twice_the_room(
    server: Loopback, tmp_path: Path, provider: str
):
    server.rule = lambda system, user, has_schema: "word " * 120  # 150 tokens, the cap is 100
    replies, nano = run(server, tmp_path, provider, n=3)
    assert {reply.status for reply in replies.values()} == {"ok"}
    assert {reply.params["retry_max_tokens"] for reply in replies.values()} == {200}
    into, out = {"anthropic": (1500, 7500), "openai": (1250, 7500), "google": (1000, 6000)}[
        provider
    ]
    assert nano == {"batch": 3 * (4 * into + 100 * out + 4 * into + 150 * out)}
    assert replies["q0"].cost_usd == pytest.approx(nano["batch"] / 3 / 1e9)
    assert operations(server, "create") == 2


def test_a_cut_off_row_that_no_batch_answers_keeps_its_first_attempt(
    server: Loopback, tmp_path: Path
):
    """Asked by itself it is still the second attempt: no third, and both are in its cost."""
    server.rule = lambda system, user, has_schema: "word " * 200  # 250 tokens: cut off twice
    for number in range(1, 10):
        server.row_fates["openai", number, 0] = "errored"
    replies, nano = run(server, tmp_path, "openai", n=1)
    assert (replies["q0"].status, replies["q0"].params["retry_max_tokens"]) == ("truncated", 200)
    batch, sync = 4 * 1250 + 100 * 7500, 4 * 2500 + 200 * 15_000
    assert nano == {"batch": batch, "sync": sync}
    assert replies["q0"].cost_usd == pytest.approx((batch + sync) / 1e9)
    assert operations(server, "send") == 1


@every_provider
def test_line_separators_inside_a_reply_do_not_end_its_row(
    server: Loopback, tmp_path: Path, provider: str
):
    text = "one\u2028two\u2029three\x85four\x0bfive\x1csix"
    server.rule = lambda system, user, has_schema: text
    replies, _ = run(server, tmp_path, provider)
    assert {reply.text for reply in replies.values()} == {text}


@every_provider
def test_a_batch_that_would_cross_the_cap_waits_for_the_one_that_runs(
    server: Loopback, tmp_path: Path, provider: str
):
    """Three rows can cost 3 · WORST; the cap leaves room for four rows at a time."""
    profile = study(tmp_path, subject(provider, server.url))
    cap = 4 * WORST[provider]
    with calling(profile, cap=cap) as caller, batching(caller, profile, rows=3) as batches:
        replies = dict(batches.replies(requests(9), with_more_room))
    assert len(replies) == 9
    assert spent(profile) == {"batch": 9 * COST[provider]}
    assert operations(server, "create") == 3


@every_provider
def test_a_batch_that_would_cross_the_cap_is_refused_item_by_item(
    server: Loopback, tmp_path: Path, provider: str
):
    profile = study(tmp_path, subject(provider, server.url))
    cap = 6 * WORST[provider] - 1
    with (
        calling(profile, cap=cap) as caller,
        batching(caller, profile) as batches,
        pytest.raises(OverBudget) as caught,
    ):
        dict(batches.replies(requests(6), with_more_room))
    assert f"6 batch requests to {ASKED[provider]} ($0.00" in str(caught.value)
    assert server.calls == []
    assert ledger_of(profile).read().reserved == 0


@every_provider
def test_a_finished_study_calls_nothing(server: Loopback, tmp_path: Path, provider: str):
    profile = study(tmp_path, subject(provider, server.url))
    first, n_calls = ask(profile, requests(5)), len(server.calls)
    assert ask(profile, requests(5)) == first
    assert len(server.calls) == n_calls


def killed_after(folder: Path, n_lines: int) -> None:
    """The journal as a process leaves it that was killed after so many lines."""
    path = folder / "data" / "results" / "owner.batches.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:n_lines]), encoding="utf-8")


@every_provider
def test_a_batch_that_was_sent_by_a_killed_process_is_found_and_not_sent_again(
    server: Loopback, tmp_path: Path, provider: str
):
    """Killed between sending and noting the provider's id."""
    server.faults[f"{provider}:poll"].extend([Fault(500, {"error": {}})] * 20)
    with pytest.raises(RgeError):
        run(server, tmp_path, provider)
    killed_after(tmp_path, 1)
    replies, nano = run(server, tmp_path, provider)
    assert (len(replies), nano) == (6, {"batch": 6 * COST[provider]})
    assert len(server.batches) == 1


@every_provider
def test_an_older_batch_with_the_same_rows_is_not_taken_for_the_one_looked_for(
    server: Loopback, tmp_path: Path, provider: str
):
    """All rows of the first expired; the second holds the same ids and was just being sent."""
    server.batch_fates[provider, 0] = "expired"
    server.faults[f"{provider}:create"].extend([Fault(), Fault(drop=True, late=True)])
    replies, nano = run(server, tmp_path, provider)
    assert (len(replies), nano) == (6, {"batch": 6 * COST[provider]})
    assert len(server.batches) == 2


def test_a_plan_that_was_never_sent_costs_nothing(server: Loopback, tmp_path: Path):
    profile = study(tmp_path, subject("anthropic", server.url))
    with calling(profile) as caller, batching(caller, profile) as batches:
        caller.ledger.reserve({"rge-x": caller.reservation(999, 6, "batch")})
        replies = dict(batches.replies(requests(6), with_more_room))
    assert len(replies) == 6
    assert spent(profile) == {"batch": 6 * COST["anthropic"]}


def test_a_paid_row_is_stored_even_if_today_nobody_asks_for_it(server: Loopback, tmp_path: Path):
    """The run was killed, then a question was taken out of the set."""
    server.faults["openai:poll"].extend([Fault(500, {"error": {}})] * 20)
    with pytest.raises(RgeError):
        run(server, tmp_path, "openai", n=6)
    replies, nano = run(server, tmp_path, "openai", n=2)
    assert (len(replies), nano) == (2, {"batch": 6 * COST["openai"]})
    assert len(run(server, tmp_path, "openai", n=6)[0]) == 6
    assert operations(server, "create") == 1
