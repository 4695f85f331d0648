"""What every subject hands back, and what it is asked to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from rge.errors import UsageError
from rge.prompting import Prompt
from rge.records import Usage
from rge.specs import JudgeSpec, SubjectSpec
from rge.store import first_problem

Status = Literal["ok", "truncated", "refused_by_provider", "error"]


@dataclass(frozen=True)
class Reply:
    """One answer of a subject, or the reason why there is none.

    Attributes
    ----------
    text
        The answer, empty where there is none.
    stop_reason
        As the model gave it; for `status="error"` the reason in words.
    status
        `ok`, `truncated`, `refused_by_provider` or `error`.
    model_id
        The model's name as the provider returned it.
    usage
        Tokens over all attempts of this answer.
    params
        Parameters as sent. A second attempt adds `retry_max_tokens`.
    cost_usd
        Price in US dollars, 0 for local models.
    """

    text: str
    stop_reason: str
    status: Status
    model_id: str
    usage: Usage = field(default_factory=Usage)
    params: dict[str, Any] = field(default_factory=dict)
    cost_usd: float = 0.0


class Subject(Protocol):
    """A model under test. Making one is cheap; its model starts with the first answer.

    `params` are the parameters of every first attempt, known before any call, so that stored
    responses can be compared with what would be sent today. `concurrency` is how many threads may
    call `answer` at a time.
    """

    params: dict[str, Any]
    concurrency: int

    def answer(self, prompt: Prompt) -> Reply: ...

    def close(self) -> None: ...


class Options(BaseModel):
    """Options of one kind of subject; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


OptionsT = TypeVar("OptionsT", bound=Options)


def read_options(model: type[OptionsT], spec: SubjectSpec | JudgeSpec) -> OptionsT:
    """`spec.options`, checked.

    Raises
    ------
    UsageError
        On an option the kind does not have, or a value it cannot be.
    """
    try:
        return model.model_validate(spec.options)
    except ValidationError as error:
        raise UsageError(
            f"{'judge' if isinstance(spec, JudgeSpec) else 'subject'} {spec.name}",
            f"options: {first_problem(error)}",
            allowed=f"options of kind {spec.kind} are {', '.join(model.model_fields)}",
            do="fix the profile",
        ) from None


def add_usage(first: Usage, second: Usage) -> Usage:
    """Token counts of two attempts together; a count that both leave out stays None."""

    def total(name: str) -> int | None:
        counts = [n for n in (getattr(first, name), getattr(second, name)) if n is not None]
        return sum(counts) if counts else None

    return Usage(**{name: total(name) for name in Usage.model_fields})
