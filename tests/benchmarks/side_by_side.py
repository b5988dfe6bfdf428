"""Our graph algorithms beside libraries: `python -m tests.benchmarks.side_by_side [--nodes N]`.

    pip install networkit igraph scikit-network texttable

Each task runs on the same heavy-tailed graph (Chung and Lu) in one process on one thread, ours
first; the best of three runs counts. Prints seconds, a figure by which results are comparable, and
the ratio of ours to the best library. A library that is not installed is left out.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import sparse

from core.algorithms.communities import find_communities
from core.algorithms.fingerprints import count_links_and_triangles
from core.algorithms.kernels import search_breadth_first, sum_common_neighbors
from core.algorithms.layout import find_pivots, place_by_pivots
from core.graph import Graph
from tests.benchmarks.fingerprints_scale import draw_heavy_tailed
from tests.benchmarks.finite import print_finite

Task = Callable[[], Any]
NUM_PAIRS = 200_000
NUM_SOURCES = 50
NUM_PIVOTS = 50


def time_best(task: Task, runs: int = 3) -> tuple[float, Any]:
    """Seconds of the fastest run, and its result."""
    best, result = np.inf, None
    for _ in range(runs):
        started = time.perf_counter()
        result = task()
        best = min(best, time.perf_counter() - started)
    return best, result


def compute_modularity(graph: Graph, labels: np.ndarray) -> float:
    """Modularity of (n,) community labels."""
    left, right = labels[graph.edges].T
    shares = np.bincount(labels, graph.degrees) / (2 * graph.num_edges)
    return float((left == right).mean() - (shares**2).sum())


def find_library(name: str) -> Any:
    """The module, or None where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def list_tasks(graph: Graph) -> Iterator[tuple[str, Callable[[Any], float], dict[str, Task]]]:
    """Name of a task, how its result is summed up, and who computes it how."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(graph.num_nodes, size=(NUM_PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    sources = rng.integers(graph.num_nodes, size=NUM_SOURCES)
    adjacency, ends = graph.adjacency, graph.edges.tolist()
    indptr, indices = adjacency.indptr, adjacency.indices
    networkit, igraph = find_library("networkit"), find_library("igraph")
    network, matrix = find_library("sknetwork"), sparse.csr_matrix(adjacency)
    other = igraph and igraph.Graph(n=graph.num_nodes, edges=ends)
    if networkit:
        networkit.setNumberOfThreads(1)
        third = networkit.GraphFromCoo(
            (graph.edges[:, 0].copy(), graph.edges[:, 1].copy()), n=graph.num_nodes
        )

    def sum_pairs() -> np.ndarray:
        sums = np.zeros((len(pairs), 2))
        factors = np.ones((graph.num_nodes, 1))
        sum_common_neighbors(indptr, indices, adjacency.data, pairs, factors, sums)
        return sums[:, 0]

    def sum_steps() -> np.ndarray:
        totals, farthest = np.zeros(NUM_SOURCES), np.zeros(NUM_SOURCES)
        distances, queue = np.empty((2, graph.num_nodes), np.int32)
        search_breadth_first(indptr, indices, sources, distances, queue, totals, farthest)
        return farthest

    def run_networkit(algorithm: Any) -> Any:
        return algorithm.run()

    tasks: dict[str, Task] = {"ours": lambda: find_communities(graph, np.random.default_rng(0))}
    if networkit:
        tasks["NetworKit"] = lambda: np.array(
            run_networkit(networkit.community.PLM(third)).getPartition().getVector()
        )
    if igraph:
        tasks["igraph"] = lambda: np.array(other.community_multilevel().membership)
    if network:
        tasks["scikit-network"] = lambda: network.clustering.Louvain().fit_predict(matrix)
    yield "Louvain (modularity)", lambda labels: compute_modularity(graph, labels), tasks

    tasks = {"ours": lambda: count_links_and_triangles(graph)[1].sum() / 3}
    if networkit:
        third.indexEdges()
        tasks["NetworKit"] = lambda: (
            sum(run_networkit(networkit.sparsification.TriangleEdgeScore(third)).scores()) / 3
        )
    if igraph:
        tasks["igraph"] = lambda: len(other.list_triangles())
    if network:
        tasks["scikit-network"] = lambda: network.topology.count_triangles(matrix)
    yield "triangles (number)", float, tasks

    tasks = {"ours": sum_pairs}
    if igraph:
        tasks["igraph"] = lambda: np.array(
            [len(set(other.neighbors(i)) & set(other.neighbors(j))) for i, j in pairs]
        )
    if networkit:
        index = networkit.linkprediction.CommonNeighborsIndex(third)
        tasks["NetworKit"] = lambda: np.array([score for _, score in index.runOn(pairs.tolist())])
    yield f"common neighbours of {NUM_PAIRS:,} pairs (sum)", np.sum, tasks

    tasks = {"ours": sum_steps}
    if igraph:
        tasks["igraph"] = lambda: np.array(
            [
                max(s for s in row if s < np.inf)
                for row in other.distances(source=np.unique(sources).tolist())
            ]
        )
    if networkit:
        tasks["NetworKit"] = lambda: np.array(
            [
                max(
                    s
                    for s in run_networkit(
                        networkit.distance.BFS(third, int(v), False)
                    ).getDistances()
                    if s < 1e9
                )
                for v in sources
            ]
        )
    yield f"breadth-first search from {NUM_SOURCES} nodes (largest)", np.max, tasks

    tasks = {
        "ours": lambda: place_by_pivots(
            find_pivots(adjacency, NUM_PIVOTS, np.random.default_rng(0))[1]
        )
    }
    if networkit:
        tasks["NetworKit"] = lambda: np.array(
            run_networkit(networkit.viz.PivotMDS(third, 2, NUM_PIVOTS)).getCoordinates()
        )
    yield f"layout by PivotMDS, {NUM_PIVOTS} pivots (nodes)", len, tasks


def list_layers(graph: Graph) -> Iterator[tuple[str, Callable[[Any], float], dict[str, Task]]]:
    """A graph convolution, forward and backward, beside PyG's on an edge list and on CSR."""
    import torch
    from torch_geometric.nn import GCNConv
    from torch_geometric.utils import to_torch_csr_tensor

    from core.models.encoders import Block, GcnLayer

    torch.set_num_threads(1)
    x = torch.randn(graph.num_nodes, 64, generator=torch.Generator().manual_seed(0))
    block = Block.of_graph(graph, "gcn")
    own = GcnLayer(64, 64, torch.Generator().manual_seed(0))
    layers = GCNConv(64, 64, cached=True), GCNConv(64, 64, cached=True)
    edges = torch.from_numpy(np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.copy())

    csr = to_torch_csr_tensor(edges, size=(graph.num_nodes, graph.num_nodes))

    def step(run: Callable[[], Any]) -> float:
        loss = run().square().mean()
        loss.backward()
        return loss.item()

    yield (
        "graph convolution, 64 columns, forward and backward (nodes)",
        lambda _loss: graph.num_nodes,
        {
            "ours": lambda: step(lambda: own(x, block)),
            "PyG, edge list": lambda: step(lambda: layers[0](x, edges)),
            "PyG, CSR": lambda: step(lambda: layers[1](x, csr)),
        },
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=30_000)
    parser.add_argument("--links", type=int, default=200_000)
    options = parser.parse_args()
    graph = draw_heavy_tailed(options.nodes, options.links)
    print(f"{graph.num_nodes:,} nodes, {graph.num_edges:,} links")
    for make in (list_tasks, list_layers):
        for name, summarize, tasks in make(graph):
            found = {}
            for who, task in tasks.items():
                seconds, result = time_best(task)
                found[who] = seconds
                print(f"{name}: {who} {seconds:.4f} s, {summarize(result):,.6g}", flush=True)
            rest = [seconds for who, seconds in found.items() if who != "ours"]
            if rest:
                print(f"{name}: ratio {found['ours'] / min(rest):.2f}")


if __name__ == "__main__":
    print_finite(main)
