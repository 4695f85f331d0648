"""Result files become texts that prose can read by key; what is undefined says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from paper_project import estimate, make_project, offline, write_result
from rge.errors import RgeError
from rge.profile import load_profile
from rge.records import Estimate
from rge.variables import collect_variables, format_estimate, format_scalar, slug, write_variables


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("RGE_SEED", raising=False)
    make_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("value", "key", "text"),
    [
        (0.6249, "gfs", "0.62"),
        (0.0, "share", "0.00"),
        (1.0, "share", "1.00"),
        (0.0123, "tolerance", "0.012"),
        (0.004, "rate", "0.0040"),
        (0.0949, "rate", "0.095"),
        (0.0951, "rate", "0.10"),
        (-0.125, "difference", "−0.12"),
        (-0.0, "difference", "0.00"),
        (0.00031, "p_value", "< 0.001"),
        (0.0449, "mcnemar_p", "0.045"),
        (1.0, "p_value", "1.000"),
        (1800, "n_responses", "1800"),
        (10_000, "n_resamples", "10,000"),
        (20240331, "seed", "20240331"),
        (-3, "change", "−3"),
        (93.24, "share_percent", "93.2\u00a0%"),
        (1, "tolerance_percent", "1\u00a0%"),
        (100, "budget_usd", "$100"),
        (1234.5, "cost_usd", "$1,234.50"),
        (True, "flag", "yes"),
        (["a"], "order", "a"),
        (["a", "b"], "order", "a and b"),
        (["a", "b", "c"], "order", "a, b and c"),
        ("rules", "judge", "rules"),
    ],
)
def test_a_value_is_written_as_prose_shows_it(value: object, key: str, text: str) -> None:
    assert format_scalar(value, key) == text


def test_names_become_keys_without_spaces_dots_or_hyphens() -> None:
    assert slug("smollm2-135m-instruct, overall (GFS primary)") == (
        "smollm2_135m_instruct_overall_gfs_primary"
    )


def test_an_estimate_is_read_with_its_interval() -> None:
    texts = format_estimate(Estimate(**estimate()))
    assert texts["text"] == "0.63 (95\u00a0% interval [0.55, 0.70])"
    assert texts["interval"] == "[0.55, 0.70]"
    assert texts["n_questions"] == "40"


def test_a_reason_is_said_once() -> None:
    record = estimate(None) | {"method": "undefined: no scored response"}
    assert format_estimate(Estimate(**record))["text"] == "undefined (no scored response)"


def test_a_value_without_an_interval_says_why_it_has_none() -> None:
    record = estimate() | {"low": None, "high": None, "method": "one question"}
    assert format_estimate(Estimate(**record))["text"] == (
        "0.63 (95\u00a0% interval undefined (one question))"
    )


def test_variables_hold_results_profile_and_published_study(project: Path) -> None:
    write_result(project, "ranking", {"values": {"Order (primary)": ["b", "a"], "by": {"x": 1}}})
    variables = collect_variables(offline())
    assert variables["corpus"]["n_pages"] == "12,345"
    assert variables["estimates"]["a_gfs"]["value"] == "0.63"
    assert variables["ranking"] == {"order_primary": "b and a", "by": {"x": "1"}}
    assert variables["profile"]["subjects"] == (
        "smollm2-135m-instruct, reader-lexical and reader-semantic"
    )
    assert variables["profile"]["n_resamples"] == "10,000"
    assert "published" not in variables


def test_the_file_holds_what_the_article_names_and_nothing_else(project: Path) -> None:
    path = write_variables(offline())
    assert path == project / "_variables.yml"
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == {
        "corpus": {"n_pages": "12,345"},
        "estimates": {"a_gfs": {"text": "0.63 (95\u00a0% interval [0.55, 0.70])"}},
    }


def test_registered_constants_come_from_the_registration(project: Path) -> None:
    registration = project / "configs" / "preregistration.yaml"
    registration.write_text("weights: {grounding: 0.40}\nkappa_threshold: 0.75\n", encoding="utf-8")
    variables = collect_variables(offline())
    assert variables["registered"] == {"weights": {"grounding": "0.40"}, "kappa_threshold": "0.75"}


def test_files_that_hold_no_values_or_estimates_are_left_out(project: Path) -> None:
    write_result(project, "thresholds", {"reader-lexical": 0.4})
    assert "thresholds" not in collect_variables(offline())


def test_an_undefined_value_is_written_with_its_reason(project: Path) -> None:
    write_result(
        project, "tests", {"values": {"kappa": None, "kappa_reason": "one constant rater"}}
    )
    variables = collect_variables(offline())
    assert variables["tests"]["kappa"] == "undefined (one constant rater)"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"values": {"kappa": None}}, "tests.json: values.kappa is undefined without a reason"),
        ({"values": {"kappa": float("nan")}}, "tests.json: values.kappa is nan"),
        ({"values": {"a b": 1, "a-b": 2}}, "tests.json: values.a-b: the name 'a_b' stands already"),
        ({"values": [1]}, "tests.json: 'values' is not a mapping"),
        ({"estimates": [{"name": "x"}]}, r"tests.json: estimates\[0\]: value: "),
        ({"values": {"a_gfs": 1}, "estimates": [estimate()]}, "the name 'a_gfs' stands already"),
    ],
)
def test_a_result_file_that_breaks_the_rule_is_named(
    project: Path, content: dict, message: str
) -> None:
    write_result(project, "tests", content)
    with pytest.raises(RgeError, match=message):
        collect_variables(offline())


def test_writing_again_leaves_the_file_untouched(project: Path) -> None:
    path = write_variables(offline())
    before = path.stat().st_mtime_ns
    write_variables(offline())
    assert path.stat().st_mtime_ns == before


def test_other_analysis_settings_keep_the_results_they_do_not_change():
    profile = load_profile(n_resamples=777)
    assert not profile.results_dir.exists()
    found = collect_variables(profile)
    assert found["corpus"] == collect_variables(load_profile())["corpus"]
    assert found["profile"]["n_resamples"] == "777"
