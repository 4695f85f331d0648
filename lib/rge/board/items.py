"""Items of a grounding board: the file's shape checked at the door, and its content hash."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from rge.board.answer_text import ids_pattern, prepare
from rge.board.patterns import Pattern, compile_pattern
from rge.errors import RgeError
from rge.store import first_problem

Check = Literal["must-answer", "must-refuse", "must-cite", "must-prefer-context"]
CHECKS: tuple[Check, ...] = ("must-answer", "must-refuse", "must-cite", "must-prefer-context")

SYSTEM_MESSAGE = (
    "Answer strictly and only from the passages provided below. If the passages do not contain the "
    "answer, say so plainly and do not guess. When you use a passage, cite its id."
)

Text = Annotated[str, Field(min_length=1)]
Patterns = tuple[Text, ...]
PATTERN_KEYS = ("expected", "forbidden", "decline", "attribution", "exclusion")
_NEEDED: dict[str, tuple[str, ...]] = {
    "must-answer": ("expectedPatterns",),
    "must-prefer-context": ("expectedPatterns",),
    "must-refuse": ("declinePatterns",),
    "must-cite": ("expectedPatterns", "expectedCitation"),
}


class Part(BaseModel):
    """Frozen; refuses keys it does not know, so that a misspelt pattern list is no empty one."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class BoardPassage(Part):
    """One passage of an item; its id is what an answer cites."""

    id: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    text: Text

    @model_validator(mode="after")
    def _keeps_the_delimiters(self) -> BoardPassage:
        if "<passage" in self.text or "</passage" in self.text:
            raise ValueError(f"passage {self.id} holds a passage tag in its text")
        return self


class Rule(Part):
    """How an item is graded: its check, its passages and its patterns."""

    check: Check
    passages: Annotated[tuple[BoardPassage, ...], Field(min_length=1)]
    expected_patterns: Patterns = ()
    forbidden_patterns: Patterns = ()
    decline_patterns: Patterns = ()
    attribution_patterns: Patterns = ()
    exclusion_patterns: Patterns = ()
    expected_citation: str | None = None

    @model_validator(mode="after")
    def _can_be_passed(self) -> Rule:
        given = self.model_dump(by_alias=True)
        for key in _NEEDED[self.check]:
            if not given[key]:
                raise ValueError(f"a {self.check} item needs {key}")
        ids = [passage.id.casefold() for passage in self.passages]
        if len(set(ids)) < len(ids):
            raise ValueError(f"a passage id stands twice: {', '.join(ids)}")
        if self.expected_citation and self.expected_citation.casefold() not in ids:
            raise ValueError(f"expectedCitation {self.expected_citation!r} is no passage of it")
        return self


class Item(Part):
    """One question with its own passages; `rubric` says what failing it means."""

    id: Text
    input: Text
    ragqa: Rule
    rubric: str = ""

    def patterns(self, kind: str) -> tuple[Pattern, ...]:
        """Compiled patterns of a kind: expected, forbidden, decline, attribution or exclusion.

        Raises
        ------
        RgeError
            On a pattern that cannot be used, naming the item.
        """
        return self._compiled[kind]

    @cached_property
    def _compiled(self) -> dict[str, tuple[Pattern, ...]]:
        compiled = {}
        for kind in PATTERN_KEYS:
            sources = getattr(self.ragqa, f"{kind}_patterns")
            where = f"item {self.id}: {kind}Patterns"
            compiled[kind] = tuple(
                compile_pattern(source, f"{where}[{i}]") for i, source in enumerate(sources)
            )
        return compiled

    @cached_property
    def passage_text(self) -> str:
        """All passages, prepared like an answer."""
        return prepare("\n\n".join(passage.text for passage in self.ragqa.passages)).text

    @cached_property
    def cited_ids(self) -> Any:
        """Compiled search for the passage ids in an answer."""
        return ids_pattern(tuple(passage.id for passage in self.ragqa.passages))


@dataclass(frozen=True)
class Board:
    """An items file: what it is called, its version, its items and its content hash."""

    slug: str
    version: str
    name: str
    items: tuple[Item, ...]
    content_sha256: str
    path: Path

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)


def content_hash(content: object) -> str:
    """SHA-256 of the canonical JSON: keys sorted, no spaces, UTF-8 unescaped; 64 hex digits."""
    canonical = json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def load_items(path: str | Path, *, expect_sha256: str | None = None) -> Board:
    """The items file at `path`, with every pattern compiled.

    Parameters
    ----------
    path
        JSON file of the grounding format.
    expect_sha256
        Content hash the file must have, 64 hex digits.

    Raises
    ------
    RgeError
        On a missing file, another hash, a key or value the format does not have, an id that stands
        twice, or a pattern that cannot be used.
    """
    path = Path(path)
    content = _read(path)
    found = content_hash(content)
    if expect_sha256 is not None and found != expect_sha256.strip().lower():
        raise RgeError(
            path,
            f"content hash is {found}",
            allowed=f"expected is {expect_sha256}",
            do="get the file again, or grade without the expected hash",
        )
    items = tuple(_item(path, number, sample) for number, sample in enumerate(content["samples"]))
    repeated = [item_id for item_id, n in Counter(item.id for item in items).items() if n > 1]
    if repeated or not items:
        problem = f"item ids stand twice: {', '.join(repeated)}" if repeated else "has no items"
        raise RgeError(path, problem, allowed="one or more samples, each with an id of its own")
    names = {key: str(content[key]) for key in ("slug", "version", "name")}
    return Board(**names, items=items, content_sha256=found, path=path)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(
            path.read_text(encoding="utf-8"),
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
        )
        content_hash(content)
    except FileNotFoundError:
        raise RgeError(path, "no such file", do="see data/board/README.md") from None
    except ValueError as error:
        raise RgeError(path, f"not usable JSON: {error}", do="get the file again") from None
    keys = {"slug", "version", "name", "samples"}
    if not isinstance(content, dict) or not keys <= content.keys():
        allowed = f"an object with the keys {', '.join(sorted(keys))}"
        raise RgeError(path, "not an items file", allowed=allowed)
    if not isinstance(content["samples"], list):
        raise RgeError(path, "samples is no list", allowed="a list of items")
    return content


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        repeated = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]
        raise ValueError(f"key {repeated[0]!r} stands twice in one object")
    return keys


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _item(path: Path, number: int, sample: object) -> Item:
    name = sample.get("id", number) if isinstance(sample, dict) else number
    try:
        item = Item.model_validate(sample)
    except ValidationError as error:
        where = f"{path}: sample {number} ({name})"
        raise RgeError(where, first_problem(error), do="fix the item") from None
    try:
        item.patterns("expected")
    except RgeError as error:
        where = f"{path}: {error.where}"
        raise RgeError(where, error.found, allowed=error.allowed, do=error.do) from None
    return item
