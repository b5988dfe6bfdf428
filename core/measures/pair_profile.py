"""How near the ends of visible links, withheld links and non-links are (PPGSL Table I).

Withheld links that are as far apart as non-links cannot be told from them; the profile shows by
which kind of nearness they can, before and after a defense.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from core.algorithms.kernels import find_pair_distances
from core.context import Context
from core.graph import Graph
from core.measures.intervals import measure_mean, measure_share
from core.results import Measurement
from core.threats import LinkThreat

Kind = Literal["visible", "hidden", "absent"]

MAX_PAIRS, MIN_PAIRS = 2000, 100
"""Pairs of a kind at most; more are sampled."""

MAX_STEPS = 100_000_000
"""Links followed for the paths of one kind, about three seconds: large graphs sample fewer."""

TILE = 20
"""Pairs between two reports of progress."""

EPOCHS, HIDDEN, OUT, LR, BATCH = 100, 128, 64, 0.01, 131_072


def compute_pair_profile(
    graph: Graph,
    hidden: np.ndarray,
    absent: np.ndarray,
    context: Context,
    visible: np.ndarray | None = None,
) -> dict[Kind, list[Measurement]]:
    """pair_path_length, pair_disconnected, pair_feature_cosine, pair_embedding_cosine by kind.

    graph    what the adversary sees: the visible graph or a release
    hidden, absent  (k, 2) pairs, as in LinkThreat
    visible  (k, 2) pairs, by default the links of `graph` itself

    Path lengths are means over connected pairs; links of weight 0 lead nowhere. Embeddings are
    GraphSAGE's, trained on `graph` without labels. The paper's attribute similarities (0.011
    for links of Cora) are inner products of row-normalised features; here they are cosines.
    """
    rows = {"feature": graph.features, "embedding": share_sage(graph, context)}
    visible = graph.edges if visible is None else visible
    return _compute_profile(graph, visible, hidden, absent, rows, context)


def measure_pair_profile(
    graph: Graph, threat: LinkThreat, context: Context, vectors: np.ndarray | None = None
) -> list[Measurement]:
    """The profile of a release as one list, `pair_path_length_hidden` and so on.

    vectors  (n, d) embeddings of the nodes, made from the release. Similarities of features
             and embeddings are left out where there are none.
    """
    rows = {"feature": graph.features, "embedding": vectors}
    known = {name: values for name, values in rows.items() if values is not None}
    profile = _compute_profile(graph, graph.edges, threat.hidden, threat.absent, known, context)
    return [
        replace(item, metric=f"{item.metric}_{kind}")
        for kind, items in profile.items()
        for item in items
    ]


def _compute_profile(
    graph: Graph,
    visible: np.ndarray,
    hidden: np.ndarray,
    absent: np.ndarray,
    rows: Mapping[str, np.ndarray | sparse.csr_array | None],
    context: Context,
) -> dict[Kind, list[Measurement]]:
    kinds: dict[Kind, np.ndarray] = {"visible": visible, "hidden": hidden, "absent": absent}
    rng, count = context.rng("pair_profile"), _count_pairs(graph)
    result: dict[Kind, list[Measurement]] = {}
    for kind, pairs in kinds.items():
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if len(pairs) > count:
            pairs = pairs[np.sort(rng.choice(len(pairs), count, replace=False))]
        result[kind] = [
            *_measure_paths(compute_path_lengths(graph, pairs, context)),
            *(
                _measure_cosine(f"pair_{name}_cosine", values, pairs)
                for name, values in rows.items()
            ),
        ]
    return result


def compute_path_lengths(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k,) steps between the ends of each pair, −1 where no path connects them."""
    adjacency = graph.adjacency
    if graph.weights is not None:
        adjacency = adjacency.copy()
        adjacency.eliminate_zeros()
    found = np.empty(len(pairs), np.int64)
    for start in range(0, len(pairs), TILE):
        part = slice(start, start + TILE)
        find_pair_distances(adjacency.indptr, adjacency.indices, pairs[part], found[part])
        context.progress.update(min(start + TILE, len(pairs)), len(pairs), "paths between pairs")
    return found


def share_sage(graph: Graph, context: Context) -> np.ndarray:
    """(n, 64) float32 GraphSAGE embeddings, computed once per release."""
    return context.share(("sage", graph.content_hash), lambda shared: compute_sage(graph, shared))


def compute_sage(graph: Graph, context: Context) -> np.ndarray:
    """Unsupervised GraphSAGE (Hamilton et al. 2017, Eq. 1), mean aggregator, two layers.

    Linked nodes are pulled together, as many random pairs apart, on the unit sphere.
    """
    import torch
    from torch.nn.functional import cosine_similarity, softplus

    from core.models.encoders import Block, Encoder, make_inputs, num_columns
    from core.models.training import train

    device = context.device.torch_name
    inputs = make_inputs(graph, device, "standard")
    block = Block.of_graph(graph, "sage", device)
    sizes = [num_columns(inputs), HIDDEN, OUT]
    encoder = Encoder("sage", sizes, context.seed.child("sage")).to(device)
    rng = context.rng("sage_pairs")

    def compute_loss(_epoch: int) -> torch.Tensor:
        vectors = encoder(inputs, block)
        links = graph.edges
        if len(links) > BATCH:
            links = links[rng.integers(0, len(links), BATCH)]
        others = rng.integers(0, graph.num_nodes, (len(links), 2))
        near, far = (
            cosine_similarity(vectors[pairs[:, 0]], vectors[pairs[:, 1]])
            for pairs in (torch.from_numpy(p.copy()).to(device) for p in (links, others))
        )
        return softplus(-near).mean() + softplus(far).mean()

    context.progress.check()
    if graph.num_edges:
        train(
            encoder.parameters(),
            compute_loss,
            epochs=EPOCHS,
            lr=LR,
            progress=context.progress,
            message="GraphSAGE embedding",
        )
    with torch.no_grad():
        return np.asarray(encoder(inputs, block).cpu().numpy())


def _count_pairs(graph: Graph) -> int:
    steps = graph.adjacency.nnz + graph.num_nodes
    count: int = min(max(MAX_STEPS // max(steps, 1), MIN_PAIRS), MAX_PAIRS)
    return count


def _measure_paths(lengths: np.ndarray) -> list[Measurement]:
    metrics = ("pair_path_length", "pair_disconnected")
    if not len(lengths):
        return [Measurement(metric, None, reason="no such pairs") for metric in metrics]
    connected = lengths >= 0
    return [
        measure_mean(metrics[0], lengths[connected], "no path connects any of the pairs"),
        measure_share(metrics[1], ~connected),
    ]


def _measure_cosine(
    metric: str, rows: np.ndarray | sparse.csr_array | None, pairs: np.ndarray
) -> Measurement:
    if rows is None:
        return Measurement(metric, None, reason="the graph has no features")
    left, right = rows[pairs[:, 0]], rows[pairs[:, 1]]

    def dot(a: Any, b: Any) -> np.ndarray:
        return np.asarray((a * b).sum(axis=1), dtype=np.float64).ravel()

    norms = np.sqrt(dot(left, left) * dot(right, right))
    # an end without any feature resembles nobody
    cosines = np.divide(dot(left, right), norms, out=np.zeros(len(pairs)), where=norms > 0)
    return measure_mean(metric, cosines, "no such pairs")
