import os
import sys
import threading
import time

import pytest

from rge.errors import RgeError
from rge.subjects.gguf_process import ModelProcess, NoReply

# Speaks the worker's protocol; what it does is in the request.
WORKER = """
import json, os, sys, time
sys.stdin.readline()
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    time.sleep(request.get("sleep", 0))
    if "exit" in request:
        os._exit(request["exit"])
    print(json.dumps({"echo": request["say"], "pid": os.getpid()}), flush=True)
"""


@pytest.fixture
def process():
    process = ModelProcess({"path": "none"}, [sys.executable, "-c", WORKER])
    yield process
    process.close()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_process_answers_many_requests(process: ModelProcess):
    first, second = process.ask({"say": 1}, 20), process.ask({"say": 2}, 20)
    assert (first["echo"], second["echo"]) == (1, 2)
    assert first["pid"] == second["pid"]


def test_an_overrun_ends_the_process_and_the_next_request_gets_its_own_reply(
    process: ModelProcess,
):
    pid = process.ask({"say": "before"}, 20)["pid"]
    started = time.monotonic()
    with pytest.raises(NoReply, match="timeout"):
        process.ask({"say": "late", "sleep": 30}, 0.3)
    assert time.monotonic() - started < 20
    assert not is_alive(pid)
    assert process.ask({"say": "after"}, 20)["echo"] == "after"


def test_a_process_that_dies_is_reported_and_replaced(process: ModelProcess):
    with pytest.raises(NoReply, match="model process ended with code 3"):
        process.ask({"exit": 3}, 20)
    assert process.ask({"say": "after"}, 20)["echo"] == "after"


def test_close_ends_the_process_and_an_answer_under_way(process: ModelProcess):
    pid = process.ask({"say": "up"}, 20)["pid"]
    threading.Timer(0.3, process.close).start()
    started = time.monotonic()
    with pytest.raises((NoReply, OSError, ValueError)):
        process.ask({"say": "late", "sleep": 30}, 30)
    assert time.monotonic() - started < 20
    assert not is_alive(pid)


def test_a_model_that_does_not_start_gives_its_own_last_word():
    broken = "import sys; sys.exit('no such tensor')"
    process = ModelProcess({"path": "model.gguf"}, [sys.executable, "-c", broken])
    with pytest.raises(RgeError, match=r"model\.gguf: the model does not start: no such tensor"):
        process.ask({"say": 1}, 20)
