"""Every page, tab and fold for an audit of links that are kept in partitions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from core.node_column import NodeColumn
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS, Inline, write_links
from tests.inline import run_inline
from tests.pages.conftest import PAGES

ATTACKS = ("common_neighbors", "degree_product", "label_propagation", "degree", "katz", "gcn")


@pytest.fixture(scope="module")
def audit(audited, tmp_path_factory) -> Iterator[str]:
    whole = load_dataset("karate").graph
    folder = tmp_path_factory.mktemp("partitions")
    links = write_links(Inline(), folder / "links", [lambda: iter([whole.edges])], 34, (0, 9, 34))
    column = NodeColumn("label", np.arange(34) % 2, ("left", "right"))
    graph = PartitionedGraph.of(links, {"label": column}, "large")
    content = {"graph_name": "large", "graph_hash": graph.content_hash, "num_repeats": 2}
    content |= {"hide_links": 0.2, "private": "label", "identity": {"seeds_known": 3}}
    content |= {"attacks": [{"key": key} for key in ATTACKS], "adaptive": True}
    deletion = {"key": "random_deletion", "config": {"strength": 0.5}}
    content |= {"defenses": [deletion, {"key": "edge_rand"}, {"key": "dp_1k"}]}
    spec = AuditSpec.check_spec(content)
    audit_id = run_inline(spec, graph, audited[0].home, "large").summary.id
    yield audit_id
    audited[0].delete_audit(audit_id)


@pytest.mark.usefixtures("all_unfolded")
@pytest.mark.parametrize("page", PAGES)
def test_every_tab_opens(open_app, audit, page):
    app = open_app(page, audit=audit)
    assert not app.exception, app.exception
    assert not [error.value for error in app.error if "one process" in error.value]


def test_map_and_homophily_say_why_they_are_empty(open_app, audit):
    """They offered to draw a map, and to resume a finished audit."""
    for page, word in (("map", "a layout"), ("homophily", "Homophily of label was not measured")):
        app = open_app(page, audit=audit)
        (told,) = [info.value for info in app.info if ONE_PROCESS in info.value]
        assert word in told
        assert not [button for button in app.button if button.key == "map-start"]
