"""The records on disk: what each line of a JSONL file holds, checked at the door.

Every record is frozen and refuses keys it does not know. A failure is a record with a status,
never a made-up score and never a missing row.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

Category = Literal["direct", "multihop", "adversarial", "ood"]
Score = Literal[0, 1, 2]
ResponseKey = tuple[str, str, int]

CATEGORIES: tuple[Category, ...] = ("direct", "multihop", "adversarial", "ood")
GFS_DIMENSIONS = ("correctness", "grounding", "calibration")
DIMENSIONS = (*GFS_DIMENSIONS, "faithfulness")

NonEmpty = Annotated[str, Field(min_length=1)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Record(BaseModel):
    """Frozen, strict about keys, compared by value."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Page(Record):
    """Text of one PDF page and how it was read.

    `problems` are the kinds of damage left, `repairs` those that were repaired, `printed` the page
    numbers printed on it (two where it shows two printed pages, none where it shows no number).
    """

    doc_id: NonEmpty
    page: Annotated[int, Field(ge=1)]
    text: str
    method: Literal["pypdf", "pdfplumber"]
    problems: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()


class Chunk(Record):
    """A slice of a document; `chunk_id` is `{company}-{fy}-{sha1(text)[:8]}`."""

    chunk_id: NonEmpty
    company: NonEmpty
    fy: NonEmpty
    doc_id: NonEmpty
    page_start: Annotated[int, Field(ge=1)]
    page_end: Annotated[int, Field(ge=1)]
    heading: str
    text: NonEmpty
    n_tokens: Annotated[int, Field(ge=1)]


class GoldQuote(Record):
    """A span that stands verbatim (white space aside) on a page of a document."""

    quote: NonEmpty
    doc_id: NonEmpty
    page: Annotated[int, Field(ge=1)]


class GoldValue(Record):
    """A number of the gold answer, as written beside its unit."""

    value: float
    unit: str


class Distractor(Record):
    """A wrong value that the corpus also holds, and why a reader may take it."""

    value: NonEmpty
    why: NonEmpty


class Absent(Record):
    """A text that stands nowhere in the company's documents, or not in the one of `doc_id`.

    In a file it may be the bare text.
    """

    text: NonEmpty
    doc_id: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        return {"text": given} if isinstance(given, str) else given

    @model_serializer
    def _to_text(self) -> str | dict[str, str]:
        return {"text": self.text, "doc_id": self.doc_id} if self.doc_id else self.text


class Question(Record):
    """One question with its gold; `notes` is never shown to a subject or judge.

    `unanchored`: its documents are not on this machine, so its quotes have no chunks yet. `absent`:
    what the reports would say if they answered an out-of-domain question.
    """

    id: NonEmpty
    version: Annotated[int, Field(ge=1)]
    category: Category
    text: NonEmpty
    gold_answer: NonEmpty
    gold_values: tuple[GoldValue, ...] = ()
    gold_source_ids: tuple[str, ...] = ()
    gold_quotes: tuple[GoldQuote, ...] = ()
    distractors: tuple[Distractor, ...] = ()
    expected_behavior: Literal["answer", "abstain", "partial"]
    company: NonEmpty
    fy: NonEmpty
    difficulty: Literal["easy", "medium", "hard"]
    notes: str = ""
    status: Literal["anchored", "unanchored"] = "anchored"
    absent: tuple[Absent, ...] = ()

    @model_serializer(mode="wrap")
    def _without_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The two last fields stand in a file only where they say something."""
        fields: dict[str, Any] = handler(self)
        if self.status == "anchored":
            fields.pop("status", None)
        if not self.absent:
            fields.pop("absent", None)
        return fields


class Retrieval(Record):
    """The passages of a question, frozen once and shown to every subject."""

    question_id: NonEmpty
    chunk_ids: tuple[str, ...]
    distances: tuple[float, ...]
    index_sha256: Sha256
    gold_in_context: Literal["all", "some", "none"]


class Usage(Record):
    """Token counts of one call; None where the subject does not count."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


class Response(Record):
    """What a subject returned for one question in one run."""

    question_id: NonEmpty
    subject: NonEmpty
    run_index: Annotated[int, Field(ge=0)]
    text: str
    citations: tuple[str, ...]
    abstained: Literal["answered", "refused", "undetermined"]
    status: Literal["ok", "truncated", "refused_by_provider", "error"]
    stop_reason: str
    model_id: str
    params: dict[str, object]
    prompt_sha256: Sha256
    usage: Usage
    cost_usd: Annotated[float, Field(ge=0)]
    latency_s: Annotated[float, Field(ge=0)] | None
    created_at: str
    run_id: NonEmpty

    @property
    def key(self) -> ResponseKey:
        return self.question_id, self.subject, self.run_index


class DimensionScore(Record):
    """One dimension of a judgement: evidence first, then the rationale, then the score.

    `score` is None exactly where `unscored_reason` says why.
    """

    evidence: str
    rationale: str
    score: Score | None
    unscored_reason: str | None = None

    @model_validator(mode="after")
    def _score_or_reason(self) -> DimensionScore:
        if (self.score is None) == (self.unscored_reason is None):
            raise ValueError("a dimension has either a score or an unscored_reason")
        return self


class Judgement(Record):
    """One judge's verdict on one response."""

    question_id: NonEmpty
    subject: NonEmpty
    run_index: Annotated[int, Field(ge=0)]
    judge: NonEmpty
    rubric_version: NonEmpty
    prompt_sha256: Sha256
    status: Literal["scored", "unscored"]
    unscored_reason: str | None
    correctness: DimensionScore | None
    grounding: DimensionScore | None
    calibration: DimensionScore | None
    faithfulness: DimensionScore | None
    unsupported_claims: tuple[str, ...]
    contradictions: tuple[str, ...]
    usage: Usage
    cost_usd: Annotated[float, Field(ge=0)]
    created_at: str
    run_id: NonEmpty

    @property
    def key(self) -> tuple[str, str, int, str]:
        return self.question_id, self.subject, self.run_index, self.judge

    @model_validator(mode="after")
    def _status_agrees(self) -> Judgement:
        dimensions = [getattr(self, name) for name in DIMENSIONS]
        if self.status == "scored":
            if self.unscored_reason is not None or None in dimensions:
                raise ValueError("a scored judgement has all dimensions and no unscored_reason")
        elif self.unscored_reason is None or dimensions != [None] * len(DIMENSIONS):
            raise ValueError("an unscored judgement has an unscored_reason and no dimensions")
        return self


class Label(Record):
    """Scores given by a person, or by the construction of a control answer."""

    question_id: NonEmpty
    subject: NonEmpty
    run_index: Annotated[int, Field(ge=0)]
    labeller: NonEmpty
    rubric_version: NonEmpty
    correctness: Score
    grounding: Score
    calibration: Score
    faithfulness: Score
    note: str
    label_source: Literal["human", "construction"]
    created_at: str

    @property
    def key(self) -> ResponseKey:
        return self.question_id, self.subject, self.run_index


class Estimate(Record):
    """A value with its interval; undefined is None with the reason in `method`."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    confidence_level: Annotated[float, Field(gt=0, lt=1)]
    method: str
    n_questions: Annotated[int, Field(ge=0)]
    n_responses: Annotated[int, Field(ge=0)]
    n_unscored: Annotated[int, Field(ge=0)]
