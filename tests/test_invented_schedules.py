"""Note schedules of the invented reports: they foot, tie to the statements and repeat."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import pytest

from rge.errors import RgeError
from rge.invented import build_ledger, slugs
from rge.invented.document import report_data
from rge.invented.figures import Figures
from rge.invented.fixed_assets import movements
from rge.invented.ledger import ENTITIES, Ledger, ledger_of
from rge.invented.money import number
from rge.invented.overview import DEFAULT_SEED
from rge.invented.schedule import Schedule, View
from rge.invented.schedules import entity_schedules
from rge.invented.spec import REPORT_YEARS, Restatement, load_spec
from rge.invented.tables import Tables

COMPANIES = slugs()
OTHERS = [slug for slug in COMPANIES if slug != "sindhuvar"]
ALL = list(product(COMPANIES, REPORT_YEARS, ENTITIES))


@cache
def ledger(slug: str) -> Ledger:
    return build_ledger(slug, DEFAULT_SEED)


def tables(book: Ledger, report: str) -> Tables:
    return Tables(Figures(book, report))


@cache
def schedules(slug: str, report: str, entity: str) -> list[Schedule]:
    return entity_schedules(tables(ledger(slug), report), entity)


def of(slug: str, report: str, entity: str, key: str) -> list[Schedule]:
    return [s for s in schedules(slug, report, entity) if s.id == key]


def row(schedule: Schedule, label: str) -> tuple:
    return next(e.cells for e in schedule.entries if e.label == label)


def check_ties(book: Ledger, report: str, entity: str, found: list[Schedule]) -> set[str]:
    """The statement lines that some schedule equals, each compared with the printed amount."""
    tied = set()
    for schedule in found:
        for entry in schedule.entries:
            for cell, line, fy in zip(entry.cells, entry.lines, schedule.years, strict=False):
                if not line:
                    continue
                sign = -1 if line.startswith("-") else 1
                parts = [
                    book.shown(report, entity, fy).find(p.lstrip("-")) for p in line.split("+")
                ]
                assert cell == sign * sum(parts), (schedule.id, entry.label, fy)
                tied.add(line)
    return tied


def check_sums(schedule: Schedule) -> None:
    """Subtotals and totals are the sums of the rows above them, columns across where so said."""
    for column in range(len(schedule.columns)):
        group = whole = 0
        for entry in schedule.entries:
            cell = entry.cells[column]
            if entry.kind == "head":
                group = 0
            elif entry.kind == "item" and isinstance(cell, int):
                group, whole = group + cell, whole + cell
            elif entry.kind == "sub" and isinstance(cell, int):
                assert cell == group, (schedule.id, entry.label)
                group = 0
            elif entry.kind == "total" and isinstance(cell, int):
                assert cell == whole, (schedule.id, entry.label)
                group = whole = 0
    if schedule.across:
        for entry in schedule.entries:
            if entry.kind != "head" and all(isinstance(cell, int) for cell in entry.cells):
                assert sum(entry.cells[:-1]) == entry.cells[-1], (schedule.id, entry.label)


@pytest.mark.parametrize(("slug", "report", "entity"), ALL)
def test_rows_sum_to_the_totals_they_stand_above(slug, report, entity):
    for schedule in schedules(slug, report, entity):
        check_sums(schedule)


@pytest.mark.parametrize(("slug", "report", "entity"), ALL)
def test_every_schedule_equals_its_statement_line_in_both_years(slug, report, entity):
    book = ledger(slug)
    tied = check_ties(book, report, entity, schedules(slug, report, entity))
    if slug == "sindhuvar":
        lines = "deposits bank_borrowings other_liabilities cash investments advances fixed_assets "
        lines += "other_assets share_capital other_equity interest_earned interest_expended "
        lines += "other_income operating_expenses provisions_charge tax pbt"
    else:
        lines = "ppe intangibles other_noncurrent current_investments cash other_current "
        lines += (
            "share_capital other_equity long_borrowings short_borrowings borrowings provisions "
        )
        lines += "payables other_liabilities deferred_tax_liability revenue other_income "
        lines += "finance_costs depreciation other_expenses employees pbt tax deferred_tax"
    account = book.shown(report, entity, report)
    optional = ("inventories", "receivables", "investments", "minority_equity")
    expected = set(lines.split()) | {key for key in optional if account.find(key)}
    assert expected <= tied


@pytest.mark.parametrize(("slug", "entity"), list(product(COMPANIES, ENTITIES)))
def test_the_comparative_column_repeats_the_first_report_unless_restated(slug, entity):
    book = ledger(slug)
    restated = {
        key
        for key, amount in {
            **book.accounts[entity, "FY23"].pnl,
            **book.accounts[entity, "FY23"].balance,
        }.items()
        if book.shown("FY24", entity, "FY23").find(key) != amount
    }
    first, again = (_cells(schedules(slug, report, entity)) for report in REPORT_YEARS)
    compared = 0
    for key in first.keys() & again.keys():
        if first[key] == again[key]:
            compared += 1
            continue
        assert restated or key[0] == "adequacy", key
        assert _touched(key[0], restated), (key, restated)
    assert compared > 80


def _cells(found: list[Schedule]) -> dict[tuple, tuple]:
    """(schedule, label, nth) to the FY23 cells of the row."""
    cells: dict[tuple, tuple] = {}
    for schedule in found:
        heads = ""
        for entry in schedule.entries:
            if entry.kind == "head":
                heads = entry.label
            values = tuple(
                (name.replace("(restated)", ""), cell)
                for name, cell, fy in zip(
                    schedule.columns, entry.cells, schedule.years, strict=True
                )
                if fy == "FY23"
            )
            if values and schedule.id not in ("ratios", "deferred_tax"):
                cells[schedule.id, heads, entry.label] = values
    return cells


def _touched(schedule: str, restated: set[str]) -> bool:
    """Whether a restated line stands behind the schedule."""
    lines = {
        "adequacy": {"crar"},
        "receivables": {"receivables"},
        "consumed": {"inventories", "materials"},
        "equity": {"other_equity"},
        "tax": {"pbt", "tax"},
        "earnings": {"owners"},
        "liquidity": {"payables", "other_liabilities"},
        "capital": {"total_equity"},
        "instruments": {"receivables", "payables"},
        "payables_ageing": {"payables"},
    }.get(schedule, {schedule})
    return bool(lines & (restated | {"crar"}))


@pytest.mark.parametrize(("slug", "entity"), list(product(OTHERS, ENTITIES)))
def test_classes_of_assets_move_from_the_opening_to_the_closing_sheet(slug, entity):
    view = View(tables(ledger(slug), "FY24"), entity)
    for key in ("ppe", "intangibles"):
        moved = movements(view, key)
        for before, fy in (("FY21", "FY22"), ("FY22", "FY23"), ("FY23", "FY24")):
            opening = sum(m.gross - m.worn for m in moved[fy])
            assert opening == view.first(key, before)
            assert sum(m.net for m in moved[fy]) == view.first(key, fy)
            assert all(m.net >= 0 and m.closing_worn >= 0 for m in moved[fy]), (key, fy)
    for fy in REPORT_YEARS:
        charge = sum(m.charge for k in ("ppe", "intangibles") for m in movements(view, k)[fy])
        assert charge == view.first("depreciation", fy)
        spent = sum(m.additions for k in ("ppe", "intangibles") for m in movements(view, k)[fy])
        assert spent == view.first("-capex", fy)


@pytest.mark.parametrize(
    ("slug", "report", "entity"), list(product(OTHERS, REPORT_YEARS, ENTITIES))
)
def test_ageing_has_no_negative_bucket_and_its_allowance_is_the_one_that_moves(
    slug, report, entity
):
    aged = of(slug, report, entity, "receivables")
    for schedule, year in zip(aged, range(2), strict=False):
        for label in ("Undisputed, considered good", "Disputed", "Trade receivables"):
            assert min(row(schedule, label)) >= 0
        moved = of(slug, report, entity, "allowance")[0]
        assert row(schedule, "Allowance")[-1] == -row(moved, "Closing balance")[year]
    for schedule in of(slug, report, entity, "payables_ageing"):
        assert min(min(entry.cells) for entry in schedule.entries) >= 0


@pytest.mark.parametrize(
    ("slug", "report", "entity"), list(product(OTHERS, REPORT_YEARS, ENTITIES))
)
def test_printed_ratios_follow_from_the_printed_statements(slug, report, entity):
    book, years = ledger(slug), (report, f"FY{int(report[2:]) - 1}")
    ratios = of(slug, report, entity, "ratios")[0]
    for column, fy in enumerate(years):
        account = book.shown(report, entity, fy)
        before = book.accounts[entity, f"FY{int(fy[2:]) - 1}"]
        if (report, fy) == ("FY24", "FY24"):
            before = book.shown(report, entity, "FY23")
        b, p = account.balance, account.pnl
        current = b["current_assets"] / b["current_liabilities"]
        assert row(ratios, "Current ratio")[column] == number(current, 2)
        gearing = b["borrowings"] / b["total_equity"]
        assert row(ratios, "Debt-equity ratio")[column] == number(gearing, 2)
        mean = (b["total_equity"] + before.balance["total_equity"]) / 2
        assert row(ratios, "Return on equity (%)")[column] == number(p["pat"] / mean * 100, 2)
        margin = number(p["pat"] / p["revenue"] * 100, 2)
        assert row(ratios, "Net profit margin (%)")[column] == margin


@pytest.mark.parametrize("slug", OTHERS)
def test_the_parent_shows_no_loan_of_a_subsidiary(slug):
    spec = ledger(slug).spec
    own = spec.name.split()[0]
    names = {s.name.split()[0] for s in spec.subsidiaries if s.relation == "Subsidiary"} - {own}
    for entry in of(slug, "FY24", "standalone", "borrowings")[0].entries:
        assert not [name for name in names if name in entry.label], entry.label
    held = of(slug, "FY24", "standalone", "investments")[0]
    assert held.entries[0].label == "Equity shares of subsidiaries, unquoted"


@pytest.mark.parametrize("slug", OTHERS)
def test_a_ratio_that_changes_by_more_than_a_quarter_states_a_reason(slug):
    for report, entity in product(REPORT_YEARS, ENTITIES):
        for entry in of(slug, report, entity, "ratios")[0].entries:
            change, reason = entry.cells[2], entry.cells[3]
            size = 0.0 if change == "n.m." else float(re.sub(r"[(),]", "", change))
            # One decimal is printed: 25.0 may stand for a little more.
            if size > 25.05:
                assert reason, entry.label
            if size < 24.95:
                assert not reason, entry.label


@pytest.mark.parametrize("report", REPORT_YEARS)
def test_the_stated_ratios_of_the_bank_follow_from_its_schedules(report):
    book = ledger("sindhuvar")
    quality = of("sindhuvar", report, "standalone", "asset_quality")[0]
    deposits = of("sindhuvar", report, "standalone", "deposits")[0]
    capital = of("sindhuvar", report, "standalone", "adequacy")[0]
    for column, fy in enumerate((report, f"FY{int(report[2:]) - 1}")):

        def stated(name: str, fy: str = fy) -> float:
            return book.metric_shown(report, name, fy)

        gross, npa, net, lost = (
            row(quality, label)[column]
            for label in ("Gross advances", "Gross NPA", "Net NPA", "Provisions for NPA")
        )
        assert npa / gross * 100 == pytest.approx(stated("gnpa"), abs=0.005)
        advances = book.shown(report, "standalone", fy).balance["advances"]
        assert net / advances * 100 == pytest.approx(stated("nnpa"), abs=0.005)
        assert -lost / npa * 100 == pytest.approx(stated("pcr"), abs=0.05)
        assert row(quality, "Claims and interest held in suspense")[column] <= 0
        cheap = sum(
            e.cells[column]
            for e in deposits.entries
            if e.kind == "item" and re.search("current|saving", e.label, re.IGNORECASE)
        )
        total = book.shown(report, "standalone", fy).balance["deposits"]
        assert cheap / total * 100 == pytest.approx(stated("casa"), abs=0.05)
        ratio = row(capital, "Total capital")[column] / row(capital, "Risk-weighted assets")[column]
        assert ratio * 100 == pytest.approx(stated("crar"), abs=0.005)
        common = sum(
            row(capital, label)[column]
            for label in ("Capital and reserves", "Regulatory adjustments")
        )
        tier_one = common / row(capital, "Risk-weighted assets")[column] * 100
        assert tier_one == pytest.approx(stated("cet"), abs=0.005)
        moved = of("sindhuvar", report, "standalone", "npa")[0]
        assert row(moved, "Closing gross NPA")[column] == npa
        assert row(moved, "Slippages")[column] > 0


@pytest.mark.parametrize("slug", COMPANIES)
def test_a_report_is_the_same_data_when_it_is_made_again(slug):
    book, again = ledger(slug), build_ledger(slug, DEFAULT_SEED)
    for report in REPORT_YEARS:
        assert report_data(book, report) == report_data(again, report)


def test_schedules_draw_digits_apart_from_the_ledger():
    book = build_ledger("haldivan", DEFAULT_SEED)
    before = {key: (a.pnl, a.balance, a.cash) for key, a in book.accounts.items()}
    report_data(book, "FY24")
    fresh = build_ledger("haldivan", DEFAULT_SEED)
    assert before == {key: (a.pnl, a.balance, a.cash) for key, a in fresh.accounts.items()}


def test_schedule_titles_differ_between_companies():
    titles = {
        slug: {
            str(block["title"])
            for entry in report_data(ledger(slug), "FY24")["main"]
            for block in entry.get("tables", [entry])
            if block["t"] == "table"
        }
        for slug in COMPANIES
    }
    for a, b in product(COMPANIES, COMPANIES):
        if a < b:
            assert len(titles[a] & titles[b]) < 0.4 * len(titles[a]), (a, b)


@pytest.mark.parametrize("slug", COMPANIES)
def test_a_report_has_25_pages_or_more(slug):
    assert min(pages(slug)) >= 25


def test_the_corpus_has_600_pages_or_more():
    assert sum(sum(pages(slug)) for slug in COMPANIES) >= 600


@cache
def pages(slug: str) -> tuple[int, ...]:
    """PDF pages of both reports of a company."""
    import io

    from pypdf import PdfReader

    from rge.invented.render import render_report

    return tuple(
        len(PdfReader(io.BytesIO(render_report(ledger(slug), report))).pages)
        for report in REPORT_YEARS
    )


def corrected(slug: str, **change: object) -> Ledger:
    """A ledger whose FY23 held an error that the FY24 report corrects."""
    spec = load_spec(slug)
    fields = {"kind": "profit", "amount": 214.6, "note": "an error of the preceding year"} | change
    added = Restatement.model_validate(fields)
    restatements = tuple(r for r in spec.restatements if r.kind != "profit")
    return ledger_of(spec.model_copy(update={"restatements": (*restatements, added)}), DEFAULT_SEED)


CORRECTIONS = [
    ("rathavar", {"from": "revenue", "to": "other_liabilities", "segment": "luxury"}),
    ("rathavar", {"from": "revenue", "to": "receivables", "segment": "cv", "both": True}),
    ("haldivan", {"from": "materials", "to": "inventories", "segment": "foods", "both": True}),
    ("haldivan", {"from": "advertising", "to": "payables", "segment": "care", "amount": -88.4}),
]


@pytest.mark.parametrize(("slug", "change"), CORRECTIONS)
def test_a_corrected_error_leaves_accounts_that_foot_and_balance(slug, change):
    book = corrected(slug, **change)
    amount = round(change.get("amount", 214.6) * 100)
    tax = round(amount * book.spec.tax_rate / 100)
    for entity in ENTITIES if change.get("both") else ("consolidated",):
        first = book.accounts[entity, "FY23"]
        for fy in ("FY23", "FY24"):
            account = book.shown("FY24", entity, fy)
            b, p, c = account.balance, account.pnl, account.cash
            assert b["total_assets"] == b["total_claims"]
            assert p["total_income"] == p["revenue"] + p["other_income"]
            assert p["pbt"] == (
                p["total_income"] - p["total_expenses"] + p["associates"] + p["exceptional"]
            )
            assert p["pat"] == p["pbt"] - p["current_tax"] - p["deferred_tax"]
            assert p["owners"] + p["minority"] == p["pat"]
            working = [k for k in c if k.endswith("_cf")]
            assert sum(c[k] for k in working) == c["generated"]
            assert b["other_equity"] == (
                book.accounts[entity, fy].balance["other_equity"] - amount + tax
            )
        again = book.shown("FY24", entity, "FY23")
        assert again.pnl["pbt"] == first.pnl["pbt"] - amount
        assert again.pnl["pat"] == first.pnl["pat"] - amount + tax
        for key in ("generated", "operating", "investing", "financing", "closing_cash"):
            assert again.cash[key] == first.cash[key]
        later = book.shown("FY24", entity, "FY24")
        moved = later.balance["total_equity"] - again.balance["total_equity"]
        p, c = later.pnl, later.cash
        assert moved == (
            p["comprehensive"] + p["share_payments"] + c["issued"] + c["dividends_paid"]
        )
        share = book.per_share_shown("FY24", entity, "FY23")
        assert abs(share.basic - again.pnl["owners"] / share.weighted) <= 0.005


@pytest.mark.parametrize(("slug", "change"), CORRECTIONS)
def test_a_corrected_error_reaches_segments_summary_and_schedules(slug, change):
    book = corrected(slug, **change)
    for fy in ("FY23", "FY24"):
        year, group = book.segments_shown("FY24", fy), book.shown("FY24", "consolidated", fy)
        assert year.revenue == group.pnl["revenue"]
        assert year.ebit == group.pnl["ebitda"] - group.pnl["depreciation"]
        assets = sum(r.assets for r in year.rows) + year.unallocated_assets
        assert assets == group.balance["total_assets"]
    columns = [book.summary(report)["FY23"] for report in REPORT_YEARS]
    again = book.shown("FY24", "consolidated", "FY23")
    assert columns[1].pat == again.pnl["owners"] != columns[0].pat
    assert columns[1].net_worth == again.balance["net_worth"] != columns[0].net_worth
    assert columns[1].eps == book.per_share_shown("FY24", "consolidated", "FY23").basic
    for entity in ENTITIES:
        found = entity_schedules(tables(book, "FY24"), entity)
        check_ties(book, "FY24", entity, found)
        for schedule in found:
            check_sums(schedule)


def test_a_corrected_error_leaves_the_first_report_as_it_was():
    book = corrected(*CORRECTIONS[0][:1], **CORRECTIONS[0][1])
    plain = ledger("rathavar")
    assert book.accounts == plain.accounts
    assert book.segments == plain.segments
    assert book.per_share == plain.per_share
    assert report_data(book, "FY23") == report_data(plain, "FY23")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"from": "nothing", "to": "receivables", "segment": "cv"}, "from: 'nothing'"),
        ({"from": "revenue", "to": "ppe", "segment": "cv"}, "to: 'ppe'.*inventories, receivables"),
        ({"from": "revenue", "to": "receivables"}, "segment: ''.*cv, pv"),
    ],
)
def test_a_correction_that_names_no_line_says_what_it_may_name(change, message):
    with pytest.raises(RgeError, match=message):
        corrected("rathavar", **change)
