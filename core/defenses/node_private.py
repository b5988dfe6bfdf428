"""Node private: an edge-DP mechanism calibrated to protect a node with all its links."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, model_validator

from core.context import Context
from core.defenses.budgeted import DataFree, Delta, EdgePrivateDefense, Epsilon
from core.defenses.privdpr import estimate_num_links
from core.graph import Graph
from core.methods import Defense, Method, MethodInfo, Strength
from core.privacy.budget import Account
from core.privacy.degree_clipping import choose_clipping, clip_degrees
from core.privacy.guarantees import NODE, describe_data_use, draw_uniform_graph
from core.release import Release
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
