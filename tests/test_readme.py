from pathlib import Path

import pytest

from rge import readme
from rge.errors import RgeError
from rge.profile import find_root, load_profile

ROOT = find_root(Path(__file__).parent)


def test_the_committed_results_are_those_of_the_result_files():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.results(load_profile()) in text


def test_updating_changes_the_results_and_nothing_else(tmp_path):
    profile = load_profile()
    path = tmp_path / "README.md"
    path.write_text(f"head\n{readme.BEGIN}\nold\n{readme.END}\ntail\n", encoding="utf-8")
    readme.update(profile.model_copy(update={"root": tmp_path, "results_folder": profile.raw_dir}))
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"head\n{readme.BEGIN}\nOffline study")
    assert text.endswith(f"{readme.END}\ntail\n")
    assert "old" not in text


def test_a_readme_without_the_place_is_named(tmp_path):
    (tmp_path / "README.md").write_text("nothing", encoding="utf-8")
    with pytest.raises(RgeError, match=r"README\.md: has no place for results"):
        readme.update(load_profile().model_copy(update={"root": tmp_path}))


def test_every_file_the_readme_links_to_is_there():
    import re

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
