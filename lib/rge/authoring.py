"""The authoring desk: look texts up, see what a draft question retrieves, and check the draft.

A draft is a question as a dict, `gold_source_ids` left out: the desk resolves them.

>>> desk = Desk("offline")                                            # doctest: +SKIP
>>> desk.find("thalivo", "unused on 31 March")                        # doctest: +SKIP
>>> desk.check({"id": "x-1", "category": "direct", "text": "…"})      # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rge.corpus_text import CorpusText, squeeze, stands_in
from rge.drafts import Verdict, as_line, judge, read_draft, same
from rge.errors import RgeError, UsageError
from rge.profile import Profile, load_profile
from rge.questions import load_questions
from rge.records import Question

if TYPE_CHECKING:
    import pandas as pd

    from rge.retrieval.index import Index

__all__ = ["Desk", "Verdict", "as_line", "example"]

_EXCERPT = 160  # characters


class Desk:
    """Opens an index once and looks texts and drafts up in it.

    Parameters
    ----------
    profile
        A profile or its name.
    against
        The set that drafts are compared with; None compares them with one another only. By
        default the profile's questions.
    index
        Where given, used instead of opening the profile's.
    """

    def __init__(
        self,
        profile: Profile | str = "offline",
        *,
        against: Sequence[Question] | Path | None = Path(),
        index: Index | None = None,
    ) -> None:
        from rge.retrieval.index import Embedder, open_index

        self.profile = profile if isinstance(profile, Profile) else load_profile(profile)
        self.index = open_index(self.profile) if index is None else index
        self.embedder = Embedder(self.profile.retrieval.embedder)
        self.corpus = CorpusText(self.index.pages, list(self.index.chunks.values()))
        self._against = against

    @cached_property
    def existing(self) -> list[Question]:
        """The questions drafts are compared with."""
        if isinstance(self._against, Path):
            own = self._against == Path()
            path = self.profile.questions if own else self._against
            return load_questions(path) if path is not None and path.exists() else []
        return list(self._against or ())

    @cached_property
    def _existing_vectors(self) -> Any:
        return self.embedder.encode([question.text for question in self.existing])

    def page(self, doc_id: str, number: int) -> str:
        """The text of a PDF page (1-based), line breaks as extracted.

        Raises
        ------
        RgeError
            When the corpus has no such page.
        """
        self._documents(doc_id)
        for page in self.index.pages:
            if (page.doc_id, page.page) == (doc_id, number):
                return page.text
        last = max(n for doc, n in self.corpus.pages if doc == doc_id)
        raise RgeError(f"{doc_id} page {number}", "no such page", allowed=f"pages are 1 to {last}")

    def find(self, doc_id: str, text: str, around: int = _EXCERPT // 2) -> pd.DataFrame:
        """Every place a text stands, whatever its case: document, page and surroundings.

        Parameters
        ----------
        doc_id
            A document ("thalivo-FY24"), a company ("thalivo") or "" for all.
        around
            Characters shown on each side.
        """
        import pandas as pd

        wanted = squeeze(text).casefold()
        rows = []
        for doc, number in self.corpus.places_of(text, self._documents(doc_id)):
            page = self.corpus.pages[doc, number]
            start = page.casefold().find(wanted)
            while start >= 0:
                end = start + len(wanted)
                shown = page[max(0, start - around) : end + around]
                rows.append({"document": doc, "page": number, "text": shown})
                start = page.casefold().find(wanted, end)
        return pd.DataFrame(rows, columns=["document", "page", "text"])

    def passages(
        self,
        text: str,
        *,
        quotes: Sequence[str] = (),
        distractors: Sequence[str] = (),
        k: int | None = None,
    ) -> pd.DataFrame:
        """The passages of a question, in rank order.

        Parameters
        ----------
        quotes, distractors
            Marked in the column `holds` where they stand.
        k
            Number of passages; the profile's by default.

        Returns
        -------
        pandas.DataFrame
            Columns: rank, chunk, document, pages, cosine, holds, text (its beginning, or the
            surroundings of what it holds).
        """
        import pandas as pd

        ids, cosines = self._retrieve([text], k or self.profile.retrieval.top_k)
        rows = []
        for rank, (chunk_id, cosine) in enumerate(zip(ids[0], cosines[0], strict=True), 1):
            chunk = self.index.chunks[chunk_id]
            squeezed = squeeze(chunk.text)
            gold = [quote for quote in quotes if squeeze(quote) in squeezed]
            wrong = [value for value in distractors if stands_in(squeezed, value)]
            holds = [f"gold “{quote[:40]}”" for quote in gold]
            holds += [f"distractor {value}" for value in wrong]
            rows.append(
                {
                    "rank": rank,
                    "chunk": chunk_id,
                    "document": chunk.doc_id,
                    "pages": f"{chunk.page_start}-{chunk.page_end}",
                    "cosine": round(cosine, 3),
                    "holds": "; ".join(holds),
                    "text": _excerpt(squeezed, [*gold, *wrong]),
                }
            )
        return pd.DataFrame(rows)

    def check(self, draft: Mapping[str, Any]) -> Verdict:
        """What is wrong with a draft, and what the retriever shows for it."""
        return self.check_all([draft])[0]

    def check_all(self, drafts: Sequence[Mapping[str, Any] | str]) -> list[Verdict]:
        """The verdict on each draft; dicts, or lines of JSON. Embedded in one batch."""
        read = [read_draft(draft) for draft in drafts]
        questions = [question for question, _, _ in read if question is not None]
        vectors = self.embedder.encode([question.text for question in questions])
        ranking = self.index.exact_top_k(vectors, self.profile.retrieval.top_k)
        others, other_vectors = self.existing, self._existing_vectors
        every = [*others, *questions]
        likeness = vectors @ np.concatenate([other_vectors, vectors]).T if questions else None
        verdicts, row = [], 0
        for question, draft_id, problem in read:
            if question is None or likeness is None:
                verdicts.append(Verdict(draft_id, (problem,)))
                continue
            me = len(others) + row
            cosines = [
                (other, float(likeness[row, i]))
                for i, other in enumerate(every)
                if i != me and not (i < len(others) and same(other, question))
            ]
            shown, distances = ranking.ids[row], ranking.distances[row]
            verdicts.append(judge(question, self.corpus, shown, 1 - distances[0], cosines))
            row += 1
        return verdicts

    def line(self, draft: Mapping[str, Any]) -> str:
        """The draft as a line of a question file, with its gold chunk ids.

        Raises
        ------
        RgeError
            When the draft has a problem; the message holds all of them.
        """
        verdict = self.check(draft)
        if verdict.question is None or not verdict.ok:
            raise RgeError(f"draft {verdict.id}", "; ".join(verdict.problems), do="mend the draft")
        return as_line(verdict.question)

    def _retrieve(self, texts: Sequence[str], k: int) -> tuple[list[list[str]], list[list[float]]]:
        ranking = self.index.exact_top_k(self.embedder.encode(texts), k)
        return ranking.ids, [[1 - d for d in row] for row in ranking.distances]

    def _documents(self, doc_id: str) -> list[str]:
        """The documents of an id, of a company, or all."""
        if doc_id in self.corpus.documents:
            return [doc_id]
        own = self.corpus.documents_of(doc_id) if doc_id else self.corpus.documents
        if not own:
            known = ", ".join(self.corpus.documents)
            raise RgeError(doc_id, "no such document or company", allowed=f"documents are {known}")
        return own


def example(questions: Sequence[Question], company: str | None = None) -> Question:
    """A question to show at the desk: a company's first one with distractors, else its first.

    Raises
    ------
    UsageError
        When no question is about that company.
    """
    own = [question for question in questions if company in (None, question.company)]
    if not own:
        known = ", ".join(sorted({question.company for question in questions}))
        raise UsageError("company", f"no question about '{company}'", allowed=f"one of {known}")
    return next((question for question in own if question.distractors), own[0])


def _excerpt(text: str, held: Sequence[str]) -> str:
    """The surroundings of the first text held, or the beginning."""
    places = [text.find(squeeze(one)[:30]) for one in held]
    start = max(0, min((p for p in places if p >= 0), default=0) - _EXCERPT // 3)
    shown = text[start : start + _EXCERPT]
    return f"{'…' * (start > 0)}{shown}{'…' * (start + _EXCERPT < len(text))}"
