"""Who is exposed: the heatmap of nodes by attacks, distributions, groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd

from core.findings.tables import list_releases

MAX_GROUPS = 12


DEGREE_BINS = (0, 1, 2, 3, 6, 11, 21, 51, 101)


Group = Literal["degree", "class", "community"]


def compute_worst_case(nodes: pd.DataFrame) -> pd.DataFrame:
    """One row per node and release: the attack with the highest risk, most exposed first.

    Columns node, release, attack, risk, advantage, low, high, seeds. Nodes without any defined
    risk on a release have no row there. Equal risks are ordered by the rows of `nodes`.
    """
    known = nodes[nodes.risk.notna()]
    first = known.groupby(["release", "node"], sort=False).risk.idxmax()
    worst = known.loc[first]
    return worst.sort_values("risk", ascending=False, kind="stable").reset_index(drop=True)


def compute_heatmap(
    nodes: pd.DataFrame, release: str, attacks: Sequence[str] | None = None
) -> pd.DataFrame:
    """rank, node, worst, attack (that does it), and the risk under each attack (NaN: none)."""
    rows = nodes[(nodes.release == release) & nodes.risk.notna()]
    if attacks is not None:
        rows = rows[rows.attack.isin(list(attacks))]
    if rows.empty:
        return pd.DataFrame(columns=["rank", "node", "worst", "attack"])
    wide = rows.pivot_table("risk", "node", "attack", sort=False, observed=True)
    wide = wide[wide.mean().sort_values(ascending=False, kind="stable").index]
    worst, which = wide.max(axis=1), wide.idxmax(axis=1)
    order = np.argsort(-worst.to_numpy(), kind="stable")
    table = wide.iloc[order].reset_index()
    table.columns.name = None
    table.insert(0, "rank", np.arange(1, len(table) + 1))
    table.insert(2, "worst", worst.to_numpy()[order])
    table.insert(3, "attack", which.to_numpy()[order])
    return table


def compute_risk_shares(
    nodes: pd.DataFrame, releases: Sequence[str] | None = None, num_steps: int = 100
) -> pd.DataFrame:
    """release, risk (threshold), share of its nodes with worst-case risk ≥ threshold."""
    worst = compute_worst_case(nodes)
    thresholds = np.linspace(0, 1, num_steps + 1)
    parts = []
    for release in list_releases(nodes):
        risks = np.sort(worst[worst.release == release].risk.to_numpy(float))
        if len(risks) and (releases is None or release in releases):
            share = 1 - np.searchsorted(risks, thresholds - 1e-12) / len(risks)
            parts.append(pd.DataFrame({"release": release, "risk": thresholds, "share": share}))
    return (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame(columns=["release", "risk", "share"])
    )


def compute_group_risk(
    nodes: pd.DataFrame, profile: pd.DataFrame, by: Group, releases: Sequence[str] | None = None
) -> pd.DataFrame:
    """release, group, risk (mean worst case), low, high, n; small groups are summed as other.

    A group of one node has no interval.
    """
    columns = ["release", "group", "risk", "low", "high", "n"]
    everything = list_releases(profile)
    if not everything or nodes.empty:
        return pd.DataFrame(columns=columns)
    base = profile[profile.release == everything[0]].set_index("node")[by].dropna()
    groups, order = _group_nodes(base, by)
    worst = compute_worst_case(nodes)
    worst = worst.assign(group=worst.node.map(groups)).dropna(subset="group")
    if releases is not None:
        worst = worst[worst.release.isin(list(releases))]
    stats = worst.groupby(["release", "group"]).risk.agg(["mean", "std", "count"]).reset_index()
    margin = 1.96 * stats["std"] / np.sqrt(stats["count"])  # NaN for a group of one
    table = pd.DataFrame(
        {
            "release": stats.release,
            "group": stats.group,
            "risk": stats["mean"],
            "low": (stats["mean"] - margin).clip(lower=0),
            "high": (stats["mean"] + margin).clip(upper=1),
            "n": stats["count"],
        }
    )
    release_order = {release: i for i, release in enumerate(list_releases(nodes))}
    table["key"] = table.release.map(release_order) * 1e6 + table.group.map(order.index)
    return table.sort_values("key")[columns].reset_index(drop=True)


def _group_nodes(values: pd.Series, by: Group) -> tuple[pd.Series, list[str]]:
    """Group label of each node and the labels in display order."""
    if by == "degree":
        edges = [*DEGREE_BINS, np.inf]
        names = [_range_name(a, b) for a, b in pairwise(edges)]
        codes = np.digitize(values.to_numpy(float), DEGREE_BINS) - 1
        return pd.Series([names[c] for c in codes], values.index), names
    text = values.map(lambda v: str(int(v)) if isinstance(v, float | np.floating) else str(v))
    sizes = text.value_counts()
    top = list(sizes.index[: MAX_GROUPS - 1 if len(sizes) > MAX_GROUPS else MAX_GROUPS])
    return text.where(text.isin(top), "other"), [*top, "other"]


def _range_name(low: float, high: float) -> str:
    if high == np.inf:
        return f"{low:.0f}+"
    return f"{low:.0f}" if high - low == 1 else f"{low:.0f}–{high - 1:.0f}"
