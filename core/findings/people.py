"""Nodes ordered by an attack's advantage on one secret; threats are kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.audit.scenarios import THREAT_TITLES, Threat
from core.audit.view import spell
from core.findings.attackers import compute_exposed, compute_headlines, find_secret, pick_worst
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

TIES = "Ties are ordered by the lower end of the interval, then by the mean advantage."


@dataclass(frozen=True)
class Secret:
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
    rows = nodes[nodes.risk.notna() & nodes.advantage.notna()]
    found = {find_secret(attack) for attack in rows.attack.unique() if not is_blind(attack)}
    order = list(THREAT_TITLES)
    known = [Secret(t, target) for t, target in found if t in order]
    return sorted(known, key=lambda s: (order.index(s.threat), s.target))


def find_worst_secret(nodes: pd.DataFrame, release: str = ORIGINAL) -> Secret | None:
    """The secret that exposes most of the nodes at stake, then the largest mean advantage."""
    table = compute_exposed(nodes[nodes.release == release])
    if table.empty:
        return None
    worst = table.sort_values(["share", "mean"], ascending=False, kind="stable").iloc[0]
    return Secret(worst.threat, worst.target)


def select_secret(nodes: pd.DataFrame, secret: Secret) -> pd.DataFrame:
    """Rows of `nodes` whose attack targets the secret, baseline attackers included."""
    wanted = (secret.threat, secret.target)
    mine = [attack for attack in nodes.attack.unique() if find_secret(attack) == wanted]
    return nodes[nodes.attack.isin(mine)]


def rank_people(nodes: pd.DataFrame, secret: Secret, release: str = ORIGINAL) -> pd.DataFrame:
    """`PEOPLE_COLUMNS`, one row per node at stake, largest advantage of the headline attacker
    first.

    advantage, low, high  over the node's own base rate
    support  mean advantage over all non-baseline attacks on the secret. Equal advantages are
    ordered by `low`, then by `support`, then by id.
    """
    rows = select_secret(nodes, secret)
    rows = rows[rows.release == release].astype({"node": "category"})
    found = pick_worst(rows)
    if found.empty:
        return pd.DataFrame(columns=list(PEOPLE_COLUMNS))
    real = rows[rows.attack.isin([a for a in rows.attack.unique() if not is_blind(a)])]
    real = real[real.advantage.notna()]
    codes, num_names = real.node.cat.codes, len(rows.node.cat.categories)
    counts = np.bincount(codes, minlength=num_names)
    totals = np.bincount(codes, real.advantage, num_names)
    codes = found.node.cat.codes.to_numpy()
    found = found.assign(support=totals[codes] / counts[codes])
    found["low"], found["high"] = found.low - found.base, found.high - found.base
    found = found.round({"advantage": 9, "support": 9})
    sure = found.low.fillna(-np.inf).round(9)
    place = np.empty(num_names, np.int64)
    place[pc.sort_indices(pa.array(rows.node.cat.categories))] = np.arange(num_names)
    order = np.lexsort((place[codes], -found.support, -sure, -found.advantage))
    found = found.iloc[order].reset_index(drop=True)
    found.insert(0, "rank", np.arange(1, len(found) + 1))
    return spell(found[list(PEOPLE_COLUMNS)])


def compare_people(
    nodes: pd.DataFrame, secret: Secret, release: str, people: Sequence[str]
) -> pd.Series:
    """Node → advantage of the headline attacker on another release, for nodes at stake there."""
    rows = select_secret(nodes, secret)
    found = pick_worst(rows[rows.release == release].astype({"node": "category"}))
    if found.empty:
        return pd.Series(dtype=float)
    names = pa.array(found.node.cat.categories)
    is_asked = pc.is_in(names, value_set=pa.array(people, names.type)).to_numpy(False)
    return spell(found[is_asked[found.node.cat.codes]]).set_index("node").advantage


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
        return f"Prior: one person among all, at most {format_percent(high)}."
    span = format_percent(low)
    if high - low > 0.005:
        span += f" to {format_percent(high)}"
    return f"Prior: the share of the person's own value among all people, {span} here."


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
        return "None of the releases clearly lowers it for this person."
    return (
        f"Of the releases, {release_title(best)} lowers it most: the advantage falls from "
        f"{format_estimate(before)} to {format_estimate(after)}, by "
        f"{method_title(rows.loc[best].attack)}."
    )


def _get_advantage(row: Any) -> Estimate:
    return Estimate(row.advantage, row.low - row.base, row.high - row.base, 1)
