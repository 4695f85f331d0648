import hashlib
import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from email.utils import formatdate

import numpy as np
import pytest
import yaml

from file_server import FileServer, Served
from pdf_maker import column, make_pdf
from rge.corpus.fetch import Fetcher, Limits
from rge.corpus.incoming import unpack
from rge.corpus.part import Part
from rge.corpus.sources import Place, Source, read_lock
from rge.errors import RgeError

PATH = "/reports/ar24.pdf"
HTML = b"<!DOCTYPE html><html><head><title>Access Denied</title></head><body>no</body></html>"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server():
    server = FileServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def pdf(tmp_path_factory):
    """A PDF of three pages and some 200 KB."""
    lines = [(60.0, 780.0, f"filler {i}") for i in range(1500)]
    return make_pdf(tmp_path_factory.mktemp("pdf") / "a.pdf", [lines] * 3).read_bytes()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def source(server, *paths, **fields):
    urls = tuple(Place(url=server.url + path) for path in paths or (PATH,))
    given = {"doc_id": "acme-FY24", "company": "acme", "fy": "FY24", "title": "Acme", "urls": urls}
    return Source(**{**given, "file": "acme.pdf", **fields})


def fetcher(tmp_path, naps=None, **options):
    sleep = (lambda s: None) if naps is None else naps.append
    options.setdefault("limits", Limits(n_attempts=4, timeout_s=5))
    rng = np.random.default_rng(1)
    folder = tmp_path / "docs"
    return Fetcher(folder, folder / "sources.lock.yaml", rng=rng, sleep=sleep, **options)


def got(tmp_path):
    return (tmp_path / "docs" / "acme.pdf").read_bytes()


def left(tmp_path):
    """Files in the folder, but for what may stay there."""
    return sorted(p.name for p in (tmp_path / "docs").iterdir() if not p.name.startswith(".fetch"))


def test_a_pinned_file_is_fetched_checked_and_left_alone_after(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf)
    pinned = source(server, sha256=sha256(pdf), bytes=len(pdf), pages=3)
    (one,) = fetcher(tmp_path).fetch([pinned])
    assert (one.result, one.n_bytes, one.detail) == ("fetched", len(pdf), server.url + PATH)
    assert got(tmp_path) == pdf and left(tmp_path) == ["acme.pdf"]
    (again,) = fetcher(tmp_path).fetch([pinned])
    assert again.result == "present" and len(server.asked) == 1


def test_a_broken_transfer_goes_on_with_a_range(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf)
    server.next[PATH] += [Served(pdf, cut=50_000), Served(pdf, cut=70_000)]
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert one.result == "fetched" and got(tmp_path) == pdf
    first, second, third = server.ranges(PATH)
    assert first is None
    assert 0 < int(second[6:-1]) <= 50_000 < int(third[6:-1]) <= 120_000


def test_many_breaks_do_not_end_a_transfer_that_moves_on(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf)
    server.next[PATH] += [Served(pdf, cut=20_000) for _ in range(8)]
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert one.result == "fetched" and got(tmp_path) == pdf


@pytest.mark.parametrize("how", ["ignores the range", "names no version"])
def test_a_server_that_cannot_resume_sends_the_file_anew(server, pdf, tmp_path, how):
    change = {"ranges": False} if how == "ignores the range" else {"etag": False}
    server.files[PATH] = Served(pdf, **change)
    server.next[PATH].append(Served(pdf, cut=60_000, **change))
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert one.result == "fetched" and got(tmp_path) == pdf
    assert (server.ranges(PATH)[1] is None) == (how == "names no version")


def test_a_file_that_changed_in_between_is_not_glued_together(server, pdf, tmp_path):
    other = pdf.replace(b"filler", b"FILLER")
    server.files[PATH] = Served(other)
    server.next[PATH].append(Served(pdf, cut=60_000))
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert one.result == "fetched" and got(tmp_path) == other


