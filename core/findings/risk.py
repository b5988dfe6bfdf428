"""Per-node exposure: heatmap of nodes by attacks, distributions and groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo
from core.audit.asked.scenarios import THREAT_TITLES
from core.audit.results.node_risks import AttackRisk, NodeRisks
from core.findings.tables import list_releases, select_release
from core.measures.node_risk import ADVANTAGE_LIMIT
from core.words import format_percent

MAX_GROUPS = 12


DEGREE_BINS = (0, 1, 2, 3, 6, 11, 21, 51, 101)


Group = Literal["degree", "class", "community"]

Scale = Literal["risk", "advantage"]
"""The attacker's confidence in the truth, or its advantage over the base rate."""

SCALE_TITLES: dict[Scale, str] = {"risk": "Risk", "advantage": "Advantage"}


def tabulate_exposed(nodes: NodeRisks, releases: Collection[str]) -> pd.DataFrame:
    """Number of exposed nodes for display: one row per release, secret and base rate.

    The base rate is the class share for a private attribute.
    """
    table = nodes.select(releases).exposed_by_base
    secrets = table.threat.map(
        lambda threat: dict(THREAT_TITLES).get(threat, "")
    ) + table.target.map(lambda name: f" {name}" if name else "")
    return pd.DataFrame(
        {
            "Release": table.release.map(nodes.titles),
            "After": secrets,
            "Base rate": table.base.map(format_percent),
            "People": table.n,
            "Exposed, at least": table.sure,
            "Exposed, likely": table.exposed,
            "Share": table.share.map(format_percent),
        }
    )


def compute_heatmap(
    nodes: NodeRisks,
    release: str,
    by: Scale = "advantage",
    order: np.ndarray | None = None,
    is_folded: bool = True,
    without: Collection[str] = (),
    names: pd.Index | None = None,
) -> pd.DataFrame:
    """rank, node, headline, attack (id of the headline attacker), sure, and a column of values for
    each Attack (NaN: none). Most surely exposed first by the headline attacker; nodes with baseline
    attackers only come last, with NaN. Attacks have the same order for all releases, by their
    values on the first. `attack` is a category; sure is the lower end of the headline advantage,
    NaN after one repeat.

    order      exactly the nodes with these positions in this order, so that releases show the same
    rows
    is_folded  of the forms of one attack (`Attack.family`) only the strongest on the release, by
    its mean advantage, which is a choice among attackers that can exist; no maximum per node
    without    ids of attacks that are left out, such as `find_doubles`
    names      those of `order`, where they are known
    """
    own = {attack: part for (where, attack), part in nodes.parts.items() if where == release}
    forms = {attack: attack.find_form(nodes.made[release]) for _, attack in nodes.parts}
    mine = {
        attack: own[form]
        for attack, form in forms.items()
        if form in own and form.id not in without
    }
    if not mine:
        return pd.DataFrame(columns=["rank", "node", "headline", "attack", "sure"])
    found = nodes.find_headline(release)
    if order is None:
        ranked = np.zeros(0, np.int32) if found is None else found.nodes[found.order]
        order = pd.unique(np.concatenate([ranked, *(part.nodes for part in mine.values())]))
    take = _make_taker(order, len(nodes.names))
    attacks: tuple[Attack, ...] = ()
    values = sure = np.full(len(order), np.nan)
    which = np.full(len(order), -1)
    if found is not None:
        attacks = found.attacks
        values, sure = take(found.nodes, getattr(found, by)), take(found.nodes, found.sure)
        which = take(found.nodes, found.which)
    ids = pd.Index(dict.fromkeys(attack.id for attack in attacks), dtype="str")
    places = np.append(ids.get_indexer([attack.id for attack in attacks]), -1)
    table: dict[Any, Any] = {
        "rank": np.arange(1, len(order) + 1),
        "node": nodes.names.take(order) if names is None else names,
        "headline": values,
        "attack": pd.Categorical.from_codes(places[which], ids),
        "sure": sure,
    }
    means: dict[Attack, float] = {}
    for first in nodes.releases:  # where there is one
        for (where, attack), part in nodes.parts.items():
            if where == first and attack not in means:
                means[attack] = getattr(part, by).mean()
    if is_folded:
        mine = _choose_forms(mine)
    for attack in sorted(means, key=lambda attack: -means[attack]):
        if attack in mine:
            table[attack] = take(mine[attack].nodes, getattr(mine[attack], by))
    return pd.DataFrame(table, copy=False)


