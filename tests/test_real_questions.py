"""The questions on the real reports: counts as stated, arithmetic, and every quote in its source.

The sources lie outside the repository; tests that read them are skipped where they are absent.
"""

import csv
import json
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml

from rge.corpus_text import squeeze, stands_in
from rge.gold_numbers import STANDS, derivations
from rge.profile import load_profile
from rge.question_commands import validate as validate_command
from rge.questions import load_questions, validate
from rge.records import CATEGORIES

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "data" / "questions" / "annual-reports"
SOURCES = Path(os.environ.get("RGE_SHARED", ROOT.parent / "shared")) / "real-reports"
QUESTIONS = load_questions(FOLDER / "questions.jsonl")
PLANNED = {"direct": 45, "multihop": 45, "adversarial": 65, "ood": 45}
COMPANIES = {
    "Reliance Industries": "reliance",
    "HDFC Bank": "hdfc-bank",
    "Tata Motors": "tata-motors",
}

# Two printed numbers of each multihop question, from two quotes, and what is done with them.
RECOMPUTED = {
    "real-mul-001": ("9,14,472", "7,17,635", "growth"),
    "real-mul-002": ("35,388.01", "345,966.97", "share"),
    "real-mul-003": ("1,52,770", "1,07,778", "difference"),
    "real-mul-004": ("9,30,529", "407,994.77", "difference"),
    "real-mul-005": ("25,679", "1,659", "difference"),
    "real-mul-006": ("3,13,966", "68,664", "difference"),
    "real-mul-007": ("2,530,432.44", "336,081.38", "difference"),
    "real-mul-008": ("1,58,788", "1,10,654", "difference"),
    "real-mul-009": ("19,571", "10,225.48", "difference"),
    "real-mul-010": ("43,017", "74,088", "share"),
    "real-mul-011": ("4,030,194.26", "23,356", "times"),
    "real-mul-012": ("69,621", "64,062.04", "difference"),
    "real-mul-013": ("25,679", "18,758", "growth"),
    "real-mul-014": ("1,40,008", "40,755.39", "difference"),
    "real-mul-015": ("102.90", "92.00", "difference"),
    "real-mul-016": ("9,14,472", "12,114", "times"),
    "real-mul-017": ("66,702", "45,997.11", "sum"),
    "real-mul-018": ("79,020", "9,25,788", "share"),
}
RULES = {
    "difference": lambda a, b: a - b,
    "sum": lambda a, b: a + b,
    "growth": lambda a, b: 100 * (a / b - 1),
    "share": lambda a, b: 100 * a / b,
    "times": lambda a, b: a / b,
}

needs_sources = pytest.mark.skipif(
    not SOURCES.is_dir(), reason="the sources of the real questions are not on this machine"
)


def number(text):
    return float(text.replace(",", ""))