def test_a_range_answered_with_another_version_is_not_taken(server, pdf, tmp_path):
    """Some servers know ranges but not If-Range."""
    other = pdf.replace(b"filler", b"FILLER")
    server.files[PATH] = Served(other)
    wrong = {"Content-Range": f"bytes 49152-{len(pdf) - 1}/{len(pdf)}", "ETag": '"other"'}
    server.next[PATH] += [
        Served(pdf, cut=49_152),
        Served(other[49_152:], status=206, headers=wrong),
    ]
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert one.result == "fetched" and got(tmp_path) == other


def test_a_part_that_was_whole_already_is_taken_as_it_is(server, pdf, tmp_path):
    """A run killed between the last byte and the check leaves such a part."""
    server.files[PATH] = Served(pdf)
    part = Part.of(tmp_path / "docs" / "acme.pdf")
    part.begin(server.url + PATH, f'"{sha256(pdf)[:12]}"')
    part.path.write_bytes(pdf)
    (one,) = fetcher(tmp_path).fetch([source(server, sha256=sha256(pdf))])
    assert one.result == "fetched" and got(tmp_path) == pdf
    assert server.ranges(PATH) == [f"bytes={len(pdf)}-"]


def test_a_part_of_another_address_or_with_a_broken_note_is_not_continued(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf)
    part = Part.of(tmp_path / "docs" / "acme.pdf")
    note = part.path.with_name(f"{part.path.name}.json")
    for begun_at, text in ((f"{server.url}/other", None), (server.url + PATH, "{broken")):
        part.begin(begun_at, '"v"')
        part.path.write_bytes(b"%PDF-1.4 something else")
        if text:
            note.write_text(text, encoding="utf-8")
        (one,) = fetcher(tmp_path).fetch([source(server)])
        assert one.result == "fetched" and got(tmp_path) == pdf
        (tmp_path / "docs" / "acme.pdf").unlink()
    assert server.ranges(PATH) == [None, None]


def test_redirects_are_followed_and_bounded(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf)
    server.files["/moved"] = Served(status=302, headers={"Location": PATH})
    server.files["/round"] = Served(status=302, headers={"Location": "/round"})
    (one,) = fetcher(tmp_path).fetch([source(server, "/round", "/moved")])
    assert one.result == "fetched" and got(tmp_path) == pdf
    assert sum(path == "/round" for path, _ in server.asked) == 6


@pytest.mark.parametrize("target", ["file:///etc/hosts", "ftp://127.0.0.1/a.pdf"])
def test_a_redirect_never_leaves_http(server, tmp_path, target):
    server.files[PATH] = Served(status=302, headers={"Location": target})
    (one,) = fetcher(tmp_path).fetch([source(server)])
    scheme = target.split(":")[0]
    assert f"leads to an address of {scheme}; http and https" in one.detail
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (403, "HTTP status 403: the server refuses programs"),
        (404, "HTTP status 404: the server has no such file"),
    ],
)
def test_a_refusal_is_not_repeated_and_the_mirror_is_asked(server, pdf, tmp_path, status, reason):
    server.files["/first"] = Served(HTML, status=status)
    (one,) = fetcher(tmp_path).fetch([source(server, "/first")])
    assert one.result == "failed" and reason in one.detail
    assert len(server.asked) == 1
    server.files["/mirror"] = Served(pdf)
    (one,) = fetcher(tmp_path).fetch([source(server, "/first", "/mirror")])
    assert one.result == "fetched" and one.detail.endswith("/mirror")


def test_a_busy_server_is_asked_again_after_what_it_asks_for(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf)
    later = formatdate(time.time() + 40, usegmt=True)
    server.next[PATH] += [
        Served(status=429, headers={"Retry-After": "7"}),
        Served(status=503, headers={"Retry-After": later}),
        Served(status=500),
    ]
    naps = []
    (one,) = fetcher(tmp_path, naps).fetch([source(server)])
    assert one.result == "fetched"
    assert naps[0] == 7 and 30 < naps[1] <= 40
    assert 4 <= naps[2] <= 8  # the third pause: 2 s doubled twice, at least half of it


