"""Personalised PageRank: where a walker who keeps returning home spends his time."""

from __future__ import annotations

from time import perf_counter
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.attacks.link.heuristics import compute_strengths
from core.context import Context
from core.graph import Graph, pair_codes
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

BREATH_S = 0.1
"""Time between two reports of progress."""


class PersonalizedPagerank(LinkAttack):
    """Score π_i(j) + π_j(i) (Liben-Nowell and Kleinberg's rooted PageRank, both ways)."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="personalized_pagerank",
        title="Personalised PageRank",
        summary="Measures how often a walk that restarts at one node visits the other.",
        source="Liben-Nowell and Kleinberg, 2007 (rooted PageRank); Andersen, Chung and Lang, "
        "Local graph partitioning using PageRank vectors, 2006 (push)",
        group="heuristics",
        cost="minutes",
    )

    restart: float = Field(
        0.15, ge=0.01, le=0.99, description="Chance that the walk returns home at each step."
    )
    tolerance: float = Field(
        1e-5, ge=1e-9, le=1e-2, description="Error per link of a node; smaller takes longer."
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        return PairScores(
            compute_pagerank_scores(
                release.graph, threat.pairs, self.restart, self.tolerance, context
            )
        )


def compute_pagerank_scores(
    graph: Graph, pairs: np.ndarray, restart: float, tolerance: float, context: Context
) -> np.ndarray:
    """(k,) π_i(j) + π_j(i), too low by at most tolerance · (d_i + d_j).

    d_i π_i(j) = d_j π_j(i) on undirected graphs, so one push per pair gives both: from the end
    with fewer links. A node without links keeps its walker.
    """
    from core.algorithms.push import push_pairs

    strengths = compute_strengths(graph)
    codes, places = np.unique(pair_codes(pairs, graph.num_nodes), return_inverse=True)
    ends = np.stack([codes // graph.num_nodes, codes % graph.num_nodes], axis=1)
    is_swapped = strengths[ends[:, 0]] > strengths[ends[:, 1]]
    ends[is_swapped] = ends[is_swapped, ::-1]
    order = np.argsort(ends[:, 0], kind="stable")
    source, target = ends[order].T
    nodes, first = np.unique(source, return_index=True)
    starts = np.append(first, len(source))
    visits = np.zeros(len(source))
    matrix = graph.adjacency
    done, batch = 0, 1
    while done < len(nodes):
        began = perf_counter()
        push_pairs(
            matrix.indptr,
            matrix.indices,
            matrix.data,
            strengths,
            nodes[done : done + batch],
            target,
            starts[done : done + batch + 1],
            restart,
            tolerance,
            visits,
        )
        done = min(done + batch, len(nodes))
        batch = 2 * batch if perf_counter() - began < BREATH_S else max(batch // 2, 1)
        context.progress.update(done, len(nodes), "PageRank")
    reached = strengths[target] > 0
    back = np.divide(strengths[source], strengths[target], out=np.zeros(len(source)), where=reached)
    scores = np.empty(len(source))
    scores[order] = visits * (1.0 + back)
    return scores[places]
