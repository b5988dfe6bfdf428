"""Partitioned links against the functions of one process, and one partition a job."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csgraph

from core.algorithms import class_propagation
from core.algorithms.fingerprints import Depth, compute_class_sizes, compute_fingerprints
from core.algorithms.triangles import compute_triangles
from core.attacks.link.heuristics import compute_neighbor_sums
from core.audit.jobs.engine import Engine
from core.context import Context
from core.defenses.edge_rand import EdgeRand
from core.errors import InputError, ResourceError, UnsupportedError
from core.graph import Graph
from core.partitioned import attacks, measures, releases
from core.partitioned.graph import NumberedIds
from core.partitioned.links import (
    Inline,
    PartitionedLinks,
    choose_bounds,
    reach_nodes,
    run_on_partitions,
    select_links,
    write_links,
)
from core.progress import Progress
from core.seeding import Seed
from core.threats import Threats

SEED = Seed(5)


def draw_graph(num_nodes: int = 80, num_links: int = 300) -> Graph:
    """Uneven degrees; the last nodes have no links."""
    ends = np.random.default_rng(1).random((num_links, 2)) ** 2 * (num_nodes - 5)
    return Graph.from_pairs(ends.astype(np.int64), num_nodes)


def yield_chunks(pairs: np.ndarray, size: int):
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def store(executor: Executor, folder: Path, graph: Graph, parts: int) -> PartitionedLinks:
    """The links, in both directions and with loops, from two sources."""
    pairs = np.concatenate([graph.edges, graph.edges[::-1, ::-1], [[3, 3]]])
    sources = [partial(yield_chunks, half, 37) for half in np.array_split(pairs, 2)]
    bounds = choose_bounds(executor, sources, graph.num_nodes, parts)
    return write_links(executor, folder, sources, graph.num_nodes, bounds)


class OneAtATime(Executor):
    """Runs jobs at once, and counts the partitions that each one reads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads: list[set[int]] = []
        self.is_inside = False
        load = PartitionedLinks.load_partition

        def load_tracked(links: PartitionedLinks, number: int):
            assert self.is_inside, "the driver reads a partition"
            self.reads[-1].add(number)
            return load(links, number)

        monkeypatch.setattr(PartitionedLinks, "load_partition", load_tracked)

    def submit(self, function, /, *args, **kwargs):
        self.reads.append(set())
        self.is_inside = True
        future: Future = Future()
        future.set_result(function(*args, **kwargs))
        self.is_inside = False
        return future


@pytest.fixture(params=[1, 2, 7], ids=lambda parts: f"{parts} partitions")
def links(request, executor, graph, tmp_path) -> PartitionedLinks:
    return store(executor, tmp_path / "links", graph, request.param)


@pytest.fixture
def graph() -> Graph:
    return draw_graph()


@pytest.fixture
def executor(monkeypatch) -> OneAtATime:
    return OneAtATime(monkeypatch)


def collect(executor: Executor, links: PartitionedLinks) -> np.ndarray:
    """All links (m, 2), which only a test may do."""
    return np.concatenate(list(run_on_partitions(executor, load_owned, links)))


def load_owned(links: PartitionedLinks, number: int) -> np.ndarray:
    return links.load_partition(number).owned


def test_the_links_are_those_of_the_graph(links, graph, executor):
    assert np.array_equal(collect(executor, links), graph.edges)
    assert np.array_equal(links.degrees, graph.degrees)
    assert (links.num_links, links.num_pairs) == (graph.num_edges, graph.num_pairs)


def test_partitions_have_about_as_many_link_ends(executor, tmp_path):
    graph = draw_graph(2000, 20_000)
    links = store(executor, tmp_path / "links", graph, 10)
    ends = np.add.reduceat(graph.degrees, links.bounds[:-1])
    assert links.num_partitions == 10
    assert ends.max() < 1.2 * ends.mean()


