"""Whether an answer answers, refuses, or cannot be told: patterns, no model.

Each sentence is read as a refusal (says that the evidence lacks the answer or that none can be
given), a deflection (sends the reader elsewhere, asks for material), a lead-in (announces what will
be done) or a statement. The order of these decides:

- an answer followed by "the passages do not state the rest" is answered;
- a refusal followed by remarks on what the evidence does hold is refused;
- a refusal followed by an inference ("based on this, it would be about …") is answered;
- statements that end in "therefore it cannot be determined" are refused;
- a hedge ("may", "about", "I am not certain, but") is no refusal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from rge.text.citations import mask_citations
from rge.text.claims import split_sentences
from rge.text.numbers import parse_values

Abstention = Literal["answered", "refused", "undetermined"]
_Kind = Literal["refusal", "deflection", "lead-in", "statement", "mention", "inference", "nothing"]

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})
_EVIDENCE = (
    r"(?:passages?|contexts?|documents?|texts?|excerpts?|extracts?|snippets?|information|data"
    r"|filings?"
    r"|reports?|evidence|sources?|chunks?|materials?|statements?|disclosures?|exhibits?|content"
    r"|sections?|pages?|sentences?|certifications?|10-k|10-q|8-k|release|provided|above|given"
    r"|they|it|these|those|none(?: of)?(?: the| these)?|nothing)"
)
_TELL = (
    r"(?:state|mention|provide|contain|include|disclose|specify|give|say|indicate|report|show|offer"
    r"|address|discuss|reveal|cover|detail|list|hold|have|explain|identify|break\s?(?:out|down)"
    r"|tell"
    r"|describe|quantify|present|refer|supply|answer|allow|support|cite|name|note|clarify|outline)"
)
_TOLD = (
    r"(?:stated|mentioned|provided|disclosed|given|available|specified|reported|included|found"
    r"|present(?:ed)?|shown|contained|covered|listed|described|detailed|indicated|discussed"
    r"|addressed"
    r"|known|clear|determinable|accessible|outlined|broken out|identified|quantified|supplied)"
)
_NOT = (
    r"(?:do(?:es)?\s?n[o']t|do(?:es)? not|did(?: not|n't)|ha(?:s|ve) not|cannot|can't|fails? to"
    r"|never)"
)
_BARELY = (
    r"(?:\s(?:explicitly|specifically|directly|clearly|actually|itself|seem to|appear to|even))*"
)
_FIND = (
    r"(?:be )?(?:answer|determin|find|found|provid|confirm|verif|locat|calculat|tell|say|stat"
    r"|identif"
    r"|ascertain|comput|assist|deriv|establish|infer|conclud|give|giving|assess|access|help|extract"
    r"|comment|respond|offer|retriev|complet|proceed|perform|quantif|evaluat|measur)"
)
_REFUSAL = re.compile(
    rf"\b{_EVIDENCE}\b[^.;:]{{0,240}}?\b{_NOT}{_BARELY}\s{_TELL}\b"
    rf"|\b(?:is|are|was|were|been|being)(?: not|n't){_BARELY}\s{_TOLD}\b[^.;]{{0,40}}?"
    rf"\b(?:in|by|from|within|here)\b[^.;]{{0,40}}?\b{_EVIDENCE}\b"
    rf"|\b{_EVIDENCE}\b[^.;,]{{0,100}}?\b(?:is|are|was|were|been)(?: not|n't){_BARELY}\s{_TOLD}\b"
    rf"|\bnot (?:explicitly|specifically|directly|clearly) {_TOLD}\b|\bnot {_TOLD} in the\b"
    rf"|\b(?:no|any|insufficient|not enough|lacks?|lacking|without|n't enough|not sufficient"
    rf"|not have(?: the| any| enough| sufficient)?)\b"
    rf"(?:\s(?:specific|explicit|direct|relevant|sufficient|clear|further|such|additional|detailed"
    rf"|necessary|required|enough|financial|numerical|quantitative|the|any))*"
    rf"\s(?:information|mention|data|details?|disclosure|reference|context|passages?|answer"
    rf"|figures? (?:is|are|was|for|given|in)|(?:evidence|indication)"
    rf" (?:in|from|within|provided|(?:\w+ )?whether))\b"
    rf"|\b(?:cannot|can't|can not|unable to|not able to|n't able to|not possible to|impossible to"
    rf"|couldn't|could not|not feasible to|n't possible to|difficult to)"
    rf"(?:\s(?:definitively|accurately|directly|reliably|currently|precisely|be"
    rf"|be definitively))*\s{_FIND}"
    rf"|\b(?:i|we) (?:do not|don't)(?: currently| actually)? (?:know|have|see|find|possess)\b"
    rf"|\byou (?:have not|haven't|did not|didn't) (?:provided?|shared?|given?|included?)\b"
    rf"|\bnone of [^.]{{0,40}}?{_EVIDENCE}\s{_TELL}\b|\bno {_EVIDENCE} {_TELL}s?\b"
    rf"|\bno (?:explicit|specific|direct) evidence\b"
    rf"|\b(?:data|information|figures?|details?|values?) (?:is|are) (?:missing|absent"
    rf"|unavailable)\b"
    rf"|\bi(?:'m| am) (?:not sure|unsure|not certain|unable|not aware)\b|\bi have no\b"
    rf"|\b(?:outside|beyond) (?:of )?(?:the|my) (?:scope|passages|context|documents?|knowledge)\b"
    rf"|\bunanswerable\b|\babstain\b|\bknowledge cut-?off\b|\breal-time (?:data|access"
    rf"|information)\b",
    re.IGNORECASE,
)
_TERSE = re.compile(
    rf"\W*(?:(?:it|this|that|the answer) (?:is|was) )?(?:n/?a|unknown|not {_TOLD}|no answer"
    rf"|none given"
    rf"|no information(?: available| given| provided)?|insufficient (?:information|context|data)"
    rf"|i don't know|not applicable|undisclosed|cannot answer|can't answer|not in (?:the )?\w+)\W*",
    re.IGNORECASE,
)
_DEFLECTION = re.compile(
    r"\bplease (?:provide|refer|consult|check|see|note|let|share|visit|review|feel|clarify)\b"
    r"|\byou (?:would|will|can|could|may|should|might)(?: typically| usually| also)?"
    r" (?:need|want|find|check|refer|consult|look|visit|access|review|have to|obtain)\b"
    r"|\bif you (?:can|could|have|provide|need|are|want|would)\b|\b(?:we|i) would (?:need"
    r"|require)\b"
    r"|\bone would(?: typically| usually| normally| also)? (?:need|have|want|refer|consult|look)\b"
    r"|\bas an ai\b|\bas of my (?:last|latest|knowledge|training)\b|\bmy (?:last|training"
    r"|knowledge)\b"
    r"|\bi(?:'m| am)? ?(?:sorry|apologi[sz]e)\b|\b(?:would be|am) happy to\b"
    r"|\bi (?:would )?(?:suggest"
    r"|recommend)\b|\b(?:additional|more|further|detailed) "
    r"(?:information|data|context|details|breakdown|analysis)\b[^.]{0,160}?\b(?:is|are|would|will"
    r"|from|on"
    r"|regarding|about)\b|\b(?:is|are) (?:needed|required) to\b"
    r"|\bi can (?:guide|show|provide|offer|tell|help|explain|give|assist)\b"
    r"|\bto (?:obtain|get|find|provide)\b.{0,80}\b(?:accurate|current|up-to-date|latest"
    r"|specific)\b",
    re.IGNORECASE,
)
# Imperatives tell the reader how to find out; they state nothing.
_LEAD_IN = re.compile(
    r"\W*(?:then,? |next,? |\(?\d[.)] )?(?:find|locate|check|look (?:for|up|at)|add|divide"
    r"|multiply|subtract"
    r"|visit|use|obtain|identify|calculate|compare|gather|review|keep in mind|once you|search|go to"
    r"|here's how|one would|the question asks|to (?:determine|calculate|answer|find|compute|assess"
    r"|evaluate|provide|analy[sz]e|identify)"
    r"|let(?:'s| us)|here (?:is|are)|sure\b|we (?:need|would need|can look)|the formula"
    r"|as an? (?:ai|public|financial|investment|equity) "
    r"|this would|these|first|next|it is calculated|typically|generally|in general|answer:?\s*$)",
    re.IGNORECASE,
)
# What holds of any company answers nothing about this one, unless it names a figure.
_GENERAL = re.compile(
    r"\b(?:generally|typically|usually|in general|for example|for instance)\b"
    r"|\bis (?:an?|the|also|indeed) (?:\w+ ){0,3}(?:measure|metric|ratio|indicator|formula)\b"
    r"|\b(?:is|are|then) (?:calculated|computed|defined) (?:as|by|using)\b"
    r"|\bit(?:'s| is) (?:important|recommended|worth|advisable|essential)\b|\brefers to\b"
    r"|\b(?:can|could|may|might|would) (?:be influenced|have driven|include|indicate|affect|vary"
    r"|impact)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"(?<![\w.])(?:[₹$]\s?\d|\d[\d,]*(?:\.\d+)?\s?(?:%|per ?cent|crore|lakh|million|billion))"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|did|does|do|\w+(?:ed|es))\b|\bmade\b", re.IGNORECASE
)
_MENTION = re.compile(
    rf"\b{_EVIDENCE}\b[^.;]{{0,60}}?\b(?:only |does |do |merely |simply |just )?(?:mention|state"
    rf"|provide"
    rf"|include|discuss|indicate|contain|describe|show|report|refer|focus|list|note|talk|give)(?:s"
    rf"|d|ed)?\b"
    rf"|\bit is (?:mentioned|stated|noted)\b|\bclosest information\b",
    re.IGNORECASE,
)
_INFERENCE = re.compile(
    r"\b(?:therefore|thus|hence|so|accordingly|consequently)\b,?\s|\bthe answer (?:is|would be)\b"
    r"|\b(?:can|could|may) be (?:inferred|calculated|estimated|concluded)\b"
    r"|\b(?:we|i|one) (?:can|could|may|would) (?:infer|calculate|estimate|compute|conclude|assume"
    r"|say|derive)\b|\b(?:suggest(?:s|ing)?|implies|implying|inferred)\b"
    r"|\bi (?:estimate|believe|would say|guess)\b"
    r"|\bbased on (?:this|these|that|the (?:figures?|numbers?|trend|growth|other))\b|\bmy best\b"
    r"|\b(?:likely|probably|must be|must have been|presumably)\b|\bwould be (?:about|around"
    r"|approximately|roughly|₹|rs|\$|\d)",
    re.IGNORECASE,
)
_PIVOT = re.compile(r"^\W*(?:however|but|nevertheless|nonetheless|that said|still|yet)\b", re.I)
_SOURCE_PHRASE = re.compile(
    r"^\W*(?:(?:however|therefore|additionally|also|thus),?\s)?(?:based (?:up)?on|according to"
    r"|from|as per|per"
    r"|in|after reviewing|as stated in|upon review(?:ing)?(?: of)?)\b[^,]{0,200}?,\s",
    re.IGNORECASE,
)
_CONTRAST_FIRST = re.compile(
    r"^\W*(?:although|though|while|even though|even if|despite|whereas|since"
    r"|because)\b([^,]*),(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_CONTRAST = re.compile(
    r";\s|[,—–]\s*(?:but|however|yet|although|though|nevertheless|still|so)\b", re.IGNORECASE
)
_CONCLUDES = re.compile(
    r"^\W*(?:therefore|thus|so|hence|as such|as a result|consequently|in conclusion|overall|without"
    r"|unfortunately|since|because|given|however|due to)\b",
    re.IGNORECASE,
)
_UNABLE = re.compile(
    r"\bas an ai\b|\b(?:do not|don't) have (?:\w+ ){0,2}(?:access|information|data|the)\b"
    r"|\b(?:i|we) (?:cannot|can't|am unable|are unable)\b|\b(?:not possible|impossible"
    r"|i'm sorry)\b",
    re.IGNORECASE,
)
_GUESSES = re.compile(r"\b(?:potential\w*|possibl[ey]|may|might|could|perhaps)\b", re.IGNORECASE)
_YES_OR_NO = re.compile(r"\byes\b|\bno,", re.IGNORECASE)
_FORMULA = re.compile(r"[=*×÷+/]")
_ABBREVIATION = re.compile(r"\b(Inc|Corp|Ltd|Co|Cos|Bros|Pvt|No|Mr|Mrs|Ms|Dr|St|vs|U\.S)\.")
_NOT_ONLY = re.compile(r"\bnot (?:only|just|merely|simply)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]{2,}|\d")
# Characters of a sentence that are read; what is longer is no sentence, and would take long.
_LONGEST = 1500


def detect(text: str) -> Abstention:
    """Whether `text` answers its question, refuses to, or neither can be told.

    Parameters
    ----------
    text
        Answer of a subject, with or without citations.

    Returns
    -------
    "answered", "refused" or "undetermined"
        Undetermined where no statement and no refusal is found: an empty text, a bare citation,
        a lead-in that leads nowhere.
    """
    return _detect(text)


@lru_cache(maxsize=4096)
def _detect(text: str) -> Abstention:
    plain = mask_citations(text.translate(_APOSTROPHES))
    kinds = [kind for kind in _kinds(plain) if kind != "nothing"]
    if not kinds:
        return "undetermined"
    if "refusal" not in kinds:
        return _without_refusal(kinds)
    return "refused" if _refuses(kinds, plain) else "answered"


def is_refusal(sentence: str) -> bool:
    """Whether one sentence says that the answer is not in the evidence or cannot be given."""
    return _kind(mask_citations(sentence.translate(_APOSTROPHES))) == "refusal"


def is_remark(sentence: str) -> bool:
    """Whether one sentence states nothing about the subject matter: a refusal, deflection,"
    " lead-in."""
    kind = _kind(mask_citations(sentence.translate(_APOSTROPHES)))
    return kind in ("refusal", "deflection", "lead-in", "nothing")


