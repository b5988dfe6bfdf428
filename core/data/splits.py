"""Splits of links and values into hidden and known; every repeat draws a new one."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from core.algorithms.communities import find_communities
from core.algorithms.pairs import count_candidates, find_near_pairs, sample_candidates
from core.arrays import decode_pairs, is_among, pair_codes
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn
from core.seeding import Seed
from core.threats import AttributeThreat, LinkThreat, ReleasedThreat, Threats

Evaluation = Literal["uniform", "degree_matched", "distance_2"]
"""uniform: any non-links; degree_matched: with the end degrees of the withheld links; distance_2:
both withheld links and non-links share a neighbour in the visible graph."""

Spread = Literal["stratified", "degree", "community"]
"""Known nodes: stratified by class; by degree; or whole communities in turn."""

NUM_NON_LINKS = 20_000
"""Number of non-links for very low false-positive rates, if the graph has as many."""

MAX_STEPS = 20_000_000
"""Maximum number of two-link paths followed to find pairs at distance two."""


def draw_threats(
    graph: Graph,
    seed: Seed,
    private: str | None = None,
    utility: str | None = None,
    known: float = 0.1,
    hide_links: float | None = None,
    sensitive_links: np.ndarray | None = None,
    test_links: float = 0.1,
    utility_train: float = 0.3,
    evaluation: Evaluation = "uniform",
    held_back: np.ndarray | None = None,
    known_nodes: np.ndarray | None = None,
) -> Threats:
    """Draw the threats of one repeat on the original graph.

    hide_links       share of links drawn as sensitive, or None for no link threat
    sensitive_links  (h, 2) the analyst's own choice; replaces the draw
    test_links       share of links held back for link-prediction utility; only with a link threat
    evaluation       kind of non-links for link attacks: `judge_links`
    held_back        (t, 2) links held back for utility; replaces the draw by `test_links`
    known_nodes      (k,) nodes whose private value is known; replaces the draw by `known`
    """
    graph = graph.with_private(private, utility)
    link = test = test_non = None
    visible = graph
    if hide_links is not None or sensitive_links is not None:
        hidden, test, visible = withhold_links(
            graph, seed, hide_links, sensitive_links, test_links, held_back
        )
        non_links = sample_candidates(graph, len(hidden) + len(test), seed.rng("non_links"))
        absent, test_non = non_links[: len(hidden)], non_links[len(hidden) :]
        candidates = graph.num_candidates - visible.num_edges
        prior = len(hidden) / max(candidates, 1)
        link = judge_links(graph, visible, LinkThreat(hidden, absent, prior), evaluation, seed)
    attribute = downstream = None
    if private is not None:
        attribute = draw_attribute_threat(
            graph, private, known, seed.child("known"), given=known_nodes
        )
    if utility is not None:
        downstream = draw_attribute_threat(graph, utility, utility_train, seed.child("utility"))
    return Threats(visible, link, attribute, test, test_non, downstream)


def draw_attribute_threat(
    graph: Graph,
    column: str,
    known: float,
    seed: Seed,
    spread: Spread = "stratified",
    given: np.ndarray | None = None,
) -> AttributeThreat:
    """A known share of the nodes with a value; the rest is hidden. `spread`: selection rule.

    given  (k,) the known nodes; replaces the draw

    Stratified; each class with at least two nodes keeps at least one on either side. Raises
    InputError for fewer than two classes, or if nobody's value is known or hidden.
    """
    attribute = graph.column(column)
    _list_present(attribute)
    if not 0 < known < 1:
        raise InputError("known share", "must lie between 0 and 1", known)
    rng = seed.rng("known")
    mask = np.zeros(graph.num_nodes, bool)
    if given is not None:
        mask[given] = True
        mask &= attribute.known
        if not mask.any() or mask[attribute.known].all():
            raise InputError(
                "people whose value is known",
                f"must be some, but not all, of those with a value of '{column}'",
                int(mask.sum()),
                "name other people",
            )
    elif spread != "stratified":
        order = _order_known(graph, attribute.known, spread, rng)
        count = int(np.clip(round(known * len(order)), 1, len(order) - 1))
        mask[order[:count]] = True
    else:
        mask = draw_stratified(attribute, known, rng)
    return AttributeThreat(attribute, mask, attribute.known & ~mask)


def draw_stratified(attribute: NodeColumn, share: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) bool: a share of each class; one with at least two nodes has some on either side.

    Raises InputError for fewer than two classes, or if no value is left out.
    """
    present, mask = _list_present(attribute), np.zeros(len(attribute.codes), bool)
    for code in present:
        nodes = np.flatnonzero(attribute.codes == code)
        count = int(np.clip(round(share * len(nodes)), 1, max(len(nodes) - 1, 1)))
        mask[rng.choice(nodes, count, replace=False)] = True
    if mask[attribute.known].all():
        raise InputError(
            f"column '{attribute.name}'",
            "must have a value that at least two nodes share",
            f"{len(present)} values of as many nodes",
            "put its values in coarser classes or choose another column",
        )
    return mask


