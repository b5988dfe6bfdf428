"""Risk of each node under every attack and release, and the attacker that is chosen for it.

The maximum over attacks per node selects in hindsight whichever attack happened to be right, which
even guessing attackers achieve. The headline is therefore one attacker per release and secret: the
attack that selects among others on known values, if one ran; else the attack that exposes most of
the other half of the nodes (cross-fitted). While repeats are missing, an attack that is far behind
the others is not chosen: whom they surely expose would be open again, for want of an interval as
narrow as theirs. Attackers that use neither links nor columns expose nobody; a baseline that uses
published columns counts as an attacker. The maximum per node remains as an upper bound, beside what
guessing attackers reach.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd
import pyarrow as pa

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo
from core.measures.node_risk import ADVANTAGE_LIMIT, estimate_guessing_share, find_worst_attacker
from core.release import ORIGINAL
from core.results import Estimate

NODE_COLUMNS = ("node", "release", "attack", "risk", "advantage", "low", "high", "seeds")
"""Columns of `NodeRisks.to_frame`: one row per node at stake, release and attack.

node, release and attack are categories, the latter two of ids.
risk       calibrated probability that the attacker assigns to the truth, mean over repeats
advantage  risk minus the base rate; low/high: 95 % interval of the risk; seeds: repeats with
the node at stake
"""

CROSS_FITTED = "chosen on other nodes"

Pair = tuple[str, Attack]
"""Release id and attack."""


@dataclass(frozen=True, eq=False)
class AttackRisk:
    """Risk of the nodes at stake under one attack on one release; arrays (k,), not empty.

    nodes  int32 positions in `NodeRisks.names`, ascending; the others as `NODE_COLUMNS` describes,
    low and high NaN after one repeat
    """

    nodes: np.ndarray
    risk: np.ndarray
    advantage: np.ndarray
    low: np.ndarray
    high: np.ndarray
    seeds: np.ndarray

    def find(self, nodes: np.ndarray) -> np.ndarray:
        """(m,) row of each of these positions, −1 for nodes not at stake."""
        places = np.minimum(np.searchsorted(self.nodes, nodes), len(self.nodes) - 1)
        return np.where(self.nodes[places] == nodes, places, -1)


@dataclass(frozen=True)
class NodeFigure:
    """Risk of one node on one release under the headline attacker; fields as in AttackRisk."""

    made: ReleaseInfo
    attack: Attack
    risk: float
    advantage: float
    low: float
    high: float

    @property
    def release(self) -> str:
        """Id of the release."""
        return self.made.id

    @property
    def base(self) -> float:
        """The base rate."""
        return self.risk - self.advantage

    @property
    def gain(self) -> Estimate:
        """The advantage with its interval."""
        return Estimate(self.advantage, self.low - self.base, self.high - self.base, 1)


def _load(name: str) -> cached_property[np.ndarray]:
    def load(self: Headline) -> np.ndarray:
        return self.load(name)

    return cached_property(load)


@dataclass(frozen=True, eq=False)
class Headline:
    """Risk of k nodes on one release, each under the attacker chosen for it.

    made     the release
    secrets  (threat, target column) of the attacks
    attacks  those chosen, in the order of the rows
    how      how they were chosen
    load     name of a field of AttackRisk, or "which" → (k,) values; called once for each
    """

    made: ReleaseInfo
    secrets: tuple[tuple[str, str], ...]
    attacks: tuple[Attack, ...]
    how: str
    load: Callable[[str], np.ndarray] = field(repr=False)

    nodes, risk, advantage = _load("nodes"), _load("risk"), _load("advantage")
    low, high, seeds = _load("low"), _load("high"), _load("seeds")
    which = _load("which")
    """(k,) place in `attacks` of each node's attacker."""

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def release(self) -> str:
        """Id of the release."""
        return self.made.id

    @cached_property
    def base(self) -> np.ndarray:
        """(k,) base rates."""
        return np.asarray(self.risk - self.advantage)

    @cached_property
    def sure(self) -> np.ndarray:
        """(k,) lower end of the interval of the advantage; NaN for nodes tested in one repeat."""
        return np.asarray(self.low - self.base)

    @cached_property
    def order(self) -> np.ndarray:
        """(k,) rows in descending order of `sure`, those without an interval last; equal ones in
        that of the advantage, then as they are."""
        return np.lexsort((-self.advantage, -_place_last(self.sure)))

    def find(self, node: int) -> NodeFigure | None:
        """The figure of a node, by position; None if nothing of it is at stake."""
        for row in np.flatnonzero(self.nodes == node):
            names = ("risk", "advantage", "low", "high")
            attack = self.attacks[self.which[row]]
            return NodeFigure(self.made, attack, *(float(getattr(self, n)[row]) for n in names))
        return None

    def place(self, name: str, num_nodes: int) -> np.ndarray:
        """(n,) values of `name` by position; NaN, or −1 for `which`, for nodes not at stake."""
        values = getattr(self, name)
        placed = np.full(num_nodes, -1 if name == "which" else np.nan, values.dtype)
        placed[self.nodes] = values
        return placed


