import subprocess
import sys
import time

import pytest

from rge.cli import main


def test_an_unknown_profile_ends_with_one_line_and_code_2(capsys):
    assert main(["eval", "run", "--config", "nope"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("rge: nope: no such profile; profiles are ")
    assert error.count("\n") == 1


def test_an_unknown_parameter_ends_with_one_line_and_code_2(capsys):
    assert main(["eval", "run", "-p", "chunk_sizes", "4"]) == 2
    assert "parameter chunk_sizes: unknown; parameters are" in capsys.readouterr().err


def test_wrong_words_are_usage_errors():
    with pytest.raises(SystemExit) as caught:
        main(["eval", "runs"])
    assert caught.value.code == 2


def test_debug_shows_the_traceback_wherever_it_stands():
    with pytest.raises(Exception, match="no such profile"):
        main(["eval", "run", "--config", "nope", "--debug"])


def test_a_dry_run_prints_the_plan_and_runs_nothing(capsys):
    assert main(["eval", "run", "--dry-run"]) == 0
    assert "reader-lexical: " in capsys.readouterr().out


def test_importing_rge_and_its_command_line_loads_nothing_heavy():
    code = (
        "import sys, rge, rge.cli; "
        "print([m for m in ('torch','chromadb','pandas','numpy','scipy','openai','anthropic',"
        "'google.genai','pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_rge_is_cheap():
    """Under 0.3 s; the best of five, so that a busy machine does not decide."""
    code = "import time; t = time.perf_counter(); import rge; print(time.perf_counter() - t)"
    seconds = []
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        seconds.append(float(done.stdout))
        time.sleep(0.01)
    assert min(seconds) < 0.3
