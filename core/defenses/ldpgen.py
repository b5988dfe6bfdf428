"""LDPGen: nodes report noisy link counts to groups; a synthetic graph is drawn from them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy import sparse

from core.context import Context
from core.defenses.budgeted import DataFree, LinkLocalDefense
from core.graph import Graph
from core.methods import MethodInfo
from core.privacy.budget import Account
from core.privacy.guarantees import LINK_TWICE, describe_data_use, draw_uniform_graph
from core.privacy.mechanisms import check_release_fits
from core.release import Release
from core.threats import Threats


class LdpGen(LinkLocalDefense):
    """Two rounds of noisy degree vectors, clustering in between, Chung–Lu synthesis at the end.

    Round one: random groups, Laplace(2/ε) on each node's links to each group; k-means on those
    vectors gives the groups of round two, which spends the other half. Between two groups the
    synthetic graph has as many links as both sides report on average, ends drawn in proportion
    to the reports.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ldpgen",
        title="LDPGen",
        summary="Nodes report noisy link counts to groups; links are drawn anew from those.",
        source="Qin et al., Generating synthetic decentralized social graphs, CCS 2017",
        group="link-local DP",
        cost="seconds",
    )
    groups: int = Field(
        10, ge=1, le=100, title="Groups", description="Number of groups that nodes report to."
    )
    data_free: DataFree = False

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        from sklearn.cluster import KMeans

        data = draw_uniform_graph(graph, context) if self.data_free else graph
        account = Account(LINK_TWICE, self.epsilon, context)
        rng = context.rng("groups")
        count = min(self.groups, graph.num_nodes)
        groups = rng.permutation(np.arange(graph.num_nodes) % count)
        first = self._report(data, groups, count, account, "first round")
        context.progress.update(1, 3, "clustering nodes")
        means = KMeans(count, n_init=3, random_state=int(rng.integers(2**31)))
        groups = means.fit_predict(first)
        vectors = np.maximum(self._report(data, groups, count, account, "second round"), 0.0)
        context.progress.update(2, 3, "drawing links")
        check_release_fits("LDPGen", vectors.sum() / 2, context, "raise epsilon, lower groups")
        published = graph.with_edges(draw_chung_lu(vectors, groups, context.rng("links")))
        context.progress.update(3, 3, "drawing links")
        note = describe_data_use(self.data_free, False)
        guarantee = account.make_guarantee("basic composition of two rounds", note)
        return self.build_release(published, guarantee)

    def _report(
        self, graph: Graph, groups: np.ndarray, count: int, account: Account, purpose: str
    ) -> np.ndarray:
        """(n, count) noisy links of each node to each group, for half the budget."""
        n = graph.num_nodes
        member = sparse.csr_array((np.ones(n), (np.arange(n), groups)), shape=(n, count))
        pattern = graph.adjacency.copy()
        pattern.data[:] = 1.0
        return account.add_number_noise((pattern @ member).toarray(), 0.5, 1.0, purpose)


def draw_chung_lu(vectors: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(k, 2) pairs, possibly repeated, of a graph with expected degree vectors (n, groups) ≥ 0.

    Poisson many links between two groups; an end is drawn in proportion to its reported links
    to the other group (Aiello, Chung and Lu, 2000).
    """
    members = [np.flatnonzero(groups == g) for g in range(vectors.shape[1])]
    found = [np.empty((0, 2), np.int64)]
    for a, left in enumerate(members):
        for b in range(a, len(members)):
            right = members[b]
            weight_a, weight_b = vectors[left, b], vectors[right, a]
            if weight_a.sum() <= 0 or weight_b.sum() <= 0:
                continue
            links = rng.poisson((weight_a.sum() + weight_b.sum()) / (4.0 if a == b else 2.0))
            ends_a = rng.choice(left, links, p=weight_a / weight_a.sum())
            ends_b = rng.choice(right, links, p=weight_b / weight_b.sum())
            found.append(np.stack([ends_a, ends_b], axis=1))
    return np.concatenate(found)
