"""The paper as arXiv takes it: LaTeX, figures as PDF, the bibliography made out, in one archive."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import subprocess
import tarfile
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rge.errors import RgeError
from rge.paper.job import HERE, Job, job_of, pandoc_options, prepare, timestamp
from rge.paper.pandoc import run_pandoc
from rge.paper.typesetting import compile_typst
from rge.profile import Profile

NAME = "rge-paper"
# What pdfLaTeX prints for characters outside its fonts' encoding.
_MATHS = {
    **{"κ": "kappa", "α": "alpha", "β": "beta", "λ": "lambda", "π": "pi", "ρ": "rho", "σ": "sigma"},
    **{"≥": "geq", "≤": "leq", "≠": "neq", "≈": "approx", "×": "times", "÷": "div", "±": "pm"},
    **{"−": "mathord{-}", "→": "rightarrow", "←": "leftarrow", "↔": "leftrightarrow"},
    **{"∈": "in", "·": "cdot", "√": "surd", "∞": "infty", "Δ": "Delta", "µ": "mu", "μ": "mu"},
}
_TEXT = {
    **{"₹": r"\mbox{Rs\,}", "€": r"\texteuro{}", "£": r"\pounds{}", "°": r"\textdegree{}"},
    **{"\u200b": r"\hspace{0pt}", "\u00ad": r"\-", "\u202f": r"\,", "\u2009": r"\,", "✓": "yes"},
    **{"–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''", "…": r"\ldots{}"},
    **{"\u2011": "-", "•": r"\textbullet{}", "§": r"\S{}", "½": r"\textonehalf{}", "†": r"\dag{}"},
    **{"【": "[", "】": "]", "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}"},
}


def arxiv_archive(
    profile: Profile,
    *,
    out_dir: Path | None = None,
    notebooks_dir: Path | None = None,
    variables: Path | None = None,
) -> Path:
    """The archive of LaTeX sources: the article, its bibliography, and its figures as PDF.

    Equal inputs give equal bytes. No LaTeX is needed to make it; every character, citation, label
    and image that the source names is checked to be declared.

    Parameters
    ----------
    profile, out_dir, notebooks_dir, variables
        As for `rge.paper.render`.

    Returns
    -------
    Path
        ``rge-paper-arxiv.tar.gz`` in the folder of the paper.

    Raises
    ------
    RgeError
        As for `rge.paper.render`, and on a character that no command is known for.
    """
    out = (out_dir or profile.build_dir / "paper") / "arxiv"
    job = job_of(profile, out_dir=out, notebooks_dir=notebooks_dir, variables=variables)
    meta = prepare(job)
    files = out / "files"
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir(parents=True)
    for image in sorted(job.work.rglob("*.svg")):
        _figure(image, files / image.relative_to(job.work).with_suffix(".pdf"), job, meta)
    for image in sorted(job.work.rglob("*.png")):
        shutil.copyfile(image, _parent(files / image.relative_to(job.work)))
    source = files / f"{NAME}.tex"
    bibliography = bbl(job.work / "references.bib", _keys(_latex(job, source, ())))
    characters = _declared(source.read_text(encoding="utf-8") + bibliography, job)
    _latex(job, source, characters)
    (files / f"{NAME}.bbl").write_text(bibliography, encoding="utf-8")
    check_sources(files)
    archive = out.parent / f"{NAME}-arxiv.tar.gz"
    archive.write_bytes(_packed(files, timestamp(meta)))
    return archive


def _latex(job: Job, source: Path, unicode: Iterable[str]) -> str:
    """Write the article as LaTeX, with the given declarations of characters."""
    declarations = job.work / "unicode.json"
    declarations.write_text(json.dumps({"unicode": list(unicode)}), encoding="utf-8")
    run_pandoc(
        [
            *pandoc_options(job),
            *("--to", "latex", "--natbib", "--template", HERE / "template.tex"),
            *("--metadata-file", declarations, "--output", source, "index.md"),
        ],
        cwd=job.work,
        where=job.show(job.article),
    )
    text = _with_bibliography(source.read_text(encoding="utf-8"))
    source.write_text(text, encoding="utf-8")
    return text


def _with_bibliography(text: str) -> str:
    """The source with its bibliography where the article has its references."""
    heading = re.compile(r"\\section\*\{References\}.*?(?=\\end\{document\})", re.DOTALL)
    command = f"\\bibliographystyle{{plainnat}}\n\\bibliography{{{NAME}}}\n\n"
    if heading.search(text):
        return heading.sub(lambda _: command, text)
    return text.replace(r"\end{document}", command + r"\end{document}")


def _keys(text: str) -> list[str]:
    """Keys that a LaTeX source cites, once each, in order of their names."""
    cited = re.findall(r"\\cite[a-z]*\*?(?:\[[^\]]*\])*\{([^}]*)\}", text)
    return sorted({key.strip() for group in cited for key in group.split(",")})


def bbl(bibliography: Path, keys: list[str]) -> str:
    """What BibTeX would write for natbib: the cited entries, formatted and labelled.

    Parameters
    ----------
    bibliography
        A BibTeX file.
    keys
        Entries to print, in any order; they are sorted by author and year.
    """
    entries = {entry["id"]: entry for entry in json.loads(_pandoc(bibliography, "csljson"))}
    cited = " ".join(f"[@{key}]" for key in keys)
    formatted = _pandoc(
        "-",
        *("latex", "--wrap=none", "--citeproc", "--bibliography", str(bibliography)),
        text=f"{cited}\n\n::: {{#refs}}\n:::\n",
        source="markdown",
    )
    found = re.findall(
        r"\\bibitem\[\\citeproctext\]\{ref-([^}]+)\}\s*(.*?)(?=\\bibitem|\\end\{CSLReferences\})",
        formatted,
        re.DOTALL,
    )
    short = [_label(entries[key]) for key, _ in found]
    items = []
    for place, ((key, text), (names, year)) in enumerate(zip(found, short, strict=True)):
        letter = ""
        if short.count((names, year)) > 1:
            letter = "abcdefghijklmnopqrstuvwxyz"[short[:place].count((names, year))]
        dated = text.strip().replace(f" {year}. ", f" {year}{letter}. ", 1)
        items.append(f"\\bibitem[{{{names}({year}{letter})}}]{{{key}}}\n{dated}\n")
    first, last = f"\\begin{{thebibliography}}{{{len(items)}}}", r"\end{thebibliography}"
    return "\n".join([first, *items, last]) + "\n"


def _label(entry: dict[str, Any]) -> tuple[str, str]:
    """Authors and year as natbib cites them: ``Cohen``, ``Lewis et al.``."""
    names = [name.get("family") or name.get("literal", "") for name in entry.get("author", [])]
    others = "others" in names
    names = [name for name in names if name != "others"]
    year = str(entry.get("issued", {}).get("date-parts", [["n.d."]])[0][0])
    if len(names) > 2 or others:
        return f"{names[0]} et~al.", year
    return " and ".join(names), year


def _pandoc(path: object, to: str, *options: str, text: str = "", source: str = "bibtex") -> str:
    import pypandoc

    command = [pypandoc.get_pandoc_path(), "--from", source, "--to", to, *options, str(path)]
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise RgeError(path, f"pandoc: {' '.join(done.stderr.split())}", do="mend the source named")
    return done.stdout


def _declared(text: str, job: Job) -> list[str]:
    """A declaration for each character that pdfLaTeX does not print by itself."""
    lines = []
    for character in sorted(set(text)):
        if character.isascii() or (character.isalpha() and ord(character) < 0x180):
            continue
        if character in _MATHS:
            command = rf"\ensuremath{{\{_MATHS[character]}}}"
        elif character in _TEXT:
            command = _TEXT[character]
        elif character == "\u00a0":
            command = "~"
        else:
            raise RgeError(
                job.show(job.article),
                f"character {character!r} ({unicodedata.name(character, 'without a name')})",
                allowed="characters that LaTeX can print",
                do="write it otherwise, or say in rge.paper.arxiv how it is printed",
            )
        lines.append(rf"\newunicodechar{{{character}}}{{{command}}}")
    return lines


def _figure(image: Path, out: Path, job: Job, meta: dict[str, Any]) -> None:
    """One SVG as a PDF page of its own size."""
    page = image.with_suffix(".typ")
    page.write_text(
        "#set page(width: auto, height: auto, margin: 0pt)\n"
        f"#image({json.dumps(image.name, ensure_ascii=False)})\n",
        encoding="utf-8",
    )
    compile_typst(
        page, _parent(out), root=job.work, where=job.show(image), timestamp=timestamp(meta)
    )
    page.unlink()


def _parent(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def check_sources(folder: Path) -> None:
    """Refuse sources that name what is not there.

    Raises
    ------
    RgeError
        On an image without a file, a citation without an entry, a reference without a label, or an
        environment that is not closed.
    """
    path = folder / f"{NAME}.tex"
    text = path.read_text(encoding="utf-8")
    entries = (folder / f"{NAME}.bbl").read_text(encoding="utf-8")
    images = re.findall(r"\\includegraphics(?:\[.*?\])?\{([^{}]*)\}", text, re.DOTALL)
    labels = set(re.findall(r"\\label\{([^}]*)\}", text))
    missing = [f"image {image}" for image in images if not (folder / image).is_file()]
    missing += [f"entry {key}" for key in _keys(text) if f"]{{{key}}}" not in entries]
    named = re.findall(r"\\(?:hyperref\[|ref\{|eqref\{)([^\]}]*)", text)
    missing += [f"label {label}" for label in named if label not in labels]
    if missing:
        raise RgeError(path.name, f"names {missing[0]}, which is not there", do="report this fault")
    open_: list[str] = []
    for verb, environment in re.findall(r"\\(begin|end)\{([A-Za-z*]+)\}", text):
        if verb == "begin":
            open_.append(environment)
        elif not open_ or open_.pop() != environment:
            raise RgeError(path.name, f"\\end{{{environment}}} closes nothing")
    if open_:
        raise RgeError(path.name, f"\\begin{{{open_[-1]}}} is not closed")


def _packed(folder: Path, at: int) -> bytes:
    """The folder's files as one compressed archive without a trace of machine or hour."""
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                content = path.read_bytes()
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                entry.size, entry.mtime, entry.mode = len(content), at, 0o644
                archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(inner.getvalue(), mtime=at)
