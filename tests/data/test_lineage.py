"""The same data is known again in another order, lightly edited or renamed; other data is not."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from core.audit.store.ledger import MIN_ELEMENTS, MIN_OVERLAP
from core.data.catalogue import load_dataset
from core.data.lineage import MAX_EXACT, SIZE, GraphSketch, Sketch, normalize_id, sketch_graph
from core.graph import Graph
from core.node_column import NodeColumn
from core.seeding import mix_bits


def make_graph(num_nodes: int, num_links: int, seed: int = 0, prefix: str = "p") -> Graph:
    pairs = np.random.default_rng(seed).integers(0, num_nodes, (num_links, 2))
    ids = tuple(f"{prefix}{i}" for i in range(num_nodes))
    return Graph.from_pairs(pairs, num_nodes, node_ids=ids)


def named_links(graph: Graph) -> set[frozenset[str]]:
    return {frozenset(graph.node_ids[end] for end in edge) for edge in graph.edges.tolist()}


@pytest.mark.parametrize("kept", [1.0, 0.9, 0.5, 0.1, 0.0])
def test_the_estimated_overlap_of_links_is_that_of_the_sets(kept):
    first = make_graph(3000, 20_000)
    rng = np.random.default_rng(1)
    mine = first.edges[rng.random(first.num_edges) < kept]
    second = first.with_edges(np.concatenate([mine, rng.integers(0, 3000, (15_000, 2))]))
    a, b = named_links(first), named_links(second)
    found = sketch_graph(first).links, sketch_graph(second).links
    overlap = len(a & b) / min(len(a), len(b))
    estimated = found[0].estimate_overlap(found[1])
    # four standard errors of a share of the compared
    assert estimated.share == pytest.approx(overlap, abs=2 / estimated.compared**0.5)
    assert estimated.compared > SIZE / 2
    assert (found[0].count, found[1].count) == (len(a), len(b))


def test_small_sets_are_compared_exactly():
    first = make_graph(80, 200)
    second = first.without_edges(first.edges[:50])
    a, b = named_links(first), named_links(second)
    assert max(len(a), len(b)) <= SIZE
    found = sketch_graph(first).links, sketch_graph(second).links
    assert found[0].estimate_overlap(found[1]) == (1.0, len(b))
    empty = Sketch.of(np.empty(0, np.uint64))
    assert empty.estimate_overlap(empty) == empty.estimate_overlap(found[0]) == (0.0, 0)


def test_another_order_is_the_same_and_a_part_is_within_the_whole():
    graph = make_graph(4000, 30_000)
    whole = sketch_graph(graph)
    inverted = sketch_graph(graph.subgraph(np.random.default_rng(3).permutation(4000)))
    assert json.dumps(inverted.to_json()) == json.dumps(whole.to_json())
    part = sketch_graph(graph.subgraph(np.arange(1000)))
    assert part.nodes.count == 1000
    for kind in ("people", "pairs", "nodes", "links"):
        assert whole.estimate_overlaps(part)[kind].share == 1.0, kind
    assert whole.estimate_overlaps(part)["people"].compared == 1000


@pytest.mark.parametrize("kept", [1.0, 0.7])
@pytest.mark.parametrize("size", [40, 142, 1069, 20_000])
def test_a_part_of_any_size_is_estimated_within_the_stated_error(size, kept):
    """Of a set as large as three times what is kept; 200 parts each, drawn at random."""
    rng = np.random.default_rng(size)
    elements = mix_bits(rng.integers(1 << 62, size=3 << 14))
    whole = Sketch.of(elements, 1 << 14)
    shares, compared = [], []
    for _ in range(200):
        mine = rng.choice(elements, round(kept * size), replace=False)
        strange = mix_bits(rng.integers(1 << 62, size=size - len(mine)))
        overlap = Sketch.of(np.concatenate([mine, strange]), 1 << 14).estimate_overlap(whole)
        shares.append(overlap.share)
        compared.append(overlap.compared)
    error = np.sqrt(kept * (1 - kept) * 3 / size)
    assert np.mean(shares) == pytest.approx(kept, abs=4 * error / 200**0.5 + 1e-12)
    assert np.std(shares) == pytest.approx(error, rel=0.25, abs=1e-12)
    assert np.mean(compared) == pytest.approx(size / 3, rel=0.1)


def test_a_part_of_a_large_graph_is_contained_in_what_the_ledger_keeps():
    """Of 200,000 nodes a third is kept; 142 with their links are known by what is."""
    graph = make_graph(200_000, 300_000)
    whole = GraphSketch.from_json(sketch_graph(graph).to_json())
    assert len(whole.people.hashes) == len(whole.pairs.hashes) == MAX_EXACT < 200_000
    for size in (12, 142, 1069):
        nodes = np.random.default_rng(size).choice(200_000, size, replace=False)
        overlap = whole.estimate_overlaps(sketch_graph(graph.subgraph(nodes)))["people"]
        assert overlap.share == 1.0
        assert overlap.compared == pytest.approx(size * MAX_EXACT / 200_000, abs=2 * size**0.5)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        (" Ann  Lee\u00a0", "annlee"),
        ("\uff21NN", "ann"),
        ("Straße", "strasse"),
        ("007", "7"),
        ("7.0", "7"),
        ("0", "0"),
        ("000", "0"),
        ("7.5", "7.5"),
        ("-7", "-7"),
        ("7a", "7a"),
        ("٧", "٧"),
    ],
)
def test_ids_are_compared_in_one_form(written, normal):
    assert normalize_id(written) == normal


def rename_and_edit(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """New ids and order; `share` of the links changed, half of them removed and half added."""
    half = max(1, round(share * graph.num_edges)) / 2
    kept = rng.permutation(graph.num_edges)[int(half) :]
    drawn = rng.integers(0, graph.num_nodes, (max(1, round(half)), 2))
    edited = graph.with_edges(
        np.concatenate([graph.edges[kept], drawn[drawn[:, 0] != drawn[:, 1]]])
    )
    renamed = replace(edited, node_ids=tuple(f"x{i}" for i in range(graph.num_nodes)))
    return renamed.subgraph(rng.permutation(graph.num_nodes))


def find_likest(first: Graph, second: Graph) -> float:
    """Largest overlap of a part with enough elements, as the ledger asks."""
    overlaps = sketch_graph(first).estimate_overlaps(sketch_graph(second))
    return max(found.share for found in overlaps.values() if found.compared >= MIN_ELEMENTS)


KINDS = {
    "uniform": lambda seed: nx.gnp_random_graph(1000, 0.01, seed=seed),
    "dense": lambda seed: nx.gnp_random_graph(400, 0.13, seed=seed),
    "preferential": lambda seed: nx.barabasi_albert_graph(1000, 3, seed=seed),
    "dense preferential": lambda seed: nx.barabasi_albert_graph(1000, 20, seed=seed),
    "clustered": lambda seed: nx.powerlaw_cluster_graph(1000, 5, 0.5, seed=seed),
    "small world": lambda seed: nx.watts_strogatz_graph(1000, 6, 0.1, seed=seed),
    "tree": lambda seed: nx.random_labeled_tree(1000, seed=seed),
}


def make_kind(kind: str, seed: int) -> Graph:
    pairs = np.array(KINDS[kind](seed).edges)
    ids = tuple(f"{seed}-{i}" for i in range(pairs.max() + 1))
    return Graph.from_pairs(pairs, len(ids), node_ids=ids)


@pytest.mark.parametrize("kind", KINDS)
def test_new_ids_and_changed_links_are_seen_through_and_strangers_are_not_joined(kind):
    graph, rng = make_kind(kind, 0), np.random.default_rng(1)
    for share in (0.0, 0.002):
        assert find_likest(graph, rename_and_edit(graph, share, rng)) > MIN_OVERLAP + 0.1
    for seed in range(1, 6):  # all but the trees far below 1/e
        assert find_likest(graph, make_kind(kind, seed)) < MIN_OVERLAP - 0.1, seed


@pytest.mark.parametrize(
    ("name", "share"), [("nba", 0.004), ("cora", 0.015), ("lastfm_asia", 0.007)]
)
def test_real_graphs_are_known_again_without_their_columns(data_root, monkeypatch, name, share):
    monkeypatch.setenv("AUDIT_DATA", str(data_root))
    graph = load_dataset(name).graph
    bare = graph.with_columns(())
    for seed in range(3):
        copy = rename_and_edit(bare, share, np.random.default_rng(seed))
        assert find_likest(bare, copy) >= MIN_OVERLAP


def test_values_identify_nodes_whatever_happened_to_ids_and_links():
    rng = np.random.default_rng(0)
    graph = make_graph(300, 2000)
    ages = NodeColumn.from_values("age", rng.integers(0, 10_000, 300).tolist())
    city = NodeColumn.from_values("city", rng.choice(["a", "b", ""], 300).tolist())
    features = rng.integers(0, 3, (300, 12)).astype(np.float32)
    names = tuple(f"f{i}" for i in range(12))
    graph = graph.update_columns(
        attributes={"age": ages, "city": city}, features=features, feature_names=names
    )
    order = rng.permutation(300)
    other = make_graph(300, 2000, seed=5, prefix="q").subgraph(np.arange(300))
    copy = other.update_columns(
        attributes={"city": city.take(order), "age": ages.take(order)},
        features=sparse.csr_array(features[order][:, ::-1]),
        feature_names=names[::-1],
    )
    overlaps = sketch_graph(graph).estimate_overlaps(sketch_graph(copy))
    assert overlaps["values"].share == 1.0
    assert not any(overlaps[part].share for part in ("people", "pairs", "nodes", "links"))
    moved = copy.with_attributes({"age": ages})  # another person's age
    assert sketch_graph(graph).estimate_overlaps(sketch_graph(moved))["values"].share < 0.1
    exchanged = copy.update_columns(attributes={"age": city.take(order), "city": ages.take(order)})
    assert sketch_graph(graph).estimate_overlaps(sketch_graph(exchanged))["values"].share < 0.1


def test_a_ledger_of_older_sketches_is_read():
    """Which hold ids as they are written alone, in hexadecimal digits."""
    sketch = sketch_graph(make_graph(300, 2000))
    stored = {
        part: {"count": kept.count, "hashes": kept.hashes.astype("<u8").tobytes().hex()}
        for part, kept in (("nodes", sketch.nodes), ("links", sketch.links))
    }
    overlaps = GraphSketch.from_json(stored | {"shape": "?"}).estimate_overlaps(sketch)
    assert [part for part in overlaps if overlaps[part].share] == ["nodes", "links"]


def test_a_sketch_survives_json():
    sketch = sketch_graph(make_graph(2000, 5000))
    stored = GraphSketch.from_json(json.loads(json.dumps(sketch.to_json())))
    assert stored.to_json() == sketch.to_json()
    shares = {overlap.share for overlap in stored.estimate_overlaps(sketch).values()}
    assert shares == {1.0, 0.0}  # without values


def test_a_million_links_take_seconds():
    graph = make_graph(1_000_000, 1_000_000)
    start = time.process_time()
    sketch_graph(graph)
    assert time.process_time() - start < 10  # 2 on a quiet machine


def test_weights_are_in_no_sketch_and_in_no_identity():
    """Weights were float32 once. The digest is that of a ledger's row from then."""
    pairs = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [1, 4]])
    sketches = set()
    for weights in (None, np.array([0.1, 0.2, 0.3, 1084601170, 5]), np.arange(5.0)):
        graph = Graph.from_pairs(pairs, node_ids=tuple("abcde"), weights=weights)
        sketches.add(json.dumps(sketch_graph(graph).to_json(), sort_keys=True))
        assert graph.identity_hash == (
            "cb18ca240a6683e6a9837ab474a9e37f966196ab3f8a341a102e07ce83f06d0c"
        )
    assert len(sketches) == 1