@dataclass(frozen=True, eq=False)
class NodeRisks:
    """Risk of the nodes of an audit.

    names       (n,) node ids, text
    parts       (release id, attack) → risk of the nodes at stake, in the order of the audit
    made        release id → the release, of all in `parts`
    unfinished  of `parts`, those of which repeats are missing: to come, or cancelled
    """

    names: pd.Index
    parts: Mapping[Pair, AttackRisk]
    made: Mapping[str, ReleaseInfo]
    unfinished: frozenset[Pair] = frozenset()
    _known: dict[object, Headline] = field(default_factory=dict, repr=False)
    _halves: list[np.ndarray] = field(default_factory=list, repr=False)
    """Headlines, and the half of each node, are shared with what `select` returns."""

    @staticmethod
    def build(
        node_ids: Sequence[str],
        parts: Mapping[Pair, AttackRisk],
        made: Iterable[ReleaseInfo],
        unfinished: Iterable[Pair] = (),
    ) -> NodeRisks:
        """Risks of nodes with these ids; parts without a node at stake are left out."""
        names = pd.Index(pa.array(node_ids, pa.string()), dtype="str")
        known = {pair: part for pair, part in parts.items() if len(part.nodes)}
        by_id = {release.id: release for release in made}
        return NodeRisks(names, known, by_id, frozenset(unfinished))

    @property
    def is_empty(self) -> bool:
        return not self.parts

    @property
    def releases(self) -> list[str]:
        """Ids of the releases with results, original first."""
        return sorted(dict.fromkeys(r for r, _ in self.parts), key=lambda r: r != ORIGINAL)

    @property
    def titles(self) -> dict[str, str]:
        """Release id → title."""
        return {release: made.title for release, made in self.made.items()}

    def select(
        self, releases: Collection[str] | None = None, secret: tuple[str, str] | None = None
    ) -> NodeRisks:
        """The risks on some releases and of one secret, baseline attackers included."""
        parts = {
            (release, attack): part
            for (release, attack), part in self.parts.items()
            if (releases is None or release in releases) and secret in (None, attack.secret)
        }
        return replace(self, parts=parts)

    def find(self, node: str) -> int:
        """Position of a node id, −1 if there is none."""
        return next(iter(np.flatnonzero(self.names == node).tolist()), -1)

    def list_attacks(self, release: str, secret: tuple[str, str]) -> list[Attack]:
        """Attacks on a secret that can expose a node."""
        return [a for r, a in self.parts if (r, a.secret) == (release, secret) and not a.is_blind]

    def list_rivals(self, release: str, secret: tuple[str, str]) -> list[Attack]:
        """Of `list_attacks`, those among which the headline attacker is chosen: not the ones of
        `unfinished` that are two repeats behind, or have one where another has an interval."""
        attacks = self.list_attacks(release, secret)
        tested = {attack: self.parts[release, attack].seeds.max() for attack in attacks}
        most = max(tested.values(), default=0)
        least = max(most - 1, min(most, 2))
        return [a for a in attacks if (release, a) not in self.unfinished or tested[a] >= least]

    @cached_property
    def headlines(self) -> tuple[Headline, ...]:
        """The headline attacker of each release and secret, in the order of the audit.

        Secrets with baseline attackers only are absent.
        """
        return tuple(filter(len, (self._find_headline(*pair) for pair in self._list_attacked())))

    def _list_attacked(self) -> Iterable[tuple[str, tuple[str, str]]]:
        """Releases with the secrets attacked on them, in the order of the audit."""
        return dict.fromkeys((r, a.secret) for r, a in self.parts if not a.is_blind)

    def find_headline(self, release: str, secret: tuple[str, str] | None = None) -> Headline | None:
        """The headline attacker of a release, by default against the worst secret of each node: the
        one that exposes it beyond noise, with the largest `sure`; else the one with the largest
        advantage; the first of equal secrets. None if no secret was attacked."""
        own = [h for h in self.headlines if h.release == release and secret in (None, *h.secrets)]
        if len(own) < 2:
            return own[0] if own else None
        key = (release, *(h.secrets for h in own))
        if key not in self._known:
            self._known[key] = _join_worst(own, len(self.names))
        return self._known[key]

    def list_figures(self, node: str, secret: tuple[str, str] | None = None) -> list[NodeFigure]:
        """Figure of a node on each release on which it is at stake, of `find_headline`."""
        number = self.find(node)
        found = [self.find_headline(release, secret) for release in self.releases]
        figures = [one.find(number) for one in found if one is not None]
        return [figure for figure in figures if figure is not None]

    def _find_headline(self, release: str, secret: tuple[str, str]) -> Headline:
        key = (release, secret)
        if key not in self._known:
            parts = {a: self.parts[release, a] for a in self.list_rivals(release, secret)}
            pieces, how = _choose(parts, self._split)
            attacks = tuple(attack for attack, _ in pieces)

            def load(name: str) -> np.ndarray:
                if name == "which":
                    sizes = [len(parts[a].nodes[rows]) for a, rows in pieces]
                    return np.repeat(np.arange(len(pieces), dtype=np.int8), sizes)
                found = [getattr(parts[attack], name)[rows] for attack, rows in pieces]
                return found[0] if len(found) == 1 else np.concatenate(found)

            self._known[key] = Headline(self.made[release], (secret,), attacks, how, load)
        return self._known[key]

    def _split(self, nodes: np.ndarray) -> np.ndarray:
        """(k,) whether these nodes are in the second half for cross-fitting, by a hash of the
        id."""
        if not self._halves:
            texts = pa.array(self.names).cast(pa.large_binary()).to_pylist()
            hashes = np.fromiter(map(zlib.crc32, texts), np.uint32, len(texts))
            self._halves.append((hashes & 1).astype(bool))
        return np.asarray(self._halves[0][nodes])

    @cached_property
    def exposed(self) -> pd.DataFrame:
        """Number of exposed nodes per release and secret.

        Columns release, threat, target, exposed, sure, few, n, share, mean and sd (of the
        advantage), repeats, attacks (titles), how. A node is exposed if the headline attacker's
        advantage exceeds `ADVANTAGE_LIMIT`, surely (sure) if the lower end of its interval does.
        few: nodes tested in one repeat, without an interval; repeats: most in which a node was.
        """
        return self._count_exposed(lambda one: np.zeros(len(one), np.int8)).drop(columns="base")

    @cached_property
    def exposed_by_base(self) -> pd.DataFrame:
        """`exposed` with one row per base rate (column base), which separates the classes."""
        return self._count_exposed(lambda headline: headline.base.round(6))

    def _count_exposed(self, group: Callable[[Headline], np.ndarray]) -> pd.DataFrame:
        columns = ["release", "threat", "target", "base", "exposed", "sure", "few", "n", "share"]
        tables = [pd.DataFrame(columns=[*columns, "mean", "sd", "repeats", "attacks", "how"])]
        for one in self.headlines:
            codes, base = pd.factorize(group(one))
            gain, sure, count = one.advantage, one.sure, partial(np.bincount, minlength=len(base))
            table = pd.Series(gain).groupby(codes, sort=False).agg(mean="mean", sd="std")
            exposed, n = count(codes[gain > ADVANTAGE_LIMIT]), count(codes)
            titles: list[dict[str, None]] = [{} for _ in base]
            for number, attack in enumerate(one.attacks):
                for code in np.flatnonzero(count(codes[one.which == number])):
                    titles[code][attack.title] = None
            ((threat, target),) = one.secrets
            fixed = {"release": one.release, "threat": threat, "target": target, "how": one.how}
            table = table.assign(**fixed, repeats=int(one.seeds.max()), base=base, n=n)
            table = table.assign(exposed=exposed, sure=count(codes[sure > ADVANTAGE_LIMIT]))
            table = table.assign(few=count(codes[np.isnan(sure)]), share=exposed / n)
            tables.append(table.assign(attacks=[" or ".join(names) for names in titles]))
        if len(tables) == 1:
            return tables[0]
        return pd.concat(tables[1:], ignore_index=True)[list(tables[0])]

    @cached_property
    def bound(self) -> pd.DataFrame:
        """Nodes exposed by at least one attack, chosen in hindsight: an upper bound per secret.

        Columns release, threat, target, exposed, n, noise: the share that as many guessing
        attackers would expose.
        """
        result, columns = [], ["release", "threat", "target", "exposed", "n", "noise"]
        for release, secret in self._list_attacked():
            parts = [self.parts[release, attack] for attack in self.list_attacks(release, secret)]
            best, base = np.full((2, len(self.names)), np.nan)
            for part in reversed(parts):
                best[part.nodes] = np.fmax(best[part.nodes], part.advantage)
                base[part.nodes] = part.risk - part.advantage
            is_known = ~np.isnan(best)
            repeats = int(np.median(np.concatenate([part.seeds for part in parts])))
            noise = estimate_guessing_share(base[is_known], len(parts), repeats, ADVANTAGE_LIMIT)
            num_exposed, n = int((best > ADVANTAGE_LIMIT).sum()), int(is_known.sum())
            result.append((release, *secret, num_exposed, n, noise))
        return pd.DataFrame(result, columns=columns)

    def list_rows(self, node: str) -> pd.DataFrame:
        """Columns of `to_frame` but node, for one node; `attack` holds the attacks themselves."""
        place, columns = np.array([self.find(node)]), NODE_COLUMNS[3:]
        rows = [
            (*pair, *(getattr(part, name)[row] for name in columns))
            for pair, part in self.parts.items()
            if (row := part.find(place)[0]) >= 0
        ]
        return pd.DataFrame(rows, columns=list(NODE_COLUMNS[1:]))

    def to_frame(self, pairs: Iterable[Pair] | None = None) -> pd.DataFrame:
        """`NODE_COLUMNS`, for notebooks and files; of all parts, or of these."""
        chosen = list(self.parts if pairs is None else pairs)
        if not chosen:
            return pd.DataFrame(columns=list(NODE_COLUMNS))
        parts = [self.parts[pair] for pair in chosen]
        columns: dict[str, object] = {
            "node": pd.Categorical.from_codes(
                np.concatenate([part.nodes for part in parts]), self.names
            )
        }
        for place, name in enumerate(("release", "attack")):
            ids = [getattr(pair[place], "id", pair[place]) for pair in chosen]
            known = pd.Index(list(dict.fromkeys(ids)), dtype="str")
            codes = known.get_indexer(ids).repeat([len(part.nodes) for part in parts])
            columns[name] = pd.Categorical.from_codes(codes, known)
        for name in NODE_COLUMNS[3:]:
            columns[name] = np.concatenate([getattr(part, name) for part in parts])
        return pd.DataFrame(columns)


