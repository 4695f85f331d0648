"""Recorded replies of the three providers, read by the adapters."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopback import Fault, Loopback
from loopback.study import ASKED, KEY, PRICES, subject
from loopback.wire import Answer, Call, Server
from rge.providers.hosted import open_service
from rge.providers.prices import Tokens, load_prices
from rge.providers.request import Body, Failure, Request, Row, Service

SHARED = Path(os.environ.get("RGE_SHARED", Path(__file__).parents[2] / "shared"))
FIXTURES = SHARED / "providers" / "fixtures"
recorded = pytest.mark.skipif(not FIXTURES.is_dir(), reason="the recorded replies are not here")
FOLDERS = {"anthropic": "anthropic", "openai": "openai", "gemini": "google"}

# file: status, stop reason, beginning of the text, tokens that are billed, nano-dollars at the
# synchronous prices of the model we ask of that provider (worked out by hand from `usage`).
ANTHROPIC = {
    # 10·3000 + 211·15000 + 4332·300 + 4513·3750
    "msg_sonnet46_cache_write_and_read": (
        *("ok", "end_turn", "Here are the results", Tokens(10, 211, 4332, 4513)),
        21_418_350,
    ),
    "msg_sonnet46_cache_turn2": (
        *("ok", "end_turn", "**Average of", Tokens(4, 156, 9134, 237)),
        5_980_950,
    ),
    "msg_sonnet46_cache_automatic": (
        *("ok", "end_turn", "The uploaded CSV", Tokens(4, 193, 8845, 6)),
        5_583_000,
    ),
    "msg_sonnet46_thinking": ("ok", "end_turn", "Here's how", Tokens(42, 291), 4_491_000),
    # 112 thinking tokens are among the 162
    "msg_thinking_tokens_usage": ("ok", "end_turn", "Thinking", Tokens(51, 162), 2_583_000),
    "msg_structured_output_config": (
        "ok",
        "end_turn",
        '{"city":"London"',
        Tokens(196, 19),
        873_000,
    ),
    "msg_stop_sequence": ("ok", "stop_sequence", "The beautiful", Tokens(32, 5), 171_000),
    "msg_haiku45_temperature_on_wire": ("ok", "end_turn", "Hello!", Tokens(8, 16), 264_000),
    "msg_sonnet46_basic_2026-10": ("ok", "end_turn", "Hello!", Tokens(18, 5), 129_000),
    "msg_sonnet46_thinking_budget_2026-10": ("ok", "end_turn", "Hello!", Tokens(47, 15), 366_000),
    "msg_refusal_shape": ("refused_by_provider", "refusal: cyber", "", Tokens(87, 0), 261_000),
    "msg_max_tokens_zero_output": ("truncated", "max_tokens", "", Tokens(16, 0), 48_000),
    "msg_max_tokens_truncated": ("truncated", "max_tokens", '{"score": 4', Tokens(18, 16), 294_000),
}
OPENAI = {
    # 4012 of 4020 prompt tokens came from the cache: 8·2500 + 4012·250 + 4·15000
    "chat_cached_tokens": ("ok", "stop", "OK", Tokens(8, 4, 4012), 1_083_000),
    # 64 reasoning tokens are among the 75
    "chat_reasoning_tokens": ("ok", "stop", "Kiwi", Tokens(765, 75), 3_037_500),
    "chat_gpt54mini_tool_calls": ("error", "tool_calls", "", Tokens(265, 23), 1_007_500),
    "chat_gpt54_basic_2026-10": ("ok", "stop", "Hello.", Tokens(19, 5), 122_500),
    "chat_json_schema": ("ok", "stop", '{"city":"San', Tokens(79, 14), 407_500),
    "chat_n3_choices": ("ok", "stop", '{"city":"San', Tokens(79, 44), 857_500),
    "chat_length_truncated_json": ("truncated", "length", '{"', Tokens(79, 1), 212_500),
    "chat_refusal": ("refused_by_provider", "refusal", "I'm very sorry", Tokens(79, 12), 377_500),
    "chat_length_reasoning_empty": ("truncated", "length", "", Tokens(19, 64), 1_007_500),
}
GOOGLE = {
    # no parts, no count of candidates: two thought tokens are all the output
    "max_tokens_empty_thinking": ("truncated", "MAX_TOKENS", "", Tokens(15, 2), 54_000),
    "max_tokens_text": ("truncated", "MAX_TOKENS", "The capital", Tokens(15, 5), 90_000),
    "safety_block": ("refused_by_provider", "SAFETY", "", Tokens(14, 0), 28_000),
    # 3512 of 3520 prompt tokens from the cache, 42 thoughts beside 2 of text:
    # 8·2000 + 3512·200 + 44·12000
    "cached_content": ("ok", "STOP", "Paris.", Tokens(8, 44, 3512), 1_246_400),
    "structured_gemini3flash": ("ok", "STOP", '{\n  "city"', Tokens(161, 72), 1_186_000),
    "gemini3pro_preview": ("ok", "STOP", "Hello!", Tokens(2, 222), 2_668_000),
    "gemini31pro_basic_2026-10": ("ok", "STOP", "Hello.", Tokens(10, 59), 728_000),
    "gemini31pro_max_tokens_2026-07": (
        *("truncated", "MAX_TOKENS", "TEXT_", Tokens(5719, 2496)),
        41_390_000,
    ),
    "prompt_blocked": (
        *("refused_by_provider", "prompt blocked: PROHIBITED_CONTENT", "", Tokens(12, 0)),
        24_000,
    ),
}
REPLIES = [
    (folder, name, *expected)
    for folder, table in (("anthropic", ANTHROPIC), ("openai", OPENAI), ("gemini", GOOGLE))
    for name, expected in table.items()
]
# Served as they were recorded: what kind of failure each is, and how long to wait.
ERRORS = {
    "anthropic/err_404_model": ("fatal", None),
    "anthropic/err_400_effort_xhigh": ("rejected", None),
    "anthropic/err_401_key": ("fatal", None),
    "anthropic/err_529_overloaded": ("overloaded", None),
    "anthropic/err_529_overloaded_2026": ("overloaded", None),
    "anthropic/err_429_rate_limit": ("rate_limited", 12.0),
    "anthropic/err_400_temperature_deprecated": ("rejected", None),
    "anthropic/err_400_schema_number_minmax": ("rejected", None),
    "anthropic/err_400_schema_array_minitems": ("rejected", None),
    "anthropic/err_400_too_many_cache_control": ("rejected", None),
    "anthropic/err_400_batch_create_dup": ("rejected", None),
    "anthropic/err_400_batch_create_too_long": ("rejected", None),
    "openai/err_400_temperature_below_min": ("rejected", None),
    "openai/err_400_temperature_zero": ("rejected", None),
    "openai/err_400_unsupported_value": ("rejected", None),
    "openai/err_400_model_responses": ("fatal", None),
    "openai/err_404_model_chat": ("fatal", None),
    "openai/err_404_batch": ("fatal", None),
    "openai/err_401_key": ("fatal", None),
    "openai/err_429_tpm": ("rate_limited", 3.89),
    "openai/err_429_insufficient_quota": ("fatal", None),
    "gemini/err_404_model": ("fatal", None),
    "gemini/err_400_api_key": ("fatal", None),
    "gemini/err_429_quota": ("fatal", 32.0),  # limit: 0
    "gemini/err_429_plain": ("rate_limited", None),
    "gemini/err_503_overloaded": ("overloaded", None),
}
REQUEST = Request("system", "user", 100)


def service(provider: str, url: str = "http://127.0.0.1:1", **options: Any) -> Service:
    return open_service(subject(provider, url, **options), seed=7)


def fixture(name: str) -> Body:
    body: Body = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    return body


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "sk-planted")


@recorded
@pytest.mark.parametrize(
    ("folder", "name", "status", "stop", "text", "tokens", "nano"),
    REPLIES,
    ids=[f"{row[0]}/{row[1]}" for row in REPLIES],
)
def test_a_recorded_reply_has_its_state_text_tokens_and_price(
    folder: str, name: str, status: str, stop: str, text: str, tokens: Tokens, nano: int
):
    provider = FOLDERS[folder]
    answer = service(provider).answer(fixture(f"{folder}/{name}"))
    assert (answer.status, answer.stop_reason, answer.tokens) == (status, stop, tokens)
    assert answer.text.startswith(text)
    assert bool(answer.text) == bool(text)
    assert load_prices(PRICES).of(ASKED[provider]).cost(answer.tokens, batch=False) == nano


@recorded
@pytest.mark.parametrize(("folder", "name"), [row[:2] for row in REPLIES])
def test_the_parts_of_a_prompt_sum_to_what_the_provider_counts(folder: str, name: str):
    """Cached tokens are beside the others at Anthropic and among them elsewhere."""
    body = fixture(f"{folder}/{name}")
    tokens = service(FOLDERS[folder]).answer(body).tokens
    if folder == "anthropic":
        usage = body["usage"]
        whole = sum(usage[key] for key in usage if key.endswith("input_tokens"))
        assert (tokens.prompt, tokens.output) == (whole, usage["output_tokens"])
    elif folder == "openai":
        assert tokens.prompt + tokens.output == body["usage"]["total_tokens"]
    else:
        # of a blocked or cut-off reply too
        assert tokens.prompt + tokens.output == body["usageMetadata"]["totalTokenCount"]


def test_rows_of_batches_have_prices_of_their_own():
    """10·1500 + 211·7500 + 4332·150 + 4513·1875; Google does not halve what its cache gives."""
    prices = load_prices(PRICES)
    claude, gpt, gemini = (prices.of(ASKED[name]) for name in ("anthropic", "openai", "google"))
    assert claude.cost(Tokens(10, 211, 4332, 4513), batch=True) == 10_709_175
    assert gpt.cost(Tokens(8, 4, 4012), batch=True) == 8 * 1250 + 4012 * 130 + 4 * 7500
    assert gemini.cost(Tokens(8, 44, 3512), batch=True) == 8 * 1000 + 3512 * 200 + 44 * 6000


def test_a_long_prompt_is_priced_whole_at_the_higher_rate():
    prices = load_prices(PRICES)
    gpt, gemini = prices.of("gpt-5.4"), prices.of("gemini-3.1-pro-preview")
    assert gpt.cost(Tokens(272_000, 1), batch=False) == 272_000 * 2500 + 15_000
    assert gpt.cost(Tokens(272_000, 1, 1), batch=False) == 272_000 * 5000 + 500 + 22_500
    assert gemini.cost(Tokens(200_001, 1), batch=True) == 200_001 * 2000 + 9000


@recorded
@pytest.mark.parametrize("name", ERRORS)
def test_a_recorded_error_is_of_its_kind(name: str):
    kind, wait = ERRORS[name]
    entry = next(
        row
        for row in json.loads((FIXTURES / "INDEX.json").read_text(encoding="utf-8"))
        if row["file"] == f"{name}.json"
    )
    headers = {
        key: value for key, value in entry["headers"].items() if key.startswith(("retry", "x-sh"))
    }
    provider = FOLDERS[name.split("/")[0]]
    server = Loopback(lambda *_: "never")
    server.faults[f"{provider}:send"].append(Fault(entry["status"], fixture(name), headers))
    answering = service(provider, server.url)
    with pytest.raises(Failure) as caught:
        answering.send(answering.body(REQUEST))
    server.close()
    assert (caught.value.kind, caught.value.retry_after_s) == (kind, wait)
    assert caught.value.billed is False
    assert len(server.calls) == 1  # the library did not try again


class Files(Server):
    """Serves one batch and its files; addresses in `batch` become this server's own."""

    def __init__(self, batch: Body, files: dict[str, bytes]) -> None:
        super().__init__()
        if batch.get("results_url"):
            batch = {**batch, "results_url": f"{self.url}/results/output"}
        self.batch, self.files = batch, files

    def route(self, method: str, path: str) -> tuple[str, Any]:
        for name, data in self.files.items():
            if name in path and ("content" in path or "download" in path or "results" in path):
                return "file", lambda call, data=data: (200, {}, data)
        return "state", self._state

    def _state(self, call: Call) -> Answer:
        return 200, {}, self.batch


