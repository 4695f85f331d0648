"""Control answers: built from gold and passages, so that their right scores are known beforehand.

They test the judges, not a subject. Their labels are labels *by construction*: what follows from
how the answer was made, never a person's opinion. A control that cannot be built for a question
(no number to change, no gold chunk among the passages) is left out, and counted.

| control | the answer | correctness, grounding, calibration, faithfulness |
|---|---|---|
| oracle | gold answer, right citations | 2 2 2 2 |
| paraphraser | oracle in other words | 2 2 2 2 |
| fabricator | oracle with an invented clause that contradicts nothing | 2 1 2 2 |
| mis-citer | gold answer, cites a passage that does not hold it | 2 0 2 2 |
| over-hedger | oracle wrapped in doubt | 2 2 1 2 |
| contradictor | oracle with its figure changed | 0 0 1 0 |
| year-swapper | oracle with the figure of another year from the same passage | 0 0 1 0 |
| unit-swapper | oracle with the right digits in another unit or scale | 0 0 1 0 |
| parrot | the first passage, without the answer in it, word for word | 0 2 1 2 |
| false refuser | abstains although the passages hold the answer | 0 2 0 2 |
| abstainer | abstains where there is no answer | 2 2 2 2 |
| inventor | a made-up figure where there is no answer | 0 0 0 2 |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from rge.calibration.control_texts import BUILDERS
from rge.judging.case import Case
from rge.judging.families import assert_cross_family
from rge.judging.run import Judge, outcomes
from rge.records import DIMENSIONS, Chunk, Label, Question, Response, Score, Usage
from rge.retrieval.retrieve import Frozen
from rge.rubrics import RUBRIC_VERSION
from rge.store import sha256_text
from rge.text.abstention import detect
from rge.text.citations import parse_citations

FAMILY = "construction"
Scores = tuple[Score, Score, Score, Score]
SCORES: dict[str, Scores] = {
    "oracle": (2, 2, 2, 2),
    "paraphraser": (2, 2, 2, 2),
    "fabricator": (2, 1, 2, 2),
    "mis-citer": (2, 0, 2, 2),
    "over-hedger": (2, 2, 1, 2),
    "contradictor": (0, 0, 1, 0),
    "year-swapper": (0, 0, 1, 0),
    "unit-swapper": (0, 0, 1, 0),
    "parrot": (0, 2, 1, 2),
    "false refuser": (0, 2, 0, 2),
    "abstainer": (2, 2, 2, 2),
    "inventor": (0, 0, 0, 2),
}
ANSWERED = tuple(name for name in SCORES if name not in ("abstainer", "inventor"))
UNANSWERABLE = ("abstainer", "inventor")
NEED_GOLD = ANSWERED
# More of a kind narrow its pass rate little and make the notebook slow.
MOST_OF_A_KIND = 40
Shown = Literal["all", "some", "none"]


@dataclass(frozen=True)
class Control:
    """A control answer with the passages it was built for and its scores by construction."""

    kind: str
    question: Question
    passages: tuple[Chunk, ...]
    response: Response
    label: Label
    gold_shown: Shown

    @property
    def case(self) -> Case:
        return Case(self.question, self.passages, self.response, self.gold_shown)


def build_controls(
    questions: Sequence[Question], frozen: Frozen, *, rng: np.random.Generator
) -> list[Control]:
    """Every control that can be built for every question.

    Parameters
    ----------
    questions
        With gold chunk ids.
    frozen
        Passages as shown to the subjects; the controls see the same.
    rng
        Chooses wordings and factors.
    """
    controls = []
    for question in questions:
        passages = tuple(frozen.passages(question.id))
        shown = frozen.retrievals[question.id].gold_in_context
        if question.expected_behavior == "partial":
            continue
        kinds = UNANSWERABLE if question.expected_behavior == "abstain" else ANSWERED
        for kind in kinds:
            if kind in NEED_GOLD and shown != "all":
                continue
            text = BUILDERS[kind](question, passages, rng)
            if text is not None:
                controls.append(_control(kind, question, passages, text, shown))
    return controls


def sample_controls(
    controls: Sequence[Control], *, most: int = MOST_OF_A_KIND, rng: np.random.Generator
) -> list[Control]:
    """At most `most` controls of each kind, drawn without replacement, in their first order."""
    chosen: set[int] = set()
    for kind in SCORES:
        places = [place for place, control in enumerate(controls) if control.kind == kind]
        if len(places) > most:
            places = [places[i] for i in rng.choice(len(places), size=most, replace=False)]
        chosen.update(places)
    return [control for place, control in enumerate(controls) if place in chosen]


def count_controls(
    controls: Sequence[Control],
    questions: Sequence[Question],
    sample: Sequence[Control] | None = None,
) -> pd.DataFrame:
    """Controls built, left out and, of a sample, judged: columns control, built, left_out, judged.

    Without a sample all that were built are judged.
    """
    sample = controls if sample is None else sample
    n_abstain = sum(q.expected_behavior == "abstain" for q in questions)
    n_answer = sum(q.expected_behavior == "answer" for q in questions)
    rows = []
    for kind in SCORES:
        built = sum(control.kind == kind for control in controls)
        planned = n_abstain if kind in UNANSWERABLE else n_answer
        judged = sum(control.kind == kind for control in sample)
        rows.append(
            {"control": kind, "built": built, "left_out": planned - built, "judged": judged}
        )
    return pd.DataFrame(rows)


def _control(
    kind: str, question: Question, passages: tuple[Chunk, ...], text: str, shown: Shown
) -> Control:
    subject = f"control-{kind.replace(' ', '-')}"
    correctness, grounding, calibration, faithfulness = SCORES[kind]
    response = Response(
        question_id=question.id,
        subject=subject,
        run_index=0,
        text=text,
        citations=parse_citations(text, [chunk.chunk_id for chunk in passages]).valid,
        abstained=detect(text),
        status="ok",
        stop_reason="construction",
        model_id=FAMILY,
        params={},
        prompt_sha256=sha256_text(f"{kind} {question.id}"),
        usage=Usage(),
        cost_usd=0.0,
        latency_s=0.0,
        created_at="",
        run_id=FAMILY,
    )
    label = Label(
        question_id=question.id,
        subject=subject,
        run_index=0,
        labeller=FAMILY,
        rubric_version=RUBRIC_VERSION,
        correctness=correctness,
        grounding=grounding,
        calibration=calibration,
        faithfulness=faithfulness,
        note=kind,
        label_source="construction",
        created_at="",
    )
    return Control(kind, question, passages, response, label, shown)


def judge_controls(
    controls: Sequence[Control],
    judges: Mapping[str, tuple[str, Judge]],
    *,
    owner: str = "controls",
) -> pd.DataFrame:
    """Scores of the controls: one row per control, judge and dimension.

    Parameters
    ----------
    controls
        From `build_controls`.
    judges
        Judge by name, with its family: no judge may be of the controls' family either.
    owner
        Begins the name of the files that hold a paid judge's replies.

    Returns
    -------
    DataFrame
        Columns control, question_id, judge, dimension, expected, obtained (NaN: unscored).
    """
    rows = []
    for name, (family, judge) in judges.items():
        assert_cross_family(FAMILY, family)
        cases = [control.case for control in controls]
        found = {
            case.response.key: outcome
            for case, outcome in outcomes(judge, cases, f"{owner}.by-{name}")
        }
        for control in controls:
            verdict = found[control.response.key].verdict
            for dimension in DIMENSIONS:
                score = None if verdict is None else getattr(verdict, dimension).score
                rows.append(
                    {
                        "control": control.kind,
                        "question_id": control.question.id,
                        "judge": name,
                        "dimension": dimension,
                        "expected": getattr(control.label, dimension),
                        "obtained": np.nan if score is None else float(score),
                    }
                )
    return pd.DataFrame(rows)


def pass_rates(scores: pd.DataFrame) -> pd.DataFrame:
    """Share of controls that got exactly their score, by control, dimension and judge."""
    hit = scores.assign(passed=scores["obtained"] == scores["expected"])
    order = {kind: place for place, kind in enumerate(SCORES)}
    table = (
        hit.groupby(["control", "dimension", "judge"], sort=False)
        .agg(
            n=("passed", "size"),
            expected=("expected", "first"),
            obtained=("obtained", "mean"),
            pass_rate=("passed", "mean"),
        )
        .reset_index()
    )
    return table.sort_values(
        ["control", "dimension"],
        key=lambda c: c.map(order).fillna(c.map({d: i for i, d in enumerate(DIMENSIONS)})),
        kind="stable",
    ).reset_index(drop=True)
