"""Per-node risk under one attacker that is chosen without access to that node's true value.

The maximum over attacks per node selects in hindsight whichever attack happened to be right, which
even guessing attackers achieve. The headline is therefore one attacker per release and secret: the
ensemble or the best single attack, which select on known values; if neither ran, the attack with
the largest advantage over the other half of the nodes (cross-fitted). Attackers that use neither
links nor columns expose nobody; a baseline that uses published columns counts as an attacker. The
maximum per node remains as an upper bound, beside what guessing attackers reach.
"""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import pairwise
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from core.audit.scenarios import THREAT_TITLES, Scenario, split_id
from core.audit.view import spell
from core.findings.labels import attack_threat, is_baseline, is_blind, method_title, release_title
from core.measures.node_risk import ADVANTAGE_LIMIT, estimate_guessing_share
from core.words import format_percent

CHOOSERS = ("ensemble", "best_single")
"""Attacks that select among others on known values, in order of preference."""

ALL_EVIDENCE = "neighbourhood_classifier"
"""An attack that combines all evidence on known values without other attacks. Where a selecting
attack ran too, the one with the larger advantage is the headline."""

CROSS_FITTED = "chosen on other nodes"

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


EXPOSED_COLUMNS = (
    "release",
    "threat",
    "target",
    "base",
    "exposed",
    "n",
    "share",
    "mean",
    "sd",
    "attacks",
    "how",
)


@lru_cache(maxsize=1024)
def find_secret(attack: str) -> tuple[str, str]:
    """(threat, target column) of an attack id; ("", "") if this version does not know it."""
    threat = attack_threat(attack)
    if threat is None:
        return "", ""
    return threat, Scenario.parse(attack).target


Rows = slice | np.ndarray
"""Rows of a table: a slice if they follow one another, else their numbers."""

P = ParamSpec("P")
T = TypeVar("T")
Table = TypeVar("Table", pd.DataFrame, pd.Index)


def _once_a_table(
    compute: Callable[Concatenate[Table, P], T],
) -> Callable[Concatenate[Table, P], T]:
    """Remember what was computed from a table or its names while they live; those of a view never
    change.

    By identity: comparing millions of rows would cost more than computing.
    """
    known: dict[int, tuple[weakref.ref[Table], dict[Any, T]]] = {}

    @wraps(compute)
    def call(table: Table, /, *args: P.args, **kwargs: P.kwargs) -> T:
        number, how = id(table), (args, *sorted(kwargs.items()))
        if number not in known or known[number][0]() is not table:
            known[number] = weakref.ref(table, lambda _: known.pop(number, None)), {}
        found = known[number][1]
        if how not in found:
            found[how] = compute(table, *args, **kwargs)
        return found[how]

    return call


@dataclass(frozen=True, eq=False)
class _Headline:
    """Headline attacker of a release and secret.

    rows  its rows in the table of nodes, one per node at stake
    how   how it was chosen
    """

    release: str
    threat: str
    target: str
    rows: Rows
    how: str


@_once_a_table
def _list_headlines(nodes: pd.DataFrame) -> list[_Headline]:
    """The headline attacker of each release and secret of `AuditView.nodes`."""
    rows, gains = list_rows(nodes), nodes.advantage.to_numpy(float)
    people = nodes.node.astype("category").cat
    codes = people.codes.to_numpy()

    def is_second(chosen: Rows) -> np.ndarray:
        return np.asarray(_halve_names(people.categories)[codes[chosen]])

    return [
        _Headline(
            release, threat, target, *_choose({a: rows[release, a] for a in own}, gains, is_second)
        )
        for (release, (threat, target)), own in _list_secrets(rows)
    ]


def compute_headlines(nodes: pd.DataFrame) -> pd.DataFrame:
    """One row per release, secret and node at stake: the risk under the headline attacker.

    Columns `HEADLINE_COLUMNS`; `how` states how the attacker was chosen. Secrets with baseline
    attackers only are absent.
    """
    return spell(find_headlines(nodes))


