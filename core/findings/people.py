"""Nodes ordered by an attack's advantage on one secret; threats are kept apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.audit.asked.scenarios import THREAT_TITLES, Threat
from core.audit.results.node_risks import Headline, NodeRisks
from core.findings.labels import THREAT_WORDS
from core.once import find_once
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


def rank_people(
    nodes: NodeRisks, secret: Secret, release: str = ORIGINAL, most: int | None = None
) -> pd.DataFrame:
    """`PEOPLE_COLUMNS`, one row per node at stake, in the order of `order_people`; the first `most`
    of them.

    number  position in `nodes.names`; attack is an Attack
    advantage, low, high  over the node's own base rate
    support  mean advantage over all non-baseline attacks on the secret
    """
    found = nodes.find_headline(release, secret)
    if found is None:
        return pd.DataFrame(columns=list(PEOPLE_COLUMNS))
    order = order_people(nodes, secret, release)[:most]
    number = found.nodes[order]
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(order) + 1),
            "number": number,
            "node": nodes.names.take(number),
            "advantage": found.advantage[order].round(9),
            "low": found.sure[order],
            "high": found.high[order] - found.base[order],
            "risk": found.risk[order],
            "base": found.base[order],
            "attack": np.array(found.attacks, object)[found.which[order]],
            "seeds": found.seeds[order],
            "support": _find_support(nodes, found)[order].round(9),
        },
        copy=False,
    )


@find_once
def order_people(nodes: NodeRisks, secret: Secret, release: str) -> np.ndarray:
    """(k,) rows of the headline attacker, whom it most surely exposes first: by the lower end of
    the advantage, nodes without an interval last. Equal ones are ordered by the advantage, then by
    `support`, then by id."""
    found = nodes.find_headline(release, secret)
    if found is None:
        return np.zeros(0, np.int64)
    keys = (found.sure, found.advantage, _find_support(nodes, found))
    # Nine digits of numbers between −1 and 1 as integers, the unknown below all of them.
    ranks = [np.where(np.isnan(key), -2e9, np.rint(key * 1e9)).astype(np.int64) for key in keys]
    telling = [-rank for rank in ranks if not (rank == rank[:1]).all()]
    if len(telling) > 1:  # two in one number, for sorting by two takes twice as long
        telling[-2:] = [(telling[-2] << 32) + telling[-1]]
    by_name = _list_by_name(nodes.names, found.nodes)
    return by_name[np.lexsort([key[by_name] for key in telling[::-1]])] if telling else by_name


def describe_order(sure: np.ndarray | pd.Series) -> str:
    """Sentence on the order of nodes by these lower ends of their advantage, NaN without one."""
    is_few = np.isnan(np.asarray(sure, float))
    if is_few.all():
        return "Ranked by the advantage, as one split gives no interval."
    few = int(is_few.sum())
    last = f"; the {few:,} tested in one split {'comes' if few == 1 else 'come'} last"
    return f"Ranked by the lower end of the interval of the advantage{last if few else ''}."


@find_once
def _find_support(nodes: NodeRisks, found: Headline) -> np.ndarray:
    """(k,) mean advantage of the headline's nodes over all non-baseline attacks on its secret."""
    counts, totals = np.zeros((2, len(nodes.names)))
    for attack in nodes.list_attacks(found.release, found.secrets[0]):
        part = nodes.parts[found.release, attack]
        counts[part.nodes] += 1
        totals[part.nodes] += part.advantage
    return np.asarray(totals[found.nodes] / counts[found.nodes])


def _list_by_name(names: pd.Index, nodes: np.ndarray) -> np.ndarray:
    """(k,) places in `nodes`, distinct positions in `names`, in the order of the names as texts."""
    place = np.full(len(names), -1)
    place[nodes] = np.arange(len(nodes))
    ordered = place[pc.sort_indices(pa.array(names))]
    return np.asarray(ordered[ordered >= 0])


def compare_people(
    nodes: NodeRisks, secret: Secret, release: str, people: np.ndarray
) -> np.ndarray:
    """(k,) advantage of the headline attacker on another release, of nodes with these positions;
    NaN for those not at stake there."""
    found = nodes.find_headline(release, secret)
    if found is None:
        return np.full(len(people), np.nan)
    return np.asarray(found.place("advantage", len(nodes.names))[people])


def describe_prior(base: np.ndarray | pd.Series, secret: Secret) -> str:
    """Sentence on the base rates that are subtracted."""
    if not len(base):
        return ""
    low, high = float(base.min()), float(base.max())
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
