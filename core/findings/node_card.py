"""One node: its risk under every attack and release, and the reasons."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.attribute import Attribute
from core.audit.view import spell
from core.findings.attackers import compute_headline
from core.findings.labels import method_title, plain_titles, release_title
from core.findings.numbers import format_interval, format_number, format_row
from core.findings.risk import Scale
from core.graph import Graph
from core.release import ORIGINAL


def compute_node_risks(nodes: pd.DataFrame, node: str, by: Scale = "risk") -> pd.DataFrame:
    """Attack titles as rows, releases as columns, "0.84 [0.80, 0.88]" in the cells: the risk or the
    advantage over the base rate.

    The attack with the highest risk on the original comes first.
    """
    rows = spell(nodes[(nodes.node == node) & nodes.risk.notna()])
    if rows.empty:
        return pd.DataFrame()
    base = rows.risk - rows.advantage if by == "advantage" else 0.0
    ends = rows.assign(value=rows[by], low=rows.low - base, high=rows.high - base)
    texts = [format_row(row) for row in ends.itertuples()]
    table = rows.assign(text=texts, attack_title=rows.attack.map(method_title))
    wide = table.pivot_table("text", "attack_title", "release", aggfunc="first", sort=False)
    wide = wide.reindex(columns=sorted(wide.columns, key=lambda r: r != ORIGINAL))
    order = table.groupby("attack_title", sort=False).risk.max().sort_values(ascending=False)
    wide = wide.loc[order.index].fillna("–").rename(columns=release_title)
    return wide.rename_axis(None, axis=1).rename_axis("Attack").reset_index()


def describe_node_risk(nodes: pd.DataFrame, node: str) -> str:
    """Sentences on the headline attacker's risk on the original and each release, and the base
    rate."""
    found = compute_headline(nodes)
    worst = found[found.node == node].set_index("release")
    if worst.empty:
        return (
            "Nothing is at stake for this node. In every repeat none of its links is withheld, and "
            "its value is known or missing."
        )
    first = ORIGINAL if ORIGINAL in worst.index else worst.index[0]
    row = worst.loc[first]
    text = (
        f"On the {release_title(first).lower()} its risk is "
        f"{format_interval(row.risk, row.low, row.high)}, by {method_title(row.attack)}. "
        f"The base rate is {format_number(row.base)}."
    )
    if pd.isna(row.low):
        text += " It was seen in one repeat, so there is no interval."
    titles = plain_titles(worst.index)
    others = [
        f"{format_number(other.risk)} with {titles[str(release)]}"
        for release, other in worst.drop(index=first).iterrows()
    ]
    return text + (f" It is {', '.join(others)}." if others else "")


def compute_neighbor_classes(graph: Graph, node: int, attribute: Attribute) -> pd.DataFrame:
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
