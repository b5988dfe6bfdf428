"""A graph whose features give links away: the answer says so, and what to publish."""

from __future__ import annotations

import numpy as np
import pytest

from core.audit.asked.spec import AuditSpec
from core.findings.columns import answer_columns
from core.findings.tables import main_metric
from core.findings.tradeoff import answer_tradeoff, compute_tradeoff, find_best_release
from core.graph import Graph
from tests.inline import run_inline


def make_graph(features_tell: bool, n: int = 240) -> Graph:
    """Links between nearest neighbours in 8 dimensions, which the features are; or two dense
    halves with features that say nothing."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 8)).astype(np.float32)
    if features_tell:
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        near = points @ points.T
        np.fill_diagonal(near, -2)
        pairs = np.stack([np.arange(n), near.argmax(axis=1)], axis=1)
        pairs = np.concatenate([pairs, np.stack([np.arange(n), near.argsort(axis=1)[:, -2]], 1)])
    else:
        blocks = np.arange(n) // 12
        i, j = np.triu_indices(n, 1)
        keep = (blocks[i] == blocks[j]) & (rng.random(len(i)) < 0.8)
        pairs = np.stack([i[keep], j[keep]], axis=1)
    return Graph.from_pairs(pairs, n, features=points)


@pytest.fixture(scope="module", params=[True, False], ids=["columns", "links"])
def audited(request, tmp_path_factory):
    graph = make_graph(request.param)
    spec = AuditSpec.check_spec(
        {
            "graph_hash": graph.content_hash,
            "hide_links": 0.2,
            "test_links": 0.0,
            "attacks": [{"key": "feature_cosine"}, {"key": "adamic_adar"}],
            "defenses": [
                {"key": "random_deletion", "config": {"strength": 0.3}},
                {"key": "random_rewiring", "config": {"strength": 0.8}},
                {"key": "without_columns"},
                {"key": "without_columns", "config": {"defense": "random_deletion"}},
            ],
            "num_repeats": 3,
        }
    )
    return request.param, run_inline(spec, graph, tmp_path_factory.mktemp("home"))


def test_the_answer_names_the_leak(audited):
    features_tell, view = audited
    text = answer_columns(view.results, "link")
    if features_tell:
        assert text.startswith("Columns, not links, are the leak")
        assert "the lowest that keeps them" in text
    else:
        assert text.startswith("Links, not columns, are the leak")
        assert "Random rewiring" in text


def test_withholding_them_is_the_recommended_row(audited):
    features_tell, view = audited
    table = compute_tradeoff(view.results, "auc", "links_kept", threat="link")
    assert main_metric(view.results, "link") is not None
    limit = 0.75
    best = find_best_release(table, limit, "links_kept")
    if features_tell:
        assert best == "without_columns"
        assert "Without columns" in answer_tradeoff(table, limit, "auc", "links_kept")
    else:
        assert best != "without_columns"


def test_nothing_is_said_where_no_release_lacks_the_columns(audited):
    results = audited[1].results
    rows = results[~results.release.str.startswith("without_columns")]
    assert answer_columns(rows, "link") == ""
