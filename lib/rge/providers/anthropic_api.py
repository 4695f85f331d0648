"""Claude through the Messages API and its batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rge.errors import UsageError
from rge.providers.http_failures import from_sdk
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
    from anthropic import Anthropic

# Later versions of the API refuse any sampling parameter.
API_VERSION = "2023-06-01"
_STATUS: dict[str, Status] = {
    "end_turn": "ok",
    "stop_sequence": "ok",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refused_by_provider",
}
_ROW_KINDS: dict[str, FailureKind] = {
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate_limited",
    "api_error": "server",
    "timeout_error": "server",
    "authentication_error": "fatal",
    "billing_error": "fatal",
    "permission_error": "fatal",
    "not_found_error": "fatal",
}
_EFFORTS = (None, "none", "low", "medium", "high", "max")
_BATCHES_SEEN = 100


class AnthropicService:
    """One Claude model."""

    provider = "anthropic"

    def __init__(self, where: str, options: HostedOptions) -> None:
        self._where, self._options = where, options
        self.model, self.caching = options.model, options.cache
        if options.effort not in _EFFORTS or (options.temperature or 0) > 1:
            raise UsageError(
                where,
                f"effort {options.effort}, temperature {options.temperature}",
                allowed="effort none, low, medium, high or max; temperature from 0 to 1",
                do="fix the profile",
            )
        thinks = options.effort not in (None, "none")
        if thinks and options.temperature not in (None, 1.0):
            raise UsageError(
                where,
                f"temperature {options.temperature} with effort {options.effort}",
                allowed="temperature 1 or none where the model thinks",
                do="set effort: none, or temperature: null",
            )
        self.params: dict[str, Any] = {
            "provider": self.provider,
            "model": options.model,
            "api_version": API_VERSION,
            "temperature": options.temperature,
            "thinking": options.effort if thinks else "disabled",
            "max_tokens": options.max_tokens,
            "cache": options.cache,
        }
        if options.base_url is not None:
            self.params["base_url"] = checked_url(where, options.base_url)

    def body(self, request: Request) -> Body:
        """The request: system prompt and shared text are marked for caching where asked for."""
        mark = {"cache_control": {"type": "ephemeral"}} if self.caching else {}
        shared, own = request.user[: request.n_shared], request.user[request.n_shared :]
        blocks = [{"type": "text", "text": shared, **mark}] if shared else []
        blocks += [{"type": "text", "text": own}] if own else []
        body: Body = {
            "model": self.model,
            "max_tokens": request.max_tokens,
            "system": [{"type": "text", "text": request.system, **mark}],
            "messages": [{"role": "user", "content": blocks}],
        }
        if self._options.temperature is not None:
            body["temperature"] = self._options.temperature
        output: Body = {}
        if self.params["thinking"] == "disabled":
            body["thinking"] = {"type": "disabled"}
        else:
            body["thinking"] = {"type": "adaptive"}
            output["effort"] = self._options.effort
        if request.schema is not None:
            output["format"] = {"type": "json_schema", "schema": dict(request.schema)}
        if output:
            body["output_config"] = output
        return body

    def send(self, body: Body) -> Body:
        """The message."""
        import httpx

        with from_sdk("anthropic", self._key):
            # The body goes as it is: the library would take it apart and build it again.
            raw = self._client.post("/v1/messages", body=body, cast_to=httpx.Response)
            return parsed(raw.text, self._key)

    def answer(self, body: Body) -> Answer:
        """Text blocks in order; thinking comes before them and is no text."""
        if body.get("type") != "message" or not isinstance(body.get("content"), list):
            found = short(json.dumps(body))
            raise Failure("unreadable", f"unreadable reply: no message: {found}", billed=None)
        text = "".join(b.get("text", "") for b in body["content"] if b.get("type") == "text")
        stop = str(body.get("stop_reason"))
        status = _STATUS.get(stop, "error")
        if status == "ok" and not text.strip():
            status, stop = "error", f"{stop}: no text"
        usage = body.get("usage") or {}
        tokens = _tokens(usage)
        details = usage.get("output_tokens_details") or {}
        return Answer(
            text=text.strip(),
            status=status,
            stop_reason=_with_details(stop, body),
            model_id=str(body.get("model", "")),
            usage=Usage(
                input=tokens.prompt,
                output=tokens.output,
                cache_read=tokens.cache_read,
                cache_write=tokens.cache_write_5m + tokens.cache_write_1h,
                reasoning=details.get("thinking_tokens"),
            ),
            tokens=tokens,
        )

    def submit(self, name: str, rows: Mapping[str, Body]) -> str:
        """The id of a new batch; the API has no field for `name`."""
        with from_sdk("anthropic", self._key):
            raw = self._client.messages.batches.with_raw_response.create(
                requests=[{"custom_id": row, "params": body} for row, body in rows.items()]  # type: ignore[typeddict-item]
            )
            return str(parsed(raw.text, self._key)["id"])

    def find_batch(self, name: str, row_ids: frozenset[str], known: frozenset[str]) -> str | None:
        """A batch whose results hold our rows: only results show the ids of a batch.

        Raises
        ------
        Failure
            Where a batch of as many rows still runs: it may be ours, so nothing may be sent again.
        """
        with from_sdk("anthropic", self._key):
            raw = self._client.messages.batches.with_raw_response.list(limit=_BATCHES_SEEN)
            listed = parsed(raw.text, self._key).get("data", [])
        running = []
        for batch in listed:
            n_rows = sum((batch.get("request_counts") or {}).values())
            if batch["id"] in known or n_rows != len(row_ids):
                continue
            if batch.get("processing_status") != "ended":
                running.append(batch["id"])
            elif batch.get("results_url") and self._holds(batch["id"], row_ids):
                return str(batch["id"])
        if running:
            raise Failure(
                "not_ready", f"batch {', '.join(running)} runs and may be the one looked for"
            )
        return None

    def _holds(self, batch_id: str, row_ids: frozenset[str]) -> bool:
        return any(row.id in row_ids for row in self.results(batch_id))

    def batch_state(self, batch_id: str) -> BatchState:
        """Ended or not; how its rows fared stands in the results only."""
        with from_sdk("anthropic", self._key):
            raw = self._client.messages.batches.with_raw_response.retrieve(batch_id)
            state = str(parsed(raw.text, self._key).get("processing_status"))
        return BatchState(state == "ended", state)

    def results(self, batch_id: str) -> Iterator[Row]:
        """Rows in the provider's order, which is not ours.

        The library's own reader would end at a broken line and take the rows after it with it.
        """
        import httpx

        with from_sdk("anthropic", self._key):
            raw = self._client.messages.batches.with_raw_response.retrieve(batch_id)
            url = parsed(raw.text, self._key).get("results_url")
            if not url:
                raise Failure("server", f"batch {batch_id} has no results yet")
            data = self._client.get(str(url), cast_to=httpx.Response).content
        yield from read_rows(data.decode("utf-8", "replace"), self._key, _row)

    @property
    def http(self) -> httpx.Client:
        """The connection."""
        return self._client._client

    def close(self) -> None:
        """Close the connection, if there is one."""
        if "_client" in self.__dict__:
            self._client.close()
            del self.__dict__["_client"]

    @cached_property
    def _key(self) -> str:
        return secret(self._where, self._options.key)

    @cached_property
    def _client(self) -> Anthropic:
        from anthropic import Anthropic, DefaultHttpxClient

        from rge.providers.deadline import event_hooks

        return Anthropic(
            api_key=self._key,
            base_url=self._options.base_url or "https://api.anthropic.com",
            default_headers={"anthropic-version": API_VERSION},
            timeout=self._options.timeout_s,
            max_retries=0,
            http_client=DefaultHttpxClient(event_hooks=event_hooks(self._options.timeout_s)),
        )


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """Anthropic counts cached tokens beside `input_tokens`, thinking inside `output_tokens`."""
    written = usage.get("cache_creation") or {}
    in_all = usage.get("cache_creation_input_tokens") or 0
    for_an_hour = written.get("ephemeral_1h_input_tokens") or 0
    return Tokens(
        input=usage.get("input_tokens") or 0,
        output=usage.get("output_tokens") or 0,
        cache_read=usage.get("cache_read_input_tokens") or 0,
        cache_write_5m=in_all - for_an_hour,
        cache_write_1h=for_an_hour,
    )


def _with_details(stop: str, body: Body) -> str:
    details = body.get("stop_details") or {}
    category = details.get("category")
    return f"{stop}: {category}" if category else stop


def _row(item: Body) -> Row:
    row_id, result = str(item["custom_id"]), item["result"]
    kind = result.get("type")
    if kind == "succeeded":
        return Row(row_id, body=result["message"])
    if kind in ("expired", "canceled"):
        why: FailureKind = "expired" if kind == "expired" else "cancelled"
        return Row(row_id, failure=Failure(why, f"the row was {why}"))
    error = (result.get("error") or {}).get("error") or {}
    message = short(f"{error.get('type')}: {error.get('message')}")
    # Overloaded rows come as api_error with that word in the message.
    found = _ROW_KINDS.get(str(error.get("type")), "rejected")
    if "overloaded" in message.lower():
        found = "overloaded"
    return Row(row_id, failure=Failure(found, message))
