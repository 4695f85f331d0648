import subprocess
import sys
from pathlib import Path

import pypdf
import pytest

from pdf_maker import column, make_pdf
from rge.corpus.extract import VERSION, extract_pdf, read_documents, read_pages
from rge.errors import RgeError
from rge.records import Page
from rge.store import read_jsonl, sha256_file, write_jsonl

LEFT = "The left column tells of ports and of the cargo they handled during the whole year."
RIGHT = "The right column lists directors who joined and left the board in the same year."


def locked(path: Path, user: str) -> Path:
    writer = pypdf.PdfWriter(clone_from=make_pdf(path, [column(LEFT)]))
    writer.encrypt(user_password=user, owner_password="owner", algorithm="AES-256")
    writer.write(path)
    return path


def test_each_page_carries_its_number_and_its_own_text(tmp_path):
    pages = extract_pdf(make_pdf(tmp_path / "a.pdf", [column(LEFT), column(RIGHT)]), "a-FY24")
    assert [page.page for page in pages] == [1, 2]
    assert [" ".join(page.text.split()) for page in pages] == [LEFT, RIGHT]
    assert {(page.doc_id, page.method, page.problems) for page in pages} == {
        ("a-FY24", "pypdf", ())
    }


def test_two_columns_are_read_one_after_the_other(tmp_path):
    drawn = column(LEFT, width=30) + column(RIGHT, x=320, width=30)
    (page,) = extract_pdf(make_pdf(tmp_path / "a.pdf", [drawn]), "a")
    assert " ".join(page.text.split()) == f"{LEFT} {RIGHT}"


def test_a_table_drawn_column_by_column_is_put_together_by_rows_and_says_so(tmp_path):
    rows = [(f"Expense of kind {i}", f"{i + 1},117", f"({i}9)") for i in range(20)]
    # Cells of a column first: the stream holds every cell on a line of its own.
    drawn = [(60 + 180 * c, 760 - 14 * r, row[c]) for c in range(3) for r, row in enumerate(rows)]
    (page,) = extract_pdf(make_pdf(tmp_path / "a.pdf", [drawn]), "a")
    assert (page.method, page.repairs) == ("pypdf", ("broken rows",))
    assert page.text.split("\n") == [" ".join(row) for row in rows]


def test_a_page_without_text_is_flagged_and_the_others_go_on(tmp_path):
    pages = extract_pdf(make_pdf(tmp_path / "a.pdf", [[], column(LEFT)]), "a")
    assert [page.problems for page in pages] == [("no text",), ()]


def test_a_file_locked_with_an_empty_password_opens(tmp_path):
    (page,) = extract_pdf(locked(tmp_path / "a.pdf", ""), "a")
    assert " ".join(page.text.split()) == LEFT


def test_a_file_locked_with_a_password_is_one_clear_error(tmp_path):
    with pytest.raises(RgeError, match=r"a\.pdf: is protected by a password; put a copy"):
        extract_pdf(locked(tmp_path / "a.pdf", "secret"), "a")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"a\.pdf: no such file; put the document there"),
        (b"", r"a\.pdf: is empty; get the document again"),
        (b"<html>404 not found</html>" * 50, r"a\.pdf: not a readable PDF .*; a whole PDF file"),
        (b"%PDF-1.4\n%%EOF\n", r"a\.pdf: not a readable PDF .*; a whole PDF file"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_error_that_names_it(tmp_path, content, message):
    path = tmp_path / "a.pdf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RgeError, match=message):
        extract_pdf(path, "a")


def test_a_cut_off_file_is_an_error_or_gives_the_pages_it_still_has(tmp_path):
    whole = make_pdf(tmp_path / "a.pdf", [column(LEFT)] * 3).read_bytes()
    (tmp_path / "a.pdf").write_bytes(whole[: len(whole) // 2])
    try:
        pages = extract_pdf(tmp_path / "a.pdf", "a")
    except RgeError as error:
        assert "a.pdf: not a readable PDF" in str(error)
    else:
        assert all(page.text or page.problems for page in pages)


def test_pages_of_the_same_file_are_read_once_whatever_the_document_is_called(tmp_path):
    path, cache = make_pdf(tmp_path / "a.pdf", [column(LEFT)]), tmp_path / "pages"
    first = read_pages(path, "a", cache)
    stored = cache / f"{sha256_file(path)}-{VERSION}.jsonl"
    assert read_jsonl(stored, Page) == first
    write_jsonl(stored, [first[0].model_copy(update={"text": "from the cache"})])
    (again,) = read_pages(path, "b", cache)
    assert (again.doc_id, again.text) == ("b", "from the cache")


def test_a_changed_file_is_read_again(tmp_path):
    cache = tmp_path / "pages"
    read_pages(make_pdf(tmp_path / "a.pdf", [column(LEFT)]), "a", cache)
    (page,) = read_pages(make_pdf(tmp_path / "a.pdf", [column(RIGHT)]), "a", cache)
    assert " ".join(page.text.split()) == RIGHT


def test_a_file_that_cannot_be_read_does_not_stop_the_others(tmp_path):
    (tmp_path / "bad.pdf").write_bytes(b"")
    files = {
        "bad": tmp_path / "bad.pdf",
        "good": make_pdf(tmp_path / "good.pdf", [column(LEFT)]),
        "none": tmp_path / "none.pdf",
    }
    pages, errors = read_documents(files, tmp_path / "cache")
    assert list(pages) == ["good"] and list(errors) == ["bad", "none"]
    assert "bad.pdf: is empty" in str(errors["bad"])


def test_several_processes_give_the_pages_of_one_in_the_same_order(tmp_path):
    files = {
        name: make_pdf(tmp_path / f"{name}.pdf", [column(f"{LEFT} Page {i}.") for i in range(n)])
        for name, n in (("a", 40), ("b", 20))
    }
    alone, _ = read_documents(files, None, n_workers=1)
    together, _ = read_documents(files, None, n_workers=2)
    assert together == alone
    assert [page.page for page in together["a"]] == list(range(1, 41))


def test_pages_of_a_worker_that_died_are_read_here(tmp_path, monkeypatch):
    path = make_pdf(tmp_path / "a.pdf", [column(LEFT)] * 40)
    monkeypatch.setattr("sys.executable", "/bin/true")
    pages = extract_pdf(path, "a", n_workers=2)
    assert [page.page for page in pages] == list(range(1, 41))


def test_a_worker_ends_when_its_input_closes():
    done = subprocess.run(
        [sys.executable, "-m", "rge.corpus.workers"], input=b"", capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, b"")
