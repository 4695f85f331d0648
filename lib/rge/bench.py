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


def main() -> int:
    """Print one line per stage: name, figure, unit."""
    profile = load_profile()
    for stage in (_import, _extraction, _embedding, _subjects, _judges, _statistics, _paper):
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


def _extraction(profile: Profile) -> Rows:
    import pypdf

    from rge.corpus.chunk import chunk_document
    from rge.corpus.extract import extract_pdf
    from rge.corpus.sources import corpus_sources
    from rge.corpus.tokens import encoding

    sources = corpus_sources(profile)
    paths = [profile.corpus.folder / source.file for source in sources]
    pages = [extract_pdf(path, path.stem) for path in paths]
    ours = _seconds(lambda: [extract_pdf(path, path.stem) for path in paths])
    n_pages = sum(map(len, pages))
    plain = _seconds(lambda: [[x.extract_text() for x in pypdf.PdfReader(p).pages] for p in paths])
    yield "reading PDF pages", n_pages / ours, "pages/s"
    yield "reading PDF pages, plain pypdf loop", n_pages / plain, "pages/s"
    settings = profile.chunking.model_dump()
    settings["encoding"] = encoding(settings["encoding"])

    def cut() -> list[Chunk]:
        return [c for p in pages for c in chunk_document(p, company="c", fy="FY", **settings)]

    n_tokens = sum(chunk.n_tokens for chunk in cut())
    yield "chunking", n_tokens / _seconds(cut) * 60 / 1e6, "million tokens/min"


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
        own = [r.latency_s for r in collected.responses if r.subject == spec.name]
        yield f"{spec.name}, stored median", float(np.median(own)), "s/answer"


def _judges(profile: Profile) -> Rows:
    from rge.collected import load_collected
    from rge.judging.run import frozen_case, open_judges
    from rge.retrieval import retrieve

    collected, frozen = load_collected(profile), retrieve.load(profile)
    questions = {question.id: question for question in collected.questions}
    cases = [frozen_case(questions[r.question_id], frozen, r) for r in collected.responses]
    for name, (_, judge) in open_judges(profile).items():
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
