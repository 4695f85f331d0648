"""What each real file is expected to give; runs where the files are (RGE_SHARED)."""

import os
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from rge.corpus.evidence import evidence_coverage, token_share
from rge.corpus.extract import Ranges, count_pages
from rge.corpus.financebench import questions_from_financebench
from rge.errors import RgeError
from rge.records import GoldQuote, Page

SHARED = Path(os.environ.get("RGE_SHARED", Path(__file__).parents[2] / "shared"))
PDF, BENCH = SHARED / "pdf", SHARED / "financebench"
needs_pdf = pytest.mark.skipif(not PDF.is_dir(), reason="the real PDF files are not here")
needs_bench = pytest.mark.skipif(not BENCH.is_dir(), reason="the FinanceBench filings are not here")
RUPEE = "rupee sign read as another character"

# The evidence texts themselves lack their spaces ("Transaction-basedrevenue"); the pages do not.
UNSPACED = {("BLOCK_2020_10K", 86), ("BLOCK_2020_10K", 90)}
FILINGS = (
    "3M_2018_10K",
    "3M_2022_10K",
    "ACTIVISIONBLIZZARD_2019_10K",
    "ADOBE_2022_10K",
    "AMAZON_2017_10K",
    "AMAZON_2019_10K",
    "AMCOR_2022_8K_dated-2022-07-01",
    "AMCOR_2023Q2_10Q",
    "AMCOR_2023Q4_EARNINGS",
    "AMCOR_2023_10K",
    "AMERICANEXPRESS_2022_10K",
    "BESTBUY_2023_10K",
    "BESTBUY_2024Q2_10Q",
    "BLOCK_2020_10K",
    "BOEING_2022_10K",
    "CVSHEALTH_2022_10K",
    "FOOTLOCKER_2022_8K_dated-2022-05-20",
    "FOOTLOCKER_2022_8K_dated_2022-08-19",
    "JOHNSON_JOHNSON_2022Q4_EARNINGS",
    "JOHNSON_JOHNSON_2023_8K_dated-2023-08-30",
    "MGMRESORTS_2022Q4_EARNINGS",
    "NETFLIX_2015_10K",
    "PEPSICO_2022_10K",
    "PEPSICO_2023Q1_EARNINGS",
    "PEPSICO_2023_8K_dated-2023-05-05",
    "PFIZER_2021_10K",
    "Pfizer_2023Q2_10Q",
    "ULTABEAUTY_2023Q4_EARNINGS",
)


def read(path: Path, *numbers: int) -> list[Page]:
    with Ranges() as ranges:
        return [page for n in numbers for page in ranges.read(path, path.stem, n - 1, n)]


@needs_pdf
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("empty.pdf", "empty.pdf: is empty"),
        ("encrypted-file.pdf", "encrypted-file.pdf: is protected by a password"),
        ("password-example.pdf", "password-example.pdf: is protected by a password"),
    ],
)
def test_files_that_cannot_be_read_are_one_error(name, message):
    with pytest.raises(RgeError, match=message):
        count_pages(PDF / "hard" / name)


