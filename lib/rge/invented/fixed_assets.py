"""Movement of fixed and intangible assets by class, from the opening sheet to each year end."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rge.errors import RgeError
from rge.invented.schedule import Entry, Rows, Schedule, View, day, earlier, exact
from rge.invented.segments import split_by_weight
from rge.invented.spec import YEARS, Entity

_NOT_WORN = re.compile(
    r"\bland\b|work in progress|under (development|construction)|goodwill|indefinite|not yet", re.I
)
# Share of capital expenditure and of the charge that belongs to intangible assets.
_INTANGIBLE = 0.12


@dataclass(frozen=True)
class Movement:
    """One class of assets in one year (lakh); `retired` assets had no carrying amount."""

    label: str
    gross: int
    additions: int
    retired: int
    worn: int
    charge: int
    impaired: int

    @property
    def closing_gross(self) -> int:
        return self.gross + self.additions - self.retired

    @property
    def closing_worn(self) -> int:
        return self.worn + self.charge + self.impaired - self.retired

    @property
    def net(self) -> int:
        """Carrying amount at the end of the year."""
        return self.closing_gross - self.closing_worn


Flow = Callable[[str], int]


def movements(view: View, key: str) -> dict[str, list[Movement]]:
    """Movements of `key` (ppe, intangibles, fixed_assets) of FY22 to FY24 by class.

    Raises
    ------
    RgeError
        When a class would be worn below nil: too little of the block is of a kind that wears.
    """
    rows = view.rows("ppe" if key == "fixed_assets" else key)
    additions, charge, impaired = _flows(view, key)
    net = split_by_weight(view.first(key, "FY21"), [weight for _, weight in rows])
    rng = view.rng(key)
    worn = [
        0 if _steady(label) else round(n * rng.uniform(0.45, 1.15))
        for (label, _), n in zip(rows, net, strict=True)
    ]
    gross = [n + w for n, w in zip(net, worn, strict=True)]
    years: dict[str, list[Movement]] = {}
    for fy in YEARS:
        added = split_by_weight(additions(fy), _additions(view, key, fy, rows))
        base = [
            0 if _steady(label) else g - w + round(0.9 * a)
            for (label, _), g, w, a in zip(rows, gross, worn, added, strict=True)
        ]
        charged = _wear(view, key, fy, charge(fy), base)
        hit = _hit(
            impaired(fy),
            rows,
            [g - w + a - c for g, w, a, c in zip(gross, worn, added, charged, strict=True)],
        )
        spread = view.rng(f"{key} retired", fy).uniform(0.008, 0.04, size=len(rows))
        retired = [
            0 if _steady(label) else round(w * s)
            for (label, _), w, s in zip(rows, worn, spread, strict=True)
        ]
        years[fy] = [
            Movement(label, *amounts)
            for (label, _), *amounts in zip(
                rows, gross, added, retired, worn, charged, hit, strict=True
            )
        ]
        gross = [m.closing_gross for m in years[fy]]
        worn = [m.closing_worn for m in years[fy]]
    return years


def _flows(view: View, key: str) -> tuple[Flow, Flow, Flow]:
    """Additions, charge and impairment of a year; they repeat how the ledger rolls forward."""
    drivers = view.spec.consolidated if view.group else view.spec.standalone
    if not isinstance(drivers, Entity):
        return (
            lambda fy: view.first("-capex", fy),
            lambda fy: view.first("depreciation", fy),
            lambda fy: 0,
        )
    tangible = key == "ppe"
    hit = drivers.exceptional_on == key

    def share(name: str, fy: str) -> int:
        whole = view.first(name, fy)
        intangible = round(whole * _INTANGIBLE)
        return whole - intangible if tangible else intangible

    return (
        lambda fy: share("-capex", fy),
        lambda fy: share("depreciation", fy),
        lambda fy: view.first("-exceptional", fy) if hit else 0,
    )


def _steady(label: str) -> bool:
    return bool(_NOT_WORN.search(label)) and "building" not in label.lower()


def _additions(view: View, key: str, fy: str, rows: Rows) -> list[float]:
    """Land and goodwill grow little; everything else by its weight."""
    weights = view.weights(f"{key} additions", fy, rows, 0.3)
    slow = [bool(re.search(r"\bland\b|goodwill", label, re.I)) for label, _ in rows]
    return [
        w * (0.0 if "oodwill" in label else 0.2 if s else 1.0)
        for w, s, (label, _) in zip(weights, slow, rows, strict=True)
    ]


def _wear(view: View, key: str, fy: str, charge: int, base: list[int]) -> list[int]:
    if charge > sum(base):
        raise RgeError(
            f"companies/{view.spec.slug}.yaml: schedules.{key}",
            f"{view.entity} {fy}: a charge of {charge} lakh on {sum(base)} lakh that wears",
            do="lower the weights of land, goodwill and work in progress",
        )
    # The noise shrinks as the charge nears the block, so that no class falls below nil.
    spread = min(0.12, 0.4 * (1 - charge / sum(base)))
    noise = view.rng(f"{key} charge", fy).uniform(1 - spread, 1 + spread, size=len(base))
    weights = [b * n for b, n in zip(base, noise, strict=True)]
    return exact(charge, weights)


def _hit(impaired: int, rows: Rows, net: list[int]) -> list[int]:
    """Impairment falls on goodwill where it can bear it, else on what wears by its amount."""
    goodwill = [i for i, (label, _) in enumerate(rows) if "goodwill" in label.lower()]
    if goodwill and net[goodwill[0]] > impaired:
        return [impaired if i == goodwill[0] else 0 for i in range(len(rows))]
    return exact(
        impaired, [0 if _steady(label) else n for (label, _), n in zip(rows, net, strict=True)]
    )


def movement_schedules(view: View, key: str, notes: tuple[str, ...] = ()) -> list[Schedule]:
    """The two movement tables of a block of assets, this year's first."""
    moved = movements(view, key)
    return [
        _table(view, key, fy, moved[fy], notes if fy == view.years[0] else ()) for fy in view.years
    ]


