"""The commands of judges: measured by the unit tests, or scoring anybody's answers."""

from __future__ import annotations

import json
from pathlib import Path

from rge.errors import UsageError
from rge.judging import answers
from rge.judging.run import open_judge
from rge.judging.unit_report import measured, measured_text
from rge.judging.unit_tests import FOLDER, read_judge_tests, run_judge_tests
from rge.profile import Profile


def measure_command(
    profile: Profile, name: str, *, as_json: bool = False, at_least: float | None = None
) -> int:
    """Measure one judge of a profile by the unit tests and print how it did.

    Parameters
    ----------
    profile
        Has the judge; a paid judge is asked through its budget and its replies are kept.
    name
        Of the judge.
    as_json
        Print one JSON object.
    at_least
        Share of checks in [0, 1] that must pass.

    Returns
    -------
    int
        0, as this is a measurement; 1 where fewer than `at_least` pass.
    """
    if at_least is not None and not 0 <= at_least <= 1:
        raise UsageError("--at-least", f"is {at_least}", allowed="a share from 0 to 1")
    spec = profile.judge(name)
    tests = read_judge_tests(profile.root / FOLDER)
    checks = run_judge_tests(tests, name, spec.family, open_judge(profile, spec))
    report = measured(checks, name)
    text = (
        json.dumps(report, indent=1, ensure_ascii=False) if as_json else measured_text(checks, name)
    )
    print(text)
    passed = sum(check.passed for check in checks) / len(checks)
    return 1 if at_least is not None and passed < at_least else 0


def answers_command(profile: Profile, name: str, source: Path, target: Path) -> int:
    """Score the answers of a file with one judge of a profile; finished ones are kept.

    Returns
    -------
    int
        0; an answer that cannot be scored is a record with its reason.
    """
    spec = profile.judge(name)
    lines = answers.read_answers(source)
    if target.resolve() == source.resolve():
        raise UsageError(target, "is the file of the answers", do="name another file")
    counts = answers.judge_answers(profile, spec, lines, target)
    print(f"{target}: {counts}")
    return 0
