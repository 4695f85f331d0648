"""The committed questions on the invented reports hold on the committed PDF files."""

import re
from collections import Counter
from itertools import permutations, product
from pathlib import Path

import pytest

from rge.corpus import extract
from rge.corpus.chunk import Window, chunk_document, holds
from rge.corpus.sources import corpus_sources
from rge.corpus.tokens import encoding
from rge.corpus_text import squeeze, stands_in
from rge.profile import load_profile
from rge.questions import anchor, load_questions, validate
from rge.records import CATEGORIES
from rge.retrieval.embedder import Embedder
from rge.text import numbers

FOLDER = Path(__file__).parents[1] / "data" / "questions" / "invented"
STUDY = load_questions(FOLDER / "questions.jsonl")
HELD_OUT = load_questions(FOLDER / "held_out.jsonl")
BOTH = [*STUDY, *HELD_OUT]

# For some out-of-domain questions: the documents that would answer it, what an answer there would
# look like, and the near miss that does stand in the corpus.
ABSENT = {
    "inv-ood-001": ("rathavar-FY23", "electric bus", "We supplied 1,480 electric buses"),
    "inv-ood-002": ("taranveth", "June 2025|2025-26|FY26", "Mobile ARPU, fourth quarter"),
    "inv-ood-003": ("mudrovia", "NPA|non-performing|bad loan", "Gross NPA ratio"),
    "inv-ood-004": ("haldivan", "(sold|sale of)[^.]{0,40} hotels", "asked for a study"),
    "inv-ood-005": ("kadalmukh", "hydrogen", "makers of solar glass and ammonia"),
    "inv-ood-006": ("thalivo", "take rate of (?!food)|bazaar[^.]{0,80}take rate", "Take rate"),
    "inv-ood-007": ("meruvan", r"sovereign fund[^.]*(₹|US\$)", "A sovereign fund subscribed"),
    "inv-ood-008": ("ruvessa", "returns (in|of) beauty|beauty returns", "Returns in fashion"),
    "inv-ood-009": ("javantra", "price after subsidy", "Average selling price before subsidy"),
    "hld-002": ("sindhuvar", "Nirgundi Housing[^.]{0,80}margin", "Net interest margin"),
    "hld-006": ("meruvan", "FY21[^.]{0,80}ARPU|ARPU[^.]{0,80}FY21", "Indicator Unit FY23 FY22"),
    "hld-010": ("taranveth", "churn (in|of) homes|homes churn", "Monthly churn"),
    "hld-014": ("haldivan", "Champanjali[^.]{0,80} share", "Champanjali soap"),
    "hld-018": ("rathavar", "2009[^.]*[₹£]", "that we bought in 2009"),
    "hld-020": ("thalivo-FY24", "each hour", "for each hour logged in"),
    "hld-022": ("ruvessa", "January 2026", "Tejaswini Apte-Rao took over"),
    "hld-024": ("mudrovia", "ticket business[^.]* for ₹", "the sale of the ticket business"),
}  # fmt: skip


def named(questions):
    return [pytest.param(question, id=question.id) for question in questions]


def of(category):
    return [question for question in BOTH if question.category == category]


@pytest.fixture(scope="module")
def profile():
    return load_profile("offline")


@pytest.fixture(scope="module")
def pages(profile):
    cache = profile.root / "_build" / "pages"
    return {
        source: extract.read_pages(profile.corpus.folder / source.file, source.doc_id, cache)
        for source in corpus_sources(profile)
    }


@pytest.fixture(scope="module")
def texts(pages):
    return {s.doc_id: " ".join(" ".join(p.text for p in ps).split()) for s, ps in pages.items()}


@pytest.fixture(scope="module")
def chunks(profile, pages):
    embedder, chunking = Embedder(profile.retrieval.embedder), profile.chunking
    window = Window(lambda text: embedder.n_tokens([text])[0], embedder.max_tokens)
    return [
        chunk
        for source, own in pages.items()
        for chunk in chunk_document(
            own,
            company=source.company,
            fy=source.fy,
            size=chunking.size,
            overlap=chunking.overlap,
            encoding=encoding(chunking.encoding),
            window=window,
        )
    ]


def test_200_study_questions_are_spread_over_categories_companies_and_years():
    counts = Counter(question.category for question in STUDY)
    assert counts == {"direct": 45, "multihop": 45, "adversarial": 65, "ood": 45}
    companies = Counter(question.company for question in STUDY)
    assert len(companies) == 10 and min(companies.values()) >= 14
    pairs = Counter((question.company, question.fy) for question in STUDY)
    assert len(pairs) == 20 and min(pairs.values()) >= 5
    assert min(Counter(question.difficulty for question in STUDY).values()) >= 40
    assert {question.version for question in STUDY} == {1}


def test_the_first_eight_questions_hold_two_of_each_category():
    assert Counter(question.category for question in STUDY[:8]) == dict.fromkeys(CATEGORIES, 2)


def test_fifteen_of_23_held_out_questions_can_be_answered():
    counts = Counter(question.expected_behavior for question in HELD_OUT)
    assert counts == {"answer": 15, "abstain": 8}
    assert len({question.company for question in HELD_OUT}) == 10


