"""What a paid run would take, before any call: calls, tokens and dollars, item by item.

Tokens are those of prompts where the passages are frozen, else what the profile's chunk size and
number of passages allow. The expected lengths of answers are stated assumptions; the worst case is
what the budget would reserve.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rge.judging.llm import judge_system, reply_schema
from rge.profile import Profile
from rge.prompting import SUBJECT_PROMPT
from rge.prompts import load_prompt
from rge.providers.hosted import open_service, prices_of
from rge.providers.options import HostedOptions
from rge.providers.prices import ModelPrice, Tokens, dollars
from rge.providers.request import Request
from rge.specs import JudgeSpec, SubjectSpec, is_hosted
from rge.subjects.reply import read_options

# Assumptions, printed with every estimate.
TOKENS_A_CHARACTER = 0.28  # English with figures, over the three tokenizers
ANSWER_TOKENS = 120  # a subject's answer
VERDICT_TOKENS = 450  # a judge's reply
THOUGHT_TOKENS = {
    "anthropic": 0,
    "openai": 0,
    "google": 600,
}  # where thinking cannot be switched off
_QUESTION_CHARACTERS = 130
_GOLD_CHARACTERS = 400
_CHARACTERS_A_TOKEN = 3.6


@dataclass(frozen=True)
class Item:
    """One line: a model in one role.

    Token counts and dollars are totals over its calls. `usd_cached` is synchronous with prompt
    caching at its best; batches are estimated without savings.
    """

    role: str
    name: str
    provider: str
    model: str
    n_calls: int
    input_tokens: int
    output_tokens: int
    usd_batch: float
    usd_sync: float
    usd_cached: float
    usd_worst: float


def estimate(profile: Profile) -> list[Item]:
    """The items of a profile's paid calls, subjects first; empty where nothing is paid for.

    Raises
    ------
    UsageError
        When a model has no price.
    """
    prices = prices_of(profile)
    n_questions = _n_questions(profile)
    context = profile.retrieval.top_k * profile.chunking.size * _CHARACTERS_A_TOKEN
    items = []
    for spec in profile.subjects:
        if is_hosted(spec):
            text = load_prompt(SUBJECT_PROMPT), context + _QUESTION_CHARACTERS
            calls = n_questions * spec.runs
            items.append(_item(profile, spec, "subject", prices, text, calls, spec.runs))
    for judge in profile.judges:
        judged = [s for s in profile.subjects if judge in profile.judges_of(s)]
        if is_hosted(judge) and judged:
            shared = context + _QUESTION_CHARACTERS + _GOLD_CHARACTERS
            own = ANSWER_TOKENS / TOKENS_A_CHARACTER
            calls = n_questions * sum(s.runs for s in judged)
            text = judge_system() + json.dumps(reply_schema()), shared + own
            items.append(_item(profile, judge, "judge", prices, text, calls, calls // n_questions))
    return items


def total(items: Sequence[Item]) -> dict[str, float]:
    """Dollars of all items, by way of sending."""
    keys = ("usd_batch", "usd_sync", "usd_cached", "usd_worst")
    return {key: round(sum(getattr(item, key) for item in items), 4) for key in keys}


def as_json(profile: Profile, items: Sequence[Item]) -> dict[str, Any]:
    """The estimate for machines."""
    return {
        "profile": profile.name,
        "run_id": profile.run_id,
        "items": [asdict(item) for item in items],
        "total": total(items),
        "cap_usd": profile.budget.cap_usd,
        "assumptions": {
            "tokens_a_character": TOKENS_A_CHARACTER,
            "answer_tokens": ANSWER_TOKENS,
            "verdict_tokens": VERDICT_TOKENS,
            "thought_tokens": THOUGHT_TOKENS,
        },
    }


def as_text(profile: Profile, items: Sequence[Item]) -> str:
    """The estimate as a table."""
    heads = ("role", "model", "calls", "input", "output", "batch", "sync", "cached", "at most")
    rows = [
        (
            item.role,
            item.model,
            f"{item.n_calls:,}",
            f"{item.input_tokens:,}",
            f"{item.output_tokens:,}",
            *(f"${usd:.2f}" for usd in (item.usd_batch, item.usd_sync)),
            *(f"${usd:.2f}" for usd in (item.usd_cached, item.usd_worst)),
        )
        for item in items
    ]
    sums = total(items)
    rows.append(
        (
            *("total", "", f"{sum(i.n_calls for i in items):,}", "", ""),
            *(f"${sums[key]:.2f}" for key in sums),
        )
    )
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    lines = [
        "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True))
        for row in (heads, *rows)
    ]
    lines.append(
        f"cap ${profile.budget.cap_usd:.2f}, warning at ${profile.budget.warn_usd:.2f}. Assumed: "
        f"{ANSWER_TOKENS} tokens an answer, {VERDICT_TOKENS} a verdict, "
        f"{THOUGHT_TOKENS['google']} of thought a call to Google; batches without caching; "
        f"'at most' is what the budget reserves, batch by batch."
    )
    return "\n".join(lines)


def _n_questions(profile: Profile) -> int:
    """Questions planned; where the profile plans none, those that are there."""
    planned = sum(profile.planned.by_category.values()) if profile.planned else 0
    if not planned:
        from rge.questions import study_questions

        planned = len(study_questions(profile))
    return min(planned, profile.limit_questions or planned)


def _item(
    profile: Profile,
    spec: SubjectSpec | JudgeSpec,
    role: str,
    prices: Any,
    text: tuple[str, float],
    n_calls: int,
    n_sharing: int,
) -> Item:
    """One line; `text` is the system prompt and the user message's number of characters."""
    options = read_options(HostedOptions, spec)
    service = open_service(spec, seed=profile.seed)
    price: ModelPrice = prices.of(options.model)
    system, n_user = text
    prompt = round((len(system) + n_user) * TOKENS_A_CHARACTER)
    written = ANSWER_TOKENS if role == "subject" else VERDICT_TOKENS
    output = min(written + THOUGHT_TOKENS[price.provider], options.max_tokens)
    plain = Tokens(input=prompt, output=output)
    request = Request(system, "x" * round(n_user), options.max_tokens)
    worst = price.worst_case(
        request.tokens_at_most(), options.max_tokens, batch=options.batch, cached=service.caching
    )
    return Item(
        role=role,
        name=spec.name,
        provider=price.provider,
        model=options.model,
        n_calls=n_calls,
        input_tokens=n_calls * prompt,
        output_tokens=n_calls * output,
        usd_batch=dollars(n_calls * price.cost(plain, batch=True)),
        usd_sync=dollars(n_calls * price.cost(plain, batch=False)),
        usd_cached=dollars(_cached(price, prompt, output, n_calls, n_sharing, service.caching)),
        usd_worst=dollars(n_calls * worst),
    )


def _cached(
    price: ModelPrice, prompt: int, output: int, n_calls: int, n_sharing: int, asked_for: bool
) -> int:
    """Nano-dollars where the first call of a question fills a cache that the others read."""
    first = Tokens(input=0, output=output, cache_write_5m=prompt)
    if not asked_for:
        first = Tokens(input=prompt, output=output)
    again = Tokens(input=0, output=output, cache_read=prompt)
    n_first = n_calls // max(n_sharing, 1)
    return n_first * price.cost(first, batch=False) + (n_calls - n_first) * price.cost(
        again, batch=False
    )
