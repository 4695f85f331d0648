"""Running subjects on the items: what is sent, what is stored, what discards an attempt."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import pytest

from rge.board import load_items, run_command
from rge.board.items import SYSTEM_MESSAGE
from rge.board.run import BoardAnswer, answers_path, board_prompt, run_board
from rge.errors import RgeError
from rge.profile import load_profile
from rge.specs import SubjectSpec
from rge.store import read_jsonl
from test_board import ITEMS, PUBLIC, needs_public
from test_board_grade import POOL

BOARD = load_items(ITEMS)
READER = SubjectSpec(
    name="reader", kind="reader-lexical", family="reader", runs=1, options={"threshold": 0.2}
)


class Server:
    """A chat-completions server on loopback that remembers requests and can fail some."""

    def __init__(self):
        self.requests, self.failing, self.dropping, self._lock = [], set(), {}, Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self._send(200, {"object": "list", "data": []})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                question = body["messages"][1]["content"]
                with outer._lock:
                    outer.requests.append(body)
                    drop = outer.dropping.get(question, 0)
                    outer.dropping[question] = drop - 1
                if drop > 0:
                    self.close_connection = True
                elif question in outer.failing:
                    self._send(500, {"error": {"message": "overloaded"}})
                else:
                    message = {"role": "assistant", "content": f"Not stated: {question}"}
                    choice = {"index": 0, "finish_reason": "stop", "message": message}
                    reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m-1"}
                    self._send(200, {**reply, "choices": [choice]})

            def _send(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments):
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self._server.serve_forever, daemon=True).start()
        options = {"base_url": f"http://127.0.0.1:{self._server.server_port}/v1", "model": "m"}
        self.spec = SubjectSpec(
            name="served", kind="openai-compatible", family="m", runs=1, options=options
        )

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server():
    running = Server()
    yield running
    running.close()


@pytest.fixture
def profile(tmp_path):
    smoke = load_profile("smoke")
    return smoke.model_copy(update={"root": tmp_path, "results_folder": tmp_path / "results"})


def stored(profile):
    return read_jsonl(answers_path(profile, BOARD), BoardAnswer, lambda r: r.key)


def test_the_prompt_is_the_instruction_with_the_passages_and_the_bare_question():
    prompt = board_prompt(BOARD.items[0])
    assert prompt.system == (
        "Answer strictly and only from the passages provided below. If the passages do not contain "
        "the answer, say so plainly and do not guess. When you use a passage, cite its id.\n\n"
        '<passage id="doc-1">A Brell permit costs 30 crowns.</passage>\n'
        '<passage id="doc-2">From 2027 a Brell permit costs 36 crowns.</passage>'
    )
    assert prompt.user == "What does a Brell permit cost?"


@needs_public
def test_the_instruction_is_the_one_the_public_file_names():
    scoring = json.loads(PUBLIC.read_text(encoding="utf-8"))["scoring"]
    assert f'"{SYSTEM_MESSAGE}"' in scoring["rubric"]


def test_a_reader_answers_every_item_once_and_a_rerun_asks_nothing(profile, capsys):
    first = run_board(profile, BOARD, READER, 2)
    before = answers_path(profile, BOARD).read_bytes()
    assert run_board(profile, BOARD, READER, 2) == first
    assert answers_path(profile, BOARD).read_bytes() == before
    assert len(stored(profile)) == 2 * len(BOARD)
    assert "reader: 0 new, 12 already done, 0 failed" in capsys.readouterr().err


def test_a_killed_run_goes_on_where_it_stopped(profile):
    complete = run_board(profile, BOARD, READER, 1)
    path = answers_path(profile, BOARD)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:40])
    assert run_board(profile, BOARD, READER, 1) == complete
    assert path.read_bytes().splitlines(keepends=True)[:2] == lines[:2]
    assert [r.item_id for r in stored(profile)] == [item.id for item in BOARD]


def test_a_served_model_gets_the_boards_parameters_and_every_message(profile, server):
    run_board(profile, BOARD, server.spec, 1)
    assert {request["max_tokens"] for request in server.requests} == {4096}
    sent = sorted(request["messages"][1]["content"] for request in server.requests)
    assert sent == sorted(item.input for item in BOARD)


def test_an_item_that_fails_discards_the_attempt_and_the_next_call_starts_anew(profile, server):
    server.failing = {BOARD.items[3].input}
    with pytest.raises(RgeError, match=r"not executed: toll \(HTTP 500.*attempt is discarded"):
        run_board(profile, BOARD, server.spec, 1)
    server.failing = set()
    (graded,) = run_board(profile, BOARD, server.spec, 1)
    assert graded.n == len(BOARD)
    attempts = [(r.attempt, r.status) for r in stored(profile)]
    assert len(attempts) == 2 * len(BOARD)
    assert attempts.count((0, "error")) == 1 and attempts.count((1, "ok")) == len(BOARD)


@pytest.mark.parametrize(("n_drops", "executed"), [(3, True), (4, False)])
def test_a_dropped_connection_is_tried_again_up_to_three_times(profile, server, n_drops, executed):
    server.dropping = {BOARD.items[2].input: n_drops}
    if executed:
        assert run_board(profile, BOARD, server.spec, 1)[0].n == len(BOARD)
    else:
        with pytest.raises(RgeError, match=r"not executed: warranty \(connection lost"):
            run_board(profile, BOARD, server.spec, 1)


def test_an_answer_made_with_other_parameters_is_refused(profile):
    run_board(profile, BOARD, READER, 1)
    other = READER.model_copy(update={"options": {"threshold": 0.5}})
    with pytest.raises(RgeError, match=r"permit was made with threshold 0\.2, today it is 0\.5"):
        run_board(profile, BOARD, other, 1)


def test_answers_to_foreign_items_stay_out_of_the_results(profile):
    assert profile.results_folder not in answers_path(profile, BOARD).parents
    ours = load_profile("smoke")
    assert answers_path(ours, POOL).parent == ours.raw_dir


def test_the_command_prints_scores_of_runs_their_mean_and_item_rates(profile, capsys):
    with_reader = profile.model_copy(update={"subjects": (READER,)})
    assert run_command(with_reader, ITEMS, "reader", 2) == 0
    printed = capsys.readouterr().out
    assert "run 1: " in printed and "mean of 2 runs: " in printed
    assert "  permit: " in printed and BOARD.content_sha256 in printed


def test_no_runs_are_refused(profile):
    with pytest.raises(RgeError, match="runs: is 0; a whole number from 1"):
        run_board(profile, BOARD, READER, 0)