@pytest.fixture
def served() -> Iterator[list[Server]]:
    servers: list[Server] = []
    yield servers
    for server in servers:
        server.close()


def batch_of(
    servers: list[Server], folder: str, state: str, **files: str
) -> tuple[Service, list[Row]]:
    """The service before a recorded batch, and the rows it reads."""
    data = {
        name.replace("__", "/").replace("_", "-"): (FIXTURES / folder / file).read_bytes()
        for name, file in files.items()
    }
    server = Files(fixture(f"{folder}/{state}"), data)
    servers.append(server)
    reading = service(FOLDERS[folder], server.url)
    return reading, list(reading.results("batch-1"))


@recorded
@pytest.mark.parametrize(
    ("name", "done", "failed"),
    [
        ("anthropic/batch_in_progress", False, False),
        ("anthropic/batch_canceling", False, False),
        ("anthropic/batch_ended", True, False),
        ("openai/batch_validating", False, False),
        ("openai/batch_in_progress", False, False),
        ("openai/batch_completed", True, False),
        ("openai/batch_completed_all_failed", True, False),
        ("openai/batch_cancelled", True, False),
        ("openai/batch_failed_validation", True, True),
        ("openai/batch_failed_token_limit", True, True),
        ("gemini/batch_pending", False, False),
        ("gemini/batch_running", False, False),
        ("gemini/batch_succeeded_file", True, False),
        ("gemini/batch_cancelled", True, False),
    ],
)
def test_a_recorded_batch_is_done_or_not(served: list[Server], name: str, done: bool, failed: bool):
    server = Files(fixture(name), {})
    served.append(server)
    state = service(FOLDERS[name.split("/")[0]], server.url).batch_state("batch-1")
    assert (state.done, state.failed) == (done, failed)


