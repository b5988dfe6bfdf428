"""A person's risk by an attacker that can exist: chosen without seeing that person's truth.

The maximum over attacks per person picks, after the fact, whoever happened to be right: of many
guessing attackers one always is. The headline is therefore one attacker a release and secret:
the ensemble, or the best single attack, which choose on known values; where neither ran, the
attack that gained most over other people (cross-fitted). Attackers who read neither links nor
columns expose nobody; a baseline that reads published columns is an attacker like any other. The
maximum per person stays as an upper bound, beside what attackers who only guess would reach.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from core.audit.scenarios import THREAT_TITLES, Scenario, split_id
from core.audit.view import spell
from core.findings.labels import attack_threat, is_baseline, is_blind, method_title, release_title
from core.measures.node_risk import ADVANTAGE_LIMIT, estimate_guessing_share
from core.words import format_percent

CHOOSERS = ("ensemble", "best_single")
"""Attacks that choose among others on known values, the preferred one first."""

ALL_EVIDENCE = "neighbourhood_classifier"
"""An attack that weighs all evidence on known values, but no other attack: beside a chooser, the
one of the two that gains more is the headline."""

CROSS_FITTED = "chosen by what it gains over other people"

HEADLINE_COLUMNS = (
    "release",
    "threat",
    "target",
    "node",
    "attack",
    "risk",
    "base",
    "advantage",
    "low",
    "high",
    "seeds",
    "how",
)


@lru_cache(maxsize=1024)
def find_secret(attack: str) -> tuple[str, str]:
    """(threat, target column) of an attack's id; ("", "") for one this version does not know."""
    threat = attack_threat(attack)
    if threat is None:
        return "", ""
    return threat, Scenario.parse(attack).target


def compute_headlines(nodes: pd.DataFrame) -> pd.DataFrame:
    """One row a release, secret and node at stake: the risk under the headline attacker.

    `HEADLINE_COLUMNS`; `how` says by what the attacker was chosen. Secrets that baseline attackers
    alone were run against are absent.
    """
    return spell(_find_headlines(nodes))


def _find_headlines(nodes: pd.DataFrame) -> pd.DataFrame:
    """`compute_headlines`, its names as `nodes` has them."""
    rows = _list_rows(nodes)
    half = _find_halves(nodes.node)
    gains = nodes.advantage.to_numpy(float)
    told, parts = [], []
    for (release, (threat, target)), attacks in _list_secrets(rows):
        mine, how = _choose({a: rows[release, a] for a in attacks}, gains, half)
        parts.append(mine)
        told.append((threat, target, how))
    if not parts:
        return pd.DataFrame(columns=list(HEADLINE_COLUMNS))
    found = nodes.iloc[np.concatenate(parts)].reset_index(drop=True)
    sizes = [len(mine) for mine in parts]
    for name, values in zip(("threat", "target", "how"), zip(*told, strict=True), strict=True):
        found[name] = pd.Categorical(values).repeat(sizes)
    return found.assign(base=found.risk - found.advantage)[list(HEADLINE_COLUMNS)]


