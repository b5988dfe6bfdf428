"""PPGSL Table I: how near the ends of visible, hidden and absent links are, beside the paper.

    python -m tests.benchmarks.pair_profile [cora|lastfm_asia …]

10 % of the links hidden and 10 % held back for utility, five splits. The paper's attribute
similarities are not cosines (row-normalised inner products), so they are not beside ours. How it
trains GraphSAGE is not stated: ours pushes random pairs apart, to a cosine of 0.
"""

from __future__ import annotations

import sys

import numpy as np

from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.graph import Graph
from core.measures.intervals import combine_measurements
from core.measures.pair_profile import measure_pair_profile
from core.seeding import Seed
from tests.benchmarks.finite import print_finite

PAPER = {
    ("cora", "visible"): (1.000, 0.000, 0.900),
    ("cora", "hidden"): (3.206, 0.164, 0.702),
    ("cora", "absent"): (7.007, 0.254, 0.499),
    ("lastfm_asia", "visible"): (1.000, 0.000, 0.978),
    ("lastfm_asia", "hidden"): (2.480, 0.089, 0.947),
    ("lastfm_asia", "absent"): (5.560, 0.124, 0.820),
}
"""Path length, disconnected share, embedding cosine."""

METRICS = ("pair_path_length", "pair_disconnected", "pair_embedding_cosine", "pair_feature_cosine")


EPOCHS, HIDDEN, OUT, LR, BATCH = 100, 128, 64, 0.01, 131_072


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


def main(names: list[str]) -> None:
    for name in names or ["cora"]:
        graph = load_dataset(name).graph
        runs = []
        for seed in range(5):
            threats = draw_threats(graph, Seed(seed), hide_links=0.1, test_links=0.1)
            assert threats.link is not None
            context = Context(Seed(seed))
            vectors = compute_sage(threats.visible, context)
            runs.append(measure_pair_profile(threats.visible, threats.link, context, vectors))
        print(f"{name}: ours [95 %] | paper")
        for kind in ("visible", "hidden", "absent"):
            cells = []
            for index, metric in enumerate(METRICS):
                items = [m for run in runs for m in run if m.metric == f"{metric}_{kind}"]
                theirs = PAPER.get((name, kind), ())
                paper = f"{theirs[index]:.3f}" if index < len(theirs) else "—"
                cells.append(f"{metric} {combine_measurements(items):.3f} | {paper}")
            print(f"  {kind:8}", "   ".join(cells))


if __name__ == "__main__":
    print_finite(main, sys.argv[1:])
