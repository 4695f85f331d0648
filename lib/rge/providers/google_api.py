"""Gemini through generateContent and its batches."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rge.errors import UsageError
from rge.providers.http_failures import from_sdk, from_status
from rge.providers.options import HostedOptions, checked_url, secret
from rge.providers.prices import Tokens
from rge.providers.request import (
    Answer,
    BatchState,
    Body,
    Failure,
    Request,
    Row,
    parsed,
    read_rows,
    short,
)
from rge.records import Usage
from rge.subjects.reply import Status

if TYPE_CHECKING:
    import httpx
    from google.genai import Client

API_VERSION = "v1beta"  # batches and preview models are documented there
_STATUS: dict[str, Status] = {"STOP": "ok", "MAX_TOKENS": "truncated"}
_REFUSALS = (
    *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
    *("IMAGE_SAFETY", "MODEL_ARMOR"),
)
_ROW_STATUS = {1: 499, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503}  # gRPC to HTTP
_DONE = ("SUCCEEDED", "PARTIALLY_SUCCEEDED", "CANCELLED", "EXPIRED")


class GoogleService:
    """One Gemini model."""

    provider = "google"
    caching = False  # implicit: nothing is asked for and writing to the cache is free

    def __init__(self, where: str, options: HostedOptions, *, seed: int) -> None:
        self._where, self._options = where, options
        self.model = options.model
        if options.effort in ("none", "minimal", "max"):
            raise UsageError(
                where,
                f"effort {options.effort}",
                allowed="low, medium, high, or none given; this model always thinks",
            )
        self.params: dict[str, Any] = {
            "provider": self.provider,
            "model": options.model,
            "api_version": API_VERSION,
            "temperature": options.temperature,
            "thinking_level": options.effort,
            "seed": seed,
            "max_tokens": options.max_tokens,
        }
        if options.base_url is not None:
            self.params["base_url"] = checked_url(where, options.base_url)

    def body(self, request: Request) -> Body:
        """The request by its names on the wire, also in batches; thoughts count as output."""
        generation: Body = {
            "seed": self.params["seed"],
            "maxOutputTokens": request.max_tokens,
        }
        if self._options.temperature is not None:
            generation["temperature"] = self._options.temperature
        if self._options.effort is not None:
            generation["thinkingConfig"] = {"thinkingLevel": self._options.effort.upper()}
        if request.schema is not None:
            generation["responseMimeType"] = "application/json"
            generation["responseJsonSchema"] = dict(request.schema)
        return {
            "model": self.model,
            "systemInstruction": {"parts": [{"text": request.system}]},
            "contents": [{"role": "user", "parts": [{"text": request.user}]}],
            "generationConfig": generation,
        }

    def send(self, body: Body) -> Body:
        """The reply as sent, without the library's reading of it."""
        sent = {name: part for name, part in body.items() if name != "model"}
        return self._request("post", f"models/{body['model']}:generateContent", sent)

    def answer(self, body: Body) -> Answer:
        """Text parts that are no thoughts; a blocked prompt has no candidate at all."""
        feedback = body.get("promptFeedback") or {}
        candidates = body.get("candidates") or []
        if not candidates and not feedback.get("blockReason"):
            found = short(json.dumps(body))
            raise Failure("unreadable", f"unreadable reply: no candidate: {found}", billed=None)
        candidate = candidates[0] if candidates else {}
        parts = (candidate.get("content") or {}).get("parts") or []
        text = "".join(p.get("text", "") for p in parts if not p.get("thought")).strip()
        stop = str(candidate.get("finishReason"))
        status = "refused_by_provider" if stop in _REFUSALS else _STATUS.get(stop, "error")
        if not candidates:
            status, stop = "refused_by_provider", f"prompt blocked: {feedback['blockReason']}"
        elif status == "ok" and not text:
            status, stop = "error", f"{stop}: no text"
        return Answer(
            text=text,
            status=status,
            stop_reason=stop,
            model_id=str(body.get("modelVersion") or ""),
            usage=_usage(body.get("usageMetadata") or {}),
            tokens=_tokens(body.get("usageMetadata") or {}),
        )

    def submit(self, name: str, rows: Mapping[str, Body]) -> str:
        """The name of a new batch that shows `name`; rows go as a file, which keeps their keys."""
        from google.genai.types import UploadFileConfig

        lines = "".join(
            json.dumps(
                {"key": row, "request": {k: v for k, v in body.items() if k != "model"}},
                ensure_ascii=False,
            )
            + "\n"
            for row, body in rows.items()
        )
        with from_sdk("google", self._key):
            file = self._client.files.upload(
                file=io.BytesIO(lines.encode("utf-8")),
                config=UploadFileConfig(display_name=name, mime_type="application/jsonl"),
            )
            job = self._client.batches.create(
                model=self.model, src=str(file.name), config={"display_name": name}
            )
        return str(job.name)

    def find_batch(self, name: str, row_ids: frozenset[str], known: frozenset[str]) -> str | None:
        """The batch that shows `name`."""
        with from_sdk("google", self._key):
            for job in self._client.batches.list(config={"page_size": 100}):
                if job.display_name == name:
                    return str(job.name)
        return None

    def batch_state(self, batch_id: str) -> BatchState:
        """Whether results can be read; the library drops a job's error, so the body is read."""
        job = self._request("get", batch_id, {})
        state = _state(job)
        if state == "FAILED":
            error = job.get("error") or {}
            return BatchState(True, short(error.get("message") or error), failed=True)
        return BatchState(state in _DONE, state.lower())

    def results(self, batch_id: str) -> Iterator[Row]:
        """Rows of the output file; an expired or cancelled job may have none."""
        job = self._request("get", batch_id, {})
        output = (job.get("metadata") or {}).get("output") or job.get("response") or {}
        if not output.get("responsesFile"):
            return
        with from_sdk("google", self._key):
            data = self._client.files.download(file=output["responsesFile"])
        yield from read_rows(data.decode("utf-8", "replace"), self._key, _row)

    @property
    def http(self) -> httpx.Client:
        """The connection."""
        return self._client._api_client._httpx_client  # type: ignore[return-value]

    def close(self) -> None:
        """Close the connection, if there is one."""
        if "_client" in self.__dict__:
            self._client.close()
            del self.__dict__["_client"]

    def _request(self, method: str, path: str, body: Body) -> Body:
        """A reply's body; the library's typed methods drop parts of it."""
        with from_sdk("google", self._key):
            response = self._client._api_client.request(method, path, body)
            return parsed(response.body or "", self._key)

    @cached_property
    def _key(self) -> str:
        return secret(self._where, self._options.key)

    @cached_property
    def _client(self) -> Client:
        from google.genai import Client
        from google.genai.types import HttpOptions, HttpRetryOptions

        from rge.providers.deadline import event_hooks

        return Client(
            api_key=self._key,
            vertexai=False,
            http_options=HttpOptions(
                base_url=self._options.base_url or "https://generativelanguage.googleapis.com",
                api_version=API_VERSION,
                timeout=int(self._options.timeout_s * 1000),
                retry_options=HttpRetryOptions(attempts=1),
                client_args={"event_hooks": event_hooks(self._options.timeout_s)},
            ),
        )


def _state(job: Body) -> str:
    state = str((job.get("metadata") or {}).get("state") or job.get("state") or "")
    return state.removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """Cached tokens are part of the prompt's count; thoughts are beside the candidates'."""
    cached = usage.get("cachedContentTokenCount") or 0
    return Tokens(
        input=(usage.get("promptTokenCount") or 0)
        + (usage.get("toolUsePromptTokenCount") or 0)
        - cached,
        output=(usage.get("candidatesTokenCount") or 0) + (usage.get("thoughtsTokenCount") or 0),
        cache_read=cached,
    )


def _usage(usage: Mapping[str, Any]) -> Usage:
    tokens = _tokens(usage)
    return Usage(
        input=tokens.prompt,
        output=tokens.output,
        cache_read=tokens.cache_read,
        reasoning=usage.get("thoughtsTokenCount"),
    )


def _row(item: Body) -> Row:
    key = str(item["key"])
    if item.get("response"):
        return Row(key, body=item["response"])
    error = item.get("error") or {}
    code, message = int(error.get("code") or 13), str(error.get("message"))
    if code == 1:
        return Row(key, failure=Failure("cancelled", short(message)))
    return Row(key, failure=from_status(_ROW_STATUS.get(code, 500), "", message))