@needs_pdf
@pytest.mark.parametrize(
    ("file", "number", "problems", "repairs", "text"),
    [
        ("hard/r6-empty-password.pdf", 1, (), (), "pdf encryption test"),
        ("hard/r6-user-password.pdf", 1, (), (), "pdf encryption test"),
        ("hard/34_SSSMIL_Annual_Report_2009-2010.pdf", 16, (), (), "low rentals for all new"),
        ("hard/34_SSSMIL_Annual_Report_2009-2010.pdf", 20, ("no text (scan)",), (), ""),
        ("hard/36_SSSMIL__Annual_Report_2011-2012.pdf", 18, (), (), "AUDITORS’ REPORT"),
        ("hard/38_SSSMIL_Annual_Report__2013-2014.pdf", 1, ("glyph codes",), (), "/g"),
        ("hard/38_SSSMIL_Annual_Report__2013-2014.pdf", 3, ("glyph codes",), (), "/g1"),
        (
            "hard/SSSMIL_Annual_Report__1996-1997.pdf",
            14,
            ("text by OCR",),
            ("broken rows",),
            "each) 100,000,000 ' 100,000,000",
        ),
        (
            "hard/WARN-Report-for-7-1-2015-to-03-25-2016.pdf",
            1,
            (),
            ("broken rows",),
            "07/14/2015 09/18/2015 07/20/2015 Actavis, Inc. Corona 45 Layoff Permanent\n",
        ),
        (
            "hard/federal-register-2020-17221.pdf",
            1,
            (),
            (),
            "SUMMARY: The FAA proposes to\nsupersede Airworthiness Directive (AD)\n",
        ),
        ("hard/habibi-rotated.pdf", 1, (), ("rotated",), "habibi"),
        ("hard/habibi-rotated.pdf", 4, (), (), "habibi"),
        (
            "hard/issue-71-duplicate-chars.pdf",
            2,
            (),
            ("doubled characters",),
            "midd\n2020年02月\n英语",
        ),
        ("hard/malformed-from-issue-932.pdf", 1, ("no text (scan)",), (), ""),
        ("hard/multicolumn.pdf", 1, (), (), "consectetuer adip-\niscing elit. Ut purus elit"),
        ("indian/46_SSSMIL_Annual_Report_2021-2022.pdf", 1, ("text by OCR",), (), "523351"),
        ("indian/46_SSSMIL_Annual_Report_2021-2022.pdf", 25, (), ("broken rows",), "Demat"),
        ("indian/Draft_Letter_of_Offer_17.08.2023.pdf", 2, (), (), "DRAFT LETTER OF OFF"),
        (
            "indian/Draft_Letter_of_Offer_17.08.2023.pdf",
            20,
            (),
            ("broken rows",),
            "3. Venugopal Kaukuntla 17,55,000 23.4\n",
        ),
        # Half of a spread: the other half is drawn too, moved off the page.
        (
            "indian/ambuja_test-rotated.pdf",
            10,
            (),
            ("text outside the page", RUPEE),
            "Opening balance 397.13 397.13\n",
        ),
    ],
)
def test_a_page_of_each_real_file_reads_as_expected(file, number, problems, repairs, text):
    (page,) = read(PDF / file, number)
    assert (page.problems, page.repairs) == (problems, repairs)
    assert text in page.text


@needs_pdf
def test_each_half_of_a_real_spread_holds_its_own_text_and_the_rupee_sign():
    left, right = read(PDF / "indian/ambuja_test-rotated.pdf", 9, 10)
    assert "Revenue from operations 36 17,919.34 19,985.43" in left.text
    assert "Revenue from operations" not in right.text
    assert "Earnings per share of ₹2 each - in ₹" in left.text
    assert "`" not in left.text + right.text


def evidence() -> list[GoldQuote]:
    quotes = [q for item in questions_from_financebench(BENCH) for q in item.gold_quotes]
    return [q for q in quotes if q.doc_id in FILINGS]


@cache
def filing_pages(name: str) -> dict[int, Page]:
    numbers = sorted({quote.page for quote in evidence() if quote.doc_id == name})
    return {page.page: page for page in read(BENCH / "pdfs" / f"{name}.pdf", *numbers)}


@needs_bench
@pytest.mark.parametrize("name", FILINGS)
def test_the_evidence_pages_of_each_filing_are_usable_and_hold_their_evidence(name):
    pages = filing_pages(name)
    assert pages and Counter(kind for page in pages.values() for kind in page.problems) == {}
    found = evidence_coverage([q for q in evidence() if q.doc_id == name], {name: pages})
    low = {(q.doc_id, q.page) for q, share in found.shares if share < 0.9}
    assert low == {key for key in UNSPACED if key[0] == name}


@needs_bench
def test_of_91_evidence_texts_89_have_nine_tenths_of_their_tokens_on_the_named_page():
    coverage = evidence_coverage(evidence(), {name: filing_pages(name) for name in FILINGS})
    assert (coverage.n_found, coverage.n, len(coverage.missing)) == (89, 91, 0)


def test_a_token_counts_as_often_as_the_page_holds_it():
    assert token_share("12 12 profit", "Profit 12") == pytest.approx(2 / 3)
    assert token_share("", "Profit 12") == 0


def test_evidence_without_its_page_is_missing_and_no_zero():
    coverage = evidence_coverage([GoldQuote(quote="a b", doc_id="x", page=1)], {})
    assert (coverage.n, coverage.rate, len(coverage.missing)) == (0, None, 1)
