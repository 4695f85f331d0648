"""Where an answer answers: its first claim, its conclusion, the sentence nearest to the question.

Models open with what they are about to do, work figures out, and add remarks; what they say to the
question stands in few of their sentences. A list that such a sentence opens belongs to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rge.judging.words import content, share
from rge.text.abstention import is_remark
from rge.text.claims import Claim, split_sentences

CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|in conclusion|overall|in summary|the answer is)\b", re.IGNORECASE
)
_MOST_ITEMS = 12
_ITEM_MARK = re.compile(r"(?:^|\n)[ \t]*(?:[-*•‣▪–—·●○]+|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+(?:\*\*)?$")


@dataclass(frozen=True)
class Answering:
    """The sentences that answer; each is empty where there is none.

    Attributes
    ----------
    first
        The first that claims something.
    conclusion
        The last that opens with "therefore", "in summary" or the like.
    nearest
        The one that holds most of the question's words. Remarks ("the text does not say whether
        …") are none of the three unless there is nothing else.
    nearness
        Which share of them, in [0, 1].
    """

    first: str
    conclusion: str
    nearest: str
    nearness: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """The three, each once."""
        found = dict.fromkeys([self.first, self.nearest, self.conclusion])
        return tuple(sentence for sentence in found if sentence)


@lru_cache(maxsize=4096)
def answering(answer: str, asked: frozenset[str]) -> Answering:
    """Where `answer` answers a question with the content words `asked`."""
    claims = split_sentences(answer)
    says = [i for i, claim in enumerate(claims) if not is_remark(claim.text)]
    shares = {i: share(asked, content(claims[i].text)) for i in says or range(len(claims))}
    last = next((i for i in reversed(says) if CONCLUDES.search(claims[i].text)), None)
    near = max(shares, key=shares.__getitem__, default=None)
    return Answering(
        _with_items(answer, claims, says[0]) if says else answer,
        "" if last is None else _with_items(answer, claims, last),
        "" if near is None else _with_items(answer, claims, near),
        0.0 if near is None else shares[near],
    )


def _with_items(answer: str, claims: list[Claim], index: int) -> str:
    """The sentence, and the first sentence of each item where it opens a list."""
    texts = [claims[index].text]
    if not texts[0].rstrip("*").endswith(":"):
        return texts[0]
    for claim in claims[index + 1 :]:
        if _ITEM_MARK.search(answer[max(0, claim.start - 12) : claim.start]):
            texts.append(claim.text)
        if len(texts) > _MOST_ITEMS:
            break
    return "\n".join(texts)
