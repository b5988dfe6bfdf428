"""Nodes ordered by an attack's advantage on one secret; threats are kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.audit.scenarios import THREAT_TITLES, Threat
from core.audit.view import spell
from core.findings.attackers import (
    HEADLINE_COLUMNS,
    compute_exposed,
    compute_headlines,
    find_headlines,
    find_secret,
    list_rows,
)
from core.findings.differences import is_clear
from core.findings.labels import is_blind, method_title, release_title
from core.findings.numbers import format_estimate
from core.release import ORIGINAL
from core.results import Estimate
from core.words import begin_sentence, format_percent

PEOPLE_COLUMNS = (
    "rank",
    "node",
    "advantage",
    "low",
    "high",
    "risk",
    "base",
    "attack",
    "seeds",
    "support",
)

TIES = "Among equals, the higher lower end of the interval comes first, then the higher mean."


class Secret(NamedTuple):
    """Target of an attack: a threat and, with several private columns, the column."""

    threat: Threat
    target: str = ""

    @property
    def key(self) -> str:
        """Key for addresses: "link", "attribute", "attribute:income"."""
        return f"{self.threat}:{self.target}" if self.target else self.threat

    def name(self, private: str | None = None) -> str:
        """Display name: "Withheld links", "Private attribute: country"."""
        title = THREAT_TITLES[self.threat]
        column = self.target or (private or "")
        named = f"{title}: {column}" if self.threat == "attribute" and column else title
        return begin_sentence(named)


def list_secrets(nodes: pd.DataFrame) -> list[Secret]:
    """Secrets that non-baseline attacks were run against, threat by threat."""
    found = {find_secret(attack) for _, attack in list_rows(nodes) if not is_blind(attack)}
    order = list(THREAT_TITLES)
    known = [Secret(t, target) for t, target in found if t in order]
    return sorted(known, key=lambda s: (order.index(s.threat), s.target))


def find_worst_secret(nodes: pd.DataFrame) -> Secret | None:
    """The secret that exposes most of the nodes at stake on the original, then the one with the
    largest mean advantage."""
    table = compute_exposed(nodes)
    table = table[table.release == ORIGINAL]
    if table.empty:
        return None
    worst = table.sort_values(["share", "mean"], ascending=False, kind="stable").iloc[0]
    return Secret(worst.threat, worst.target)


def list_attacked(nodes: pd.DataFrame, secret: Secret) -> list[str]:
    """Releases on which the secret was attacked, original first."""
    found = dict.fromkeys(r for r, attack in list_rows(nodes) if find_secret(attack) == secret)
    return sorted(found, key=lambda release: release != ORIGINAL)


def select_secret(nodes: pd.DataFrame, secret: Secret) -> pd.DataFrame:
    """Rows of `nodes` whose attack targets the secret, baseline attackers included."""
    mine = [attack for attack in nodes.attack.unique() if find_secret(attack) == secret]
    return nodes[nodes.attack.isin(mine)]


def rank_people(nodes: pd.DataFrame, secret: Secret, release: str = ORIGINAL) -> pd.DataFrame:
    """`PEOPLE_COLUMNS`, one row per node at stake, largest advantage of the headline attacker
    first.

    node and attack are categories where those of `nodes` are.

    advantage, low, high  over the node's own base rate
    support  mean advantage over all non-baseline attacks on the secret. Equal advantages are
    ordered by `low`, then by `support`, then by id.
    """
    nodes = nodes.astype({"node": "category"}) if nodes.node.dtype != "category" else nodes
    columns = [name for name in PEOPLE_COLUMNS if name in HEADLINE_COLUMNS]
    found = find_headlines(nodes, release, secret, columns)
    if found.empty:
        return pd.DataFrame(columns=list(PEOPLE_COLUMNS))
    codes, names = nodes.node.cat.codes.to_numpy(), nodes.node.cat.categories
    gains = nodes.advantage.to_numpy(float)
    counts, totals = np.zeros((2, len(names)))
    for (where, attack), rows in list_rows(nodes).items():
        is_meant = where == release and find_secret(attack) == secret
        if is_meant and not is_blind(attack):
            counts += np.bincount(codes[rows], minlength=len(names))
            totals += np.bincount(codes[rows], gains[rows], len(names))
    codes = found.node.cat.codes.to_numpy()
    found = found.assign(
        advantage=found.advantage.round(9),
        low=found.low - found.base,
        high=found.high - found.base,
        support=(totals[codes] / counts[codes]).round(9),
    )
    sure = found.low.fillna(-np.inf).round(9)
    keys = (-found.support, -sure, -found.advantage)
    telling = [key for key in keys if not (key == key.iloc[0]).all()]
    order = np.lexsort((_rank_names(names)[codes], *telling))
    found = found.iloc[order].reset_index(drop=True)
    found.insert(0, "rank", np.arange(1, len(found) + 1))
    return found


def _rank_names(names: pd.Index) -> np.ndarray:
    """(n,) place of each name in their order as texts."""
    place = np.empty(len(names), np.int64)
    place[pc.sort_indices(pa.array(names))] = np.arange(len(names))
    return place


def compare_people(
    nodes: pd.DataFrame, secret: Secret, release: str, people: Sequence[str]
) -> pd.Series:
    """Node → advantage of the headline attacker on another release, for nodes at stake there."""
    found = find_headlines(nodes, release, secret, ("node", "advantage"))
    if found.empty:
        return pd.Series(dtype=float)
    named = found.node.astype("category").cat
    is_among = pc.is_in(pa.array(named.categories), pa.array(people, pa.large_string()))
    rows = found[is_among.to_numpy(zero_copy_only=False)[named.codes]]
    return spell(rows).set_index("node").advantage


def describe_prior(people: pd.DataFrame, secret: Secret) -> str:
    """Sentence on the base rate that is subtracted."""
    if people.empty:
        return ""
    low, high = float(people.base.min()), float(people.base.max())
    if secret.threat in ("link", "included"):
        return (
            f"The base rate is {format_percent(low)}, since as many links as unlinked pairs are "
            "tested."
        )
    if secret.threat == "identity":
        return f"The base rate is one node among all, at most {format_percent(high)}."
    span = format_percent(low)
    if high - low > 0.005:
        span += f" to {format_percent(high)}"
    return f"The base rate is the share of the node's own value among all nodes, {span} here."


def advise_release(nodes: pd.DataFrame, secret: Secret, node: str) -> str:
    """Sentence on the release that lowers this node's risk most; "" without any."""
    rows = select_secret(nodes, secret)
    found = compute_headlines(rows[rows.node == node])
    gains = found.set_index("release").advantage
    others = gains.drop(ORIGINAL, errors="ignore")
    if others.empty or ORIGINAL not in gains.index:
        return ""
    best = str(others.idxmin())
    rows = found.set_index("release")
    before, after = (_get_advantage(rows.loc[release]) for release in (ORIGINAL, best))
    if gains[best] >= gains[ORIGINAL] or not is_clear(before, after):
        return "None of the releases clearly lowers it for this node."
    return (
        f"Of the releases, {release_title(best)} lowers it most: the advantage falls from "
        f"{format_estimate(before)} to {format_estimate(after)}, by "
        f"{method_title(rows.loc[best].attack)}."
    )


def _get_advantage(row: Any) -> Estimate:
    return Estimate(row.advantage, row.low - row.base, row.high - row.base, 1)
