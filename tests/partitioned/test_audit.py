"""An ordinary audit of links in partitions against the same methods in one process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from core.audit.asked.spec import AuditSpec
from core.audit.computing.attacking import attack_release
from core.audit.computing.cell import make_cell_seed
from core.audit.computing.plan import list_cells
from core.audit.computing.prepared import PreparedAudit
from core.audit.computing.threat_sampling import draw_repeat, draw_visible, select_attacker
from core.audit.results.view import AuditView
from core.audit.store import files
from core.audit.store.database import Store
from core.context import Context
from core.errors import UnsupportedError
from core.findings.policy import load_policy
from core.findings.verdict import judge
from core.graph import Graph
from core.measures.structure import measure_structure
from core.node_column import NodeColumn
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS, Inline, run_on_partitions, write_links
from core.release import ORIGINAL, Release
from core.threats import Threats
from tests.inline import run_inline

ATTACKS = (
    *("common_neighbors", "adamic_adar", "resource_allocation", "jaccard"),
    *("preferential_attachment", "degree_product", "label_propagation", "class_prior"),
    *("degree", "neighbor_degrees", "katz", "gcn"),
)
NOT_RUN = {"katz", "gcn"}
DEFENSES = ("random_deletion", "edge_rand", "dp_1k")


def load_owned(links, number: int) -> np.ndarray:
    return links.load_partition(number).owned


def gather(graph: Graph) -> Graph:
    """The same graph in one process, which only a test may do."""
    assert isinstance(graph, PartitionedGraph)
    edges = np.concatenate(list(run_on_partitions(Inline(), load_owned, graph.links)))
    return Graph(edges, tuple(graph.node_ids), graph.columns, name=graph.name)


@pytest.fixture(scope="module")
def graph(tmp_path_factory) -> PartitionedGraph:
    """Two communities of 60 with uneven degrees, in four partitions."""
    rng = np.random.default_rng(1)
    ends = (60 * rng.random((500, 2)) ** 1.5).astype(int) + 60 * rng.integers(0, 2, (500, 1))
    pairs = np.concatenate([ends, rng.integers(0, 120, (60, 2))])
    folder = tmp_path_factory.mktemp("links") / "links"
    links = write_links(Inline(), folder, [lambda: iter([pairs])], 120, (0, 9, 40, 71, 120))
    column = NodeColumn("side", np.arange(120) // 60, ("left", "right"))
    return PartitionedGraph.of(links, {"side": column}, "large")


def make_spec(graph: Graph, **fields) -> AuditSpec:
    content = {"graph_name": "large", "graph_hash": graph.content_hash, "num_repeats": 2}
    content |= {"hide_links": 0.2, "private": "side", "identity": {}, "auxiliary_known": [0.3]}
    content |= {"attacks": [{"key": key} for key in ATTACKS]}
    content |= {"defenses": [{"key": key} for key in DEFENSES]}
    return AuditSpec.check_spec(content | fields)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def view(graph, home) -> AuditView:
    return run_inline(make_spec(graph), graph, home)


@pytest.fixture(scope="module")
def store(view, home) -> Iterator[Store]:
    store = Store(home)
    yield store
    store.close()


def find_release(store: Store, audit: PreparedAudit, cell, visible: Graph) -> Graph:
    if cell.release == ORIGINAL:
        return gather(visible)
    return gather(files.load_release(store.home, cell.upstream, visible))


def test_every_figure_equals_that_of_one_process(view, store):
    audit = PreparedAudit.load(view.spec, store.load_graph)
    compared = set()
    for cell in list_cells(audit):
        if cell.kind != "attack" or cell.skip or "dp_1k" in cell.release:
            continue
        threats = draw_repeat(audit, cell.repeat)
        release = find_release(store, audit, cell, threats.visible)
        whole = gather(threats.visible)
        assert threats.identity is not None
        identity = replace(threats.identity, original=whole, known=whole)
        threats = replace(threats, visible=whole, identity=identity)
        asked = select_attacker(view.spec, cell.scenario, cell.repeat, threats)
        context = Context(make_cell_seed(view.spec, cell))
        scenario = cell.scenario
        wanted, _, arrays = attack_release(
            cell.make_method(), scenario, Release(release), asked, context
        )
        row = store.find_job(cell.key)
        assert row.state == "done", row.reason
        found = {item["metric"]: item for item in row.result["measurements"]}
        error = 1e-4 if scenario.method == "label_propagation" else 0.0
        for item in wanted:
            if item.metric.startswith("precision_at"):
                assert found[item.metric]["value"] is None
                assert found[item.metric]["reason"] == ONE_PROCESS
            else:
                figure, other = found[item.metric]["value"], item.value
                other = other if other is None else pytest.approx(other, rel=1e-9, abs=error)
                assert figure == other, item
        stored = files.load_cell(store.home, cell.key)
        for name in ("nodes", "risk", "base"):
            assert np.allclose(stored[name], arrays[name], rtol=1e-9, atol=error, equal_nan=True)
        compared.add((cell.release, scenario.method, scenario.knowledge.text))
    assert len(compared) == 3 * (len(ATTACKS) - len(NOT_RUN) + 2)


def test_structure_equals_that_of_one_process(view, store):
    audit = PreparedAudit.load(view.spec, store.load_graph)
    for cell in list_cells(audit):
        if cell.kind != "measure" or cell.skip or cell.repeat or "dp_1k" in cell.release:
            continue
        assert cell.method == "structure"
        visible = draw_visible(audit, cell.repeat)
        release = find_release(store, audit, cell, visible)
        context = Context(make_cell_seed(view.spec, cell))
        wanted = {m.metric: m for m in measure_structure(gather(visible), release, context)}
        found = {m["metric"]: m for m in store.find_job(cell.key).result["measurements"]}
        assert found.keys() <= wanted.keys()
        for metric, item in found.items():
            if item["reason"] == ONE_PROCESS:
                assert item["value"] is None
            elif "triangle_count" in metric:
                error = 4.5 * item["variance"] ** 0.5
                assert abs(item["value"] - wanted[metric].value) <= error + 1e-12
            else:
                assert item["value"] == pytest.approx(wanted[metric].value, rel=1e-9), metric
        assert {"links_kept", "degree_ks", "wedge_count"} <= {
            metric for metric, item in found.items() if item["value"] is not None
        }


def test_releases_are_those_of_their_defense(view):
    for repeat in range(2):
        before = gather(view.load_release(ORIGINAL, repeat))
        after = gather(view.load_release("random_deletion", repeat))
        assert after.num_edges == before.num_edges - round(0.3 * before.num_edges)
        assert before.contains_pairs(after.edges).all()
        noisy = gather(view.load_release("edge_rand", repeat))
        assert 0 < (~before.contains_pairs(noisy.edges)).sum() < 100
    (summary,) = [s for s in view.releases if s.id == "edge_rand"]
    assert summary.guarantee.label == "edge-DP, ε = 6"
    sample = view.load_sample("random_deletion")
    assert len(sample.nodes) == 60
    assert set(sample.changes.state) == {"kept", "removed"}


def test_what_did_not_run_is_named_with_its_reason(view):
    rows = view.results[view.results.method.isin(NOT_RUN)]
    assert set(rows.status) == {"skipped"}
    made = rows[~rows.release.str.startswith("dp_1k")]
    assert set(made.reason) == {ONE_PROCESS}
    usefulness = view.cells[(view.cells.kind == "measure") & (view.cells.method == "utility")]
    assert set(usefulness.reason) == {ONE_PROCESS}
    verdict = judge(view, load_policy("partner"))
    assert verdict.not_made == {"dp_1k": f"no release: {ONE_PROCESS}"}
    for release in verdict.releases:
        told = [text for text in release.untried if ONE_PROCESS in text]
        assert len(told) == 1
        assert "Katz" in told[0], told


def test_a_decision_is_never_yes_without_the_required_attacks(view):
    policy = load_policy("partner")
    lax = [limit.model_copy(update={"limit": 1e9}) for limit in policy.limits]
    verdict = judge(view, policy.model_copy(update={"limits": tuple(lax)}))
    assert {release.decision for release in verdict.releases} == {"review"}


@pytest.mark.parametrize(
    "fields",
    [
        {"sensitive_links": [["0", "1"]], "hide_links": None},
        {"evaluation": "distance_2"},
        {"control": 0.2},
        {"leave_out": ["3"]},
        {"publish_columns": ["side"], "private": None},
    ],
)
def test_options_that_need_all_links_are_refused(graph, home, fields):
    spec = make_spec(graph, **fields, attacks=[{"key": "degree"}], auxiliary_known=[])
    with pytest.raises(UnsupportedError, match="one process"):
        run_inline(spec, graph, home)


def test_the_store_keeps_one_copy_and_deletes_all(graph, tmp_path):
    view = run_inline(make_spec(graph), graph, tmp_path)
    store = Store(tmp_path)
    kept = sorted(path.name for path in (tmp_path / "graphs").iterdir())
    assert kept == [graph.content_hash, f"{graph.content_hash}.npz"]
    beside = sorted(p.name.partition("-")[0] for p in (tmp_path / "graphs" / kept[0]).iterdir())
    assert beside == ["links", "observed", "observed"]
    store.delete_audit(view.summary.id)
    store.close()
    assert not list((tmp_path / "graphs").iterdir())
    assert not list((tmp_path / "cells").glob("*/*"))


def test_threats_are_drawn_once_for_all_cells(view, store):
    audit = PreparedAudit.load(view.spec, store.load_graph)
    first, again = (draw_repeat(audit, 0) for _ in range(2))
    assert isinstance(first, Threats)
    assert first.link is not None
    assert again.link is not None
    assert np.array_equal(first.link.pairs, again.link.pairs)
    other = draw_repeat(audit, 1)
    assert other.link is not None
    assert not np.array_equal(first.link.pairs, other.link.pairs)
    seen = gather(first.visible)
    assert not seen.contains_pairs(first.link.hidden).any()
    whole = gather(audit.graph)
    assert whole.contains_pairs(first.link.hidden).all()
    assert first.link.more_absent is not None
    absent = np.concatenate([first.link.absent, first.link.more_absent])
    assert not whole.contains_pairs(absent).any()
