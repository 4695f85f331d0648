"""Numbers of the result files as texts that prose can read by key: `_variables.yml`.

A result file `<stem>.json` of a profile holds `values` (a mapping of names to numbers, texts, lists
or further mappings), `estimates` (a list of Estimate records) or both. A value is read as
`<stem>.<name>`, an estimate as `<stem>.<name>.text`, `.value`, `.low`, `.high`, `.interval`,
`.method` and its counts. Names become slugs: lower case, everything but letters and digits an
underscore. The file holds the variables that the paper's sources name, so that a reviewer sees each
change of a printed number as one changed line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from rge.display import joined, number
from rge.errors import RgeError
from rge.profile import Profile, load_profile
from rge.records import Estimate
from rge.store import first_problem, read_json, write_text

_HEADER = "# Written from the result files by rge.variables; not edited by hand.\n"
_VARIABLE = re.compile(r"(?<!\{)\{\{<\s*var\s+(\S+)\s*>\}\}(?!\})")
_P_VALUE = re.compile(r"(^|_)p(_value)?(_|$)")
_NO_SEPARATOR = re.compile(r"(^|_)(seed|year|id)$")


def write_variables(profile: Profile) -> Path:
    """Write the variables that `paper/*.qmd` names, as far as there are any; return the file.

    Raises
    ------
    RgeError
        When a result file breaks the rule above, naming the file and key.
    """
    chosen: dict[str, Any] = {}
    variables = collect_variables(profile)
    for article in sorted((profile.root / "paper").glob("*.qmd")):
        for name in _VARIABLE.findall(article.read_text(encoding="utf-8")):
            text = lookup(variables, name)
            if text is not None:
                _put(chosen, name.split("."), text)
    text = yaml.safe_dump(chosen, allow_unicode=True, sort_keys=True, width=10**6)
    write_text(profile.variables_path, _HEADER + text)
    return profile.variables_path


def _put(tree: dict[str, Any], keys: list[str], text: str) -> None:
    for key in keys[:-1]:
        tree = tree.setdefault(key, {})
    tree[keys[-1]] = text


def lookup(variables: Mapping[str, Any], dotted: str) -> str | None:
    """The text at `a.b.c` in nested mappings, None where there is none."""
    node: Any = variables
    for key in dotted.split("."):
        if not isinstance(node, Mapping) or key not in node:
            return None
        node = node[key]
    return None if isinstance(node, Mapping | list) else str(node)


def collect_variables(profile: Profile) -> dict[str, Any]:
    """Nested texts: one branch a result file, and `profile` and `registered`.

    Raises
    ------
    RgeError
        As `write_variables`.
    """
    variables: dict[str, Any] = {"profile": profile_facts(profile)}
    published = profile.root / "configs" / "published.yaml"
    if published.is_file():
        variables["published"] = profile_facts(load_profile(published))
    registered = profile.root / "configs" / "preregistration.yaml"
    if registered.is_file():
        facts = yaml.safe_load(registered.read_text(encoding="utf-8")) or {}
        variables["registered"] = format_values(facts, "registered", registered)
    # With other analysis settings only some notebooks have results of their own.
    folders = (profile.collection_dir, profile.results_dir)
    results = {path.name: path for folder in folders for path in folder.glob("*.json")}
    for _, path in sorted(results.items()):
        data = read_json(path)
        if isinstance(data, dict) and {"values", "estimates"} & data.keys():
            variables[slug(path.stem)] = _format_result(data, path)
    return variables


def profile_facts(profile: Profile) -> dict[str, Any]:
    """What the profile itself says: chunking, retrieval, subjects, judges, analysis."""
    facts = {
        "name": profile.name,
        "run_id": profile.run_id,
        "seed": profile.seed,
        "embedder": profile.retrieval.embedder,
        "top_k": profile.retrieval.top_k,
        "encoding": profile.chunking.encoding,
        "chunk_size": profile.chunking.size,
        "chunk_overlap": profile.chunking.overlap,
        "subjects": [subject.name for subject in profile.subjects],
        "n_subjects": len(profile.subjects),
        "judges": [judge.name for judge in profile.judges],
        "n_judges": len(profile.judges),
        "n_resamples": profile.analysis.n_resamples,
        "confidence_level": f"{100 * profile.analysis.confidence_level:g}\u00a0%",
        "n_runs": sorted({subject.runs for subject in profile.subjects}),
    }
    return format_values(facts, "profile", profile.source)


def _format_result(data: dict[str, Any], path: Path) -> dict[str, Any]:
    values = data.get("values", {})
    if not isinstance(values, dict):
        raise RgeError(path, "'values' is not a mapping", allowed="{name: number or text, …}")
    texts = format_values(values, "values", path)
    for position, record in enumerate(data.get("estimates", [])):
        try:
            estimate = Estimate.model_validate(record)
        except ValidationError as error:
            raise RgeError(path, f"estimates[{position}]: {first_problem(error)}") from None
        key = slug(estimate.name)
        if key in texts:
            raise RgeError(path, f"estimates[{position}]: the name '{key}' stands already")
        texts[key] = format_estimate(estimate)
    return texts


def slug(name: str) -> str:
    """A name as variables spell it: `Reader-lexical, overall` is `reader_lexical_overall`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def format_values(values: dict[str, Any], where: str, path: Path) -> dict[str, Any]:
    """A mapping of results as a mapping of texts, keys turned into slugs.

    Raises
    ------
    RgeError
        When a value is undefined without a reason (`<name>_reason` beside it), not finite, or when
        two names have one slug.
    """
    texts: dict[str, Any] = {}
    for name, value in values.items():
        key = slug(str(name))
        place = f"{where}.{name}"
        if key in texts:
            raise RgeError(path, f"{place}: the name '{key}' stands already")
        if isinstance(value, dict):
            texts[key] = format_values(value, place, path)
        elif value is None:
            reason = values.get(f"{name}_reason")
            if not reason:
                raise RgeError(
                    path, f"{place} is undefined without a reason", do=f"add '{name}_reason'"
                )
            texts[key] = f"undefined ({reason})"
        elif isinstance(value, float) and not math.isfinite(value):
            raise RgeError(path, f"{place} is {value}", allowed="undefined is null with a reason")
        else:
            texts[key] = format_scalar(value, key)
    return texts


