"""The release that was brought is the one that is attacked: links, weights and columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.context import Context
from core.data.splits import draw_threats
from core.defenses.external import EXTERNAL, External
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn
from core.registry import find_method, list_methods
from core.seeding import Seed

GRAPH = Graph.from_pairs(
    [[0, 1], [1, 2]],
    features=np.ones((3, 1), np.float32),
    feature_names=("x",),
    attributes={"side": NodeColumn("side", np.array([0, 1, 1]), ("left", "right"))},
)
GIVEN = Graph.from_pairs(
    [[0, 2]],
    3,
    weights=np.array([0.5]),
    features=np.zeros((3, 2), np.float32),
    feature_names=("y", "z"),
)


def test_it_returns_what_was_brought_on_the_original_people():
    threats = replace(draw_threats(GRAPH, Seed(1), private="side"), external=(GIVEN,))
    assert External().supports(GRAPH, threats) is None
    release = External().publish(GRAPH, threats, Context(Seed(1)))
    assert release.defense == EXTERNAL
    assert not release.guarantee.is_known
    assert release.graph.edges.tolist() == [[0, 2]]
    assert release.graph.weights.tolist() == [0.5]
    assert release.graph.feature_names == ("y", "z")
    assert release.graph.dense_features().shape == (3, 2)
    assert release.graph.attributes.keys() == {"side"}


def test_without_a_release_of_these_nodes_it_declines():
    threats = draw_threats(GRAPH, Seed(1), private="side")
    assert "Overview page" in External().supports(GRAPH, threats)
    other = replace(threats, external=(replace(GIVEN, node_ids=("2", "1", "0")),))
    assert "same nodes" in External().supports(GRAPH, other)


def test_nobody_is_offered_it():
    assert External not in list_methods()
    assert find_method(EXTERNAL, "defense") is External
    with pytest.raises(InputError, match="must not be of the kind defense"):
        find_method(EXTERNAL, "link_attack")
