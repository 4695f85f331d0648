import json

import pytest
import yaml

from rge import question_commands
from rge.errors import UsageError
from rge.specs import PlannedSpec
from small_corpus import small_profile
from test_authoring import ADVERSARIAL, DIRECT, GOOD, MULTIHOP


def written(path, drafts):
    text = "".join(json.dumps(draft, ensure_ascii=False) + "\n" for draft in drafts)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    profile = small_profile(folder, size=24, overlap=6)
    return profile.model_copy(update={"questions": folder / "set.jsonl"})


@pytest.fixture
def anchored(small):
    """The profile with a sound set in its question file."""
    written(small.questions, GOOD)
    assert question_commands.anchor(small, write=True) == 0
    return small


def test_drafts_are_judged_line_by_line_and_written_when_all_are_sound(small, tmp_path, capsys):
    small.questions.unlink(missing_ok=True)
    out = tmp_path / "out.jsonl"
    bad = written(tmp_path / "bad.jsonl", [DIRECT, {**MULTIHOP, "gold_values": [
        {"value": 600, "unit": "crore"}]}])  # fmt: skip
    assert question_commands.draft(small, bad, write=out) == 1
    said = capsys.readouterr().out
    assert "bad.jsonl:1 ok   d1: direct; nearest passage" in said
    assert "gold 1 of 1 in passages (rank 1)" in said
    assert "bad.jsonl:2 FAIL m1: multihop" in said and "     - gold value does not follow" in said
    assert "2 drafts, 1 with problems" in said and not out.exists()
    good = written(tmp_path / "good.jsonl", GOOD)
    assert question_commands.draft(small, good, write=out) == 0
    assert "gold and a distractor for 1 of 1" in capsys.readouterr().out
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [bool(line["gold_source_ids"]) for line in lines] == [True, True, True, False]


def test_drafts_may_be_compared_with_another_set(small, tmp_path, capsys):
    other = written(tmp_path / "other.jsonl", [{**DIRECT, "id": "x9"}])
    drafts = written(tmp_path / "drafts.jsonl", [DIRECT])
    assert question_commands.draft(small, drafts, against=other) == 1
    assert "asks nearly the same as x9" in capsys.readouterr().out


def test_anchoring_is_a_dry_run_until_it_is_told_to_write(small, capsys):
    written(small.questions, GOOD)
    before = small.questions.read_bytes()
    assert question_commands.anchor(small) == 1
    assert "3 lines would change" in capsys.readouterr().out
    assert small.questions.read_bytes() == before
    assert question_commands.anchor(small, write=True) == 0
    assert "3 lines changed" in capsys.readouterr().out
    assert question_commands.anchor(small) == 0


def test_nothing_is_written_while_a_quote_does_not_resolve(small, capsys):
    moved = {**DIRECT, "gold_quotes": [{**DIRECT["gold_quotes"][0], "page": 2}]}
    lost = {**ADVERSARIAL, "gold_quotes": [{**DIRECT["gold_quotes"][0], "quote": "lost words"}]}
    written(small.questions, [moved, lost])
    before = small.questions.read_bytes()
    assert question_commands.anchor(small, write=True) == 1
    error = capsys.readouterr().err
    assert "set.jsonl:1: question d1" in error and "set.jsonl:2: question a1" in error
    assert "2 problems, nothing written; --find-pages looks for" in error
    assert small.questions.read_bytes() == before
    written(small.questions, [moved])
    assert question_commands.anchor(small, write=True, find_pages=True) == 0
    assert "page 2 of acme-FY24 is now 1" in capsys.readouterr().out
    assert json.loads(small.questions.read_text("utf-8"))["gold_quotes"][0]["page"] == 1


def test_ids_of_another_chunking_are_never_written(small):
    other = small.model_copy(update={"overrides": {"chunk_size": 100}})
    with pytest.raises(UsageError, match="the chunking is overridden"):
        question_commands.anchor(other, write=True)


def test_a_sound_set_is_accepted(anchored, capsys):
    assert question_commands.validate(anchored) == 0
    assert capsys.readouterr().out.endswith("every required check holds\n")


def test_every_failure_is_told_by_check_with_its_line(anchored, capsys):
    lines = [json.loads(line) for line in anchored.questions.read_text("utf-8").splitlines()]
    lines[0]["gold_source_ids"] = ["acme-FY24-00000000"]
    lines[2]["gold_values"] = [{"value": 600, "unit": "crore"}]
    written(anchored.questions, [*lines, {"id": "x"}, lines[3]])
    profile = anchored.model_copy(update={"planned": PlannedSpec(direct=2, per_company=1)})
    assert question_commands.validate(profile) == 1
    said = capsys.readouterr().out
    for part in (
        "each line is a question: fails for 1 of 6",
        "set.jsonl:5: version: field required",
        "set.jsonl:4,6: o1: id stands 2 times",
        "set.jsonl: direct: 1 questions of 2 planned; write 1 more",
        "set.jsonl: zenith: 0 questions; at least 1 wanted",
        "set.jsonl:1: d1: gold chunk acme-FY24-00000000 is not in the index",
        "set.jsonl:3: m1: gold value does not follow from the quotes",
        "the set is refused",
    ):
        assert part in said, part


def test_the_report_as_json_has_the_same_faults(anchored, capsys):
    lines = [json.loads(line) for line in anchored.questions.read_text("utf-8").splitlines()]
    lines[1]["distractors"] = [{"value": "5,109 crore", "why": "x"}]
    written(anchored.questions, lines)
    assert question_commands.validate(anchored, as_json=True) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False and found["n_by_category"]["ood"] == 1
    faults = {check["name"]: check["faults"] for check in found["checks"] if check["faults"]}
    (fault,) = faults["distractors are not the gold"]
    assert (fault["id"], fault["lines"]) == ("a1", [2])
    assert "within 1% of the gold 5108 crore" in fault["message"]


def test_another_chunking_resolves_the_gold_instead_of_failing(anchored):
    chunking = anchored.chunking.model_copy(update={"size": 18, "overlap": 4})
    other = anchored.model_copy(update={"chunking": chunking, "overrides": {"chunk_size": 18}})
    assert question_commands.validate(other) == 0


def test_a_set_that_waits_for_its_documents_is_validated_without_them(tmp_path, capsys):
    """No document is on the machine, so opening the index would fail."""
    profile = small_profile(tmp_path)
    for pdf in tmp_path.glob("*.pdf"):
        pdf.unlink()
    path = written(tmp_path / "set.jsonl", [{**DIRECT, "status": "unanchored"}])
    planned = PlannedSpec(direct=1, ood=3)
    profile = profile.model_copy(update={"questions": path, "planned": planned})
    assert question_commands.validate(profile) == 0
    said = capsys.readouterr().out
    assert "ood: 0 questions of 3 planned; write 3 more" in said
    assert "set.jsonl:1: d1: unanchored: left out of studies" in said


def test_planned_numbers_are_a_section_of_the_profile():
    given = yaml.safe_load("{direct: 45, multihop: 45, adversarial: 65, ood: 45, per_company: 14}")
    planned = PlannedSpec(**given)
    assert planned.by_category == {"direct": 45, "multihop": 45, "adversarial": 65, "ood": 45}
    assert planned.per_company == 14