def _list_rows(nodes: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """(release, attack) → numbers of the rows that tell a risk, both in the table's order."""
    told = np.flatnonzero(nodes.risk.notna() & nodes.advantage.notna())
    names = nodes[["release", "attack"]].iloc[told]
    parts = names.groupby(["release", "attack"], sort=False, observed=True).indices
    return {pair: told[part] for pair, part in sorted(parts.items(), key=lambda p: p[1][0])}


def _list_secrets(
    pairs: Iterable[tuple[str, str]],
) -> Iterable[tuple[tuple[str, tuple[str, str]], list[str]]]:
    """((release, secret), its attacks that read anything) of pairs of releases and attacks."""
    found: dict[tuple[str, tuple[str, str]], list[str]] = {}
    for release, attack in pairs:
        if not is_blind(attack):
            found.setdefault((release, find_secret(attack)), []).append(attack)
    return found.items()


def compute_headline(nodes: pd.DataFrame) -> pd.DataFrame:
    """One row a release and node, most exposed first: of the node's secrets the one on which its
    headline attacker gains most. Columns as `compute_headlines`."""
    worst = pick_worst(nodes).sort_values("advantage", ascending=False, kind="stable")
    return spell(worst.reset_index(drop=True))


def pick_worst(nodes: pd.DataFrame) -> pd.DataFrame:
    """`compute_headline` in no order and its names as `nodes` has them: what counts millions of
    people need not sort and name them."""
    found = _find_headlines(nodes)
    if len(found[["threat", "target"]].drop_duplicates()) <= 1:  # nobody has a second secret
        return found
    keys = ["release", "node"]
    return found.loc[found.groupby(keys, sort=False, observed=True).advantage.idxmax()]


def compute_exposed(
    nodes: pd.DataFrame, limit: float = ADVANTAGE_LIMIT, by_base: bool = False
) -> pd.DataFrame:
    """release, threat, target, exposed, n, share, mean (of the advantage), attacks, how; a row a
    release and secret, or with `by_base` one for each base rate (column base): the classes.

    Exposed are those on whom the headline attacker gains more than `limit` over the base rate.
    """
    found = _find_headlines(nodes)
    found = found.assign(is_exposed=found.advantage > limit, base=found.base.round(6))
    keys = ["release", "threat", "target", *(["base"] if by_base else [])]
    return spell(
        found.groupby(keys, sort=False, observed=True)
        .agg(
            exposed=("is_exposed", "sum"),
            n=("is_exposed", "size"),
            share=("is_exposed", "mean"),
            mean=("advantage", "mean"),
            sd=("advantage", "std"),
            attacks=("attack", lambda a: " or ".join(dict.fromkeys(map(method_title, a.unique())))),
            how=("how", "first"),
        )
        .reset_index()
    )


def tabulate_exposed(nodes: pd.DataFrame, releases: Sequence[str]) -> pd.DataFrame:
    """How many people are exposed, for readers: a row a release, secret and base rate, which is
    the share of the person's class for a private attribute."""
    table = compute_exposed(nodes[nodes.release.isin(list(releases))], by_base=True)
    secrets = table.threat.map(
        lambda threat: dict(THREAT_TITLES).get(threat, "")
    ) + table.target.map(lambda name: f" {name}" if name else "")
    return pd.DataFrame(
        {
            "Release": table.release.map(release_title),
            "After": secrets,
            "Base rate": table.base.map(format_percent),
            "People": table.n,
            "Exposed": table.exposed,
            "Share": table.share.map(format_percent),
        }
    )


def _choose(
    rows: dict[str, np.ndarray], gains: np.ndarray, half: np.ndarray
) -> tuple[np.ndarray, str]:
    """The rows of the headline attacker among those of one release and secret, and how chosen.

    rows   attack → numbers of its rows
    gains  advantage of every row; half: on which side of the cross-fitting its person is
    Of several attackers who know different things the one who gains most is taken: a choice
    among scenarios.
    """
    keys = {a: split_id(a)[0].partition(":")[0] for a in rows}
    for key in CHOOSERS:
        if key in keys.values():
            rivals = (key, ALL_EVIDENCE)  # who reads columns alone may gain more than either
            found = [a for a, own in keys.items() if own in rivals or is_baseline(a)]
            best = max(found, key=lambda a: gains[rows[a]].mean())
            how = "which chooses on known values"
            if is_baseline(best):
                how = "which reads columns alone and gains more than those who choose"
            return rows[best], f"{method_title(keys[best])}, {how}"
    sides = {a: (mine[half[mine] == 0], mine[half[mine] == 1]) for a, mine in rows.items()}
    parts = []
    for side in (0, 1):
        others = {a: gains[both[1 - side]] for a, both in sides.items() if len(both[1 - side])}
        others = others or {a: gains[both[side]] for a, both in sides.items() if len(both[side])}
        parts.append(sides[max(others, key=lambda a: others[a].mean())][side])
    return np.concatenate(parts), CROSS_FITTED


def _find_halves(people: pd.Series) -> np.ndarray:
    """(k,) 0 or 1 for each row's person, by a hash of the name; each name is hashed once."""
    is_numbered = isinstance(people.dtype, pd.CategoricalDtype)
    named = people if is_numbered else people.astype("category")
    return np.asarray(_hash_names(_Names(named.cat.categories))[named.cat.codes.to_numpy()])


class _Names:
    """Names in their order, the same only where they are one object: pandas holds two lists of
    the same names in another order to be equal, and to compare a million would take as long as
    to hash them."""

    def __init__(self, names: pd.Index) -> None:
        self.names = names

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Names) and self.names is other.names

    def __hash__(self) -> int:
        return id(self.names)


@lru_cache(maxsize=2)
def _hash_names(people: _Names) -> np.ndarray:
    """(n,) kept for the same people: a page asks a dozen times, of a million if need be."""
    return np.array([zlib.crc32(str(n).encode()) & 1 for n in people.names.tolist()], np.int8)


def compute_bound(nodes: pd.DataFrame, limit: float = ADVANTAGE_LIMIT) -> pd.DataFrame:
    """release, threat, target, exposed, n, noise: people whom at least one of the attacks gives
    away, chosen after the fact, and the share of them that as many guessing attackers reach.

    An upper bound on what an attacker who happens to use the right attack on each person finds.
    """
    rows, result = _list_rows(nodes), []
    for (release, (threat, target)), attacks in _list_secrets(rows):
        group = nodes.iloc[np.sort(np.concatenate([rows[release, a] for a in attacks]))]
        people, _ = pd.factorize(group.node)
        best = group.advantage.groupby(people, sort=False).max()
        bases = (group.risk - group.advantage).groupby(people, sort=False).first()
        noise = estimate_guessing_share(bases, len(attacks), int(group.seeds.median()), limit)
        result.append((release, threat, target, int((best > limit).sum()), len(best), noise))
    return pd.DataFrame(result, columns=["release", "threat", "target", "exposed", "n", "noise"])