def _table(view: View, key: str, fy: str, rows: list[Movement], notes: tuple[str, ...]) -> Schedule:
    hit = any(m.impaired for m in rows)
    opening = [(m.gross, m.additions, 0, -m.retired, m.closing_gross) for m in rows]
    worn = [(m.worn, m.charge, m.impaired, -m.retired, m.closing_worn) for m in rows]
    net = [(m.gross - m.worn, "", "", "", m.net) for m in rows]
    before = earlier(fy)
    entries: list[Entry] = []
    for head, total, block in (
        ("Gross block", "Gross block, total", opening),
        ("Accumulated depreciation and amortisation", "Accumulated charge, total", worn),
        ("Net block", "Net block, total", net),
    ):
        cells: list[tuple[int | str, ...]] = [_drop(c, hit) for c in block]
        entries.append(Entry(head, ("",) * (5 if hit else 4), "head"))
        entries += [Entry(m.label, c) for m, c in zip(rows, cells, strict=True)]
        sums = tuple(
            "" if isinstance(column[0], str) else sum(int(v) for v in column)
            for column in zip(*cells, strict=True)
        )
        tie = (key, *("",) * (len(sums) - 2), key) if head == "Net block" else ()
        entries.append(Entry(total, sums, "sub", tie))
    names = _drop(
        (
            f"At {day(fy, opening=True)}",
            "Additions/ charge",
            "Impairment",
            "Disposals",
            f"At {day(fy)}",
        ),
        hit,
    )
    years = (before, *(fy,) * (len(names) - 1))
    return Schedule(
        key,
        tuple(str(n) for n in names),
        years,
        tuple(entries),
        True,
        view.tables.year_label(fy),
        notes=notes,
    )


def _drop(cells: tuple[int | str, ...], keep: bool) -> tuple[int | str, ...]:
    """Without the impairment column where nothing was impaired."""
    return cells if keep else (*cells[:2], *cells[3:])


def depreciation_schedule(view: View) -> list[Schedule]:
    """How the charge of the year splits into depreciation and amortisation."""
    blocks = [movements(view, key) for key in ("ppe", "intangibles")]
    parts = [[sum(m.charge for m in block[fy]) for block in blocks] for fy in view.years]
    return [
        view.two_years(
            "depreciation",
            parts,
            labels=("Depreciation of tangible assets", "Amortisation of intangible assets"),
            total="Charge for the year",
            line="depreciation",
        )
    ]
