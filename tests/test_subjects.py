import pytest

from rge.errors import UsageError
from rge.records import Usage
from rge.specs import SubjectSpec
from rge.subjects import open_subject
from rge.subjects.reply import add_usage


@pytest.mark.parametrize("kind", ["anthropic", "openai", "google"])
def test_a_kind_that_is_not_run_says_which_are(kind: str):
    spec = SubjectSpec(name="paid", kind=kind, family="x", runs=3)
    with pytest.raises(UsageError, match=rf"subject paid: kind '{kind}'.*kinds are gguf, reader"):
        open_subject(spec, seed=1)


def test_usage_of_two_attempts_adds_up_and_keeps_unknown_apart_from_zero():
    both = add_usage(Usage(input=5, output=2, cache_read=0), Usage(input=5, output=4))
    assert both == Usage(input=10, output=6, cache_read=0, cache_write=None, reasoning=None)
