"""One call of the bundled pandoc, with its complaints turned into errors of ours."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from rge.errors import RgeError


def run_pandoc(arguments: Sequence[str | Path], *, cwd: Path, where: object) -> None:
    """Run pandoc in `cwd`; a warning is an error.

    Raises
    ------
    RgeError
        With pandoc's first lines, when it fails or warns.
    """
    import pypandoc

    done = subprocess.run(
        [pypandoc.get_pandoc_path(), "--fail-if-warnings", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise RgeError(where, f"pandoc: {' '.join(lines[:4])}", do="mend the source named")
