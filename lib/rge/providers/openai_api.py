"""GPT through Chat Completions and its batches, and any server that speaks the same protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from rge.errors import UsageError
from rge.providers.http_failures import from_sdk, from_status
from rge.providers.options import HostedOptions, checked_url, secret
from rge.providers.prices import Tokens
from rge.providers.request import (
    Answer,
    BatchState,
    Body,
    Failure,
    FailureKind,
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
    from openai import OpenAI

ENDPOINT: Final = "/v1/chat/completions"
_STATUS: dict[str, Status] = {
    "stop": "ok",
    "length": "truncated",
    "content_filter": "refused_by_provider",
}
_DONE = ("completed", "expired", "cancelled")
_NOT_RUN: dict[str, FailureKind] = {"batch_expired": "expired", "batch_cancelled": "cancelled"}


class OpenAIService:
    """One GPT model."""

    provider = "openai"
    caching = False  # automatic: nothing is asked for and writing to the cache is free

    def __init__(self, where: str, options: HostedOptions, *, seed: int) -> None:
        self._where, self._options = where, options
        self.model = options.model
        effort = options.effort or "none"
        if effort != "none" and options.temperature is not None:
            raise UsageError(
                where,
                f"temperature {options.temperature} with effort {effort}",
                allowed="a temperature only where the model does not reason",
                do="set effort: none, or temperature: null",
            )
        self.params: dict[str, Any] = {
            "provider": self.provider,
            "model": options.model,
            "temperature": options.temperature,
            "effort": effort,
            "seed": seed,
            "max_tokens": options.max_tokens,
        }
        if options.base_url is not None:
            self.params["base_url"] = checked_url(where, options.base_url)

    def body(self, request: Request) -> Body:
        """The request; what does not change stands first, for the provider's cache."""
        body: Body = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "reasoning_effort": self.params["effort"],
            "seed": self.params["seed"],
            "max_completion_tokens": request.max_tokens,
        }
        if self._options.temperature is not None:
            body["temperature"] = self._options.temperature
        if request.schema is not None:
            body["response_format"] = json_schema_format(request.schema)
        return body

    def send(self, body: Body) -> Body:
        """The completion."""
        return complete(self._client, body, self._key)

    def answer(self, body: Body) -> Answer:
        """As `completion_answer`."""
        return completion_answer(body)

    def submit(self, name: str, rows: Mapping[str, Body]) -> str:
        """The id of a new batch that carries `name` as metadata."""
        lines = "".join(
            json.dumps(
                {"custom_id": row, "method": "POST", "url": ENDPOINT, "body": body},
                ensure_ascii=False,
            )
            + "\n"
            for row, body in rows.items()
        )
        with from_sdk("openai", self._key):
            file = self._client.files.create(
                file=(f"{name}.jsonl", lines.encode("utf-8")), purpose="batch"
            )
            batch = self._client.batches.create(
                input_file_id=file.id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata={"rge": name},
            )
        return batch.id

    def find_batch(self, name: str, row_ids: frozenset[str], known: frozenset[str]) -> str | None:
        """The batch whose metadata carries `name`."""
        with from_sdk("openai", self._key):
            for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get("rge") == name:
                    return batch.id
        return None

    def batch_state(self, batch_id: str) -> BatchState:
        """Whether results can be read; of a batch that failed no row ran."""
        batch = self._batch(batch_id)
        status = str(batch.get("status"))
        if status != "failed":
            return BatchState(status in _DONE, status)
        errors = ((batch.get("errors") or {}).get("data")) or [{}]
        code, message = errors[0].get("code"), errors[0].get("message")
        return BatchState(True, short(f"{code}: {message}"), failed=True)

    def results(self, batch_id: str) -> Iterator[Row]:
        """Rows of both files; either may be missing, and each row stands in one of them."""
        batch = self._batch(batch_id)
        for key in ("output_file_id", "error_file_id"):
            if batch.get(key):
                with from_sdk("openai", self._key):
                    text = self._client.files.content(batch[key]).content.decode("utf-8", "replace")
                yield from read_rows(text, self._key, _row)

    @property
    def http(self) -> httpx.Client:
        """The connection."""
        return self._client._client

    def close(self) -> None:
        """Close the connection, if there is one."""
        if "_client" in self.__dict__:
            self._client.close()
            del self.__dict__["_client"]

    def _batch(self, batch_id: str) -> Body:
        with from_sdk("openai", self._key):
            raw = self._client.batches.with_raw_response.retrieve(batch_id)
            return parsed(raw.text, self._key)

    @cached_property
    def _key(self) -> str:
        return secret(self._where, self._options.key)

    @cached_property
    def _client(self) -> OpenAI:
        return connect(
            self._options.base_url or "https://api.openai.com/v1",
            self._key,
            self._options.timeout_s,
        )


