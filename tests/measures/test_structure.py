import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.audit.computing.measuring import measure_release
from core.context import Context
from core.graph import Graph
from core.measures import structure
from core.measures.metrics import STATISTICS
from core.measures.structure import compute_mmd, compute_statistics, measure_structure
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats


def context(seed=0):
    return Context(Seed(seed))


def values(measurements):
    return {m.metric: m.value for m in measurements}


def networkx_statistics(graph):
    g = graph.to_networkx()
    degrees = np.array([d for _, d in g.degree])
    largest = g.subgraph(max(nx.connected_components(g), key=len))
    star3 = sum(d * (d - 1) * (d - 2) // 6 for d in degrees)
    entropy = stats.entropy(degrees[degrees > 0]) / np.log(len(degrees))
    return {
        "triangle_count": sum(nx.triangles(g).values()) / 3,
        "wedge_count": sum(1 for v in g for a in g[v] for b in g[v] if a < b),
        "claw_count": star3,
        "edge_entropy": entropy,
        "path_length": nx.average_shortest_path_length(largest),
        "diameter": nx.diameter(largest),
        "largest_component": len(largest),
        "average_clustering": nx.average_clustering(g),
    }


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_statistics_equal_networkx(name):
    graph = GRAPHS[name]()
    if graph.weights is not None:
        graph = Graph.from_pairs(graph.edges, graph.num_nodes)
    ours = {k: m.value for k, m in compute_statistics(graph, context()).statistics.items()}
    assert ours == pytest.approx(networkx_statistics(graph))
    assert set(ours) == set(STATISTICS)


@given(st.integers(0, 10**6), st.integers(2, 40))
@settings(max_examples=40)
def test_triangles_and_clustering_of_random_graphs(seed, n):
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(rng.integers(0, n, (rng.integers(1, 4 * n), 2)), n)
    shape = compute_statistics(graph, context())
    expected = nx.clustering(graph.to_networkx())
    np.testing.assert_allclose(shape.clustering, [expected[v] for v in range(n)])


def test_sampled_distances_enclose_the_exact_ones(monkeypatch):
    g = nx.connected_watts_strogatz_graph(200, 4, 0.05, seed=1)
    graph = Graph.from_pairs(np.array(g.edges), 200)
    exact = networkx_statistics(graph)
    monkeypatch.setattr(structure, "EXACT_STEPS", 1)
    inside = 0
    for seed in range(20):
        found = compute_statistics(graph, context(seed)).statistics
        path = found["path_length"]
        assert path.n == 64
        assert path.variance > 0
        inside += abs(path.value - exact["path_length"]) <= 2 * path.variance**0.5
        diameter = found["diameter"]
        half = 1.96 * diameter.variance**0.5 + 1e-9
        assert diameter.value - half <= exact["diameter"] <= diameter.value + half
        assert half < 3
    assert inside >= 16


def test_the_bounds_on_the_diameter_meet():
    g = nx.barabasi_albert_graph(500, 3, seed=2)
    adjacency = Graph.from_pairs(np.array(g.edges), 500).adjacency
    exact = nx.diameter(g)
    bounds = structure._bound_diameter(adjacency.indptr, adjacency.indices, 1, context(), 200)
    assert bounds == (exact, exact)
    low, high = structure._bound_diameter(adjacency.indptr, adjacency.indices, 1, context(), 1)
    assert low < exact < high


def test_the_original_compared_with_itself():
    graph = GRAPHS["two_communities"]()
    result = values(measure_structure(graph, graph, context()))
    assert result["links_kept"] == result["link_f1"] == 1
    assert result["links_added"] == result["degree_ks"] == 0
    assert result["mmd_degree"] == result["mmd_clustering"] == 0
    assert all(result[f"mre_{key}"] == 0 for key in STATISTICS)


def test_changes_are_counted_and_compared():
    graph = GRAPHS["two_communities"]()
    removed, added = graph.edges[:10], np.array([[0, 39], [1, 38], [2, 37]])
    added = added[~graph.contains_pairs(added)]
    released = graph.with_edges(np.concatenate([graph.edges[10:], added]))
    result = values(measure_structure(graph, released, context()))
    assert result["links_kept"] == pytest.approx(1 - len(removed) / graph.num_edges)
    assert result["links_added"] == len(added) / graph.num_edges
    kept = graph.num_edges - len(removed)
    precision, recall = kept / (kept + len(added)), kept / graph.num_edges
    assert result["link_f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert result["link_error"] == pytest.approx((10 + len(added)) / graph.num_pairs)
    before, after = networkx_statistics(graph), networkx_statistics(released)
    for key in STATISTICS:
        assert result[key] == pytest.approx(after[key])
        error = abs(after[key] - before[key]) / before[key]
        assert result[f"mre_{key}"] == pytest.approx(error)
    grid = np.arange(40)
    gap = [(graph.degrees <= d).mean() - (released.degrees <= d).mean() for d in grid]
    assert result["degree_ks"] == pytest.approx(np.abs(gap).max())


def test_a_cell_compares_the_release_with_the_original():
    """A release of half the links keeps half of them and adds none; the reverse adds as many."""
    threats = make_threats(GRAPHS["two_communities"]())
    visible = threats.visible
    half = Release(visible.without_edges(visible.edges[::2]))
    result = values(measure_release("structure", half, threats, context())[0])
    assert result["links_kept"] == pytest.approx(half.graph.num_edges / visible.num_edges)
    assert result["links_added"] == 0


def test_mmd_is_graph_rnns_kernel_on_the_distance_of_the_distribution_functions():
    left, right = np.array([0, 1, 1, 3.0]), np.array([1, 2, 2, 2, 5.0])
    grid = np.linspace(-1, 6, 7001)
    gap = [np.abs((left <= x).mean() - (right <= x).mean()) for x in grid]
    distance = np.trapezoid(gap, grid)
    assert compute_mmd(left, right, 1.0) == pytest.approx(2 - 2 * np.exp(-(distance**2) / 2), 1e-3)
    assert compute_mmd(left, left, 0.1) == 0


def test_weighted_releases_are_read_as_documented():
    graph = Graph.from_pairs(np.array([[0, 1], [1, 2], [2, 3], [3, 4]]), 5)
    release = Graph.from_pairs(
        np.array([[0, 1], [0, 4], [1, 2], [2, 4]]), 5, weights=np.array([0.9, 0.1, 0.8, 0.2])
    )
    result = values(measure_structure(graph, release, context()))
    assert result["links_kept"] == 0.5  # the two heaviest of weights that sum to 2
    assert result["links_added"] == 0
    assert result["link_error"] == pytest.approx((0.1 + 0.1 + 0.2 + 0.2 + 1 + 1) / 10)
    weighted = Graph.from_pairs(graph.edges, 5, weights=np.ones(4))
    both = values(measure_structure(weighted, release, context()))
    assert both["links_added"] == 0.5  # all four count


def test_a_release_without_links_gives_reasons():
    graph = GRAPHS["two_communities"]()
    empty = graph.with_edges(np.zeros((0, 2), int))
    result = {m.metric: m for m in measure_structure(graph, empty, context())}
    assert result["links_kept"].value == 0
    assert result["largest_component"].value == 1
    for key in ("path_length", "diameter", "edge_entropy"):
        assert result[key].value is None
        assert result[key].reason
        assert result[f"mre_{key}"].reason
    backwards = {m.metric: m for m in measure_structure(empty, graph, context())}
    assert backwards["links_kept"].reason
    assert backwards["mre_triangle_count"].reason


def test_progress_cancels():
    from core.errors import RunCancelled
    from tests.oracles.progress import RecordingProgress

    graph = GRAPHS["two_communities"]()
    cancelled = Context(Seed(0), progress=RecordingProgress(lambda: True))
    with pytest.raises(RunCancelled):
        measure_structure(graph, graph, cancelled)
