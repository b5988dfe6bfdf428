"""What another graph taught is said as surely as it held between two parts of that graph."""

from __future__ import annotations

import numpy as np
import pytest

from core.graph import Graph
from core.models.shadow_graph import (
    EXPONENTS,
    MAX_SPLIT_NODES,
    choose_exponent,
    count_splits,
    find_exponent,
    split_communities,
    temper,
)
from core.node_column import MISSING, NodeColumn
from tests.oracles.graphs import plant_blocks

PRIOR = np.array([0.7, 0.3])
CLASSES = NodeColumn("p", np.zeros(1), ("a", "b"))


def make_places(codes):
    """Four places with links almost only inside them."""
    blocks = np.full((4, 4), 0.002) + np.eye(4) * 0.3
    graph = plant_blocks(np.repeat(np.arange(4), 40), blocks, 0)
    return Graph.from_pairs(graph.edges, 160, attributes={"p": NodeColumn("p", codes, ("a", "b"))})


def test_tempering_moves_to_the_shares_and_keeps_who_comes_first():
    chances = np.random.default_rng(0).dirichlet([0.2, 0.2], 50)
    np.testing.assert_allclose(temper(chances, PRIOR, 1.0), chances, atol=1e-9)
    np.testing.assert_allclose(temper(chances, PRIOR, 0.0), np.tile(PRIOR, (50, 1)))
    half = temper(chances, PRIOR, 0.5)
    np.testing.assert_allclose(half.sum(axis=1), 1)
    assert (np.argsort(half[:, 0]) == np.argsort(chances[:, 0])).all()
    assert 0.0 not in EXPONENTS


def test_as_much_is_kept_as_did_best():
    rng = np.random.default_rng(0)
    chances = rng.dirichlet([2, 2], 4000)
    truth = (rng.random(4000) < chances[:, 1]).astype(int)
    even = np.array([0.5, 0.5])
    assert choose_exponent([(chances, even, truth)]) == pytest.approx(1.0, abs=0.1)
    squared = chances**2 / (chances**2).sum(axis=1, keepdims=True)
    assert choose_exponent([(squared, even, truth)]) == pytest.approx(0.5, abs=0.1)
    assert choose_exponent([(squared, even, rng.permutation(truth))]) == EXPONENTS[0]
    assert choose_exponent([]) == 1.0


def test_both_parts_are_of_whole_places():
    graph = make_places(np.zeros(160, int))
    met = set()
    for seed in range(10):
        side = split_communities(graph, np.random.default_rng(seed))
        assert side.sum() == 80
        assert all(len(set(place)) == 1 for place in side.reshape(4, 40).tolist())
        met.add(tuple(side[::40] == side[0]))
    assert len(met) == 3  # every way of pairing them


def test_what_is_known_by_place_alone_is_not_kept():
    """One who knows the classes of places that were taught and takes others for a's, against one
    who knows a sign that holds anywhere."""
    codes = np.repeat([0, 1, 0, 1], 40)
    graph, even = make_places(codes), np.array([0.5, 0.5])

    def say(is_b):
        return np.where(is_b[:, None], [0.02, 0.98], [0.98, 0.02]), even

    def recite(shown, observed, teacher):
        taught = {int(name) // 40 for name in teacher.node_ids}
        places = np.array([int(name) // 40 for name in shown.node_ids])
        return say(np.isin(places, [*taught & {1, 3}]))

    def know(shown, observed, teacher):
        return say(shown.column("p").codes == 1)

    for infer, kept in ((recite, EXPONENTS[0]), (know, 1.0)):
        assert find_exponent(graph, CLASSES, 0.0, infer, np.random.default_rng(0)) == kept


def test_each_part_is_taught_by_the_other_and_as_many_are_known_as_here():
    graph, met = make_places(np.tile([0, 1], 80)), []

    def infer(shown, observed, teacher):
        met.append((set(shown.node_ids), observed, set(teacher.node_ids)))
        return np.full((shown.num_nodes, 2), 0.5), np.array([0.5, 0.5])

    find_exponent(graph, CLASSES, 0.25, infer, np.random.default_rng(0))
    assert len(met) == 2 * count_splits(graph) == 6
    everybody = set(graph.node_ids)
    for shown, observed, teacher in met:
        assert shown | teacher == everybody
        assert not shown & teacher
        assert (observed != MISSING).mean() == pytest.approx(0.25, abs=0.2)
    assert met[0][0] == met[1][2]
    met.clear()
    find_exponent(graph, CLASSES, 0.0, infer, np.random.default_rng(0))
    assert all((observed == MISSING).all() for _, observed, _ in met)


def test_known_people_do_not_count():
    """Of them the truth was said; of all others it was not."""
    graph = make_places(np.tile([0, 1], 80))

    def infer(shown, observed, teacher):
        codes = shown.column("p").codes
        told = np.where(observed != MISSING, codes, 1 - codes)
        return np.eye(2)[told] * 0.9 + 0.05, np.array([0.5, 0.5])

    assert find_exponent(graph, CLASSES, 0.8, infer, np.random.default_rng(0)) == EXPONENTS[0]


def test_graphs_too_small_to_tell_are_believed():
    codes = np.array([0, 1, 0, 1])
    graph = Graph.from_pairs([(0, 1), (2, 3)], 4, attributes={"p": NodeColumn("p", codes, "ab")})
    asked = pytest.fail
    assert find_exponent(graph, CLASSES, 0.0, asked, np.random.default_rng(0)) == 1.0
    alone = make_places(np.zeros(160, int))
    assert find_exponent(alone, CLASSES, 0.0, asked, np.random.default_rng(0)) == 1.0


def test_large_graphs_are_cut_once():
    for size, cuts in (
        (10, 3),
        (MAX_SPLIT_NODES // 3, 3),
        (MAX_SPLIT_NODES // 2, 2),
        (MAX_SPLIT_NODES * 5, 1),
    ):
        assert count_splits(Graph.from_pairs([(0, 1)], size)) == cuts
