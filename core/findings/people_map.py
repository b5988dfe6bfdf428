"""Data of the map: one row per node, the communities, and a summary of where risk concentrates.

Pure functions; `core.figures.node_map` draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import gammaln

from core.audit.results.node_risks import NodeRisks
from core.findings.exposure import AT_LEAST, RULE, Exposed, count_exposed, describe_counts
from core.findings.facts import Count, format_frequencies
from core.findings.labels import THREAT_WORDS
from core.findings.page_summary import Card, PageSummary
from core.findings.people import Secret
from core.graph import Graph
from core.measures.node_risk import ADVANTAGE_LIMIT
from core.node_column import MISSING, NodeColumn
from core.nouns import PEOPLE, Noun
from core.release import ORIGINAL
from core.words import begin_sentence, count_noun, format_percent

Label = tuple[int, str, str]
"""A community, its name and what is said of it."""

Color = Literal["advantage", "risk", "class", "community", "links", "change"]

COLOR_TITLES: dict[Color, str] = {
    "advantage": "Advantage",
    "risk": "Risk",
    "class": "Class",
    "community": "Community",
    "links": "Links",
    "change": "Change",
}
GROUPED: tuple[Color, ...] = ("class", "community")
"""Colours by group; all others are amounts."""

MAX_PEOPLE = 100_000
"""Number of nodes above which communities are drawn instead."""

MAX_COMMUNITIES = 2_000
MAX_LABELS, LEAST_LABELLED = 8, 0.02
"""Number of communities labelled on the map, and the least share of the nodes for a label."""

MAX_JOINED = 3_000
SIGNIFICANCE = 0.01
GROUPS = "Nodes with more links among each other than to others; greedy modularity"
GATHERING = f"Hypergeometric test at {SIGNIFICANCE:g}, Bonferroni over the communities"


def compute_people(
    graph: Graph,
    communities: np.ndarray,
    nodes: NodeRisks | None = None,
    attribute: NodeColumn | None = None,
    released: Graph | None = None,
    release: str = ORIGINAL,
    secret: Secret | None = None,
) -> pd.DataFrame:
    """One row per node in the graph's order: number, node, links, community, class, advantage,
    sure, risk, attack, lost, gained, change.

    nodes     risks of the audit; those of the headline attacker on `release` are shown: advantage
    and risk NaN, and attack None, for nodes not at stake; sure, the lower end of the interval of
    the advantage, also for nodes tested in one repeat
    secret    whose attacker that is; None: the worst of each node
    released  the published graph: links are its own, lost and gained count differences, change is
    both over the links before (NaN without any); None: the original, no change
    """
    n = graph.num_nodes
    table = pd.DataFrame(
        {
            "number": np.arange(n),
            "node": list(graph.node_ids),
            "links": graph.degrees,
            "community": communities + 1,
            "class": _format_classes(attribute, n),
        }
    )
    found = None if nodes is None else nodes.find_headline(release, secret)
    attack, values = np.full(n, None, object), np.full((3, n), np.nan)
    if nodes is not None and found is not None:
        places = graph.find_nodes(nodes.names.take(found.nodes))
        values[:, places] = found.advantage, found.sure, found.risk
        attack[places] = np.array(found.attacks, object)[found.which]
    table = table.assign(advantage=values[0], sure=values[1], risk=values[2], attack=attack)
    if released is None:
        return table.assign(lost=0, gained=0, change=0.0)
    after = match_people(graph, released)
    lost, gained = (count_ends(edges, n) for edges in find_changes(graph, after))
    before = np.where(graph.degrees > 0, graph.degrees, np.nan)
    change = (lost + gained) / before
    return table.assign(links=after.degrees, lost=lost, gained=gained, change=change)


def match_people(graph: Graph, released: Graph) -> Graph:
    """Links of the release between nodes of the original, by id and in its order."""
    if released.node_ids == graph.node_ids:
        return released
    place = np.array([graph.index.get(node, -1) for node in released.node_ids])
    ends = place[released.edges]
    return graph.with_edges(ends[(ends >= 0).all(axis=1)])


def find_changes(graph: Graph, released: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Links (k, 2) removed from the graph, and links that the release adds."""
    lost = ~released.contains_pairs(graph.edges)
    gained = ~graph.contains_pairs(released.edges)
    return graph.edges[lost], released.edges[gained]


def count_ends(edges: np.ndarray, num_nodes: int) -> np.ndarray:
    """(n,) number of these links at each node."""
    return np.asarray(np.bincount(edges.ravel(), minlength=num_nodes))


