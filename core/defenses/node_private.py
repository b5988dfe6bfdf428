"""Node private: an edge-DP mechanism calibrated to protect a node with all its links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from core.context import Context
from core.defenses.budgeted import DataFree, Delta, EdgePrivateDefense, Epsilon
from core.defenses.privdpr import estimate_num_links
from core.graph import Graph
from core.methods import Defense, Method, MethodInfo, Strength
from core.privacy.budget import Account, Share
from core.privacy.guarantees import NODE, describe_data_use, draw_uniform_graph
from core.privacy.mechanisms import draw_by_score
from core.release import Release
from core.seeding import mix_bits
from core.threats import Threats

COUNT_SHARE, COUNT_CAP = 0.1, 50
"""Of the baseline: its number of links costs this share of what the choice and the test leave, and
counts at most so many of a node."""


class NodePrivate(Defense):
    """Degrees clipped to a privately chosen maximum, then an edge-DP mechanism with group privacy.

    One node changes a group of k links: a mechanism that spends ε/k per link spends ε on k of them.
    Without clipping k is n − 1. As in N2E the graph is first clipped to a maximum degree D
    estimated with noise, so that k depends on D; unlike there, the bound on links moved by clipping
    is tested for this graph, which requires a δ. If the test fails, the mechanism runs for n − 1
    links. The baseline is given a noisy number of links: a node changes the true one by up to
    n − 1, more than what follows would hide.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="node_private",
        title="Node private",
        summary="Clips degrees and runs a mechanism for links so that it hides whole nodes.",
        source="In the way of Hu, Ding and Dong, N2E, arXiv 2511.20125, 2025; clipping: Blocki, "
        "Blum, Datta and Sheffet, ITCS 2013; test: Dwork and Lei, STOC 2009",
        group="node DP",
        cost="seconds",
        version=4,
    )
    members: ClassVar[dict[str, type[EdgePrivateDefense]]] = {}
    """Supported mechanisms by key, set by the list of defenses."""

    acts_by: ClassVar[Strength | None] = Strength("epsilon", 10.0, 0.5, is_log=True)
    epsilon: Epsilon = Field(
        6.0, description="Smaller is more private; one node with all its links is protected."
    )
    delta: Delta = Field(
        1e-6,
        description="Chance that clipping is relied upon where it must not be; should be far "
        "below 1 / number of nodes.",
    )
    mechanism: str = Field("dp_1k", description="Key of the defense with edge-level privacy.")
    choice_share: float = Field(
        0.2,
        gt=0,
        lt=0.5,
        title="Share of ε for the largest degree",
        description="Spent on the choice of the largest degree that is counted.",
    )
    test_share: float = Field(
        0.3,
        gt=0,
        lt=0.5,
        title="Share of ε for the test",
        description="Spent on testing that clipping there moves few links.",
    )
    data_free: DataFree = False

    @model_validator(mode="after")
    def check_mechanism(self) -> NodePrivate:
        """Raise for a mechanism without edge-level privacy."""
        if self.mechanism not in self.members:
            known = ", ".join(self.members)
            raise ValueError(f"mechanism '{self.mechanism}' must be one of {known}")
        return self

    @property
    def inner_methods(self) -> tuple[Method, ...]:
        return (self._make_member(1.0),)

    @property
    def keeps_nodes(self) -> bool:
        return self._make_member(1.0).keeps_nodes

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(NODE, self.epsilon, context, self.delta)
        data = self._draw_baseline(graph, account, context) if self.data_free else graph
        context.progress.update(0, 2, "choosing the largest degree")
        shares = self.choice_share, self.test_share
        clipping = choose_clipping(data, account, *shares, context)
        if clipping.max_degree is not None:
            data = clip_degrees(data, clipping.max_degree)
        scale = account.spend(account.share_left, clipping.group, self.mechanism)
        member = self._make_member(1.0 / scale)
        release = member.publish(data, Threats(data), context.child("mechanism"))
        degree = clipping.max_degree
        clipped = "Nothing was clipped" if degree is None else f"Degrees were clipped to {degree:,}"
        note = f"{clipped}; ε = {member.epsilon:.3g} for each of {clipping.group:,} links."
        note = describe_data_use(self.data_free, False, note)
        guarantee = account.make_guarantee("sequential composition and group privacy", note)
        return self.build_release(release.graph, guarantee)

    def _make_member(self, epsilon: float) -> EdgePrivateDefense:
        return self.members[self.mechanism].model_validate({"epsilon": epsilon})

    def _draw_baseline(self, graph: Graph, account: Account, context: Context) -> Graph:
        """Uniform random graph with a noisy number of links."""
        share = COUNT_SHARE * (1.0 - self.choice_share - self.test_share)
        cap = min(COUNT_CAP, max(graph.num_nodes - 1, 1))
        return draw_uniform_graph(graph, context, estimate_num_links(graph, account, share, cap))


