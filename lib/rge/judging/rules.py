"""The rules judge: numbers, names, abstention and citations, compared without any model."""

from __future__ import annotations

from collections.abc import Sequence

from rge.judging.case import Case, Verdict
from rge.judging.correctness import compare
from rge.judging.gold import read_gold
from rge.judging.scoring import needs_comparison, verdict
from rge.judging.support import check_claims


class RulesJudge:
    """Deterministic: the same case gets the same verdict on every machine."""

    name = "rules"
    version = 2

    @property
    def settings(self) -> dict[str, object]:
        """What shapes its verdicts besides the rubrics and the case."""
        return {"name": self.name, "version": self.version}

    def judge(self, case: Case) -> Verdict:
        """The verdict on a case that has an answer text (`case.unscored_reason` is None)."""
        finding = None
        if needs_comparison(case):
            finding = compare(case.response.text, read_gold(case.question))
        return verdict(case, finding, check_claims(case) if case.passages else [])

    def judge_many(self, cases: Sequence[Case]) -> list[Verdict]:
        """Verdicts in the order of `cases`."""
        return [self.judge(case) for case in cases]
