"""The prompt of a subject: the question with its passages, exactly as sent."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rge.prompts import load_prompt
from rge.records import Chunk, Question
from rge.store import sha256_text

SUBJECT_PROMPT = "subject_v1"

# Whatever could close our tags or open a chat template's control token (`<|im_end|>`) begins so.
_TAG_OPENING = re.compile(r"<(?=[/|A-Za-z])")


@dataclass(frozen=True)
class Prompt:
    """One question with its passages.

    Attributes
    ----------
    question_id
        Id of the question.
    question
        Its text.
    passages
        The chunks that are shown, in rank order.
    system, user
        The two messages, exactly as sent.
    version
        Name of the system prompt, such as `subject_v1`.
    """

    question_id: str
    question: str
    passages: tuple[Chunk, ...]
    system: str
    user: str
    version: str = SUBJECT_PROMPT

    @property
    def sha256(self) -> str:
        """SHA-256 over version, system and user message; any changed character changes it."""
        return sha256_text(json.dumps([self.version, self.system, self.user], ensure_ascii=False))

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """Ids of the passages that are shown, in rank order."""
        return tuple(chunk.chunk_id for chunk in self.passages)


def build_prompt(question: Question, passages: Sequence[Chunk]) -> Prompt:
    """The prompt that shows `passages` in the order given and asks `question`.

    Gold, notes and expected behaviour of the question are not in it.
    """
    shown = "\n".join(
        f'<passage id="{neutralise(chunk.chunk_id)}">{neutralise(chunk.text)}</passage>'
        for chunk in passages
    )
    return Prompt(
        question_id=question.id,
        question=question.text,
        passages=tuple(passages),
        system=load_prompt(SUBJECT_PROMPT),
        user=f"{shown}\n\n<question>{neutralise(question.text)}</question>",
    )


def neutralise(text: str) -> str:
    """`text` with every `<` that opens a tag or control token shown as `‹`.

    Document text must not be able to close its passage or to open a turn of the conversation.
    Comparisons such as `< 5 %` stay as they are.
    """
    return _TAG_OPENING.sub("‹", text)