def test_a_server_that_asks_for_too_long_a_wait_is_given_up(server, tmp_path):
    server.files[PATH] = Served(status=429, headers={"Retry-After": "3600"})
    naps = []
    (one,) = fetcher(tmp_path, naps).fetch([source(server)])
    assert "HTTP status 429, and asks to wait 3,600 s; at most 120 s is waited" in one.detail
    assert naps == [] and len(server.asked) == 1


def test_attempts_are_bounded(server, tmp_path):
    server.files[PATH] = Served(status=503)
    naps = []
    (one,) = fetcher(tmp_path, naps).fetch([source(server)])
    assert "HTTP status 503, 4 times in a row" in one.detail
    assert len(naps) == 3 and len(server.asked) == 4


def test_a_silent_server_and_a_closed_port_are_reasons(server, tmp_path):
    limits = Limits(n_attempts=1, timeout_s=0.2)
    server.files[PATH] = Served(b"%PDF-" + b"x" * 9000, pause_s=1)
    closed = Place(url="http://127.0.0.1:9/a.pdf")
    sources = [
        source(server),
        source(server, doc_id="b", file="b.pdf", urls=(closed,)),
    ]
    silent, shut = fetcher(tmp_path, limits=limits).fetch(sources)
    assert "no answer within 0.2 s" in silent.detail
    assert "the connection failed" in shut.detail


def test_another_hash_is_refused_and_set_aside(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf)
    (one,) = fetcher(tmp_path).fetch([source(server, sha256="0" * 64)])
    assert one.result == "failed"
    assert f"SHA-256 is {sha256(pdf)}; the file is set aside as acme.pdf.rejected" in one.detail
    assert "as the list of sources says" in one.detail
    assert left(tmp_path) == ["acme.pdf.rejected"]


def test_the_mirror_with_the_right_hash_is_taken(server, pdf, tmp_path):
    server.files["/other"] = Served(pdf.replace(b"filler", b"FILLER"))
    server.files[PATH] = Served(pdf)
    (one,) = fetcher(tmp_path).fetch([source(server, "/other", PATH, sha256=sha256(pdf))])
    assert one.result == "fetched" and got(tmp_path) == pdf


def test_the_first_fetch_pins_and_a_later_change_is_refused(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf)
    fetcher(tmp_path).fetch([source(server)])
    entry = read_lock(tmp_path / "docs" / "sources.lock.yaml")["acme-FY24"]
    assert (entry.sha256, entry.bytes, entry.pages) == (sha256(pdf), len(pdf), 3)
    assert entry.url == server.url + PATH and len(entry.fetched_on) == 10

    (tmp_path / "docs" / "acme.pdf").unlink()
    server.files[PATH] = Served(pdf.replace(b"filler", b"FILLER"))
    locked = source(server, sha256=entry.sha256).model_copy(update={"pin": "lock"})
    (one,) = fetcher(tmp_path).fetch([locked])
    assert one.result == "failed" and "as the lock file says" in one.detail
    assert read_lock(tmp_path / "docs" / "sources.lock.yaml")["acme-FY24"] == entry


def test_a_file_in_its_place_is_never_replaced(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf)
    path = make_pdf(tmp_path / "docs" / "acme.pdf", [column("mine")])
    mine = path.read_bytes()
    (one,) = fetcher(tmp_path).fetch([source(server, sha256=sha256(pdf))])
    assert one.result == "failed" and "remove it and get the document again" in one.detail
    assert path.read_bytes() == mine and server.asked == []


def test_an_unpinned_file_in_its_place_is_pinned(server, tmp_path):
    path = make_pdf(tmp_path / "docs" / "acme.pdf", [column("mine")])
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert (one.result, one.detail) == ("present", "found in its place and pinned")
    entry = read_lock(tmp_path / "docs" / "sources.lock.yaml")["acme-FY24"]
    assert entry.sha256 == sha256(path.read_bytes()) and entry.url is None


def test_a_truncated_body_is_noticed_by_its_length(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf, cut=90_000, ranges=False)
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert one.result == "failed" and "4 times in a row" in one.detail
    assert "acme.pdf" not in left(tmp_path)


