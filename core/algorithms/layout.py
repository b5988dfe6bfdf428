"""Layout of all nodes in the plane.

PivotMDS (Brandes & Pich 2006) from shortest paths to a few pivots, then majorization of the sparse
stress model (Ortmann, Klimenta & Brandes 2017, Eq. 5), in O((n + m) · pivots) time and O(n ·
pivots) memory. Links have length one. Components are laid out separately and packed by size.
"""

from __future__ import annotations

import numba
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from core.algorithms.kernels import search_breadth_first
from core.graph import Graph
from core.progress import Progress

NUM_PIVOTS = 50
NUM_ROUNDS = 30
SMALL = 4
"""Components up to this size are placed on a circle."""

MARGIN = 0.15
"""Margin of each component's square, as a share."""

SPREAD = 0.8
"""Exponent of the radial rescaling, which gives the dense centre of small worlds more room."""

GATHER_ROUNDS, GATHER_SHARE = 4, 0.4
"""Rounds and step size of moves towards the neighbours' mean. Stress alone puts the many nodes
at similar distances on a ring; these moves separate communities."""

_JITTER = 0.05
"""Jitter for nodes with equal distances to all pivots, which majorization cannot separate."""


def compute_layout(
    graph: Graph, rng: np.random.Generator, progress: Progress | None = None
) -> np.ndarray:
    """(n, 2) float64 positions within [-1, 1]; each component's area is proportional to its
    size, the largest first. Deterministic for a generator state."""
    progress = progress or Progress()
    adjacency = graph.adjacency
    _, labels = connected_components(adjacency, directed=False)
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = _place_on_circles(labels, order, starts)
    large = np.flatnonzero(sizes > SMALL)
    for done, label in enumerate(large[np.argsort(-sizes[large], kind="stable")]):
        members = order[starts[label] : starts[label + 1]]
        part = sparse.csr_array(adjacency[members][:, members]) if len(sizes) > 1 else adjacency
        component_progress = None if done else progress
        placed = lay_out_connected(part, rng, progress=component_progress)
        places[members] = _fit(spread_out(gather_neighbors(part, placed)))
        progress.update(done + 1, len(large), "placing the components")
    return _pack(places, labels, sizes)


def lay_out_connected(
    adjacency: sparse.csr_array,
    rng: np.random.Generator,
    num_pivots: int = NUM_PIVOTS,
    progress: Progress | None = None,
) -> np.ndarray:
    """(n, 2) positions of a connected graph."""
    progress = progress or Progress()
    pivots, distances = find_pivots(adjacency, num_pivots, rng, progress)
    places = place_by_pivots(distances)
    places += _JITTER * rng.standard_normal(places.shape)
    weights = weigh_pivots(distances)
    indptr, indices = adjacency.indptr, adjacency.indices
    for index in range(NUM_ROUNDS):
        majorize(indptr, indices, pivots, distances, weights, places)
        progress.update(len(pivots) + index + 1, len(pivots) + NUM_ROUNDS, "placing the people")
    return places


