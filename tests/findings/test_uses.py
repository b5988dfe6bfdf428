"""The one table of uses of an audit's columns."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from core.audit.asked.spec import AuditSpec
from core.data.loaded import ColumnUse, list_features
from core.findings.uses import describe_uses, list_uses
from core.graph import Graph
from core.link_table import LinkColumn
from core.node_column import NodeColumn


@pytest.fixture
def graph() -> Graph:
    return Graph.from_pairs(
        [(0, 1), (1, 2), (2, 3)],
        weights=np.array([1.0, 2, 3]),
        link_columns={
            "day": LinkColumn("time", np.array([1, 2, 3]), unit="D"),
            "calls": LinkColumn("number", np.array([1.0, 2, 3])),
        },
        attributes={
            name: NodeColumn.from_values(name, ["a", "b", "a", "b"]) for name in ("team", "town")
        },
        features=np.eye(4, 2),
        feature_names=("age", "size"),
    )


def make_spec(graph: Graph, **fields: object) -> AuditSpec:
    known = {"graph_hash": graph.content_hash, "attacks": [{"key": "class_prior"}]}
    return AuditSpec.check_spec({**known, "private": "team", **fields})


def describe(graph: Graph, **fields: object) -> dict[str, tuple[str, bool]]:
    view = SimpleNamespace(spec=make_spec(graph, **fields), load_graph=lambda: graph)
    return {f"{u['table']} {u['name']}": (u["use"], u["published"]) for u in describe_uses(view)}


def test_a_graph_of_a_script_has_its_own_columns(graph):
    assert describe(graph) == {
        "links source": ("source", True),
        "links target": ("target", True),
        "links weight": ("weight", True),
        "links day": ("time of a link", False),
        "links calls": ("number of a link", False),
        "nodes team": ("private", False),
        "nodes town": ("attribute", False),
        "nodes age": ("feature", False),
        "nodes size": ("feature", False),
    }


def test_the_spec_gives_secrets_and_what_leaves(graph):
    names = ["age", "town", "link.day"]
    found = describe(
        graph, private="size", more_private=["team"], utility="town", publish_columns=names
    )
    assert {name: use for name, use in found.items() if use[0] not in ("source", "target")} == {
        "links weight": ("weight", False),
        "links day": ("time of a link", True),
        "links calls": ("number of a link", False),
        "nodes team": ("private", False),
        "nodes town": ("utility", True),
        "nodes age": ("feature", True),
        "nodes size": ("private", False),
    }


def test_the_columns_of_the_input_are_told_with_what_was_left_out(graph):
    read = (
        ColumnUse("links", "a", "source", "id"),
        ColumnUse("nodes", "who", "id", "id"),
        ColumnUse("nodes", "team", "utility", "class", "chosen"),
        ColumnUse("nodes", "age", "feature", "number"),
        ColumnUse("nodes", "note", "left out", "text", "free text"),
    )
    found = describe(graph, input_columns=read, private="age", leave_out=["0"])
    assert found == {
        "links a": ("source", True),
        "nodes who": ("id", True),
        "nodes team": ("attribute", False),
        "nodes age": ("private", False),
        "nodes note": ("left out", False),
    }
    assert list_uses(make_spec(graph, input_columns=read), graph)[4].why == "free text"


def test_a_secret_among_many_features_has_a_row_of_its_own():
    names = tuple(f"w{i}" for i in range(300))
    graph = Graph.from_pairs([(0, 1), (1, 2)], features=np.eye(3, 300), feature_names=names)
    (block,) = list_features(names)
    assert (block.count, block.title) == (300, "300 features")
    for publish, leaves in ((None, False), (["w1", "w2"], True)):
        assert describe(graph, private="w7", input_columns=[block], publish_columns=publish) == {
            "nodes features": ("feature", leaves),
            "nodes w7": ("private", False),
        }
