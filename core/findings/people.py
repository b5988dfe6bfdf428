"""Nodes ordered by an attack's advantage on one secret; threats are kept apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.audit.asked.scenarios import THREAT_TITLES, Threat
from core.audit.results.node_risks import NodeRisks
from core.findings.labels import THREAT_WORDS
from core.release import ORIGINAL
from core.words import begin_sentence, format_percent

PEOPLE_COLUMNS = (
    "rank",
    "number",
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


class Secret(NamedTuple):
    """Target of an attack: a threat and, with several private columns, the column."""

    threat: Threat
    target: str = ""

    @property
    def key(self) -> str:
        """Key for addresses: "link", "attribute", "attribute:income"."""
        return f"{self.threat}:{self.target}" if self.target else self.threat

    @property
    def attack(self) -> str:
        """ "attribute inference", "attribute inference of team" for a further column."""
        return THREAT_WORDS[self.threat].attack + (f" of {self.target}" if self.target else "")

    def name(self, private: str | None = None) -> str:
        """Display name: "Withheld links", "Private attribute: country"."""
        title = THREAT_TITLES[self.threat]
        column = self.target or (private or "")
        named = f"{title}: {column}" if self.threat == "attribute" and column else title
        return begin_sentence(named)


def list_secrets(nodes: NodeRisks) -> list[Secret]:
    """Secrets that non-baseline attacks were run against, threat by threat."""
    found = {attack.secret for _, attack in nodes.parts if not attack.is_blind}
    order = list(THREAT_TITLES)
    known = [Secret(threat, target) for threat, target in found if threat in order]
    return sorted(known, key=lambda s: (order.index(s.threat), s.target))


def find_worst_secret(nodes: NodeRisks) -> Secret | None:
    """The secret that surely exposes most of the nodes at stake on the original, then likely, then
    the one with the largest mean advantage."""
    table = nodes.exposed
    table = table[table.release == ORIGINAL]
    if table.empty:
        return None
    table = table.assign(sure=table.sure / table.n)
    worst = table.sort_values(["sure", "share", "mean"], ascending=False, kind="stable").iloc[0]
    return Secret(worst.threat, worst.target)


def rank_people(nodes: NodeRisks, secret: Secret, release: str = ORIGINAL) -> pd.DataFrame:
    """`PEOPLE_COLUMNS`, one row per node at stake, most surely exposed by the headline attacker
    first: by `low`, nodes without an interval last.

    number  position in `nodes.names`; attack is an Attack
    advantage, low, high  over the node's own base rate
    support  mean advantage over all non-baseline attacks on the secret. Equal ones are ordered by
    `advantage`, then by `support`, then by id.
    """
    found = nodes.find_headline(release, secret)
    if found is None:
        return pd.DataFrame(columns=list(PEOPLE_COLUMNS))
    count = len(nodes.names)
    counts, totals = np.zeros((2, count))
    for attack in nodes.list_attacks(release, secret):
        part = nodes.parts[release, attack]
        counts[part.nodes] += 1
        totals[part.nodes] += part.advantage
    gain, low = found.advantage.round(9), found.sure
    support = (totals[found.nodes] / counts[found.nodes]).round(9)
    sure = np.where(np.isnan(low), -np.inf, low).round(9)
    telling = [key for key in (-support, -gain, -sure) if not (key == key[0]).all()]
    order = np.lexsort((_rank_names(nodes.names)[found.nodes], *telling))
    number = found.nodes[order]
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(order) + 1),
            "number": number,
            "node": nodes.names.take(number),
            "advantage": gain[order],
            "low": low[order],
            "high": (found.high - found.base)[order],
            "risk": found.risk[order],
            "base": found.base[order],
            "attack": np.array(found.attacks, object)[found.which[order]],
            "seeds": found.seeds[order],
            "support": support[order],
        },
        copy=False,
    )


def describe_order(sure: np.ndarray | pd.Series) -> str:
    """Sentence on the order of nodes by these lower ends of their advantage, NaN without one."""
    is_few = np.isnan(np.asarray(sure, float))
    if is_few.all():
        return "Ranked by the advantage, as one split gives no interval."
    few = int(is_few.sum())
    last = f"; the {few:,} tested in one split {'comes' if few == 1 else 'come'} last"
    return f"Ranked by the lower end of the interval of the advantage{last if few else ''}."


def _rank_names(names: pd.Index) -> np.ndarray:
    """(n,) place of each name in their order as texts."""
    place = np.empty(len(names), np.int64)
    place[pc.sort_indices(pa.array(names))] = np.arange(len(names))
    return place


def compare_people(
    nodes: NodeRisks, secret: Secret, release: str, people: np.ndarray
) -> np.ndarray:
    """(k,) advantage of the headline attacker on another release, of nodes with these positions;
    NaN for those not at stake there."""
    found = nodes.find_headline(release, secret)
    if found is None:
        return np.full(len(people), np.nan)
    return np.asarray(found.place("advantage", len(nodes.names))[people])


def describe_prior(people: pd.DataFrame, secret: Secret) -> str:
    """Sentence on the base rate that is subtracted."""
    if people.empty:
        return ""
    low, high = float(people.base.min()), float(people.base.max())
    if secret.threat == "included":
        return f"The base rate is {format_percent(low)}, the share of pairs that are linked."
    if secret.threat == "link":
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
