"""The rules judge against people: answers of real models that readers labelled elsewhere.

The data is FinanceBench's (Islam et al. 2023, arXiv:2311.11944): answers of four models to
questions on 10-K filings, each labelled "Correct Answer", "Incorrect Answer" or "Refusal". It is
not part of this repository; where the file is absent the check says so. Without passages only
correctness and abstention can be compared.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from rge.agreement import cohen_kappa
from rge.errors import RgeError
from rge.judging.case import Case
from rge.judging.rules import RulesJudge
from rge.profile import Profile
from rge.records import Question, Response, Usage

_FILE = "human_labelled_answers.jsonl"
_PARTS = 4
_LABELS = ("Correct Answer", "Incorrect Answer", "Refusal")


@dataclass(frozen=True)
class Labelled:
    """One answer with the label that a person gave it."""

    question_id: str
    question: str
    gold_answer: str
    answer: str
    label: str
    run: str


def find_labelled(profile: Profile, path: str | None = None) -> Path | None:
    """The file of labelled answers: as given, or in a FinanceBench profile's folder, or None.

    Raises
    ------
    RgeError
        When a path is given and no file is there.
    """
    if path is not None:
        if not Path(path).is_file():
            raise RgeError(path, "no such file", do="give the path of the labelled answers")
        return Path(path)
    if profile.corpus.kind != "financebench":
        return None
    file = profile.corpus.folder / _FILE
    return file if file.is_file() else None


def read_labelled(path: Path) -> list[Labelled]:
    """The labelled answers of a file.

    Raises
    ------
    RgeError
        On a line that lacks a key or has an unknown label.
    """
    answers = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            answer = Labelled(
                data["financebench_id"],
                data["question"],
                str(data["gold_answer"]),
                data["model_answer"],
                data["label"],
                data["run"],
            )
        except (ValueError, KeyError) as error:
            raise RgeError(f"{path}:{number}", f"not a labelled answer: {error}") from None
        if answer.label not in _LABELS:
            raise RgeError(
                f"{path}:{number}", f"label {answer.label!r}", allowed=", ".join(_LABELS)
            )
        answers.append(answer)
    return answers


def part_of(question_id: str) -> Literal["development", "held out"]:
    """Which part of the questions one belongs to; a hash decides, so nobody chooses.

    The judge was written while looking at its errors in the development part, three quarters of
    the questions; answers to the held-out quarter were only ever counted.
    """
    first = hashlib.sha256(question_id.encode("utf-8")).digest()[0]
    return "held out" if first % _PARTS == 0 else "development"


def judge_labelled(answers: list[Labelled]) -> pd.DataFrame:
    """The rules judge's reading of each answer beside its label.

    Returns
    -------
    DataFrame
        Columns question_id, part ("development", "held out"), run, label, correctness (0, 1, 2),
        abstained.
    """
    judge = RulesJudge()
    rows = []
    for answer in answers:
        case = _case(answer)
        blank = case.unscored_reason is not None
        verdict = None if blank else judge.judge(case)
        rows.append(
            {
                "question_id": answer.question_id,
                "part": part_of(answer.question_id),
                "run": answer.run,
                "label": answer.label,
                "correctness": 0 if verdict is None else verdict.correctness.score,
                "abstained": case.abstained,
            }
        )
    columns = ["question_id", "part", "run", "label", "correctness", "abstained"]
    return pd.DataFrame(rows, columns=columns)


def _case(answer: Labelled) -> Case:
    question = Question(
        id=answer.question_id,
        version=1,
        category="direct",
        text=answer.question,
        gold_answer=answer.gold_answer,
        expected_behavior="answer",
        company="-",
        fy="-",
        difficulty="medium",
    )
    response = Response(
        question_id=answer.question_id,
        subject=answer.run,
        run_index=0,
        text=answer.answer,
        citations=(),
        abstained="undetermined",
        status="ok",
        stop_reason="",
        model_id=answer.run,
        params={},
        prompt_sha256="0" * 64,
        usage=Usage(),
        cost_usd=0.0,
        latency_s=0.0,
        created_at="",
        run_id="labelled",
    )
    return Case(question, (), response)


def agreement_with_people(
    judged: pd.DataFrame, *, confidence_level: float, n_resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Cohen's kappa of judge and people on two yes-or-no questions, questions resampled.

    Returns
    -------
    DataFrame
        Rows "correct or not" and "refusal or not": n, raw, kappa, low, high, reason.
    """
    questions = {
        "correct or not": (judged["label"] == "Correct Answer", judged["correctness"] == 2),
        "refusal or not": (judged["label"] == "Refusal", judged["abstained"] == "refused"),
    }
    rows: list[dict[str, object]] = []
    for name, (people, judge) in questions.items():
        if judged.empty:
            none = dict.fromkeys(("raw", "kappa", "low", "high"))
            rows.append({"question": name, "n": 0, **none, "reason": "no labelled answers here"})
            continue
        found = cohen_kappa(
            people.astype(int),
            judge.astype(int),
            labels=(0, 1),
            clusters=judged["question_id"],
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            rng=rng,
        )
        rows.append(
            {
                "question": name,
                "n": found.n,
                "raw": found.raw,
                "kappa": found.value,
                "low": found.low,
                "high": found.high,
                "reason": found.reason,
            }
        )
    return pd.DataFrame(rows)


def values(people: pd.DataFrame) -> dict[str, object]:
    """What the paper reads: kappa with its interval, by question, and the number of answers."""
    found: dict[str, object] = {}
    for row in people.to_dict("records"):
        numbers = {name: _number(row[name]) for name in ("kappa", "low", "high", "raw")}
        reasons = {f"{name}_reason": row["reason"] for name, n in numbers.items() if n is None}
        found[row["question"]] = {"n_answers": int(row["n"]), **numbers, **reasons}
    return found


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def confusion(judged: pd.DataFrame) -> pd.DataFrame:
    """Labels of people down, the judge's reading across, counts in the cells."""
    reading = np.where(
        judged["abstained"] == "refused", "abstains", judged["correctness"].astype(str)
    )
    table = pd.crosstab(judged["label"], reading).reindex(list(_LABELS), fill_value=0)
    columns = [name for name in ("2", "1", "0", "abstains") if name in table.columns]
    named = table[columns].rename(columns=lambda n: n if n == "abstains" else f"score {n}")
    return named.rename_axis(index="label by people", columns=None).reset_index()
