"""Places for a map at scale: `python -m tests.benchmarks.map_scale [PEOPLE LINKS | GRAPH …]`.

Prints CPU seconds of the layout, and its stress against that of places drawn at random, on a
planted partition: 300 communities, five of six released links. Of graphs of the catalogue it prints
whether their communities are seen apart: silhouette and stress of the stored layout, and of the one
that is shown.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import numpy as np
from sklearn.metrics import silhouette_score

from core.algorithms.layout import compute_layout, find_pivots
from core.audit.jobs.layout import compute_arrays, lay_out
from core.data.catalogue import load_dataset
from core.graph import Graph
from tests.benchmarks.finite import print_finite
from tests.oracles.graphs import compute_stress

NUM_COMMUNITIES, INSIDE = 300, 5 / 6
SAMPLE = 2_000
"""People whose distances to the pivots tell the stress."""


def draw_planted(num_people: int, num_links: int, seed: int = 0) -> Graph:
    """About `num_links` links, a share `INSIDE` of them within a person's community."""
    rng = np.random.default_rng(seed)
    community = rng.integers(0, NUM_COMMUNITIES, num_people)
    order = np.argsort(community, kind="stable")
    sizes = np.bincount(community, minlength=NUM_COMMUNITIES)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ends = rng.integers(0, num_people, (round(1.013 * num_links), 2))
    own = community[ends[:, 0]]
    inside = order[starts[own] + (rng.random(len(own)) * sizes[own]).astype(int)]
    ends[:, 1] = np.where(rng.random(len(own)) < INSIDE, inside, ends[:, 1])
    return Graph.from_pairs(ends, num_people)


def measure_stress(graph: Graph, places: np.ndarray) -> float:
    """Over pairs of a sample of the people with 30 pivots."""
    rng = np.random.default_rng(1)
    pivots, distances = find_pivots(graph.adjacency, 30, rng)
    reached = np.flatnonzero((distances >= 0).all(axis=1))
    sample = rng.choice(reached, min(SAMPLE, len(reached)), replace=False)
    nodes = np.concatenate([pivots, sample])
    return compute_stress(places[nodes], distances[nodes])


def compare_layouts(names: Sequence[str]) -> None:
    """Silhouettes of communities of ten nodes or more, by distance alone and as shown."""
    for name in names:
        graph = load_dataset(name).graph
        arrays, shown = compute_arrays(graph), lay_out(graph)
        codes = shown.communities
        is_large = np.bincount(codes)[codes] >= 10
        told = [
            f"{title}: silhouette {silhouette_score(places[is_large], codes[is_large]):.2f}, "
            f"stress {measure_stress(graph, places.astype(float)):.3f}"
            for title, places in (("stored", arrays["positions"]), ("shown", shown.positions))
        ]
        print(f"{name}, {len(np.unique(codes[is_large]))} communities", *told, sep="; ")


def main(num_people: int = 100_000, num_links: int = 500_000) -> None:
    compute_layout(draw_planted(1_000, 5_000), np.random.default_rng(0))  # compiles
    graph = draw_planted(num_people, num_links)
    started = time.process_time()
    places = compute_layout(graph, np.random.default_rng(0))
    seconds = time.process_time() - started
    chance = np.random.default_rng(2).uniform(-1, 1, places.shape)
    print(
        f"{graph.num_nodes:,} people, {graph.num_edges:,} links: {seconds:.1f} CPU s, stress "
        f"{measure_stress(graph, places):.3f}, at random {measure_stress(graph, chance):.3f}"
    )


if __name__ == "__main__":
    if any(not word.isdigit() for word in sys.argv[1:]):
        print_finite(compare_layouts, sys.argv[1:])
    else:
        print_finite(main, *map(int, sys.argv[1:]))
