"""The three APIs over one store: models that answer by rule, batches that end when they are told.

Tokens are counted by rule too, so that ledgers can be checked against figures worked out by hand:
a prompt token for every four characters, an output token for every four, none cached.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from loopback.wire import Answer, Call, Server

# system, user, whether the reply has a schema -> text of the reply
Rule = Callable[[str, str, bool], str]
MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-5.4-2026-03-05",
    "google": "gemini-3.1-pro-preview",
}


@dataclass
class Batch:
    """A submitted batch; `row_fates` says what becomes of a row that is not simply answered."""

    id: str
    name: str
    provider: str
    rows: dict[str, dict[str, Any]]
    n_polls: int = 0
    lines: dict[str, bytes] = field(default_factory=dict)  # output and error file
    cancelled: bool = False


class Loopback(Server):
    """Anthropic, OpenAI and Google on one port.

    Attributes
    ----------
    rule
        Answers every request.
    count
        Tokens of prompt and reply, from system, user and text.
    polls_until_done
        How often a batch is looked at before it is done.
    row_fates
        (provider, n-th batch, row number) -> `errored`, `rejected`, `fatal`, `expired`, `missing`,
        `duplicate`, `unreadable` or `garbled` (not even the id can be read); rows are answered
        otherwise.
    batch_fates
        (provider, n-th batch) -> `failed`, `expired`, `expired half-way`, `cancelled`, or
        `partially_succeeded`; the rows of the last are answered as `row_fates` says.
    billed
        How often each request was answered and charged, by (provider, mode, user message).
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.polls_until_done = 1
        self.shuffle = True
        self.row_fates: dict[tuple[str, int, int], str] = {}
        self.batch_fates: dict[tuple[str, int], str] = {}
        self.batches: dict[str, Batch] = {}
        self.files: dict[str, bytes] = {}
        self.count = _a_quarter
        self.billed: Counter[tuple[str, str, str]] = Counter()
        super().__init__()

    def route(self, method: str, path: str) -> tuple[str, Callable[[Call], Answer]]:
        for operation, verb, pattern, answer in _ROUTES:
            if verb == method and re.fullmatch(pattern, path):
                return operation, lambda call, answer=answer: answer(self, call)
        return "unknown", lambda call: (404, {}, {"error": {"message": f"no route {path}"}})

    # What the providers share -----------------------------------------------------------------

    def text_of(self, provider: str, body: dict[str, Any]) -> tuple[str, str, bool]:
        """System, user and whether a schema was sent."""
        if provider == "anthropic":
            system = "".join(block["text"] for block in body["system"])
            user = "".join(block["text"] for block in body["messages"][0]["content"])
            return system, user, "format" in body.get("output_config", {})
        if provider == "openai":
            system, user = (message["content"] for message in body["messages"])
            return system, user, "response_format" in body
        system = _field(body, "system_instruction")["parts"][0]["text"]
        config = _field(body, "generation_config")
        return (
            system,
            body["contents"][0]["parts"][0]["text"],
            _field(config, "response_json_schema") is not None,
        )

    def reply(self, provider: str, body: dict[str, Any], mode: str) -> dict[str, Any]:
        """A reply's body in the recorded shape; it is billed."""
        system, user, has_schema = self.text_of(provider, body)
        text = self.rule(system, user, has_schema)
        with self.lock:
            self.billed[provider, mode, user] += 1
        n_in, n_out = self.count(system, user, text)
        cap = _cap(provider, body)
        if n_out > cap:
            text, n_out, stop = text[: 4 * cap], cap, "cut"
        else:
            stop = "end"
        return _SHAPES[provider](text, n_in, n_out, stop, mode)

    def new_batch(self, provider: str, name: str, rows: dict[str, dict[str, Any]]) -> Batch:
        with self.lock:
            number = sum(batch.provider == provider for batch in self.batches.values())
            prefix = {"anthropic": "msgbatch_", "openai": "batch_", "google": "batches/"}[provider]
            batch = Batch(f"{prefix}{provider}{number}", name, provider, rows)
            self.batches[batch.id] = batch
        return batch

    def number(self, batch: Batch) -> int:
        mine = [b.id for b in self.batches.values() if b.provider == batch.provider]
        return mine.index(batch.id)

    def done(self, batch: Batch) -> bool:
        """Count a look, and run the rows when the time has come."""
        with self.lock:
            batch.n_polls += 1
            ready = batch.n_polls > self.polls_until_done and not batch.lines
        if ready:
            self.run_rows(batch)
        return bool(batch.lines)

    def run_rows(self, batch: Batch) -> None:
        number = self.number(batch)
        fate_of_all = self.batch_fates.get((batch.provider, number))
        good, bad = [], []
        for place, (row_id, body) in enumerate(batch.rows.items()):
            fate = self.row_fates.get((batch.provider, number, place), "answered")
            half_way = fate_of_all == "expired half-way" and place >= len(batch.rows) // 2
            if _cap(batch.provider, body) == 0:
                fate = "rejected"
            if fate_of_all in ("failed", "expired", "cancelled") or half_way:
                fate = "expired"
            if fate in ("answered", "duplicate", "unreadable", "garbled"):
                line = _good_row(batch.provider, row_id, self.reply(batch.provider, body, "batch"))
                cut = {"unreadable": line[: len(line) // 2], "garbled": line[-30:]}
                good.append(cut.get(fate, line))
                if fate == "duplicate":
                    good.append(line)
            elif fate != "missing":
                bad.append(_bad_row(batch.provider, row_id, fate))
        if self.shuffle:
            random.Random(number).shuffle(good)
        if batch.provider != "openai":
            good, bad = good + bad, []
        batch.lines = {"output": _jsonl(good), "error": _jsonl(bad), "done": b"yes"}


def _a_quarter(system: str, user: str, text: str) -> tuple[int, int]:
    return (len(system) + len(user)) // 4, len(text) // 4


def _field(body: dict[str, Any], name: str) -> Any:
    """A field of a Google body, which goes by either of two spellings."""
    head, *tail = name.split("_")
    return body.get(name, body.get(head + "".join(part.title() for part in tail)))


def _cap(provider: str, body: dict[str, Any]) -> int:
    if provider == "anthropic":
        return body["max_tokens"]
    if provider == "openai":
        return body["max_completion_tokens"]
    return _field(_field(body, "generation_config"), "max_output_tokens")


def _jsonl(lines: list[str]) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def _anthropic_shape(text: str, n_in: int, n_out: int, stop: str, mode: str) -> dict[str, Any]:
    return {
        "model": MODELS["anthropic"],
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": "end_turn" if stop == "end" else "max_tokens",
        "stop_sequence": None,
        "stop_details": None,
        "usage": {
            "input_tokens": n_in,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": n_out,
            "service_tier": "batch" if mode == "batch" else "standard",
            "inference_geo": "global",
        },
    }


def _openai_shape(text: str, n_in: int, n_out: int, stop: str, mode: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1791225871,
        "model": MODELS["openai"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "finish_reason": "stop" if stop == "end" else "length",
            }
        ],
        "usage": {
            "prompt_tokens": n_in,
            "completion_tokens": n_out,
            "total_tokens": n_in + n_out,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": None,
    }


def _google_shape(text: str, n_in: int, n_out: int, stop: str, mode: str) -> dict[str, Any]:
    content = {"parts": [{"text": text}], "role": "model"} if text else {"role": "model"}
    return {
        "candidates": [
            {
                "content": content,
                "finishReason": "STOP" if stop == "end" else "MAX_TOKENS",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": n_in,
            "candidatesTokenCount": n_out,
            "totalTokenCount": n_in + n_out,
        },
        "modelVersion": MODELS["google"],
        "responseId": "r1",
    }


_SHAPES = {"anthropic": _anthropic_shape, "openai": _openai_shape, "google": _google_shape}


def _good_row(provider: str, row_id: str, body: dict[str, Any]) -> str:
    shapes: dict[str, dict[str, Any]] = {
        "anthropic": {"custom_id": row_id, "result": {"type": "succeeded", "message": body}},
        "openai": {
            "id": "batch_req_1",
            "custom_id": row_id,
            "response": {"status_code": 200, "request_id": "r", "body": body},
            "error": None,
        },
        "google": {"key": row_id, "response": body},
    }
    return json.dumps(shapes[provider], ensure_ascii=False)


def _bad_row(provider: str, row_id: str, fate: str) -> str:
    if provider == "anthropic":
        if fate == "expired":
            return json.dumps({"custom_id": row_id, "result": {"type": "expired"}})
        kinds = {"rejected": "invalid_request_error", "fatal": "not_found_error"}
        kind = kinds.get(fate, "overloaded_error")
        error = {"type": "error", "error": {"type": kind, "message": fate}, "request_id": None}
        return json.dumps({"custom_id": row_id, "result": {"type": "errored", "error": error}})
    if provider == "openai":
        if fate == "expired":
            error = {"code": "batch_expired", "message": "not executed in time"}
            row = {"id": "r", "custom_id": row_id, "response": None, "error": error}
        else:
            code = {"rejected": 400, "fatal": 404}.get(fate, 500)
            body = {"error": {"message": fate, "type": "invalid_request_error", "code": None}}
            response = {"status_code": code, "request_id": "r", "body": body}
            row = {"id": "r", "custom_id": row_id, "response": response, "error": None}
        return json.dumps(row)
    code = {"rejected": 3, "expired": 1, "fatal": 5}.get(fate, 13)
    return json.dumps({"key": row_id, "error": {"code": code, "message": fate}})


# Anthropic ------------------------------------------------------------------------------------


def _anthropic_send(server: Loopback, call: Call) -> Answer:
    return 200, {"request-id": "req_1"}, server.reply("anthropic", call.json, "sync")


def _anthropic_create(server: Loopback, call: Call) -> Answer:
    rows = {row["custom_id"]: row["params"] for row in call.json["requests"]}
    return 200, {}, _anthropic_batch(server, server.new_batch("anthropic", "", rows), False)


def _anthropic_batch(server: Loopback, batch: Batch, done: bool) -> dict[str, Any]:
    n, none = len(batch.rows), {"canceled": 0, "expired": 0, "errored": 0}
    counts = {"processing": 0 if done else n, "succeeded": n if done else 0, **none}
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if done else "in_progress",
        "request_counts": counts,
        "ended_at": "2026-11-01T01:00:00Z" if done else None,
        "created_at": "2026-11-01T00:00:00Z",
        "expires_at": "2026-11-02T00:00:00Z",
        "archived_at": None,
        "cancel_initiated_at": None,
        "results_url": f"{server.url}/v1/messages/batches/{batch.id}/results" if done else None,
    }


def _anthropic_get(server: Loopback, call: Call) -> Answer:
    batch = server.batches[call.path.split("/")[4]]
    return 200, {}, _anthropic_batch(server, batch, server.done(batch))


def _anthropic_list(server: Loopback, call: Call) -> Answer:
    mine = [b for b in server.batches.values() if b.provider == "anthropic"]
    data = [_anthropic_batch(server, batch, server.done(batch)) for batch in reversed(mine)]
    return 200, {}, {"data": data, "has_more": False, "first_id": None, "last_id": None}


def _anthropic_results(server: Loopback, call: Call) -> Answer:
    batch = server.batches[call.path.split("/")[4]]
    if not batch.lines:
        error = {"type": "not_found_error", "message": "has no available results"}
        return 404, {}, {"type": "error", "error": error}
    return 200, {"Content-Type": "application/x-jsonl"}, batch.lines["output"]


# OpenAI ---------------------------------------------------------------------------------------


def _openai_send(server: Loopback, call: Call) -> Answer:
    return 200, {"x-request-id": "r1"}, server.reply("openai", call.json, "sync")


def _openai_upload(server: Loopback, call: Call) -> Answer:
    boundary = re.search(r"boundary=(\S+)", call.headers["content-type"])[1].encode()
    parts = call.body.split(b"--" + boundary)
    part = next(p for p in parts if b'filename="' in p)
    file_id = f"file-{len(server.files)}"
    server.files[file_id] = part.split(b"\r\n\r\n", 1)[1].rstrip(b"\r\n")
    return (
        200,
        {},
        {
            "id": file_id,
            "object": "file",
            "bytes": len(server.files[file_id]),
            "created_at": 1,
            "filename": "b.jsonl",
            "purpose": "batch",
            "status": "processed",
        },
    )


def _openai_create(server: Loopback, call: Call) -> Answer:
    body = call.json
    lines = server.files[body["input_file_id"]].decode().splitlines()
    rows = {row["custom_id"]: row["body"] for row in map(json.loads, lines)}
    batch = server.new_batch("openai", (body.get("metadata") or {}).get("rge", ""), rows)
    return 200, {}, _openai_batch(server, batch, False)


def _openai_batch(server: Loopback, batch: Batch, done: bool) -> dict[str, Any]:
    fate = server.batch_fates.get(("openai", server.number(batch)))
    status = (fate or "completed").split()[0] if done else "in_progress"
    lines = batch.lines if done and status != "failed" else {}
    errors = None
    if status == "failed":
        fault = {"code": "token_limit_exceeded", "message": "too much is queued", "line": None}
        errors = {"object": "list", "data": [{**fault, "param": None}]}
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "errors": errors,
        "input_file_id": "file-0",
        "completion_window": "24h",
        "status": status,
        "output_file_id": f"out-{batch.id}" if lines.get("output") else None,
        "error_file_id": f"err-{batch.id}" if lines.get("error") else None,
        "created_at": 1761083220,
        "request_counts": {"total": len(batch.rows), "completed": 0, "failed": 0},
        "metadata": {"rge": batch.name},
    }


def _openai_get(server: Loopback, call: Call) -> Answer:
    batch = server.batches[call.path.split("/")[3]]
    return 200, {}, _openai_batch(server, batch, server.done(batch))


def _openai_list(server: Loopback, call: Call) -> Answer:
    mine = [b for b in server.batches.values() if b.provider == "openai"]
    data = [_openai_batch(server, batch, bool(batch.lines)) for batch in reversed(mine)]
    return 200, {}, {"object": "list", "data": data, "has_more": False}


def _openai_content(server: Loopback, call: Call) -> Answer:
    kind, _, batch_id = call.path.split("/")[3].partition("-")
    lines = server.batches[batch_id].lines["output" if kind == "out" else "error"]
    return 200, {"Content-Type": "application/octet-stream"}, lines


# Google ---------------------------------------------------------------------------------------


def _google_send(server: Loopback, call: Call) -> Answer:
    return 200, {}, server.reply("google", call.json, "sync")


def _google_upload(server: Loopback, call: Call) -> Answer:
    file_id = f"f{len(server.files)}"
    server.files[f"files/{file_id}"] = b""
    # An absolute address: the client goes wherever it points.
    url = {"x-goog-upload-url": f"{server.url}/up/{file_id}", "x-goog-upload-status": "active"}
    return 200, url, {}


def _google_uploaded(server: Loopback, call: Call) -> Answer:
    name = f"files/{call.path.split('/')[-1]}"
    server.files[name] += call.body
    file = {"name": name, "uri": f"{server.url}/v1beta/{name}", "state": "ACTIVE"}
    return 200, {"x-goog-upload-status": "final"}, {"file": file}


def _google_create(server: Loopback, call: Call) -> Answer:
    wanted = _field(call.json, "batch")
    config = _field(wanted, "input_config")
    lines = server.files[_field(config, "file_name")].decode().splitlines()
    rows = {row["key"]: row["request"] for row in map(json.loads, lines)}
    batch = server.new_batch("google", _field(wanted, "display_name") or "", rows)
    return 200, {}, _google_batch(server, batch, False)


def _google_batch(server: Loopback, batch: Batch, done: bool) -> dict[str, Any]:
    fate = server.batch_fates.get(("google", server.number(batch)), "succeeded")
    state = f"BATCH_STATE_{fate.split()[0].upper()}" if done else "BATCH_STATE_RUNNING"
    name = f"files/out-{batch.id.partition('/')[2]}"
    delivered = fate in ("succeeded", "partially_succeeded", "expired half-way")
    output = {"responsesFile": name} if done and delivered else {}
    job: dict[str, Any] = {
        "name": batch.id,
        "metadata": {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "model": f"models/{MODELS['google']}",
            "displayName": batch.name,
            "createTime": "2026-11-01T00:00:00Z",
            "batchStats": {"requestCount": str(len(batch.rows))},
            "state": state,
            "name": batch.id,
            **({"output": output} if output else {}),
        },
    }
    if done:
        job["done"] = True
    if fate == "failed" and done:
        job["error"] = {"code": 13, "message": "internal failure"}
    return job


def _google_get(server: Loopback, call: Call) -> Answer:
    batch = server.batches[call.path.removeprefix("/v1beta/")]
    return 200, {}, _google_batch(server, batch, server.done(batch))


def _google_list(server: Loopback, call: Call) -> Answer:
    mine = [b for b in server.batches.values() if b.provider == "google"]
    return 200, {}, {"operations": [_google_batch(server, b, bool(b.lines)) for b in mine]}


def _google_download(server: Loopback, call: Call) -> Answer:
    batch_id = call.path.split("out-")[1].split(":")[0]
    lines = server.batches[f"batches/{batch_id}"].lines["output"]
    return 200, {"Content-Type": "application/octet-stream"}, lines


def _cancel(server: Loopback, call: Call) -> Answer:
    return 200, {}, {}


_ROUTES: tuple[tuple[str, str, str, Callable[[Loopback, Call], Answer]], ...] = (
    ("anthropic:send", "POST", "/v1/messages", _anthropic_send),
    ("anthropic:create", "POST", "/v1/messages/batches", _anthropic_create),
    ("anthropic:list", "GET", "/v1/messages/batches", _anthropic_list),
    ("anthropic:results", "GET", "/v1/messages/batches/[^/]+/results", _anthropic_results),
    ("anthropic:poll", "GET", "/v1/messages/batches/[^/]+", _anthropic_get),
    ("anthropic:cancel", "POST", "/v1/messages/batches/[^/]+/cancel", _cancel),
    ("openai:send", "POST", "/v1/chat/completions", _openai_send),
    ("openai:upload", "POST", "/v1/files", _openai_upload),
    ("openai:results", "GET", "/v1/files/[^/]+/content", _openai_content),
    ("openai:create", "POST", "/v1/batches", _openai_create),
    ("openai:list", "GET", "/v1/batches", _openai_list),
    ("openai:poll", "GET", "/v1/batches/[^/]+", _openai_get),
    ("openai:cancel", "POST", "/v1/batches/[^/]+/cancel", _cancel),
    ("google:send", "POST", "/v1beta/models/[^/]+:generateContent", _google_send),
    ("google:upload", "POST", "/upload/v1beta/files", _google_upload),
    ("google:upload", "POST", "/up/[^/]+", _google_uploaded),
    ("google:create", "POST", "/v1beta/models/[^/]+:batchGenerateContent", _google_create),
    ("google:list", "GET", "/v1beta/batches", _google_list),
    ("google:poll", "GET", "/v1beta/batches/[^/]+", _google_get),
    ("google:cancel", "POST", "/v1beta/batches/[^/]+:cancel", _cancel),
    ("google:results", "GET", "/(?:download/)?v1beta/files/[^/]+:download", _google_download),
)
