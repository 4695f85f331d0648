"""The tables, result file and closing sentences of the error analysis notebook."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from rge.collected import Collected
from rge.display import joined, rate
from rge.judging import words
from rge.mistakes import KINDS, TAKEN
from rge.text.claims import split_sentences

EXCERPT = 220  # characters of a passage that a table shows
LURED = ("distractor", "both")

_DISTRACTOR_KINDS = (
    ("wrong year", r"\byear|\bFY\s?\d\d|\bquarter|\bprior\b|\bprevious\b|\bearlier\b|\brestated\b"),
    ("wrong basis", r"standalone|consolidated|gross|net of|before tax|after tax|interim|final"),
    ("wrong segment", r"segment|division|business|product|region"),
    ("wrong entity", r"company|subsidiary|group|peer|entity|joint venture|associate"),
)


def overview(claims: pd.DataFrame, collected: Collected) -> pd.DataFrame:
    """Per subject: judged responses, and how many have a reported claim of each finding."""
    judged = {j.key[:3] for j in collected.judgements if j.status == "scored"}
    rows = []
    for subject in collected.runs:
        keys = {key for key in judged if key[1] == subject}
        mine = claims[claims["subject"] == subject]
        found = {
            finding: set(zip(part["question_id"], part["run_index"], strict=True))
            for finding, part in mine.groupby("finding")
        }
        unsupported, contradicting = (found.get(f, set()) for f in ("unsupported", "contradiction"))
        rows.append(
            {
                "subject": subject,
                "judged responses": len(keys),
                "with an unsupported claim": len(unsupported),
                "with a contradiction": len(contradicting),
                "without either": len(keys) - len(unsupported | contradicting),
                "claims reported": len(mine),
                "by both judges": int(mine["judges"].str.contains(",").sum()),
            }
        )
    return pd.DataFrame(rows)


def where(claims: pd.DataFrame, subjects: Sequence[str]) -> pd.DataFrame:
    """Claims per category and per company (rows) and subject (columns), most first."""
    parts = []
    for name in ("category", "company"):
        table = pd.crosstab(claims[name], claims["subject"])
        table = table.reindex(columns=list(subjects), fill_value=0)
        table["all"] = table.sum(axis=1)
        table = table.sort_values("all", ascending=False, kind="stable").rename_axis("group")
        parts.append(table.reset_index().assign(by=name))
    both = pd.concat(parts, ignore_index=True)
    return both[["by", "group", *subjects, "all"]]


def examples(claims: pd.DataFrame) -> pd.DataFrame:
    """One claim of each kind: reported by most judges, then the shortest."""
    rows = []
    for kind in KINDS:
        part = claims[claims["kind"] == kind]
        if part.empty:
            continue
        n_judges = part["judges"].str.count(",")
        order = part.assign(few=-n_judges, length=part["claim"].str.len())
        row = order.sort_values(["few", "length", "subject", "question_id"]).iloc[0]
        place = "no passage is close"
        if row["passage"]:
            place = f"{row['passage']} (page {int(row['page'])})"
        rows.append(
            {
                "kind": kind,
                "response": f"{row['question_id']}, {row['subject']}, run {row['run_index']}",
                "claim": shortened(row["claim"]),
                "passage": place,
                "the passage says": excerpt(row["claim"], row["passage_text"] or ""),
            }
        )
    return pd.DataFrame(rows, columns=["kind", "response", "claim", "passage", "the passage says"])


def outcomes(taken: pd.DataFrame, subjects: Sequence[str]) -> pd.DataFrame:
    """Responses to questions with distractors per outcome (index) and subject (columns)."""
    table = pd.crosstab(taken["taken"], taken["subject"])
    order = [name for name in TAKEN if name in table.index]
    return table.reindex(index=order, columns=list(subjects), fill_value=0)


def taken_rows(taken: pd.DataFrame) -> pd.DataFrame:
    """Distractors taken, by kind and by whether all gold passages were shown."""
    lured = taken[taken["taken"].isin(LURED)]
    lured = lured.assign(
        kind=[distractor_kind(why) for why in lured["why"]],
        shown=lured["gold_in_context"].eq("all").map({True: "all", False: "not all"}),
    )
    rows = [
        {
            "kind": kind,
            "gold passages shown": shown,
            "responses": len(part),
            "subjects": ", ".join(sorted(set(part["subject"]))),
            "for instance": f"{part['distractor'].iloc[0]}: {part['why'].iloc[0]}",
        }
        for (kind, shown), part in lured.groupby(["kind", "shown"])
    ]
    names = ["kind", "gold passages shown", "responses", "subjects", "for instance"]
    table = pd.DataFrame(rows, columns=names)
    return table.sort_values("responses", ascending=False, kind="stable").reset_index(drop=True)


def distractor_kind(why: str) -> str:
    """Wrong year, basis, segment or entity, by the words that say why a distractor is plausible."""
    for kind, pattern in _DISTRACTOR_KINDS:
        if re.search(pattern, why, re.IGNORECASE):
            return kind
    return "other"


def records(claims: pd.DataFrame) -> list[dict[str, object]]:
    """Every claim as a JSON object, undefined as None."""
    return claims.astype(object).where(claims.notna(), None).to_dict("records")


def values(
    claims: pd.DataFrame, taken: pd.DataFrame, subjects: Sequence[str], counts: pd.DataFrame
) -> dict[str, object]:
    """Counts for the result file: claims by finding, kind and subject, and distractors taken."""
    lured = taken["taken"].isin(LURED)
    return {
        "n_claims": len(claims),
        "n_kinds": {kind: int((claims["kind"] == kind).sum()) for kind in KINDS},
        "responses": {row["subject"]: _without_subject(row) for row in counts.to_dict("records")},
        "distractors": {
            subject: {
                "n_responses": len(mine),
                **{
                    f"n_{name}": int(
                        ((taken["subject"] == subject) & (taken["taken"] == name)).sum()
                    )
                    for name in TAKEN
                },
            }
            for subject in subjects
            for mine in [taken.loc[taken["subject"] == subject, "taken"]]
        },
        "distractor_kinds": {
            kind: int((taken.loc[lured, "why"].map(distractor_kind) == kind).sum())
            for kind in (*(name for name, _ in _DISTRACTOR_KINDS), "other")
        },
    }


def answer(claims: pd.DataFrame, taken: pd.DataFrame, subjects: Sequence[str]) -> str:
    """The paragraph that closes the notebook."""
    if claims.empty:
        kinds = "No judge reported a claim."
    else:
        top = claims["kind"].value_counts()
        top = top[sorted(top.index, key=lambda kind: (-top[kind], KINDS.index(kind)))]
        parts = [f"{kind} ({rate(int(n), len(claims))})" for kind, n in top.head(3).items()]
        kinds = f"Of {len(claims)} reported claims the most frequent kinds are {joined(parts)}."
    if taken.empty:
        return f"{kinds} No question of this study has distractors."
    shares = []
    for subject in subjects:
        mine = taken.loc[taken["subject"] == subject, "taken"]
        shares.append(f"{subject} {rate(int(mine.isin(LURED).sum()), len(mine))}")
    return f"{kinds} A distractor was stated by {joined(shares)} of the responses that met one."


def excerpt(claim: str, passage: str) -> str:
    """The sentence of a passage that is nearest to a claim, cut to length."""
    return shortened(nearest_sentence(claim, passage))


def nearest_sentence(claim: str, passage: str) -> str:
    """The sentence of a passage that shares most content words with a claim, as it stands there."""
    sentences = [sentence.text for sentence in split_sentences(passage)] or [passage]
    content = words.content(claim)
    return max(sentences, key=lambda s: words.share(content, words.content(s)))


def shortened(text: str, limit: int = EXCERPT) -> str:
    """Text on one line, cut at a word with an ellipsis where it is longer than `limit`."""
    plain = " ".join(text.split())
    return plain if len(plain) <= limit else plain[:limit].rsplit(" ", 1)[0] + " …"


def _without_subject(row: dict[object, object]) -> dict[str, object]:
    return {f"n_{name}": value for name, value in row.items() if name != "subject"}
