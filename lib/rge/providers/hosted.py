"""Requests of a subject or judge to its service: batches where asked for, threads otherwise."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace

import numpy as np

from rge.errors import UsageError
from rge.profile import Profile
from rge.providers.anthropic_api import AnthropicService
from rge.providers.batches import BatchRun
from rge.providers.caller import Caller, FollowUp
from rge.providers.google_api import GoogleService
from rge.providers.journal import Journal
from rge.providers.ledger import Ledger
from rge.providers.openai_api import OpenAIService
from rge.providers.options import HostedOptions, secret
from rge.providers.prices import NANO, PriceTable, load_prices
from rge.providers.replies import ReplyLog
from rge.providers.request import Request, Service
from rge.specs import JudgeSpec, SubjectSpec, is_hosted
from rge.subjects.reply import Reply, read_options
from rge.threads import as_completed


def open_service(spec: SubjectSpec | JudgeSpec, *, seed: int) -> Service:
    """The service of a profile entry; connecting waits for the first request.

    Raises
    ------
    UsageError
        On options the service does not take.
    """
    options = read_options(HostedOptions, spec)
    where = f"model {spec.name}"
    if spec.kind == "anthropic":
        return AnthropicService(where, options)
    if spec.kind == "openai":
        return OpenAIService(where, options, seed=seed)
    if spec.kind == "google":
        return GoogleService(where, options, seed=seed)
    raise UsageError(where, f"kind {spec.kind} is no service", allowed="anthropic, openai, google")


def checked_service(profile: Profile, spec: SubjectSpec | JudgeSpec) -> Service:
    """The service of a profile entry, after checking that it has a key and a price.

    Raises
    ------
    UsageError
        When its key is not in the environment, or a model of the profile has no price.
    """
    secret(f"model {spec.name}", read_options(HostedOptions, spec).key)
    prices_of(profile)
    return open_service(spec, seed=profile.seed)


def prices_of(profile: Profile) -> PriceTable:
    """The price table, after checking that it names every hosted model of the profile.

    Raises
    ------
    UsageError
        When a model has no price: nothing unpriced is called.
    """
    table = load_prices(profile.root / "configs" / "prices.yaml")
    models: list[SubjectSpec | JudgeSpec] = [*profile.subjects, *profile.judges]
    for spec in models:
        if is_hosted(spec):
            table.of(read_options(HostedOptions, spec).model)
    return table


def ledger_of(profile: Profile) -> Ledger:
    """The ledger of the repository with the caps of the profile."""
    return Ledger(
        profile.root / "data" / "results" / ".budget_ledger.json",
        cap=round(profile.budget.cap_usd * NANO),
        warn_at=round(profile.budget.warn_usd * NANO),
    )


def replies(
    profile: Profile,
    spec: SubjectSpec | JudgeSpec,
    owner: str,
    requests: Mapping[str, Request],
    follow_up: FollowUp,
) -> Iterator[tuple[str, Reply]]:
    """Key and reply of every request, as they come.

    Parameters
    ----------
    profile
        Names run, budget and files.
    spec
        The subject or judge.
    owner
        Stem of the files that hold stored replies and the journal of batches.
    requests
        By key; what a stored reply answers already costs nothing.
    follow_up
        Makes the request that is sent once more, where a reply calls for one.

    Raises
    ------
    OverBudget, RgeError
        As `Caller.ask` and `BatchRun.replies`; replies up to then are stored.
    """
    options = read_options(HostedOptions, spec)
    with ExitStack() as stack:
        log = stack.enter_context(ReplyLog(profile.raw_dir / f"{owner}.replies.jsonl"))
        caller = Caller(
            open_service(spec, seed=profile.seed),
            owner=owner,
            run_id=profile.run_id,
            prices=prices_of(profile),
            ledger=ledger_of(profile),
            log=log,
            concurrency=options.concurrency,
            rng=np.random.default_rng([profile.seed, zlib.crc32(owner.encode())]),
        )
        stack.enter_context(closing(caller))
        if options.batch:
            path = profile.raw_dir / f"{owner}.batches.jsonl"
            journal = stack.enter_context(Journal(path))
            run = BatchRun(caller, journal, rows=options.batch_rows, poll_s=options.poll_s)
            yield from run.replies(requests, follow_up)
            return

        def ask(key: str) -> tuple[str, Reply]:
            return key, caller.ask(key, requests[key], follow_up)

        # A few more threads than turns: they reserve and store while others wait for replies.
        n_threads = options.concurrency + options.concurrency // 2 + 1
        yield from as_completed(ask, requests, n_threads, stop=caller.stop)


def with_more_room(request: Request, reply: Reply) -> Request | None:
    """The same request with twice the room, for an answer that was cut off."""
    if reply.status != "truncated":
        return None
    return replace(request, max_tokens=2 * request.max_tokens)
