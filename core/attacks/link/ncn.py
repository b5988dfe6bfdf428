"""Neural common neighbours: a graph network for pairs, trained on links that it hides itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.normalize import fit_scale
from core.algorithms.pairs import count_candidates, sample_candidates, split_by_work
from core.algorithms.rings import count_rings
from core.attacks.link.pair_features import describe_pairs
from core.context import Context, SharedWork
from core.graph import Graph
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

if TYPE_CHECKING:
    from core.models.common_neighbors import PairNetwork
    from core.models.encoders import Block, Inputs


RATIO = 3.0
"""Non-links per training link."""

MAX_SHARE = 0.1
"""Share of the links up to which all training links are held out at once."""

LEAST_LINKS = 16

SCORED_AT_ONCE = 65_536


COUNT_COLUMNS = (
    "at distance 1 and 1",
    "at distance 1 and 2",
    "at distance 2 and 2",
    "at distance 1 and more",
    "at distance 2 and more",
)


TILE = 50_000_000
"""Steps between two progress reports."""


class Ncn(LinkAttack):
    """Logit of networks on the ends' and common neighbours' embeddings and counts by distance.

    The links are split into `folds`; each fold is trained on the release without it, since the
    owner's withheld links are missing too, and without all folds if these are few of many links.
    Besides the embeddings the networks use the numbers of nodes by distance from both ends and the
    columns of `pair_features`: with embeddings alone they overfit. The mean of `members` networks,
    each with a different fold to choose its epoch.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ncn",
        title="Neural common neighbours",
        summary="Trains a graph network that reads both ends, their common neighbours and "
        "distances.",
        source="Wang, Yang and Zhang, Neural common neighbor with completion for link prediction, "
        "ICLR 2024, without the completion; Chamberlain et al., Graph neural networks for link "
        "prediction with subgraph sketching (BUDDY), ICLR 2023, counts exact",
        group="learned structure",
        cost="seconds",
        uses_gpu=True,
        version=7,
    )

    folds: int = Field(8, ge=3, le=50, description="Parts of the links that are hidden in turn.")
    max_links: int = Field(12_000, ge=20, le=1_000_000, description="Links to learn from at most.")
    epochs: int = Field(20, ge=1, le=1000, description="Training epochs at most.")
    members: int = Field(2, ge=1, le=20, description="Networks whose answers are averaged.")

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        return PairScores(self._share(release.graph, context).score(threat.pairs, context))

    def describe(self, release: Release, threat: LinkThreat, context: Context) -> np.ndarray:
        graph, pairs = release.graph, threat.pairs
        logits = self._share(graph, context).score(pairs, context)
        return np.column_stack([logits, describe_pairs(graph, pairs, context, False)])

    def _share(self, graph: Graph, context: Context) -> PairNetworks:
        """Networks trained once per release, for standard and adaptive attackers."""
        key = ("ncn", graph.content_hash, *self.config.values())
        return context.share(key, lambda shared: self._train(graph, shared))

    def _train(self, graph: Graph, context: Context) -> PairNetworks:
        import torch

        from core.models.common_neighbors import PairBatch, fit_pair_network
        from core.models.encoders import Block, make_inputs

        context.progress.check()
        device, rng = context.device.torch_name, context.rng("links")
        inputs, block = make_inputs(graph, device, "standard"), Block.of_graph(graph, "gcn", device)
        links = graph.edges[find_strong_links(graph)]
        links = rng.permutation(links)[: self.max_links]
        max_absent = count_candidates(graph)
        if len(links) < LEAST_LINKS or max_absent < LEAST_LINKS:
            return PairNetworks(graph, inputs, block, [], np.zeros(1), np.ones(1))
        folds = min(self.folds, len(links) // 4)
        parts = [links[fold::folds] for fold in range(folds)]
        is_few = len(links) <= MAX_SHARE * graph.num_edges
        groups = [parts] if is_few else [[part] for part in parts]
        samples, tables = [], []
        for number, group in enumerate(groups):
            context.progress.update(number, len(groups), "links without themselves")
            reduced = graph.without_edges(np.concatenate(group))
            own_block = Block.of_graph(reduced, "gcn", device)
            for part in group:
                absent = sample_candidates(graph, min(round(RATIO * len(part)), max_absent), rng)
                samples.append((reduced, own_block, np.concatenate([part, absent]), len(part)))
            pairs = np.concatenate([pairs for *_, pairs, _ in samples[-len(group) :]])
            # other attacks cannot reuse what is computed for a group
            own_context = replace(context, shared=SharedWork())
            tables.append(describe_columns(reduced, pairs, own_context))
        table = np.concatenate(tables)
        centre, spread = fit_scale(table)
        table, batches, start = (table - centre) / spread, [], 0
        for reduced, own_block, pairs, count in samples:
            columns = table[start : start + len(pairs)]
            start += len(pairs)
            batch = PairBatch.of_pairs(reduced, pairs, columns, device, own_block)
            truth = torch.zeros(len(pairs), device=device)
            truth[:count] = 1.0
            batches.append((batch, truth))
        networks = [
            fit_pair_network(
                inputs,
                batches[number % folds :] + batches[: number % folds],
                context.child("member", number),
                epochs=self.epochs,
                share_done=(number, self.members),
            )
            for number in range(self.members)
        ]
        return PairNetworks(graph, inputs, block, networks, centre, spread)


class PairNetworks:
    """Networks trained on the attacked graph; empty without training data."""

    def __init__(
        self,
        graph: Graph,
        inputs: Inputs,
        block: Block,
        networks: list[PairNetwork],
        centre: np.ndarray,
        spread: np.ndarray,
    ) -> None:
        self._graph, self._inputs, self._block = graph, inputs, block
        self._networks, self._centre, self._spread = networks, centre, spread

    def score(self, pairs: np.ndarray, context: Context) -> np.ndarray:
        """(k,) float64 mean logits of (k, 2) pairs."""
        import torch

        from core.models.common_neighbors import PairBatch

        scores = np.zeros(len(pairs))
        if not self._networks:
            return scores
        device = context.device.torch_name
        with torch.no_grad():
            embedded = [net.embed(self._inputs, self._block) for net in self._networks]
            for start in range(0, len(pairs), SCORED_AT_ONCE):
                part = pairs[start : start + SCORED_AT_ONCE]
                table = (describe_columns(self._graph, part, context) - self._centre) / self._spread
                batch = PairBatch.of_pairs(self._graph, part, table, device, self._block)
                for network, vectors in zip(self._networks, embedded, strict=True):
                    logits = network(vectors, batch).double().cpu().numpy()
                    scores[start : start + SCORED_AT_ONCE] += logits / len(self._networks)
        return scores


def describe_columns(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k, c) columns of `pair_features`, and the logarithms of the counts by distance."""
    counts = np.log1p(compute_distance_counts(graph, pairs, context))
    return np.column_stack([describe_pairs(graph, pairs, context, False), counts])


def compute_distance_counts(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k, 5) nodes at each two distances from the ends of (k, 2) pairs; symmetric in the ends.

    The counts A_ab and B_a, a, b ≤ 2, of Chamberlain et al., Graph neural networks for link
    prediction with subgraph sketching, ICLR 2023, §4.1, exact instead of sketched: A_ab counts
    nodes at distance a from one end and b from the other, B_a those at distance a from one end
    and more than 2 from the other. Only links that matter count: see `find_strong_links`.
    """
    n = graph.num_nodes
    links = graph.with_edges(graph.edges[find_strong_links(graph)]).adjacency
    order = np.argsort(pairs[:, 0], kind="stable")
    widths = np.minimum(links @ np.diff(links.indptr).astype(float), n) + 1.0
    counts = np.zeros((len(pairs), len(COUNT_COLUMNS)))
    tiles = split_by_work(widths[pairs[order]].sum(axis=1), TILE)
    for number, tile in enumerate(tiles):
        context.progress.update(number, len(tiles), "neighbours by distance")
        if len(tile):
            found = np.zeros((len(tile), len(COUNT_COLUMNS)))
            count_rings(links.indptr, links.indices, pairs[order[tile]], found)
            counts[order[tile]] = found
    return counts


def find_strong_links(graph: Graph) -> np.ndarray:
    """(m,) bool: links of at least half the weight-averaged weight, Σw² / Σw.

    All links of an unweighted graph; for link probabilities about those above ½.
    """
    weights = graph.link_weights
    typical = (weights**2).sum() / max(weights.sum(), 1e-300)
    return np.asarray((weights > 0) & (weights >= 0.5 * typical))
