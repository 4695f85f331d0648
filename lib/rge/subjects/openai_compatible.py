"""A model behind any server that speaks the chat-completions protocol (vLLM, llama.cpp, Ollama)."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field

from rge.errors import RgeError, UsageError
from rge.prompting import Prompt
from rge.records import Usage
from rge.specs import SubjectSpec
from rge.subjects.reply import Options, Reply, Status, add_usage, read_options

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletion

_STATUS: dict[str, Status] = {
    "stop": "ok",
    "length": "truncated",
    "content_filter": "refused_by_provider",
}
_MAX_REASON = 200


class OpenAICompatibleOptions(Options):
    """Options of kind openai-compatible.

    `base_url` includes the version path, such as `http://127.0.0.1:8080/v1`; `key_env` names the
    environment variable that holds the key, where the server asks for one; `timeout_s` is the
    longest wait for the server to send something; `concurrency` is how many questions are under
    way at a time.
    """

    base_url: str
    model: str
    key_env: str | None = None
    max_tokens: Annotated[int, Field(ge=1)] = 256
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    concurrency: Annotated[int, Field(ge=1)] = 1


class OpenAICompatible:
    """One model of a chat-completions server. No retries beyond the one for a cut-off answer."""

    def __init__(self, spec: SubjectSpec, *, seed: int) -> None:
        self._where = f"subject {spec.name}"
        self._options = options = read_options(OpenAICompatibleOptions, spec)
        _check_url(self._where, options.base_url)
        self.params: dict[str, Any] = {
            "base_url": options.base_url,
            "model": options.model,
            "temperature": options.temperature,
            "seed": seed,
            "max_tokens": options.max_tokens,
        }
        self.concurrency = options.concurrency
        self._client: OpenAI | None = None
        self._connecting = Lock()

    def answer(self, prompt: Prompt) -> Reply:
        """The server's answer. What goes wrong with one question is a reply with its reason.

        Raises
        ------
        UsageError
            When the environment variable of the key is not set.
        RgeError
            When the server cannot be reached or refuses the key: every question would fail.
        """
        with self._connecting:
            client = self._client = self._client or self._connect()
        reply = self._attempt(client, prompt, self.params["max_tokens"])
        if reply.status != "truncated":
            return reply
        budget = 2 * self.params["max_tokens"]
        second = self._attempt(client, prompt, budget)
        if second.status == "error":
            return reply
        return Reply(
            **{
                **vars(second),
                "usage": add_usage(reply.usage, second.usage),
                "params": {**self.params, "retry_max_tokens": budget},
            }
        )

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connect(self) -> OpenAI:
        from openai import OpenAI

        key = self._key()
        client = OpenAI(
            base_url=self._options.base_url,
            # Given in full, so that no credential of another service is taken from the environment.
            api_key=key or "none",
            admin_api_key="",
            organization="",
            project="",
            timeout=self._options.timeout_s,
            max_retries=0,
        )
        self._preflight(client)
        return client

    def _key(self) -> str | None:
        name = self._options.key_env
        if name is None:
            return None
        key = os.environ.get(name, "").strip()
        if not key:
            raise UsageError(
                self._where, f"environment variable {name} is not set", do="set it, or fix key_env"
            )
        return key

    def _preflight(self, client: OpenAI) -> None:
        """Any reply shows that the server is there, except one that refuses the key."""
        from openai import APIConnectionError, APIError, APIStatusError

        try:
            client.models.list()
        except APIConnectionError as error:
            raise RgeError(
                self._where,
                f"no server answers at {self._options.base_url} ({error.__cause__ or error})",
                do="start the server or fix base_url; finished responses are kept",
            ) from None
        except APIStatusError as error:
            if error.status_code in (401, 403):
                raise RgeError(
                    self._where,
                    f"the server refuses the key (HTTP {error.status_code})",
                    do="fix the key that key_env names",
                ) from None
        except APIError:
            return

    def _attempt(self, client: OpenAI, prompt: Prompt, max_tokens: int) -> Reply:
        from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

        try:
            completion = client.chat.completions.create(
                model=self.params["model"],
                messages=[
                    {"role": "system", "content": prompt.system},
                    {"role": "user", "content": prompt.user},
                ],
                temperature=self.params["temperature"],
                seed=self.params["seed"],
                max_tokens=max_tokens,
            )
        except APITimeoutError:
            return self._failed("timeout")
        except APIConnectionError as error:
            self._preflight(client)
            return self._failed(f"connection lost: {error.__cause__ or error}")
        except APIStatusError as error:
            return self._failed(f"HTTP {error.status_code}: {error.message}")
        except (APIError, ValueError) as error:
            return self._failed(f"unreadable reply: {error}")
        return self._reply(completion)

    def _reply(self, completion: ChatCompletion) -> Reply:
        choices = getattr(completion, "choices", None)
        if not choices:
            return self._failed("unreadable reply: no choices")
        message, stop_reason = choices[0].message, str(choices[0].finish_reason)
        text = (message.content or "").strip()
        refusal = getattr(message, "refusal", None)
        status = _STATUS.get(stop_reason, "error")
        if refusal:
            text, status, stop_reason = text or refusal, "refused_by_provider", "refusal"
        elif not text and status == "ok":
            status, stop_reason = "error", f"{stop_reason}: no text"
        return Reply(
            text=text,
            stop_reason=stop_reason,
            status=status,
            model_id=completion.model or "",
            usage=_usage(completion),
            params=self.params,
        )

    def _failed(self, reason: str) -> Reply:
        short = " ".join(reason.split())[:_MAX_REASON]
        return Reply("", short, "error", self.params["model"], params=self.params)


def _check_url(where: str, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            where, f"base_url is '{url}'", allowed="http://… or https://…", do="fix the profile"
        )
    if parts.username or parts.password or parts.query:
        # The URL is stored with every response.
        raise UsageError(
            where,
            "base_url holds credentials or a query",
            allowed="scheme, host, port and path",
            do="put the key into an environment variable and name it in key_env",
        )


def _usage(completion: ChatCompletion) -> Usage:
    """Token counts; cached tokens are part of `input`, reasoning tokens of `output`."""
    usage = completion.usage
    if usage is None:
        return Usage()
    prompt = getattr(usage, "prompt_tokens_details", None)
    output = getattr(usage, "completion_tokens_details", None)
    return Usage(
        input=usage.prompt_tokens,
        output=usage.completion_tokens,
        cache_read=getattr(prompt, "cached_tokens", None),
        reasoning=getattr(output, "reasoning_tokens", None),
    )
