"""One ledger of facts per company and seed; text and tables of both reports read from it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rge.invented.accounts import Accounts, ShareFlows, entity_accounts, fine
from rge.invented.bank import bank_accounts
from rge.invented.restate import restate
from rge.invented.segments import SegmentYear, allocate, bank_segments, company_segments
from rge.invented.spec import REPORT_YEARS, YEARS, Bank, Entity, Metric, Spec, load_spec

ENTITIES = ("standalone", "consolidated")


@dataclass(frozen=True)
class PerShare:
    """Weighted shares (lakh) and earnings per share (rupees) of one entity and year."""

    weighted: int
    diluted_weighted: int
    basic: float
    diluted: float


@dataclass(frozen=True)
class Quarter:
    """One quarter of the consolidated accounts (lakh); the four sum to the year."""

    revenue: int
    ebitda: int
    pat: int


@dataclass(frozen=True)
class Summary:
    """One column of the five-year summary (consolidated; lakh, rupees per share)."""

    revenue: int
    ebitda: int
    pat: int
    net_worth: int
    borrowings: int
    eps: float
    dps: float


@dataclass(frozen=True)
class Ledger:
    """All figures of one company.

    `accounts[entity, fy]` and `segments[fy]` are as first reported; `shown(...)` and
    `segments_shown(...)` give them as a given year's report prints them (restated comparatives,
    and the FY24 balances that carry a corrected error on).
    """

    spec: Spec
    seed: int
    accounts: Mapping[tuple[str, str], Accounts]
    restated: Mapping[tuple[str, str], Accounts]
    segments: Mapping[str, SegmentYear]
    segments_restated: Mapping[str, SegmentYear]
    per_share: Mapping[tuple[str, str], PerShare]
    per_share_restated: Mapping[tuple[str, str], PerShare]
    dividends_paid: Mapping[str, int]
    quarters: Mapping[str, tuple[Quarter, ...]]
    history: Mapping[str, Summary]

    def shown(self, report: str, entity: str, fy: str) -> Accounts:
        """Accounts of `fy` as the report of year `report` prints them."""
        if report == "FY24" and (entity, fy) in self.restated:
            return self.restated[entity, fy]
        return self.accounts[entity, fy]

    def segments_shown(self, report: str, fy: str) -> SegmentYear:
        """Segments of `fy` as the report of year `report` prints them."""
        if report == "FY24" and fy in self.segments_restated:
            return self.segments_restated[fy]
        return self.segments[fy]

    def per_share_shown(self, report: str, entity: str, fy: str) -> PerShare:
        """Earnings per share of `fy` as the report of year `report` prints them."""
        if report == "FY24" and (entity, fy) in self.per_share_restated:
            return self.per_share_restated[entity, fy]
        return self.per_share[entity, fy]

    def metric(self, metric_id: str) -> Metric:
        """The stated figure of this id."""
        return next(metric for metric in self.spec.metrics if metric.id == metric_id)

    def metric_shown(self, report: str, metric_id: str, fy: str) -> float:
        """The figure as `report` prints it: provisional, misprinted, restated or final."""
        metric = self.metric(metric_id)
        if fy == "FY23" and report == "FY23":
            for early in (metric.misprint, metric.provisional):
                if early is not None:
                    return early
        if fy == "FY23" and report == "FY24" and metric.restated is not None:
            return metric.restated
        return metric.values[fy]

    def summary(self, report: str) -> dict[str, Summary]:
        """The five years that end with `report`, oldest first."""
        last = int(report[2:])
        years = [f"FY{year}" for year in range(last - 4, last + 1)]
        return {fy: self._column(report, fy) for fy in years}

    def _column(self, report: str, fy: str) -> Summary:
        if fy in self.history:
            return self.history[fy]
        books = self.shown(report, "consolidated", fy)
        dividend = self.spec.dividends[fy]
        return Summary(
            books.pnl["revenue"],
            books.pnl["ebitda"],
            books.pnl["owners"],
            books.balance["net_worth"],
            books.balance["borrowings"],
            self.per_share_shown(report, "consolidated", fy).basic,
            dividend.interim + dividend.final,
        )


def build_ledger(slug: str, seed: int) -> Ledger:
    """The ledger of one company; the same seed gives the same ledger.

    Raises
    ------
    RgeError
        When the spec is malformed or cannot be satisfied (a negative balance, for example).
    """
    return ledger_of(load_spec(slug), seed)


def ledger_of(spec: Spec, seed: int) -> Ledger:
    """The ledger of a company as this spec describes it."""
    rng = np.random.default_rng([seed, zlib.crc32(spec.slug.encode())])
    owners = _share_flows(spec, rng)
    if isinstance(spec.consolidated, Bank):
        accounts = _banks(spec, owners, rng)
        segments = bank_segments(spec, accounts, rng)
    else:
        segments = company_segments(spec, rng)
        accounts = _companies(spec, segments, owners, rng)
        segments = allocate(spec, segments, accounts)
    restated, segments_restated = restate(spec, accounts, segments)
    per_share = {
        (entity, fy): _per_share(spec, accounts[entity, fy], fy)
        for entity in ENTITIES
        for fy in YEARS
    }
    return Ledger(
        spec,
        seed,
        accounts,
        restated,
        segments,
        segments_restated,
        per_share,
        {(entity, fy): _per_share(spec, books, fy) for (entity, fy), books in restated.items()},
        {fy: owners[fy].dividends for fy in YEARS},
        {fy: _quarters(spec, accounts["consolidated", fy], rng) for fy in REPORT_YEARS},
        _history(spec, accounts["consolidated", "FY21"], rng),
    )


def _share_flows(spec: Spec, rng: np.random.Generator) -> dict[str, ShareFlows]:
    """Capital, issues and dividends paid; a final dividend is paid a year after its proposal."""
    shares = [round(count) for count in spec.shares]
    flows = {"FY21": ShareFlows(round(shares[0] * spec.face_value), 0, 0)}
    years = ("FY21", *YEARS)
    for i, fy in enumerate(YEARS, start=1):
        paid = spec.dividends[years[i - 1]].final + spec.dividends[fy].interim
        issued = fine(spec.issue[i - 1], rng)
        grown = round((shares[i] - shares[i - 1]) * spec.face_value)
        # A buy-back is negative; options exercised bring at least the face value.
        issued = issued if issued < 0 else max(issued, grown)
        flows[fy] = ShareFlows(round(shares[i] * spec.face_value), issued, round(shares[i] * paid))
    return flows


def _companies(
    spec: Spec,
    segments: Mapping[str, SegmentYear],
    owners: Mapping[str, ShareFlows],
    rng: np.random.Generator,
) -> dict[tuple[str, str], Accounts]:
    revenue = {fy: segments[fy].revenue for fy in YEARS}
    ebit = {fy: segments[fy].ebit for fy in YEARS}
    revenue["FY21"] = fine(spec.history["revenue"][2], rng)
    group, alone = spec.consolidated, spec.standalone
    if not isinstance(group, Entity) or not isinstance(alone, Entity) or alone.margin is None:
        raise TypeError("a company spec needs two Entity drivers and a standalone margin")
    books = entity_accounts(
        spec, group, name="consolidated", revenue=revenue, ebit=ebit, owners=owners, rng=rng
    )
    share = dict(zip(YEARS, alone.revenue_share, strict=True)) | {"FY21": alone.revenue_share[0]}
    own = {fy: round(revenue[fy] * share[fy] / 100) for fy in revenue}
    result = {
        fy: round(own[fy] * m / 100 * rng.uniform(0.99, 1.01))
        for fy, m in zip(YEARS, alone.margin, strict=True)
    }
    own_books = entity_accounts(
        spec, alone, name="standalone", revenue=own, ebit=result, owners=owners, rng=rng
    )
    return _keyed(books, own_books)


def _banks(
    spec: Spec, owners: Mapping[str, ShareFlows], rng: np.random.Generator
) -> dict[tuple[str, str], Accounts]:
    group, alone = spec.consolidated, spec.standalone
    if not isinstance(group, Bank) or not isinstance(alone, Bank):
        raise TypeError("a bank spec needs two Bank drivers")
    books = bank_accounts(spec, group, name="consolidated", owners=owners, rng=rng)
    return _keyed(books, bank_accounts(spec, alone, name="standalone", owners=owners, rng=rng))


def _keyed(
    group: Mapping[str, Accounts], alone: Mapping[str, Accounts]
) -> dict[tuple[str, str], Accounts]:
    keyed = {("consolidated", fy): books for fy, books in group.items()}
    return keyed | {("standalone", fy): books for fy, books in alone.items()}


def _per_share(spec: Spec, books: Accounts, fy: str) -> PerShare:
    i = YEARS.index(fy)
    opening, closing = spec.shares[i], spec.shares[i + 1]
    weighted = round(opening + (closing - opening) * spec.issue_weight[i])
    loss = books.pnl["owners"] < 0
    diluted = weighted if loss else round(weighted * (1 + spec.dilution / 100))
    return PerShare(
        weighted,
        diluted,
        round(books.pnl["owners"] / weighted, 2),
        round(books.pnl["owners"] / diluted, 2),
    )


def _quarters(spec: Spec, books: Accounts, rng: np.random.Generator) -> tuple[Quarter, ...]:
    """Four quarters that sum to the year; the last takes the rounding."""
    weights = np.array(spec.quarters) / sum(spec.quarters)
    columns = []
    for key, spread in (("revenue", 0.01), ("ebitda", 0.03), ("owners", 0.06)):
        shares = weights * rng.uniform(1 - spread, 1 + spread, size=4)
        parts = [round(books.pnl[key] * part) for part in (shares / shares.sum())[:3]]
        columns.append([*parts, books.pnl[key] - sum(parts)])
    return tuple(Quarter(*column) for column in zip(*columns, strict=True))


def _history(spec: Spec, opening: Accounts, rng: np.random.Generator) -> dict[str, Summary]:
    """FY19 to FY21; net worth runs back from the FY21 sheet through profit and dividend."""
    columns: dict[str, Summary] = {}
    worth, debt = opening.balance["net_worth"], opening.balance["borrowings"]
    for i in (2, 1, 0):
        revenue = fine(spec.history["revenue"][i], rng)
        pat = fine(spec.history["pat"][i], rng)
        dps = spec.history["dps"][i]
        columns[f"FY{19 + i}"] = Summary(
            revenue,
            round(revenue * spec.history["margin"][i] / 100),
            pat,
            worth,
            debt,
            round(pat / spec.shares[0], 2),
            dps,
        )
        worth -= pat - round(dps * spec.shares[0]) if pat > 0 else round(pat * 0.2)
        debt = round(debt * rng.uniform(0.9, 1.02))
    return columns
