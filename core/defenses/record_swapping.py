"""Record swapping: people exchange places so that no sensitive link joins its ends' neighbours."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.communities import find_communities
from core.context import Context
from core.graph import Graph
from core.methods import Defense, MethodInfo, Strength, UnitInterval
from core.release import Release
from core.threats import Threats


class RecordSwapping(Defense):
    """Moves an end at least of each sensitive link to another's place, links and columns included.

    The places are exchanged in a random cycle, so that the release is the graph itself under other
    names: degrees, triangles and what columns tell of links stay exactly, and no trace in it shows
    who was moved. What is said of the people moved is wrong. Moved are a greedy vertex cover of the
    sensitive links (Chvátal, 1979), and some of the people with few links: among ends alone the
    exchange would tell them by their degrees.

    Holds against those who have the release alone. Who knows a moved person's columns or links by
    name, ids that follow from them, or a release with another exchange sees who was moved, and
    sensitive links are among those pairs; nor does it protect where names are left out anyway.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="record_swapping",
        title="Record swapping",
        summary="Exchanges the places of people so that sensitive links do not lie near their "
        "ends.",
        source="Dalenius and Reiss, Data-swapping: a technique for disclosure control, Journal of "
        "Statistical Planning and Inference 1982, here of whole places in a graph",
        group="empirical",
    )
    acts_by: ClassVar[Strength | None] = Strength("near", 1.0, 0.0)
    near: UnitInterval = Field(
        0.0,
        title="Share moved within their community",
        description="Share of the people moved who stay within their community of the graph: more "
        "is more useful and less private.",
    )
    bystanders: float = Field(
        0.3,
        ge=0,
        le=5,
        title="Others moved",
        description="People with few links who are moved too, per person moved for a sensitive "
        "link.",
    )

    @property
    def needs_links(self) -> bool:
        return True

    @property
    def untried(self) -> str:
        return "no attack knows columns or links of people by name, which show who was moved"

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        assert threats.link is not None
        rng = context.rng("places")
        cover = find_cover(graph, threats.link.hidden, rng)
        moved = np.concatenate([cover, self._choose_bystanders(graph, cover, rng)])
        places = np.arange(graph.num_nodes)
        for group in self._group(graph, moved, rng):
            order = rng.permutation(group)
            places[order] = np.roll(order, 1)
        released = replace(graph.subgraph(places), node_ids=graph.node_ids)
        released = released.without_edges(threats.link.hidden)  # where the exchange led by chance
        is_moved = places != np.arange(graph.num_nodes)
        facts = {
            "people_moved": float(is_moved.sum()),
            "links_moved": float(is_moved[graph.edges].any(axis=1).sum()),
        }
        return self.build_release(released, facts=facts)

    def _choose_bystanders(
        self, graph: Graph, cover: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """People outside `cover` with a link, and no more than half of all people have."""
        degrees = graph.degrees
        is_free = (degrees > 0) & (degrees <= np.median(degrees))
        is_free[cover] = False
        free = np.flatnonzero(is_free)
        count = min(int(np.ceil(self.bystanders * len(cover))), len(free))
        return rng.choice(free, count, replace=False)

    def _group(self, graph: Graph, moved: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        """People among whom places are exchanged: of the same mode, if near of one community."""
        groups = np.zeros(len(moved), np.int64)
        if self.near:
            communities = find_communities(graph, rng)[moved] + 1
            groups = np.where(rng.random(len(moved)) < self.near, communities, 0)
            groups[np.bincount(groups)[groups] < 2] = 0  # nobody to exchange with
        if graph.modes is not None:
            groups = 2 * groups + graph.modes.codes[moved]
        return [moved[groups == group] for group in np.unique(groups)]


def find_cover(graph: Graph, links: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(k,) nodes among which is an end at least of each of `links` (h, 2).

    Greedy: next is the node with the smallest √(degree + 1) per link that it covers. By the degree
    itself all well-connected ends would stay, and their degrees tell them.
    """
    ends: dict[int, set[int]] = {}
    for one, other in links.tolist():
        ends.setdefault(one, set()).add(other)
        ends.setdefault(other, set()).add(one)
    prices, ties = np.sqrt(graph.degrees + 1.0), rng.random(graph.num_nodes)
    heap = [(prices[node] / len(others), ties[node], node) for node, others in ends.items()]
    heapq.heapify(heap)
    cover = []
    while heap:
        price, tie, node = heapq.heappop(heap)
        others = ends[node]
        if not others:
            continue
        if price < (current := prices[node] / len(others)):  # some are covered by now
            heapq.heappush(heap, (current, tie, node))
            continue
        cover.append(node)
        for other in others:
            ends[other].discard(node)
        ends[node] = set()
    return np.array(cover, np.int64)
