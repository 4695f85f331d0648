"""The first paid calls: one call and one batch of two rows per provider, for less than a dollar.

They go the way of every other call, so what works here works in the study. Bodies are saved as they
came, without the key, and compared with the shapes we know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rge.errors import RgeError, UsageError
from rge.profile import Profile
from rge.providers.batches import BatchRun
from rge.providers.caller import Caller
from rge.providers.hosted import ledger_of, open_service, prices_of
from rge.providers.journal import Journal
from rge.providers.options import HostedOptions, secret
from rge.providers.prices import NANO, dollars
from rge.providers.replies import ReplyLog
from rge.providers.request import Request, Service, hidden
from rge.providers.shapes import differences, operation_of
from rge.specs import SubjectSpec, is_hosted
from rge.subjects import Reply
from rge.subjects.reply import read_options

CAP = NANO  # one dollar
_SCHEMA = {
    "type": "object",
    "properties": {"why": {"type": "string"}, "score": {"type": "integer", "enum": [0, 1, 2]}},
    "required": ["why", "score"],
    "additionalProperties": False,
}
_SYSTEM = "You grade sums. Score 2 if the sum is right, otherwise 0. Give the reason first."


@dataclass
class _Recorder:
    """Saves every body that comes, and keeps how its shape differs from what we know."""

    folder: Path
    key: str
    lines: dict[str, None] = field(default_factory=dict)
    n: int = 0

    def __call__(self, response: Any) -> None:
        response.read()
        request, self.n = response.request, self.n + 1
        path = request.url.path
        text = hidden(response.text, self.key)
        saved = {
            "request": f"{request.method} {path}",
            "status": response.status_code,
            "headers": {
                name: hidden(value, self.key)
                for name, value in response.headers.items()
                if name.startswith(("content-type", "retry-after", "x-should", "anthropic-rate"))
            },
            "body": text,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        out = json.dumps(saved, indent=1, ensure_ascii=False)
        (self.folder / f"{self.n:02}.json").write_text(out, encoding="utf-8")
        operation = operation_of(request.method, path)
        if operation is not None and response.status_code == 200:
            self.lines |= {f"{operation}: {line}": None for line in differences(operation, text)}


def smoke(profile: Profile) -> Iterator[str]:
    """Lines that say what was called, what it cost and what differed, as they come.

    Parameters
    ----------
    profile
        Its first subject of each provider is asked. Replies that are stored already are not paid
        for again: remove `_build/providers-smoke` to repeat them.

    Raises
    ------
    UsageError
        When the profile has no hosted subject, or a key is not set: nothing is called then.
    """
    specs: dict[str, SubjectSpec] = {}
    for spec in profile.subjects:
        if is_hosted(spec):
            secret(f"subject {spec.name}", read_options(HostedOptions, spec).key)
            specs.setdefault(spec.kind, spec)
    if not specs:
        raise UsageError(profile.source, "has no subject behind a paid service")
    before = ledger_of(profile).read()
    cap = min(before.spent + before.reserved + CAP, ledger_of(profile).cap)
    for kind, spec in specs.items():
        try:
            yield from _one(profile, spec, cap)
        except RgeError as error:
            yield f"{kind}: {error}"
    spent = ledger_of(profile).read().spent - before.spent
    yield f"spent ${dollars(spent):.4f}; bodies are in {_folder(profile)}"


def _folder(profile: Profile) -> Path:
    return profile.root / "_build" / "providers-smoke"


def _one(profile: Profile, spec: SubjectSpec, cap: int) -> Iterator[str]:
    options, folder = read_options(HostedOptions, spec), _folder(profile)
    service: Service = open_service(spec, seed=profile.seed)
    recorder = _Recorder(folder / spec.kind, secret(spec.name, options.key))
    owner = f"smoke-{spec.kind}"
    with ExitStack() as stack:
        log = stack.enter_context(ReplyLog(folder / f"{owner}.replies.jsonl"))
        caller = Caller(
            service,
            owner=owner,
            run_id="smoke",
            prices=prices_of(profile),
            ledger=replace(ledger_of(profile), cap=cap),
            log=log,
            concurrency=1,
            rng=np.random.default_rng(profile.seed),
        )
        stack.enter_context(closing(caller))
        service.http.event_hooks["response"].append(recorder)
        one = Request(_SYSTEM, "2 + 2 = 4", options.max_tokens, _SCHEMA)
        yield _line(spec, "call", caller.reply("call", 0, one))
        journal = stack.enter_context(Journal(folder / f"{owner}.batches.jsonl"))
        batch = BatchRun(caller, journal, rows=2, poll_s=options.poll_s)
        # No provider takes a reply of no tokens.
        rows = {
            "good row": replace(one, user="2 + 2 = 5"),
            "bad row": replace(one, max_tokens=0),
        }
        for key, reply in batch.replies(rows, lambda request, reply: None):
            yield _line(spec, key, reply)
    for line in recorder.lines:
        yield f"  differs: {line}"
    if not recorder.lines:
        yield "  all bodies have the shapes we know"


def _line(spec: SubjectSpec, what: str, reply: Reply) -> str:
    said = reply.text.replace("\n", " ")[:60] or reply.stop_reason
    usage = reply.usage
    return (
        f"{spec.kind}, {what}: {reply.status}, {reply.model_id}, {usage.input} tokens in, "
        f"{usage.output} out, ${reply.cost_usd:.6f}: {said}"
    )
