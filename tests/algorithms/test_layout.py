"""Places on the map: classical MDS and naive loops as oracles, and what a map must keep."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from core.algorithms.layout import (
    compute_layout,
    find_pivots,
    gather_neighbors,
    lay_out_connected,
    majorize,
    place_by_pivots,
    spread_out,
    weigh_pivots,
)
from core.errors import RunCancelled
from core.graph import Graph
from core.progress import Progress
from tests.oracles.graphs import compute_stress, two_communities


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def make_graph(net: nx.Graph) -> Graph:
    return Graph.from_pairs(np.array(net.edges), net.number_of_nodes())


def measure_lengths(places: np.ndarray) -> np.ndarray:
    return np.linalg.norm(places[:, None] - places[None], axis=2)


GRAPHS = {
    "grid": make_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 9))),
    "tree": make_graph(nx.random_labeled_tree(40, seed=2)),
    "karate": make_graph(nx.convert_node_labels_to_integers(nx.karate_club_graph())),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_all_nodes_as_pivots_give_classical_mds(name):
    adjacency = GRAPHS[name].adjacency
    n = adjacency.shape[0]
    pivots, distances = find_pivots(adjacency, n, rng())
    assert sorted(pivots) == list(range(n))
    steps = shortest_path(adjacency, unweighted=True)
    assert np.array_equal(distances, steps[:, pivots])
    centring = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centring @ steps**2 @ centring)
    classical = vectors[:, -2:] * np.sqrt(values[-2:])
    np.testing.assert_allclose(
        measure_lengths(place_by_pivots(distances)), measure_lengths(classical), atol=1e-9
    )


def test_pivots_lie_far_apart():
    adjacency = GRAPHS["grid"].adjacency
    pivots, distances = find_pivots(adjacency, 4, rng())
    for k in range(1, 4):
        nearest = distances[:, :k].min(axis=1)
        assert nearest[pivots[k]] == nearest.max()


def test_weights_count_the_near_half_of_a_region():
    _, distances = find_pivots(GRAPHS["karate"].adjacency, 6, rng())
    region = distances.argmin(axis=1)
    for i, row in enumerate(weigh_pivots(distances)):
        for k, weight in enumerate(row):
            d = distances[i, k]
            near = sum(region[j] == k and distances[j, k] <= d / 2 for j in range(len(distances)))
            assert weight == pytest.approx(near / d**2 if d else 0.0)


def test_a_round_of_majorization_is_the_naive_one():
    adjacency = GRAPHS["karate"].adjacency
    pivots, distances = find_pivots(adjacency, 5, rng())
    weights = weigh_pivots(distances)
    places = rng().normal(size=(len(distances), 2))
    expected = places.copy()
    for i in range(len(expected)):
        start, stop = adjacency.indptr[i : i + 2]
        terms = [(j, 1.0, 1.0) for j in adjacency.indices[start:stop]]
        terms += [(p, distances[i, k], weights[i, k]) for k, p in enumerate(pivots) if p != i]
        moved = sum(
            w * (expected[j] + d * (expected[i] - expected[j]) / np.linalg.norm(
                expected[i] - expected[j]
            ))
            for j, d, w in terms
        )  # fmt: skip
        expected[i] = moved / sum(w for _, _, w in terms)
    majorize(adjacency.indptr, adjacency.indices, pivots, distances, weights, places)
    np.testing.assert_allclose(places, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", [*GRAPHS, "two_communities"])
def test_stress_falls_from_chance_to_pivots_to_majorized(name):
    graph = GRAPHS.get(name) or two_communities()
    adjacency = graph.adjacency
    steps = shortest_path(adjacency, unweighted=True)
    chance = compute_stress(rng().uniform(-1, 1, (graph.num_nodes, 2)), steps)
    _, distances = find_pivots(adjacency, 15, rng())
    start = compute_stress(place_by_pivots(distances), steps)
    placed = lay_out_connected(adjacency, rng(), 15)
    assert compute_stress(placed, steps) < start < chance
    assert compute_stress(spread_out(placed), steps) < 0.75 * chance


def test_stress_of_true_distances_is_none_at_any_scale():
    points = rng().normal(size=(12, 2))
    assert compute_stress(3 * points, measure_lengths(points)) == pytest.approx(0, abs=1e-12)
    moved = points.copy()
    moved[0] += 1
    assert compute_stress(moved, measure_lengths(points)) > 0.001


def test_neighbours_stand_near_each_other():
    graph = two_communities()
    places = compute_layout(graph, rng())
    lengths = measure_lengths(places)
    linked = lengths[graph.edges[:, 0], graph.edges[:, 1]].mean()
    assert linked < 0.8 * lengths[np.triu_indices(graph.num_nodes, 1)].mean()
    side = graph.column("private").codes
    middles = [places[side == c].mean(axis=0) for c in (0, 1)]
    nearer = np.linalg.norm(places - middles[1], axis=1) < np.linalg.norm(
        places - middles[0], axis=1
    )
    assert (nearer == side).mean() > 0.9


def test_communities_stand_apart():
    """Dense groups, each with many who have a single link: equally far from everything else."""
    groups, size, leaves = 6, 30, 60
    net = nx.random_partition_graph([size] * groups, 0.3, 0.01, seed=1)
    for group in range(groups):
        for leaf in range(leaves):
            net.add_edge(size * group + leaf % size, f"{group}-{leaf}")
    names = [n // size if isinstance(n, int) else int(n.split("-")[0]) for n in net.nodes]
    net = nx.convert_node_labels_to_integers(net)
    places, side = compute_layout(make_graph(net), rng()), np.array(names)
    middles = np.array([places[side == g].mean(axis=0) for g in range(groups)])
    nearest = np.linalg.norm(places[:, None] - middles[None], axis=2).argmin(axis=1)
    assert (nearest == side).mean() > 0.85  # by stress alone 0.74


def test_a_step_towards_the_neighbours_is_the_mean_of_a_loop(monkeypatch):
    monkeypatch.setattr("core.algorithms.layout.GATHER_ROUNDS", 1)
    graph = GRAPHS["karate"]
    places = rng().normal(size=(graph.num_nodes, 2))
    moved = gather_neighbors(graph.adjacency, places)
    for node in range(graph.num_nodes):
        others = [places[j] for edge in graph.edges for j in edge if node in edge and j != node]
        np.testing.assert_allclose(moved[node], 0.6 * places[node] + 0.4 * np.mean(others, axis=0))


def test_spreading_keeps_directions_and_order():
    places = rng().normal(size=(50, 2)) ** 3
    spread = spread_out(places, 0.5)
    before, after = places - places.mean(axis=0), spread - places.mean(axis=0)
    radius = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
    assert np.array_equal(np.argsort(radius[0]), np.argsort(radius[1]))
    np.testing.assert_allclose(before / radius[0][:, None], after / radius[1][:, None])
    assert np.median(radius[1]) > np.median(radius[0])


def test_components_have_squares_of_their_own():
    parts = [nx.path_graph(1)] * 5 + [nx.path_graph(2), nx.cycle_graph(3), nx.path_graph(6)]
    net = nx.disjoint_union_all([nx.grid_2d_graph(4, 4), *parts])
    graph = make_graph(nx.convert_node_labels_to_integers(net))
    places = compute_layout(graph, rng())
    assert places.shape == (graph.num_nodes, 2)
    assert np.abs(places).max() == pytest.approx(1)
    boxes = []
    for members in nx.connected_components(nx.convert_node_labels_to_integers(net)):
        own = places[sorted(members)]
        boxes.append((own.min(axis=0), own.max(axis=0)))
    for a, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:a]:
            assert (low > other_high).any() or (high < other_low).any()


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_graphs_without_links_have_room_for_everybody(n):
    places = compute_layout(Graph.from_pairs(np.zeros((0, 2), int), n), rng())
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(6), axis=0)) == n


def test_the_same_generator_gives_the_same_places():
    graph = two_communities()
    before = graph.content_hash
    first, second = compute_layout(graph, rng()), compute_layout(graph, rng())
    assert np.array_equal(first, second)
    assert not np.array_equal(first, compute_layout(graph, np.random.default_rng(4)))
    assert graph.content_hash == before


def test_leaves_of_a_star_are_not_one_point():
    star = sparse.csr_array(nx.to_scipy_sparse_array(nx.star_graph(30)))
    places = lay_out_connected(star, rng())
    lengths = measure_lengths(places)[np.triu_indices(31, 1)]
    assert lengths.min() > 0.01


class Stopped(Progress):
    def check(self) -> None:
        raise RunCancelled


def test_it_stops_when_cancelled():
    with pytest.raises(RunCancelled):
        compute_layout(two_communities(), rng(), progress=Stopped())
