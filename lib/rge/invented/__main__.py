"""`python -m rge.invented --out FOLDER` renders the corpus; `--facts` prints the key facts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rge.errors import RgeError
from rge.invented import overview, render_corpus, write_sources
from rge.invented.overview import DEFAULT_SEED


def main() -> int:
    """The exit code of the command."""
    parser = argparse.ArgumentParser(prog="python -m rge.invented", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the PDF files and sources.yaml")
    parser.add_argument("--facts", action="store_true", help="print each company's key facts")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--only", nargs="+", metavar="COMPANY", help="short names; default all")
    args = parser.parse_args()
    try:
        if args.facts:
            print(overview(seed=args.seed, only=args.only), end="")
        if args.out:
            paths = render_corpus(args.out, seed=args.seed, only=args.only)
            print(f"{len(paths)} reports in {args.out}")
            if args.only is None:
                write_sources(args.out, seed=args.seed)
    except RgeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
