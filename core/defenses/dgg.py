"""DGG: a block two-level Erdős–Rényi graph (BTER) from noisy degrees; ε-edge DP."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import draw_by_degrees, place_left_ends
from core.arrays import pair_codes, sort_distinct
from core.context import Context
from core.defenses.budgeted import DataFree, EdgePrivateDefense
from core.graph import Graph
from core.methods import MethodInfo, UnitInterval
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE, describe_data_use, draw_uniform_graph
from core.privacy.mechanisms import check_release_fits
from core.privacy.tables import subtract_to_sum
from core.release import Release
from core.threats import Threats


class Dgg(EdgePrivateDefense):
    """Laplace noise on every degree, then the block two-level Erdős–Rényi model.

    A link changes two degrees by one, so the noise is that of sensitivity 2; the implementation
    in PGB (Liu et al., 2024) adds that of 1 and spends twice what it claims. Noisy degrees are
    clipped at 0 so that their sum stays. In their order d + 1 nodes form a block, d ≥ 2 being the
    lowest degree of it, linked inside with probability ρ (1 − η (log(d + 1) / log(d_max + 1))²);
    the remaining degree of each node is matched at random. Hubs, whose ends the blocks leave no
    partners for, then take links apart, in blocks too: degrees come from the data, blocks do not.
    ρ and η are settings: the clustering of the graph is not used.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dgg",
        title="DGG (BTER)",
        summary="Publishes a random graph of dense blocks that has the noisy degrees.",
        source="Qin et al., CCS 2017, with a curator, as in PGB (Liu et al., 2024); BTER: "
        "Seshadhri, Kolda and Pinar, Physical Review E 85, 2012",
        group="edge DP",
        cost="seconds",
        version=2,
    )
    density: UnitInterval = Field(
        0.95,
        title="Density of blocks (ρ)",
        description="Chance of a link within a block of low degree.",
    )
    decay: UnitInterval = Field(
        0.5,
        title="Decay of the density (η)",
        description="How much less dense the blocks of the highest degree are.",
    )
    data_free: DataFree = False

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        data = draw_uniform_graph(graph, context) if self.data_free else graph
        account = Account(EDGE, self.epsilon, context)
        noisy = account.add_count_noise(data.degrees, 1, 2.0, "degrees")
        wanted = subtract_to_sum(noisy.astype(np.float64))
        # One fraction is subtracted from all: rounded to the nearest, all go the same way.
        wanted = np.floor(wanted + context.rng("rounding").random(len(wanted)))
        degrees = np.minimum(wanted.astype(np.int64), graph.num_nodes - 1)
        check_release_fits("DGG", degrees.sum() / 2, context, "raise epsilon")
        rng = context.rng("links")
        inside = draw_blocks(degrees, self.density, self.decay, rng)
        context.progress.update(1, 2, "links within blocks")
        missing = degrees - np.bincount(inside.ravel(), minlength=graph.num_nodes)
        codes = sort_distinct(pair_codes(inside, graph.num_nodes))
        across = draw_by_degrees(np.maximum(missing, 0), rng, codes)
        context.progress.update(2, 2, "links between blocks")
        guarantee = account.make_guarantee(note=describe_data_use(self.data_free, False))
        links = place_left_ends(np.concatenate([inside, across]), degrees, rng)
        published = graph.with_edges(links)
        return self.build_release(published, guarantee)


def draw_blocks(
    degrees: np.ndarray, density: float, decay: float, rng: np.random.Generator
) -> np.ndarray:
    """Links (k, 2) within blocks of nodes of similar degree; nodes of degree 1 or less are in
    none. O(Σ degrees)."""
    order = np.argsort(degrees, kind="stable")
    order = order[np.searchsorted(degrees[order], 2) :]
    found = [np.empty((0, 2), np.int64)]
    scale = np.log(degrees.max(initial=1) + 1.0)
    start = 0
    while start < len(order):
        degree = int(degrees[order[start]])
        block = order[start : start + degree + 1]
        chance = density * (1.0 - decay * (np.log(degree + 1.0) / scale) ** 2)
        i, j = np.triu_indices(len(block), 1)
        drawn = rng.random(len(i)) < chance
        found.append(np.stack([block[i[drawn]], block[j[drawn]]], axis=1))
        start += len(block)
    return np.concatenate(found)