def find_pivots(
    adjacency: sparse.csr_array,
    count: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(k,) nodes far from each other and (n, k) int32 distances of each node to them.

    The first is random, each next one maximises the distance to those before (max-min).
    """
    progress = progress or Progress()
    n = adjacency.shape[0]
    count = min(count, n)
    pivots = np.empty(count, np.int64)
    distances = np.empty((n, count), np.int32)
    queue, steps = np.empty(n, np.int32), np.empty(n, np.int32)
    total, farthest = np.empty(1, np.int64), np.empty(1, np.int64)
    nearest = np.full(n, np.iinfo(np.int32).max, np.int32)
    pivot = int(rng.integers(n))
    for index in range(count):
        pivots[index] = pivot
        search_breadth_first(
            *(adjacency.indptr, adjacency.indices, pivots[index : index + 1]),
            *(steps, queue, total, farthest),
        )
        distances[:, index] = steps
        nearest = np.minimum(nearest, steps)
        pivot = int(nearest.argmax())
        progress.update(index + 1, count + NUM_ROUNDS, "measuring how far people are apart")
    return pivots, distances


def place_by_pivots(distances: np.ndarray) -> np.ndarray:
    """(n, 2) PivotMDS positions from (n, k) distances; with all nodes as pivots classical MDS.

    The two longest axes of the doubly centred squares, scaled as by classical MDS.
    """
    n, k = distances.shape
    squares = distances.astype(np.float64) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    centred *= -0.5
    values, vectors = np.linalg.eigh(centred.T @ centred)
    lengths = np.sqrt(np.maximum(values[::-1][:2], 0.0))
    axes = centred @ vectors[:, ::-1][:, :2]
    scale = (n / k) ** 0.25 / np.sqrt(np.maximum(lengths, 1e-12))
    places = np.zeros((n, 2))
    places[:, : axes.shape[1]] = axes * scale
    flips = np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])
    return np.asarray(places * np.where(flips == 0, 1.0, flips))


def weigh_pivots(distances: np.ndarray) -> np.ndarray:
    """(n, k) float32 weights of the stress terms between nodes and pivots: a pivot represents
    the nodes of its region at most half as far from it as the given node."""
    n, k = distances.shape
    region = distances.argmin(axis=1)
    weights = np.zeros((n, k), np.float32)
    for pivot in range(k):
        steps = distances[:, pivot]
        cumulative = np.cumsum(np.bincount(steps[region == pivot], minlength=steps.max() + 1))
        others = steps > 0
        weights[others, pivot] = cumulative[steps[others] // 2] / steps[others].astype(float) ** 2
    return weights


@numba.njit(nogil=True, cache=True)
def majorize(
    indptr: np.ndarray,
    indices: np.ndarray,
    pivots: np.ndarray,
    distances: np.ndarray,
    weights: np.ndarray,
    places: np.ndarray,
) -> None:
    """One in-place round of majorization with target distance 1 to neighbours and `distances` to
    pivots."""
    for i in range(len(indptr) - 1):
        x, y, total = 0.0, 0.0, 0.0
        for a in range(indptr[i], indptr[i + 1]):
            j = indices[a]
            dx, dy = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1]
            stretch = 1.0 / max(np.sqrt(dx * dx + dy * dy), 1e-9)
            x += places[j, 0] + dx * stretch
            y += places[j, 1] + dy * stretch
            total += 1.0
        for k in range(len(pivots)):
            weight = weights[i, k]
            if weight == 0.0:
                continue
            j = pivots[k]
            dx, dy = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1]
            stretch = distances[i, k] / max(np.sqrt(dx * dx + dy * dy), 1e-9)
            x += weight * (places[j, 0] + dx * stretch)
            y += weight * (places[j, 1] + dy * stretch)
            total += weight
        if total > 0.0:
            places[i, 0] = x / total
            places[i, 1] = y / total


def gather_neighbors(adjacency: sparse.csr_array, places: np.ndarray) -> np.ndarray:
    """(n, 2) places after `GATHER_ROUNDS` steps towards the mean of each node's neighbours.

    adjacency  of a connected graph; link weights are ignored
    """
    links = sparse.csr_array(adjacency != 0, dtype=float)
    degrees = np.maximum(links.sum(axis=1), 1)[:, None]
    for _ in range(GATHER_ROUNDS):
        places = (1 - GATHER_SHARE) * places + GATHER_SHARE * (links @ places) / degrees
    return places


def spread_out(places: np.ndarray, share: float = SPREAD) -> np.ndarray:
    """Rescale distances from the mean, keeping directions and order: `share` of the way towards
    an evenly filled disc."""
    middle = places.mean(axis=0)
    offsets = places - middle
    radius = np.linalg.norm(offsets, axis=1)
    rank = np.empty(len(radius))
    rank[np.argsort(radius, kind="stable")] = np.arange(1, len(radius) + 1)
    even = np.sqrt(rank / len(radius)) * radius.max()
    target_radius = (1 - share) * radius + share * even
    return np.asarray(middle + offsets * (target_radius / np.maximum(radius, 1e-9))[:, None])


def _place_on_circles(labels: np.ndarray, order: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Nodes on their component's circle; singletons in its centre."""
    rank = np.empty(len(labels))
    rank[order] = np.arange(len(labels)) - starts[labels[order]]
    sizes = np.diff(starts)[labels]
    angle = 2 * np.pi * rank / sizes
    radius = np.where(sizes > 1, 0.5 * (1 - MARGIN), 0.0)[:, None]
    return np.asarray(radius * np.column_stack([np.cos(angle), np.sin(angle)]))


def _fit(places: np.ndarray) -> np.ndarray:
    """Scale into the square of side 1 around the origin, less the margin."""
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray(
        (places - (low + high) / 2) * (1 - MARGIN) / max(float((high - low).max()), 1e-9)
    )


def _pack(places: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Pack the components' squares, side √size, in rows below the largest one."""
    sides = np.sqrt(sizes)
    order = np.argsort(-sizes, kind="stable")
    width = max(float(sides[order[0]]), float(np.sqrt(sizes.sum())))
    corners = np.zeros((len(sizes), 2))
    x = y = height = 0.0
    for label in order:
        side = sides[label]
        if x + side > width * (1 + 1e-9):
            x, y, height = 0.0, y + height, 0.0
        corners[label] = x, -y
        x, height = x + side, max(height, side)
    centres = corners + np.column_stack([sides, -sides]) / 2
    packed = centres[labels] + places * sides[labels][:, None]
    low, high = packed.min(axis=0), packed.max(axis=0)
    half = max(float((high - low).max()) / 2, 1e-9)
    return np.asarray((packed - (low + high) / 2) / half)
