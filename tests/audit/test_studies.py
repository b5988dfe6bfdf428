"""Studies: what a point changes and what it leaves alone, and how points find together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.audit.asked.attack import parse_attack
from core.audit.asked.spec import AuditSpec
from core.audit.service import AuditService
from core.audit.store import files
from core.audit.studies import (
    STUDIES,
    cancel_study,
    find_kind,
    find_obstacle,
    list_points,
    list_studies,
    make_point,
    mask_features,
    sample_communities,
    start_study,
)
from core.errors import InputError
from core.figures.study_lines import study_lines
from core.findings.study import compute_falls, compute_study, describe_falls, describe_study
from core.graph import Graph
from core.node_column import NodeColumn
from core.seeding import Seed
from tests.inline import run_inline

ATTACKS = [{"key": "common_neighbors"}, {"key": "label_propagation"}, {"key": "class_prior"}]


@pytest.fixture(scope="module")
def spec(make_spec):
    return make_spec(attacks=ATTACKS, num_repeats=2)


@pytest.fixture
def idle(tmp_path, graph, monkeypatch):
    """A service that records audits and computes none."""
    monkeypatch.setattr(AuditService, "_run", lambda *_: None)
    service = AuditService(tmp_path)
    service.save_graph(graph)
    yield service
    service.close()


def test_known_share_is_all_that_changes_for_the_attribute_attacks(spec, graph):
    point, same = make_point("known", 0.05, spec, graph)
    assert (point.threats.known, point.threats.private, point.num_repeats) == (
        0.05,
        spec.threats.private,
        spec.num_repeats,
    )
    assert [choice.key for choice in point.attacks] == ["label_propagation", "class_prior"]
    assert not point.threats.has_links
    assert point.defenses == ()
    assert same.content_hash == point.graph_hash == graph.content_hash


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_masking_blanks_the_share_and_keeps_column_means(graph, share):
    masked = mask_features(graph, share, Seed(1))
    means = graph.features.mean(axis=0)
    is_blank = masked.features == means
    assert is_blank.mean() == pytest.approx(share, abs=0.1)
    assert np.array_equal(masked.features[~is_blank], graph.features[~is_blank])
    assert np.array_equal(masked.edges, graph.edges)
    words = graph.update_columns(features=sparse.csr_array((graph.features > 0).astype(np.float32)))
    fewer = mask_features(words, share, Seed(1)).features
    assert fewer.nnz == pytest.approx((1 - share) * words.features.nnz, rel=0.15)
    assert (words.features.toarray()[fewer.toarray() > 0] == 1).all()


def test_a_private_feature_is_never_blanked(make_spec):
    rng = np.random.default_rng(0)
    features = np.column_stack([np.arange(20) % 2, rng.normal(size=20)])
    graph = Graph.from_pairs(
        rng.integers(0, 20, (60, 2)), 20, features=features, feature_names=("secret", "other")
    )
    spec = make_spec(graph_hash=graph.content_hash, private="secret", attacks=ATTACKS)
    _, masked = make_point("features", 0.8, spec, graph)
    assert masked.feature_names == ("other",)
    assert masked.column("secret").codes.tolist() == (np.arange(20) % 2).tolist()


def test_a_smaller_graph_is_the_links_among_whole_communities():
    """Four cliques in a ring: half the people are two of them."""
    pairs = [(5 * c + i, 5 * c + j) for c in range(4) for i in range(5) for j in range(i)]
    pairs += [(5 * c, 5 * ((c + 1) % 4) + 1) for c in range(4)]
    attribute = NodeColumn("private", np.arange(20) % 2, ("a", "b"))
    graph = Graph.from_pairs(
        np.array(pairs),
        20,
        attributes={"private": attribute},
        weights=1.0 + np.arange(len(pairs)) / 1000,
    )
    half = sample_communities(graph, 0.5, Seed(0))
    kept = np.array([int(node) for node in half.node_ids])
    assert len(kept) == 10
    assert len(np.unique(kept // 5)) == 2
    inside = np.isin(graph.edges, kept).all(axis=1)
    assert np.array_equal(kept[half.edges], graph.edges[inside])
    assert np.array_equal(half.weights, graph.weights[inside])
    assert np.array_equal(half.column("private").codes, attribute.codes[kept])
    assert sample_communities(graph, 1.0, Seed(0)) is graph


def test_chosen_links_stay_sensitive_where_both_ends_remain(make_spec, graph):
    pairs = [tuple(graph.node_ids[i] for i in edge) for edge in graph.edges[:30]]
    spec = make_spec(hide_links=None, sensitive_links=pairs, attacks=ATTACKS)
    point, smaller = make_point("size", 0.4, spec, graph)
    assert smaller.num_nodes < graph.num_nodes
    assert set(point.threats.sensitive_links) == {
        p for p in pairs if set(p) <= set(smaller.node_ids)
    }


def test_obstacles_are_named(make_spec, graph):
    links_only = make_spec(private=None, attacks=ATTACKS[:1])
    assert "private column" in find_obstacle("known", links_only, graph)
    assert "attribute attack" in find_obstacle("known", make_spec(attacks=ATTACKS[:1]), graph)
    bare = graph.update_columns(features=None)
    assert "no features" in find_obstacle("features", links_only, bare)
    assert find_obstacle("size", links_only, graph) is None
    with pytest.raises(InputError, match="known, features, size"):
        find_kind("nothing")


def test_points_find_together_and_are_cancelled_together(idle, spec, graph):
    ids = [start_study(idle, kind.key, spec) for kind in STUDIES]
    found = {study.id: study for study in list_studies(idle, graph.content_hash)}
    assert set(found) == set(ids)
    known = found[ids[0]]
    assert [share for share, _ in known.points] == list(STUDIES[0].shares)
    assert known.is_active
    assert known.cells_total == sum(audit.cells_total for _, audit in known.points) > 0
    assert list_studies(idle, "another graph") == []
    idle.start_audit(spec)  # an ordinary audit is no point of anything
    assert len(list_studies(idle, graph.content_hash)) == len(STUDIES)
    cancel_study(idle, known)
    for _, audit in known.points:
        assert files.flag_path(idle.home, audit.id).exists()


def test_a_study_without_a_point_is_an_error(idle, make_spec, graph):
    with pytest.raises(InputError, match="private column"):
        start_study(idle, "known", make_spec(private=None, attacks=ATTACKS[:1]))
    assert idle.list_audits() == []


def test_the_chart_holds_what_the_audits_say(spec, graph, tmp_path):
    kind = find_kind("known")
    points = []
    for share in (0.1, 0.5):
        point, variant = make_point("known", share, spec, graph)
        points.append((share, run_inline(point, variant, tmp_path)))
    table = compute_study(points)
    assert set(table.method) == {"label_propagation", "class_prior"}
    for share, view in points:
        row = table[(table.share == share) & (table.method == "label_propagation")].iloc[0]
        estimate = view.estimate("original", "label_propagation", "auc")
        assert (row.value, row.low, row.high) == (estimate.value, estimate.low, estimate.high)
    chart = study_lines(table, "attribute", kind)
    lines = {trace.name: trace for trace in chart.figure.data}
    assert list(lines["Label propagation"].x) == [10, 50]  # per cent
    assert lines["Class prior"].line.dash == "dash"
    assert chart.figure.layout.xaxis.type == "log"
    text = describe_study(table, "attribute")
    assert "at 10 %" in text
    assert "at 50 %" in text
    assert study_lines(table, "link", kind).is_empty


def make_leaky(n: int = 120) -> Graph:
    """One feature tells the private class, one attribute half of it, one feature nothing."""
    rng = np.random.default_rng(0)
    secret = np.arange(n) % 2
    tells = secret + rng.normal(0, 0.2, n)
    half = np.where(rng.random(n) < 0.8, secret, 1 - secret)
    return Graph.from_pairs(
        rng.integers(0, n, (300, 2)),
        n,
        features=np.stack([tells, rng.normal(size=n)], axis=1),
        feature_names=("tells", "noise"),
        attributes={
            "secret": NodeColumn("secret", secret, ("no", "yes")),
            "half": NodeColumn("half", half, ("a", "b")),
        },
    )


@pytest.fixture(scope="module")
def withheld_study(tmp_path_factory):
    """Every point of a study that withholds the columns in turn, computed."""
    graph = make_leaky()
    spec = AuditSpec.check_spec(
        {
            "graph_hash": graph.content_hash,
            "private": "secret",
            "publish_columns": ["tells", "noise", "half"],
            "attacks": [{"key": "feature_regression"}, {"key": "class_prior"}],
            "num_repeats": 2,
        }
    )
    home = tmp_path_factory.mktemp("home")
    points, names = [], {}
    for share, name in list_points(find_kind("columns"), spec, graph):
        point, variant = make_point("columns", share, spec, graph)
        points.append((float(share), run_inline(point, variant, home)))
        names[float(share)] = name
    return spec, graph, points, names


def test_each_column_is_withheld_in_turn(withheld_study):
    _, _, points, names = withheld_study
    assert list(names.values()) == ["nothing", "tells", "noise", "half", "every column"]
    published = [view.spec.disclosure.publish_columns for _, view in points]
    assert published[0] == ("tells", "noise", "half")
    assert published[1:] == [("noise", "half"), ("tells", "half"), ("tells", "noise"), ()]
    assert all(view.spec.defenses == () for _, view in points)


def test_the_column_that_tells_most_falls_most(withheld_study):
    """An attribute that is published is read by attackers as features are."""
    _, _, points, names = withheld_study
    table = compute_study(points)
    values = table[table.method == "feature_regression"].set_index("share").value
    assert values[0] > 0.95
    assert 0.7 < values[1] < 0.9  # what is left is the attribute that tells half
    assert 4.0 not in values  # without columns it cannot run
    falls = compute_falls(table, "attribute", names)
    by_name = falls[falls.attack == parse_attack("feature_regression").title].set_index("withheld")
    assert by_name.loc["tells", "falls by"] == pytest.approx(values[0] - values[1])
    assert by_name.loc["tells", "beyond noise"]
    assert not by_name.loc["noise", "beyond noise"]
    assert "tells" in describe_falls(table, "attribute", names)
    chart = study_lines(table, "attribute", find_kind("columns"), "light", names)
    assert list(chart.figure.layout.xaxis.ticktext) == list(names.values())


def test_many_features_are_withheld_all_together(make_spec, graph):
    assert find_obstacle("columns", make_spec(publish_columns=[]), graph)
    wide = graph.update_columns(
        features=np.ones((graph.num_nodes, 40), np.float32),
        feature_names=tuple(f"w{i}" for i in range(40)),
    )
    spec = make_spec(graph_hash=wide.content_hash)
    assert [n for _, n in list_points(find_kind("columns"), spec, wide)] == [
        "nothing",
        "all 40 features",
    ]
    assert make_point("columns", 1, spec, wide)[0].disclosure.publish_columns == ()
