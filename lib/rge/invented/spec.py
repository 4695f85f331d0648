"""The hand-written description of an invented company, read from YAML and checked.

Lists of three hold FY22, FY23 and FY24 in this order; lists of four start with FY21. Money is in
crore of rupees, shares in lakh, ratios in per cent of revenue unless the field says otherwise.
"""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rge.errors import RgeError
from rge.invented.money import Unit

YEARS = ("FY22", "FY23", "FY24")
REPORT_YEARS = ("FY23", "FY24")

Three = Annotated[tuple[float, ...], Field(min_length=3, max_length=3)]
Four = Annotated[tuple[float, ...], Field(min_length=4, max_length=4)]


class _Checked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Cost(_Checked):
    """An expense line of the statement of profit and loss, in per cent of revenue."""

    id: str
    label: str
    share: Three


class Segment(_Checked):
    """A business segment: external revenue, share sold to other segments, result margin."""

    id: str
    name: str
    revenue: Three
    inter: float = 0.0
    margin: Three
    assets: float = 1.0


class Entity(_Checked):
    """Drivers of one set of accounts (consolidated, or standalone through shares of it)."""

    revenue_share: Three = (100.0, 100.0, 100.0)
    margin: Three | None = None
    other_income: Three
    costs: tuple[Cost, ...]
    other_label: str = "Other expenses"
    depreciation: Three
    interest_rate: float
    exceptional: Three = (0, 0, 0)
    exceptional_on: Literal["ppe", "intangibles", "investments"] = "ppe"
    associates: Three = (0, 0, 0)
    minority: float = 0.0
    share_payments: Three = (0, 0, 0)
    oci: float = 0.4
    ppe: float
    intangibles: float
    investments: float = 0.0
    invested: Three = (0, 0, 0)
    capex: Three
    equity: float
    minority_equity: float = 0.0
    borrowings: Four
    inventories: float
    receivables: float
    other_assets: float
    payables: float
    other_liabilities: float
    provisions: float = 1.5
    cash: Four


class Bank(_Checked):
    """Drivers of a bank: volumes, yields and costs (in per cent)."""

    advances: Four
    deposits: Four
    borrowings: Four
    yield_assets: Three
    cost_funds: Three
    fee_income: Three
    cost_income: Three
    provisions: Three
    employee_share: float
    equity: float
    fixed_assets: float
    other_assets: float
    other_liabilities: float
    cash: Four
    capex: Three
    oci: float = 0.4
    minority: float = 0.0
    minority_equity: float = 0.0
    segment_income: tuple[tuple[str, str, float, float], ...] = ()


class Metric(_Checked):
    """A figure that is stated, not derived: operating, ESG, quarterly or prospectus-era."""

    id: str
    label: str
    unit: str = ""
    decimals: int = 1
    group: Literal["operating", "esg", "prospectus"]
    values: dict[str, float]
    provisional: float | None = None
    restated: float | None = None
    misprint: float | None = None
    note: str = ""


class Person(_Checked):
    """A director or key manager; `pay` in lakh for FY23 and FY24."""

    name: str
    role: str
    since: str
    until: str = ""
    pay: tuple[float | None, float | None] = (None, None)
    meetings: tuple[str, str] = ("", "")
    kind: Literal["director", "kmp"] = "director"


class Subsidiary(_Checked):
    """A group company; revenue and profit after tax in crore for FY23 and FY24."""

    name: str
    country: str = "India"
    holding: tuple[float, float]
    revenue: tuple[float, float]
    pat: tuple[float, float]
    relation: str = "Subsidiary"


class Row(_Checked):
    """A labelled row of a note, in crore, for FY22, FY23 and FY24."""

    label: str
    values: Three


class Related(_Checked):
    """A related-party transaction in crore, FY23 and FY24."""

    party: str
    relation: str
    nature: str
    values: tuple[float, float]


class Dividend(_Checked):
    """Rupees per share; the final dividend is proposed after the year and paid in the next."""

    interim: float = 0.0
    final: float = 0.0
    interim_date: str = ""
    record_date: str = ""