# Each node keeps its first D links in a public order, and a link is kept if both ends keep it. If
# one node changes its links, at most 2D links of its own differ; and each other node with D links
# or more may lose or gain one (Blocki, Blum, Datta and Sheffet, ITCS 2013, §4). Two such graphs
# differ in at most 3D links if one of them has no more than D nodes with D links or more. The
# number of nodes that must change until that fails has sensitivity 1 and is tested with little
# noise (Dwork and Lei, STOC 2009).

GROWTH = 1.25
"""Ratio between candidate degrees."""

MARGIN = 4.0
"""Log-odds of preferring a degree whose test passes with probability ½ to one that never passes."""


@dataclass(frozen=True)
class Clipping:
    """max_degree: D, or None without clipping; group: bound on the links in which graphs that
    differ in one node differ after clipping."""

    max_degree: int | None
    group: int


def clip_degrees(graph: Graph, max_degree: int) -> Graph:
    """Keep links among the first `max_degree` of both ends, in the order of a public hash of the
    pair; O(m log m)."""
    order = mix_bits(graph.edge_codes)
    ends = np.concatenate([graph.edges[:, 0], graph.edges[:, 1]])
    by_node = np.lexsort((np.tile(order, 2), ends))
    starts = np.cumsum(graph.degrees) - graph.degrees
    rank = np.empty(len(ends), np.int64)
    rank[by_node] = np.arange(len(ends)) - np.repeat(starts, graph.degrees)
    is_first = (rank < max_degree).reshape(2, -1)
    return graph.select_edges(is_first[0] & is_first[1])


def compute_stability(degrees: np.ndarray, max_degree: int) -> int:
    """Number of nodes that must change until more than D = `max_degree` nodes have D links or more;
    0 if that is so already.

    A lower bound of sensitivity 1: after k changes the number of nodes with at least D links is at
    most the former number with at least D − k, plus the k nodes.
    """
    changed = np.arange(max_degree + 1)
    reaching = len(degrees) - np.searchsorted(np.sort(degrees), max_degree - changed)
    return int(np.argmax(reaching + changed > max_degree))


def choose_clipping(
    graph: Graph, account: Account, choice_share: Share, test_share: Share, context: Context
) -> Clipping:
    """A clipping for a group of less than n − 1 links, or none.

    The exponential mechanism prefers a degree just stable enough to pass the test; if the test then
    fails nothing is clipped.
    """
    n = graph.num_nodes
    steps = GROWTH ** np.arange(np.log(max(n, 2)) / np.log(GROWTH))
    grid = np.unique(np.rint(steps)).astype(np.int64)
    grid = grid[3 * grid < n - 1]
    if not len(grid):
        return Clipping(None, n - 1)
    # One node moves the score of each degree by 1, up or down: hence the 2.
    factor = account.spend_choice(choice_share, 2.0, "largest counted degree")
    wanted = account.find_test_threshold(test_share) + MARGIN / factor
    stability = np.array([compute_stability(graph.degrees, d) for d in grid.tolist()])
    scores = -np.abs(stability - wanted)
    chosen = draw_by_score(scores, factor, context, "clipping")
    is_stable = account.test_distance(int(stability[chosen]), test_share, "stability")
    return (
        Clipping(int(grid[chosen]), 3 * int(grid[chosen])) if is_stable else Clipping(None, n - 1)
    )
