"""The paper: Quarto sources rendered with pandoc and Typst alone, where Quarto is not installed.

Only what `paper/index.qmd` uses of Quarto is known here; anything else stops with file and line, so
that both ways of rendering give the same paper or none.
"""

from rge.paper.arxiv import arxiv_archive
from rge.paper.render import Paper, render

__all__ = ["Paper", "arxiv_archive", "render"]