def find_headlines(
    nodes: pd.DataFrame,
    release: str | None = None,
    secret: tuple[str, str] | None = None,
    columns: Sequence[str] = HEADLINE_COLUMNS,
) -> pd.DataFrame:
    """`compute_headlines` with names as the categories of `nodes`, of all releases and secrets or
    of one.

    secret   (threat, target column)
    columns  those to return: each is a copy of millions of values
    """
    found = [
        one
        for one in _list_headlines(nodes)
        if release in (None, one.release) and secret in (None, (one.threat, one.target))
    ]
    if not found:
        return pd.DataFrame(columns=list(columns))
    numbers = [_number_rows(one.rows) for one in found]
    rows = found[0].rows if len(found) == 1 else np.concatenate(numbers)
    table = nodes[[name for name in columns if name in nodes]].iloc[rows].reset_index(drop=True)
    sizes = list(map(len, numbers))
    for name in {"threat", "target", "how"}.intersection(columns):
        table[name] = pd.Categorical([getattr(one, name) for one in found]).repeat(sizes)
    if "base" in columns:
        table["base"] = table.risk - table.advantage
    return table[list(columns)]


@_once_a_table
def list_rows(nodes: pd.DataFrame) -> dict[tuple[str, str], Rows]:
    """(release, attack) → rows with a defined risk, in the table's order."""
    known = (nodes.risk.notna() & nodes.advantage.notna()).to_numpy()
    names = [nodes[name].astype("category").cat for name in ("release", "attack")]
    codes = [of.codes.to_numpy() for of in names]
    # The table is made part by part: a part is a run of equal codes, found without sorting.
    starts = _find_starts(*codes).tolist()
    parts: dict[tuple[int, int], list[Rows]] = {}
    for start, stop in pairwise([*starts, len(nodes)]):
        run: Rows = slice(start, stop)
        if not known[run].all():
            run = start + np.flatnonzero(known[run])
        if isinstance(run, slice) or len(run):
            parts.setdefault((codes[0][start], codes[1][start]), []).append(run)
    return {
        (names[0].categories[release], names[1].categories[attack]): (
            runs[0] if len(runs) == 1 else np.concatenate([_number_rows(run) for run in runs])
        )
        for (release, attack), runs in parts.items()
    }


def _find_starts(*columns: np.ndarray) -> np.ndarray:
    """Numbers of the rows that differ from the one before, the first row's included."""
    is_new = np.zeros(len(columns[0]), bool)
    is_new[:1] = True
    for column in columns:
        is_new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(is_new)


def _number_rows(rows: Rows) -> np.ndarray:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


def _list_secrets(
    pairs: Iterable[tuple[str, str]],
) -> Iterable[tuple[tuple[str, tuple[str, str]], list[str]]]:
    """((release, secret), non-blind attacks) from pairs of releases and attacks."""
    found: dict[tuple[str, tuple[str, str]], list[str]] = {}
    for release, attack in pairs:
        if not is_blind(attack):
            found.setdefault((release, find_secret(attack)), []).append(attack)
    return found.items()


def compute_headline(nodes: pd.DataFrame) -> pd.DataFrame:
    """One row per release and node, most exposed first: the secret with the largest advantage.

    Columns as `compute_headlines`.
    """
    worst = pick_worst(nodes).sort_values("advantage", ascending=False, kind="stable")
    return spell(worst.reset_index(drop=True))


def pick_worst(nodes: pd.DataFrame) -> pd.DataFrame:
    """`compute_headline` unsorted and with category codes, for counting over millions of nodes."""
    found = find_headlines(nodes)
    if len(found[["threat", "target"]].drop_duplicates()) <= 1:  # nobody has a second secret
        return found
    keys = ["release", "node"]
    return found.loc[found.groupby(keys, sort=False, observed=True).advantage.idxmax()]


@_once_a_table
def compute_exposed(nodes: pd.DataFrame, by_base: bool = False) -> pd.DataFrame:
    """Number of exposed nodes per release and secret.

    Columns release, threat, target, exposed, n, share, mean (of the advantage), attacks, how; with
    `by_base` one row per base rate (column base), which separates the classes. A node is exposed if
    the headline attacker's advantage exceeds `ADVANTAGE_LIMIT`.
    """
    headlines = _list_headlines(nodes)
    if not headlines:
        return pd.DataFrame(columns=list(EXPOSED_COLUMNS))
    risks, gains = nodes.risk.to_numpy(float), nodes.advantage.to_numpy(float)
    names = nodes.attack.astype("category").cat
    tables = []
    for one in headlines:
        gain = gains[one.rows]
        own = pd.DataFrame({"advantage": gain, "is_exposed": gain > ADVANTAGE_LIMIT})
        base = (risks[one.rows] - gain).round(6) if by_base else np.zeros(len(gain), np.int8)
        codes = names.codes.to_numpy()[one.rows]
        starts = _find_starts(codes, base)
        attacks = pd.Series(codes[starts])
        table = own.groupby(base, sort=False).agg(
            exposed=("is_exposed", "sum"),
            n=("is_exposed", "size"),
            mean=("advantage", "mean"),
            sd=("advantage", "std"),
        )
        titles = (
            attacks.groupby(base[starts], sort=False)
            .unique()
            .map(
                lambda codes: " or ".join(dict.fromkeys(map(method_title, names.categories[codes])))
            )
        )
        fixed = {"release": one.release, "threat": one.threat, "target": one.target}
        share = table.exposed / table.n
        table = table.assign(**fixed, share=share, attacks=titles, how=one.how, base=table.index)
        tables.append(table)
    columns = [name for name in EXPOSED_COLUMNS if by_base or name != "base"]
    return pd.concat(tables, ignore_index=True)[columns]


