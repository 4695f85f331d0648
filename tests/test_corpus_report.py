import pytest

from pdf_maker import make_pdf
from rge import figures
from rge.corpus.sources import corpus_sources
from rge.reports import corpus_report
from rge.retrieval.index import open_index
from small_corpus import PAGES, small_profile


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    profile = small_profile(tmp_path_factory.mktemp("corpus"))
    path = profile.root / "zenith-FY24.pdf"
    make_pdf(path, [[(60, 780, "Zenith handled 212 million tonnes of cargo.")], []])
    return corpus_sources(profile), open_index(profile)


def test_the_rows_of_the_documents_sum_to_the_corpus(corpus):
    sources, index = corpus
    table = corpus_report.documents(sources, index)
    assert list(table.document) == list(PAGES)
    assert table.pages.sum() == len(index.pages) == 6
    assert table.chunks.sum() == len(index.chunks)
    assert (table.pypdf + table.pdfplumber == table.pages).all()
    assert table.characters.sum() == sum(len(page.text) for page in index.pages)


def test_a_page_with_a_problem_is_named_and_counted(corpus):
    sources, index = corpus
    table = corpus_report.documents(sources, index)
    assert list(table.problems) == ["none", "none", "no text: 1"]
    (row,) = corpus_report.problem_pages(index).to_dict(orient="records")
    assert (row["document"], row["page"], row["problems"]) == ("zenith-FY24", 2, "no text")


def test_the_numbers_of_the_paper_agree_with_the_index(corpus):
    sources, index = corpus
    values = corpus_report.values(corpus_report.documents(sources, index), sources, index)
    assert (values["n_documents"], values["n_companies"], values["n_pages"]) == (3, 2, 6)
    assert values["n_chunks"] == len(index.chunks)
    assert values["n_pages_with_problems"] == 1
    text = corpus_report.answer(values, index)
    assert "3 documents gave 6 pages" in text and "1 with no text" in text


def test_the_histogram_counts_every_chunk(corpus):
    _, index = corpus
    _, [ax] = figures.new(2)
    corpus_report.draw_chunks(ax, index, 40)
    assert sum(patch.get_height() for patch in ax.patches) == len(index.chunks)