def test_a_truncated_body_without_a_length_is_noticed_by_its_end(server, pdf, tmp_path):
    server.files[PATH] = Served(pdf[:90_000], length=False)
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert "the PDF is cut off: its end mark is missing" in one.detail
    assert not (tmp_path / "docs" / "acme.pdf").exists()
    assert not (tmp_path / "docs" / "sources.lock.yaml").exists()


@pytest.mark.parametrize("size", [0, 50_000])
def test_an_html_page_is_refused_by_name(server, tmp_path, size):
    page = HTML + b" " * size
    server.files[PATH] = Served(page, headers={"Content-Type": "application/pdf"})
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert "gave an HTML page titled 'Access Denied', not a PDF; open it in a browser" in one.detail
    assert left(tmp_path) == []


def test_an_html_page_does_not_cost_the_part_that_is_there(server, pdf, tmp_path):
    server.next[PATH].append(Served(pdf, cut=60_000))
    server.files[PATH] = Served(HTML)
    fetcher(tmp_path).fetch([source(server)])
    server.files[PATH] = Served(pdf)
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert one.result == "fetched" and server.ranges(PATH)[-1] is not None


@pytest.mark.parametrize(
    ("body", "reason"),
    [(b"", "gave nothing, not a PDF"), (b"PK\x03\x04zip", "something that begins with b'PK")],
)
def test_what_is_no_pdf_is_refused(server, tmp_path, body, reason):
    server.files[PATH] = Served(body)
    (one,) = fetcher(tmp_path).fetch([source(server)])
    assert reason in one.detail


@pytest.mark.parametrize("length", [True, False])
def test_a_file_that_is_too_large_is_not_stored(server, pdf, tmp_path, length):
    server.files[PATH] = Served(pdf, length=length)
    (one,) = fetcher(tmp_path, limits=Limits(max_bytes=100_000)).fetch([source(server)])
    assert "is too large; at most 100,000 bytes" in one.detail and left(tmp_path) == []


@pytest.mark.parametrize(("field", "value"), [("pages", 444), ("bytes", 12)])
def test_pages_and_bytes_of_the_entry_hold_for_an_unpinned_file(
    server, pdf, tmp_path, field, value
):
    server.files[PATH] = Served(pdf)
    (one,) = fetcher(tmp_path).fetch([source(server, **{field: value})])
    assert one.result == "failed" and f"{value}, as its entry in the list" in one.detail
    assert left(tmp_path) == ["acme.pdf.rejected"]


def test_one_failure_does_not_stop_the_others(server, pdf, tmp_path):
    server.files["/b"] = Served(pdf)
    bad = source(server, "/none")
    good = source(server, "/b", doc_id="b", file="b.pdf")
    assert [o.result for o in fetcher(tmp_path).fetch([bad, good])] == ["failed", "fetched"]


def test_a_document_without_an_address_says_where_to_look(server, tmp_path):
    page = "https://example.org/annual-report"
    (one,) = fetcher(tmp_path).fetch([source(server, urls=(), see=(page,))])
    assert f"no address to download it from is known: see {page}; save the PDF" in one.detail


# Archives


