"""The semantic judge: sentences compared by the embeddings of a small model.

Similarity says whether two sentences speak of the same thing; it is nearly blind to digits and
names, so a number that conflicts always lowers the score, whatever the similarity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rge.judging.case import Case, Verdict
from rge.judging.conflict import Conflict, direction_differs, name_differs, numbers_differ
from rge.judging.correctness import MOST_READ, Finding
from rge.judging.facts import Passage, Sentence, dated_values, read_passage, stands_verbatim
from rge.judging.gold import read_gold
from rge.judging.polarity import polarity
from rge.judging.scoring import needs_comparison, verdict
from rge.judging.support import MOST_CLAIMS, Check, claims_to_check, is_derived, operands_of
from rge.judging.words import content, has_name, names, share
from rge.records import Score
from rge.text.citations import mask_citations
from rge.text.claims import Claim
from rge.text.numbers import Quantity, any_match, matches, parse_values

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
Vectors = dict[str, NDArray[np.float32]]
Ranked = list[tuple[float, Sentence, Passage]]

_LONGEST = 400  # characters of a sentence that are compared; more would pass the model's window

# Two amounts are alike to the model whatever they are of; some words must be shared besides.
_SHARED_WORDS = 0.15


@dataclass(frozen=True)
class Thresholds:
    """Cosine similarities in [-1, 1] that decide.

    `support`, `same` and `perhaps` were chosen on control answers to 55 questions made for that
    from two invented reports, `equal` and `near` on 170 answers of a public set labelled by people.
    Neither set of questions is in a study of this repository.

    Attributes
    ----------
    support
        A claim is held by a passage with a sentence at least so similar.
    same, perhaps
        A sentence so similar speaks of the same thing: clearly, perhaps.
    equal, near
        An answer so similar to gold is correct, partly correct.
    """

    support: float = 0.45
    same: float = 0.5
    perhaps: float = 0.4
    equal: float = 0.65
    near: float = 0.4


class SemanticJudge:
    """Sentence-level embedding support against the shown passages and the gold answer.

    Parameters
    ----------
    encode
        Texts to unit vectors, float32 of shape (n, d), such as `Embedder.encode`.
    model_id
        Which model, so that a change of it is noticed.
    thresholds
        What similarities decide.
    """

    name = "semantic"
    version = 2

    def __init__(
        self, encode: Encode, *, model_id: str = "", thresholds: Thresholds | None = None
    ) -> None:
        self._encode, self.model_id = encode, model_id
        self.thresholds = thresholds or Thresholds()
        self._known: Vectors = {}

    @property
    def settings(self) -> dict[str, object]:
        """What shapes its verdicts besides the rubrics and the case."""
        return {
            "name": self.name,
            "version": self.version,
            "model_id": self.model_id,
            **asdict(self.thresholds),
        }

    def judge(self, case: Case) -> Verdict:
        """The verdict on a case that has an answer text (`case.unscored_reason` is None)."""
        return self.judge_many([case])[0]

    def judge_many(self, cases: Sequence[Case]) -> list[Verdict]:
        """Verdicts in the order of `cases`; all their sentences are embedded at once."""
        self._learn([text for case in cases for text in _texts(case)])
        return [self._judge(case) for case in cases]

    def _learn(self, texts: Sequence[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encode(new), strict=True))

    def _judge(self, case: Case) -> Verdict:
        finding = self._compare(case) if needs_comparison(case) else None
        checked, rest = claims_to_check(case) if case.passages else ([], [])
        if not checked:
            return verdict(case, finding, rest)
        reading = self._read(case)
        return verdict(case, finding, [self._check(claim, reading) for claim in checked] + rest)

    def _read(self, case: Case) -> Reading:
        passages = tuple(read_passage(chunk) for chunk in case.passages)
        places = [(sentence, passage) for passage in passages for sentence in passage.sentences]
        vectors = [self._known[_cut(sentence.read)] for sentence, _ in places]
        operands = operands_of(case, list(passages))
        return Reading(case, passages, places, np.stack(vectors) if vectors else None, operands)

    def _compare(self, case: Case) -> Finding:
        gold = read_gold(case.question)
        answer = mask_citations(case.response.text, case.chunk_ids)
        texts = [_cut(text) for text in [*_claims(case), answer]]
        vectors = np.stack([self._known[text] for text in texts])
        near = float((vectors @ self._known[_cut(gold.text)]).max())
        why = f"similarity {near:.2f} to the gold answer"
        answer = answer[:MOST_READ]
        found = parse_values(answer)
        right = [v for v in gold.values if any_match(found, v, decimals=gold.decimals)]
        says = polarity(answer, gold.asked, denies=gold.denies) if gold.polarity else ""
        if says and says != gold.polarity:
            return Finding(0, gold.text, f"says {says} where the gold answer is {gold.polarity}")
        if gold.wants_number:
            score: Score = 2 if len(right) == len(gold.values) else 1 if right else 0
            return Finding(score, gold.text, f"{len(right)} of {len(gold.values)} numbers; {why}")
        if gold.values and found and not right and near < self.thresholds.same:
            return Finding(0, gold.text, f"{why}, and its numbers conflict")
        missing = [name for name in gold.names if not has_name(name, answer)]
        if missing and len(missing) == len(gold.names) and near < self.thresholds.same:
            return Finding(0, gold.text, f"{why}, and {missing[0]} is not named")
        if near >= self.thresholds.equal and not missing:
            return Finding(2, gold.text, why)
        return Finding(1 if near >= self.thresholds.near else 0, gold.text, why)

    def _check(self, claim: Claim, reading: Reading) -> Check:
        case = reading.case
        plain = _plain(claim, case)
        labels = claim.citations or case.cited.valid
        cited = [passage for passage in reading.passages if passage.chunk_id in labels]
        ranked = reading.rank(self._known[_cut(plain)])
        of_cited = [place for place in ranked if place[2].chunk_id in labels]
        missing = self._missing(plain, reading, reading.passages, ranked)
        held = None
        if labels or case.cited.unknown:
            held = (
                not missing and bool(cited) and not self._missing(plain, reading, cited, of_cited)
            )
        nearest = of_cited if cited else ranked
        where = "in the passages" if held is not False else "in a passage, not in the cited one"
        return Check(
            claim,
            not missing,
            held,
            nearest[0][1].text if nearest else "",
            missing or where,
            self._conflict(plain, ranked) if missing else None,
        )

    def _missing(
        self, claim: str, reading: Reading, passages: Sequence[Passage], nearest: Ranked
    ) -> str:
        """What the passages lack of a claim; empty where they hold it."""
        if stands_verbatim(claim, passages):
            return ""
        if not nearest or nearest[0][0] < self.thresholds.support:
            return f"no sentence is nearer than {nearest[0][0] if nearest else 0:.2f}"
        close = [place for place in nearest if place[0] >= self.thresholds.support]
        known = [d for _, sentence, _ in close for d in sentence.values]
        for dated in dated_values(claim):
            held = any(
                matches(dated.value, k.value)
                and (not dated.years or not k.years or dated.years & k.years)
                for k in known
            )
            if not held and not is_derived(dated.value, reading.case, passages, reading.operands):
                return f"{dated.value.text} is not in the sentences like it"
        named = names(claim)
        around = " ".join(f"{s.read} {p.label}" for _, s, p in close) if named else ""
        for name in named:
            if not has_name(name, around):
                return f"{name} is not in the sentences like it"
        first = close[0]
        if first[0] >= self.thresholds.same and (why := direction_differs(claim, first[1])):
            return why
        return ""

    def _conflict(self, claim: str, nearest: Ranked) -> Conflict | None:
        for near, sentence, passage in nearest[:5]:
            if near < self.thresholds.perhaps:
                return None
            flat = near >= self.thresholds.same
            reason = None
            if share(content(claim), sentence.words | passage.about) >= _SHARED_WORDS:
                reason = numbers_differ(claim, sentence, passage)
            if reason is None and flat:
                reason = direction_differs(claim, sentence)
                reason = reason or name_differs(claim, sentence, passage)
            if reason:
                return Conflict(sentence.text, flat, reason)
        return None


@dataclass(frozen=True)
class Reading:
    """The passages of a case as its claims are compared with them.

    Attributes
    ----------
    places
        Every sentence with its passage.
    vectors
        Their embeddings, float32 of shape (n_sentences, d); None where there is no sentence.
    operands
        Numbers of the answer that a passage holds.
    """

    case: Case
    passages: tuple[Passage, ...]
    places: list[tuple[Sentence, Passage]]
    vectors: NDArray[np.float32] | None
    operands: list[Quantity]

    def rank(self, vector: NDArray[np.float32]) -> Ranked:
        """The sentences by falling similarity to a claim's vector; equal ones as they stand."""
        if self.vectors is None:
            return []
        near = self.vectors @ vector
        order = np.argsort(-near, kind="stable")
        return [(float(near[i]), *self.places[i]) for i in order]


def _plain(claim: Claim, case: Case) -> str:
    return mask_citations(claim.text, case.chunk_ids)


def _claims(case: Case) -> list[str]:
    """The claims that are compared with gold: each once, the first of an endless answer."""
    plain = dict.fromkeys(_plain(claim, case) for claim in case.claims)
    return list(islice(plain, MOST_CLAIMS))


def _cut(text: str) -> str:
    return text[:_LONGEST]


def _texts(case: Case) -> list[str]:
    """Every text of a case that its verdict compares."""
    texts = []
    if needs_comparison(case):
        answer = mask_citations(case.response.text, case.chunk_ids)
        texts += [case.question.gold_answer, answer, *_claims(case)]
    checked = claims_to_check(case)[0] if case.passages else []
    if checked:
        texts += [_plain(claim, case) for claim in checked]
        texts += [s.read for chunk in case.passages for s in read_passage(chunk).sentences]
    return [_cut(text) for text in texts]