def outcomes(rows: list[Row]) -> dict[str, str | None]:
    return {row.id: row.failure.kind if row.failure else None for row in rows}


@recorded
def test_recorded_rows_of_anthropic(served: list[Server]):
    reading, rows = batch_of(
        served, "anthropic", "batch_ended", output="batch_results_mixed_real.jsonl"
    )
    assert outcomes(rows) == {
        "ok-1": None,
        "bad-model": "fatal",
        "image_url": "rejected",
        "c-1": "cancelled",
    }
    assert rows[0].body is not None
    assert reading.answer(rows[0].body).tokens == Tokens(16, 5)


@recorded
def test_recorded_rows_of_openai_stand_in_two_files(served: list[Server]):
    batch = "batch_completed"
    files = fixture(f"openai/{batch}")
    files["error_file_id"] = "file-errors"
    server = Files(
        files,
        {
            files["output_file_id"]: (
                FIXTURES / "openai/batch_output_completed.jsonl"
            ).read_bytes(),
            "file-errors": (FIXTURES / "openai/batch_error_file.jsonl").read_bytes(),
        },
    )
    served.append(server)
    rows = list(service("openai", server.url).results("batch-1"))
    found = outcomes(rows)
    assert {found[f"request-{n}"] for n in (2, 3, 4)} == {"rejected", "cancelled", "expired"}
    assert sum(kind is None for kind in found.values()) == len(found) - 3 > 0