def archive(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return data.getvalue()


def zipped(server, member="ar.pdf", **fields):
    place = Place(url=f"{server.url}/ar.zip", member=member, zip_sha256=fields.pop("zip", None))
    return source(server, urls=(place,), **fields)


def test_the_named_member_of_an_archive_is_unpacked(server, pdf, tmp_path):
    server.files["/ar.zip"] = Served(archive(**{"notes.txt": b"x", "ar.pdf": pdf}))
    (one,) = fetcher(tmp_path).fetch([zipped(server, sha256=sha256(pdf))])
    assert one.result == "fetched" and got(tmp_path) == pdf
    assert left(tmp_path) == ["acme.pdf"]


def test_an_archive_with_another_member_is_refused(server, pdf, tmp_path):
    server.files["/ar.zip"] = Served(archive(**{"other.pdf": pdf}))
    (one,) = fetcher(tmp_path).fetch([zipped(server)])
    assert "the archive holds no 'ar.pdf'; it holds other.pdf" in one.detail
    assert left(tmp_path) == []


def test_the_hash_of_an_archive_pins_a_document_without_one(server, pdf, tmp_path):
    data = archive(**{"ar.pdf": pdf})
    server.files["/ar.zip"] = Served(data)
    (one,) = fetcher(tmp_path).fetch([zipped(server, zip="0" * 64)])
    assert "the archive has another SHA-256" in one.detail
    (one,) = fetcher(tmp_path).fetch([zipped(server, zip=sha256(data))])
    assert one.result == "fetched"


def test_a_repacked_archive_with_the_right_document_is_taken(server, pdf, tmp_path):
    server.files["/ar.zip"] = Served(archive(**{"ar.pdf": pdf}))
    (one,) = fetcher(tmp_path).fetch([zipped(server, zip="0" * 64, sha256=sha256(pdf))])
    assert one.result == "fetched"


def test_a_damaged_or_cut_archive_is_refused(server, pdf, tmp_path):
    data = archive(**{"ar.pdf": pdf})
    for broken in (data[: len(data) // 2], data[:-30]):
        server.files["/ar.zip"] = Served(broken)
        (one,) = fetcher(tmp_path).fetch([zipped(server)])
        assert "not a whole zip archive" in one.detail
    packed = bytearray(data)
    packed[200] ^= 0xFF
    server.files["/ar.zip"] = Served(bytes(packed))
    (one,) = fetcher(tmp_path).fetch([zipped(server)])
    assert one.result == "failed" and left(tmp_path) == []


def test_a_zip_bomb_is_stopped_while_it_unpacks(tmp_path):
    path = tmp_path / "bomb.zip"
    path.write_bytes(archive(**{"ar.pdf": b"0" * 5_000_000}))
    assert path.stat().st_size < 10_000
    with pytest.raises(RgeError, match=r"'ar\.pdf' is too large unpacked; at most 100,000 bytes"):
        unpack(path, "ar.pdf", tmp_path / "out.pdf", max_bytes=100_000)
    assert (tmp_path / "out.pdf").stat().st_size <= 100_000


def test_a_member_that_climbs_out_is_written_to_its_place_alone(server, pdf, tmp_path):
    name = "../../evil.pdf"
    server.files["/ar.zip"] = Served(archive(**{name: pdf}))
    (one,) = fetcher(tmp_path).fetch([zipped(server, member=name)])
    assert one.result == "fetched" and got(tmp_path) == pdf
    assert not list(tmp_path.rglob("evil.pdf")) and not list(tmp_path.parent.glob("evil.pdf"))


# Files saved by hand


@pytest.mark.parametrize("name", ["acme.pdf", "ACME-FY24.PDF", "ar24.pdf"])
def test_a_saved_file_is_known_by_its_name(server, pdf, tmp_path, name):
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / name).write_bytes(pdf)
    (saved / "unrelated.pdf").write_bytes(b"%PDF-1.4 x")
    (one,) = fetcher(tmp_path, from_dir=saved).fetch([source(server)])
    assert (one.result, one.detail) == ("taken", name) and got(tmp_path) == pdf
    assert server.asked == [] and (saved / name).exists()


def test_a_saved_file_is_known_by_its_hash_whatever_its_name(server, pdf, tmp_path):
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "acme.pdf").write_bytes(b"%PDF-1.4 another one")
    (saved / "download (3).pdf").write_bytes(pdf)
    (one,) = fetcher(tmp_path, from_dir=saved).fetch([source(server, sha256=sha256(pdf))])
    assert (one.result, one.detail) == ("taken", "download (3).pdf") and got(tmp_path) == pdf


def test_a_saved_archive_is_unpacked(server, pdf, tmp_path):
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "ar.zip").write_bytes(archive(**{"ar.pdf": pdf}))
    (one,) = fetcher(tmp_path, from_dir=saved).fetch([zipped(server, sha256=sha256(pdf))])
    assert one.result == "taken" and got(tmp_path) == pdf


def test_a_saved_file_with_another_hash_is_refused_and_stays(server, pdf, tmp_path):
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "acme.pdf").write_bytes(pdf)
    (one,) = fetcher(tmp_path, from_dir=saved).fetch([source(server, sha256="0" * 64)])
    assert one.result == "failed" and "as the list of sources says" in one.detail
    assert (saved / "acme.pdf").read_bytes() == pdf and left(tmp_path) == []


