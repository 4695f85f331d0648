"""The report of a validation: checks, what fails them, and whether the set is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rge.records import Question

Problem = Callable[[Question], str]


@dataclass(frozen=True)
class Fault:
    """What is wrong with one question; `id` is a category or company where the set is at fault."""

    id: str
    message: str


@dataclass(frozen=True)
class Check:
    """One line of the report.

    Attributes
    ----------
    name
        What holds for every question it concerns.
    n
        Questions checked.
    faults
        What is wrong, and with which question.
    required
        Whether the set is refused for it; otherwise it is only reported.
    detail
        A remark, such as the worst value found.
    """

    name: str
    n: int
    faults: tuple[Fault, ...] = ()
    required: bool = True
    detail: str = ""

    @property
    def failed(self) -> tuple[str, ...]:
        """Ids of those for which it does not hold."""
        return tuple(dict.fromkeys(fault.id for fault in self.faults))

    @property
    def ok(self) -> bool:
        return not (self.required and self.faults)

    @property
    def result(self) -> str:
        """`holds`, `fails`, or `reported` where it is not required; `none` without questions."""
        if self.faults:
            return "fails" if self.required else "reported"
        return "holds" if self.n else "none"


@dataclass(frozen=True)
class ValidationReport:
    """The checks of a question set; `ok` when every required one holds for every question."""

    checks: tuple[Check, ...]
    n_by_category: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @property
    def n_failed(self) -> int:
        """Failures of required checks."""
        return sum(len(check.failed) for check in self.checks if check.required)

    def rows(self) -> list[dict[str, Any]]:
        """One row a check, for a table."""
        return [
            {
                "check": check.name,
                "questions": check.n,
                "hold": check.n - len(check.failed),
                "result": check.result,
                "detail": check.detail or _listed(check.failed),
            }
            for check in self.checks
        ]


def check_each(
    name: str,
    questions: Sequence[Question],
    problem: Problem,
    *,
    required: bool = True,
    detail: str = "",
) -> Check:
    """A check of one problem at most a question; an empty text is no problem."""
    faults = ((question.id, problem(question)) for question in questions)
    found = tuple(Fault(question_id, text) for question_id, text in faults if text)
    return Check(name, len(questions), found, required, detail)


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return ", ".join(ids[:5]) + more
