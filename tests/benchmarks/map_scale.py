"""Places for a map at scale: `python -m tests.benchmarks.map_scale [PEOPLE LINKS]`.

Prints CPU seconds of the layout, and its stress against that of places drawn at random, on a
planted partition: 300 communities, five of six released links.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from core.algorithms.layout import compute_layout, find_pivots
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
    print_finite(main, *map(int, sys.argv[1:]))