def tabulate_exposed(nodes: pd.DataFrame, releases: Sequence[str]) -> pd.DataFrame:
    """Number of exposed nodes for display: one row per release, secret and base rate.

    The base rate is the class share for a private attribute.
    """
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
    rows: dict[str, Rows], gains: np.ndarray, is_second: Callable[[Rows], np.ndarray]
) -> tuple[Rows, str]:
    """Rows of the headline attacker of one release and secret, and how it was chosen.

    rows   attack → its rows
    gains  advantage of every row; is_second: cross-fitting half of the nodes of some rows
    Among attackers with different knowledge the one with the largest advantage is used, which is a
    choice among scenarios.
    """
    keys = {a: split_id(a)[0].partition(":")[0] for a in rows}
    for key in CHOOSERS:
        if key in keys.values():
            rivals = (key, ALL_EVIDENCE)  # who reads columns alone may gain more than either
            found = [a for a, own in keys.items() if own in rivals or is_baseline(a)]
            best = max(found, key=lambda a: gains[rows[a]].mean())
            how = "which selects on known values"
            if is_baseline(best):
                how = "which uses columns only and has a larger advantage than the selecting attack"
            return rows[best], f"{method_title(keys[best])}, {how}"
    if len(rows) == 1:
        ((attack, chosen),) = rows.items()
        second = is_second(chosen)
        numbers = _number_rows(chosen)
        return np.concatenate([numbers[~second], numbers[second]]), CROSS_FITTED
    halves = {attack: is_second(chosen) for attack, chosen in rows.items()}
    means: tuple[dict[str, float], dict[str, float]] = {}, {}
    for attack, second in halves.items():
        for side, mine in enumerate((~second, second)):
            if mine.any():
                means[side][attack] = gains[rows[attack]][mine].mean()
    parts = []
    for side in (0, 1):
        others = means[1 - side] or means[side]
        best = max(others, key=others.__getitem__)
        parts.append(_number_rows(rows[best])[halves[best] == side])
    return np.concatenate(parts), CROSS_FITTED


@_once_a_table
def _halve_names(names: pd.Index) -> np.ndarray:
    """(n,) whether a node is in the second half for cross-fitting, by a hash of its name."""
    texts = pa.array(names.astype("str")).cast(pa.large_binary()).to_pylist()
    hashes = np.fromiter(map(zlib.crc32, texts), np.uint32, len(names))
    return (hashes & 1).astype(bool)


def compute_bound(nodes: pd.DataFrame) -> pd.DataFrame:
    """Nodes exposed by at least one attack, chosen in hindsight: an upper bound per secret.

    Columns release, threat, target, exposed, n, noise: the share that as many guessing attackers
    would expose.
    """
    rows, result = list_rows(nodes), []
    for (release, (threat, target)), attacks in _list_secrets(rows):
        group = nodes.iloc[
            np.sort(np.concatenate([_number_rows(rows[release, a]) for a in attacks]))
        ]
        people, _ = pd.factorize(group.node)
        best = group.advantage.groupby(people, sort=False).max()
        bases = (group.risk - group.advantage).groupby(people, sort=False).first()
        repeats, num_exposed = int(group.seeds.median()), int((best > ADVANTAGE_LIMIT).sum())
        noise = estimate_guessing_share(bases, len(attacks), repeats, ADVANTAGE_LIMIT)
        result.append((release, threat, target, num_exposed, len(best), noise))
    return pd.DataFrame(result, columns=["release", "threat", "target", "exposed", "n", "noise"])
