"""Records of a made-up study, for tests of what is computed from records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rge.records import DIMENSIONS, Judgement, Question, Response, Retrieval

SHA = "0" * 64
SKILL = {"alpha": 0.85, "beta": 0.65, "gamma": 0.4}
CATEGORY_OF = ("direct", "multihop", "adversarial", "ood")


@dataclass(frozen=True)
class MadeUp:
    questions: list[Question]
    responses: list[Response]
    judgements: list[Judgement]
    retrievals: list[Retrieval]
    runs: dict[str, int]


def question(number: int, category: str, *, n_documents: int = 20) -> Question:
    document = f"firm{number % n_documents // 2}-FY{23 + number % 2}"
    ood = category == "ood"
    quotes = () if ood else ({"quote": "q", "doc_id": document, "page": 1},)
    return Question(
        id=f"q{number:03d}",
        version=1,
        category=category,
        text="What was revenue?",
        gold_answer="₹10 crore",
        gold_source_ids=() if ood else ("c1",),
        gold_quotes=quotes,
        expected_behavior="abstain" if ood else "answer",
        company=document.split("-")[0],
        fy=document.split("-")[1],
        difficulty="easy",
    )


def response(question_id: str, subject: str, run_index: int = 0, **changes: object) -> Response:
    fields: dict[str, object] = {
        "question_id": question_id,
        "subject": subject,
        "run_index": run_index,
        "text": "Revenue was ₹10 crore [c1].",
        "citations": ("c1",),
        "abstained": "answered",
        "status": "ok",
        "stop_reason": "stop",
        "model_id": subject,
        "params": {},
        "prompt_sha256": SHA,
        "usage": {},
        "cost_usd": 0.0,
        "latency_s": 0.0,
        "created_at": "2024-04-01T00:00:00Z",
        "run_id": "made-up",
    }
    return Response.model_validate({**fields, **changes})


def judgement(
    of: Response, judge: str, scores: tuple[int | None, ...] | None, **changes: object
) -> Judgement:
    """A judgement with c, g, k, f scores; None as a whole or in one place is unscored."""
    fields: dict[str, object] = {
        "question_id": of.question_id,
        "subject": of.subject,
        "run_index": of.run_index,
        "judge": judge,
        "rubric_version": "v1",
        "prompt_sha256": SHA,
        "status": "unscored" if scores is None else "scored",
        "unscored_reason": "no verdict" if scores is None else None,
        "unsupported_claims": (),
        "contradictions": (),
        "usage": {},
        "cost_usd": 0.0,
        "created_at": "2024-04-01T00:00:00Z",
        "run_id": "made-up",
    }
    for position, name in enumerate(DIMENSIONS):
        score = None if scores is None else scores[position]
        reason = "evidence not found" if score is None else None
        fields[name] = scores and {
            "evidence": "e",
            "rationale": "r",
            "score": score,
            "unscored_reason": reason,
        }
    return Judgement.model_validate({**fields, **changes})


def retrieval(of: Question, gold_in_context: str) -> Retrieval:
    return Retrieval(
        question_id=of.id,
        chunk_ids=("c1",),
        distances=(0.1,),
        index_sha256=SHA,
        gold_in_context=gold_in_context,
    )


def made_up_study(
    rng: np.random.Generator,
    *,
    n_questions: int = 40,
    n_runs: int = 1,
    unscored_rate: float = 0.0,
    subjects: tuple[str, ...] = tuple(SKILL),
) -> MadeUp:
    """A study whose subjects differ in skill, with two judges that differ a little."""
    categories = [CATEGORY_OF[i % 4] for i in range(n_questions)]
    questions = [question(i, category) for i, category in enumerate(categories)]
    shown = [("all", "all", "some", "none")[int(rng.integers(4))] for _ in questions]
    retrievals = [
        retrieval(q, "none" if q.category == "ood" else context)
        for q, context in zip(questions, shown, strict=True)
    ]
    responses, judgements = [], []
    for subject in subjects:
        for q in questions:
            base = rng.random(4) < SKILL[subject]
            refused = rng.random() < (0.6 if q.category == "ood" else 0.1)
            for run_index in range(n_runs):
                state = "refused" if refused else "answered"
                made = response(q.id, subject, run_index, abstained=state)
                responses.append(made)
                truth = np.where(rng.random(4) < 0.1, 1, 2 * base)
                for judge in ("first", "second"):
                    seen = np.where(rng.random(4) < 0.15, rng.integers(0, 3, 4), truth)
                    scores = None if rng.random() < unscored_rate else tuple(int(s) for s in seen)
                    judgements.append(judgement(made, judge, scores))
    runs = dict.fromkeys(subjects, n_runs)
    return MadeUp(questions, responses, judgements, retrievals, runs)
