"""The first paid calls, rehearsed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from loopback import Loopback, providers
from loopback.study import ASKED, KEY, study, subject
from rge.errors import UsageError
from rge.profile import Profile
from rge.providers.hosted import ledger_of
from rge.providers.shapes import SHAPES, differences
from rge.providers.smoke import smoke

SHARED = Path(os.environ.get("RGE_SHARED", Path(__file__).parents[2] / "shared"))
FIXTURES = SHARED / "providers" / "fixtures"
SECRET = "sk-planted-9e107d9d372bb682"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv(KEY, SECRET)
    server = Loopback(lambda system, user, has_schema: '{"why": "it is", "score": 2}')
    yield server
    server.close()


def rehearsal(folder: Path, server: Loopback) -> Profile:
    subjects = [subject(provider, server.url) for provider in ASKED]
    return study(folder, subjects[0]).model_copy(update={"subjects": tuple(subjects)})


def test_every_provider_is_called_once_and_sent_one_batch(server: Loopback, tmp_path: Path):
    said = "\n".join(smoke(rehearsal(tmp_path, server)))
    for provider, model in (
        ("anthropic", "claude-sonnet-4-6"),
        ("openai", "gpt-5.4-2026-03-05"),
        ("google", "gemini-3.1-pro-preview"),
    ):
        assert f"{provider}, call: ok, {model}" in said
        assert f"{provider}, good row: ok, {model}" in said
        assert f"{provider}, bad row: error" in said
    assert "differs" not in said
    assert sorted(server.billed.values()) == [1] * 6
    assert [batch.provider for batch in server.batches.values()] == list(ASKED)


def test_bodies_are_saved_without_the_key_and_the_money_is_booked(server: Loopback, tmp_path: Path):
    server.rule = lambda system, user, has_schema: f'{{"why": "{SECRET}", "score": 2}}'
    profile = rehearsal(tmp_path, server)
    said = "\n".join(smoke(profile))
    files = [path for path in (tmp_path / "_build").rglob("*") if path.is_file()]
    assert SECRET not in said + "".join(path.read_text(encoding="utf-8") for path in files)
    saved = [
        json.loads(path.read_text(encoding="utf-8")) for path in files if path.suffix == ".json"
    ]
    assert {entry["request"] for entry in saved} >= {"POST /v1/messages", "POST /v1/batches"}
    assert "[key]" in json.dumps(saved)
    accounts = ledger_of(profile).read()
    assert {key.split("/")[0] for key in accounts.booked} == {"smoke"}
    assert accounts.open == {}


def test_a_second_rehearsal_pays_nothing(server: Loopback, tmp_path: Path):
    profile = rehearsal(tmp_path, server)
    list(smoke(profile))
    said = "\n".join(smoke(profile))
    assert sorted(server.billed.values()) == [1] * 6
    assert "spent $0.0000" in said


def test_a_field_that_is_new_missing_or_of_another_kind_is_named(
    server: Loopback, tmp_path: Path, monkeypatch
):
    recorded = providers._SHAPES["anthropic"]

    def changed(*given: Any) -> dict[str, Any]:
        body = recorded(*given)
        body["usage"]["input_tokens"] = float(body["usage"]["input_tokens"])
        body["usage"] = {**body["usage"], "tool_tokens": 3}
        del body["role"]
        return body

    monkeypatch.setitem(providers._SHAPES, "anthropic", changed)
    said = "\n".join(smoke(rehearsal(tmp_path, server)))
    assert "differs: anthropic message: role is missing" in said
    assert "differs: anthropic message: usage.tool_tokens is new (int)" in said
    assert "differs: anthropic message: usage.input_tokens is float, was int" in said


def test_it_has_a_cap_of_its_own_below_the_studys(server: Loopback, tmp_path: Path):
    """A call that could cost more than a dollar is refused; nothing is sent."""
    costly = subject("anthropic", server.url, max_tokens=21_000)
    profile = study(tmp_path, costly)
    first = list(smoke(profile))
    assert any("anthropic, call: ok" in line for line in first)  # 21,000 · $15/M = $0.32
    server.calls.clear()
    big = profile.model_copy(update={"subjects": (subject("anthropic", server.url),)})
    ledger = ledger_of(profile)
    from dataclasses import replace

    from rge.providers.ledger import Reservation

    held = Reservation(
        nano=99_999_999_000, run_id="r", owner="o", model="m", mode="sync", n_requests=1
    )
    replace(ledger, cap=10**15).reserve({"x": held})
    said = "\n".join(smoke(big))
    assert "up to $" in said
    assert server.calls == []


def test_without_a_key_nothing_is_called(server: Loopback, tmp_path: Path, monkeypatch):
    monkeypatch.delenv(KEY)
    with pytest.raises(UsageError, match=f"{KEY} is not set"):
        list(smoke(rehearsal(tmp_path, server)))
    assert server.calls == []


@pytest.mark.skipif(not FIXTURES.is_dir(), reason="the recorded replies are not here")
@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("anthropic message", "anthropic/msg_sonnet46_basic_2026-10"),
        ("anthropic batch", "anthropic/batch_ended"),
        ("anthropic batch", "anthropic/batch_in_progress"),
        ("openai completion", "openai/chat_gpt54_basic_2026-10"),
        ("google reply", "gemini/gemini31pro_basic_2026-10"),
        ("google batch", "gemini/batch_pending"),
        ("google batch", "gemini/batch_succeeded_file"),
    ],
)
def test_the_shapes_we_know_are_those_that_were_recorded(operation: str, name: str):
    assert differences(operation, (FIXTURES / f"{name}.json").read_text(encoding="utf-8")) == []


def test_what_is_no_json_differs():
    assert differences("openai batch", "<html>") == ["not JSON"]
    assert (
        len(differences("openai batch", "{}"))
        == sum(not kinds.endswith("?") for kinds in SHAPES["openai batch"].values()) + 1
    )
