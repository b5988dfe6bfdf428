"""Personalised PageRank."""

from __future__ import annotations

from time import perf_counter
from typing import ClassVar

import numba
import numpy as np
from pydantic import Field

from core.arrays import decode_pairs, divide_or_zero, pair_codes
from core.context import Context
from core.graph import Graph
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

REPORT_INTERVAL_S = 0.1
"""Time between two progress reports."""


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
        version=2,
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
    graph: Graph,
    pairs: np.ndarray,
    restart: float,
    tolerance: float,
    context: Context,
    look_ahead: bool = False,
) -> np.ndarray:
    """(k,) π_i(j) + π_j(i), too low by at most tolerance · (d_i + d_j), d in links of mean weight.

    look_ahead  add what one more step of all residuals would bring to each target: as exact as half
                the tolerance or less, which takes more than twice as long. Alone it ranks worse,
                since distant pairs are told from pairs apart.

    d_i π_i(j) = d_j π_j(i) on undirected graphs, so one push per pair gives both: from the end
    with fewer links. A walk from an isolated node stays there.
    """
    # Only ratios of weights matter: links of a tenth of the weight need no tenth of the tolerance.
    tolerance /= float(graph.link_weights.mean()) if graph.link_weights.any() else 1.0
    strengths = graph.strengths
    codes, places = np.unique(pair_codes(pairs, graph.num_nodes), return_inverse=True)
    ends = decode_pairs(codes, graph.num_nodes)
    is_swapped = strengths[ends[:, 0]] > strengths[ends[:, 1]]
    ends[is_swapped] = ends[is_swapped, ::-1]
    order = np.argsort(ends[:, 0], kind="stable")
    source, target = ends[order].T
    nodes, first = np.unique(source, return_index=True)
    starts = np.append(first, len(source))
    visits = np.zeros(len(source))
    matrix = graph.adjacency
    num_done, batch = 0, 1
    while num_done < len(nodes):
        started = perf_counter()
        push_pairs(
            matrix.indptr,
            matrix.indices,
            matrix.data,
            strengths,
            nodes[num_done : num_done + batch],
            target,
            starts[num_done : num_done + batch + 1],
            restart,
            tolerance,
            look_ahead,
            visits,
        )
        num_done = min(num_done + batch, len(nodes))
        batch = 2 * batch if perf_counter() - started < REPORT_INTERVAL_S else max(batch // 2, 1)
        context.progress.update(num_done, len(nodes), "PageRank")
    reverse = divide_or_zero(strengths[source], strengths[target])
    scores = np.empty(len(source))
    scores[order] = visits * (1.0 + reverse)
    return scores[places]


@numba.njit(nogil=True, cache=True)
def push_pairs(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    degrees: np.ndarray,
    sources: np.ndarray,
    targets: np.ndarray,
    starts: np.ndarray,
    restart: float,
    tolerance: float,
    look_ahead: bool,
    out: np.ndarray,
) -> None:
    """PageRank of each source at its targets by forward push (Andersen, Chung and Lang, 2006):
    out[t] = p_source(targets[t]).

    sources  (s,) distinct nodes; the targets of source number r are starts[r]:starts[r + 1]
    Stops when every residual is at most tolerance · degree, so that each value is too low by at
    most tolerance · (degree of the target). O(1 / (restart · tolerance)) per source, and the links
    of its targets to look ahead.
    """
    n = len(degrees)
    estimate, residual = np.zeros(n), np.zeros(n)
    queued = np.zeros(n, np.bool_)
    queue, touched = np.empty(n, np.int64), np.empty(n, np.int64)
    is_touched = np.zeros(n, np.bool_)
    for row in range(len(sources)):
        source = sources[row]
        residual[source] = 1.0
        queue[0], head, waiting = source, 0, 1
        touched[0], num_touched = source, 1
        queued[source] = is_touched[source] = True
        while waiting > 0:
            node = queue[head]
            head = (head + 1) % n
            waiting -= 1
            queued[node] = False
            mass = residual[node]
            residual[node] = 0.0
            estimate[node] += restart * mass
            if degrees[node] <= 0.0:  # isolated node: the walk restarts there
                estimate[node] += (1.0 - restart) * mass
                continue
            share = (1.0 - restart) * mass / degrees[node]
            for index in range(indptr[node], indptr[node + 1]):
                other = np.int64(indices[index])
                residual[other] += share * data[index]
                if not is_touched[other]:
                    is_touched[other] = True
                    touched[num_touched] = other
                    num_touched += 1
                if not queued[other] and residual[other] > tolerance * degrees[other]:
                    queued[other] = True
                    queue[(head + waiting) % n] = other
                    waiting += 1
        for index in range(starts[row], starts[row + 1]):
            target = targets[index]
            out[index] = estimate[target]
            if look_ahead:
                ahead = residual[target]
                for link in range(indptr[target], indptr[target + 1]):
                    near = indices[link]
                    ahead += (1.0 - restart) * residual[near] * data[link] / degrees[near]
                out[index] += restart * ahead
        for index in range(num_touched):
            node = touched[index]
            estimate[node] = residual[node] = 0.0
            is_touched[node] = False
