"""How judges did on the unit tests: pass rates by dimension and topic, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from rge.judging.unit_tests import Check
from rge.records import DIMENSIONS

_ORDER = (*DIMENSIONS, "abstained", "unsupported_claims", "contradictions")


def by_dimension(checks: Sequence[Check]) -> pd.DataFrame:
    """Checks made and passed, by dimension and condition: columns dimension, n, passed, pass_rate.

    The last row is for all.
    """
    rows = [(check.what, check.passed) for check in checks]
    return _rates("dimension", rows, [name for name in _ORDER if name in dict(rows)])


def by_topic(checks: Sequence[Check]) -> pd.DataFrame:
    """Tests, and those with every check passed, by topic: columns topic, n, passed, pass_rate."""
    whole: dict[tuple[str, str], bool] = {}
    for check in checks:
        key = check.test.topic, check.test.id
        whole[key] = whole.get(key, True) and check.passed
    rows = [(topic, passed) for (topic, _), passed in whole.items()]
    return _rates("topic", rows, sorted(dict(rows)))


def _rates(head: str, rows: Sequence[tuple[str, bool]], order: Sequence[str]) -> pd.DataFrame:
    parts = {name: [passed for key, passed in rows if key == name] for name in order}
    parts["all"] = [passed for _, passed in rows]
    return pd.DataFrame(
        [
            {head: name, "n": len(part), "passed": sum(part), "pass_rate": sum(part) / len(part)}
            for name, part in parts.items()
        ]
    )


def failures(checks: Sequence[Check]) -> pd.DataFrame:
    """What did not pass: columns test, what, expected, obtained, answer, why."""
    rows = [
        (c.test.id, c.what, c.expected, c.obtained, c.test.answer, c.test.why)
        for c in checks
        if not c.passed
    ]
    return pd.DataFrame(rows, columns=["test", "what", "expected", "obtained", "answer", "why"])


def measured(checks: Sequence[Check], name: str) -> dict[str, object]:
    """Counts, pass rates and failures of one judge, for machines."""
    return {
        "judge": name,
        "n_tests": len({check.test.id for check in checks}),
        "n_checks": len(checks),
        "pass_rate": sum(check.passed for check in checks) / len(checks),
        "by_dimension": by_dimension(checks).to_dict("records"),
        "by_topic": by_topic(checks).to_dict("records"),
        "failures": failures(checks).to_dict("records"),
    }


def measured_text(checks: Sequence[Check], name: str) -> str:
    """The same for readers: two tables, then one line a failure."""
    n_tests = len({check.test.id for check in checks})
    failed = failures(checks)
    parts = [f"{name}: {n_tests} tests, {len(checks)} checks"]
    parts += [_columns(by_dimension(checks)), _columns(by_topic(checks))]
    parts += [f"{len(failed)} of {len(checks)} checks failed"]
    lines = [
        f"{row.test} {row.what}: expected {row.expected}, obtained {row.obtained} ({row.why})"
        for row in failed.itertuples()
    ]
    return "\n\n".join(parts) + "".join(f"\n{line}" for line in lines)


def _columns(table: pd.DataFrame) -> str:
    shown = table.assign(pass_rate=[f"{rate:.1%}" for rate in table["pass_rate"]])
    return shown.to_string(index=False)


def side_by_side(checks: Mapping[str, Sequence[Check]]) -> pd.DataFrame:
    """Share of checks passed, dimensions and conditions down, one column a judge.

    Parameters
    ----------
    checks
        From `run_judge_tests`, by judge; all of the same tests.

    Returns
    -------
    DataFrame
        Columns dimension, n, and one of each judge's name with shares in [0, 1].
    """
    tables = {name: by_dimension(found) for name, found in checks.items()}
    first = next(iter(tables.values()))
    shares = {name: table["pass_rate"] for name, table in tables.items()}
    return first[["dimension", "n"]].assign(**shares)
