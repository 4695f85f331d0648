import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from rge import store
from rge.errors import RgeError
from rge.records import Record
from rge.store import Appender, read_json, read_jsonl, write_json, write_jsonl


class Item(Record):
    id: str
    n: int


def by_id(item):
    return item.id


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_appended_is_read_back_in_order(tmp_path):
    path = tmp_path / "a.jsonl"
    with Appender(path, Item, by_id) as out:
        out.append(Item(id="b", n=1))
        out.append(Item(id="₹", n=2))
    assert read_jsonl(path, Item, by_id) == [Item(id="b", n=1), Item(id="₹", n=2)]


def test_a_torn_last_line_is_left_out_and_named(tmp_path, capsys):
    path = write(tmp_path / "a.jsonl", '{"id":"a","n":1}\n{"id":"b","n')
    assert read_jsonl(path, Item, by_id) == [Item(id="a", n=1)]
    assert "a.jsonl:2: torn last line" in capsys.readouterr().err


def test_the_appender_cuts_a_torn_line_and_keeps_finished_ones(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"id":"a","n":1}\n{"id":"b","n')
    with Appender(path, Item, by_id) as out:
        assert out.keys == {"a"}
        out.append(Item(id="b", n=2))
    assert path.read_text(encoding="utf-8") == '{"id":"a","n":1}\n{"id":"b","n":2}\n'


def test_a_whole_record_without_its_newline_is_kept(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"id":"a","n":1}')
    with Appender(path, Item, by_id) as out:
        assert out.keys == {"a"}
        out.append(Item(id="b", n=2))
    assert [i.id for i in read_jsonl(path, Item, by_id)] == ["a", "b"]


def test_a_torn_multibyte_character_is_a_torn_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id":"a","n":1}\n' + '{"id":"₹'.encode()[:-1])
    assert [i.id for i in read_jsonl(path, Item, by_id)] == ["a"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id":"a","n":"x"}', r"a.jsonl:2: not a Item: n: .*got 'x'"),
        ('{"id":"a"}', r"a.jsonl:2: not a Item: n: field required"),
        ('{"id":"a","n":1,"m":2}', r"a.jsonl:2: not a Item: m: .*; the keys are id, n"),
        ("nonsense", r"a.jsonl:2: not a Item: invalid JSON"),
        ("", r"a.jsonl:2: not a Item"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, message):
    path = write(tmp_path / "a.jsonl", f'{{"id":"z","n":0}}\n{line}\n')
    with pytest.raises(RgeError, match=message):
        read_jsonl(path, Item, by_id)


def test_a_second_line_of_one_key_is_refused_with_both_numbers(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"id":"a","n":1}\n{"id":"a","n":2}\n')
    with pytest.raises(RgeError, match=r"a.jsonl:2: key a stands already on line 1"):
        read_jsonl(path, Item, by_id)


def test_appending_a_key_twice_is_refused(tmp_path):
    with Appender(tmp_path / "a.jsonl", Item, by_id) as out:
        out.append(Item(id="a", n=1))
        with pytest.raises(RgeError, match="key a is there already"):
            out.append(Item(id="a", n=1))


def test_a_second_writer_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LOCK_PATIENCE_S", 0.1)
    path = tmp_path / "a.jsonl"
    with (
        Appender(path, Item, by_id),
        pytest.raises(RgeError, match="another process is writing it"),
        Appender(path, Item, by_id),
    ):
        pass


def test_a_full_disk_is_one_sentence_and_loses_no_finished_record(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    with Appender(path, Item, by_id) as out:
        out.append(Item(id="a", n=1))

        def full(fd, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(store.os, "write", full)
            with pytest.raises(RgeError, match="no space left on the disk; free some space"):
                out.append(Item(id="b", n=2))
    assert [i.id for i in read_jsonl(path, Item, by_id)] == ["a"]


KILLED = """
import sys, time
from pathlib import Path
from rge.records import Record
from rge.store import Appender
class Item(Record):
    id: str
    n: int
with Appender(Path(sys.argv[1]), Item, lambda i: i.id) as out:
    for n in range(len(out.records), 4000):
        out.append(Item(id=str(n), n=n))
"""


def test_killed_writers_lose_nothing_and_repeat_nothing(tmp_path):
    path = tmp_path / "a.jsonl"
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
        size = path.stat().st_size if path.exists() else 0
        while process.poll() is None and (not path.exists() or path.stat().st_size < size + 2000):
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        n = [item.n for item in read_jsonl(path, Item, by_id)]
        assert n == list(range(len(n)))
        assert n


def test_a_derived_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_json(path, {"b": 1, "a": "₹"})
    before = path.read_bytes()

    def full(fd):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.os, "fsync", full)
    with pytest.raises(RgeError, match="no space left"):
        write_json(path, {"b": 2})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_equal_results_are_equal_bytes(tmp_path):
    write_json(tmp_path / "a.json", {"b": 1, "a": 2})
    write_json(tmp_path / "b.json", {"a": 2, "b": 1})
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert read_json(tmp_path / "a.json") == {"a": 2, "b": 1}


def test_nan_is_not_a_result(tmp_path):
    with pytest.raises(RgeError, match="undefined is null with a reason"):
        write_json(tmp_path / "a.json", {"value": float("nan")})


def test_missing_files_say_so(tmp_path):
    with pytest.raises(RgeError, match="no such file"):
        read_jsonl(tmp_path / "a.jsonl", Item)
    with pytest.raises(RgeError, match="no such file"):
        read_json(tmp_path / "a.json")
    assert read_jsonl(tmp_path / "a.jsonl", Item, missing_ok=True) == []


def test_derived_jsonl_round_trips(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", [Item(id="a", n=1)])
    assert read_jsonl(tmp_path / "a.jsonl", Item) == [Item(id="a", n=1)]
