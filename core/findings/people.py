"""People in the order of what an attack on one secret adds to guessing, threats kept apart."""

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

TIES = (
    "Ties: first whom the attack is surer of (lower end of the interval), then whom all attacks "
    "together find."
)


@dataclass(frozen=True)
class Secret:
    """What attackers are after: a threat and, of further private columns, which one."""

    threat: Threat
    target: str = ""

    @property
    def key(self) -> str:
        """The secret in an address: "link", "attribute", "attribute:income"."""
        return f"{self.threat}:{self.target}" if self.target else self.threat

    def name(self, private: str | None = None) -> str:
        """For readers: "Withheld links", "Private attribute country"."""
        title = THREAT_TITLES[self.threat]
        column = self.target or (private or "")
        named = f"{title} {column}" if self.threat == "attribute" and column else title
        return begin_sentence(named)


def list_secrets(nodes: pd.DataFrame) -> list[Secret]:
    """The secrets that an attack beyond the baselines was run against, threat by threat."""
    rows = nodes[nodes.risk.notna() & nodes.advantage.notna()]
    found = {find_secret(attack) for attack in rows.attack.unique() if not is_blind(attack)}
    order = list(THREAT_TITLES)
    known = [Secret(t, target) for t, target in found if t in order]
    return sorted(known, key=lambda s: (order.index(s.threat), s.target))


def find_worst_secret(nodes: pd.DataFrame, release: str = ORIGINAL) -> Secret | None:
    """The secret that most of the people at stake lose on the release, then on average."""
    table = compute_exposed(nodes[nodes.release == release])
    if table.empty:
        return None
    worst = table.sort_values(["share", "mean"], ascending=False, kind="stable").iloc[0]
    return Secret(worst.threat, worst.target)


def select_secret(nodes: pd.DataFrame, secret: Secret) -> pd.DataFrame:
    """The rows of `nodes` whose attack is after the secret, baseline attackers included."""
    wanted = (secret.threat, secret.target)
    mine = [attack for attack in nodes.attack.unique() if find_secret(attack) == wanted]
    return nodes[nodes.attack.isin(mine)]


def rank_people(nodes: pd.DataFrame, secret: Secret, release: str = ORIGINAL) -> pd.DataFrame:
    """`PEOPLE_COLUMNS`, one row a person at stake: on whom the headline attacker gains most first.

    advantage, low, high  over the person's own base rate
    support  mean advantage over all attacks on the secret but baseline attackers. Equal advantages
             are ordered by `low`, then by `support`, then by id.
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
    """Person → advantage of the headline attacker on another release, for those of `people` who
    are at stake there."""
    rows = select_secret(nodes, secret)
    found = pick_worst(rows[rows.release == release].astype({"node": "category"}))
    if found.empty:
        return pd.Series(dtype=float)
    names = pa.array(found.node.cat.categories)
    is_asked = pc.is_in(names, value_set=pa.array(people, names.type)).to_numpy(False)
    return spell(found[is_asked[found.node.cat.codes]]).set_index("node").advantage


def describe_prior(people: pd.DataFrame, secret: Secret) -> str:
    """What the attacker would believe of a person without the attack, which is taken off."""
    if people.empty:
        return ""
    low, high = float(people.base.min()), float(people.base.max())
    if secret.threat in ("link", "included"):
        return (
            f"Prior: a link and a pair that is none are equally likely (1:1), so the base rate is "
            f"{format_percent(low)} for everybody."
        )
    if secret.threat == "identity":
        return f"Prior: one person among all, at most {format_percent(high)}."
    span = format_percent(low)
    if high - low > 0.005:
        span += f" to {format_percent(high)}"
    return f"Prior: the share of the person's own value among all people, {span} here."


def advise_release(nodes: pd.DataFrame, secret: Secret, node: str) -> str:
    """Which of the releases lowers this person's risk most, as one sentence; "" without any."""
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
