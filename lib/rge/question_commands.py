"""What `rge questions` does: check drafts, resolve anchors, validate a set."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from rge.anchoring import resolve
from rge.authoring import Desk
from rge.corpus_text import CorpusText
from rge.display import markdown_table
from rge.drafts import Verdict, as_line
from rge.errors import UsageError
from rge.profile import Profile
from rge.questions import CHUNK_SHAPING, study_questions
from rge.questions_file import Line, anchor_file, read_lines
from rge.records import Question
from rge.retrieval.index import Embedder, Index, open_index
from rge.specs import PlannedSpec
from rge.store import write_text
from rge.validation import Check, Fault, ValidationReport, check_questions
from rge.validation import validate as check_texts


def draft(
    profile: Profile, path: Path, *, write: Path | None = None, against: Path | None = None
) -> int:
    """Print what is wrong with each draft of a file and what it retrieves; 1 if any has a problem.

    Parameters
    ----------
    path
        One draft a line, JSON; `gold_source_ids` may be missing.
    write
        Where to put the drafts with their gold chunk ids, when none has a problem.
    against
        The set that drafts are compared with; the profile's by default.
    """
    lines = read_lines(path)
    desk = Desk(profile, against=Path() if against is None else against)
    verdicts = desk.check_all([line.text for line in lines])
    for line, verdict in zip(lines, verdicts, strict=True):
        print(f"{path.name}:{line.number} {verdict}")
    print(_summary(verdicts))
    if not all(verdict.ok for verdict in verdicts):
        return 1
    if write is not None:
        questions = [verdict.question for verdict in verdicts if verdict.question is not None]
        write_text(write, "".join(f"{as_line(question)}\n" for question in questions))
        print(f"{len(questions)} lines written to {write}")
    return 0


def _summary(verdicts: list[Verdict]) -> str:
    gold = [verdict for verdict in verdicts if verdict.gold]
    tempting = [verdict for verdict in verdicts if verdict.distractors]
    parts = [f"{len(verdicts)} drafts, {sum(not one.ok for one in verdicts)} with problems"]
    if gold:
        parts.append(f"some gold shown for {sum(one.gold_shown for one in gold)} of {len(gold)}")
    if tempting:
        both = sum(one.gold_shown and one.distractor_shown for one in tempting)
        parts.append(f"gold and a distractor for {both} of {len(tempting)}")
    return "; ".join(parts)


def anchor(
    profile: Profile, *, path: Path | None = None, write: bool = False, find_pages: bool = False
) -> int:
    """Resolve the gold chunk ids of a file from its quotes and say what changes.

    Parameters
    ----------
    path
        The file; the profile's questions by default.
    write
        Whether the file is replaced; else 1 is returned when it would change.
    find_pages
        Whether a quote that stands on another page of its document, and only there, moves.

    Returns
    -------
    int
        1 when a quote does not resolve (nothing is written then) or a dry run finds changes.
    """
    path = path or _own_file(profile)
    if write and CHUNK_SHAPING & profile.overrides.keys():
        raise UsageError(
            "anchor --write",
            "the chunking is overridden, and the ids in the file belong to the profile's own",
            do="leave the parameter out; other chunkings are resolved when a study is read",
        )
    index = open_index(profile)
    found = anchor_file(path, _corpus(index), find_pages=find_pages)
    for sentence in found.moved:
        print(sentence)
    for problem in found.problems:
        print(problem, file=sys.stderr)
    if found.problems:
        hint = "" if find_pages else "; --find-pages looks for quotes that moved to another page"
        print(f"{len(found.problems)} problems, nothing written{hint}", file=sys.stderr)
        return 1
    if write:
        write_text(path, found.text)
    told = f"{len(found.changed)} lines {'changed' if write else 'would change'}"
    if found.n_unanchored:
        told += f", {found.n_unanchored} questions are unanchored: their documents are not here"
    print(f"{_shown(path)}: {told}")
    return 1 if found.changed and not write else 0


def validate(profile: Profile, *, path: Path | None = None, as_json: bool = False) -> int:
    """Check a question set against the index and print what fails, by check and with its line.

    Parameters
    ----------
    path
        The file; the profile's questions by default, all of them.
    as_json
        Whether to print one JSON object instead of tables.

    Returns
    -------
    int
        1 when a required check does not hold.
    """
    filings = profile.corpus.kind == "financebench" and path is None
    path = None if filings else path or _own_file(profile)
    lines = [] if path is None else read_lines(path)
    questions = [line.question for line in lines if line.question is not None]
    planned = profile.planned if path == profile.questions else None
    if filings or any(question.status == "anchored" for question in questions):
        report = _checked(profile, questions, planned, filings=filings)
    else:
        # Where no document is needed, none has to be on this machine.
        by_category = None if planned is None else planned.by_category
        report = check_texts(questions, pages=[], chunks=[], planned=by_category)
    report = _with_lines_checked(report, lines)
    if as_json:
        print(json.dumps(_as_dict(report, path, lines), ensure_ascii=False, indent=2))
    else:
        print(markdown_table(pd.DataFrame(report.rows())))
        print(_faults(report, path, lines))
    return 0 if report.ok else 1


def _checked(
    profile: Profile, questions: list[Question], planned: PlannedSpec | None, *, filings: bool
) -> ValidationReport:
    """The report with all the index tells; gold ids are resolved anew for another chunking."""
    index = open_index(profile)
    if filings:
        questions = study_questions(profile, index)
    elif CHUNK_SHAPING & profile.overrides.keys():
        corpus = _corpus(index)
        questions = [resolve(question, corpus).question for question in questions]
    return check_questions(
        questions,
        index,
        Embedder(profile.retrieval.embedder),
        top_k=profile.retrieval.top_k,
        planned=planned,
        verbatim=not filings,
    )


def _with_lines_checked(report: ValidationReport, lines: list[Line]) -> ValidationReport:
    if not lines:
        return report
    faults = tuple(Fault(f"line {one.number}", one.problem) for one in lines if one.problem)
    first = Check("each line is a question", len(lines), faults)
    return ValidationReport((first, *report.checks), report.n_by_category)


def _places(lines: list[Line]) -> dict[str, list[int]]:
    """Line numbers by the id that faults name."""
    places: dict[str, list[int]] = {f"line {line.number}": [line.number] for line in lines}
    for line in lines:
        if line.question is not None:
            places.setdefault(line.question.id, []).append(line.number)
    return places


def _faults(report: ValidationReport, path: Path | None, lines: list[Line]) -> str:
    """Every failure below its check, with file and line; those that refuse the set first."""
    places, shown = _places(lines), _shown(path)
    out = []
    for check in sorted(report.checks, key=lambda check: not check.required):
        if not check.faults:
            continue
        out.append(f"\n{check.name}: {check.result} for {len(check.failed)} of {check.n}")
        for fault in check.faults:
            numbers = ",".join(map(str, places.get(fault.id, ())))
            where = f"{shown}:{numbers}" if numbers else shown
            name = "" if fault.id.startswith("line ") else f"{fault.id}: "
            out.append(f"  {where}: {name}{fault.message}")
    verdict = "every required check holds"
    if not report.ok:
        verdict = f"{report.n_failed} failures of required checks: the set is refused"
    return "\n".join([*out, "", verdict])


def _as_dict(report: ValidationReport, path: Path | None, lines: list[Line]) -> dict[str, Any]:
    places = _places(lines)
    return {
        "file": _shown(path) or None,
        "ok": report.ok,
        "n_by_category": report.n_by_category,
        "checks": [
            {
                "name": check.name,
                "n": check.n,
                "required": check.required,
                "result": check.result,
                "detail": check.detail,
                "faults": [
                    {"id": f.id, "lines": places.get(f.id, []), "message": f.message}
                    for f in check.faults
                ],
            }
            for check in report.checks
        ],
    }


def _shown(path: Path | None) -> str:
    """The path from the working directory where it lies below it."""
    if path is None:
        return ""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _own_file(profile: Profile) -> Path:
    if profile.questions is None:
        raise UsageError(profile.source, "questions is missing", do="name the file of questions")
    return profile.questions


def _corpus(index: Index) -> CorpusText:
    return CorpusText(index.pages, list(index.chunks.values()))