def _make_taker(
    order: np.ndarray, num_nodes: int
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """`take(nodes, values)`: the values of these nodes in an order of nodes; NaN, or −1 of
    integers, for others. Attacks mostly have the same nodes at stake."""
    known: list[tuple[np.ndarray, np.ndarray]] = []

    def take(nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
        rows = next((rows for seen, rows in known if np.array_equal(seen, nodes)), None)
        if rows is None:
            place = np.full(num_nodes, -1, np.int32)
            place[nodes] = np.arange(len(nodes))
            rows = place[order]
            known.append((nodes, rows))
        taken = values[rows]
        taken[rows < 0] = np.nan if taken.dtype.kind == "f" else -1
        return np.asarray(taken)

    return take


def count_forms(nodes: NodeRisks) -> tuple[int, int]:
    """Number of attacks in all their forms, and of attacks."""
    attacks = {attack for _, attack in nodes.parts}
    return len(attacks), len({attack.family for attack in attacks})


def _choose_forms(parts: Mapping[Attack, AttackRisk]) -> dict[Attack, AttackRisk]:
    """Of each family the form with the largest mean advantage, the first of equal ones."""
    best: dict[Any, Attack] = {}
    for attack, part in parts.items():
        other = best.get(attack.family)
        if other is None or part.advantage.mean() > parts[other].advantage.mean():
            best[attack.family] = attack
    return {attack: parts[attack] for attack in best.values()}


@dataclass(frozen=True)
class HeatmapRow:
    """An attack across releases: its title, one of its forms, and the form shown on each."""

    title: str
    attack: Attack
    forms: Mapping[ReleaseInfo, Attack]


def align_attacks(tables: Mapping[ReleaseInfo, pd.DataFrame]) -> list[HeatmapRow]:
    """Attacks of tables of `compute_heatmap`, strongest first on the first of them: a row per
    family where no table has two forms of one, else a row per form."""
    listed = {made: [c for c in t.columns if isinstance(c, Attack)] for made, t in tables.items()}
    each = [[attack.family for attack in attacks] for attacks in listed.values()]
    is_folded = all(len(set(families)) == len(families) for families in each)
    found: dict[object, dict[ReleaseInfo, Attack]] = {}
    for made, attacks in listed.items():
        for attack in attacks:
            found.setdefault(attack.family if is_folded else attack, {})[made] = attack
    rows = []
    for forms in found.values():
        attack = next(iter(forms.values()))
        is_one = len(set(forms.values())) == 1
        # A heatmap is of one secret, named beside it.
        rows.append(HeatmapRow(attack.form_title if is_one else attack.name, attack, forms))
    return rows


@dataclass(frozen=True)
class Segment:
    """Neighbouring nodes of a heatmap that are alike in what is known of them."""

    title: str
    size: int


def list_segments(table: pd.DataFrame) -> list[Segment]:
    """Runs of nodes of `compute_heatmap`, in its order: exposed beyond noise, not beyond noise, and
    without an interval."""
    sure = table.sure.to_numpy(float)
    kinds = np.where(np.isnan(sure), 2, np.where(sure > ADVANTAGE_LIMIT, 0, 1))
    starts = np.flatnonzero(np.diff(kinds, prepend=-1))
    sizes = np.diff(np.append(starts, len(kinds))).tolist()
    words = ("surely exposed", "not surely", "in one split")
    return [
        Segment(f"{size:,} {words[kind]}", size)
        for size, kind in zip(sizes, kinds[starts].tolist(), strict=True)
    ]


def compute_risk_shares(
    nodes: NodeRisks, releases: Collection[str] | None = None, by: Scale = "advantage"
) -> pd.DataFrame:
    """release, threshold, share of the nodes whose headline value reaches it."""
    thresholds = np.linspace(0, 1, 101)
    parts = [pd.DataFrame(columns=["release", "threshold", "share"])]
    for release in nodes.releases:
        found = nodes.find_headline(release)
        if found is not None and (releases is None or release in releases):
            values = np.sort(getattr(found, by))
            share = 1 - np.searchsorted(values, thresholds - 1e-12) / len(values)
            columns = {"release": release, "threshold": thresholds, "share": share}
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts[1:] or parts, ignore_index=True)


def compute_group_risk(
    nodes: NodeRisks,
    profile: pd.DataFrame,
    by: Group,
    releases: Collection[str] | None = None,
    scale: Scale = "advantage",
    communities: np.ndarray | None = None,
) -> pd.DataFrame:
    """release, group, value (mean under the headline attacker), low, high, n; small groups are
    pooled as other.

    communities  of the profile's nodes, from 0; without them there are no such groups

    A group of one node has no interval.
    """
    columns = ["release", "group", "value", "low", "high", "n"]
    everything = list_releases(profile)
    if not everything or nodes.is_empty or (by == "community" and communities is None):
        return pd.DataFrame(columns=columns)
    first = select_release(profile, everything[0])
    if communities is not None:
        first = first.assign(community=communities + 1)  # as the map names them
    base = first.set_index("node")[by].dropna()
    groups, order = _group_nodes(base, by)
    placed = groups.reindex(nodes.names).to_numpy(object)
    least, rows = 0.0 if scale == "risk" else -1.0, []
    for release in nodes.releases:
        found = nodes.find_headline(release)
        if found is None or not (releases is None or release in releases):
            continue
        values = pd.Series(getattr(found, scale)[found.order])
        stats = values.groupby(placed[found.nodes[found.order]]).agg(["mean", "std", "count"])
        for group in sorted(stats.index, key=order.index):
            mean, deviation, size = stats.loc[group]
            margin = 1.96 * deviation / np.sqrt(size)  # NaN for a group of one
            low, high = max(mean - margin, least), min(mean + margin, 1.0)
            rows.append((release, group, mean, low, high, int(size)))
    return pd.DataFrame(rows, columns=columns)


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