def connect(base_url: str, key: str, timeout_s: float) -> OpenAI:
    """A client without retries that takes nothing from the environment."""
    from openai import DefaultHttpxClient, OpenAI

    from rge.providers.deadline import event_hooks

    return OpenAI(
        base_url=base_url,
        # Given in full, so that no credential of another service is taken from the environment.
        api_key=key,
        admin_api_key="",
        organization="",
        project="",
        timeout=timeout_s,
        max_retries=0,
        http_client=DefaultHttpxClient(event_hooks=event_hooks(timeout_s)),
    )


def complete(client: OpenAI, body: Body, key: str) -> Body:
    """The completion of a request; raises `Failure`."""
    import httpx

    with from_sdk("openai", key):
        # The body goes as it is: the library would take it apart and build it again.
        raw = client.post("/chat/completions", body=body, cast_to=httpx.Response)
        return parsed(raw.text, key)


def json_schema_format(schema: Mapping[str, Any]) -> Body:
    """The `response_format` that holds replies to a schema."""
    form = {"name": "verdict", "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": form}


def completion_answer(body: Body) -> Answer:
    """What a chat completion says.

    Raises
    ------
    Failure
        Where it has no choice to read.
    """
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Failure("unreadable", "unreadable reply: no choices", billed=None)
    message, stop = choices[0].get("message") or {}, str(choices[0].get("finish_reason"))
    text, refusal = (message.get("content") or "").strip(), message.get("refusal")
    status = _STATUS.get(stop, "error")
    if refusal:
        text, status, stop = text or refusal, "refused_by_provider", "refusal"
    elif not text and status == "ok":
        status, stop = "error", f"{stop}: no text"
    usage = body.get("usage") or {}
    prompt = usage.get("prompt_tokens_details") or {}
    cached = prompt.get("cached_tokens") or 0
    written = prompt.get("cache_write_tokens")
    whole = usage.get("prompt_tokens") or 0
    output = usage.get("completion_tokens") or 0
    return Answer(
        text=text,
        status=status,
        stop_reason=stop,
        model_id=str(body.get("model") or ""),
        usage=Usage(
            input=usage.get("prompt_tokens"),
            output=usage.get("completion_tokens"),
            cache_read=prompt.get("cached_tokens"),
            cache_write=written,
            reasoning=(usage.get("completion_tokens_details") or {}).get("reasoning_tokens"),
        ),
        # Cached tokens are part of the prompt's count, reasoning part of the output's.
        tokens=Tokens(input=whole - cached, output=output, cache_read=cached),
    )


def _row(item: Body) -> Row:
    row_id, response, error = str(item["custom_id"]), item.get("response"), item.get("error")
    if response is None:
        code = str((error or {}).get("code"))
        message = short(f"{code}: {(error or {}).get('message')}")
        return Row(row_id, failure=Failure(_NOT_RUN.get(code, "server"), message))
    status, body = response.get("status_code"), response.get("body") or {}
    if status == 200:
        return Row(row_id, body=body)
    fault = body.get("error") or {}
    code, message = str(fault.get("code") or fault.get("type")), str(fault.get("message"))
    return Row(row_id, failure=from_status(int(status or 500), code, message))
