"""`make bench`: how fast the stages of the study are on this machine, one line each.

Each stage is timed on the committed study, alone and after a warm-up where it loads a model. The
figures describe a machine; no test depends on them.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rge.profile import Profile, load_profile
from rge.records import Chunk

# Of six producers, with 30 to 503 pages.
REAL_FILINGS = (
    "PEPSICO_2022_10K",
    "AMCOR_2023Q2_10Q",
    "BESTBUY_2023_10K",
    "BESTBUY_2024Q2_10Q",
    "NETFLIX_2015_10K",
    "ADOBE_2022_10K",
)


def main() -> int:
    """Print one line per stage: name, figure, unit."""
    profile = load_profile()
    stages = (
        *(_import, _rendering, _extraction, _index, _embedding, _subjects, _judges, _statistics),
        _paper,
    )
    for stage in stages:
        for name, value, unit in stage(profile):
            print(f"{name:<44} {value:>10,.2f} {unit}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'peak memory of this process':<44} {peak:>10,.0f} MiB")
    return 0


Rows = Iterator[tuple[str, float, str]]


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _import(_: Profile) -> Rows:
    code = "import time; t = time.perf_counter(); import rge; print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    yield "import rge, median of 5", float(np.median(runs)), "s"


def _rendering(_: Profile) -> Rows:
    from rge.invented import render_corpus
    from rge.invented.overview import DEFAULT_SEED

    with TemporaryDirectory() as folder:
        seconds = _seconds(lambda: render_corpus(Path(folder), seed=DEFAULT_SEED))
    yield "rendering the invented reports", seconds, "s"


def _index(profile: Profile) -> Rows:
    """Reading, chunking, embedding and storing, in a repository folder without caches."""
    from rge.retrieval.index import build_index

    with TemporaryDirectory() as folder:
        elsewhere = profile.model_copy(update={"root": Path(folder)})
        started = time.perf_counter()
        index = build_index(elsewhere)
        seconds = time.perf_counter() - started
    yield f"index of {len(index.chunks):,} chunks, from the PDFs", seconds, "s"


def _extraction(profile: Profile) -> Rows:
    import pypdf

    from rge.corpus.chunk import chunk_document
    from rge.corpus.extract import read_documents
    from rge.corpus.tokens import encoding

    files = _documents(profile)
    started = time.perf_counter()
    pages, _ = read_documents(files, None)
    ours = time.perf_counter() - started
    n_pages = sum(map(len, pages.values()))
    plain = _seconds(
        lambda: [[x.extract_text() for x in pypdf.PdfReader(p).pages] for p in files.values()]
    )
    yield f"reading {n_pages} PDF pages", n_pages / ours, "pages/s"
    yield "reading them, plain pypdf loop", n_pages / plain, "pages/s"
    yield "times as fast as the plain loop", plain / ours, ""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    yield "peak memory of a reading process", peak, "MiB"
    settings = profile.chunking.model_dump()
    settings["encoding"] = encoding(settings["encoding"])

    def cut() -> list[Chunk]:
        return [
            c for p in pages.values() for c in chunk_document(p, company="c", fy="FY", **settings)
        ]

    n_tokens = sum(chunk.n_tokens for chunk in cut())
    yield "chunking", n_tokens / _seconds(cut) * 60 / 1e6, "million tokens/min"


def _documents(profile: Profile) -> dict[str, Path]:
    """Real filings where they are on the machine (some 800 pages), else the study's."""
    from rge.corpus.sources import corpus_sources

    real = load_profile("financebench")
    folder = real.corpus.folder / "pdfs"
    found = [folder / f"{name}.pdf" for name in REAL_FILINGS]
    if all(path.is_file() for path in found):
        return {path.stem: path for path in found}
    return {s.doc_id: profile.corpus.folder / s.file for s in corpus_sources(profile)}


def _embedding(profile: Profile) -> Rows:
    from rge.retrieval.embedder import Embedder
    from rge.retrieval.index import open_index

    index = open_index(profile)
    texts = [chunk.text for chunk in index.chunks.values()][:128]
    embedder = Embedder(profile.retrieval.embedder)
    embedder.encode(texts[:8])
    yield "embedding chunks", len(texts) / _seconds(lambda: embedder.encode(texts)), "chunks/s"
    queries = index.vectors[:64]
    yield "top-5 by Chroma", 64 / _seconds(lambda: index.top_k(queries, 5)), "questions/s"


def _subjects(profile: Profile) -> Rows:
    from rge.collected import load_collected

    collected = load_collected(profile)
    for spec in profile.subjects:
        own = [
            r.latency_s
            for r in collected.responses
            if r.subject == spec.name and r.latency_s is not None
        ]
        if not own:
            continue
        yield f"{spec.name}, stored median", float(np.median(own)), "s/answer"


def _judges(profile: Profile) -> Rows:
    from rge.collected import load_collected
    from rge.judging.run import HostedJudge, frozen_case, open_judges
    from rge.retrieval import retrieve

    collected, frozen = load_collected(profile), retrieve.load(profile)
    questions = {question.id: question for question in collected.questions}
    cases = [frozen_case(questions[r.question_id], frozen, r) for r in collected.responses]
    for name, (_, judge) in open_judges(profile).items():
        if isinstance(judge, HostedJudge):
            continue
        judge.judge_many(cases[:4])
        seconds = _seconds(partial(judge.judge_many, cases))
        yield f"judge {name}", len(cases) / seconds, "judgements/s"


def _statistics(profile: Profile) -> Rows:
    from rge.collected import load_collected
    from rge.comparisons import pairwise_tests
    from rge.estimates import mean_estimates
    from rge.tables import score_table

    collected = load_collected(profile)
    table = score_table(
        collected.questions,
        collected.responses,
        collected.judgements,
        collected.retrievals,
        runs=collected.runs,
    )
    rng = np.random.default_rng(profile.seed)
    settings = profile.analysis.model_dump()
    yield (
        "all means with intervals",
        _seconds(lambda: mean_estimates(table, rng=rng, **settings)),
        "s",
    )
    n = profile.analysis.n_resamples
    yield "all tests", _seconds(lambda: pairwise_tests(table, n_resamples=n, rng=rng)), "s"


def _paper(profile: Profile) -> Rows:

    from rge.paper import render

    with TemporaryDirectory() as folder:
        yield "paper to HTML and PDF", _seconds(lambda: render(profile, out_dir=Path(folder))), "s"


if __name__ == "__main__":
    raise SystemExit(main())
