"""From checked claims to scores: the rubrics applied, the same for every offline judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rge.judging.calibration import calibrate
from rge.judging.case import Case, Verdict, scored, unscored
from rge.judging.correctness import Finding
from rge.judging.gold import read_gold
from rge.judging.support import LONGEST_CLAIM, Check
from rge.records import DimensionScore
from rge.text.numbers import any_match, parse_values

NO_PASSAGES = "no_passages"


def verdict(case: Case, finding: Finding | None, checks: Sequence[Check]) -> Verdict:
    """The verdict that follows from a comparison with gold and from the checked claims.

    Parameters
    ----------
    case
        The case; without passages only correctness is scored.
    finding
        Comparison with the gold answer; None where `needs_comparison` is false.
    checks
        One per claim that states something.
    """
    correctness = score_correctness(case, finding)
    if not case.passages:
        none = unscored(NO_PASSAGES)
        return Verdict(correctness, none, none, none)
    core = core_check(case, checks)
    return Verdict(
        correctness=correctness,
        grounding=score_grounding(case, checks, core),
        calibration=calibrate(case, correctness.score or 0, core is None or core.supported),
        faithfulness=score_faithfulness(checks),
        unsupported_claims=_quotes(check for check in checks if not check.supported),
        contradictions=_quotes(check for check in checks if check.conflict is not None),
    )


def _quotes(checks: Iterable[Check]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(check.claim.text for check in checks))


def needs_comparison(case: Case) -> bool:
    """Whether correctness rests on what the answer says, not on whether it abstains."""
    return case.question.expected_behavior != "abstain" and case.abstained == "answered"


def score_correctness(case: Case, finding: Finding | None) -> DimensionScore:
    """Correctness: abstention first, then the comparison with the gold answer."""
    gold = case.question.gold_answer
    if case.question.expected_behavior == "abstain":
        if case.abstained == "refused":
            return scored(2, gold, "N/A — correct abstention")
        return scored(0, gold, "the question has no answer in the corpus, and one is given")
    if case.abstained == "refused":
        partial = case.question.expected_behavior == "partial"
        return scored(1 if partial else 0, gold, "abstains instead of answering")
    if case.abstained == "undetermined":
        return scored(0, gold, "no answer can be read from the text")
    if finding is None:
        raise ValueError("an answer needs its comparison with the gold answer")
    return scored(finding.score, finding.evidence, finding.rationale)


def core_check(case: Case, checks: Sequence[Check]) -> Check | None:
    """The main claim: the first that holds a gold number, else the first of all."""
    gold = read_gold(case.question).values
    for check in checks:
        values = parse_values(check.claim.text[:LONGEST_CLAIM])
        if any(any_match(values, value) for value in gold):
            return check
    return checks[0] if checks else None


def score_grounding(case: Case, checks: Sequence[Check], core: Check | None) -> DimensionScore:
    """Grounding by the rubric; the evidence is the passage sentence nearest to the main claim."""
    if core is None:
        if case.abstained == "refused":
            return scored(2, "", "claims nothing about the subject matter")
        return scored(0, "", "no claim can be read from the text")
    bad = [check for check in checks if not check.supported]
    misled = [check for check in checks if check.supported and check.cited is False]
    if not core.supported:
        return scored(0, core.evidence, f"the main claim is unsupported: {core.reason}")
    if case.cited.unknown and not case.cited.valid:
        return scored(0, core.evidence, f"cites {case.cited.unknown[0]}, which was not shown")
    if core.cited is False:
        return scored(0, core.evidence, "the cited passage does not hold the main claim")
    if len(bad) * 2 > len(checks):
        return scored(0, core.evidence, f"{len(bad)} of {len(checks)} claims are unsupported")
    if bad:
        return scored(1, core.evidence, f"unsupported: {bad[0].claim.text}; {bad[0].reason}")
    if misled or case.cited.unknown:
        return scored(1, core.evidence, "supported, but a citation leads elsewhere")
    if not case.cited.valid:
        return scored(1, core.evidence, "supported, but nothing is cited")
    return scored(2, core.evidence, f"all {len(checks)} claims are in the cited passages")


def score_faithfulness(checks: Sequence[Check]) -> DimensionScore:
    """Faithfulness by the rubric; unsupported additions do not count."""
    conflicts = [check.conflict for check in checks if check.conflict is not None]
    worst = next((conflict for conflict in conflicts if conflict.flat), None)
    if worst is not None:
        return scored(0, worst.evidence, worst.reason)
    if conflicts:
        return scored(1, conflicts[0].evidence, f"perhaps: {conflicts[0].reason}")
    evidence = next((check.evidence for check in checks if check.evidence), "")
    return scored(2, evidence, "no claim contradicts a passage")
