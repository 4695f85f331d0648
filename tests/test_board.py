"""Items files: their hash, what is refused at the door, and how patterns are run."""

import json
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rge.board import content_hash, grade, load_items
from rge.board.patterns import compile_pattern, conjuncts
from rge.errors import RgeError

ROOT = Path(__file__).parents[1]
ITEMS = Path(__file__).parent / "fixtures" / "board_items.json"
PUBLIC = Path(os.environ.get("RGE_SHARED", ROOT.parent / "shared")) / "board" / "v1.4.0.json"
PUBLIC_SHA256 = "eb8d3ab84b1f5ecdc21e0e11cfa9af0af80d3ba78536098d5e1453cce6a227b7"

needs_public = pytest.mark.skipif(
    not PUBLIC.exists(), reason="the public items file is not here; data/board/README.md says more"
)


def content():
    return json.loads(ITEMS.read_text(encoding="utf-8"))


def stored(folder, changed, **options):
    path = folder / "items.json"
    path.write_text(json.dumps(changed, **options), encoding="utf-8")
    return path


def with_pattern(folder, pattern):
    changed = content()
    changed["samples"][0]["ragqa"]["expectedPatterns"] = [pattern]
    return stored(folder, changed)


def test_the_hash_is_that_of_the_canonical_json():
    # printf '%s' '{"a":{"x":true,"y":null},"b":[1,"é"]}' | sha256sum
    expected = "4c9fc0a699803e6bc0f1f9fb0403f23983a33102fbf428b78fc61803a7e19ba9"
    assert content_hash({"b": [1, "é"], "a": {"y": None, "x": True}}) == expected


def test_the_hash_ignores_layout_and_key_order_and_nothing_else(tmp_path):
    before = load_items(ITEMS).content_sha256
    laid_out = stored(tmp_path, dict(reversed(content().items())), indent=7, ensure_ascii=True)
    assert load_items(laid_out).content_sha256 == before
    changed = content()
    changed["samples"][0]["rubric"] += " "
    assert load_items(stored(tmp_path, changed)).content_sha256 != before


def test_another_hash_than_expected_is_refused_with_both():
    with pytest.raises(RgeError, match=r"content hash is [0-9a-f]{64}; expected is 00"):
        load_items(ITEMS, expect_sha256="00")


@needs_public
def test_the_public_file_has_its_published_hash_and_every_item_loads():
    board = load_items(PUBLIC, expect_sha256=PUBLIC_SHA256)
    checks = [item.ragqa.check for item in board]
    assert (board.slug, board.version) == ("divinci-rag-grounding-v1", "1.4.0")
    assert {check: checks.count(check) for check in checks} == {
        "must-answer": 6,
        "must-refuse": 3,
        "must-cite": 1,
        "must-prefer-context": 1,
    }


@needs_public
def test_no_item_of_the_public_file_is_in_the_repository():
    public = load_items(PUBLIC)
    texts = {p.text for item in public for p in item.ragqa.passages} | {i.input for i in public}
    for path in [*sorted((ROOT / "data" / "board").rglob("*")), ITEMS]:
        if path.is_file():
            held = path.read_text(encoding="utf-8")
            assert not [text for text in texts if text in held], path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("samples"), "not an items file; an object with the keys"),
        (lambda c: c.update(samples=[]), "has no items"),
        (lambda c: c["samples"].append(c["samples"][0]), "item ids stand twice: permit"),
        (lambda c: c["samples"][0].pop("input"), r"sample 0 \(permit\): input: field required"),
        (lambda c: c["samples"][0]["ragqa"].update(check="may"), "ragqa.check: .* got 'may'"),
        (lambda c: c["samples"][0]["ragqa"].update(forbidenPatterns=["x"]), "forbidenPatterns"),
        (lambda c: c["samples"][0]["ragqa"].update(expectedPatterns=[]), "needs expectedPatterns"),
        (lambda c: c["samples"][2]["ragqa"].pop("declinePatterns"), "needs declinePatterns"),
        (lambda c: c["samples"][4]["ragqa"].pop("expectedCitation"), "needs expectedCitation"),
        (lambda c: c["samples"][4]["ragqa"].update(expectedCitation="doc-x"), "'doc-x' is no pass"),
        (
            lambda c: c["samples"][0]["ragqa"]["passages"].append({"id": "DOC-1", "text": "x"}),
            "a passage id stands twice",
        ),
        (
            lambda c: c["samples"][0]["ragqa"]["passages"][0].update(text="a</passage>b"),
            "passage doc-1 holds a passage tag",
        ),
        (lambda c: c["samples"][0]["ragqa"].update(passages=[]), "ragqa.passages"),
    ],
)
def test_what_the_format_does_not_have_is_refused_by_name(tmp_path, change, message):
    changed = content()
    change(changed)
    with pytest.raises(RgeError, match=message):
        load_items(stored(tmp_path, changed))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not usable JSON"),
        ("[]", "not an items file"),
        ('{"slug": "a", "slug": "b"}', "key 'slug' stands twice"),
        ('{"slug": NaN}', "NaN is no JSON number"),
        ('{"slug": "\\ud800"}', "not usable JSON"),
        (b"\xff", "not usable JSON"),
    ],
)
def test_json_with_more_than_one_meaning_is_refused(tmp_path, text, message):
    path = tmp_path / "items.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    with pytest.raises(RgeError, match=message):
        load_items(path)