@recorded
def test_a_batch_of_which_all_rows_failed_has_no_output_file(served: list[Server]):
    batch = fixture("openai/batch_completed_all_failed")
    assert batch["output_file_id"] is None
    server = Files(
        batch,
        {batch["error_file_id"]: (FIXTURES / "openai/batch_error_file.jsonl").read_bytes()},
    )
    served.append(server)
    rows = list(service("openai", server.url).results("batch-1"))
    assert [row.body for row in rows] == [None] * 3


@recorded
def test_recorded_rows_of_google(served: list[Server]):
    reading, rows = batch_of(
        served, "gemini", "batch_succeeded_file", batch_leg9="batch_output_file.jsonl"
    )
    assert outcomes(rows) == {"request-1": None, "request-2": "cancelled"}
    assert rows[0].body is not None
    assert reading.answer(rows[0].body).tokens == Tokens(10, 59)


@recorded
def test_a_cancelled_job_of_google_has_no_rows(served: list[Server]):
    _, rows = batch_of(served, "gemini", "batch_cancelled")
    assert rows == []


@pytest.mark.parametrize("provider", ASKED)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"error": "x"},
        {"type": "message", "content": [1]},
        {"type": "message", "content": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"message": "text"}]},
        {"candidates": "x"},
        {"candidates": [{"content": "x"}]},
    ],
    ids=str,
)
def test_what_is_no_reply_is_unreadable_and_not_an_answer(provider: str, body: Body):
    from rge.providers.caller import read

    with pytest.raises(Failure) as caught:
        read(service(provider), body)
    assert (caught.value.kind, caught.value.billed) == ("unreadable", None)