@cache
def facts():
    with (SOURCES / "statement_facts.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def report_blocks():
    """Each block of the FY23 report of Reliance with the PDF page its footer stands for, or None.

    Two printed pages stand on one PDF page; text is extracted in blocks, several for a page.
    """
    path = SOURCES / "RIL_AR_2022-23_extracted_content.md"
    for block in re.split(r"(?m)^## Content Block \d+$", path.read_text(encoding="utf-8"))[1:]:
        footer = re.findall(r"\n(\d{1,3}) *\n(\d{1,3}) *\nCorporate Overview", block)
        yield block, min(map(int, footer[-1])) // 2 + 2 if footer else None


@cache
def report_pages():
    """Text of the FY23 report of Reliance by PDF page, without the tables a tool guessed."""
    pages, waiting = {}, []
    for block, page in report_blocks():
        waiting.append(re.sub(r"(?m)^(\|.*|### Table.*)$", "", block))
        if page is not None:
            pages.setdefault(page, []).extend(waiting)
            waiting = []
    return {page: "\n".join(blocks) for page, blocks in pages.items()}


@cache
def texts():
    """Every source text by document and PDF page."""
    found = {}

    def put(doc_id, page, text):
        # The rupee sign of these reports is extracted as a letter.
        text = re.sub(r"(?<!\w)[CHJK](?=\d)", "₹", squeeze(text))
        found.setdefault((doc_id, page), []).append(text)

    for row in facts():
        doc_id = f"{COMPANIES[row['company']]}-{row['fy']}"
        put(
            doc_id, int(row["pdf_page"]), f"{row['printed_label']} {row['printed_value_inr_crore']}"
        )
    for page, text in report_pages().items():
        put("reliance-FY23", page, text)
    for path in (SOURCES / "reliance-statements").glob("*.txt"):
        year, printed = re.search(r"RIL_20\d\d-(\d\d)_.*printed(\d+)", path.name).groups()
        put(f"reliance-FY{year}", int(printed) // 2 + 2, path.read_text(encoding="utf-8"))
    zomato = SOURCES / "zomato_FY24_consolidated_statements.json"
    for table, rows in json.loads(zomato.read_text(encoding="utf-8")).items():
        for page in re.findall(r"_p(\d+)", table):
            put("zomato-FY24", int(page), "\n".join(" ".join(row) for row in rows))
    return found


def on_page(quote, doc_id, page):
    """Whether the quote stands there and no digit goes on before or after it."""
    pattern = rf"(?<![\d,.]){re.escape(squeeze(quote))}(?!\d|[,.]\d)"
    return any(re.search(pattern, text) for text in texts().get((doc_id, page), []))


def of_companies(names):
    return "\n".join(
        text for (doc, _), own in texts().items() for text in own if doc.rsplit("-", 1)[0] in names
    )


def stated_table():
    """The counts of the README by company and year; None where it says that there is no source."""
    rows = {}
    for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) >= 3 and re.fullmatch(r"FY2[34]", cells[1]):
            counts = cells[2:6]
            rows[cells[0], cells[1]] = (
                None if "no source" in counts[0] else tuple(map(int, cells[2:7]))
            )
    return rows


def test_ids_stand_once_and_tell_the_category():
    ids = [question.id for question in QUESTIONS]
    assert len(set(ids)) == len(ids) >= 64
    short = {"direct": "dir", "multihop": "mul", "adversarial": "adv", "ood": "ood"}
    for question in QUESTIONS:
        assert re.fullmatch(rf"real-{short[question.category]}-\d{{3}}", question.id)


def test_every_question_is_unanchored_and_has_no_chunk_ids():
    assert {question.status for question in QUESTIONS} == {"unanchored"}
    assert not any(question.gold_source_ids for question in QUESTIONS)


def test_counts_are_those_of_the_readme():
    asked = {}
    for question in QUESTIONS:
        asked.setdefault((question.company, question.fy), Counter())[question.category] += 1
    stated = stated_table()
    assert len(stated) == 20
    for key, counts in stated.items():
        expected = None
        if key in asked:
            expected = (*(asked[key][name] for name in CATEGORIES), sum(asked[key].values()))
        assert counts == expected, key
    assert set(asked) <= set(stated)


def test_the_readme_states_written_and_planned_numbers_of_each_category():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    stated = re.findall(r"(?m)^\| [^|]*?(\w+)[`)]* \| (\d+) \| (\d+) \|$", readme)
    counts = Counter(question.category for question in QUESTIONS)
    expected = [(name, str(counts[name]), str(PLANNED[name])) for name in CATEGORIES]
    assert stated == [*expected, ("all", str(len(QUESTIONS)), str(sum(PLANNED.values())))]


def test_documents_are_those_of_the_corpus():
    sources = ROOT / "data" / "corpus" / "annual-reports" / "sources.yaml"
    listed = yaml.safe_load(sources.read_text(encoding="utf-8"))["documents"]
    pages = {one["doc_id"]: one.get("pages") or 10**4 for one in listed}
    years = {(one["company"], one["fy"]) for one in listed}
    assert set(stated_table()) == years
    for question in QUESTIONS:
        assert (question.company, question.fy) in years
        assert {one.doc_id for one in question.absent} <= {"", *pages}
        for quote in question.gold_quotes:
            assert quote.page <= pages[quote.doc_id], question.id


def test_quotes_are_short_and_hold_no_sign_that_extraction_may_read_otherwise():
    for question in QUESTIONS:
        for quote in question.gold_quotes:
            assert len(quote.quote) <= 80
            assert not re.search(r"[₹`]|(?<!\w)[CHJK]\s?\d", quote.quote), question.id


def test_numbers_that_are_not_computed_stand_in_a_quote():
    for question in QUESTIONS:
        if question.category in ("direct", "adversarial"):
            assert question.gold_quotes
            for derivation in derivations(question):
                assert derivation.rule == STANDS, f"{question.id}: {derivation}"


@pytest.mark.parametrize("question_id", RECOMPUTED)
def test_multihop_numbers_are_recomputed_from_two_quotes(question_id):
    question = next(one for one in QUESTIONS if one.id == question_id)
    first, second, rule = RECOMPUTED[question_id]
    quotes = question.gold_quotes
    holders = [
        {i for i, one in enumerate(quotes) if re.search(rf"(?<![\d,.]){text}(?!\d)", one.quote)}
        for text in (first, second)
    ]
    assert any(i != j for i in holders[0] for j in holders[1])
    (gold,) = question.gold_values
    decimals = len(f"{gold.value:.6f}".rstrip("0").partition(".")[2])
    assert round(RULES[rule](number(first), number(second)), decimals) == gold.value
    assert all(derivation.rule not in (None, STANDS) for derivation in derivations(question))
    assert len({(quote.doc_id, quote.page) for quote in quotes}) == len(quotes) == 2


def test_every_multihop_question_is_recomputed():
    assert {one.id for one in QUESTIONS if one.category == "multihop"} == set(RECOMPUTED)


@needs_sources
def test_each_quote_stands_in_the_source_of_its_page():
    for question in QUESTIONS:
        for quote in question.gold_quotes:
            assert on_page(quote.quote, quote.doc_id, quote.page), f"{question.id}: {quote}"


@needs_sources
def test_a_quote_with_another_last_digit_or_page_is_not_found():
    numeric = [
        (question.id, quote)
        for question in QUESTIONS
        for quote in question.gold_quotes
        if re.fullmatch(r"[\d,.]+", quote.quote)
    ]
    assert len(numeric) > 20
    for question_id, quote in numeric:
        other = quote.quote[:-1] + str((int(quote.quote[-1]) + 1) % 10)
        assert not on_page(other, quote.doc_id, quote.page), question_id
        assert not on_page(quote.quote, quote.doc_id, quote.page + 7), question_id


@needs_sources
def test_notes_name_the_file_and_row_that_hold_the_quotes():
    for question in QUESTIONS:
        rows = [int(n) for n in re.findall(r"statement_facts\.csv, row (\d+)", question.notes)]
        for n in rows:
            row = facts()[n - 1]
            doc_id = f"{COMPANIES[row['company']]}-{row['fy']}"
            place = doc_id, int(row["pdf_page"]), row["printed_value_inr_crore"].strip("()")
            held = {(quote.doc_id, quote.page, quote.quote) for quote in question.gold_quotes}
            assert place in held, question.id
        files = re.findall(r"[\w/-]+\.(?:csv|json|md|txt)", question.notes)
        assert bool(files) == (question.category != "ood"), question.id
        assert all((SOURCES / name).is_file() for name in files), question.id


@needs_sources
def test_a_pdf_page_of_the_fy23_report_holds_two_printed_pages():
    agreeing = 0
    for block, page in report_blocks():
        told = set(re.findall(r"### Table \d+ on Page (\d+)", block))
        if told and page is not None:
            assert told == {str(page)}
            agreeing += 1
    assert agreeing > 20
    for name, page, printed in (("2022-23", 209, 414), ("2023-24", 111, 218)):
        (known,) = (SOURCES / "reliance-statements").glob(f"RIL_{name}_pnl_pdf{page}_*{printed}*")
        assert known.is_file() and printed // 2 + 2 == page


@needs_sources
def test_each_distractor_stands_in_the_sources_of_its_company():
    for question in QUESTIONS:
        assert bool(question.distractors) == (question.category == "adversarial"), question.id
        held = of_companies({question.company})
        for one in question.distractors:
            assert stands_in(held, one.value), f"{question.id}: {one.value}"


@needs_sources
def test_what_would_answer_an_out_of_domain_question_stands_in_no_source_of_its_company():
    for question in QUESTIONS:
        assert bool(question.absent) == (question.category == "ood"), question.id
        held = of_companies({question.company}).casefold()
        for one in question.absent:
            assert squeeze(one.text).casefold() not in held, f"{question.id}: {one.text}"


def test_validation_refuses_nothing_that_is_only_unanchored():
    report = validate(QUESTIONS, pages=[], chunks=[])
    assert report.ok, [check for check in report.checks if not check.ok]
    (told,) = (check for check in report.checks if check.name.startswith("anchored:"))
    assert (len(told.failed), told.required) == (len(QUESTIONS), False)


def test_validation_tells_how_many_of_the_planned_questions_exist(capsys):
    profile = load_profile(ROOT / "configs" / "published.yaml")
    assert profile.planned is not None and profile.planned.by_category == PLANNED
    validate_command(profile, as_json=True)
    told = json.loads(capsys.readouterr().out)
    counts = Counter(question.category for question in QUESTIONS)
    (planned,) = (check for check in told["checks"] if check["name"].startswith("planned"))
    assert told["n_by_category"] == {name: counts[name] for name in CATEGORIES}
    for name in CATEGORIES:
        assert f"{name} {counts[name]} of {PLANNED[name]}" in planned["detail"]
    refusing = {check["name"] for check in told["checks"] if check["required"] and check["faults"]}
    assert refusing <= {planned["name"]}
