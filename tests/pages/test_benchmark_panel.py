"""What worked on graphs like the loaded one, on the Defend page."""

from __future__ import annotations

import pytest

from core.data.catalogue import load_dataset
from core.findings.benchmark import (
    describe_threat,
    load_shipped,
    rank_graphs,
    summarize_threat,
    tabulate_releases,
)
from core.methods import ATTACK_KINDS
from core.registry import list_methods, parse_method
from pages.ui.text import escape
from tests.pages.conftest import OpenApp
from tests.pages.test_pages import texts


def test_the_shipped_benchmark_has_every_defense_and_known_attacks() -> None:
    summary = load_shipped()
    every = {method.info.key for method in list_methods("defense")}
    assert {release.partition(":")[0] for release in summary.release} == every | {"original"}
    assert summary.graph.nunique() >= 2
    for attack in summary.attack.unique():
        parse_method(attack.partition("@")[0], *ATTACK_KINDS)


@pytest.mark.parametrize("page_of", ["audit", "graph"])
def test_the_nearest_graph_comes_first_and_its_figures_are_the_shipped_ones(
    open_app: OpenApp, audit_id: str, example: str, page_of: str
) -> None:
    address = {"audit": audit_id} if page_of == "audit" else {"graph": example}
    app = open_app("defend", **address)
    app.session_state["benchmark-open-False"] = True
    app.run()
    assert not app.exception, app.exception
    summary = load_shipped()
    nearest = app.selectbox(key="benchmark-graph").value
    assert nearest.startswith("karate" if page_of == "audit" else "social")
    rows = summary[(summary.graph == nearest) & (summary.threat == "link")]
    for sentence in (*summarize_threat(rows), *describe_threat(rows)):
        assert escape(sentence, 400) in texts(app)
    shown = next(f.value for f in app.dataframe if "Guarantee" in f.value)
    assert shown.Release.tolist() == tabulate_releases(rows).Release.tolist()
    app.selectbox(key="benchmark-threat").set_value("identity").run()
    rows = summary[(summary.graph == nearest) & (summary.threat == "identity")]
    assert escape(describe_threat(rows)[0], 400) in texts(app)


def test_graphs_are_ranked_by_their_shape() -> None:
    summary = load_shipped()
    shapes = summary.drop_duplicates("graph").set_index("graph")
    for name, row in shapes.iterrows():
        assert rank_graphs(summary, row.num_nodes, row.num_edges, row.clustering)[0] == name
    graph = load_dataset("social").graph
    assert rank_graphs(summary, graph.num_nodes, graph.num_edges, 0.1)[0].startswith("social")
