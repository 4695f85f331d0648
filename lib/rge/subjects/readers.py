"""Two extractive readers: they quote the passage sentence that fits the question best, or abstain.

They know nothing beyond the passages, never invent a word, and differ only in what "fits" means:
shared words (BM25) or nearness of sentence embeddings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rge.errors import UsageError
from rge.prompting import Prompt
from rge.records import Chunk
from rge.retrieval.embedder import Embedder
from rge.specs import SubjectSpec
from rge.subjects.reply import Options, Reply, read_options
from rge.subjects.spans import Span, split_passage

ABSTENTION = "The passages do not contain the answer to this question."
K1, B = 1.5, 0.75

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_ASKING = frozenset({"many", "much", "per", "would"})


class ReaderOptions(Options):
    """Options of the readers.

    `threshold` is the score under which they abstain; null means chosen on held-out questions, or
    taken from the file of chosen thresholds that `threshold_from` names (from the repository
    root). `embedder` is the model of the semantic reader.
    """

    threshold: float | None = None
    threshold_from: Path | None = None
    embedder: str = "all-MiniLM-L6-v2"


class Reader:
    """A reader with its scorer and threshold."""

    concurrency = 1

    def __init__(self, spec: SubjectSpec) -> None:
        options = read_options(ReaderOptions, spec)
        if options.threshold is None:
            raise UsageError(
                f"subject {spec.name}",
                "has no threshold",
                allowed="a number",
                do="choose one on held-out questions, or set options.threshold",
            )
        self._threshold = options.threshold
        self._scorer = open_scorer(spec)
        self.params: dict[str, Any] = {**self._scorer.params, "threshold": options.threshold}

    def answer(self, prompt: Prompt) -> Reply:
        """The best span with its chunk id, or the sentence of abstention."""
        span, score = best_span(self._scorer, prompt.question, prompt.passages)
        if span is None or score < self._threshold:
            text, stop_reason = ABSTENTION, "below threshold"
        else:
            text, stop_reason = f"{span.text} [{span.chunk_id}]", "quoted"
        return Reply(text, stop_reason, "ok", str(self.params["scorer"]), params=self.params)

    def close(self) -> None:
        """Nothing to close."""


class LexicalScorer:
    """BM25 of a span for the question, as a share of the most that any span could reach."""

    params: dict[str, Any]

    def __init__(self) -> None:
        self.params = {"scorer": "bm25-share-v1", "k1": K1, "b": B}

    def score(self, question: str, spans: Sequence[Span]) -> NDArray[np.float64]:
        """Scores in [0, 1), one per span."""
        return bm25_share(_tokens(question), [_tokens(span.read) for span in spans])


class SemanticScorer:
    """Cosine of question and span embeddings."""

    params: dict[str, Any]

    def __init__(self, embedder: str) -> None:
        self._embedder = Embedder(embedder)
        self.params = {"scorer": "cosine-v1", "embedder": self._embedder.model_id}

    def score(self, question: str, spans: Sequence[Span]) -> NDArray[np.float64]:
        """Scores in [-1, 1], one per span."""
        vectors = self._embedder.encode([question, *self._fitting(spans)])
        # Rounded, because the last digits of a float32 product depend on the machine.
        cosines: NDArray[np.float64] = np.round(vectors[1:].astype(float) @ vectors[0], 5)
        return cosines

    def _fitting(self, spans: Sequence[Span]) -> list[str]:
        """Spans with their context, without what the model has no room for."""
        texts = [span.read for span in spans]
        for place, length in enumerate(self._embedder.n_tokens(texts)):
            if length > self._embedder.max_tokens:
                texts[place] = self._shortened(spans[place].text)
        return texts

    def _shortened(self, text: str) -> str:
        words = text.split()
        while self._embedder.n_tokens([" ".join(words)])[0] > self._embedder.max_tokens:
            words = words[: len(words) * 3 // 4]
        return " ".join(words)


def open_scorer(spec: SubjectSpec) -> LexicalScorer | SemanticScorer:
    """The scorer of a reader; models are loaded with the first score."""
    if spec.kind == "reader-lexical":
        return LexicalScorer()
    return SemanticScorer(read_options(ReaderOptions, spec).embedder)


def best_span(
    scorer: LexicalScorer | SemanticScorer, question: str, passages: Sequence[Chunk]
) -> tuple[Span | None, float]:
    """The span with the highest score and that score; the earlier passage wins a tie.

    Without passages the span is None and the score minus infinity.
    """
    spans = [span for chunk in passages for span in split_passage(chunk)]
    if not spans:
        return None, -math.inf
    scores = scorer.score(question, spans)
    best = int(np.argmax(scores))
    return spans[best], float(scores[best])


def bm25_share(query: Sequence[str], documents: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """BM25 of each document divided by the score no document can exceed for this query.

    A term's part of the score is below its inverse document frequency, so their sum over the
    query's distinct terms is the bound. Terms that no document holds count in the bound: a span
    that misses what the question is about scores low, whatever the question's length.

    Parameters
    ----------
    query
        Tokens of the question.
    documents
        Tokens of each span.

    Returns
    -------
    ndarray of shape (n_documents,)
        Shares in [0, 1).

    References
    ----------
    Kamphuis, de Vries, Boytsov, Lin (2020), "Which BM25 do you mean?", variant "Lucene accurate".
    """
    import bm25s

    terms = list(dict.fromkeys(query))
    known = {term for document in documents for term in document}
    bound = sum(_idf(sum(term in set(d) for d in documents), len(documents)) for term in terms)
    shared = [term for term in terms if term in known]
    if not shared:
        return np.zeros(len(documents))
    ranker = bm25s.BM25(k1=K1, b=B, method="lucene")
    ranker.index([list(document) for document in documents], show_progress=False)
    return np.round(ranker.get_scores(shared).astype(float) / bound, 5)


def _idf(n_holding: int, n_documents: int) -> float:
    return math.log(1 + (n_documents - n_holding + 0.5) / (n_holding + 0.5))


def _tokens(text: str) -> list[str]:
    """Lower-case words and numbers without function words; plurals lose their s."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    words = [word.lower() for word in _WORD.findall(text)]
    return [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
        if word not in STOPWORDS_EN_PLUS and word not in _ASKING
    ]
