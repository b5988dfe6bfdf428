"""Kinds of guarantees, and the input of data-independent baselines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.algorithms.pairs import sample_non_links
from core.context import Context
from core.graph import Graph
from core.release import Guarantee

EDGE_RELATION = "graphs on the same node set that differ in one undirected link"
NODE_RELATION = "graphs on the same node set in which one node has any other links"
LIST_RELATION = "adjacency lists of one node that differ in one bit"
LOCAL_NOT_COVERED = (
    "node set",
    "node features",
    "labels and other attributes",
    "settings chosen by auditing this graph",
)
NOT_COVERED = (*LOCAL_NOT_COVERED, "links withheld from the release")


@dataclass(frozen=True)
class Kind:
    """Protected unit, neighbouring relation and trust model.

    unit, relation, trust, not_covered  as in `Guarantee`
    reports  number of ends that report a link: with both, the recipient of the reports gets 2ε
    """

    unit: Literal["edge", "link", "node"]
    relation: str
    trust: Literal["central", "local"]
    not_covered: tuple[str, ...]
    reports: int = 1

    def make_guarantee(
        self,
        epsilon: float,
        accountant: str = "single mechanism",
        delta: float = 0.0,
        epsilon_naive: float | None = None,
        note: str = "",
    ) -> Guarantee:
        """Guarantee of a total (ε, δ) recorded by an account."""
        is_twice = self.reports == 2
        if self.trust == "local" and not note:
            note = (
                "Both ends of a link report it: against an observer of all reports the budget of "
                f"that link is 2ε = {2 * epsilon:g}."
                if is_twice
                else "Each pair is reported by one end only."
            )
        return Guarantee(
            unit=self.unit,
            relation=self.relation,
            epsilon=epsilon,
            delta=delta,
            accountant=accountant,
            trust=self.trust,
            epsilon_transcript=2.0 * epsilon if is_twice else None,
            epsilon_naive=epsilon_naive,
            not_covered=self.not_covered,
            note=note,
        )


EDGE = Kind("edge", EDGE_RELATION, "central", NOT_COVERED)
"""One link, trusted curator."""

NODE = Kind("node", NODE_RELATION, "central", NOT_COVERED)
"""All links of one node, bounded; the node set is public."""

LINK_ONCE = Kind("link", LIST_RELATION, "local", LOCAL_NOT_COVERED)
"""One bit of a node's own list; each pair is reported by one end."""

LINK_TWICE = Kind("link", LIST_RELATION, "local", LOCAL_NOT_COVERED, reports=2)
"""One bit of a node's own list; both ends report the pair."""


def describe_data_use(data_free: bool, is_count_public: bool, own_note: str = "") -> str:
    """Note on a synthesis that is a baseline or was given the number of links; `own_note`
    applies to its own releases."""
    text = own_note
    if data_free:
        text = (
            "No data was used."
            if is_count_public
            else "Of the data, only the number of links was used."
        )
    public = "The number of links was given as public." if is_count_public else ""
    return f"{text} {public}".strip()


def draw_uniform_graph(graph: Graph, context: Context, num_links: int | None = None) -> Graph:
    """Uniform random graph with as many nodes and links as `graph` (Erdős and Rényi, 1959), or
    with `num_links` of them."""
    empty = graph.with_edges(np.empty((0, 2), np.int64))
    wanted = graph.num_edges if num_links is None else num_links
    return graph.with_edges(sample_non_links(empty, wanted, context.rng("data_free")))