def _list_present(attribute: NodeColumn) -> list[int]:
    """Codes of the classes with nodes; raises InputError for fewer than two."""
    present = [c for c in range(attribute.num_classes) if (attribute.codes == c).any()]
    if len(present) < 2:
        raise InputError(
            f"column '{attribute.name}'",
            "must have at least two classes with nodes",
            len(present),
            "choose another column",
        )
    return present


def _order_known(
    graph: Graph, candidates: np.ndarray, spread: Spread, rng: np.random.Generator
) -> np.ndarray:
    """The candidates, (n,) bool, in the order in which they become known."""
    nodes = np.flatnonzero(candidates)
    if spread == "degree":  # without replacement, with chances as degree + 1 (Gumbel's trick)
        keys = np.log1p(graph.degrees[nodes]) + rng.gumbel(size=len(nodes))
        return np.asarray(nodes[np.argsort(-keys, kind="stable")])
    labels = find_communities(graph, rng)[nodes]
    keys = rng.random(int(labels.max()) + 1)[labels]
    return np.asarray(nodes[np.lexsort((rng.random(len(nodes)), labels, keys))])


def withhold_links(
    graph: Graph,
    seed: Seed,
    share: float | None,
    given: np.ndarray | None,
    test_share: float,
    held_back: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, Graph]:
    """Sensitive links, test links, and the graph without either; arguments as in `draw_threats`.

    A link given as both is sensitive.
    """
    order = seed.rng("links").permutation(graph.num_edges)
    if given is not None:
        codes = np.unique(pair_codes(given, graph.num_nodes))
        is_given = np.isin(graph.edge_codes, codes)
        if not is_given.any():
            raise InputError("sensitive links", "must include links of the graph", len(codes))
        hidden, rest = np.flatnonzero(is_given), order[~is_given[order]]
    else:
        if share is None or not 0 < share < 1:
            raise InputError("share of withheld links", "must lie between 0 and 1", share)
        num_hidden = round(share * graph.num_edges)
        if num_hidden < 1:
            raise InputError(
                "graph",
                "must have enough links to withhold some",
                graph.num_edges,
                "raise the share or use a larger graph",
            )
        hidden, rest = np.sort(order[:num_hidden]), order[num_hidden:]
    if held_back is not None:
        codes = np.sort(pair_codes(held_back, graph.num_nodes))
        test = rest[is_among(graph.edge_codes[rest], codes)]
    else:
        test = rest[: min(round(test_share * graph.num_edges), len(rest))]
    is_kept = np.ones(graph.num_edges, bool)
    is_kept[hidden] = is_kept[test] = False
    return graph.edges[hidden], graph.edges[np.sort(test)], graph.select_edges(is_kept)


