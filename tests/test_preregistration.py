import pytest
import yaml

from rge.calibration.preregistration import deviations, load_registration
from rge.errors import UsageError
from rge.profile import find_root, load_profile
from rge.store import sha256_file
from rge.tables import WEIGHTS_PRIMARY


def test_the_registered_weights_are_those_the_score_uses():
    weights = load_registration(find_root()).values["weights"]
    assert {name[0] if name != "calibration" else "k": w for name, w in weights.items()} == (
        WEIGHTS_PRIMARY
    )
    assert sum(weights.values()) == pytest.approx(1.0)


def test_registered_counts_add_up():
    values = load_registration(find_root()).values
    counts = dict(values["n_questions"])
    assert counts.pop("total") == sum(counts.values()) == 200
    assert sum(values["label_sample"].values()) == values["n_labels"] == 50


def test_every_result_can_carry_the_hash_of_what_was_registered():
    path = find_root() / "configs" / "preregistration.yaml"
    assert load_registration(find_root()).sha256 == sha256_file(path)


def test_departures_are_listed_with_both_values():
    registration = load_registration(find_root())
    found = {d["constant"]: d for d in deviations(registration, load_profile("smoke"))}
    assert found["n_resamples"] == {"constant": "n_resamples", "registered": 10000, "used": 1000}
    assert "confidence_level" not in found


@pytest.mark.parametrize("text", ["weights: [", "kappa_threshold: 0.75\n", "just text", ""])
def test_a_broken_registration_is_a_usage_error(tmp_path, text):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "preregistration.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"not YAML|lacks"):
        load_registration(tmp_path)


def test_a_missing_registration_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        load_registration(tmp_path)


def test_the_file_is_plain_yaml():
    path = find_root() / "configs" / "preregistration.yaml"
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)