def test_a_node_out_of_range_is_refused(executor, tmp_path):
    source = partial(yield_chunks, np.array([[0, 9]]), 5)
    with pytest.raises(InputError, match="node numbers from 0 to 8"):
        write_links(executor, tmp_path / "links", [source], 9, (0, 9))


def test_label_propagation_equals_that_of_one_process(links, graph, executor):
    codes = list(np.random.default_rng(2).integers(-1, 3, (2, graph.num_nodes)))
    prior = np.array([0.5, 0.3, 0.2])
    for rounds, error in ((0, 1e-7), (1, 1e-7), (12, attacks.SETTLED), (100, attacks.SETTLED)):
        found = attacks.spread_labels(links, codes, prior, 0.9, rounds, executor=executor)
        wanted = class_propagation.propagate_labels(graph, codes, prior, 0.9, rounds)
        settled = class_propagation.propagate_labels(graph, codes, prior, 0.9, rounds, error)
        for values in (found, settled):
            assert np.sqrt(np.square(np.subtract(values, wanted)).mean()) <= error
        assert np.allclose(np.sum(found, axis=2), 1, rtol=0, atol=1e-12)


def test_rounds_of_label_propagation_that_are_left_out_are_added_up(links, graph, executor):
    """Few are known, so that values still move after a hundred rounds, all by one factor."""
    codes = np.full((2, graph.num_nodes), -1)
    codes[:, :3], codes[1, 3] = [0, 1, 1], 0
    prior, rounds = np.array([0.7, 0.3]), []

    class Recorded(Progress):
        def update(self, done, total, message=""):
            rounds.append(done)

    wanted = class_propagation.propagate_labels(graph, list(codes), prior, 0.99, 60)
    settings = (list(codes), prior, 0.99, 60)
    for found in (
        class_propagation.propagate_labels(graph, *settings, attacks.SETTLED, Recorded()),
        attacks.spread_labels(links, *settings, Recorded(), executor),
    ):
        assert 5 < rounds[-1] < 40
        assert np.sqrt(np.square(np.subtract(found, wanted)).mean()) <= attacks.SETTLED
    stopped = class_propagation.propagate_labels(graph, list(codes), prior, 0.99, rounds[-1])
    assert np.abs(np.subtract(stopped, wanted)).max() > 10 * attacks.SETTLED
    assert found[0].dtype == np.float64


def test_sums_over_neighbours_equal_those_of_one_process(links, graph, executor):
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), axis=1)
    pairs = np.random.default_rng(3).permuted(pairs, axis=1)
    sums = compute_neighbor_sums(graph, pairs, Context(SEED))
    found = attacks.sum_neighbors(executor, links, pairs)
    wanted = np.stack([sums.count, sums.log, sums.inverse], axis=1)
    assert np.allclose(found, wanted, rtol=1e-13, atol=0)


