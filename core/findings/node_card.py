"""One node: its risk under every attack and release, and the reasons."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.audit.asked.release_info import list_names
from core.audit.results.node_risks import NodeRisks
from core.findings.differences import estimate_difference
from core.findings.facts import Outcome, find_outcome
from core.findings.numbers import format_interval, format_number, format_row
from core.findings.risk import Scale
from core.graph import Graph
from core.node_column import NodeColumn
from core.release import ORIGINAL

MAX_TOLD = 3
"""Releases named one by one; of more the span is told, their figures are in the table."""
OUTCOMES: dict[Outcome, str] = {
    "lower": "clearly lower",
    "tie": "no difference",
    "within_noise": "not clearly different",
    "higher": "clearly higher",
    "not_tested": "one split cannot tell whether that differs",
}
"""What the risk on releases is called beside that on the original, in this order."""


def compute_node_risks(nodes: NodeRisks, node: str, by: Scale = "risk") -> pd.DataFrame:
    """Attack titles as rows, releases as columns, "0.84 [0.80, 0.88]" in the cells: the risk or the
    advantage over the base rate.

    The attack with the highest risk on the original comes first.
    """
    rows = nodes.list_rows(node)
    if rows.empty:
        return pd.DataFrame()
    base = rows.risk - rows.advantage if by == "advantage" else 0.0
    ends = rows.assign(value=rows[by], low=rows.low - base, high=rows.high - base)
    texts = [format_row(row) for row in ends.itertuples()]
    table = rows.assign(text=texts, title=[attack.title for attack in rows.attack])
    wide = table.pivot_table("text", "title", "release", aggfunc="first", sort=False)
    wide = wide.reindex(columns=sorted(wide.columns, key=lambda r: r != ORIGINAL))
    order = table.groupby("title", sort=False).risk.max().sort_values(ascending=False)
    wide = wide.loc[order.index].fillna("–").rename(columns=nodes.titles)
    return wide.rename_axis(None, axis=1).rename_axis("Attack").reset_index()


def describe_node_risk(nodes: NodeRisks, node: str) -> str:
    """Sentences on the headline attacker's risk on the original, the base rate, and the risk on
    each release beside whether it differs; of the secret that is worst on the original."""
    figures = nodes.list_figures(node)
    if not figures:
        return (
            "Nothing is at stake for this node. In every repeat none of its links is withheld, and "
            "its value is known or missing."
        )
    first = next((one for one in figures if one.made.is_original), figures[0])
    text = (
        f"On the {first.made.title.lower()} its risk is "
        f"{format_interval(first.risk, first.low, first.high)}, by {first.attack.title}. "
        f"The base rate is {format_number(first.base)}."
    )
    if np.isnan(first.low):
        text += " It was seen in one repeat, so there is no interval."
    figures = nodes.list_figures(node, first.attack.secret)
    others = [one for one in figures if one.made != first.made]
    outcomes = {one.made: find_outcome(estimate_difference(first.gain, one.gain)) for one in others}
    titles = list_names(one.made for one in (first, *others))
    for outcome, words in OUTCOMES.items():
        told = [
            (titles[one.release], format_interval(one.risk, one.low, one.high))
            for one in sorted(others, key=lambda one: one.advantage)
            if outcomes[one.made] == outcome
        ]
        if len(told) > MAX_TOLD:
            (name, low), (_, high) = told[0], told[-1]
            span = f" to {high}" if high != low else ""
            lowest = f", lowest with {name}" if told[1][1] != low else ""
            text += f" It is {low}{span} with {len(told)} releases{lowest}: {words}."
        elif told:
            each = ", ".join(f"{risk} with {name}" for name, risk in told)
            text += f" It is {each}: {words}."
    return text


def compute_neighbor_classes(graph: Graph, node: int, attribute: NodeColumn) -> pd.DataFrame:
    """class, neighbours (count), share of the neighbours, share of all; largest first."""
    start, stop = graph.adjacency.indptr[node : node + 2]
    codes = attribute.codes[graph.adjacency.indices[start:stop]]
    counts = np.bincount(codes[codes >= 0], minlength=attribute.num_classes)
    table = pd.DataFrame(
        {
            "class": attribute.classes,
            "neighbours": counts,
            "share of neighbours": counts / max(counts.sum(), 1),
            "share of all": attribute.shares,
        }
    )
    unknown = int((codes < 0).sum())
    if unknown:
        table.loc[len(table)] = ["unknown", unknown, np.nan, np.nan]
    return table.sort_values("neighbours", ascending=False, kind="stable").reset_index(drop=True)


def find_node(graph: Graph, text: str, limit: int = 20) -> list[str]:
    """Node ids that equal, start with or contain `text`, in this order."""
    wanted = text.strip().casefold()
    if not wanted:
        return []

    def rank(node: str) -> tuple[bool, bool]:
        name = node.casefold()
        return name != wanted, not name.startswith(wanted)

    found = [node for node in graph.node_ids if wanted in node.casefold()]
    return sorted(found, key=rank)[:limit]