def test_study_and_held_out_questions_share_no_id_and_no_quote():
    assert not {q.id for q in STUDY} & {q.id for q in HELD_OUT}
    for one, other in product(STUDY, HELD_OUT):
        for mine, theirs in product(one.gold_quotes, other.gold_quotes):
            if (mine.doc_id, mine.page) == (theirs.doc_id, theirs.page):
                assert not holds(mine.quote, theirs.quote) and not holds(theirs.quote, mine.quote)


@pytest.mark.parametrize("question", named([q for q in BOTH if q.gold_values]))
def test_the_gold_answer_states_the_gold_values_and_nothing_else(question):
    stated = numbers.parse_values(question.gold_answer)
    gold = [numbers.quantity(value.value, value.unit) for value in question.gold_values]
    assert len(stated) == len(gold)
    for wanted in gold:
        assert numbers.any_match(stated, wanted, rel_tol=1e-9)


@pytest.mark.parametrize("question", named([*of("direct"), *of("adversarial")]))
def test_a_gold_number_stands_in_a_quote(question):
    found = [n for quote in question.gold_quotes for n in numbers.parse_values(quote.quote)]
    digits = " ".join(quote.quote for quote in question.gold_quotes).replace(",", "")
    for value in question.gold_values:
        wanted = numbers.quantity(value.value, value.unit)
        written = f"{abs(value.value):.10f}".rstrip("0").rstrip(".")
        # A row of a table gives the digits only; its unit stands in the heading.
        assert numbers.any_match(found, wanted, rel_tol=1e-9) or re.search(
            rf"(?<![\d.]){re.escape(written)}0*(?![\d.]\d)", digits
        )


def results_of(values):
    """Every number that one step makes of two numbers, or a sum or difference of several."""
    for a, b in permutations(values, 2):
        yield from (a - b, a + b, a * b)
        if b:
            yield from (a / b, 100 * a / b, 100 * (a - b) / b)
    yield sum(values)
    for first in values:
        yield 2 * first - sum(values)


@pytest.mark.parametrize("question", named([q for q in of("multihop") if q.gold_values]))
def test_a_multihop_number_follows_from_its_quotes(question):
    assert len(question.gold_quotes) >= 2
    rows = [re.findall(r"\d[\d,]*(?:\.\d+)?", quote.quote) for quote in question.gold_quotes]
    # Scales of one amount in two reports: lakh, million and crore.
    picks = [
        [float(n.replace(",", "")) * scale for n in row for scale in (1, 0.01, 0.1, 10, 100)]
        or [n.value for n in numbers.parse_values(quote.quote)]  # in words
        for row, quote in zip(rows, question.gold_quotes, strict=True)
    ]
    for value in question.gold_values:
        text = f"{value.value:.6f}".rstrip("0")
        step = 10 ** -len(text.partition(".")[2])
        stands = any(abs(n - abs(value.value)) < 1e-9 for row in picks for n in row)
        assert stands or any(
            abs(abs(made) - abs(value.value)) <= step / 2 + 1e-9
            for chosen in product(*picks)
            for made in results_of(chosen)
        )


def test_every_anchor_resolves_to_the_committed_chunks(pages, chunks):
    all_pages = [page for own in pages.values() for page in own]
    for question, anchored in zip(BOTH, anchor(BOTH, chunks, all_pages), strict=True):
        assert anchored.gold_source_ids == question.gold_source_ids, question.id


def test_every_required_check_of_the_validation_holds(pages, chunks):
    all_pages = [page for own in pages.values() for page in own]
    planned = {"direct": 45, "multihop": 45, "adversarial": 65, "ood": 45}
    for questions, wanted in ((STUDY, planned), (HELD_OUT, None)):
        report = validate(questions, pages=all_pages, chunks=chunks, planned=wanted)
        assert report.ok, report.rows()


@pytest.mark.parametrize("question", named(of("adversarial")))
def test_a_distractor_stands_in_the_company_s_reports_and_is_not_the_gold(question, texts):
    own = " ".join(text for doc_id, text in texts.items() if doc_id.startswith(question.company))
    assert question.distractors
    for distractor in question.distractors:
        assert stands_in(squeeze(own), distractor.value)
        for value in question.gold_values:
            gold = numbers.quantity(value.value, value.unit)
            assert not numbers.any_match(numbers.parse_values(distractor.value), gold)


@pytest.mark.parametrize("question", named(of("ood")))
def test_what_an_answer_would_say_stands_nowhere(question, texts):
    assert question.absent
    for absent in question.absent:
        wanted = absent.doc_id or question.company
        own = [text for doc_id, text in texts.items() if doc_id.startswith(wanted)]
        assert own and not [text for text in own if absent.text.lower() in text.lower()]


@pytest.mark.parametrize("question", named([q for q in of("ood") if q.id in ABSENT]))
def test_the_corpus_does_not_answer_an_out_of_domain_question(question, texts):
    documents, answer, near_miss = ABSENT[question.id]
    own = [text for doc_id, text in texts.items() if doc_id.startswith(documents)]
    assert own and question.company in documents
    assert not [text for text in own if re.search(answer, text, re.IGNORECASE)]
    assert any(near_miss in text for text in texts.values())
