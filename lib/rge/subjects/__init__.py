"""Models under test: each turns one prompt into one `Reply`."""

from __future__ import annotations

from rge.errors import UsageError
from rge.specs import SubjectSpec
from rge.subjects.reply import Reply, Subject

__all__ = ["Reply", "Subject", "open_subject"]


def open_subject(spec: SubjectSpec, *, seed: int) -> Subject:
    """The subject of a profile entry, ready to answer.

    Parameters
    ----------
    spec
        The entry: its kind says which model runs, its options how.
    seed
        Sent with every call where the kind takes one.

    Raises
    ------
    UsageError
        On options the kind does not take, or a kind this version does not run.
    RgeError
        When the model's file is missing or not the expected one.
    """
    if spec.kind == "gguf":
        from rge.subjects.gguf import GgufSubject

        return GgufSubject(spec, seed=seed)
    if spec.kind in ("reader-lexical", "reader-semantic"):
        from rge.subjects.readers import Reader

        return Reader(spec)
    if spec.kind == "openai-compatible":
        from rge.subjects.openai_compatible import OpenAICompatible

        return OpenAICompatible(spec, seed=seed)
    raise UsageError(
        f"subject {spec.name}",
        f"kind '{spec.kind}' is not run by this version",
        allowed="kinds are gguf, reader-lexical, reader-semantic, openai-compatible",
        do="change the profile, or serve the model behind an OpenAI-compatible URL",
    )
