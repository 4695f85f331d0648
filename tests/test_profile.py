from pathlib import Path

import pytest
import yaml

from rge.errors import UsageError
from rge.profile import find_root, load_profile

ROOT = find_root(Path(__file__).parent)


def changed(tmp_path, **changes):
    data = yaml.safe_load((ROOT / "configs/offline.yaml").read_text(encoding="utf-8"))
    for key, value in changes.items():
        if value is None:
            del data[key]
        else:
            data[key] = value
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["offline", "smoke", "financebench", "published"])
def test_every_committed_profile_loads_and_is_named_after_its_file(name):
    assert load_profile(name).name == name


def test_only_the_plain_default_study_writes_into_the_repository():
    assert load_profile("offline").figures_dir == ROOT / "figures"
    for profile in (load_profile("smoke"), load_profile("offline", n_resamples=500)):
        assert profile.figures_dir.is_relative_to(ROOT / "_build")
        assert profile.results_dir.is_relative_to(ROOT / "_build")
        assert profile.variables_path.is_relative_to(ROOT / "_build")


def test_more_resamples_read_the_same_responses():
    own, other = load_profile("offline"), load_profile("offline", n_resamples=500)
    assert other.responses_path("reader-lexical") == own.responses_path("reader-lexical")
    assert other.analysis.n_resamples == 500


def test_another_chunk_size_is_another_run():
    own, other = load_profile("offline"), load_profile("offline", chunk_size=400)
    assert other.run_id.startswith(f"{own.run_id}-")
    assert other.responses_path("reader-lexical") != own.responses_path("reader-lexical")
    assert other.index_dir != own.index_dir


def test_naming_the_profiles_own_value_is_no_deviation():
    profile = load_profile("offline", chunk_size=200, n_resamples=10_000)
    assert profile == load_profile("offline")


def test_the_seed_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("RGE_SEED", "7")
    assert load_profile("offline").seed == 7
    monkeypatch.setenv("RGE_SEED", "seven")
    with pytest.raises(UsageError, match="RGE_SEED: is 'seven'; a whole number from 0"):
        load_profile("offline")


def test_subjects_can_be_chosen_by_name():
    profile = load_profile("offline", subjects=["reader-lexical"])
    assert [s.name for s in profile.subjects] == ["reader-lexical"]
    with pytest.raises(UsageError, match=r"no subject .*nobody.*; subjects are smollm2"):
        load_profile("offline", subjects=["nobody"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red"}, "unknown key 'colour'; keys are name, run_id, .*; fix or remove it"),
        ({"root": "/"}, "unknown key 'root'"),
        ({"seed": None}, "key 'seed' is missing; add it"),
        ({"seed": -1}, "seed: .*greater than or equal to 0, got -1"),
        ({"run_id": "../up"}, "run_id: .*got '../up'"),
        (
            {"chunking": {"encoding": "cl100k_base", "size": 200, "overlapp": 2}},
            "unknown key 'chunking.overlapp'; keys are encoding, size, overlap"
            "|key 'chunking.overlap' is missing",
        ),
        (
            {"chunking": {"encoding": "cl100k_base", "size": 20, "overlap": 20}},
            "chunking: overlap 20 is not smaller than size 20",
        ),
    ],
)
def test_a_bad_profile_is_one_line_that_says_what_to_do(tmp_path, changes, message):
    path = changed(tmp_path, **changes)
    with pytest.raises(UsageError, match=message) as caught:
        load_profile(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_subject_may_stand_once(tmp_path):
    subject = {"name": "a", "kind": "reader-lexical", "family": "a", "runs": 1}
    with pytest.raises(UsageError, match="a subject name stands twice: a, a"):
        load_profile(changed(tmp_path, subjects=[subject, subject]))


def test_an_unknown_parameter_and_profile_list_what_there_is():
    with pytest.raises(UsageError, match="parameter chunk_sizes: unknown; parameters are chunk_"):
        load_profile("offline", chunk_sizes=1)
    with pytest.raises(UsageError, match="nope: no such profile; profiles are financebench, off"):
        load_profile("nope")


def test_not_yaml_is_said_in_one_line(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text("a: [1", encoding="utf-8")
    with pytest.raises(UsageError, match="not YAML") as caught:
        load_profile(path)
    assert "\n" not in str(caught.value)
    path.write_text("- a", encoding="utf-8")
    with pytest.raises(UsageError, match="holds a list; a mapping"):
        load_profile(path)


def test_the_root_is_found_from_the_notebooks_folder():
    assert find_root(ROOT / "notebooks") == ROOT
