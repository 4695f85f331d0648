"""The paper renders from its sources alone, shows what notebooks stored, and stops otherwise."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
import yaml

from paper_project import (
    ROOT,
    SVG,
    code,
    estimate,
    figure,
    make_project,
    offline,
    shown,
    wide_table,
    write_notebook,
    write_result,
)
from rge.errors import RgeError
from rge.paper import Paper, render
from rge.paper.checks import check_labels, check_references
from rge.paper.embed import embed_cell
from rge.paper.shortcodes import expand, split_front_matter
from rge.profile import load_profile


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("RGE_SEED", raising=False)
    root = tmp_path / "repo"
    make_project(root)
    monkeypatch.chdir(root)
    return root


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    """One rendering that tests only read."""
    root = tmp_path_factory.mktemp("paper") / "repo"
    make_project(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return render(offline())


def html_of(project: Path) -> str:
    return render(offline()).html.read_text(encoding="utf-8")


def rewrite(project: Path, old: str, new: str) -> None:
    path = project / "paper" / "index.qmd"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_numbers_and_references_stand_in_the_html(paper: Paper) -> None:
    html = paper.html.read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html)).replace("\u00a0", " ")
    assert "The score was 0.63 (95 % interval [0.55, 0.70]) over 12,345 pages" in text
    assert "See Figure 1, Table 1, Equation 1 and Section 2; Cohen (Cohen 1960) did." in text
    assert "Table 2. What is planned." in text
    assert "{{< var x.y >}}" in html.replace("&lt;", "<").replace("&gt;", ">")


def test_every_link_within_the_html_has_its_target(paper: Paper) -> None:
    html = paper.html.read_text(encoding="utf-8")
    ids = set(re.findall(r'\bid="([^"]+)"', html))
    targets = re.findall(r'href="#([^"]+)"', html)
    assert targets
    assert set(targets) <= ids
    assert len(re.findall(r'\bid="', html)) == len(ids)


def test_the_html_needs_no_network_and_no_other_file(paper: Paper) -> None:
    html = paper.html.read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|srcset)="(?!data:)[^"]*"', html)
    assert "<link" not in html
    assert "url(http" not in html
    assert "<script" not in html


def test_figures_have_alternative_text_and_lead_to_their_notebook(paper: Paper) -> None:
    html = paper.html.read_text(encoding="utf-8")
    assert 'alt="A blue bar &amp; a &quot;quote&quot;."' in html
    page, anchor = re.search(r'href="(notebooks/[^"#]+)#([^"]+)"[^>]*class="source"', html).groups()
    notebook = (paper.html.parent / page).read_text(encoding="utf-8")
    assert f'id="{anchor}"' in notebook
    assert "<th" in notebook
    assert "data:image/svg+xml" in notebook


def test_a_table_too_wide_for_the_screen_scrolls_by_itself(paper: Paper) -> None:
    assert re.search(
        r'<div class="scroll" tabindex="0">\s*<table', paper.html.read_text(encoding="utf-8")
    )


def test_the_pdf_is_a4_with_metadata_and_embedded_fonts(paper: Paper) -> None:
    from pypdf import PdfReader

    reader = PdfReader(paper.pdf)
    width, height = (float(side) for side in reader.pages[0].mediabox[2:])
    assert (width, height) == pytest.approx((595.28, 841.89), abs=0.1)
    assert reader.metadata.title == "A small paper"
    assert reader.metadata.author == "The authors"
    assert reader.metadata.creation_date.date().isoformat() == "2026-01-02"
    for page in reader.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            described = font.get_object()["/DescendantFonts"][0].get_object()["/FontDescriptor"]
            assert {"/FontFile2", "/FontFile3"} & set(described.get_object())


def test_text_of_the_pdf_can_be_selected_and_references_are_numbered(paper: Paper) -> None:
    from pypdf import PdfReader

    text = " ".join(page.extract_text() for page in PdfReader(paper.pdf).pages)
    text = re.sub(r"\s+", " ", text)
    assert "0.63 (95 % interval [0.55, 0.70])" in text
    assert "₹ 1,200 crore" in text
    assert "See Figure 1, Table 1, Equation 1 and Section 2" in text
    assert "1 First part" in text
    assert "Figure 1. Scores by subject." in text


def test_long_and_wide_tables_stay_within_the_pages(paper: Paper) -> None:
    import pdfplumber

    with pdfplumber.open(paper.pdf) as pdf:
        assert len(pdf.pages) > 2
        headed = [page for page in pdf.pages if "column_" in page.extract_text()]
        assert len(headed) > 1, "the header row repeats on every page"
        for page in pdf.pages:
            assert max(char["x1"] for char in page.chars) <= page.width - 60
            assert max(char["bottom"] for char in page.chars) <= page.height - 20
            assert all(image["x1"] <= page.width - 60 for image in page.images)


def test_equal_sources_give_equal_bytes(project: Path) -> None:
    first = render(offline(), out_dir=project / "_build" / "one" / "paper")
    second = render(offline(), out_dir=project / "_build" / "two" / "paper")
    assert first.html.read_bytes() == second.html.read_bytes()
    assert first.pdf.read_bytes() == second.pdf.read_bytes()


def test_a_changed_result_changes_the_paper(project: Path) -> None:
    assert "12,345" in html_of(project)
    write_result(project, "corpus", {"values": {"n_pages": 54321}})
    write_result(project, "estimates", {"estimates": [estimate(0.41)]})
    html = html_of(project)
    assert "54,321" in html
    assert "12,345" not in html
    assert "0.41 (95\u00a0% interval [0.33, 0.48])" in html


def test_an_undefined_estimate_is_said_to_be_undefined(project: Path) -> None:
    record = estimate(None) | {"method": "no scored response"}
    write_result(project, "estimates", {"estimates": [record]})
    assert "The score was undefined (no scored response) over" in html_of(project)


def test_a_second_rendering_of_nothing_new_is_skipped(project: Path) -> None:
    first = render(offline())
    assert not first.skipped
    assert render(offline()).skipped
    first.html.write_text("torn", encoding="utf-8")
    assert not render(offline()).skipped
    write_notebook(
        project / "notebooks" / "01_stage.ipynb",
        [
            figure(SVG.replace("4477aa", "ee6677")),
            code("tbl-wide", "#| tbl-cap: T\n", [shown("text/markdown", wide_table(3, 2))]),
        ],
    )
    assert not render(offline()).skipped


def test_another_profile_renders_beside_and_leaves_the_committed_files_alone(
    project: Path,
) -> None:
    data = yaml.safe_load((project / "configs" / "offline.yaml").read_text(encoding="utf-8"))
    data |= {"name": "other", "run_id": "other-1"}
    (project / "configs" / "other.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    committed = render(offline())
    before = (committed.html.read_bytes(), (project / "_variables.yml").read_bytes())
    (project / "data" / "results" / "offline-1").rename(project / "data" / "results" / "other-1")
    (project / "notebooks").rename(project / "_build" / "other-notebooks")
    profile = load_profile("other")
    profile.notebooks_dir.parent.mkdir(parents=True, exist_ok=True)
    (project / "_build" / "other-notebooks").rename(profile.notebooks_dir)
    paper = render(profile)
    assert paper.html == project / "_build" / "other" / "paper" / "index.html"
    assert (committed.html.read_bytes(), (project / "_variables.yml").read_bytes()) == before


def test_png_output_is_shown_where_there_is_no_svg(project: Path) -> None:
    png = base64.b64encode(
        base64.b64decode(
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
            "rkJggg=="
        )
    ).decode()
    cell = code("fig-score", "#| fig-cap: C\n#| fig-alt: A\n", [shown("image/png", png)])
    table = code("tbl-wide", "#| tbl-cap: T\n", [shown("text/markdown", wide_table(3, 2))])
    write_notebook(project / "notebooks" / "01_stage.ipynb", [cell, table])
    assert "data:image/png" in html_of(project)


BROKEN_ARTICLES = [
    (
        "@fig-score, ",
        "@fig-scores, ",
        r"index.qmd:15: reference @fig-scores leads nowhere; .*fig",
    ),
    ("@cohen1960", "@cohen1961", r"index.qmd:15: citation @cohen1961 is not in references.bib"),
    ("corpus.n_pages", "corpus.n_page", r"index.qmd:11: variable 'corpus.n_page' is not defined"),
    ("corpus.n_pages", "corpus.n_pag", r"close names are corpus.n_pages; .*corpus.json"),
    (
        "{{< var corpus",
        "{{< meta corpus",
        r"index.qmd:11: shortcode 'meta' is not supported; ",
    ),
    ("#fig-score >}}", "#fig-scores >}}", r"index.qmd:19: no cell with label 'fig-scores' in "),
    ("01_stage", "02_stage", r"index.qmd:19: notebook notebooks/02_stage.ipynb does not exist"),
    ("#tbl-wide >}}", "#tbl-wide >}}\nmore", r"index.qmd:23: embed is not alone in its paragraph"),
    ("#tbl-wide >}}", "#tbl-wide echo=true >}}", r"index.qmd:23: embed target .* no options"),
    ("$$ a", "```{python}\n1\n```\n\n$$ a", r"index.qmd:17: a {python} cell would have to be exec"),
    ("$$ a", "![x](no.svg)\n\n$$ a", r"index.qmd:17: image no.svg does not exist"),
    ("$$ a", "![x](../a.svg)\n\n$$ a", r"index.qmd:17: image ../a.svg is not a file beside the"),
    ("{#tbl-plan}", "{#tbl-wide}", r"label 'tbl-wide' stands already at"),
    ("---\ntitle", "title", r"index.qmd:1: no front matter"),
    ('title: "A small', 'title: "A "small', r"index.qmd:2: front matter is not YAML"),
    ("references.bib", "refs.bib", r"refs.bib: no such file"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN_ARTICLES)
def test_an_article_that_points_nowhere_is_refused_with_its_line(
    project: Path, old: str, new: str, message: str
) -> None:
    rewrite(project, old, new)
    with pytest.raises(RgeError, match=message):
        render(offline())


BROKEN_CELLS = [
    ([], "cell notebooks/01_stage.ipynb#fig-score has no stored output"),
    ([{"output_type": "stream", "name": "stdout", "text": "x"}], "prints beside what it shows"),
    ([{"output_type": "error", "ename": "KeyError"}], "the cell raised KeyError"),
    ([shown("text/html", "<b>x</b>")], "shows text/html; SVG, PNG or Markdown output"),
]


@pytest.mark.parametrize(("outputs", "message"), BROKEN_CELLS)
def test_a_cell_that_a_pdf_cannot_show_is_refused(
    project: Path, outputs: list[dict], message: str
) -> None:
    cell = code("fig-score", "#| fig-cap: C\n#| fig-alt: A\n", outputs)
    write_notebook(project / "notebooks" / "01_stage.ipynb", [cell])
    with pytest.raises(RgeError, match=re.escape(message)):
        render(offline())


@pytest.mark.parametrize("missing", ["fig-cap", "fig-alt"])
def test_a_figure_without_caption_or_alt_text_is_refused(tmp_path: Path, missing: str) -> None:
    kept = {"fig-cap", "fig-alt"} - {missing}
    options = "".join(f"#| {name}: text\n" for name in kept)
    notebook = tmp_path / "a.ipynb"
    write_notebook(notebook, [code("fig-a", options, [shown("image/svg+xml", SVG)])])
    with pytest.raises(RgeError, match=f"a.ipynb#fig-a: the cell has no {missing}"):
        embed_cell(notebook, "fig-a", "index.qmd:1", tmp_path, "a.ipynb")


def test_a_label_that_stands_twice_in_a_notebook_is_refused(tmp_path: Path) -> None:
    notebook = tmp_path / "a.ipynb"
    cell = code("tbl-a", "#| tbl-cap: T\n", [shown("text/markdown", "|a|\n|-|\n|1|")])
    write_notebook(notebook, [cell, cell])
    with pytest.raises(RgeError, match="has 2 cells with label 'tbl-a'"):
        embed_cell(notebook, "tbl-a", "index.qmd:1", tmp_path, "a.ipynb")


def test_a_failed_rendering_does_not_pass_for_the_last_good_one(project: Path) -> None:
    render(offline())
    rewrite(project, "@cohen1960", "@cohen1961")
    for _ in range(2):
        with pytest.raises(RgeError):
            render(offline())


def test_references_and_citations_of_the_article_in_this_repository_resolve() -> None:
    path = ROOT / "paper" / "index.qmd"
    meta, lines = split_front_matter(path.read_text(encoding="utf-8"), "index.qmd")
    embedded: list[tuple[str, str]] = []

    def note(place: str, target: str) -> str:
        embedded.append((place, target.partition("#")[2]))
        return ""

    names = re.findall(r"\{\{< var (\S+) >\}\}", "\n".join(lines))
    variables: dict = {}
    for name in names:
        node = variables
        *parents, leaf = name.split(".")
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = "x"
    expand(lines, "index.qmd", variables, note)
    labels = check_labels(lines, embedded, "index.qmd")
    check_references(lines, labels, path.parent / meta["bibliography"], "index.qmd")
    text = "\n".join(lines)
    unused = [label for _, label in embedded if f"@{label}" not in text]
    assert embedded
    assert not unused, "every embedded figure and table is spoken of"


def test_sections_of_the_article_stand_in_the_registered_order() -> None:
    text = (ROOT / "paper" / "index.qmd").read_text(encoding="utf-8")
    titles = re.findall(r"^# ([^{\n]+?)\s*\{", text, re.MULTILINE)
    assert titles == [
        "Abstract",
        "Research questions",
        "Corpus",
        "Question taxonomy",
        "Scoring rubric",
        "Judging protocol",
        "Judge prompt",
        "Experimental protocol",
        "Statistical methodology",
        "Reproducibility",
        "Ethics and dual use",
        "Limitations",
        "Results",
        "References",
    ]


def test_the_site_of_this_repository_lists_its_paper_and_runs_nothing() -> None:
    site = yaml.safe_load((ROOT / "_quarto.yml").read_text(encoding="utf-8"))
    assert site["project"]["type"] == "website"
    assert "paper/index.qmd" in site["project"]["render"]
    assert site["execute"] == {"enabled": False}
