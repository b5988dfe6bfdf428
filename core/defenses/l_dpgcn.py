"""L-DpGCN: Laplace noise on every entry of every list, the largest entries are kept."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.privacy.link_local import draw_noisy_rows, make_local_release, merge_reports
from core.privacy.mechanisms import check_release_fits, compute_laplace_tail, draw_laplace_above
from core.release import Release
from core.threats import Threats


class LocalDpGcn(Defense):
    """Every node adds Laplace(1/ε) to each entry of its list; the server keeps the top ‖Ã‖₁.

    Of the n(n−1) − 2m entries that are no link only those above a cut can be among the top.
    Their number is Binomial and they are drawn above the cut; the sum of all others, needed for
    ‖Ã‖₁ alone, is drawn from its normal limit.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="l_dpgcn",
        title="L-DpGCN",
        summary="Noisy lists of numbers; the server keeps the largest entries.",
        source="Wu et al., LinkTeller, IEEE S&P 2022 (DpGCN); local form of Blink §5.1",
        group="link-local DP",
    )
    epsilon: float = Field(
        6.0, gt=0, le=100, title="Privacy budget ε",
        description="Budget of one entry of a node's list; the link itself spends 2ε.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        n, scale = graph.num_nodes, 1.0 / self.epsilon
        rng = context.rng("rows")
        on_links = 1.0 + rng.laplace(0.0, scale, 2 * graph.num_edges)
        num_others = n * (n - 1) - 2 * graph.num_edges
        # First the noisy total, which says how many entries are kept.
        rest = rng.normal(0.0, scale * math.sqrt(2.0 * num_others))
        wanted = int(np.clip(round(on_links.sum() + rest), 0, n * (n - 1)))
        check_release_fits("L-DpGCN", wanted, context, "raise epsilon or use a smaller graph")
        share = min(1.0, (wanted + 8.0 * math.sqrt(wanted + 1.0) + 8.0) / max(num_others, 1))
        cut = -scale * math.log(2.0 * share) if share <= 0.5 else -math.inf
        tail = compute_laplace_tail(cut, scale) if math.isfinite(cut) else 1.0
        nobody = np.zeros(n)
        others = draw_noisy_rows(graph, nobody, np.full(n, tail), rng)
        noise = draw_laplace_above(cut, scale, len(others), rng)
        entries = np.concatenate([graph.edges, graph.edges[:, ::-1], others])
        top = np.argsort(-np.concatenate([on_links, noise]), kind="stable")[:wanted]
        return make_local_release(
            self, graph, merge_reports(graph, entries[top]), 2, context
        )
