"""Content words, names and polarity of short texts, as the offline judges compare them."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+(?:['’&-][^\W\d_]+)*", re.UNICODE)
_STOP_WORDS = """
a an and are as at be been being but by can could did do does for from had has have he her his how i
if in into is it its itself may might more most must no nor not of on or our over own per she should
so some such than that the their them then there these they this those to too under up us very was
we were what when where which while who whom why will with would you your also about above according
after all among amount based between both during each ended ending figure fiscal following fy given
including mentioned provided reported respectively same shown stated states total year years yes
company companies passage passages context question answer report annual crore lakh million billion
thousand rs inr usd percent per-cent cent page approximately around nearly roughly however therefore
thus hence am perhaps though although seem seems appear appears certain sure entirely possibly
probably likely presumably
"""
_STOP = frozenset(_STOP_WORDS.split())
_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ed", "es", "ly", "s")
# Words that finance prose uses for one thing; each maps to the first of its line.
_SYNONYMS = {
    word: line.split()[0]
    for line in (
        "revenue sales turnover topline",
        "profit income earnings pat",
        "increase rise rose grew grow growth improve higher climb gain jump up expand",
        "decrease decline fall fell drop lower reduce reduction shrink shrunk contract down drag",
        "cost expense expenditure spend spending",
        "employee staff headcount workforce personnel",
        "subsidiary unit",
        "chairperson chairman chairwoman chair",
        "ceo chief",
        "acquire acquisition buy bought purchase",
        "store outlet shop",
        "debt borrowing loan",
        "begin began start launch",
        "large largest big biggest high highest great greatest",
    )
    for word in line.split()
}
_NAME = re.compile(
    r"\b[A-Z][\w&’'.-]*[\w]+(?:\s+(?:(?:of|and|de|&)\s+)?[A-Z][\w&’'.-]*\w)*|\b[A-Z]{2,}\b"
)
_NO_NAME_WORDS = """
FY Q1 Q2 Q3 Q4 H1 H2 INR USD EUR Rs CY No Yes The In It Its This That These For As At On By From Of
A An And But However Based Note PAT EBITDA EPS January February March April May June July August
September October November December Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec Mr Ms Mrs Dr
Shri Smt Prof Sri Sir
"""
_NO_NAME = re.compile(rf"{'|'.join(_NO_NAME_WORDS.split())}|[FCA]Y\d+|Q[1-4]")
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|neither|nor|without|cannot|nil|n't|didn't|doesn't|isn't|wasn't|weren't"
    r"|aren't|hasn't|haven't|don't|won't)\b|n't\b",
    re.IGNORECASE,
)
# "No, it did not" denies once: the first word answers. "Not sure" and "not only" deny nothing.
_SAYS_NOTHING = re.compile(
    r"\b(?:no|yes)\s*[,.;:]"
    r"|\bnot (?:entirely |fully |completely )?(?:sure|certain|clear|only|just)\b",
    re.IGNORECASE,
)
_RISES = re.compile(
    r"\b(?:increas\w*|rise[sn]?|rose|rising|grew|grow\w*|improv\w*|higher|up|gain\w*|expand\w*"
    r"|climb\w*"
    r"|accelerat\w*|strengthen\w*)\b",
    re.IGNORECASE,
)
_FALLS = re.compile(
    r"\b(?:decreas\w*|declin\w*|fall[s]?|fell|fallen|drop\w*|lower\w*|down|reduc\w*|shr[aiu]nk\w*"
    r"|contract(?:ed|ion)|worsen\w*|deteriorat\w*|decelerat\w*|weaken\w*)\b",
    re.IGNORECASE,
)

_STILL = re.compile(
    r"\b(?:flat|unchanged|stable|steady|constant|stagnant)\b(?! currenc)|\bin line with\b"
    r"|\b(?:remain\w*|stay\w*|(?:was|were|is|are)) (?:\w+ )?(?:the )?same\b"
    r"|\b(?:no|without|zero) (?:real |net |material |significant )?"
    r"(?:change|growth|increase|decrease)\b"
    r"|(?<![\d.,])[$₹€£]?0(?:\.0+)?\s?(?:%|per ?cent\b)|(?<![\d.,])[$₹€£]0(?![\d.,]*\d)",
    re.IGNORECASE,
)


def stem(word: str) -> str:
    """A word cut to a rough stem, synonyms of finance prose joined."""
    return _stem(word.lower().replace("’", "'").removesuffix("'s"))


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    if word in _SYNONYMS:
        return _SYNONYMS[word]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    return _SYNONYMS.get(word, word.removesuffix("e") if len(word) > 4 else word)


@lru_cache(maxsize=20_000)
def content(text: str) -> frozenset[str]:
    """Stems of the content words of `text`; function words and units are left out."""
    return frozenset(
        stem(word) for word in _WORD.findall(text) if len(word) > 1 and word.lower() not in _STOP
    )


def share(part: frozenset[str], whole: frozenset[str]) -> float:
    """Share of `part` that is in `whole`; 1.0 for an empty part, which asks for nothing."""
    return len(part & whole) / len(part) if part else 1.0


@lru_cache(maxsize=20_000)
def names(text: str) -> tuple[str, ...]:
    """Names in `text`: capitalised words inside a sentence, runs of them, and acronyms.

    A lone capitalised word that opens a sentence may be any word and is no name.
    """
    found = []
    for match in _NAME.finditer(text):
        words = [w for w in match[0].split() if not _NO_NAME.fullmatch(w.strip(".,"))]
        while words and words[0][0].islower():
            words.pop(0)
        while words and words[-1][0].islower():
            words.pop()
        if not words or (
            len(words) == 1 and _opens(text, match.start()) and not _acronym(words[0])
        ):
            continue
        found.append(" ".join(words))
    return tuple(dict.fromkeys(found))


def _opens(text: str, start: int) -> bool:
    while start and text[start - 1] in " \t\"'“‘(*-•":
        start -= 1
    return not start or text[start - 1] in ".!?:\n।|"


def _acronym(word: str) -> bool:
    return sum(letter.isupper() for letter in word) > 1


@lru_cache(maxsize=20_000)
def has_name(name: str, text: str) -> bool:
    """Whether every word of `name` is in `text`, whatever its case."""
    low = text.lower()
    parts = [part.strip(".,'’").lower() for part in name.split()]
    parts = [part.removesuffix("'s").removesuffix("’s") for part in parts if len(part) > 1]
    return all(re.search(rf"(?<!\w){re.escape(part)}", low) for part in parts)


@lru_cache(maxsize=20_000)
def negated(text: str) -> bool:
    """Whether the text denies something an odd number of times."""
    return len(_NEGATION.findall(_SAYS_NOTHING.sub("", text))) % 2 == 1


@lru_cache(maxsize=20_000)
def direction(text: str) -> int:
    """1 where the text speaks of rising, -1 of falling, 0 of neither or both."""
    return bool(_RISES.search(text)) - bool(_FALLS.search(text))


@lru_cache(maxsize=20_000)
def still(text: str) -> bool:
    """Whether the text says that something did not change: "flat", "in line with", "0 %"."""
    return bool(_STILL.search(text))


def plain(text: str) -> str:
    """Lower case, white space runs as one space, so that wrapped lines compare."""
    return " ".join(text.lower().split())


DIRECTIONS = frozenset({stem("rise"), stem("fall")})
