"""Typst with the fonts that come with matplotlib: the same pages on every machine."""

from __future__ import annotations

from pathlib import Path

from rge.errors import RgeError


def compile_typst(source: Path, output: Path, *, root: Path, where: str, timestamp: int) -> None:
    """One PDF from a Typst source.

    Parameters
    ----------
    source, output
        The source, below `root`, and the PDF.
    where
        The source as a message names it.
    timestamp
        Seconds since 1970 that the PDF's metadata say.

    Raises
    ------
    RgeError
        With Typst's own words, when it fails.
    """
    import matplotlib
    import typst

    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    try:
        typst.compile(
            str(source),
            output=str(output),
            root=str(root),
            font_paths=[str(fonts)],
            ignore_system_fonts=True,
            timestamp=timestamp,
        )
    except RuntimeError as error:
        raise RgeError(where, f"typst: {' '.join(str(error).split())}") from error
