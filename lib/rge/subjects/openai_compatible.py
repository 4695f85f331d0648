"""A model behind any server that speaks the chat-completions protocol (vLLM, llama.cpp, Ollama).

It is asked the way GPT is, but for free: there is no budget, and failures are not asked again.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from rge.errors import RgeError
from rge.prompting import Prompt
from rge.providers.caller import combined
from rge.providers.hosted import with_more_room
from rge.providers.http_failures import from_sdk
from rge.providers.openai_api import complete, completion_answer, connect
from rge.providers.options import checked_url, secret
from rge.providers.request import Body, Failure, Request, readable
from rge.specs import SubjectSpec
from rge.subjects.reply import Options, Reply, read_options

if TYPE_CHECKING:
    from openai import OpenAI

_NO_KEY = "none"  # the library wants one


class OpenAICompatibleOptions(Options):
    """Options of kind openai-compatible.

    Attributes
    ----------
    base_url
        With the version path, such as `http://127.0.0.1:8080/v1`.
    model
        As the server names it.
    key_env
        Environment variable that holds the key, where the server asks for one.
    max_tokens
        Cap on output; twice this where an answer was cut off.
    temperature, seed
        Null sends none; where no seed is given, the profile's is sent.
    timeout_s
        The longest wait for a whole answer.
    concurrency
        Questions under way at a time.
    """

    base_url: str
    model: str
    key_env: str | None = None
    max_tokens: Annotated[int, Field(ge=1)] = 256
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    seed: Annotated[int, Field(ge=0)] | None = None
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    concurrency: Annotated[int, Field(ge=1)] = 1


class OpenAICompatible:
    """One model of a chat-completions server. No retries beyond the one for a cut-off answer."""

    def __init__(self, spec: SubjectSpec, *, seed: int) -> None:
        self._where = f"subject {spec.name}"
        self._options = options = read_options(OpenAICompatibleOptions, spec)
        self.params: dict[str, Any] = {
            "base_url": checked_url(self._where, options.base_url),
            "model": options.model,
            "temperature": options.temperature,
            "seed": options.seed if "seed" in options.model_fields_set else seed,
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
        request = Request(prompt.system, prompt.user, self._options.max_tokens)
        first = self._attempt(client, request)
        follow = with_more_room(request, first)
        return first if follow is None else combined(first, self._attempt(client, follow), follow)

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def body(self, request: Request) -> Body:
        """The request as it goes over the wire; what is null is left out."""
        body: Body = {
            "model": self._options.model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "max_tokens": request.max_tokens,
        }
        for name in ("temperature", "seed"):
            if self.params[name] is not None:
                body[name] = self.params[name]
        return body

    @property
    def _key(self) -> str:
        name = self._options.key_env
        return _NO_KEY if name is None else secret(self._where, name)

    def _connect(self) -> OpenAI:
        client = connect(self._options.base_url, self._key, self._options.timeout_s)
        self._preflight(client)
        return client

    def _preflight(self, client: OpenAI) -> None:
        """Any reply shows that the server is there, except one that refuses the key."""
        try:
            with from_sdk("openai", self._key):
                client.models.list()
        except Failure as failure:
            if failure.kind in ("connection", "timeout"):
                raise RgeError(
                    self._where,
                    f"no server answers at {self._options.base_url} ({failure})",
                    do="start the server or fix base_url; finished responses are kept",
                ) from None
            if str(failure).startswith(("HTTP 401", "HTTP 403")):
                raise RgeError(
                    self._where,
                    f"the server refuses the key ({str(failure)[:8]})",
                    do="fix the key that key_env names",
                ) from None

    def _attempt(self, client: OpenAI, request: Request) -> Reply:
        try:
            answer = readable(completion_answer, complete(client, self.body(request), self._key))
        except Failure as failure:
            if failure.kind == "connection":
                self._preflight(client)
            return Reply("", str(failure), "error", self._options.model, params=self.params)
        return Reply(
            text=answer.text,
            stop_reason=answer.stop_reason,
            status=answer.status,
            model_id=answer.model_id,
            usage=answer.usage,
            params=self.params,
        )
