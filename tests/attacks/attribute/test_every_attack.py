"""What holds for every attribute attack, whatever it computes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.attacks.attribute import ATTRIBUTE_ATTACKS
from core.context import Context
from core.node_column import NodeColumn
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import AttributeThreat
from tests.oracles.graphs import GRAPHS, make_threats

QUICK = json.loads((Path(__file__).parents[2] / "contract" / "quick.json").read_text())
NO_LINKS = ("class_prior", "mlp", "feature_boosting", "value_lookup")
"""Attackers who get no better by the links, or need more than sixty people to learn."""
KEYS = [method.info.key for method in ATTRIBUTE_ATTACKS]


def infer(key, graph, threat, **changes):
    attack = make_method(key, {**QUICK.get(key, {}), **changes}, "attribute_attack")
    release = Release(graph)
    if attack.supports(release, threat):
        pytest.skip("declined")
    return attack.infer(release, threat, Context(Seed(4)))


@pytest.mark.parametrize("key", KEYS)
def test_hidden_values_are_never_read(key):
    graph = GRAPHS["two_communities"]()
    threat = make_threats(graph).attribute
    codes = threat.attribute.codes.copy()
    codes[~threat.known] = 1 - codes[~threat.known]
    flipped = replace(threat.attribute, codes=codes)
    swapped = AttributeThreat(flipped, threat.known, threat.hidden)
    other = graph.with_attributes({"private": flipped})
    # The hash names the whole graph and seeds shared work; what is tested here is the values.
    other.__dict__["content_hash"] = graph.content_hash
    before, after = infer(key, graph, threat), infer(key, other, swapped)
    np.testing.assert_array_equal(before.probabilities, after.probabilities)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("known", [[0], [0, 39], [0, 1, 2, 39]])
def test_a_handful_of_known_nodes_is_enough_to_run(key, known):
    graph = GRAPHS["two_communities"]()
    mask = np.zeros(40, bool)
    mask[known] = True
    attribute = graph.attributes["private"]
    result = infer(key, graph, AttributeThreat(attribute, mask, ~mask))
    np.testing.assert_allclose(result.probabilities.sum(axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("key", KEYS)
def test_a_class_that_nobody_is_known_to_have_stays_possible(key):
    graph = GRAPHS["two_communities"]()
    attribute = NodeColumn("private", graph.attributes["private"].codes, ("a", "b", "c"))
    threat = make_threats(graph).attribute
    result = infer(key, graph, AttributeThreat(attribute, threat.known, threat.hidden))
    assert (result.probabilities[threat.hidden, 2] > 0).all()
    assert result.probabilities[:, 2].mean() < 0.3


@pytest.mark.parametrize("key", [k for k in KEYS if k not in NO_LINKS])
def test_real_attackers_beat_the_class_prior_on_planted_communities(key):
    graph = GRAPHS["two_communities"](60)
    threat = make_threats(graph).attribute
    changes = {}
    if "epochs" in QUICK.get(key, {}):
        changes = {"epochs": 60, "hidden": 16}
    if "walks_per_node" in QUICK.get(key, {}):
        changes = {"walks_per_node": 20, "walk_length": 20}
    probabilities = infer(key, graph, threat, **changes).probabilities
    hidden = threat.hidden
    right = probabilities.argmax(axis=1) == threat.attribute.codes
    assert right[hidden].mean() > 0.7
