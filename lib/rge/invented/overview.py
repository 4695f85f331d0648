"""What a question author needs to see: the facts of a company and year, and its traps."""

from __future__ import annotations

from rge.invented.figures import Figures
from rge.invented.ledger import ENTITIES, Ledger, build_ledger
from rge.invented.money import in_table
from rge.invented.spec import slugs

DEFAULT_SEED = 20_240_331


def facts(company: str, fy: str, *, seed: int = DEFAULT_SEED) -> dict[str, object]:
    """Figures that the report of `fy` prints: accounts, segments, metrics, dividends, quarters.

    Returns
    -------
    dict
        `standalone` and `consolidated` (line to lakh of rupees), `eps`, `segments`, `metrics`
        (id to (label, value, unit)), `dividends`, `quarters`, `people`, `traps`.
    """
    ledger = build_ledger(company, seed)
    found: dict[str, object] = {
        entity: _lines(ledger, entity, fy)
        | {"basic_eps": ledger.per_share_shown(fy, entity, fy).basic}
        for entity in ENTITIES
    }
    segments = ledger.segments_shown(fy, fy)
    found["segments"] = {
        row.name: {"external": row.external, "gross": row.gross, "result": row.result}
        for row in segments.rows
    }
    found["metrics"] = {
        m.id: (m.label, ledger.metric_shown(fy, m.id, fy), m.unit)
        for m in ledger.spec.metrics
        if fy in m.values
    }
    found["dividends"] = ledger.spec.dividends[fy]
    found["quarters"] = ledger.quarters[fy]
    found["people"] = ledger.spec.people
    found["traps"] = ledger.spec.traps
    return found


def _lines(ledger: Ledger, entity: str, fy: str) -> dict[str, int]:
    books = ledger.shown(fy, entity, fy)
    return {**books.pnl, **books.balance, **books.cash}


def overview(*, seed: int = DEFAULT_SEED, only: list[str] | None = None) -> str:
    """Key facts of the companies as text, both years side by side, FY23 also as restated."""
    return "\n".join(_company(build_ledger(slug, seed)) for slug in only or slugs())


def _company(ledger: Ledger) -> str:
    spec, unit = ledger.spec, ledger.spec.unit
    lines = [f"== {spec.slug}: {spec.name} ({spec.sector}); tables in ₹ {unit}"]
    for entity in ENTITIES:
        for key in (
            "revenue",
            "ebitda",
            "pbt",
            "pat",
            "owners",
            "total_assets",
            "borrowings",
            "net_worth",
            "operating",
            "capex",
            "closing_cash",
            "nii",
            "deposits",
            "advances",
        ):
            pair = [ledger.accounts[entity, fy].find(key) for fy in ("FY23", "FY24")]
            if None not in pair:
                shown = [in_table(value or 0, unit) for value in pair]
                again = ledger.shown("FY24", entity, "FY23").find(key)
                note = (
                    f" (FY23 restated {in_table(again, unit)})"
                    if again not in (pair[0], None)
                    else ""
                )
                lines.append(f"  {entity:<13}{key:<13}{shown[0]:>18}{shown[1]:>18}{note}")
        eps = [ledger.per_share[entity, fy].basic for fy in ("FY23", "FY24")]
        lines.append(f"  {entity:<13}{'basic EPS':<13}{eps[0]:>18.2f}{eps[1]:>18.2f}")
    for report in ("FY23", "FY24"):
        for row in ledger.segments_shown(report, report).rows:
            amounts = (in_table(value, unit) for value in (row.external, row.gross, row.result))
            lines.append(
                f"  segment {report} {row.name}: external, gross, result " + " | ".join(amounts)
            )
    for fy in ("FY22", "FY23", "FY24"):
        dividend = spec.dividends[fy]
        lines.append(
            f"  dividend {fy}: interim ₹{dividend.interim:g}, final ₹{dividend.final:g}, "
            f"paid in cash {in_table(ledger.dividends_paid[fy], unit)}"
        )
    figures = Figures(ledger, "FY24")
    lines += [
        f"  metric {m.id} ({m.group}): {m.label} [{m.unit}] "
        + ", ".join(f"{fy} {value:g}" for fy, value in m.values.items())
        + "".join(
            f"; {name} {value:g}"
            for name in ("provisional", "restated", "misprint")
            if (value := getattr(m, name)) is not None
        )
        for m in figures.ledger.spec.metrics
    ]
    lines += [f"  trap {trap.kind}: {trap.what} [{trap.where}]" for trap in spec.traps]
    return "\n".join(lines) + "\n"
