import pytest

from rge.errors import UsageError
from rge.records import DIMENSIONS
from rge.rubrics import RUBRIC_VERSION, load_rubric, rubrics


def test_every_dimension_has_a_rubric_for_each_score():
    assert tuple(rubrics()) == DIMENSIONS
    for rubric in rubrics().values():
        assert all(f"**{score}, " in rubric.text for score in (0, 1, 2))


def test_grounding_and_faithfulness_are_two_constructs():
    assert "added" in load_rubric("grounding").text
    assert "Only contradiction counts" in load_rubric("faithfulness").text


def test_the_version_names_every_dimension_s_own():
    assert RUBRIC_VERSION == "c1.g1.k1.f1"


@pytest.mark.parametrize("arguments", [("style",), ("correctness", 99)])
def test_what_does_not_exist_is_a_usage_error(arguments):
    with pytest.raises(UsageError, match=r"style|no version 99"):
        load_rubric(*arguments)
