"""What goes over the wire, checked against the providers' own specifications."""

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from loopback import Loopback
from loopback.study import ASKED, KEY, subject
from loopback.wire import Call
from rge.errors import UsageError
from rge.judging.llm import reply_schema
from rge.providers.hosted import open_service
from rge.providers.options import HostedOptions
from rge.providers.request import Body, Request, request_id
from rge.subjects.reply import read_options

SHARED = Path(os.environ.get("RGE_SHARED", Path(__file__).parents[2] / "shared"))
SPECS = SHARED / "providers" / "specs"
specified = pytest.mark.skipif(not SPECS.is_dir(), reason="the specifications are not here")
JUDGING = Request("system", "shared and own", 1500, reply_schema(), n_shared=7)
ANSWERING = Request("system", "passages and question", 1024)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"temperature": None},
    {"cache": False},
    {"effort": "low", "temperature": None},
    {"effort": "high", "temperature": 1.0},
]


@lru_cache
def spec(path: str) -> Body:
    text = (SPECS / path).read_text(encoding="utf-8")
    loaded: Body = json.loads(text) if path.endswith("json") else yaml.safe_load(text)
    return loaded


def problems(path: str, schema: str, body: Body) -> list[str]:
    """What a specification says against a body."""
    document = {**spec(path), "$ref": f"#/components/schemas/{schema}"}
    return [error.message[:300] for error in Draft202012Validator(document).iter_errors(body)]


def unknown_to_google(schema: str, body: Any, at: str = "") -> list[str]:
    """Names, kinds and values of a body that the discovery document does not have."""
    found = []
    properties = spec("gemini/discovery.json")["schemas"][schema].get("properties", {})
    for name, value in body.items():
        rule = properties.get(name)
        if rule is None:
            found.append(f"{at}{name}")
            continue
        rules = rule.get("items", rule)
        for one in value if rule.get("type") == "array" else [value]:
            kinds = {"integer": int, "number": (int, float), "string": str, "boolean": bool}
            if "$ref" in rules:
                found += unknown_to_google(rules["$ref"], one, f"{at}{name}.")
            elif "enum" in rules and one not in rules["enum"]:
                found.append(f"{at}{name}={one}")
            elif rules.get("type") in kinds and not isinstance(one, kinds[rules["type"]]):
                found.append(f"{at}{name}: {one!r}")
    return found


def complaints(provider: str, call: Call) -> list[str]:
    """What the provider's specification says against a request as it arrived."""
    schemas = {
        "anthropic:send": ("anthropic/messages.trimmed.yml", "CreateMessageParams"),
        "anthropic:create": ("anthropic/messages.trimmed.yml", "CreateMessageBatchParams"),
        "openai:send": ("openai/trimmed.yml", "CreateChatCompletionRequest"),
        "openai:create": ("openai/trimmed.yml", "CreateBatchRequest"),
    }
    if call.operation in schemas:
        return problems(*schemas[call.operation], call.json)
    if call.operation == "google:send":
        return unknown_to_google("GenerateContentRequest", call.json)
    if call.operation == "google:create":
        return unknown_to_google("BatchGenerateContentRequest", call.json)
    return []


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "sk-planted")


@pytest.fixture(scope="module")
def server() -> Any:
    server = Loopback(lambda system, user, has_schema: "answer")
    yield server
    server.close()


def bodies() -> list[Any]:
    cases = []
    for provider in ASKED:
        for options in OPTIONS:
            if provider == "openai" and "effort" in options and options["temperature"]:
                continue  # refused before anything is sent
            for request in (JUDGING, ANSWERING):
                what = "judge" if request.schema else "subject"
                name = f"{provider}-{what}-{'-'.join(map(str, options.values())) or 'default'}"
                cases.append(pytest.param(provider, options, request, id=name))
    return cases


@specified
@pytest.mark.parametrize(("provider", "options", "request_"), bodies())
def test_every_body_satisfies_the_official_specification(
    server: Loopback, provider: str, options: dict[str, Any], request_: Request
):
    service = open_service(subject(provider, server.url, **options), seed=7)
    body = service.body(request_)
    server.calls.clear()
    service.send(body)
    service.submit("rge-name", {request_id("a"): body, request_id("b"): body})
    said = [
        f"{call.operation}: {text}" for call in server.calls for text in complaints(provider, call)
    ]
    assert said == []
    operations = [call.operation.split(":")[1] for call in server.calls]
    assert operations[0] == "send"
    assert operations[-1] == "create"
    for lines in list(server.files.values())[-1:] if provider != "anthropic" else ():
        rows = [json.loads(line) for line in lines.decode().split("\n") if line]
        assert [len(str(row.get("custom_id", row.get("key")))) for row in rows] == [40, 40]
        for row in rows:
            if provider == "openai":
                assert (
                    problems("openai/trimmed.yml", "CreateChatCompletionRequest", row["body"]) == []
                )
                assert row["body"] == body
            else:
                assert unknown_to_google("GenerateContentRequest", row["request"]) == []
    service.close()


MESSAGE = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
CHAT = {"model": "m", "messages": [{"role": "user", "content": "x"}]}


