import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rge.collect import Counts, collect, collect_all
from rge.errors import RgeError, UsageError
from rge.profile import Profile
from rge.prompting import build_prompt
from rge.records import Chunk, Question, Response, Retrieval
from rge.retrieval.retrieve import Frozen
from rge.specs import SubjectSpec
from rge.store import read_jsonl
from rge.subjects.readers import ABSTENTION

LEXICAL = SubjectSpec(
    name="lexical",
    kind="reader-lexical",
    family="lexical",
    runs=1,
    options={"threshold": 0.2},
)
TEXTS = ("Revenue was ₹ 9 crore.", "The Board met nine times.", "Employees numbered 4,567.")
ASKED = ("What was revenue?", "How often did the Board meet?", "Size of the hydrogen subsidy?")


def questions() -> list[Question]:
    return [
        Question(
            id=f"q{number}",
            version=1,
            category="direct",
            text=text,
            gold_answer="g",
            expected_behavior="answer",
            company="acme",
            fy="FY24",
            difficulty="easy",
        )
        for number, text in enumerate(ASKED)
    ]


def frozen(texts: tuple[str, ...] = TEXTS) -> Frozen:
    chunks = [
        Chunk(
            chunk_id=f"acme-FY24-{number:08x}",
            company="acme",
            fy="FY24",
            doc_id="acme-FY24",
            page_start=1,
            page_end=1,
            heading="",
            text=text,
            n_tokens=9,
        )
        for number, text in enumerate(texts)
    ]
    ids = tuple(chunk.chunk_id for chunk in chunks)
    retrievals = [
        Retrieval(
            question_id=f"q{number}",
            chunk_ids=ids,
            distances=(0.1,) * len(ids),
            index_sha256="0" * 64,
            gold_in_context="none",
        )
        for number in range(len(ASKED))
    ]
    return Frozen({r.question_id: r for r in retrievals}, {c.chunk_id: c for c in chunks})


def make_profile(root: Path, *subjects: SubjectSpec) -> Profile:
    return Profile(
        name="test",
        run_id="test-1",
        seed=1,
        corpus={"kind": "invented", "folder": root},
        chunking={"encoding": "cl100k_base", "size": 200, "overlap": 25},
        retrieval={"embedder": "all-MiniLM-L6-v2", "top_k": 5},
        subjects=subjects,
        judges=[],
        analysis={"n_resamples": 100, "confidence_level": 0.95},
        root=root,
        results_folder=root / "results",
        source=root / "test.yaml",
    )


def stored(profile: Profile, subject: str = "lexical") -> list[Response]:
    return read_jsonl(profile.responses_path(subject), Response, lambda r: r.key)


def served(url: str, **options: object) -> SubjectSpec:
    return SubjectSpec(
        name="served",
        kind="openai-compatible",
        family="tiny",
        runs=1,
        options={"base_url": url, "model": "tiny", **options},
    )


class Server:
    """Answers with the number of the request; some numbers fail, each takes `delay_s`."""

    def __init__(self) -> None:
        self.failing: set[int] = set()
        self.delay_s = 0.0
        self.n_asked = self.n_open = self.most_open = 0
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(200, {"object": "list", "data": []})

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                with outer.lock:
                    number = outer.n_asked
                    outer.n_asked += 1
                    outer.n_open += 1
                    outer.most_open = max(outer.most_open, outer.n_open)
                time.sleep(outer.delay_s)
                with outer.lock:
                    outer.n_open -= 1
                if number in outer.failing:
                    self._send(500, {"error": {"message": "boom"}})
                    return
                message = {"role": "assistant", "content": f"answer {number}"}
                choice = {"index": 0, "finish_reason": "stop", "message": message}
                self._send(200, {"model": "tiny-1", "choices": [choice]})

            def _send(self, code: int, body: object) -> None:
                data = json.dumps(body).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                try:
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    return

            def log_message(self, *args: object) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


def test_every_question_is_stored_with_what_was_sent_and_read(tmp_path: Path):
    profile = make_profile(tmp_path, LEXICAL)
    assert collect(profile, LEXICAL, questions(), frozen()) == Counts(3, 0, 0)
    revenue, _, hydrogen = stored(profile)
    passages = frozen().passages("q0")
    assert revenue.prompt_sha256 == build_prompt(questions()[0], passages).sha256
    assert revenue.citations == ("acme-FY24-00000000",)
    assert (revenue.abstained, hydrogen.abstained) == ("answered", "refused")
    assert hydrogen.text == ABSTENTION
    assert revenue.params["threshold"] == 0.2
    assert revenue.run_id == "test-1"
    assert revenue.created_at.endswith("Z")


def test_a_rerun_asks_nothing_again_and_leaves_the_file_as_it_is(tmp_path: Path):
    profile = make_profile(tmp_path, LEXICAL)
    collect(profile, LEXICAL, questions(), frozen())
    before = profile.responses_path("lexical").read_bytes()
    assert collect(profile, LEXICAL, questions(), frozen()) == Counts(0, 3, 0)
    assert profile.responses_path("lexical").read_bytes() == before