def compute_communities(people: pd.DataFrame) -> pd.DataFrame:
    """community, people, exposed, surely, at_stake, mean, class (most frequent); one row per
    community, largest first.

    exposed: nodes with an advantage above `ADVANTAGE_LIMIT`, surely: with the lower end of its
    interval; mean: of the advantage, NaN if no node is at stake.
    """
    groups = people.assign(
        exposed=people.advantage > ADVANTAGE_LIMIT,
        surely=people.sure > ADVANTAGE_LIMIT,
        at_stake=people.advantage.notna(),
    ).groupby("community")
    table = groups.agg(
        people=("node", "size"),
        exposed=("exposed", "sum"),
        surely=("surely", "sum"),
        at_stake=("at_stake", "sum"),
        mean=("advantage", "mean"),
        links=("links", "mean"),
        change=("change", "mean"),
    )
    known = people[people["class"] != ""]
    counts = known.groupby(["community", "class"]).size().sort_values(kind="stable")
    top = counts.groupby("community").tail(1).reset_index("class")["class"]
    table["class"] = top.reindex(table.index).fillna("")
    return table.reset_index().sort_values(
        ["people", "community"], ascending=[False, True], kind="stable", ignore_index=True
    )


def find_gathering(communities: pd.DataFrame) -> pd.Series | None:
    """The community with significantly more exposed nodes than chance, or None.

    Its hypergeometric tail times the number of communities with nodes at stake (Bonferroni) must be
    below `SIGNIFICANCE`.
    """
    table = communities[communities.at_stake > 0]
    if table.empty or not table.exposed.sum():
        return None
    total, exposed = int(table.at_stake.sum()), int(table.exposed.sum())
    tail = compute_tail(table.exposed.to_numpy(), total, exposed, table.at_stake.to_numpy())
    best = int(np.argmin(tail))
    return table.iloc[best] if tail[best] * len(table) < SIGNIFICANCE else None


def number_gathering(people: pd.DataFrame) -> int | None:
    """Number of the community that `summarize_map` names, to be marked on the picture."""
    found = find_gathering(compute_communities(people))
    return None if found is None else int(found.community)


def label_communities(communities: pd.DataFrame, also: int | None = None) -> list[Label]:
    """Communities to be named on the map, with their name and their share exposed beyond noise, of
    those at stake: (2, "community 2", "14 % exposed"); "" where nobody is at stake.

    The `MAX_LABELS` largest with a share of `LEAST_LABELLED` of the nodes, and `also`.
    """
    least = LEAST_LABELLED * communities.people.sum()
    large = communities[communities.people >= least].head(MAX_LABELS).community
    rows = communities[communities.community.isin({*large, also})]
    return [
        (
            int(row.community),
            f"community {row.community}",
            Exposed(row.surely, row.exposed, row.at_stake, 0).share if row.at_stake else "",
        )
        for row in rows.itertuples()
    ]


def compute_tail(hits: np.ndarray, total: int, exposed: int, sizes: np.ndarray) -> np.ndarray:
    """(k,) probabilities of at least so many exposed nodes in groups of these sizes.

    Hypergeometric, summed over log-factorials: importing scipy.stats would take 0.7 CPU s.
    """
    counts = np.minimum(sizes, exposed) - hits + 1
    starts = np.cumsum(counts) - counts
    size = np.repeat(sizes, counts)
    hit = np.arange(counts.sum()) - np.repeat(starts - hits, counts)
    ways = _log_choose(size, hit) + _log_choose(total - size, exposed - hit)
    return np.add.reduceat(np.exp(ways - _log_choose(total, exposed)), starts)


def _log_choose(n: np.ndarray | int, k: np.ndarray | int) -> np.ndarray:
    return np.asarray(
        gammaln(np.add(n, 1)) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n, k) + 1)
    )


def summarize_map(
    people: pd.DataFrame, noun: Noun = PEOPLE, secret: Secret | None = None
) -> PageSummary:
    """Number of nodes exposed of those at stake, and whether they are concentrated.

    secret  the one of `compute_people`
    """
    communities = compute_communities(people)
    largest, count = communities.iloc[0], len(communities)
    found = count_exposed(people.advantage, people.sure)
    parts = Card(
        "Communities", f"{count:,}", f"largest {count_noun(largest.people, 'node')}", None, GROUPS
    )
    if not found.at_stake:
        sentence = f"The graph falls into {count_noun(count, 'community', 'communities')}."
        return PageSummary((parts,), sentence, ())
    aim = "any attack" if secret is None else secret.attack
    rule = f"{RULE} under {'the worst attack on any secret' if secret is None else aim}"
    rule += "" if found.is_settled else f"; {AT_LEAST}"
    share = format_percent(found.sure / found.at_stake)
    compared = f"{found.doubt}," if found.doubt else share
    by = "at least one attack" if secret is None else aim
    title = f"{begin_sentence(noun.many)} exposed to {by}"
    value = f"{found.least} of {found.at_stake:,}"
    cards = [Card(title, value, f"{compared} of those at stake", None, rule), parts]
    exact = [f"{title}: {found.format()} at stake; {rule}{_format_threats(people)}."]
    gathering = find_gathering(communities)
    if not found.likely:
        sentence = f"No {noun.one} is exposed to {aim}."
    elif gathering is None:
        counts = begin_sentence(describe_counts(found, noun, base=" at stake"))
        sentence = f"{counts}, in no community more than by chance."
    else:
        inside = Count(int(gathering.exposed), int(gathering.at_stake))
        others = Count(found.likely - inside.value, found.at_stake - int(gathering.at_stake))
        texts = format_frequencies(
            inside.value / int(gathering.at_stake), others.value / (others.total or 1)
        )
        place = f"community {gathering.community}"
        who = "Exposed" if found.is_settled else "Likely exposed"
        cards.append(Card(f"{who} in {place}", texts[0], f"elsewhere {texts[1]}", None, GATHERING))
        sentence = (
            f"{who} {noun.many} concentrate in {place}: {texts[0]}, against {texts[1]} elsewhere."
        )
        exact.append(
            f"{who} in {place}: {inside.format()}; elsewhere {others.format()}. {GATHERING}."
        )
    return PageSummary(tuple(cards), sentence, tuple(exact))


