"""Judges behind paid services: the same cases, asked through the same budget as subjects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rge.judging.case import Case, Outcome, Verdict
from rge.judging.llm import (
    JUDGE_PROMPT,
    judge_prompt_sha256,
    judge_system,
    judge_user,
    read_verdict,
    reply_schema,
)
from rge.profile import Profile
from rge.providers.hosted import checked_service, replies, with_more_room
from rge.providers.options import HostedOptions
from rge.providers.request import Request
from rge.specs import JudgeSpec
from rge.store import sha256_text
from rge.subjects.reply import Reply, read_options


class HostedJudge:
    """A language model that grades cases by the judge prompt."""

    def __init__(self, profile: Profile, spec: JudgeSpec) -> None:
        self._profile, self._spec = profile, spec
        self._room = read_options(HostedOptions, spec).max_tokens
        service = checked_service(profile, spec)
        self.settings: dict[str, object] = {
            "judge": spec.name,
            "prompt": JUDGE_PROMPT,
            "prompt_sha256": judge_prompt_sha256(),
            "schema_sha256": sha256_text(json.dumps(reply_schema(), sort_keys=True)),
            **service.params,
        }

    def requests(self, cases: Sequence[Case]) -> dict[str, Request]:
        """The request of every case, by the key its reply is stored under."""
        requests = {}
        for case in cases:
            key = "/".join(map(str, (*case.response.key, self._spec.name)))
            shared, own = judge_user(case)
            requests[key] = Request(
                judge_system(), shared + own, self._room, reply_schema(), len(shared)
            )
        return requests

    def outcomes(self, cases: Sequence[Case], owner: str) -> Iterator[tuple[Case, Outcome]]:
        """Case and outcome, as the replies come.

        Parameters
        ----------
        cases
            With something to score.
        owner
            Stem of the files of stored replies.
        """
        requests = self.requests(cases)
        by_key = dict(zip(requests, cases, strict=True))
        by_user = {
            request.user: case for request, case in zip(requests.values(), cases, strict=True)
        }

        def once_more(request: Request, reply: Reply) -> Request | None:
            if reply.status == "truncated":
                return with_more_room(request, reply)
            if reply.status != "ok":
                return None
            read = read_verdict(reply.text, by_user[request.user])
            return None if isinstance(read, Verdict) else replace(request)

        for key, reply in replies(self._profile, self._spec, owner, requests, once_more):
            yield by_key[key], _outcome(reply, by_key[key])


def _outcome(reply: Reply, case: Case) -> Outcome:
    verdict, reason = None, None
    if reply.status == "ok":
        read = read_verdict(reply.text, case)
        if isinstance(read, Verdict):
            verdict = read
        else:
            reason = read.reason
    elif reply.status == "error":
        reason = f"judge_error: {reply.stop_reason}"
    elif reply.status == "refused_by_provider":
        reason = f"judge_refused: {reply.stop_reason}"
    else:
        reason = "judge_truncated"
    return Outcome(verdict, reason, reply.usage, reply.cost_usd)
