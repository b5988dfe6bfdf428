"""Time and memory of the link attacks on a random graph of 100,000 nodes and 500,000 links.

    python -m tests.benchmarks.link_attacks_scale [heuristics node2vec seal gae katz pagerank]

Goals on one core: CN, AA and RA together score a million pairs in under 5 s; SEAL trains and
scores 20,000 pairs within 15 minutes and 8 GB; node2vec embeds within 10 minutes. The peak is
the process's so far: run one part alone for its own.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from core.algorithms.pairs import sample_non_links
from core.context import Context, SharedWork
from core.graph import Graph
from core.progress import Progress
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.benchmarks.finite import print_finite

NODES, LINKS = 100_000, 500_000


class PrintedProgress(Progress):
    """A line on stderr every ten seconds of computing."""

    def __init__(self) -> None:
        self._printed = time.process_time()

    def update(self, done: float, total: float, message: str = "") -> None:
        now = time.process_time()
        if now - self._printed > 10:
            self._printed = now
            print(f"{message}: {done / total:.0%}, {now:.0f} CPU s", file=sys.stderr, flush=True)


def make_threat(graph: Graph, num_pairs: int) -> LinkThreat:
    """Half links, half non-links; on a random graph there is nothing to infer, only work."""
    rng = np.random.default_rng(1)
    half = num_pairs // 2
    links = graph.edges[np.sort(rng.choice(graph.num_edges, min(half, LINKS // 2), False))]
    return LinkThreat(links, sample_non_links(graph, num_pairs - len(links), rng), 0.1)


def score_with(keys: tuple[str, ...], num_pairs: int) -> Callable[[Graph], None]:
    def work(graph: Graph) -> None:
        threat, shared = make_threat(graph, num_pairs), SharedWork()
        began = time.process_time()
        context = Context(Seed(0), progress=PrintedProgress(), shared=shared)
        for key in keys:
            make_method(key).score(Release(graph), threat, context)
        seconds = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        print(
            f"{', '.join(keys):60}{num_pairs:10,} pairs{seconds:9.1f} CPU s{peak:7.2f} GB peak",
            flush=True,
        )

    return work


PARTS = {
    "heuristics": score_with(("common_neighbors", "adamic_adar", "resource_allocation"), 1_000_000),
    "node2vec": score_with(("node2vec_cosine", "node2vec_svc"), 100_000),
    "seal": score_with(("seal",), 20_000),
    "gae": score_with(("gae_cosine", "gae_svc"), 100_000),
    "katz": score_with(("katz",), 100_000),
    "pagerank": score_with(("personalized_pagerank",), 100_000),
}


def main() -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, NODES, (LINKS + 2000, 2))
    graph = Graph.from_pairs(pairs[pairs[:, 0] != pairs[:, 1]][: LINKS + 50], NODES)
    print(graph)
    for name in sys.argv[1:] or PARTS:
        PARTS[name](graph)


if __name__ == "__main__":
    print_finite(main)