def judge_links(
    graph: Graph, visible: Graph, threat: LinkThreat, evaluation: Evaluation, seed: Seed
) -> LinkThreat:
    """The same secrets with the non-links of an evaluation, and more of them for low FPRs.

    distance_2 evaluates only withheld links whose ends share a neighbour in `visible`, against such
    non-links of `graph`. Additional non-links use a separate random stream, so that the others are
    unchanged.
    """
    rng = seed.rng("more_non_links")
    if evaluation == "uniform":
        more = sample_candidates(graph, min(NUM_NON_LINKS, count_candidates(graph)), rng)
        return replace(threat, more_absent=_leave_out(more, threat.absent, graph.num_nodes))
    if evaluation == "degree_matched":
        absent = _swap_ends(graph, threat.hidden, NUM_NON_LINKS, rng)
        judged = None
    else:
        absent, _ = find_near_pairs(visible, MAX_STEPS, rng)
        is_absent = ~graph.contains_pairs(absent) & graph.may_link(absent)
        absent = rng.permutation(np.unique(absent[is_absent], axis=0))
        judged = _share_neighbor(visible, threat.hidden)
    count = len(threat.hidden) if judged is None else int(judged.sum())
    if not count or not len(absent):
        raise InputError(
            "evaluation",
            "must find withheld links and non-links of that kind",
            evaluation,
            "choose uniform or hide more links",
        )
    more = absent[count:NUM_NON_LINKS]
    return replace(threat, absent=absent[:count], judged=judged, more_absent=more)


def _leave_out(pairs: np.ndarray, taken: np.ndarray, num_nodes: int) -> np.ndarray:
    codes = pair_codes(pairs, num_nodes)
    rest: np.ndarray = pairs[~np.isin(codes, pair_codes(taken, num_nodes))]
    return rest[: max(NUM_NON_LINKS - len(taken), 0)]


def _share_neighbor(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """(k,) bool: whether the two ends have a neighbour in common."""
    links = graph.adjacency != 0
    shared = links[pairs[:, 0]].multiply(links[pairs[:, 1]]).sum(axis=1)
    return np.asarray(np.asarray(shared).ravel() > 0)


def _swap_ends(graph: Graph, links: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """At most `count` distinct non-links that join ends of two different links."""
    found = np.empty(0, np.int64)
    ends = links.ravel()
    for _ in range(50):
        pairs = rng.choice(ends, (2 * count, 2))
        pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & graph.may_link(pairs)]
        codes = pair_codes(pairs[~graph.contains_pairs(pairs)], graph.num_nodes)
        found = pd.unique(np.concatenate([found, codes]))
        if len(found) >= count:
            break
    found = found[:count]
    return decode_pairs(found, graph.num_nodes)


MAX_PAIRS = 50_000
"""Maximum number of pairs per kind: real links, false links of the release, other pairs."""

NUM_OTHERS = 20_000
"""Uniform sample of pairs linked in neither graph."""


def draw_released_threat(
    before: Graph, released: Graph, rng: np.random.Generator
) -> ReleasedThreat:
    """before: the graph that was defended; released: what its recipients hold.

    Links of weight 0 are no links. Kinds with more than MAX_PAIRS pairs are represented by a
    weighted sample. Of a graph in two modes, pairs within one are nobody's question.
    """
    real, published = (
        Graph(edges=graph.present_edges, node_ids=graph.node_ids, modes=before.modes)
        for graph in (before, released)
    )
    published = published.select_edges(published.may_link(published.edges))
    links, link_weight = _sample(real.edges, rng)
    false_links, false_weight = _sample(published.edges[~real.contains_pairs(published.edges)], rng)
    either = real.with_edges(np.concatenate([real.edges, published.edges]))
    rest = count_candidates(either)
    others = sample_candidates(either, min(rest, NUM_OTHERS), rng)
    weights = np.repeat(
        [link_weight, false_weight, rest / max(len(others), 1)],
        [len(links), len(false_links), len(others)],
    )
    absent = np.concatenate([false_links, others])
    released_mask = published.contains_pairs(np.concatenate([links, absent]))
    return ReleasedThreat(links, absent, real.density, weights=weights, released=released_mask)


def _sample(pairs: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    if len(pairs) <= MAX_PAIRS:
        return pairs, 1.0
    chosen = np.sort(rng.choice(len(pairs), MAX_PAIRS, replace=False))
    return pairs[chosen], len(pairs) / MAX_PAIRS
