"""Differences in exposure between groups of people, by the headline attacker's advantage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri

from core.audit.results.node_risks import NodeRisks
from core.audit.results.view import AuditView
from core.findings.numbers import format_interval, format_row
from core.measures.groups import MIN_GROUP
from core.release import ORIGINAL

COLUMNS = ("release", "column", "group", "value", "low", "high", "n")


def load_groups(view: AuditView) -> dict[str, pd.Series]:
    """Grouping column → group of each node, by id; nodes without a value are absent."""
    graph = view.load_graph()
    found = {}
    for column in view.spec.groups:
        attribute = graph.column(column)
        names = pd.Series(attribute.codes, index=list(graph.node_ids))
        shown = dict(enumerate(_format_groups(attribute.classes)))
        found[column] = names[names >= 0].map(shown)
    return found


def _format_groups(classes: Sequence[str]) -> Sequence[str]:
    """Numbers with as few digits as distinguish them: 210.82000732421875 is a 32-bit 210.82."""
    for digits in (6, 9, 12):
        names = [_shorten(name, digits) for name in classes]
        if len(set(names)) == len(classes):
            return names
    return classes


def _shorten(name: str, digits: int) -> str:
    try:
        short = f"{float(name):.{digits}g}"
    except ValueError:
        return name
    return short if len(short) < len(name) and "." in name and "e" not in short else name


def compute_group_advantage(nodes: NodeRisks, groups: Mapping[str, pd.Series]) -> pd.DataFrame:
    """`COLUMNS`: mean advantage of the headline attacker per group with its 95 % interval over
    people; groups with fewer than MIN_GROUP people at stake are omitted."""
    placed = {column: labels.reindex(nodes.names).array for column, labels in groups.items()}
    rows = []
    for found in filter(None, map(nodes.find_headline, nodes.releases)):
        gains = pd.Series(found.advantage[found.order])
        for column, labels in placed.items():
            for group, values in gains.groupby(labels[found.nodes[found.order]]):
                if len(values) >= MIN_GROUP:
                    half = 1.96 * float(values.std()) / len(values) ** 0.5
                    mean = float(values.mean())
                    ends = (mean, mean - half, mean + half, len(values))
                    rows.append((found.release, column, str(group), *ends))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def compute_largest_gap(table: pd.DataFrame) -> pd.DataFrame:
    """release, column, most, least, gap, low, high: per release the column with the largest gap
    between two groups, of `compute_group_advantage`.

    The interval covers all pairs of groups of a release (Bonferroni).
    """
    rows = []
    for release, part in table.groupby("release", sort=False):
        columns = [groups for _, groups in part.groupby("column", sort=False) if len(groups) > 1]
        if not columns:
            continue
        groups = max(columns, key=lambda g: g.value.max() - g.value.min())
        high, low = groups.loc[groups.value.idxmax()], groups.loc[groups.value.idxmin()]
        pairs = sum(len(g) * (len(g) - 1) // 2 for g in columns)
        error = np.hypot(high.high - high.value, low.high - low.value) / 1.96
        half, gap = float(-ndtri(0.025 / pairs)) * error, high.value - low.value
        rows.append((release, high.column, high.group, low.group, gap, gap - half, gap + half))
    names = ["release", "column", "most", "least", "gap", "low", "high"]
    return pd.DataFrame(rows, columns=names)


def tabulate_groups(nodes: NodeRisks, groups: Mapping[str, pd.Series]) -> pd.DataFrame:
    """`compute_group_advantage` for display."""
    table = compute_group_advantage(nodes, groups)
    gains = [format_row(row) for row in table.itertuples()]
    return pd.DataFrame(
        {
            "Release": table.release.map(nodes.titles),
            "Column": table.column,
            "Group": table.group,
            "People": table.n,
            "Advantage": gains,
        }
    )


def answer_groups(nodes: NodeRisks, groups: Mapping[str, pd.Series]) -> str:
    """The largest gap on the original and its value on each other release; "" without groups.

    Contains columns and groups, which are user data: escape before display.
    """
    gaps = compute_largest_gap(compute_group_advantage(nodes, groups)).set_index("release")
    if gaps.empty:
        return ""
    first = ORIGINAL if ORIGINAL in gaps.index else gaps.index[0]
    row, where = gaps.loc[first], nodes.titles[str(first)].lower()
    size = format_interval(row.gap, row.low, row.high)
    text = (
        f"On the {where}, no group is exposed more than another beyond chance. The largest gap, "
        f"by {row.column} between {row.most} and {row.least}, is {size}"
    )
    if row.low > 0:
        text = (
            f"On the {where}, by {row.column}, the advantage is largest on {row.most} and smallest "
            f"on {row.least}: a gap of {size}"
        )
    others = [
        f"{format_interval(other.gap, other.low, other.high)} with {nodes.titles[str(release)]} "
        f"(by {other.column})"
        for release, other in gaps.drop(index=first).iterrows()
    ]
    return text + (f". The largest gap is {', '.join(others)}" if others else "") + "."
