from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from rge import notebooks
from rge.errors import RgeError, UsageError
from rge.profile import find_root

ROOT = find_root(Path(__file__).parent)
COMMITTED = notebooks.numbered(ROOT / "notebooks")


def save(path, *cells):
    nbformat.write(new_notebook(cells=list(cells)), path)
    return path


def tagged(source):
    return new_code_cell(source, metadata={"tags": ["parameters"]})


def test_the_eight_notebooks_are_there_in_order():
    assert [path.name[:2] for path in COMMITTED] == [f"{n:02d}" for n in range(1, 9)]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda p: p.stem)
def test_a_committed_notebook_is_executed_and_normalised(path):
    notebook = notebooks.read(path)
    assert nbformat.writes(notebooks.normalised(notebook)) + "\n" == path.read_text("utf-8")
    code = [c for c in notebook.cells if c.cell_type == "code"]
    assert all(c.execution_count for c in code)
    assert notebooks.failure(path) is None
    assert any(c.outputs for c in code)


@pytest.mark.parametrize("path", COMMITTED, ids=lambda p: p.stem)
def test_a_committed_notebook_keeps_the_house_style(path):
    code = [c for c in notebooks.read(path).cells if c.cell_type == "code"]
    assert "profile" in notebooks.parameters(path)
    assert 6 <= len(code) <= 15
    assert max(len(c.source.splitlines()) for c in code) <= 20
    assert not [c for c in code if c.source.lstrip().startswith(("def ", "class "))]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda p: p.stem)
def test_tables_reach_the_paper_as_markdown_not_html(path):
    code = [c for c in notebooks.read(path).cells if c.cell_type == "code"]
    outputs = [o for c in code if "#| label: tbl-" in c.source for o in c.outputs]
    assert all("text/markdown" in o.data for o in outputs)


def test_a_parameter_that_does_not_exist_is_refused(tmp_path):
    path = save(tmp_path / "01_a.ipynb", tagged("chunk_size = None  # tokens"))
    with pytest.raises(UsageError, match="no parameter 'chunk_sizes'; parameters are chunk_size"):
        notebooks.check_parameters(path, {"chunk_sizes": 4})


def test_a_notebook_without_the_tag_is_refused(tmp_path):
    path = save(tmp_path / "01_a.ipynb", new_code_cell("a = 1"))
    with pytest.raises(RgeError, match="0 cells are tagged 'parameters'; one; tag the cell"):
        notebooks.parameters(path)


def test_parameters_are_plain_literals(tmp_path):
    path = save(tmp_path / "01_a.ipynb", tagged('a = 1\nb = ["x"]\nc = None\nd = -1.5'))
    assert notebooks.parameters(path) == {"a": 1, "b": ["x"], "c": None, "d": -1.5}
    path = save(tmp_path / "02_a.ipynb", tagged("a = open('x')"))
    with pytest.raises(RgeError, match="parameter a is not a literal"):
        notebooks.parameters(path)


def test_the_digest_follows_the_source_and_not_the_outputs(tmp_path):
    cell = new_code_cell("1 + 1")
    first = notebooks.digest(save(tmp_path / "01_a.ipynb", cell))
    cell.outputs = [new_output("execute_result", data={"text/plain": "2"})]
    assert notebooks.digest(save(tmp_path / "02_a.ipynb", cell)) == first
    cell.source = "1 + 2"
    assert notebooks.digest(save(tmp_path / "03_a.ipynb", cell)) != first


def test_normalising_drops_noise_keeps_results_and_is_idempotent():
    cell = new_code_cell("show()", execution_count=17, metadata={"execution": {"x": "12:00"}})
    cell.outputs = [
        new_output("stream", name="stderr", text="100%|█| 3/3 [00:01<00:00]"),
        new_output("stream", name="stdout", text="kept"),
        new_output("execute_result", data={"text/plain": "2"}, execution_count=17),
    ]
    notebook = new_notebook(cells=[new_markdown_cell("# t"), cell])
    notebook.metadata["papermill"] = {"duration": 3.2}
    clean = notebooks.normalised(notebook)
    assert [o.output_type for o in clean.cells[1].outputs] == ["stream", "execute_result"]
    assert clean.cells[1].execution_count == 1
    assert "papermill" not in clean.metadata
    assert "execution" not in clean.cells[1].metadata
    assert notebooks.normalised(clean) == clean


def test_a_failed_cell_is_found_with_its_message(tmp_path):
    cell = new_code_cell("raise ValueError('no')")
    cell.outputs = [new_output("error", ename="ValueError", evalue="no", traceback=[])]
    path = save(tmp_path / "01_a.ipynb", new_markdown_cell("t"), cell)
    assert notebooks.failure(path) == (2, "ValueError", "no")


def test_something_else_is_not_a_notebook(tmp_path):
    path = tmp_path / "01_a.ipynb"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(RgeError, match="not a notebook"):
        notebooks.read(path)
    with pytest.raises(RgeError, match="no such notebook"):
        notebooks.read(tmp_path / "02_a.ipynb")


def test_every_notebook_takes_what_shapes_a_study():
    """A notebook without one of them would read the results of another study."""
    shaping = {"profile", "chunk_size", "chunk_overlap", "top_k", "embedder", "corpus_folder"}
    shaping |= {"subjects", "limit_questions", "seed"}
    lacking = {p.name: shaping - set(notebooks.parameters(p)) for p in COMMITTED}
    assert {name: missing for name, missing in lacking.items() if missing} == {}
