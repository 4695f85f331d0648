"""Invented annual reports: one ledger of facts per company drives text and tables of both years."""

from rge.invented.ledger import Ledger, build_ledger
from rge.invented.overview import facts, overview
from rge.invented.render import render_corpus
from rge.invented.sources import write_sources
from rge.invented.spec import slugs

__all__ = ["Ledger", "build_ledger", "facts", "overview", "render_corpus", "slugs", "write_sources"]