def _choose(
    parts: Mapping[Attack, AttackRisk], split: Callable[[np.ndarray], np.ndarray]
) -> tuple[list[tuple[Attack, slice | np.ndarray]], str]:
    """The headline attacker of one release and secret: attacks with the rows that count, and how
    they were chosen.

    Among attackers with different knowledge the one with the largest advantage is used, which is a
    choice among scenarios.
    """
    ranks = {a: rank for a in parts if (rank := getattr(a.method, "selects", None)) is not None}
    if ranks:
        first = min(ranks.values())
        rivals = [  # who reads columns alone may gain more than who selects
            attack
            for attack in parts
            if ranks.get(attack) == first
            or getattr(attack.method, "reads_all_evidence", False)
            or attack.is_baseline
        ]
        best = max(rivals, key=lambda attack: parts[attack].advantage.mean())
        how = "which selects on known values"
        if best.is_baseline:
            how = "which uses columns only and has a larger advantage than the selecting attack"
        return [(best, slice(None))], f"{best.name}, {how}"
    # Rows of either half, and their nodes: attacks mostly have the same nodes at stake.
    halves: dict[Attack, list[tuple[np.ndarray, np.ndarray]]] = {}
    seen: list[dict[Attack, tuple[np.ndarray, np.ndarray]]] = [{}, {}]
    for attack, part in parts.items():
        same = (a for a in halves if np.array_equal(parts[a].nodes, part.nodes))
        known = next(same, None)
        if known is None:
            second = split(part.nodes)
            rows = np.flatnonzero(~second), np.flatnonzero(second)
            halves[attack] = [(mine, part.nodes[mine]) for mine in rows]
        else:
            halves[attack] = halves[known]
        for side, (mine, nodes) in enumerate(halves[attack]):
            if len(mine):
                seen[side][attack] = nodes, part.advantage[mine]
    pieces: list[tuple[Attack, slice | np.ndarray]] = []
    for side in (0, 1):
        others = seen[1 - side] or seen[side]
        best = list(others)[find_worst_attacker([*others.values()])]
        pieces.append((best, halves[best][side][0]))
    return pieces, CROSS_FITTED


