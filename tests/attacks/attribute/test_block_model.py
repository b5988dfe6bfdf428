"""Few known people name the blocks; what is not known stays open."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import beta

from core.attacks.attribute.block_model import BlockModelAttack, parse_shares, predict_classes
from core.attacks.attribute.label_propagation import LabelPropagation
from core.context import Context
from core.data.splits import draw_attribute_threat
from core.errors import InputError
from core.graph import Graph
from core.measures.ranking import measure_class_probabilities
from core.models.blocks import _fit_classes, label_blocks
from core.node_column import NodeColumn
from core.release import Release
from core.seeding import Seed
from core.threats import AttributeThreat
from tests.oracles.graphs import plant_blocks

THREE = np.array([[6, 2, 3], [2, 7, 1], [3, 1, 3]]) / 150


def make_three(seed=0, n=600):
    codes = np.random.default_rng(seed).permutation(np.arange(n) % 20)
    codes = np.digitize(codes, [9, 16])
    graph = plant_blocks(codes, THREE * 600 / n, seed)
    return graph.update_columns(
        attributes={"private": NodeColumn("private", codes, ("a", "b", "c"))}
    )


def measure(attack, graph, threat):
    found = attack.infer(Release(graph), threat, Context(Seed(0)))
    return measure_found(found, threat)


def measure_found(found, threat):
    return {m.metric: m.value for m in measure_class_probabilities(found, threat)}


def log_loss(values, threat):
    nodes = threat.hidden
    return -np.log(values[nodes, threat.attribute.codes[nodes]]).mean()


def test_one_in_a_hundred_known_is_enough_where_blocks_meet_unevenly():
    graph = make_three()
    threat = draw_attribute_threat(graph, "private", 0.01, Seed(0))
    assert threat.known.sum() <= 6
    found = measure(BlockModelAttack(), graph, threat)["auc"]
    assert found > 0.9
    assert found > measure(LabelPropagation(), graph, threat)["auc"] + 0.15


def test_nobody_known_and_the_class_shares_name_blocks_of_unlike_sizes():
    graph = make_three()
    attribute, nobody = graph.column("private"), np.zeros(600, bool)
    threat = AttributeThreat(attribute, nobody, ~nobody)
    told = BlockModelAttack(class_shares="0.45+0.35+0.2")
    assert measure(told, graph, threat)["auc"] > 0.75
    found = told.infer(Release(graph), threat, Context(Seed(0))).probabilities
    assert log_loss(found, threat) < -(attribute.shares * np.log(attribute.shares)).sum()
    # The other way round the sizes name the wrong blocks: only half of the trust goes with them.
    wrong = BlockModelAttack(class_shares="0.2+0.35+0.45")
    found = wrong.infer(Release(graph), threat, Context(Seed(0))).probabilities
    assert found.min() > 0.05


def test_blocks_that_tell_nothing_leave_the_class_shares():
    graph = make_three()
    codes = np.random.default_rng(9).permutation(graph.column("private").codes)
    graph = graph.update_columns(
        attributes={"private": NodeColumn("private", codes, ("a", "b", "c"))}
    )
    for known in (0.01, 0.2):
        threat = draw_attribute_threat(graph, "private", known, Seed(1))
        found = BlockModelAttack().infer(Release(graph), threat, Context(Seed(0)))
        shares = np.tile(threat.observed_shares, (600, 1))
        # What a wrong name costs: a few people's chance at 1 % known, next to nothing at 20 %.
        assert log_loss(found.probabilities, threat) < log_loss(shares, threat) + 0.03 / known**0.3
        assert abs(measure_found(found, threat)["auc"] - 0.5) < 0.06


def test_noise_is_chance_to_the_last_bit():
    rng = np.random.default_rng(3)
    attribute = NodeColumn("private", rng.integers(0, 2, 400), ("a", "b"))
    graph = Graph.from_pairs(rng.integers(0, 400, (1600, 2)), 400)
    graph = graph.update_columns(attributes={"private": attribute})
    threat = draw_attribute_threat(graph, "private", 0.05, Seed(0))
    assert measure(BlockModelAttack(), graph, threat)["auc"] == 0.5


def test_what_is_learned_of_a_block_is_the_beta_binomial():
    """Two classes, closed form: evidence B(a+x, b+y) / B(a, b), chances (a+x) / (a+b+x+y)."""
    evidence, table = _fit_classes(np.array([[3.0, 1.0]]), np.array([0.75, 0.25]), 4.0)
    assert np.exp(evidence[0]) == pytest.approx(beta(6, 2) / beta(3, 1))
    np.testing.assert_allclose(table, [[6 / 8, 2 / 8]])


def test_nobody_known_and_equal_blocks_leave_the_shares():
    chances = np.repeat(np.eye(2), 50, axis=0)
    found = label_blocks(chances, np.full(100, -1), np.array([0.5, 0.5]))
    np.testing.assert_allclose(found.table, 0.5)
    assert found.evidence == pytest.approx(0.0)


def test_a_block_that_nobody_is_known_of_is_named_by_what_is_left():
    chances = np.repeat(np.eye(3), 30, axis=0)
    observed = np.full(90, -1)
    observed[[0, 1, 2]], observed[[30, 31, 32]] = 0, 1
    table = label_blocks(chances, observed, np.full(3, 1 / 3)).table
    assert table.argmax(axis=1).tolist() == [0, 1, 2]
    assert 0.4 < table[2, 2] < table[0, 0]


def test_more_known_people_make_surer():
    chances = np.repeat(np.eye(2), 50, axis=0)
    sure = []
    for count in (1, 3, 10, 30):
        observed = np.full(100, -1)
        observed[:count], observed[50 : 50 + count] = 0, 1
        sure.append(label_blocks(chances, observed, np.array([0.5, 0.5])).table[0, 0])
    assert sure == sorted(sure)
    assert sure[0] < 0.9 < sure[-1]


def test_many_blocks_of_many_classes_are_named_one_by_one():
    chances = np.repeat(np.eye(8), 10, axis=0)
    observed = np.repeat(np.arange(8) % 6, 10)
    table = label_blocks(chances, observed, np.full(6, 1 / 6)).table
    assert table.argmax(axis=1).tolist() == [0, 1, 2, 3, 4, 5, 0, 1]


def test_the_model_that_predicts_the_known_people_is_trusted():
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 2
    telling, noise = np.eye(2)[codes], rng.dirichlet(np.ones(5), 200)
    observed = np.where(np.arange(200) < 20, codes, -1)
    found = predict_classes([noise, telling], observed, 2, None)
    assert (found.argmax(axis=1) == codes).all()
    only = predict_classes([noise], observed, 2, None)
    assert np.abs(only - 0.5).max() < 0.2


def test_shares_are_checked_and_asked_for_each_class():
    assert parse_shares("0.5+0.3+0.2").tolist() == [0.5, 0.3, 0.2]
    for text in ("0.5", "a+b", "0.7+0.7", "1.5+-0.5", "nan+0.5"):
        with pytest.raises(InputError):
            BlockModelAttack(class_shares=text)
    graph = make_three()
    threat = draw_attribute_threat(graph, "private", 0.1, Seed(0))
    reason = BlockModelAttack(class_shares="0.5+0.5").supports(Release(graph), threat)
    assert "3 classes" in (reason or "")