def _format_threats(people: pd.DataFrame) -> str:
    """Threats that expose the exposed nodes most, so that none is mistaken for another."""
    exposed = people.attack[people.advantage > ADVANTAGE_LIMIT]
    threats = exposed.map(lambda attack: attack.threat or "").value_counts()
    names = [
        f"; {threats[t]:,} of them most on {THREAT_WORDS[t].exposed_on}" for t in threats.index if t
    ]
    return "".join(names)


@dataclass(frozen=True)
class NodeFilter:
    """Which nodes the map shows; an empty field lets all pass.

    links       fewest and most of a node
    is_exposed  only those exposed beyond noise; those likely exposed, where no node has an interval
    """

    classes: tuple[str, ...] = ()
    communities: tuple[int, ...] = ()
    links: tuple[int, int] | None = None
    is_exposed: bool = False

    def find(self, people: pd.DataFrame) -> np.ndarray:
        """(n,) bool of the rows of `compute_people`: which of them pass."""
        passed = np.ones(len(people), bool)
        if self.classes:
            passed &= people["class"].isin(self.classes).to_numpy()
        if self.communities:
            passed &= people.community.isin(self.communities).to_numpy()
        if self.links is not None:
            passed &= people.links.between(*self.links).to_numpy()
        if self.is_exposed:
            passed &= (find_amounts(people, "advantage") > ADVANTAGE_LIMIT).to_numpy()
        return passed


def list_degrees(people: pd.DataFrame) -> list[int]:
    """Numbers of links to choose between: 1, 2, 5, 10, …, from the fewest of a node to the most."""
    low, high = int(people.links.min()), int(people.links.max())
    steps = (step * 10**power for power in range(10) for step in (1, 2, 5))
    return [low, *(step for step in steps if low < step < high), *([high] if high > low else [])]


def has_intervals(people: pd.DataFrame) -> bool:
    """Whether a node was tested in more than one repeat."""
    return bool(people.sure.notna().any())


def find_amounts(people: pd.DataFrame, by: Color) -> pd.Series:
    """The amounts by which nodes are coloured and listed: of advantage and risk the lower end of
    the interval, where the audit has intervals."""
    if by not in ("advantage", "risk") or not has_intervals(people):
        return people[by]
    return people.sure if by == "advantage" else people.sure + people.risk - people.advantage


def list_people(people: pd.DataFrame, by: Color) -> pd.DataFrame:
    """Nodes in descending order of `find_amounts`, those without an interval behind; by degree if
    the amount is undefined."""
    key: Color = by if by not in GROUPED else "advantage"
    if people[key].isna().all() or (key == "change" and not people.change.any()):
        key = "links"
    ranked = people.assign(amount=find_amounts(people, key)).sort_values(
        ["amount", key, "links"], ascending=False, kind="stable", ignore_index=True
    )
    return ranked.drop(columns="amount")


def list_colors(people: pd.DataFrame) -> list[Color]:
    """Colourings that are defined for these nodes."""
    found: list[Color] = []
    if people.advantage.notna().any():
        found += ["advantage", "risk"]
    if (people["class"] != "").any():
        found.append("class")
    found += ["community", "links"]
    return found


def _format_classes(attribute: NodeColumn | None, num_nodes: int) -> list[str]:
    if attribute is None:
        return [""] * num_nodes
    names = [*attribute.classes, ""]  # MISSING is the last one
    assert MISSING == -1
    return [names[code] for code in attribute.codes]


def compute_places(positions: np.ndarray, communities: np.ndarray) -> np.ndarray:
    """(c, 2) centre of each community's nodes."""
    sizes = np.bincount(communities)
    sums = [np.bincount(communities, positions[:, axis]) for axis in (0, 1)]
    return np.asarray(np.column_stack(sums) / sizes[:, None])


def join_communities(graph: Graph, communities: np.ndarray, limit: int) -> np.ndarray:
    """(k, 2) pairs of the first `limit` communities, most links between them first; at most
    `MAX_JOINED`."""
    ends = np.sort(communities[graph.edges], axis=1).astype(np.int64)
    ends = ends[(ends[:, 0] != ends[:, 1]) & (ends[:, 1] < limit)]
    codes, counts = np.unique(ends[:, 0] * limit + ends[:, 1], return_counts=True)
    chosen = codes[np.argsort(-counts, kind="stable")[:MAX_JOINED]]
    return np.column_stack([chosen // limit, chosen % limit])
