"""rge measures whether language models stay inside the evidence they are given."""

__version__ = "0.1.0"