def test_only_missing_runs_are_asked(tmp_path: Path):
    profile = make_profile(tmp_path, LEXICAL)
    collect(profile, LEXICAL, questions()[:2], frozen())
    thrice = LEXICAL.model_copy(update={"runs": 3})
    assert collect(profile, thrice, questions(), frozen()) == Counts(7, 2, 0)
    keys = [response.key for response in stored(profile)]
    assert len(set(keys)) == 9


def test_counts_end_on_stderr_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    collect(make_profile(tmp_path, LEXICAL), LEXICAL, questions(), frozen())
    captured = capsys.readouterr()
    assert captured.err.splitlines()[-1] == "lexical: 3 new, 0 already done, 0 failed"
    assert captured.out == ""


def test_a_response_to_another_prompt_is_refused_and_kept(tmp_path: Path):
    profile = make_profile(tmp_path, LEXICAL)
    collect(profile, LEXICAL, questions(), frozen())
    before = profile.responses_path("lexical").read_bytes()
    changed = frozen((*TEXTS[:2], "Employees numbered 4,568."))
    with pytest.raises(RgeError, match=r"\('q0', 'lexical', 0\) was made with prompt_sha256"):
        collect(profile, LEXICAL, questions(), changed)
    assert profile.responses_path("lexical").read_bytes() == before


def test_a_response_with_other_parameters_is_refused(tmp_path: Path):
    profile = make_profile(tmp_path, LEXICAL)
    collect(profile, LEXICAL, questions(), frozen())
    other = LEXICAL.model_copy(update={"options": {"threshold": 0.3}})
    expected = r"was made with threshold 0\.2, today it is 0\.3; .*new run_id, or .* --fresh"
    with pytest.raises(RgeError, match=expected):
        collect(profile, other, questions(), frozen())


def test_stored_responses_that_are_not_planned_today_do_not_matter(tmp_path: Path):
    profile = make_profile(tmp_path, LEXICAL)
    collect(profile, LEXICAL, questions(), frozen())
    assert collect(profile, LEXICAL, questions()[1:], frozen()) == Counts(0, 2, 0)


def test_a_failed_question_is_a_record_and_the_rest_goes_on(server: Server, tmp_path: Path):
    server.failing = {1}
    spec = served(server.url)
    profile = make_profile(tmp_path, spec)
    assert collect(profile, spec, questions(), frozen()) == Counts(3, 0, 1)
    failed = stored(profile, "served")[1]
    assert (failed.status, failed.text, failed.abstained) == ("error", "", "undetermined")
    assert failed.stop_reason.startswith("HTTP 500")
    assert collect(profile, spec, questions(), frozen()) == Counts(0, 3, 0)
    assert server.n_asked == 3


def test_no_more_questions_are_under_way_than_the_subject_takes(server: Server, tmp_path: Path):
    server.delay_s = 0.15
    spec = served(server.url, concurrency=2).model_copy(update={"runs": 3})
    assert collect(make_profile(tmp_path, spec), spec, questions(), frozen()).new == 9
    assert server.most_open == 2


def test_a_server_that_goes_away_stops_the_run_and_finished_answers_are_kept(
    server: Server, tmp_path: Path
):
    spec = served(server.url)
    profile = make_profile(tmp_path, spec)
    collect(profile, spec, questions()[:1], frozen())
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(RgeError, match="no server answers"):
        collect(profile, spec, questions(), frozen())
    assert [response.question_id for response in stored(profile, "served")] == ["q0"]


def test_a_wrong_subject_stops_the_run_before_another_has_worked(tmp_path: Path):
    wrong = SubjectSpec(name="paid", kind="anthropic", family="x", runs=1)
    profile = make_profile(tmp_path, LEXICAL, wrong)
    with pytest.raises(UsageError, match="subject paid"):
        collect_all(profile, questions(), frozen())
    assert not profile.responses_path("lexical").exists()


def test_all_subjects_are_collected_in_profile_order(server: Server, tmp_path: Path):
    profile = make_profile(tmp_path, served(server.url), LEXICAL)
    counts = collect_all(profile, questions(), frozen())
    assert list(counts.items()) == [("served", Counts(3, 0, 0)), ("lexical", Counts(3, 0, 0))]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_goes_on_where_it_was(server: Server, tmp_path: Path, how: signal.Signals):
    server.delay_s = 0.4
    spec = served(server.url)
    profile = make_profile(tmp_path, spec)
    program = f"""
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_collect import *
        spec = served({server.url!r})
        collect(make_profile(Path({str(tmp_path)!r}), spec), spec, questions(), frozen())
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
    )
    path = profile.responses_path("served")
    deadline = time.monotonic() + 60
    while not (path.exists() and path.read_bytes().count(b"\n")) and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(how)
    child.communicate(timeout=20)
    n_kept = len(stored(profile, "served"))
    assert 1 <= n_kept < 3
    assert collect(profile, spec, questions(), frozen()) == Counts(3 - n_kept, n_kept, 0)
    assert len({response.key for response in stored(profile, "served")}) == 3