def _kinds(text: str) -> list[_Kind]:
    """The kind of each sentence; bare items under a deflection or lead-in belong to it."""
    kinds: list[_Kind] = []
    heads: _Kind | None = None
    for sentence in split_sentences(text):
        kind = _kind(sentence.text)
        item = not _VERB.search(sentence.text) and not _FIGURE.search(sentence.text)
        if heads is not None and kind == "statement" and item:
            kind = heads
        elif kind in ("deflection", "lead-in"):
            heads = kind if sentence.text.endswith(":") else None
        else:
            heads = None
        kinds.append(kind)
    return kinds


@lru_cache(maxsize=20_000)
def _kind(sentence: str) -> _Kind:
    sentence = sentence[:_LONGEST]
    if _TERSE.fullmatch(sentence) or _refusal_stands(sentence):
        return "refusal"
    if not _WORD.search(sentence):
        return "nothing"
    if _DEFLECTION.search(sentence):
        return "deflection"
    if _LEAD_IN.match(sentence) or (_GENERAL.search(sentence) and not _FIGURE.search(sentence)):
        return "lead-in"
    if _INFERENCE.search(sentence):
        return "inference"
    if _MENTION.search(_SOURCE_PHRASE.sub("", sentence)):
        return "mention"
    return "inference" if _PIVOT.match(sentence) else "statement"


