"""The LaTeX sources hold the whole paper and name nothing that is not there."""

from __future__ import annotations

import re
import subprocess
import tarfile
from pathlib import Path

import pypandoc
import pytest

from paper_project import make_project, offline
from rge.errors import RgeError
from rge.paper import arxiv_archive
from rge.paper.arxiv import NAME, bbl, check_sources


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    make_project(root)
    monkeypatch.chdir(root)
    return root


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked archive of one making."""
    root = tmp_path_factory.mktemp("arxiv") / "repo"
    make_project(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        archive = arxiv_archive(offline())
    with tarfile.open(archive) as packed:
        packed.extractall(root / "unpacked", filter="data")
    return root / "unpacked"


def source(files: Path) -> str:
    return (files / f"{NAME}.tex").read_text(encoding="utf-8")


def words_of(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]+|[0-9]+(?:[.,][0-9]+)*", text)


def read_back(path: Path) -> list[str]:
    """The words of a LaTeX source as pandoc reads it."""
    command = [pypandoc.get_pandoc_path(), "--from", "latex", "--to", "html", path]
    page = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    return words_of(re.sub(r"<[^>]*>", " ", page))


def rewrite(project: Path, old: str, new: str) -> None:
    path = project / "paper" / "index.qmd"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_archive_holds_source_bibliography_and_figures_as_pdf(files: Path):
    names = sorted(path.relative_to(files).as_posix() for path in files.rglob("*.*"))
    assert names == [
        "embedded/notebooks-01_stage-fig-score-0.pdf",
        f"{NAME}.bbl",
        f"{NAME}.tex",
    ]
    assert next(files.rglob("*.pdf")).read_bytes().startswith(b"%PDF-")


def test_every_word_and_number_of_the_article_is_in_the_source(files: Path):
    words = read_back(files / f"{NAME}.tex")
    for sentence in ("The score was 0.63", "over 12,345 pages", "What is planned."):
        wanted = words_of(sentence)
        places = [i for i, word in enumerate(words) if word == wanted[0]]
        assert any(words[i : i + len(wanted)] == wanted for i in places), sentence
    assert words.count("0.55") >= 70 * 11  # the cells of the wide table


def test_numbers_of_figures_tables_and_equations_are_those_of_the_text(files: Path):
    text = source(files)
    for label, shown in (
        ("fig-score", "Figure~1"),
        ("tbl-wide", "Table~1"),
        ("eq-sum", "Equation~1"),
    ):
        assert f"\\hyperref[{label}]{{{shown}}}" in text
        assert f"\\label{{{label}}}" in text
    assert "\\tag{1}" in text
    assert "\\citep{cohen1960}" in text


def test_a_wide_table_gets_columns_no_wider_than_the_line(files: Path):
    table = source(files).split("\\begin{longtable}")[1]
    widths = [float(width) for width in re.findall(r"\\real\{([0-9.]+)\}", table)]
    assert len(widths) == 13
    assert sum(widths) == pytest.approx(1, abs=0.01)
    assert "\\tiny" in source(files)


def test_characters_outside_the_encoding_are_declared(files: Path):
    declared = set(re.findall(r"\\newunicodechar\{(.)\}", source(files)))
    assert "₹" in declared
    used = {c for c in source(files) if not c.isascii() and ord(c) > 0x17F}
    assert used == declared


def test_a_character_that_nothing_prints_stops_with_its_name(project: Path):
    rewrite(project, "₹ 1,200 crore", "漢 1,200 crore")
    with pytest.raises(RgeError, match="CJK UNIFIED IDEOGRAPH-6F22"):
        arxiv_archive(offline())


def test_equal_inputs_give_equal_bytes_without_a_trace_of_the_machine(project: Path):
    first = arxiv_archive(offline()).read_bytes()
    assert arxiv_archive(offline()).read_bytes() == first
    with tarfile.open(arxiv_archive(offline())) as packed:
        for entry in packed:
            assert (entry.uid, entry.gid, entry.uname) == (0, 0, "")
            assert str(project).encode() not in packed.extractfile(entry).read()  # type: ignore[union-attr]


def test_two_works_of_the_same_names_and_year_are_told_apart(tmp_path: Path):
    path = tmp_path / "r.bib"
    path.write_text(
        "@article{b, author={Chen, Bo and Ax, A and B, B}, title={Two}, journal={J}, year={2024}}\n"
        "@article{a, author={Chen, An and Ax, A and B, B}, title={One}, journal={J}, year={2024}}\n"
        "@article{c, author={Dow, D and Eve, E}, title={Three}, journal={J}, year={2020}}\n"
        "@article{unused, author={No, N}, title={Four}, journal={J}, year={2020}}\n",
        encoding="utf-8",
    )
    text = bbl(path, ["a", "b", "c"])
    labels = dict(re.findall(r"\\bibitem\[\{(.*?)\}\]\{(\w+)\}", text))
    assert labels == {
        "Chen et~al.(2024a)": "a",
        "Chen et~al.(2024b)": "b",
        "Dow and Eve(2020)": "c",
    }
    assert "2024a. " in text and "2024b. " in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\label{fig-score}", "", "label fig-score"),
        ("\\citep{cohen1960}", "\\citep{nobody}", "entry nobody"),
        ("fig-score-0.pdf", "fig-gone-0.pdf", "image embedded/notebooks-01_stage-fig-gone-0.pdf"),
        ("\\end{equation}", "", "closes nothing"),
        ("\\end{document}", "", "is not closed"),
    ],
)
def test_a_source_that_names_what_is_not_there_is_refused(
    files: Path, tmp_path: Path, old: str, new: str, message: str
):
    text = source(files)
    assert old in text
    (tmp_path / f"{NAME}.tex").write_text(text.replace(old, new), encoding="utf-8")
    for kept in ("embedded", f"{NAME}.bbl"):
        (tmp_path / kept).symlink_to(files / kept)
    with pytest.raises(RgeError, match=message):
        check_sources(tmp_path)