def test_saved_files_that_are_missing_or_several_are_named(server, pdf, tmp_path):
    saved = tmp_path / "saved"
    with pytest.raises(RgeError, match="saved: no such folder"):
        fetcher(tmp_path, from_dir=saved).fetch([source(server)])
    saved.mkdir()
    (one,) = fetcher(tmp_path, from_dir=saved).fetch([source(server)])
    assert "holds no file for acme-FY24; acme.pdf, the name in its address" in one.detail
    for name in ("acme.pdf", "ar24.pdf"):
        (saved / name).write_bytes(pdf)
    (one,) = fetcher(tmp_path, from_dir=saved).fetch([source(server)])
    assert "several files for acme-FY24: acme.pdf, ar24.pdf; leave one of them" in one.detail


# Whole processes

PROFILE = """
import sys
from pathlib import Path
from rge.cli import main
from rge import corpus_commands, profile
folder = Path(sys.argv[1])
real = profile.load_profile("published")
spec = {"folder": folder, "sources": folder / "sources.yaml"}
corpus = real.corpus.model_copy(update=spec)
profile.load_profile = lambda *a, **k: real.model_copy(update={"corpus": corpus, "root": folder})
sys.exit(main(["corpus", *sys.argv[2:]]))
"""


def start(folder, *words):
    return subprocess.Popen(
        [sys.executable, "-c", PROFILE, str(folder), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def listed(server, pdf, tmp_path):
    entry = source(server, sha256=sha256(pdf)).model_dump(
        include={"doc_id", "company", "fy", "title", "file", "sha256"}
    )
    entry["urls"] = [{"url": server.url + PATH}]
    text = yaml.safe_dump({"documents": [entry]})
    (tmp_path / "sources.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_a_killed_fetch_goes_on_where_it_was(server, pdf, listed):
    server.files[PATH] = Served(pdf, pause_s=0.05)
    part = listed / "acme.pdf.part"
    process = start(listed, "fetch")
    until(lambda: part.exists() and part.stat().st_size > 40_000)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (listed / "acme.pdf").exists()

    server.files[PATH] = Served(pdf)
    process = start(listed, "fetch")
    out, _ = process.communicate()
    assert process.returncode == 0 and "fetched" in out
    assert (listed / "acme.pdf").read_bytes() == pdf
    assert int(server.ranges(PATH)[-1][6:-1]) > 40_000


def test_of_two_fetches_at_once_the_second_is_told_at_once(server, pdf, listed):
    server.files[PATH] = Served(pdf, pause_s=0.05)
    first = start(listed, "fetch")
    until(lambda: server.asked)
    second = start(listed, "fetch")
    _, error = second.communicate(timeout=20)
    assert second.returncode == 1
    assert f"another process (pid {first.pid}) is fetching documents into it; wait" in error
    assert first.wait(timeout=30) == 0
    assert (listed / "acme.pdf").read_bytes() == pdf


def test_the_command_ends_with_1_and_says_what_is_missing(server, listed):
    process = start(listed, "fetch")
    out, _ = process.communicate()
    assert process.returncode == 1
    assert "| acme-FY24 | failed | – |" in out
    assert f"\nacme-FY24: {server.url}{PATH}: HTTP status 404" in out
    process = start(listed, "fetch", "--only", "nobody")
    _, error = process.communicate()
    assert process.returncode == 2 and "no document 'nobody'; one of acme-FY24" in error


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_is_refused_however_it_is_packed(tmp_path, packing):
    path, member = tmp_path / "ar.zip", bytes(range(256)) * 400
    with zipfile.ZipFile(path, "w", packing) as file:
        file.writestr("ar.pdf", member)
        start = 30 + len("ar.pdf")
    data = bytearray(path.read_bytes())
    data[start + 8 : start + 40] = b"\xff" * 32
    path.write_bytes(bytes(data))
    with pytest.raises(RgeError, match="not a whole zip archive"):
        unpack(path, "ar.pdf", tmp_path / "out", max_bytes=10**6)