def _place_last(values: np.ndarray) -> np.ndarray:
    """The values, with −∞ for those that are unknown."""
    return np.where(np.isnan(values), -np.inf, values)


def _join_worst(headlines: Sequence[Headline], num_nodes: int) -> Headline:
    """Each node under the headline attacker of its worst secret, as `find_headline` says; nodes in
    the order in which they first occur."""
    best, row = np.full(num_nodes, -np.inf), np.full(num_nodes, -1)
    start, order = 0, []
    for one in headlines:
        order.append(one.nodes[row[one.nodes] < 0])
        # No advantage exceeds 1, so that what is sure comes first.
        rank = np.where(one.sure > ADVANTAGE_LIMIT, 2.0 + one.sure, one.advantage)
        is_better = rank > best[one.nodes]
        chosen = one.nodes[is_better]
        best[chosen], row[chosen] = rank[is_better], start + np.flatnonzero(is_better)
        start += len(one)
    rows = row[np.concatenate(order)]
    starts = np.cumsum([0, *(len(one.attacks) for one in headlines)])

    def load(name: str) -> np.ndarray:
        if name == "which":
            found = [one.which + start for one, start in zip(headlines, starts, strict=False)]
        else:
            found = [getattr(one, name) for one in headlines]
        return np.asarray(np.concatenate(found)[rows])

    attacks = tuple(attack for one in headlines for attack in one.attacks)
    how = "; ".join(dict.fromkeys(one.how for one in headlines))
    secrets = tuple(secret for one in headlines for secret in one.secrets)
    return Headline(headlines[0].made, secrets, attacks, how, load)
