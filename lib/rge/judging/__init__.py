"""Judges: what a response is worth on each dimension, with evidence."""

from rge.judging.case import Case, Verdict
from rge.judging.families import assert_cross_family

__all__ = ["Case", "Verdict", "assert_cross_family"]