class Part(_Checked):
    """A row of a breakdown: amounts, or weights where the breakdown names what it splits."""

    id: str
    label: str
    values: Three


class Breakdown(_Checked):
    """A table of parts by year, printed after a section of the report.

    `of` names a ledger figure without its year (`m.cargo`, `c.revenue`): the values are then
    weights and the printed parts sum to it exactly. Without `of` the values are printed as they
    are; `total` labels the row of their sum, if any; `note` may differ from report to report.
    """

    id: Annotated[str, Field(pattern=r"^[a-z_]+$")]
    title: str
    unit: str = ""
    decimals: int = 2
    section: str
    of: str = ""
    total: str = ""
    note: str | dict[str, str] = ""
    rows: tuple[Part, ...]


class Restatement(_Checked):
    """A change to the FY23 comparative that the FY24 report shows, with the note that says so.

    `profit` corrects an error of FY23 that lowered or raised profit: revenue too high (`from:
    revenue`) or an expense line too low (`from: materials`) by `amount` before tax, against an
    asset or a liability (`to: receivables`, `inventories`, `payables`, `other_liabilities`,
    `provisions`) in a segment; a negative amount corrects the other way.
    """

    kind: Literal["segment", "reclass", "net", "profit"]
    source: str = Field(alias="from")
    target: str = Field(default="", alias="to")
    amount: float
    result: float = 0.0
    segment: str = ""
    both: bool = False
    note: str


class Trap(_Checked):
    """A confusion the reports set on purpose."""

    kind: str
    what: str
    where: str


class Spec(_Checked):
    """Everything a person wrote about one company except its prose."""

    slug: Annotated[str, Field(pattern=r"^[a-z]+$")]
    name: str
    short: str
    sector: str
    tagline: tuple[str, str]
    kind: Literal["company", "bank"] = "company"
    unit: Unit = "crore"
    about: dict[str, str]
    face_value: float
    shares: Four
    issue: Three = (0, 0, 0)
    issue_weight: Three = (0.5, 0.5, 0.5)
    dilution: float = 0.2
    tax_rate: float
    dividends: dict[str, Dividend]
    history: dict[Literal["revenue", "margin", "pat", "dps"], Three]
    segment_measure: str = "Segment result"
    segments: tuple[Segment, ...] = ()
    unallocated: Three = (0, 0, 0)
    consolidated: Entity | Bank
    standalone: Entity | Bank
    quarters: Annotated[tuple[float, ...], Field(min_length=4, max_length=4)]
    metrics: tuple[Metric, ...]
    people: tuple[Person, ...]
    subsidiaries: tuple[Subsidiary, ...]
    geography: tuple[tuple[str, float], ...] = ()
    contingent: tuple[Row, ...] = ()
    related: tuple[Related, ...] = ()
    holders: tuple[Row, ...] = ()
    restatements: tuple[Restatement, ...] = ()
    traps: tuple[Trap, ...]
    breakdowns: tuple[Breakdown, ...] = ()
    schedules: dict[str, tuple[tuple[str, float], ...]] = {}
    style: dict[str, str]


def load_spec(slug: str) -> Spec:
    """The checked spec of one company.

    Raises
    ------
    RgeError
        When the file is missing or a field is not as `Spec` declares it.
    """
    where = f"companies/{slug}.yaml"
    try:
        text = _folder().joinpath(f"{slug}.yaml").read_text(encoding="utf-8")
        return Spec.model_validate(yaml.safe_load(text))
    except FileNotFoundError:
        raise RgeError(where, "no such company", allowed=", ".join(slugs())) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RgeError(where, f"{place}: {first['msg']}", do="correct the spec") from None


def load_prose(slug: str) -> str:
    """The hand-written text of one company, both years."""
    return _folder().joinpath(f"{slug}.md").read_text(encoding="utf-8")


def slugs() -> list[str]:
    """The companies of the corpus, in alphabetical order."""
    names = (entry.name for entry in _folder().iterdir())
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def _folder() -> Traversable:
    return resources.files("rge.invented") / "companies"
