"""Prices, the ledger, and the cap that nothing crosses."""

import json
import multiprocessing
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from loopback.study import PRICES, study, subject
from rge.errors import RgeError, UsageError
from rge.profile import load_profile
from rge.providers.hosted import checked_service, ledger_of, prices_of
from rge.providers.ledger import Accounts, Ledger, OverBudget, Reservation
from rge.providers.prices import NANO, Tokens, load_prices
from rge.providers.together import Together


def held(nano: int, n_requests: int = 1, mode: Any = "sync", model: str = "m") -> Reservation:
    return Reservation(
        nano=nano, run_id="r", owner="o", model=model, mode=mode, n_requests=n_requests
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / ".budget_ledger.json", cap=1000, warn_at=500, warn=lambda _: None)


def test_what_is_reserved_is_replaced_by_what_was_billed(ledger: Ledger):
    ledger.reserve({"a": held(300), "b": held(200, n_requests=5, mode="batch")})
    assert (ledger.read().reserved, ledger.read().spent) == (500, 0)
    ledger.settle("a", 120)
    ledger.settle("b", None)
    accounts = ledger.read()
    assert (accounts.reserved, accounts.spent) == (0, 320)
    assert {key: entry.n_settled for key, entry in accounts.booked.items()} == {
        "r/m/sync": 1,
        "r/m/batch": 5,
    }


def test_a_reservation_that_could_cross_the_cap_is_refused_whole(ledger: Ledger):
    ledger.reserve({"a": held(600)})
    ledger.settle("a", 500)
    ledger.reserve({"b": held(400)})
    with pytest.raises(OverBudget, match="2 sync requests to m") as caught:
        ledger.reserve({"c": held(50), "d": held(51)})
    assert "allowed" not in str(caught.value)
    assert set(ledger.read().open) == {"b"}
    ledger.reserve({"c": held(50), "d": held(50)})  # exactly the cap


def test_the_refusal_names_each_model_with_its_part(ledger: Ledger):
    with pytest.raises(OverBudget) as caught:
        ledger.reserve({"a": held(3 * NANO, 300, "batch", "gpt"), "b": held(NANO, 1, "sync", "x")})
    assert "300 batch requests to gpt ($3.0000), 1 sync request to x ($1.0000)" in str(caught.value)


def test_the_cap_counts_what_earlier_runs_spent(ledger: Ledger):
    ledger.reserve({"a": held(900)})
    ledger.settle("a", 900)
    again = Ledger(ledger.path, cap=1000)
    with pytest.raises(OverBudget):
        again.reserve({"b": held(101)})


def test_nothing_is_settled_twice_or_without_a_reservation(ledger: Ledger):
    ledger.reserve({"a": held(1)})
    with pytest.raises(RgeError, match="reserved already"):
        ledger.reserve({"a": held(1)})
    ledger.settle("a", 1)
    with pytest.raises(RgeError, match="is not reserved"):
        ledger.settle("a", 1)
    assert ledger.read().spent == 1


def test_the_warning_comes_once_when_spending_passes_its_mark(ledger: Ledger):
    said: list[str] = []
    ledger = replace(ledger, warn=said.append)
    for number, nano in enumerate((499, 1, 1)):
        ledger.reserve({str(number): held(nano)})
        ledger.settle(str(number), nano)
    assert len(said) == 1
    assert said[0].startswith("budget: $0.00 of $0.00 spent")


def test_what_is_settled_later_stays_reserved_until_then(ledger: Ledger):
    ledger.reserve({"a": held(300)})
    ledger.settle("a", 100, later=True)
    assert (ledger.read().reserved, ledger.read().spent) == (300, 0)
    ledger.reserve({"b": held(10)})
    assert (ledger.read().reserved, ledger.read().spent) == (10, 100)
    ledger.settle("b", 10, later=True)
    ledger.flush()
    assert (ledger.read().reserved, ledger.read().spent) == (0, 110)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', '{"open": {"a": {}}}', "null"])
def test_a_damaged_ledger_stops_every_call(ledger: Ledger, text: str):
    """Money may have been spent that it no longer shows."""
    ledger.path.write_text(text, encoding="utf-8")
    for change in (lambda: ledger.reserve({"a": held(1)}), ledger.read):
        with pytest.raises(RgeError, match="not a ledger"):
            change()
    assert ledger.path.read_text(encoding="utf-8") == text


def spend(path: Path, number: int, n: int) -> None:
    """A process that spends 7 of the 10 it reserves, until it may not."""
    ledger = Ledger(path, cap=1000)
    for call in range(n):
        try:
            ledger.reserve({f"{number}-{call}": held(10)})
        except OverBudget:
            return
        ledger.settle(f"{number}-{call}", 7)


def test_processes_at_a_time_never_cross_the_cap_and_lose_no_cent(tmp_path: Path):
    """Each may spend 7 while 10 are free: 142 times 7 are 994, and 6 are left."""
    path = tmp_path / "ledger.json"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=spend, args=(path, number, 100)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    accounts = Ledger(path).read()
    assert accounts.open == {}
    # Whoever is refused gives up, so the last free cents may stay.
    assert 970 <= accounts.spent <= 1000
    assert accounts.spent == 7 * accounts.booked["r/m/sync"].n_settled


