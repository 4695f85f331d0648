import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rge.errors import RgeError, UsageError
from rge.prompting import Prompt
from rge.records import Usage
from rge.specs import SubjectSpec
from rge.subjects import Reply, open_subject

PROMPT = Prompt("q1", "Revenue?", (), system="SYSTEM", user="USER")
Answer = tuple[int, dict[str, Any] | bytes]


def completion(text: str | None, finish: str | None = "stop", **message: object) -> Answer:
    return 200, {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny-0001",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "total_tokens": 107,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    }


class Drip(bytes):
    """A body that is sent byte by byte."""


class Server:
    """A chat-completions server on loopback that answers from a script and keeps what it got."""

    def __init__(self) -> None:
        self.script: list[Answer | Callable[[], Answer]] = []
        self.models: Answer = (200, {"object": "list", "data": []})
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(*outer.models)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append({"path": self.path, **json.loads(body)})
                outer.headers.append({k.lower(): v for k, v in self.headers.items()})
                answer = outer.script.pop(0)
                self._send(*(answer() if callable(answer) else answer))

            def _send(self, code: int, body: dict[str, Any] | bytes) -> None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                try:
                    self.end_headers()
                    for byte in data if isinstance(data, Drip) else ():
                        self.wfile.write(bytes([byte]))
                        time.sleep(0.05)
                    self.wfile.write(b"" if isinstance(data, Drip) else data)
                except OSError:
                    return  # the client has given up waiting

            def log_message(self, *args: object) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def stop(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


def spec(base_url: str, **options: object) -> SubjectSpec:
    options = {"base_url": base_url, "model": "tiny", "max_tokens": 50, **options}
    return SubjectSpec(
        name="served", kind="openai-compatible", family="tiny", runs=1, options=options
    )


def ask(server: Server, *script: Answer | Callable[[], Answer], **options: object) -> Reply:
    server.script = list(script)
    subject = open_subject(spec(server.url, **options), seed=11)
    try:
        return subject.answer(PROMPT)
    finally:
        subject.close()


def test_the_request_holds_both_messages_and_the_parameters(server: Server):
    reply = ask(server, completion("12 [c1]"))
    assert server.requests == [
        {
            "path": "/v1/chat/completions",
            "model": "tiny",
            "messages": [
                {"role": "system", "content": "SYSTEM"},
                {"role": "user", "content": "USER"},
            ],
            "temperature": 0.0,
            "seed": 11,
            "max_tokens": 50,
        }
    ]
    assert (reply.text, reply.status, reply.stop_reason) == ("12 [c1]", "ok", "stop")
    assert reply.model_id == "tiny-0001"
    assert reply.usage == Usage(input=100, output=7, cache_read=64, reasoning=3)


def test_credentials_of_another_service_are_not_sent(server: Server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-other")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-other")
    ask(server, completion("x"))
    sent = json.dumps(server.headers)
    assert not [
        word for word in ("sk-other", "sk-admin", "org-other", "proj-other") if word in sent
    ]


def test_the_key_comes_from_the_named_variable_and_is_in_no_reply(server: Server, monkeypatch):
    monkeypatch.setenv("TINY_KEY", "sk-planted")
    reply = ask(server, completion("x"), key_env="TINY_KEY")
    assert server.headers[0]["authorization"] == "Bearer sk-planted"
    assert "sk-planted" not in repr(reply)


def test_a_cut_off_answer_gets_one_more_attempt_with_twice_the_budget(server: Server):
    reply = ask(server, completion("half", "length"), completion("whole"))
    assert [request["max_tokens"] for request in server.requests] == [50, 100]
    assert (reply.text, reply.status) == ("whole", "ok")
    assert reply.params["max_tokens"] == 50
    assert reply.params["retry_max_tokens"] == 100
    assert (reply.usage.input, reply.usage.output) == (200, 14)


def test_an_answer_cut_off_twice_is_truncated(server: Server):
    reply = ask(server, completion("half", "length"), completion("half still", "length"))
    assert (reply.text, reply.status, reply.stop_reason) == ("half still", "truncated", "length")
    assert len(server.requests) == 2


def test_when_the_second_attempt_fails_the_first_stands(server: Server):
    reply = ask(server, completion("half", "length"), (500, {"error": {"message": "boom"}}))
    assert (reply.text, reply.status) == ("half", "truncated")


@pytest.mark.parametrize(
    ("answer", "status", "stop_reason"),
    [
        (completion(None, "content_filter"), "refused_by_provider", "content_filter"),
        (completion(None, "stop", refusal="I can't."), "refused_by_provider", "refusal"),
        (completion("", "stop"), "error", "stop: no text"),
        (completion("x", "tool_calls"), "error", "tool_calls"),
        (
            (200, {"object": "chat.completion", "choices": []}),
            "error",
            "unreadable reply: no choices",
        ),
    ],
)
def test_what_is_no_answer_has_a_state_of_its_own(
    server: Server, answer: Answer, status: str, stop_reason: str
):
    reply = ask(server, answer)
    assert (reply.status, reply.stop_reason) == (status, stop_reason)


@pytest.mark.parametrize("code", [400, 404, 429, 500, 529])
def test_a_refused_request_is_an_error_reply_sent_once(server: Server, code: int):
    reply = ask(server, (code, {"error": {"message": "out of luck"}}))
    assert reply.status == "error"
    assert reply.stop_reason.startswith(f"HTTP {code}: ")
    assert "out of luck" in reply.stop_reason
    assert len(server.requests) == 1


def test_a_body_that_is_no_json_is_an_error_reply(server: Server):
    reply = ask(server, (200, b'{"choices": [{"mess'))
    assert reply.status == "error"
    assert reply.stop_reason.startswith("unreadable reply")


def test_a_silent_server_is_an_error_reply_after_the_time_limit(server: Server):
    silence = threading.Event()

    def late() -> Answer:
        silence.wait(10)
        return completion("late")

    reply = ask(server, late, timeout_s=0.3)
    silence.set()
    assert (reply.status, reply.stop_reason) == ("error", "no reply in time")


def test_a_server_that_drips_is_an_error_reply_after_the_time_limit(server: Server):
    """Every byte comes in time, the whole answer does not."""
    body = json.dumps(completion("late")[1]).encode()
    reply = ask(server, lambda: (200, Drip(body)), timeout_s=0.3)
    assert (reply.status, reply.stop_reason) == ("error", "no reply in time")


def test_a_null_temperature_or_seed_is_not_sent(server: Server):
    reply = ask(server, completion("x"), temperature=None, seed=None)
    assert not {"temperature", "seed"} & set(server.requests[0])
    assert (reply.params["temperature"], reply.params["seed"]) == (None, None)
    assert reply.cost_usd == 0


def test_a_seed_of_its_own_goes_before_the_profiles(server: Server):
    ask(server, completion("x"), seed=5)
    assert server.requests[0]["seed"] == 5


def test_a_server_that_is_not_there_stops_the_run():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(RgeError, match="subject served: no server answers at http://127"):
        open_subject(spec(url), seed=1).answer(PROMPT)


def test_a_server_that_goes_away_stops_the_run(server: Server):
    server.script = [completion("x")]
    subject = open_subject(spec(server.url), seed=1)
    assert subject.answer(PROMPT).status == "ok"
    server.stop()
    with pytest.raises(RgeError, match="no server answers"):
        subject.answer(PROMPT)


def test_a_refused_key_stops_the_run_without_showing_it(server: Server, monkeypatch):
    monkeypatch.setenv("TINY_KEY", "sk-planted")
    server.models = (401, {"error": {"message": "Incorrect API key provided: sk-planted"}})
    with pytest.raises(RgeError, match="refuses the key") as caught:
        ask(server, key_env="TINY_KEY")
    assert "sk-planted" not in str(caught.value)


def test_a_server_without_a_model_list_is_used_all_the_same(server: Server):
    server.models = (404, {"error": {"message": "no route"}})
    assert ask(server, completion("x")).status == "ok"


def test_an_unset_key_variable_is_named(server: Server, monkeypatch):
    monkeypatch.delenv("TINY_KEY", raising=False)
    with pytest.raises(UsageError, match="environment variable TINY_KEY is not set"):
        ask(server, key_env="TINY_KEY")


@pytest.mark.parametrize("url", ["127.0.0.1:8080/v1", "ftp://x/v1", "http:///v1"])
def test_a_url_without_scheme_or_host_is_refused(url: str):
    with pytest.raises(UsageError, match="base_url is"):
        open_subject(spec(url), seed=1)


@pytest.mark.parametrize("url", ["http://me:pw@127.0.0.1/v1", "http://127.0.0.1/v1?key=pw"])
def test_a_url_that_holds_a_secret_is_refused_without_showing_it(url: str):
    with pytest.raises(UsageError, match="credentials or a query") as caught:
        open_subject(spec(url), seed=1)
    assert "pw" not in str(caught.value)
