"""The runner on a small project of its own, with real kernels."""

import os
import signal
import subprocess
import sys
import time

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_notebook

from rge import pipeline
from rge.errors import RgeError, UsageError
from rge.profile import load_profile

TOY = {
    "name": "toy",
    "run_id": "toy-1",
    "seed": 1,
    "corpus": {"kind": "invented", "folder": "data/corpus"},
    "chunking": {"encoding": "cl100k_base", "size": 10, "overlap": 0},
    "retrieval": {"embedder": "x", "top_k": 5},
    "subjects": [{"name": "s", "kind": "reader-lexical", "family": "s", "runs": 1}],
    "judges": [{"name": "rules", "kind": "rules", "family": "rules"}],
    "analysis": {"n_resamples": 100, "confidence_level": 0.95},
}
# Each kernel leaves a line, so a test can count how often a notebook ran.
COUNT = "open('ran.txt', 'a', encoding='utf-8').write('{}\\n')"


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "configs").mkdir()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "configs/toy.yaml").write_text(yaml.safe_dump(TOY), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    notebook(tmp_path, "01_one", "n = 2")
    notebook(
        tmp_path,
        "02_two",
        "print(n_resamples)",
        parameters='profile = "offline"\nn_resamples = None',
    )
    return tmp_path


def notebook(root, name, source, parameters='profile = "offline"'):
    cells = [
        new_code_cell(parameters, id="parameters", metadata={"tags": ["parameters"]}),
        new_code_cell(COUNT.format(name), id="count"),
        new_code_cell(source, id="source"),
    ]
    path = root / "notebooks" / f"{name}.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def ran(root):
    return (root / "ran.txt").read_text(encoding="utf-8").split()


def test_notebooks_run_in_order_and_a_second_run_starts_no_kernel(project):
    profile = load_profile("toy")
    paths = pipeline.run(profile)
    assert ran(project) == ["01_one", "02_two"]
    assert all(p.is_relative_to(project / "_build/toy/notebooks") for p in paths)
    pipeline.run(profile)
    assert ran(project) == ["01_one", "02_two"]


def test_progress_reaches_the_terminal_and_not_the_notebook(project):
    notebook(project, "01_one", "import sys\nprint('half way', file=sys.stderr, flush=True)")
    command = [sys.executable, "-m", "rge", "eval", "run", "--config", "toy", "--to", "1"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert "half way" in done.stderr
    stored = (project / "_build/toy/notebooks/01_one.ipynb").read_text(encoding="utf-8")
    assert '"stderr"' not in stored


def test_a_changed_notebook_runs_again_with_those_after_it(project):
    profile = load_profile("toy")
    pipeline.run(profile)
    notebook(project, "02_two", "print(3)")
    pipeline.run(profile)
    assert ran(project) == ["01_one", "02_two", "02_two"]
    notebook(project, "01_one", "n = 3")
    pipeline.run(profile)
    assert ran(project)[3:] == ["01_one", "02_two"]


def test_a_result_that_went_missing_is_made_again(project):
    profile = load_profile("toy")
    pipeline.run(profile)
    (profile.notebooks_dir / "02_two.ipynb").unlink()
    pipeline.run(profile)
    assert (profile.notebooks_dir / "02_two.ipynb").exists()


def test_parameters_reach_the_notebooks_that_have_them(project):
    profile = load_profile("toy", n_resamples=500)
    path = pipeline.run(profile, parameters={"n_resamples": 500})[-1]
    outputs = nbformat.read(path, 4).cells[-1].outputs
    assert [o.text for o in outputs] == ["500\n"]


def test_an_unknown_parameter_is_refused_before_anything_runs(project):
    with pytest.raises(UsageError, match="no parameter 'n_resample'; parameters are profile, n_"):
        pipeline.run(load_profile("toy"), parameters={"n_resample": 500})
    assert not (project / "ran.txt").exists()


def test_a_failing_cell_is_one_line_and_keeps_what_was_done(project):
    notebook(
        project,
        "02_two",
        "from rge.errors import RgeError\nraise RgeError('a.pdf', 'is missing', do='fetch it')",
    )
    profile = load_profile("toy")
    with pytest.raises(RgeError, match=r"^02_two.ipynb, cell 3: a.pdf: is missing; fetch it$"):
        pipeline.run(profile)
    notebook(project, "02_two", "n = 1")
    pipeline.run(profile)
    assert ran(project) == ["01_one", "02_two", "02_two"]


def test_a_killed_run_is_finished_by_the_next(project):
    notebook(
        project,
        "02_two",
        "import time, pathlib\nif not pathlib.Path('go').exists(): time.sleep(600)",
    )
    command = [sys.executable, "-m", "rge", "eval", "run", "--config", "toy"]
    process = subprocess.Popen(command, cwd=project, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (project / "ran.txt").exists() and len(ran(project)) == 2:
            break
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (project / "go").touch()
    pipeline.run(load_profile("toy"))
    assert ran(project) == ["01_one", "02_two", "02_two"]


def test_a_second_run_of_one_profile_is_told_at_once(project):
    profile = load_profile("toy")
    with (
        pipeline._only_run(profile),
        pytest.raises(RgeError, match="profile toy is running already"),
    ):
        pipeline.run(profile)


def test_a_range_of_notebooks_can_be_chosen(project):
    pipeline.run(load_profile("toy"), first=2, last=2)
    assert ran(project) == ["02_two"]
    with pytest.raises(UsageError, match="no notebook from 05 to 07; there are 01, 02"):
        pipeline.run(load_profile("toy"), first=5, last=7)


def test_setting_aside_moves_results_and_deletes_none(project):
    profile = load_profile("toy")
    profile.results_dir.mkdir(parents=True)
    (profile.results_dir / "a.json").write_text("{}", encoding="utf-8")
    profile.responses_path("s").write_text("kept\n", encoding="utf-8")
    target = pipeline.set_aside(profile)
    assert not profile.responses_path("s").exists()
    assert (target / profile.responses_path("s").name).read_text(encoding="utf-8") == "kept\n"
    assert (target / profile.run_id / "a.json").exists()
    assert pipeline.set_aside(profile) is None
