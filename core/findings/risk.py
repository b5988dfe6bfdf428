"""Per-node exposure: heatmap of nodes by attacks, distributions and groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.audit.view import spell
from core.findings.attackers import (
    compute_headline,
    find_headlines,
    find_secret,
    list_rows,
    pick_worst,
)
from core.findings.tables import list_releases
from core.release import ORIGINAL

MAX_GROUPS = 12


DEGREE_BINS = (0, 1, 2, 3, 6, 11, 21, 51, 101)


Group = Literal["degree", "class", "community"]

Scale = Literal["risk", "advantage"]
"""The attacker's confidence in the truth, or its advantage over the base rate."""

SCALE_TITLES: dict[Scale, str] = {"risk": "Risk", "advantage": "Advantage"}


def compute_worst_case(nodes: pd.DataFrame) -> pd.DataFrame:
    """One row per node and release: the attack with the highest risk, chosen in hindsight.

    An upper bound, which guessing attackers raise as well; `compute_headline` of
    `core.findings.attackers` has an attacker chosen beforehand. Columns node, release, attack,
    risk, advantage, low, high, seeds. Nodes without a defined risk on a release have no row there.
    Equal risks are ordered by the rows of `nodes`.
    """
    known = nodes[nodes.risk.notna()]
    first = known.groupby(["release", "node"], sort=False, observed=True).risk.idxmax()
    worst = known.loc[first].sort_values("risk", ascending=False, kind="stable")
    return spell(worst.reset_index(drop=True))


def compute_heatmap(
    nodes: pd.DataFrame,
    release: str,
    by: Scale = "advantage",
    order: Iterable[str] | None = None,
    secret: tuple[str, str] | None = None,
) -> pd.DataFrame:
    """rank, node, headline, attack (the headline attacker), and the value under each attack (NaN:
    none). Most exposed first by the headline attacker; nodes with baseline attackers only come
    last, with NaN. Attacks have the same order for all releases, by their values on the first.
    `attack` is a category, and `node` where it is one in `nodes` and in `order`.

    order   exactly these nodes in this order, so that releases show the same rows
    secret  (threat, target column): the attacks on it alone
    """
    parts = {
        (where, attack): rows
        for (where, attack), rows in list_rows(nodes).items()
        if secret in (None, find_secret(attack))
    }
    mine = {attack: rows for (where, attack), rows in parts.items() if where == release}
    if not mine:
        return pd.DataFrame(columns=["rank", "node", "headline", "attack"])
    if secret is None:
        found = pick_worst(nodes[nodes.release == release])
    else:
        found = find_headlines(nodes, release, secret, ("node", "attack", by))
    values = nodes[by].to_numpy(float)
    # Numbers: a million names are slow to look up.
    people = nodes.node.astype("category")
    codes, names = people.cat.codes.to_numpy(), people.cat.categories

    def place(codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """(n + 1,) values by node number; the last one, at −1 too, is a placeholder."""
        placed = np.full(len(names) + 1, np.nan if values.dtype == float else -1, values.dtype)
        placed[codes] = values
        return placed

    where = _find_codes(found.node, people.dtype)
    headline = place(where, found[by].to_numpy(float))
    if order is None:
        shown = pd.unique(np.concatenate([codes[rows] for rows in mine.values()]))
        shown = shown[np.argsort(-np.nan_to_num(headline[shown], nan=-np.inf), kind="stable")]
        order = names.take(shown)
    else:
        named = pd.Series(order)
        shown = _find_codes(named, people.dtype)
        order = (named if named.dtype == people.dtype else named.astype("str")).array
    by_attack = nodes.attack.astype("category").dtype
    which = place(where, _find_codes(found.attack, by_attack))[shown]
    table: dict[str, Any] = {
        "rank": np.arange(1, len(shown) + 1),
        "node": order,
        "headline": headline[shown],
        "attack": pd.Categorical.from_codes(which, dtype=by_attack),
    }
    found_on = dict.fromkeys(where for where, _ in parts)
    first = sorted(found_on, key=lambda where: where != ORIGINAL)  # where there is one
    means = {
        attack: next(values[parts[one, attack]].mean() for one in first if (one, attack) in parts)
        for attack in dict.fromkeys(attack for _, attack in parts)
    }
    for attack in sorted(means, key=lambda attack: -means[attack]):
        if attack in mine:
            table[attack] = place(codes[mine[attack]], values[mine[attack]])[shown]
    return pd.DataFrame(table)


def _find_codes(values: pd.Series, dtype: Any) -> np.ndarray:
    """(k,) numbers of values as categories, −1 for those that are none."""
    return np.asarray((values if values.dtype == dtype else values.astype(dtype)).cat.codes)


def compute_risk_shares(
    nodes: pd.DataFrame, releases: Sequence[str] | None = None, by: Scale = "advantage"
) -> pd.DataFrame:
    """release, threshold, share of the nodes whose headline value reaches it."""
    found = pick_worst(nodes)
    thresholds = np.linspace(0, 1, 101)
    parts = []
    for release in list_releases(nodes):
        values = np.sort(found[found.release == release][by].to_numpy(float))
        if len(values) and (releases is None or release in releases):
            share = 1 - np.searchsorted(values, thresholds - 1e-12) / len(values)
            columns = {"release": release, "threshold": thresholds, "share": share}
            parts.append(pd.DataFrame(columns))
    return (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame(columns=["release", "threshold", "share"])
    )


def compute_group_risk(
    nodes: pd.DataFrame,
    profile: pd.DataFrame,
    by: Group,
    releases: Sequence[str] | None = None,
    scale: Scale = "advantage",
) -> pd.DataFrame:
    """release, group, value (mean under the headline attacker), low, high, n; small groups are
    pooled as other.

    A group of one node has no interval.
    """
    columns = ["release", "group", "value", "low", "high", "n"]
    everything = list_releases(profile)
    if not everything or nodes.empty:
        return pd.DataFrame(columns=columns)
    base = profile[profile.release == everything[0]].set_index("node")[by].dropna()
    groups, order = _group_nodes(base, by)
    found = compute_headline(nodes)
    found = found.assign(group=found.node.map(groups)).dropna(subset="group")
    if releases is not None:
        found = found[found.release.isin(list(releases))]
    stats = found.groupby(["release", "group"])[scale].agg(["mean", "std", "count"]).reset_index()
    margin = 1.96 * stats["std"] / np.sqrt(stats["count"])  # NaN for a group of one
    least = 0.0 if scale == "risk" else -1.0
    table = pd.DataFrame(
        {
            "release": stats.release,
            "group": stats.group,
            "value": stats["mean"],
            "low": (stats["mean"] - margin).clip(lower=least),
            "high": (stats["mean"] + margin).clip(upper=1),
            "n": stats["count"],
        }
    )
    release_order = {release: i for i, release in enumerate(list_releases(nodes))}
    table["key"] = table.release.map(release_order) * 1e6 + table.group.map(order.index)
    return table.sort_values("key")[columns].reset_index(drop=True)


def _group_nodes(values: pd.Series, by: Group) -> tuple[pd.Series, list[str]]:
    """Group label of each node, and the labels in display order."""
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
