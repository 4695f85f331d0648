"""What was registered before the study: constants of the gate, the score and the tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rge.errors import UsageError
from rge.profile import Profile
from rge.store import sha256_file

_FILE = Path("configs") / "preregistration.yaml"
_NEEDED = ("weights", "kappa_threshold", "kappa_labels", "dimensions", "label_sample", "n_labels")


@dataclass(frozen=True)
class Registration:
    """The registered values, and the hash of the file that holds them."""

    values: dict[str, Any]
    sha256: str

    @property
    def kappa_threshold(self) -> float:
        return float(self.values["kappa_threshold"])

    @property
    def gated(self) -> tuple[str, ...]:
        """Dimensions that the gate looks at."""
        return tuple(self.values["dimensions"])


def load_registration(root: Path) -> Registration:
    """The registration of the repository at `root`.

    Raises
    ------
    UsageError
        When the file is missing, is no mapping, or lacks a value that the gate needs.
    """
    path = root / _FILE
    if not path.is_file():
        raise UsageError(path, "no such file", do="restore it from the repository")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise UsageError(path, f"not YAML: {' '.join(str(error).split())[:120]}") from None
    missing = [name for name in _NEEDED if name not in (values or {})]
    if not isinstance(values, dict) or missing:
        raise UsageError(path, f"lacks {', '.join(missing) or 'its keys'}", do="restore the file")
    return Registration(values, sha256_file(path))


def deviations(registration: Registration, profile: Profile) -> list[dict[str, object]]:
    """Registered values that a run does not keep, each with the value it used instead."""
    used = {
        "confidence_level": profile.analysis.confidence_level,
        "n_resamples": profile.analysis.n_resamples,
        "top_k": profile.retrieval.top_k,
        "runs_per_question": min(subject.runs for subject in profile.subjects),
    }
    return [
        {"constant": name, "registered": registration.values[name], "used": value}
        for name, value in used.items()
        if name in registration.values and registration.values[name] != value
    ]
