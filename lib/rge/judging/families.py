"""No judge scores its own family: the check every judgement passes through."""

from __future__ import annotations

from rge.errors import UsageError
from rge.specs import plain_family, same_family


def assert_cross_family(subject_family: str, judge_family: str) -> None:
    """Raise where subject and judge belong to one model family.

    Names are compared without regard to case, spaces and separators, so that "GPT-5" and "gpt 5"
    are one family.

    Raises
    ------
    UsageError
        When the families are the same, or one is not named.
    """
    if not plain_family(subject_family) or not plain_family(judge_family):
        raise UsageError(
            "family", "is not named", allowed="every subject and judge names its family"
        )
    if same_family(subject_family, judge_family):
        raise UsageError(
            f"judge family {judge_family!r}",
            f"would score a subject of its own family {subject_family!r}",
            allowed="a judge of another family",
            do="remove this pair from the profile",
        )