def test_a_missing_file_says_where_to_read_on(tmp_path):
    with pytest.raises(RgeError, match=r"no such file; see data/board/README.md"):
        load_items(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "does not compile"),
        ("[a", "does not compile"),
        ("a" * 5_000, "is 5000 characters long"),
        ("(?:(?:a{60000}){60000}){60000}", "repeats too often"),
        ("(?:a{1000}){1000}", "repeats too often"),
        ("a{1000000}", "repeats too often"),
        ("(" * 3_000 + ")" * 900, "does not compile"),
        (r"a{e<=2}", "brace that is no repeat count"),
        (r"\p{L}", "brace that is no repeat count"),
        (r"(?R)", "does not compile"),
        (r"[[a]--b]", "does not compile"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_naming_its_item(tmp_path, pattern, message):
    with pytest.raises(RgeError, match=message) as caught:
        load_items(with_pattern(tmp_path, pattern))
    assert "item permit: expectedPatterns[0]" in str(caught.value)


def test_a_catastrophic_pattern_is_stopped_naming_its_item(tmp_path):
    item = load_items(with_pattern(tmp_path, r"(a|aa)+$")).items[0]
    started = time.monotonic()
    with pytest.raises(RgeError, match=r"item permit: expectedPatterns\[0\]: .* more than 1 s"):
        grade(item, "a" * 60 + "b")
    assert time.monotonic() - started < 30


def test_a_long_answer_costs_no_more_than_its_length():
    """Paired lookaheads searched naively take time quadratic in the answer."""
    item = load_items(ITEMS).items[0]
    assert grade(item, "30 crowns. " + "more words " * 200_000).reason == "expected-missing"


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        (r"(?=[\s\S]*a)(?=[\s\S]*(?:b|c))", ("a", "(?:b|c)")),
        (r"(?=[\s\S]*\(x[)(])(?=[\s\S]*y)", (r"\(x[)(]", "y")),
        (r"(?=[\s\S]*?a)", ("a",)),
        (r"(?=[\s\S]*a|b)(?=[\s\S]*c)", None),
        (r"(?=[\s\S]*(a))(?=[\s\S]*\1)", None),
        (r"(?=[\s\S]*a)b", None),
        (r"(?=[\s\S]*a)(?![\s\S]*b)", None),
        (r"(?=[\s\S]*a)?", None),
        (r"(?=[\s\S]*+a)", None),
        (r"(?=[\s\S]*)", None),
        (r"(?=[\s\S]*a", None),
        ("plain", None),
    ],
)
def test_only_plain_rows_of_lookaheads_are_taken_apart(pattern, parts):
    assert conjuncts(pattern) == (parts or (pattern,))


_BODIES = st.sampled_from(["a", "ab", "(?:a|b)", r"\bb\b", "^a", "b$", "[ab]c", r"a(?=c)", "c?b"])


@given(st.lists(_BODIES, min_size=1, max_size=3), st.text("abc \n", max_size=12))
def test_taken_apart_a_pattern_gives_the_verdict_of_the_standard_library(bodies, text):
    pattern = "".join(rf"(?=[\s\S]*{body})" for body in bodies)
    found = bool(compile_pattern(pattern, "here").search(text))
    assert found == bool(re.search(pattern, text, re.IGNORECASE))
