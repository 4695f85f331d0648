"""The invented corpus: accounts that foot, reports that repeat, prose that differs."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from rge.errors import RgeError, UsageError
from rge.invented import build_ledger, facts, render_corpus, slugs
from rge.invented.figures import Figures
from rge.invented.ledger import ENTITIES, Ledger
from rge.invented.money import group_indian, in_prose, in_table, number
from rge.invented.overview import DEFAULT_SEED
from rge.invented.prose import report_prose
from rge.invented.spec import REPORT_YEARS, YEARS, Bank
from rge.store import sha256_file

CORPUS = Path(__file__).parents[1] / "data" / "corpus" / "invented"
COMPANIES = slugs()
# Measured with `shared_8_grams` below: at most 0.07 % of a company's prose 8-grams (one in 1,400).
MAX_SHARED_8_GRAMS = 0.001


@cache
def ledger(slug: str) -> Ledger:
    return build_ledger(slug, DEFAULT_SEED)


def books(slug: str):
    """(entity, year, accounts) of all years that have a profit and loss statement."""
    return [(e, fy, ledger(slug).accounts[e, fy]) for e in ENTITIES for fy in YEARS]


def text_of(path: Path) -> str:
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(path).pages)


def test_ten_companies_in_ten_sectors():
    assert len(COMPANIES) == 10
    assert len({ledger(slug).spec.sector for slug in COMPANIES}) == 10


@pytest.mark.parametrize("slug", COMPANIES)
def test_the_balance_sheet_balances(slug):
    for entity, fy, account in books(slug):
        assert account.balance["total_assets"] == account.balance["total_claims"], (entity, fy)


@pytest.mark.parametrize("slug", COMPANIES)
def test_profit_and_loss_foots(slug):
    bank = isinstance(ledger(slug).spec.consolidated, Bank)
    for entity, fy, account in books(slug):
        p = account.pnl
        if bank:
            assert p["interest_earned"] + p["other_income"] == p["total_income"]
            spent = ("interest_expended", "operating_expenses", "provisions_charge", "tax")
            assert p["pat"] == p["total_income"] - sum(p[key] for key in spent)
            continue
        costs = [cost.id for cost in getattr(ledger(slug).spec, entity).costs]
        lines = [*costs, "finance_costs", "depreciation", "other_expenses"]
        assert sum(p[key] for key in lines) == p["total_expenses"], (entity, fy)
        assert p["total_income"] == p["revenue"] + p["other_income"]
        before = p["total_income"] - p["total_expenses"]
        assert p["pbt"] == before + p["associates"] + p["exceptional"]
        assert p["pat"] == p["pbt"] - p["current_tax"] - p["deferred_tax"]
        assert p["owners"] + p["minority"] == p["pat"]


@pytest.mark.parametrize("slug", COMPANIES)
def test_the_cash_flow_ends_at_the_cash_of_the_balance_sheet(slug):
    for entity, fy, account in books(slug):
        cash, before = account.cash, f"FY{int(fy[2:]) - 1}"
        moved = cash["operating"] + cash["investing"] + cash["financing"]
        assert cash["opening_cash"] + moved == cash["closing_cash"] == account.balance["cash"]
        assert cash["opening_cash"] == ledger(slug).accounts[entity, before].balance["cash"]


@pytest.mark.parametrize("slug", COMPANIES)
def test_equity_moves_by_income_payments_and_dividends_only(slug):
    for entity, fy, account in books(slug):
        before = ledger(slug).accounts[entity, f"FY{int(fy[2:]) - 1}"].balance
        p, cash = account.pnl, account.cash
        moved = p["pat"] + p.get("oci", 0) + p.get("share_payments", 0)
        moved += cash["issued"] + cash["dividends_paid"]
        assert before["total_equity"] + moved == account.balance["total_equity"], (entity, fy)


@pytest.mark.parametrize("slug", COMPANIES)
def test_segments_sum_to_the_group(slug):
    for report, fy in (("FY23", "FY23"), ("FY24", "FY23"), ("FY24", "FY24")):
        year = ledger(slug).segments_shown(report, fy)
        group = ledger(slug).shown(report, "consolidated", fy)
        assert sum(row.gross for row in year.rows) + year.eliminated == group.pnl["revenue"]
        assets = sum(row.assets for row in year.rows) + year.unallocated_assets
        assert assets == group.balance["total_assets"]
        p = group.pnl
        if ledger(slug).spec.kind == "bank":
            assert year.ebit == p["pbt"]
        else:
            assert year.ebit == p["ebitda"] - p["depreciation"]
            assert year.ebit + p["other_income"] - p["finance_costs"] == p["before_exceptional"]


@pytest.mark.parametrize("slug", COMPANIES)
def test_earnings_per_share_follow_from_profit_and_weighted_shares(slug):
    for entity, fy, account in books(slug):
        share = ledger(slug).per_share[entity, fy]
        low, high = sorted(ledger(slug).spec.shares[YEARS.index(fy) :][:2])
        assert low <= share.weighted <= high
        assert abs(share.basic - account.pnl["owners"] / share.weighted) <= 0.005
        assert abs(share.diluted) <= abs(share.basic)


@pytest.mark.parametrize("slug", COMPANIES)
def test_dividends_paid_are_last_years_final_and_this_years_interim(slug):
    spec = ledger(slug).spec
    for fy in YEARS:
        before = f"FY{int(fy[2:]) - 1}"
        paid = spec.dividends[before].final + spec.dividends[fy].interim
        expected = round(spec.shares[YEARS.index(fy) + 1] * paid)
        for entity in ENTITIES:
            assert -ledger(slug).accounts[entity, fy].cash["dividends_paid"] == expected


@pytest.mark.parametrize("slug", COMPANIES)
def test_quarters_sum_to_the_year(slug):
    for fy in REPORT_YEARS:
        p = ledger(slug).accounts["consolidated", fy].pnl
        quarters = ledger(slug).quarters[fy]
        assert sum(q.revenue for q in quarters) == p["revenue"]
        assert sum(q.pat for q in quarters) == p["owners"]


@pytest.mark.parametrize("slug", COMPANIES)
def test_a_comparative_that_differs_is_restated_in_a_note(slug):
    book = ledger(slug)
    changed = set()
    corrected = {
        entity
        for change in book.spec.restatements
        if change.kind == "profit"
        for entity in (ENTITIES if change.both else ("consolidated",))
    }
    for entity in ENTITIES:
        first, again = (book.shown(report, entity, "FY23") for report in REPORT_YEARS)
        changed |= {key for key in first.pnl if first.pnl[key] != again.pnl[key]}
        assert (first.balance != again.balance) == (entity in corrected)
        assert (first.cash != again.cash) == (entity in corrected)
        assert (first.pnl["pat"] != again.pnl["pat"]) == (entity in corrected)
    moved = book.segments_shown("FY23", "FY23") != book.segments_shown("FY24", "FY23")
    assert bool(changed or moved) == bool(book.spec.restatements)
    notes = " ".join(p.plain for p in report_prose(Figures(book, "FY24"))["notes"].parts)
    for change in book.spec.restatements:
        assert in_prose(round(change.amount * 100), book.spec.unit) in notes


@pytest.mark.parametrize("slug", COMPANIES)
def test_the_parent_holds_no_more_than_the_group_where_it_cannot(slug):
    for fy in YEARS:
        alone, group = (ledger(slug).accounts[e, fy] for e in ENTITIES)
        assert alone.balance["share_capital"] == group.balance["share_capital"]
        for key in ("ppe", "intangibles", "inventories", "cash", "advances", "fixed_assets"):
            if key in group.balance:
                assert alone.balance[key] <= group.balance[key], (fy, key)
        assert alone.pnl["revenue"] <= group.pnl["revenue"]


def test_the_stated_interest_margin_of_the_bank_follows_from_its_accounts():
    book = ledger("sindhuvar")
    for before, fy in (("FY22", "FY23"), ("FY23", "FY24")):
        sheets = [book.accounts["standalone", year].balance for year in (before, fy)]
        earning = sum(s[key] for s in sheets for key in ("cash", "investments", "advances")) / 2
        margin = book.accounts["standalone", fy].pnl["nii"] / earning * 100
        assert book.metric("nim").values[fy] == pytest.approx(margin, abs=0.02)


@pytest.mark.parametrize("slug", COMPANIES)
def test_five_traps_or_more_are_recorded(slug):
    assert len(ledger(slug).spec.traps) >= 5


def test_a_provisional_or_misprinted_figure_stands_only_in_the_first_report():
    for slug in COMPANIES:
        for metric in ledger(slug).spec.metrics:
            early = metric.misprint if metric.misprint is not None else metric.provisional
            if early is not None:
                assert ledger(slug).metric_shown("FY23", metric.id, "FY23") == early
                assert ledger(slug).metric_shown("FY24", metric.id, "FY23") == metric.values["FY23"]


def shared_8_grams() -> dict[str, float]:
    """Share of a company's distinct prose 8-grams that also stand in another company's prose."""
    grams = {}
    for slug in COMPANIES:
        words = []
        for report in REPORT_YEARS:
            sections = report_prose(Figures(ledger(slug), report)).values()
            text = " ".join(f"{p.heading} {p.plain}" for s in sections for p in s.parts)
            words += re.findall(r"[a-z]+", text.lower())
        grams[slug] = {tuple(words[i : i + 8]) for i in range(len(words) - 7)}
    return {
        a: len(grams[a] & set().union(*(grams[b] for b in COMPANIES if b != a))) / len(grams[a])
        for a in COMPANIES
    }


def test_prose_is_written_company_by_company():
    assert max(shared_8_grams().values()) <= MAX_SHARED_8_GRAMS


def test_no_paragraph_stands_in_both_reports_of_a_company():
    for slug in COMPANIES:
        first, second = (
            {p.plain for s in report_prose(Figures(ledger(slug), fy)).values() for p in s.parts}
            for fy in REPORT_YEARS
        )
        assert not first & second, slug


def test_names_are_not_shared_between_companies():
    people = {slug: {p.name for p in ledger(slug).spec.people} for slug in COMPANIES}
    for a, b in combinations(COMPANIES, 2):
        assert not people[a] & people[b]


def test_the_committed_reports_are_the_ones_that_sources_yaml_pins():
    documents = yaml.safe_load((CORPUS / "sources.yaml").read_text(encoding="utf-8"))["documents"]
    assert [d["doc_id"] for d in documents] == [
        f"{s}-{fy}" for s in COMPANIES for fy in REPORT_YEARS
    ]
    for document in documents:
        path = CORPUS / document["file"]
        assert sha256_file(path) == document["sha256"]
        assert path.stat().st_size == document["bytes"]
        assert document["pages"] >= 25
    assert sum(d["pages"] for d in documents) >= 600
    assert sum(d["bytes"] for d in documents) < 15_000_000


def test_the_same_seed_renders_the_committed_text(tmp_path):
    for path in render_corpus(tmp_path, seed=DEFAULT_SEED, only=["meruvan"]):
        assert text_of(path) == text_of(CORPUS / path.name)


def test_another_seed_changes_the_digits_and_still_balances():
    other = build_ledger("haldivan", 7)
    for key, account in other.accounts.items():
        assert account.balance["total_assets"] == account.balance["total_claims"], key
    mine = ledger("haldivan").accounts["consolidated", "FY24"].pnl["revenue"]
    assert other.accounts["consolidated", "FY24"].pnl["revenue"] != mine


@pytest.mark.parametrize("name", ["meruvan-fy24", "thalivo-fy23"])
def test_rupee_sign_grouping_and_negatives_survive_extraction(name):
    text = text_of(CORPUS / f"{name}.pdf")
    book = ledger(name.split("-")[0])
    revenue = book.accounts["consolidated", name[-4:].upper()].pnl["revenue"]
    assert in_table(revenue, "crore") in text
    assert in_prose(revenue, "crore") in re.sub(r"\s+", " ", text)
    assert re.search(r"\(\d[\d,]*\.\d\d\)", text)


def test_printed_page_numbers_differ_from_pdf_pages():
    from pypdf import PdfReader

    page = PdfReader(CORPUS / "taranveth-fy24.pdf").pages[3].extract_text()
    assert re.match(r"^9\b", page) or re.search(r"(^|\n)9\b", page)


def test_facts_are_the_figures_the_report_prints():
    found = facts("kadalmukh", "FY23")
    assert found["metrics"]["cargo"][1] == 132.4
    assert found["consolidated"]["total_assets"] == found["consolidated"]["total_claims"]


@pytest.mark.parametrize(
    ("digits", "grouped"),
    [
        ("7", "7"),
        ("532", "532"),
        ("8532", "8,532"),
        ("108532", "1,08,532"),
        ("10853245", "1,08,53,245"),
    ],
)
def test_indian_grouping(digits, grouped):
    assert group_indian(digits) == grouped


def test_amounts_print_as_in_an_indian_report():
    assert in_table(10853245, "crore") == "1,08,532.45"
    assert in_table(-4120, "crore") == "(41.20)"
    assert in_table(0, "crore") == "–"
    assert in_table(10853245, "lakh") == "1,08,53,245"
    assert in_table(10853245, "million") == "1,085,324.5"
    assert number(-0.001, 2) == "0.00"


def test_an_unknown_company_or_figure_is_named_in_the_error(tmp_path):
    with pytest.raises(UsageError, match="no company 'acme'"):
        render_corpus(tmp_path, seed=1, only=["acme"])
    with pytest.raises(RgeError, match=r"meruvan-FY24: \[\[c\.nosuch\.24\]\]"):
        Figures(ledger("meruvan"), "FY24").fill("[[c.nosuch.24]]")