def _refusal_stands(sentence: str) -> bool:
    """Whether a refusal remains once clauses that answer after all are taken into account."""
    # The dot of "Acme Inc." ends no sentence and must not cut one that spans it.
    sentence = _ABBREVIATION.sub(r"\1", sentence)
    if not _REFUSAL.search(_NOT_ONLY.sub("", sentence)):
        return False
    if first := _CONTRAST_FIRST.match(sentence):
        return not _answers(first[2])
    if turn := _CONTRAST.search(sentence):
        return not (_answers(sentence[: turn.start()]) or _answers(sentence[turn.end() :]))
    return True


def _answers(clause: str) -> bool:
    """Whether a clause states something that is no refusal, deflection or remark on the"
    " evidence."""
    clause = _SOURCE_PHRASE.sub("", clause)
    if len(_WORD.findall(clause)) < 3 or _DEFLECTION.search(clause):
        return False
    return not (_REFUSAL.search(clause) or _MENTION.search(clause))


def _without_refusal(kinds: Sequence[_Kind]) -> Abstention:
    if all(kind == "lead-in" for kind in kinds):
        return "undetermined"
    return "refused" if all(kind in ("deflection", "lead-in") for kind in kinds) else "answered"


def _refuses(kinds: Sequence[_Kind], text: str) -> bool:
    """Whether an answer that holds a refusal is one as a whole."""
    said = [kind for kind in kinds if kind not in ("deflection", "lead-in")]
    concludes = said[-1] == "refusal" and bool(_CONCLUDES.match(_last_refusal(text)))
    if said[0] == "refusal":
        if concludes or "inference" not in said:
            return True
        return _cannot_and_gives_nothing(text) or _guesses_and_sends_away(kinds, text)
    if said[0] == "mention" or kinds[0] in ("deflection", "lead-in"):
        return concludes or said[-1] == "refusal" or kinds[0] == "deflection"
    return False


def _cannot_and_gives_nothing(text: str) -> bool:
    """Whether the text says "I cannot" and what follows gives neither value nor yes or no."""
    said = _UNABLE.search(text)
    return said is not None and not _gives(text[said.end() :])


def _guesses_and_sends_away(kinds: Sequence[_Kind], text: str) -> bool:
    """Whether reasons are only guessed at and the reader is sent elsewhere in the end."""
    return kinds[-1] == "deflection" and bool(_GUESSES.search(text)) and not _gives(text)


def _gives(text: str) -> bool:
    """Whether the text gives a yes or no, or a value; years and the factors of a formula do not."""
    if _YES_OR_NO.search(text):
        return True
    sentences = [sentence.text for sentence in split_sentences(text)]
    return any(
        parse_values(sentence)
        for sentence in sentences
        if _FIGURE.search(sentence) or not _FORMULA.search(sentence)
    )


def _last_refusal(text: str) -> str:
    sentences = reversed(split_sentences(text))
    return next((s.text for s in sentences if _kind(s.text) == "refusal"), "")