def format_scalar(value: Any, key: str = "") -> str:
    """One value as prose shows it.

    Whole numbers from 10,000 get separators (not seeds, years or ids). Fractions have two decimals,
    small ones two significant digits. A p-value is never "0.00". Keys that end in `_usd` or
    `_percent` get their sign; the unit of any other value is part of the sentence it stands in.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return joined([format_scalar(item, key) for item in value])
    if isinstance(value, int | float) and key.endswith("_usd"):
        return f"${value:,}" if isinstance(value, int) else f"${value:,.2f}"
    if isinstance(value, int | float) and key.endswith("_percent"):
        return f"{number(value, 0 if isinstance(value, int) else 1)}\u00a0%"
    if isinstance(value, int):
        plain = abs(value) < 10_000 or _NO_SEPARATOR.search(key)
        return (f"{value}" if plain else f"{value:,}").replace("-", "−")
    if not isinstance(value, float):
        return str(value)
    if _P_VALUE.search(key):
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    return format_fraction(value)


def format_fraction(value: float) -> str:
    """Two decimals, or two significant digits where that would show less than 0.10."""
    small = 0 < abs(value) < 0.095
    return number(value, 1 - math.floor(math.log10(abs(value))) if small else 2)


def format_estimate(estimate: Estimate) -> dict[str, str]:
    """The parts of an estimate as texts; `text` is the value with its interval."""
    counts = {
        key: format_scalar(getattr(estimate, key))
        for key in ("n_questions", "n_responses", "n_unscored")
    }
    level = f"{100 * estimate.confidence_level:g}\u00a0%"
    undefined = f"undefined ({estimate.method.removeprefix('undefined: ')})"
    parts = {
        name: undefined if part is None else number(part)
        for name in ("value", "low", "high")
        for part in [getattr(estimate, name)]
    }
    known = estimate.low is not None and estimate.high is not None
    interval = f"[{parts['low']}, {parts['high']}]" if known else undefined
    text = parts["value"]
    if estimate.value is not None:
        text += f" ({level} interval {interval})"
    return {**parts, **counts, "interval": interval, "text": text, "method": estimate.method}
