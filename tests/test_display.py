import numpy as np
import pandas as pd
import pytest

from rge.display import escape, interval, joined, markdown_table, number, p_value, rate, show_table
from rge.intervals import mean_interval, rate_interval


@pytest.mark.parametrize(
    ("value", "text"), [(0.125, "0.12"), (-0.5, "−0.50"), (-0.0001, "0.00"), (1, "1.00")]
)
def test_numbers_have_fixed_decimals_and_a_real_minus(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0004, "<0.001"), (0.034, "0.034"), (1.0, "1"), (0.9999, "1"), (None, "–"), (np.nan, "–")],
)
def test_p_values_are_never_zero(p, text):
    assert p_value(p) == text


def test_an_estimate_is_its_value_with_interval_or_the_reason_why_not():
    assert interval(rate_interval(12, 40)) == "0.30 [0.18, 0.45]"
    assert interval(mean_interval([1.0, 1.0, 1.0], method="t")) == "1.00 (no interval)"
    assert interval(mean_interval([], method="t")) == "undefined: no scored value"


def test_rates_show_their_counts():
    assert rate(12, 40) == "12/40 (30 %)"
    assert rate(0, 0) == "0/0"


def test_lists_read_as_prose():
    assert joined(["a"]) == "a"
    assert joined(["a", "b"]) == "a and b"
    assert joined(["a", "b", "c"]) == "a, b and c"


def test_what_markdown_would_read_as_markup_is_escaped():
    assert escape("a|b *c* [d] $5 @e\n<f>") == r"a\|b \*c\* \[d\] \$5 \@e \<f\>"


def test_a_table_is_pipes_with_numbers_to_the_right_and_no_holes():
    table = pd.DataFrame({"a_name": ["x|y", "z"], "value": [1.0, np.nan], "ok": [True, False]})
    lines = markdown_table(table).split("\n")
    assert lines[0] == "| a name | value | ok |"
    assert lines[1].split("|")[2].strip().endswith(":")
    assert lines[2] == r"| x\|y | 1.00 | yes |"
    assert lines[3] == "| z | – | no |"


def test_an_empty_table_says_so():
    assert markdown_table(pd.DataFrame(columns=["a", "b"])).endswith("| no rows |  |")


def test_a_format_makes_the_text_of_its_column():
    table = pd.DataFrame({"p": [0.0001, 0.5]})
    assert r"\<0.001" in markdown_table(table, {"p": p_value})


def test_notebooks_get_markdown():
    assert show_table(pd.DataFrame({"a": [1]})).data.startswith("| a |")
