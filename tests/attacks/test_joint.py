"""What is known of one column tells of another as far as they go together."""

from __future__ import annotations

import numpy as np
import pytest

from core.attacks.attribute.class_prior import ClassPrior
from core.attacks.attribute.label_propagation import LabelPropagation
from core.attacks.composition import compute_lift, infer_jointly, share_held_releases
from core.context import Context, SharedWork
from core.graph import Graph
from core.node_column import NodeColumn
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import AttributeThreat, Threats
from tests.oracles.graphs import two_communities

N = 400


def make_threats(agreement: float, known_first: bool):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, N)
    other = np.where(rng.random(N) < agreement, codes, 1 - codes)
    known = rng.random(N) < 0.4
    everybody = np.ones(N, bool)
    first = AttributeThreat(NodeColumn("first", codes, ("a", "b")), known, ~known)
    second = AttributeThreat(
        NodeColumn("second", other, ("c", "d")),
        everybody if known_first else known,
        ~everybody if known_first else ~known,
    )
    same = np.flatnonzero(codes == 0), np.flatnonzero(codes == 1)
    pairs = np.concatenate([rng.choice(side, (900, 2)) for side in same])
    return Graph.from_pairs(pairs, N), first, second


def find_accuracy(found, threat):
    return (found.probabilities.argmax(axis=1) == threat.attribute.codes)[threat.hidden].mean()


def test_lift_by_hand():
    codes = np.array([0, 0, 1, 1, 1, 1])
    known = np.array([True] * 6)
    same = AttributeThreat(NodeColumn("x", codes, ("a", "b")), known, ~known)
    # class shares 3/8 and 5/8: 10 · 9/64, 10 · 15/64 and 10 · 25/64 people beside the six
    expected = [[872 / 529, 600 / 943], [600 / 943, 2024 / 1681]]
    np.testing.assert_allclose(compute_lift(same, same), expected)


def test_a_known_value_weighs_the_classes_as_counting_does():
    _, first, second = make_threats(0.8, known_first=True)
    graph = Graph.from_pairs(np.zeros((0, 2), int), N)
    found = infer_jointly(ClassPrior(), Release(graph), first, [second], Context(Seed(0)))
    for value in (0, 1):
        alike = second.attribute.codes == value
        said = found.probabilities[alike]
        np.testing.assert_allclose(said, np.tile(said[:1], (len(said), 1)))
        counted = (first.attribute.codes == 0)[alike & first.known].mean()
        assert said[0, 0] == pytest.approx(counted, abs=0.05)


def test_knowing_a_column_that_agrees_in_nine_of_ten_is_worth_nine_of_ten():
    graph, first, second = make_threats(0.9, known_first=True)
    found = infer_jointly(ClassPrior(), Release(graph), first, [second], Context(Seed(0)))
    assert find_accuracy(found, first) == pytest.approx(0.9, abs=0.05)


def test_a_column_that_has_nothing_to_do_with_it_changes_little():
    graph, first, second = make_threats(0.5, known_first=True)
    alone = ClassPrior().infer(Release(graph), first, Context(Seed(0))).probabilities
    joint = infer_jointly(ClassPrior(), Release(graph), first, [second], Context(Seed(0)))
    assert np.abs(joint.probabilities - alone).max() < 0.15


def test_what_is_inferred_of_a_column_that_leaks_tells_of_one_that_does_not():
    graph, first, second = make_threats(0.9, known_first=False)
    rng = np.random.default_rng(1)
    graph = Graph.from_pairs(graph.edges[rng.random(graph.num_edges) < 0.8], N)
    found = infer_jointly(LabelPropagation(), Release(graph), second, [first], Context(Seed(0)))
    assert find_accuracy(found, second) > 0.8
    assert found.facts["joint_with"] == "first"


def test_held_releases_of_another_defense_are_made_anew():
    """Two defenses may publish the same graph; what the adversary holds besides differs."""
    graph = two_communities()
    threats, context = Threats(graph), Context(Seed(0), shared=SharedWork())
    first = Release(graph, defense="edge_rand", config={"epsilon": 8.0})
    weak, strong = (
        share_held_releases(
            make_method("edge_rand", {"epsilon": epsilon}, "defense"), first, threats, 2, context
        )
        for epsilon in (8.0, 1.0)
    )
    assert weak.graph.num_edges < strong.graph.num_edges
