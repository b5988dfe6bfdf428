"""The publishing ledger of a graph as sentences and rows, for page, report and command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.audit.store.ledger import Relative, get_released
from core.privacy.ledger import NOT_COVERED, Entry, Total, compute_totals
from core.words import begin_sentence, count_noun, format_percent, format_value

COLUMNS = ("Published", "Release", "Protects", "ε of the recipient", "δ")

UNITS = {"edge": "one link", "link": "one link, reported by its ends", "node": "one node"}

PARTS = {
    "people": "people",
    "pairs": "links",
    "nodes": "people",
    "links": "links",
    "values": "rare combinations of values",
    "neighbourhoods": "rare neighbourhoods",
    "degrees": "rare pairs of linked degrees",
}


def list_ledger_rows(entries: Iterable[Entry]) -> list[tuple[str, ...]]:
    """One row per publishing run, with columns COLUMNS."""
    return [
        (
            entry.made[:16].replace("T", " "),
            get_released(entry).title,
            UNITS.get(entry.unit, "nothing proven"),
            "not bounded" if entry.epsilon is None else f"{entry.epsilon:g}",
            format_value(entry.delta),
        )
        for entry in entries
    ]


def describe_total(total: Total) -> str:
    """ "One link: at least ε = 24 over 8 publishing runs; 1 more without a guarantee." """
    unit = UNITS[total.unit]
    delta = f", δ = {format_value(total.delta)}" if total.delta else ""
    runs, least, open_end = count_noun(total.runs, "publishing run"), "", ""
    if total.unbounded:
        least, open_end = "at least ", f"; {total.unbounded} more without a guarantee"
    return f"{begin_sentence(unit)}: {least}ε = {total.epsilon:g}{delta} over {runs}{open_end}."


def describe_relative(relative: Relative) -> str:
    """Warning that a graph largely equals one that was published before."""
    runs = count_noun(relative.runs, "publishing run")
    return (
        f"This graph shares {format_percent(relative.overlap)} of its {PARTS[relative.part]} with "
        f"a graph of {runs}. Both count together, as the lineage “{relative.lineage}”, unless an "
        "approver sets them apart."
    )


def describe_restored(entries: Sequence[Entry]) -> str:
    """What a restored ledger knows last, and what is to be done about later runs."""
    if not entries:
        known = "The restored ledger has no publishing run."
    else:
        last, runs = entries[-1], count_noun(len(entries), "publishing run")
        day, name = last.made[:16].replace("T", " "), get_released(last).title
        known = (
            f"The restored ledger ends with run {last.run} of {day} ({name}), the last of {runs}."
        )
    return (
        f"{known} It does not know what was published later: look for releases whose provenance "
        "has a later date, and lower every budget of their graphs by their ε and δ."
    )


def explain_ledger(entries: tuple[Entry, ...]) -> str:
    """What a collector of all published releases gains, in plain sentences."""
    if not entries:
        return (
            "The ledger has no publishing run of this graph. It may not recognise a copy with new "
            "ids and many changed links and values: ask an approver to assign such a copy."
        )
    totals = compute_totals(entries)
    if not totals:
        return f"Of {len(entries)} publishing runs, none has a guarantee. {NOT_COVERED}"
    return " ".join([*map(describe_total, totals), NOT_COVERED])
