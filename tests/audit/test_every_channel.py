"""Whatever leaves is attacked, or the decision is not to publish."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import core.findings.required_attacks as required_attacks
from core.attacks.identity.column_values import ColumnValues
from core.audit.asked.spec import AuditSpec
from core.audit.store.database import Store
from core.data.link_release import list_link_columns
from core.data.release_columns import LINK_PREFIX
from core.findings.channels import describe_channels, list_channels
from core.findings.leaving import compute_leaving
from core.findings.policy import Policy
from core.findings.verdict import judge
from core.graph import Graph
from core.link_table import LinkColumn, LinkTable
from core.node_column import NodeColumn
from tests.inline import run_inline

SEEDS = (0, 2, 4, 5, 6, 7, 9, 14, 30, 31, 41)
"""Of the first 48 draws, so many that each kind of gap is the only one of some release."""


def draw_graph(rng):
    """A graph with some numbers, a text, weights and columns of links."""
    n = 30
    graph = Graph.from_pairs(rng.integers(n, size=(70, 2)), n)
    numbers, has_text, has_weights, columns = rng.integers(3), *rng.integers(2, size=2), {}
    texts = {"city": NodeColumn.from_values("city", rng.choice(["Bonn", "Kiel", "Rome"], n))}
    if rng.random() < 0.6:
        columns["at"] = LinkColumn("number", rng.integers(1_000_000, size=graph.num_edges))
    if rng.random() < 0.4:
        columns["how"] = LinkColumn.of_texts(rng.choice(["call", "text"], graph.num_edges))
    graph = graph.update_columns(
        attributes=texts if has_text else {},
        features=rng.integers(3, size=(n, numbers)) if numbers else None,
        feature_names=("age", "height")[:numbers],
    )
    return replace(
        graph,
        weights=rng.integers(1, 3, graph.num_edges) if has_weights else None,
        link_table=LinkTable(np.arange(graph.num_edges), columns) if columns else None,
    )


def draw_spec(rng, graph, store):
    """An audit of some of its columns, by some attacks, of what some second graph tells."""
    named = [*graph.columns, *list_link_columns(graph)]
    publish = [name for name in named if rng.random() < 0.6] if rng.random() < 0.7 else None
    leaving = graph.feature_names if publish is None else publish
    rules = [f"{name}:bin=2" for name in leaving if name in ("age", "link.at")]
    rules = [rule for rule in rules if rng.random() < 0.4]
    identity = None if rng.random() < 0.25 else {"seeds_known": 2}
    attacks = []
    if identity is not None:
        if rng.random() < 0.3:
            second = replace(graph, weights=None) if rng.random() < 0.5 else graph
            second = replace(second, link_table=None) if rng.random() < 0.5 else second
            identity["auxiliary_graph"] = store.save_graph(second)
        attacks = [{"key": key} for key in ("degree", "value_join") if rng.random() < 0.8]
        nodes = [name for name in leaving if not name.startswith(LINK_PREFIX)]
        if rng.random() < 0.8:
            some = "|".join(nodes[: rng.integers(3)])
            attacks.append({"key": "column_values", "config": {"columns": some}})
    limits = [(rng.choice([0.1, 1.0]), "identity", "expected_found"), (1.0, "link", "auc")]
    fields = {"key": "drawn", "version": 1, "title": "Drawn", "effort": "instant", "repeats": 1}
    fields["attackers"] = {"links": 0, "overlap": 0, "seeds": 0}
    fields["limits"] = [
        {"name": f"l{k}", "title": "T", "source": "this test", "threat": threat,
         "metric": metric, "limit": most}
        for k, (most, threat, metric) in enumerate(limits)
    ]  # fmt: skip
    return AuditSpec.check_spec(
        {
            "graph_hash": store.save_graph(graph),
            "publish_columns": publish,
            "generalize": rules,
            "identity": identity,
            "hide_links": 0.1 if identity is None else None,
            "attacks": [{"key": "common_neighbors"}] if identity is None else attacks,
            "defenses": [{"key": "random_deletion", "config": {"strength": 0.8}}],
            "num_repeats": 1,
            "test_links": 0.0,
            "measures": ["structure"],
            "policy": fields,
        }
    )


def list_gaps(view, release):
    """What leaves with a release and no attack found people by, read off the release itself, and
    limits on people found that are not met."""
    graph, source = view.load_release(release, 0), view.load_graph()
    rows = view.results[(view.results.release == release) & (view.results.status == "done")]
    ran = [a.method for a in rows.attack.unique() if a is not None and a.threat == "identity"]
    gaps = [] if any(m.finds_by == "links" for m in ran) else ["structure"]
    gaps += ["ids"] if view.spec.threats.identity is None else []
    for name in compute_leaving(view.spec, source)[1].columns:
        known = [m.columns.split("|") for m in ran if isinstance(m, ColumnValues)]
        gaps += [] if any(columns == [""] or name in columns for columns in known) else [name]
    second = view.spec.threats.identity and view.spec.threats.identity.auxiliary_graph
    told = list_link_columns(source if second is None else view.seconds[second]) if ran else ()
    is_joined = any(m.finds_by == "values" for m in ran)
    gaps += [n for n in list_link_columns(graph) if not (is_joined and n in told)]
    found = rows[rows.metric == "expected_found"].value.max()
    most = view.spec.policy["limits"][0]["limit"]
    return [*gaps, *(["limit"] if found > most else [])]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Audits of drawn graphs, each with the second graph of its attackers, the gaps of its releases
    and their verdicts, whatever a policy requires by its effort."""
    found, home = [], tmp_path_factory.mktemp("drawn")
    store = Store(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DEVICE", "cpu")  # without, torch is imported to look for another
        patch.setattr(required_attacks, "_list_attacks", lambda _threat: [])
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            graph = draw_graph(rng)
            spec = draw_spec(rng, graph, store)
            view = run_inline(spec, graph, home, store=store)
            identity = spec.threats.identity
            second = None if identity is None else identity.auxiliary_graph
            object.__setattr__(view, "seconds", {second: second and store.load_graph(second)})
            gaps = {summary.id: list_gaps(view, summary.id) for summary in view.releases}
            found.append((view, gaps, judge(view, Policy.model_validate(spec.policy)).releases))
    store.close()
    return found


def test_what_is_published_was_attacked_by_all_that_leaves(drawn):
    published = [
        gaps[release.release]
        for _, gaps, releases in drawn
        for release in releases
        if release.decision == "publish"
    ]
    assert len(published) > 3
    assert not any(published)
    listed = [gaps for _, own, _ in drawn for gaps in own.values()]
    assert ["limit"] in listed  # all that leaves is attacked, and too many people are found
    gaps = {gap for gaps in listed for gap in gaps}
    assert {"structure", "ids", "age", "city", "link.weight", "link.at"} <= gaps


@pytest.mark.parametrize("hidden", ["structure", "number", "category", "links", "nodes"])
def test_a_channel_that_is_hidden_would_be_published(drawn, hidden):
    def hide(release):
        return [
            channel
            for channel in release.channels
            if hidden not in (channel.kind, "links" if "link." in channel.column else "nodes")
        ]

    assert any(
        gaps[release.release]
        for _, gaps, releases in drawn
        for release in releases
        if release.model_copy(update={"channels": tuple(hide(release))}).decision == "publish"
    )


def test_every_channel_has_a_state_in_audit_json(drawn):
    for view, _, releases in drawn:
        assert [r.channels for r in releases] == [list_channels(view, r.release) for r in releases]
        for release in (summary.id for summary in view.releases):
            listed = [c for c in describe_channels(view) if c["release"] == release]
            kinds = [channel["kind"] for channel in listed]
            for kind in ("structure", "ids", "order", "names", "files"):
                assert kinds.count(kind) == 1
            nodes = set(view.load_graph().columns)
            links = {"link.weight", *list_link_columns(view.load_graph())}
            names = [c["name"] for c in listed if c["name"] not in kinds]
            assert sorted(names) == sorted(nodes | links)
            for channel in listed:
                assert channel["leaves"] == (channel["state"] != "left_out")
                assert (channel["state"] == "attacked") == bool(channel["attacks"])
                if channel["state"] == "coarsened":
                    assert f"{channel['name']}:bin=2" in view.spec.disclosure.generalize
