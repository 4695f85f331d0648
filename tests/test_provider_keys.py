"""A key is planted, everything goes wrong that can, and then everything is searched for it."""

import logging
import os
from pathlib import Path
from typing import Any

import pytest

from loopback import Fault, Loopback
from loopback.study import ASKED, KEY, ask, batching, calling, requests, study, subject
from rge.errors import RgeError, UsageError
from rge.providers.hosted import checked_service, with_more_room
from rge.providers.options import checked_url
from rge.specs import SubjectSpec

SECRET = "sk-planted-d41d8cd98f00b204e9800998ecf8427e"
ECHO = {"error": {"message": f"{'x' * 180} Incorrect API key provided: {SECRET}. Check it."}}
FAULTS = {
    "refused": Fault(401, ECHO),
    "server error": Fault(500, ECHO),
    "odd request": Fault(400, ECHO),
    "page": Fault(body=f"<html>{'x' * 60}{SECRET}</html>".encode()),
    "page with status": Fault(502, f"<html>{SECRET}</html>".encode()),  # type: ignore[arg-type]
    "cut": Fault(drop=True),
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)


@pytest.mark.parametrize("provider", ASKED)
def test_the_key_is_in_no_file_log_message_or_error(tmp_path: Path, provider: str, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    # The provider repeats the key in its reply.
    server = Loopback(lambda system, user, has_schema: f"your key is {SECRET}")
    said = []
    for number, (name, fault) in enumerate(FAULTS.items()):
        for mode in ("send", "create", "poll", "results"):
            server.faults[f"{provider}:{mode}"].append(fault)
            profile = study(tmp_path / f"{number}-{mode}", subject(provider, server.url))
            try:
                with calling(profile) as caller:
                    if mode == "send":
                        said.append(repr(caller.ask("q0", requests(1)["q0"], with_more_room)))
                    with batching(caller, profile) as batches:
                        said.append(repr(dict(batches.replies(requests(2), with_more_room))))
            except RgeError as error:
                said.append(f"{name}: {error!r} {error.__cause__!r} {error.__context__!r}")
    server.close()
    out, err = capfd.readouterr()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    everything = "\n".join(
        [out, err, caplog.text, *said, *(path.read_text(encoding="utf-8") for path in files)]
    )
    assert "[key]" in everything  # the search finds what was hidden
    assert len(files) > 40
    # No part of it either: messages are shortened.
    assert SECRET[:15] not in everything
    assert SECRET[-15:] not in everything


def test_the_key_is_in_no_output_of_a_notebook(tmp_path: Path, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    server = Loopback(lambda *_: f"your key is {SECRET}")
    server.faults["openai:send"].append(Fault(401, ECHO))
    here = Path(__file__).parent
    cell = f"""
import sys
sys.path[:0] = [{str(here)!r}, {str(here.parent / "lib")!r}]
from pathlib import Path
from loopback.study import *
profile = study(Path({str(tmp_path)!r}), subject("openai", {server.url!r}, batch=False))
ask(profile, requests(2))
"""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for _ in range(2)],
        metadata={"kernelspec": {"name": "python3", "display_name": "", "language": "python"}},
    )
    NotebookClient(notebook, allow_errors=True, timeout=60).execute()
    server.close()
    first, second = (str(cell["outputs"]) for cell in notebook["cells"])
    assert "finished responses are kept" in first  # a traceback
    assert "your key is [key]" in second  # run twice in one kernel
    assert SECRET[:15] not in first + second


@pytest.mark.parametrize("provider", ASKED)
def test_a_key_where_a_name_belongs_is_refused_and_not_shown(tmp_path: Path, provider: str):
    spec = subject(provider, "http://127.0.0.1:1", key=SECRET)
    with pytest.raises(UsageError, match="name of an environment variable") as caught:
        checked_service(study(tmp_path, spec), spec)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("value", ["", "  ", "sk with spaces", "sk-…-é", "sk\nsk"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(
    tmp_path: Path, monkeypatch, value: str
):
    monkeypatch.setenv(KEY, value)
    spec = subject("openai", "http://127.0.0.1:1")
    with pytest.raises(UsageError, match=KEY) as caught:
        checked_service(study(tmp_path, spec), spec)
    assert not value.strip() or value not in str(caught.value)


@pytest.mark.parametrize("url", ["http://me:pw@h/v1", "http://h/v1?key=pw", "http://:pw@/v1", "pw"])
def test_a_url_with_a_secret_is_refused_and_not_shown(url: str):
    with pytest.raises(UsageError) as caught:
        checked_url("model x", url)
    if url != "pw":
        assert "pw" not in str(caught.value)


def test_no_key_is_needed_to_read_what_is_stored(tmp_path: Path, monkeypatch):
    server = Loopback(lambda *_: "answer")
    profile = study(tmp_path, subject("openai", server.url))
    first = ask(profile, requests(3))
    monkeypatch.delenv(KEY)
    assert ask(profile, requests(3)) == first
    server.close()
    assert KEY not in os.environ


def test_params_name_neither_key_nor_variable(tmp_path: Path):
    spec: SubjectSpec = subject("anthropic", "http://127.0.0.1:1")
    params: dict[str, Any] = checked_service(study(tmp_path, spec), spec).params
    assert SECRET not in str(params)