def test_measures_equal_those_of_one_process(links, graph, executor):
    depths: list[Depth] = ["degree", "neighbor_degrees"]
    for depth in depths:
        found = measures.compute_fingerprints(executor, links, depth)
        wanted = compute_class_sizes(compute_fingerprints(graph, depth))
        assert np.array_equal(compute_class_sizes(found), wanted)
    with pytest.raises(UnsupportedError, match="one process"):
        measures.compute_fingerprints(executor, links, "ego")
    wedges = (graph.degrees * (graph.degrees - 1) // 2).sum()
    clustering = compute_triangles(graph.edges, graph.num_nodes).sum() / wedges
    estimate = measures.estimate_clustering(executor, links, SEED, 20_000)
    assert estimate.low < clustering < estimate.high
    assert estimate.high - estimate.low < 0.02


def test_membership_equals_the_graphs(links, graph, executor):
    pairs = np.random.default_rng(4).integers(0, graph.num_nodes, (500, 2))
    pairs = np.concatenate([pairs, graph.edges, graph.edges[:, ::-1]])
    found = measures.contains_pairs(executor, links, pairs)
    assert np.array_equal(found, graph.contains_pairs(pairs))
    assert measures.contains_pairs(executor, links, pairs[:0]).shape == (0,)


def test_a_graph_without_links(executor, tmp_path):
    links = store(executor, tmp_path / "links", Graph.from_pairs(np.empty((0, 2)), 6), 3)
    assert links.num_links == 0
    assert measures.estimate_clustering(executor, links, SEED, 100).value == 0.0
    found = measures.compute_fingerprints(executor, links, "neighbor_degrees")
    assert compute_class_sizes(found).tolist() == [6] * 6
    released = releases.delete_at_random(executor, links, tmp_path / "released", 0.5, SEED)
    assert released.num_links == 0


@pytest.mark.parametrize("strength", [0, 0.3, 1])
def test_random_deletion_removes_its_share(links, graph, executor, tmp_path, strength):
    released = releases.delete_at_random(executor, links, tmp_path / "a", strength, SEED)
    edges = collect(executor, released)
    assert released.num_links == len(edges) == graph.num_edges - round(strength * graph.num_edges)
    assert graph.contains_pairs(edges).all()
    again = releases.delete_at_random(executor, links, tmp_path / "b", strength, SEED)
    assert np.array_equal(collect(executor, again), edges)
    if strength == 0.3:
        other = releases.delete_at_random(executor, links, tmp_path / "c", strength, Seed(6))
        assert not np.array_equal(collect(executor, other), edges)


def test_random_deletion_spares_every_link_alike(executor, tmp_path):
    graph = draw_graph(12, 30)
    links = store(executor, tmp_path / "links", graph, 3)
    counts = np.zeros(graph.num_edges)
    for trial in range(300):
        folder = tmp_path / str(trial)
        released = releases.delete_at_random(executor, links, folder, 0.5, Seed(trial))
        counts += np.isin(graph.edge_codes, collect(executor, released) @ [12, 1])
    assert np.abs(counts / 300 - counts.mean() / 300).max() < 4.5 * np.sqrt(0.25 / 300)


def test_edge_rand_flips_as_in_one_process(executor, tmp_path):
    """Every pair is flipped with the same probability, links and others."""
    graph, epsilon, trials = draw_graph(12, 30), 1.0, 400
    links = store(executor, tmp_path / "links", graph, 3)
    counts = np.zeros((12, 12))
    for trial in range(trials):
        folder, context = tmp_path / str(trial), Context(Seed(trial))
        released, guarantee = releases.publish_edge_rand(executor, links, folder, epsilon, context)
        i, j = collect(executor, released).T
        counts[i, j] += 1
    flip = 1 / (1 + np.e)
    upper = np.triu_indices(12, 1)
    is_link = graph.adjacency.toarray()[upper] > 0
    flipped = np.where(is_link, trials - counts[upper], counts[upper]) / trials
    assert np.abs(flipped - flip).max() < 4.5 * np.sqrt(flip * (1 - flip) / trials)
    assert flipped.mean() == pytest.approx(flip, abs=0.015)
    in_memory = EdgeRand(epsilon=epsilon).publish(graph, Threats(graph), Context(SEED))
    assert guarantee == in_memory.guarantee


def test_edge_rand_at_no_noise_and_beyond_the_memory(links, graph, executor, tmp_path):
    context = Context(SEED)
    released, _ = releases.publish_edge_rand(executor, links, tmp_path / "a", 60.0, context)
    assert np.array_equal(collect(executor, released), graph.edges)
    small = Context(SEED, memory_budget=1000)
    with pytest.raises(ResourceError, match="more partitions"):
        releases.publish_edge_rand(executor, links, tmp_path / "b", 1.0, small)


def test_a_job_reads_one_partition_at_most(graph, executor, tmp_path):
    links = store(executor, tmp_path / "links", graph, 7)
    assert not any(executor.reads)
    pairs = graph.edges[:50]
    codes = np.zeros(graph.num_nodes, np.int64)
    jobs = {
        "labels": lambda: attacks.spread_labels(
            links, [codes], np.ones(1), rounds=2, executor=executor
        ),
        "scores": lambda: attacks.sum_neighbors(executor, links, pairs),
        "neighbours": lambda: measures.compute_fingerprints(executor, links, "neighbor_degrees"),
        "clustering": lambda: measures.estimate_clustering(executor, links, SEED, 20_000),
        "deletion": lambda: releases.delete_at_random(executor, links, tmp_path / "a", 0.3, SEED),
        "edge_rand": lambda: releases.publish_edge_rand(
            executor, links, tmp_path / "b", 6.0, Context(SEED)
        ),
    }
    for name, run in jobs.items():
        executor.reads.clear()
        run()
        assert set().union(*executor.reads) == set(range(7)), name
        assert max(map(len, executor.reads)) == 1, name


@pytest.mark.xdist_group("audit cluster")
def test_the_embedded_cluster_gives_the_same(graph, audit_home, tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_WORKERS", "2")
    audit_home.mkdir()
    engine = Engine(audit_home)
    try:
        found = [
            compute_all(engine.connect().get_executor(pure=False), graph, tmp_path / "cluster"),
            compute_all(ThreadPoolExecutor(1), graph, tmp_path / "here"),
        ]
    finally:
        engine.close()
    for ours, wanted in zip(*found, strict=True):
        assert np.array_equal(ours, wanted)


def compute_all(executor: Executor, graph: Graph, folder: Path) -> list[np.ndarray]:
    sources = [partial(np.array_split, half, 3) for half in np.array_split(graph.edges, 2)]
    links = write_links(executor, folder / "links", sources, graph.num_nodes, (0, 9, 30, 80))
    released, _ = releases.publish_edge_rand(executor, links, folder / "a", 5.0, Context(SEED))
    codes, prior = np.arange(80) % 3 - 1, np.array([0.5, 0.5])
    return [
        released.degrees,
        *attacks.spread_labels(released, [codes], prior, rounds=5, executor=executor),
        attacks.sum_neighbors(executor, released, graph.edges),
        measures.compute_fingerprints(executor, released, "neighbor_degrees"),
    ]


def test_a_partition_that_changed_is_found(graph, tmp_path):
    links = store(Inline(), tmp_path / "links", graph, 2)
    store(Inline(), tmp_path / "other", graph.select_edges(graph.edges[:, 0] > 1), 2)
    (path,) = (tmp_path / "other").glob("links-00000*")
    path.replace(tmp_path / "links" / path.name)
    with pytest.raises(InputError, match="must be as they were written"):
        links.load_partition(0)


def test_whoever_asks_for_all_links_is_told_why_not(graph, tmp_path):
    links = store(Inline(), tmp_path / "links", graph, 2)
    for ask in (len, np.asarray, list, lambda x: x[:1], lambda x: x.T, lambda x: x.ravel()):
        with pytest.raises(UnsupportedError, match="needs all links in one process"):
            ask(links)


def test_a_few_nodes_with_their_links_are_those_of_the_graph(graph, tmp_path):
    links = store(Inline(), tmp_path / "links", graph, 7)
    start = int(graph.degrees.argmax())
    for count in (1, 5, 30, 1000):
        nodes = reach_nodes(links, start, count)
        inside = np.isin(graph.edges, nodes).all(axis=1)
        assert start in nodes
        assert np.array_equal(select_links(links, nodes), graph.edges[inside])
        assert csgraph.connected_components(graph.adjacency[nodes][:, nodes])[0] == 1
    near = reach_nodes(links, start, 1 + int(graph.degrees[start]))
    assert near.tolist() == sorted({start, *graph.adjacency[[start]].indices.tolist()})


def test_numbers_are_the_same_texts_in_arrow(monkeypatch):
    ids = NumberedIds(12)
    wanted = list(ids)
    monkeypatch.delattr(NumberedIds, "__iter__")  # three million objects took seconds
    monkeypatch.setattr(NumberedIds, "__getitem__", None)
    for kind in (pa.string(), pa.large_string()):
        assert pa.array(ids, kind).equals(pa.array(wanted, kind))
