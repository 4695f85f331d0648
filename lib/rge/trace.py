"""From a number back to the evidence: one response with its passages and verdicts."""

from __future__ import annotations

from rge.errors import RgeError
from rge.profile import Profile
from rge.records import DIMENSIONS, Chunk, Judgement, Question, Response, ResponseKey
from rge.store import read_jsonl


def trace(profile: Profile, key: ResponseKey) -> str:
    """Everything stored about one response, as readable text.

    Parameters
    ----------
    profile
        The study.
    key
        `(question_id, subject, run_index)`.

    Raises
    ------
    RgeError
        When no response with that key is stored.
    """
    from rge.questions import study_questions
    from rge.retrieval import retrieve

    subject = profile.subject(key[1])
    path = profile.responses_path(subject.name)
    line, response = _find(read_jsonl(path, Response, lambda r: r.key), key, str(path))
    question = next(q for q in study_questions(profile) if q.id == key[0])
    parts = [_question(question), _passages(retrieve.load(profile).passages(key[0]), response)]
    parts.append(_response(response, f"{path.relative_to(profile.root)}:{line}"))
    for judge in profile.judges_of(subject):
        judged = profile.judgements_path(subject.name, judge.name)
        for number, judgement in enumerate(
            read_jsonl(judged, Judgement, lambda j: j.key, missing_ok=True), 1
        ):
            if judgement.key[:3] == key:
                place = f"{judged.relative_to(profile.root)}:{number}"
                parts.append(_judgement(judgement, place))
    return "\n\n".join(parts)


def _find(responses: list[Response], key: ResponseKey, where: str) -> tuple[int, Response]:
    for number, response in enumerate(responses, 1):
        if response.key == key:
            return number, response
    raise RgeError(where, f"no response {key}", do="see the question ids in that file")


def _question(question: Question) -> str:
    lines = [f"QUESTION {question.id} ({question.category}, {question.company} {question.fy})"]
    lines += [f"  {question.text}", f"  gold: {question.gold_answer}"]
    lines += [f"  gold quote, {q.doc_id} page {q.page}: {q.quote}" for q in question.gold_quotes]
    lines += [f"  distractor: {d.value} ({d.why})" for d in question.distractors]
    return "\n".join(lines)


def _passages(passages: list[Chunk], response: Response) -> str:
    lines = ["PASSAGES AS SHOWN"]
    for rank, chunk in enumerate(passages, 1):
        cited = ", cited" if chunk.chunk_id in response.citations else ""
        pages = f"{chunk.page_start}–{chunk.page_end}"
        lines.append(f"  {rank}. [{chunk.chunk_id}] {chunk.doc_id}, PDF pages {pages}{cited}")
        lines += [f"     {line}" for line in chunk.text.splitlines()]
    return "\n".join(lines)


def _response(response: Response, place: str) -> str:
    lines = [f"RESPONSE by {response.subject}, run {response.run_index} ({place})"]
    lines += [f"  {line}" for line in response.text.splitlines()]
    lines.append(
        f"  status {response.status}, {response.abstained}, prompt {response.prompt_sha256}"
    )
    return "\n".join(lines)


def _judgement(judgement: Judgement, place: str) -> str:
    lines = [f"JUDGEMENT by {judgement.judge} ({place})"]
    if judgement.status == "unscored":
        lines.append(f"  unscored: {judgement.unscored_reason}")
    for name in DIMENSIONS:
        dimension = getattr(judgement, name)
        if dimension is not None:
            score = dimension.unscored_reason if dimension.score is None else dimension.score
            lines.append(f"  {name} {score}: {dimension.rationale}")
            lines += [f"    evidence: {dimension.evidence}"] if dimension.evidence else []
    lines += [f"  unsupported: {claim}" for claim in judgement.unsupported_claims]
    lines += [f"  contradiction: {claim}" for claim in judgement.contradictions]
    return "\n".join(lines)