def test_threads_at_a_time_each_get_their_own_answer(tmp_path: Path):
    ledger = Ledger(tmp_path / "ledger.json", cap=100)
    refused: list[int] = []

    def reserve(number: int) -> None:
        try:
            ledger.reserve({str(number): held(10)})
        except OverBudget:
            refused.append(number)

    threads = [threading.Thread(target=reserve, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    accounts = ledger.read()
    assert (len(accounts.open), accounts.reserved, len(refused)) == (10, 100, 20)
    assert not set(accounts.open) & set(map(str, refused))


def test_threads_that_wait_write_together():
    written: list[list[int]] = []
    first, go = threading.Event(), threading.Event()

    def write(items: list[int]) -> None:
        written.append(items)
        first.set()
        go.wait(5)

    together = Together(write)
    threads = [threading.Thread(target=together, args=(1000 + number,)) for number in range(9)]
    threads[0].start()
    first.wait(5)
    for thread in threads[1:]:
        thread.start()
    while len(together._waiting) < 9:
        pass
    go.set()
    for thread in threads:
        thread.join(5)
    assert [len(items) for items in written] == [1, 8]
    assert together._waiting == []


def test_a_failed_write_reaches_every_thread_that_waited_for_it():
    def write(items: list[str]) -> None:
        raise OSError("full")

    together = Together(write)
    for item in ("a", "b"):
        with pytest.raises(OSError, match="full"):
            together(item)
    assert together._waiting == []


def test_a_model_without_a_price_cannot_be_asked(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("LOOPBACK_KEY", "sk-planted")
    spec = subject("openai", "http://127.0.0.1:1", model="gpt-9")
    with pytest.raises(UsageError, match=r"model gpt-9: has no price; claude-sonnet-4-6, gpt-5\.4"):
        checked_service(study(tmp_path, spec), spec)


def test_every_price_has_a_source_and_a_date():
    table = load_prices(PRICES)
    for row in table.models:
        assert row.source
        assert row.checked_on.isoformat() >= "2026-11-01"
    profile = load_profile("published")
    assert {row.model for row in table.models} == {
        spec.options["model"] for spec in profile.subjects
    }
    prices_of(profile)


def test_prices_are_whole_nano_dollars_a_token():
    """$0.13 a million cannot be had in binary: the table is read as decimals."""
    gpt = load_prices(PRICES).of("gpt-5.4-2026-03-05")
    assert gpt.cost(Tokens(0, 0, 3), batch=True) == 390
    claude = load_prices(PRICES).of("claude-sonnet-4-6")
    assert claude.cost(Tokens(0, 0, 0, 1), batch=True) == 1875


def test_a_kind_of_token_without_a_price_is_an_error_and_not_free():
    with pytest.raises(RgeError, match="no price for cache_write_5m tokens"):
        load_prices(PRICES).of("gpt-5.4").cost(Tokens(1, 1, 0, 1), batch=False)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda row: row.pop("source"), "source"),
        (lambda row: row.update(checked_on="soon"), "checked_on"),
        (lambda row: row["rates"]["sync"].update(input="-1"), "input"),
        (lambda row: row["rates"]["sync"].update(input="0.12345"), "input"),
        (lambda row: row.update(snapshots=["gemini-3.1-pro-preview"]), "stands in two rows"),
        (lambda row: row.update(colour="red"), "colour"),
    ],
)
def test_a_bad_price_table_is_refused(tmp_path: Path, change: Any, says: str):
    data = yaml.load(PRICES.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    change(data["models"][0])
    path = tmp_path / "prices.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        load_prices(path)


def test_the_worst_case_is_never_below_what_a_call_can_cost():
    for row in load_prices(PRICES).models:
        for batch in (False, True):
            cached = row.provider == "anthropic"
            for n in (10, 150_000, 250_000, 300_000):
                worst = row.worst_case(n, 500, batch=batch, cached=cached)
                kinds = [Tokens(n, 500), Tokens(0, 500, n)]
                kinds += [Tokens(0, 500, 0, n)] if cached else []
                assert worst == max(row.cost(tokens, batch=batch) for tokens in kinds)


def test_the_dry_run_of_the_published_study_calls_nothing_and_is_itemised(capsys):
    from rge.cli import main

    assert main(["eval", "run", "--config", "published", "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    calls = {(item["role"], item["provider"]): item["n_calls"] for item in plan["items"]}
    assert calls == {
        **{("subject", name): 600 for name in ("anthropic", "openai", "google")},
        **{("judge", name): 1200 for name in ("anthropic", "openai", "google")},
    }
    total, cap = plan["total"], plan["cap_usd"]
    assert total["usd_batch"] < cap
    assert total["usd_sync"] == pytest.approx(2 * total["usd_batch"], rel=0.01)
    assert total["usd_cached"] < total["usd_sync"] < total["usd_worst"]
    for item in plan["items"]:
        assert item["usd_batch"] <= item["usd_worst"]


def test_money_is_shown_by_run_and_model(tmp_path: Path, monkeypatch, capsys):
    from rge import cli

    profile = study(tmp_path, subject("openai", "http://127.0.0.1:1"))
    ledger_of(profile).reserve({"a": held(3 * NANO), "b": held(NANO, 300, "batch")})
    ledger_of(profile).settle("a", 2 * NANO)
    monkeypatch.setattr(cli, "_profile", lambda _: profile)
    assert cli.main(["budget", "show"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "$2.0000  1 requests  r/m/sync",
        "$1.0000  reserved for 300 batch  b",
        "spent $2.0000, under way $1.0000, cap $100.00",
    ]


def test_the_accounts_read_back_as_they_were_written(ledger: Ledger):
    ledger.reserve({"a": held(1), "b": held(2)})
    ledger.settle("a", 0)
    text = ledger.path.read_text(encoding="utf-8")
    assert Accounts.model_validate_json(text) == ledger.read()
    assert ledger.read().booked["r/m/sync"].n_unbilled == 1
    assert not list(ledger.path.parent.glob("*.tmp"))