@specified
@pytest.mark.parametrize(
    ("path", "schema", "body"),
    [
        ("anthropic/messages.trimmed.yml", "CreateMessageParams", {**MESSAGE, "temperature": 2}),
        ("anthropic/messages.trimmed.yml", "CreateMessageParams", {**MESSAGE, "seed": 7}),
        *(
            (
                "anthropic/messages.trimmed.yml",
                "CreateMessageBatchParams",
                {"requests": [{"custom_id": name, "params": MESSAGE}]},
            )
            for name in ("a/b", "a" * 65)
        ),
        ("anthropic/messages.trimmed.yml", "CreateMessageBatchParams", {"requests": []}),
        ("openai/trimmed.yml", "CreateChatCompletionRequest", {**CHAT, "temperature": 3}),
        ("openai/trimmed.yml", "CreateChatCompletionRequest", {**CHAT, "reasoning_effort": "off"}),
    ],
)
def test_the_specification_refuses_what_the_provider_refuses(path: str, schema: str, body: Body):
    """The check above can fail."""
    assert problems(path, schema, body)


@specified
def test_the_check_of_google_bodies_can_fail():
    assert unknown_to_google(
        "GenerateContentRequest",
        {
            "generationConfig": {
                "max_tokens": 5,
                "seed": "7",
                "thinkingConfig": {"thinkingLevel": "OFF"},
            }
        },
    ) == [
        "generationConfig.max_tokens",
        "generationConfig.seed: '7'",
        "generationConfig.thinkingConfig.thinkingLevel=OFF",
    ]


def sent(provider: str, request: Request = JUDGING, **options: Any) -> Body:
    return open_service(subject(provider, "http://127.0.0.1:1", **options), seed=7).body(request)


def test_temperature_zero_is_sent_wherever_it_is_taken():
    assert sent("anthropic")["temperature"] == 0
    assert sent("anthropic")["thinking"] == {"type": "disabled"}
    body = sent("openai")
    assert (body["temperature"], body["reasoning_effort"], body["seed"]) == (0, "none", 7)
    config = sent("google", effort="low")["generationConfig"]
    assert (config["temperature"], config["seed"]) == (0, 7)
    assert config["thinkingConfig"] == {"thinkingLevel": "LOW"}


@pytest.mark.parametrize("provider", ASKED)
def test_no_temperature_is_sent_where_none_is_wanted(provider: str):
    assert "temperature" not in json.dumps(sent(provider, temperature=None))


@pytest.mark.parametrize(
    ("provider", "options"),
    [
        ("anthropic", {"effort": "low"}),
        ("anthropic", {"effort": "minimal"}),
        ("anthropic", {"temperature": 1.5}),
        ("openai", {"effort": "low"}),
        ("google", {"effort": "none"}),
        ("anthropic", {"max_tokens": 0}),
        ("openai", {"reasoning": "low"}),
    ],
)
def test_what_the_provider_would_refuse_is_refused_before_any_call(
    provider: str, options: dict[str, Any]
):
    with pytest.raises(UsageError, match=provider):
        sent(provider, **options)


def test_only_what_requests_share_is_marked_for_caching():
    body = sent("anthropic")
    system, (shared, own) = body["system"][0], body["messages"][0]["content"]
    assert system["cache_control"] == shared["cache_control"] == {"type": "ephemeral"}
    assert (shared["text"], own["text"]) == ("shared ", "and own")
    assert "cache_control" not in own
    assert "cache_control" not in json.dumps(sent("anthropic", cache=False))


def test_one_schema_holds_the_judges_of_all_providers():
    schema = reply_schema()
    assert sent("anthropic")["output_config"]["format"]["schema"] == schema
    form = sent("openai")["response_format"]["json_schema"]
    assert (form["schema"], form["strict"]) == (schema, True)
    assert sent("google")["generationConfig"]["responseJsonSchema"] == schema
    # Keywords that one of the three refuses or ignores.
    words = set(json.dumps(schema).replace('"', " ").split())
    assert not words & {"minimum", "maximum", "minItems", "default", "format", "$ref", "oneOf"}


def test_version_and_key_go_in_headers(server: Loopback):
    server.calls.clear()
    for provider in ASKED:
        service = open_service(subject(provider, server.url), seed=7)
        service.send(service.body(ANSWERING))
        service.close()
    anthropic, openai, google = (call.headers for call in server.calls)
    assert anthropic["anthropic-version"] == "2023-06-01"
    assert anthropic["x-api-key"] == google["x-goog-api-key"] == "sk-planted"
    assert openai["authorization"] == "Bearer sk-planted"
    assert all("sk-planted" not in call.path for call in server.calls)


def test_credentials_of_other_services_stay_here(server: Loopback, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "sk-other")
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-other")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    server.calls.clear()
    for provider in ASKED:
        service = open_service(subject(provider, server.url), seed=7)
        service.send(service.body(ANSWERING))
        service.close()
    assert "sk-other" not in json.dumps([call.headers for call in server.calls])


@pytest.mark.parametrize(
    "text",
    [
        "Revenue for FY2024 was ₹ 1,23,456.78 crore (previous year: ₹ 98,765.43 crore).",
        "The " * 300,
        "कुल राजस्व २०२४ में बढ़ा",
        "{}[]<>" * 50,
        "antidisestablishmentarianism " * 40,
        "| 12 | 34 | 56 |\n" * 60,
    ],
)
def test_the_bound_of_a_prompt_is_never_below_its_tokens(text: str):
    from rge.corpus.tokens import encoding

    request = Request("", text, 1)
    assert request.tokens_at_most() >= len(encoding("cl100k_base").encode(text))


def test_options_are_read_from_the_profile_and_unknown_ones_refused():
    options = read_options(HostedOptions, subject("openai", "http://127.0.0.1:1"))
    assert (options.concurrency, options.batch_rows, options.timeout_s) == (8, 300, 120.0)
