"""Estimates of private numbers: the median of what is known, weighted by what is guessed."""

from __future__ import annotations

import numpy as np
import pytest

from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.measures.quantities import estimate_numbers, find_tolerance, measure_quantities
from core.node_column import NodeColumn
from core.results import ClassProbabilities
from core.seeding import Seed
from core.threats import AttributeThreat

N = 4000


def make_threat(values, known=0.25) -> AttributeThreat:
    attribute = NodeColumn.from_values("salary", values)
    graph = Graph.from_pairs([(0, 1)], len(values), attributes={"salary": attribute})
    return draw_attribute_threat(graph, "salary", known, Seed(0))


def measure(probabilities, threat):
    found = measure_quantities(ClassProbabilities(probabilities), threat)
    return {item.metric: item for item in found}


UNIFORM = make_threat(np.random.default_rng(0).permutation(np.linspace(0, 1, N)))


def test_who_knows_the_quarter_takes_away_three_quarters_of_the_error():
    truth = np.eye(4)[UNIFORM.attribute.codes]
    found = measure(truth, UNIFORM)
    # Mean distance from the middle: 1/4 of the whole range, 1/16 of a quarter of it.
    assert found["error_reduction"].value == pytest.approx(0.75, abs=0.02)
    assert found["absolute_error"].value == pytest.approx(1 / 16, abs=0.005)
    assert found["close_share"].value > 0.9
    assert find_tolerance(UNIFORM.attribute.values) == pytest.approx(1 / 8, abs=0.001)


def test_the_class_shares_say_the_median_of_everybody():
    found = measure(np.tile(UNIFORM.observed_shares, (N, 1)), UNIFORM)
    assert found["error_reduction"].value == pytest.approx(0, abs=0.02)
    assert found["close_share"].value == pytest.approx(0.25, abs=0.03)


def test_the_variance_is_that_of_other_draws():
    rng = np.random.default_rng(2)
    values = []
    for _ in range(60):
        threat = make_threat(rng.normal(size=400))
        truth = 0.5 * np.eye(4)[threat.attribute.codes] + 0.125
        values.append(measure(truth, threat)["error_reduction"])
    spread = np.var([item.value for item in values])
    assert 0.3 < spread / np.mean([item.variance for item in values]) < 3


def test_the_weighted_median_of_a_loop():
    rng = np.random.default_rng(1)
    threat = make_threat(rng.lognormal(size=80), 0.5)
    codes, values = threat.attribute.codes, threat.attribute.values
    probabilities = rng.dirichlet(np.ones(4), 20)
    found = estimate_numbers(probabilities, threat)
    known = np.flatnonzero(threat.known)
    for row, guess in zip(probabilities, found, strict=True):
        weights = [row[codes[i]] / (codes[known] == codes[i]).sum() for i in known]
        total, reached = sum(weights), 0.0
        for i in sorted(known, key=values.__getitem__):
            reached += weights[list(known).index(i)]
            if reached >= 0.5 * total - 1e-9:
                assert guess == values[i]
                break


def test_an_interval_in_which_nobody_is_known_counts_for_nothing():
    values = np.arange(60.0)
    attribute = NodeColumn.from_values("age", values)
    known = values < 40  # nobody of the highest quarter
    threat = AttributeThreat(attribute, known, ~known)
    assert attribute.codes[~known].max() == 3
    lone = estimate_numbers(np.array([[0, 0, 0, 1.0], [0, 0, 0.01, 0.99]]), threat)
    assert lone[0] == pytest.approx(19.5, abs=1)
    assert 30 <= lone[1] <= 39


def test_hidden_numbers_are_never_read():
    values = UNIFORM.attribute.values.copy()
    values[~UNIFORM.known] = 0.0
    other = NodeColumn("salary", UNIFORM.attribute.codes, UNIFORM.attribute.classes, values)
    threat = AttributeThreat(other, UNIFORM.known, UNIFORM.hidden)
    chances = np.random.default_rng(3).dirichlet(np.ones(4), N)
    np.testing.assert_array_equal(
        estimate_numbers(chances, UNIFORM), estimate_numbers(chances, threat)
    )


def test_columns_of_words_are_left_alone():
    attribute = NodeColumn.from_values("colour", ["red", "blue"] * 10)
    assert attribute.values is None
    threat = AttributeThreat(attribute, np.arange(20) < 10, np.arange(20) >= 10)
    assert measure(np.full((20, 2), 0.5), threat) == {}
