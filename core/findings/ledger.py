"""The ledger of a graph in words and rows: for the Report page, the report and the command line."""

from __future__ import annotations

from collections.abc import Iterable

from core.findings.labels import release_title
from core.privacy.ledger import NOT_COVERED, Entry, Total, compute_totals

COLUMNS = ("Published", "Release", "Protects", "ε of the recipient", "δ")

UNITS = {"edge": "one link", "link": "one link, reported by its ends", "node": "one node"}

UNBOUNDED = "Runs without a promise are listed, but nothing bounds what they give away."


def list_ledger_rows(entries: Iterable[Entry]) -> list[tuple[str, ...]]:
    """One row a publishing run, under COLUMNS."""
    return [
        (
            entry.made[:16].replace("T", " "),
            release_title(entry.release),
            UNITS.get(entry.unit, "nothing proven"),
            "not bounded" if entry.epsilon is None else f"{entry.epsilon:g}",
            f"{entry.delta:g}",
        )
        for entry in entries
    ]


def describe_total(total: Total) -> str:
    """ "One link: ε = 24 over 8 publishing runs." """
    unit = UNITS.get(total.unit, total.unit)
    delta = f", δ = {total.delta:g}" if total.delta else ""
    runs = "1 publishing run" if total.runs == 1 else f"{total.runs} publishing runs"
    return f"{unit[0].upper()}{unit[1:]}: ε = {total.epsilon:g}{delta} over {runs}."


def explain_ledger(entries: tuple[Entry, ...]) -> str:
    """What all that was published gives whoever collects it, in plain sentences."""
    if not entries:
        return "Nothing of this graph has been published yet."
    parts = [describe_total(total) for total in compute_totals(entries)]
    if any(entry.epsilon is None for entry in entries):
        parts.append(UNBOUNDED)
    return " ".join([*parts, NOT_COVERED])
