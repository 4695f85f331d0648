"""Everything that is on disk for one profile, read and checked at once."""

from __future__ import annotations

from dataclasses import dataclass

from rge.profile import Profile
from rge.records import Chunk, Judgement, Question, Response, Retrieval
from rge.store import read_jsonl


@dataclass(frozen=True)
class Collected:
    """Records of a study; `runs` maps each subject to its planned runs, in profile order."""

    questions: list[Question]
    responses: list[Response]
    judgements: list[Judgement]
    retrievals: list[Retrieval]
    passages: dict[str, list[Chunk]]
    runs: dict[str, int]


def load_collected(profile: Profile) -> Collected:
    """Questions, frozen retrieval, responses and judgements of a profile.

    A file of responses or judgements that does not exist yet reads as empty: what was planned and
    is not there shows as missing in `rge.tables.score_table`.

    Raises
    ------
    RgeError
        A line that is not the record, a key that stands twice, or no frozen retrieval.
    """
    from rge.questions import study_questions
    from rge.retrieval import retrieve

    frozen = retrieve.load(profile)
    questions = study_questions(profile)
    passages = {question.id: frozen.passages(question.id) for question in questions}
    responses: list[Response] = []
    judgements: list[Judgement] = []
    for subject in profile.subjects:
        path = profile.responses_path(subject.name)
        responses += read_jsonl(path, Response, lambda r: r.key, missing_ok=True)
        for judge in profile.judges_of(subject):
            judged = profile.judgements_path(subject.name, judge.name)
            judgements += read_jsonl(judged, Judgement, lambda j: j.key, missing_ok=True)
    return Collected(
        questions=questions,
        responses=responses,
        judgements=judgements,
        retrievals=[frozen.retrievals[question.id] for question in questions],
        passages=passages,
        runs={subject.name: subject.runs for subject in profile.subjects},
    )
