"""The supervised pair attacker: its columns, its judge, and the links that it hides itself."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from core.algorithms.pairs import hide_in_turn, hide_links
from core.attacks.link import pair_classifier, pair_likeness
from core.attacks.link.feature_neighbourhood import weigh_features
from core.attacks.link.pair_classifier import LEAST, fit_pair_classifier
from core.attacks.link.pair_features import (
    AFFINITY_RANKS,
    compute_affinities,
    compute_spectrum,
    describe_pairs,
    list_columns,
)
from core.attacks.link.pair_likeness import (
    UNLIKE,
    WIDTH,
    _find_densities,
    describe_clusters,
    describe_latent,
    describe_likeness,
    share_latent,
)
from core.context import Context
from core.data.splits import draw_threats
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS, two_communities


def test_columns_equal_networkx_where_it_has_them():
    graph = GRAPHS["two_communities"]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)[::5]
    table = describe_pairs(graph, pairs, Context(Seed(0)), has_embedding=False)
    columns = dict(zip(list_columns(graph, False), table.T, strict=True))
    reference, ends = graph.to_networkx(), pairs.tolist()
    for name, oracle in {
        "Adamic–Adar": nx.adamic_adar_index,
        "resource allocation": nx.resource_allocation_index,
    }.items():
        expected = np.log1p([score for _, _, score in oracle(reference, ends)])
        np.testing.assert_allclose(columns[name], expected)
    jaccard = [score for _, _, score in nx.jaccard_coefficient(reference, ends)]
    np.testing.assert_allclose(columns["Jaccard"], jaccard)
    degrees = np.sort([[reference.degree[i], reference.degree[j]] for i, j in ends], axis=1)
    np.testing.assert_allclose(columns["lower degree"], np.log1p(degrees[:, 0]))
    np.testing.assert_allclose(columns["higher degree"], np.log1p(degrees[:, 1]))


def test_what_surrounds_the_ends_equals_networkx_and_loops():
    graph = GRAPHS["two_communities"]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)[::7]
    table = describe_pairs(graph, pairs, Context(Seed(0)), has_embedding=False)
    columns = dict(zip(list_columns(graph, False), table.T, strict=True))
    reference = graph.to_networkx()
    degrees = dict(reference.degree)
    near = {z: np.mean([degrees[u] for u in reference[z]] or [0.0]) for z in reference}
    triangles = nx.triangles(reference)
    for name, values in {
        "clustering": nx.clustering(reference),
        "triangles": {z: np.log1p(count) for z, count in triangles.items()},
        "neighbours' degree": {z: np.log1p(value) for z, value in near.items()},
    }.items():
        expected = np.sort([[values[i], values[j]] for i, j in pairs.tolist()], axis=1)
        np.testing.assert_allclose(columns[f"lower {name}"], expected[:, 0], atol=1e-12)
        np.testing.assert_allclose(columns[f"higher {name}"], expected[:, 1], atol=1e-12)
    paths = [
        sum(
            1 / np.sqrt(degrees[u] * degrees[v])
            for u in reference[i]
            for v in reference[j]
            if reference.has_edge(u, v)
        )
        for i, j in pairs.tolist()
    ]
    np.testing.assert_allclose(columns["paths of three links"], np.log1p(paths))


def test_latent_cosines_equal_those_of_all_directions_where_none_is_left_out():
    graph = GRAPHS["two_communities"]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)[::7]
    features = weigh_features(graph).toarray()
    assert min(features.shape) <= WIDTH
    closed = graph.adjacency.toarray().astype(float) + np.eye(graph.num_nodes)
    scale = 1 / np.sqrt(closed.sum(axis=1))
    step = closed * scale[:, None] * scale
    tables = [features, step @ features, step @ step @ features]
    units = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in tables]
    i, j = pairs.T
    expected = [(table[i] * table[j]).sum(axis=1) for table in units]
    own, _, two = units
    expected.append((own[i] * two[j]).sum(axis=1) + (own[j] * two[i]).sum(axis=1))
    found = describe_latent(graph, pairs, Context(Seed(0)))
    np.testing.assert_allclose(found, np.stack(expected, axis=1), atol=1e-4)


def test_spectrum_equals_the_leading_eigenvectors():
    graph = GRAPHS["two_communities"]()
    closed = graph.adjacency.toarray().astype(float) + np.eye(graph.num_nodes)
    scale = 1 / np.sqrt(closed.sum(axis=1))
    values, vectors = np.linalg.eigh(closed * scale[:, None] * scale)
    order = np.argsort(-np.abs(values))[:3]
    found = compute_spectrum(graph, Context(Seed(0)))[:, :3]
    for column, place in enumerate(order):
        expected = vectors[:, place] * values[place]
        cosine = expected @ found[:, column] / np.linalg.norm(expected) ** 2
        assert abs(cosine) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("name", ["two_communities", "weighted"])
def test_affinities_are_entries_of_the_nearest_matrix_of_that_rank(name):
    graph = GRAPHS[name]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), axis=1)
    values, vectors = np.linalg.eigh(graph.adjacency.toarray().astype(float))
    order = np.argsort(-np.abs(values), kind="stable")
    found = compute_affinities(graph, pairs, Context(Seed(0)))
    for column, rank in enumerate(AFFINITY_RANKS):
        kept = order[:rank]
        if rank < len(values) and np.isclose(*np.abs(values[order[rank - 1 : rank + 1]])):
            continue  # which of two equally large ones is kept is nobody's choice
        nearest = (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
        np.testing.assert_allclose(found[:, column], nearest[*pairs.T], atol=2e-2)


def test_unlike_kinds_of_uneven_activity_are_found():
    """Kinds that meet others rather than their own, few links each: signed affinities and further
    rounds each bring more than .01, so that neither may be lost."""
    found = []
    for split in range(3):
        rng, n = np.random.default_rng(split), 600
        kinds, activity = rng.integers(0, 4, n), rng.pareto(2.0, n) + 0.5
        meet = np.array([[0.1, 1, 0.1, 3], [1, 0.1, 3, 0.1], [0.1, 3, 0.1, 1], [3, 0.1, 1, 0.1]])
        rate = np.triu(np.outer(activity, activity) * meet[kinds][:, kinds], 1)
        rate *= 3500 / rate.sum()
        graph = Graph.from_pairs(np.argwhere(rng.random(rate.shape) < 1 - np.exp(-rate)), n)
        threats = draw_threats(graph, Seed(split), hide_links=0.1)
        attack = make_method("pair_classifier", {}, "link_attack")
        scores = attack.score(Release(threats.visible), threats.link, Context(Seed(0)))
        found.append(compute_auc(scores.scores, threats.link.truth)[0])
    assert np.mean(found) > 0.836


@pytest.mark.parametrize(("enough", "rounds", "expected"), [(1, 8, 1), (4000, 3, 3)])
def test_rounds_end_where_there_is_enough_to_learn_from(monkeypatch, enough, rounds, expected):
    graph = two_communities()
    seen = []

    def describe(rest, pairs, *_):
        seen.append(rest.num_edges)
        return describe_pairs(rest, pairs, *_)

    monkeypatch.setattr(pair_classifier, "ENOUGH", enough)
    monkeypatch.setattr(pair_classifier, "describe_pairs", describe)
    threat = LinkThreat(graph.edges[:2], np.array([[0, 1]]), prior=0.5)
    attack = make_method("pair_classifier", {"rounds": rounds}, "link_attack")
    attack.score(Release(graph), threat, Context(Seed(0)))
    assert sum(links < graph.num_edges for links in seen) == expected


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_links_hidden_in_turn_are_hidden_once(name):
    graph = GRAPHS[name]()
    rounds = list(hide_in_turn(graph, 0.2, 1000, 3, np.random.default_rng(0), ratio=2.0))
    every = np.concatenate([hidden for _, hidden, _ in rounds])
    assert len(np.unique(every, axis=0)) == len(every)
    assert 1 <= len(rounds) <= 3
    for rest, hidden, absent in rounds:
        assert graph.contains_pairs(hidden).all()
        assert not rest.contains_pairs(hidden).any()
        assert rest.num_edges + len(hidden) == graph.num_edges
        assert not graph.contains_pairs(absent).any()


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_hidden_links_are_out_and_non_links_are_none_of_the_whole_graph(name):
    graph = GRAPHS[name]()
    rest, hidden, absent = hide_links(graph, 0.2, 1000, np.random.default_rng(0), ratio=2.0)
    assert graph.contains_pairs(hidden).all()
    assert not rest.contains_pairs(hidden).any()
    assert rest.num_edges + len(hidden) == graph.num_edges
    assert not graph.contains_pairs(absent).any()


def test_the_judge_trusts_trees_where_no_line_tells_the_sides_apart():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(800, 3))
    crossed = columns[:, 0] * columns[:, 1] > 0
    straight = columns[:, 0] + 0.5 * rng.normal(size=800) > 0
    new = rng.normal(size=(500, 3))
    judge = fit_pair_classifier(columns, crossed, Context(Seed(0)))
    line, trees = judge.weights
    assert trees > 1.5 * abs(line)
    assert (
        judge.name == f"LogisticRegression {line:.2f}, HistGradientBoostingClassifier {trees:.2f}"
    )
    assert compute_auc(judge.compute_logits(new), new[:, 0] * new[:, 1] > 0)[0] > 0.9
    line, trees = fit_pair_classifier(columns, straight, Context(Seed(0))).weights
    assert line > 1.5 * abs(trees)


def test_the_judge_is_calibrated_and_knows_nothing_of_noise():
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(4000, 2))
    truth = rng.random(4000) < 1 / (1 + np.exp(-2 * columns[:, 0]))
    judge = fit_pair_classifier(columns, truth, Context(Seed(0)))
    logits = judge.compute_logits(columns)
    assert np.mean(1 / (1 + np.exp(-logits))) == pytest.approx(truth.mean(), abs=0.02)
    assert np.corrcoef(logits, 2 * columns[:, 0])[0, 1] > 0.97
    noise = fit_pair_classifier(columns, rng.random(4000) < 0.5, Context(Seed(0)))
    assert noise.loss == pytest.approx(np.log(2), abs=0.01)


def test_too_few_cases_teach_nothing():
    judge = fit_pair_classifier(np.eye(6), np.arange(6) < LEAST - 4, Context(Seed(0)))
    assert judge.name == "none"
    assert not judge.compute_logits(np.eye(6)).any()


def test_learned_from_its_own_secrets_it_beats_each_heuristic_on_a_planted_graph():
    graph = two_communities(120, seed=5)
    rng = np.random.default_rng(0)
    hidden = graph.edges[rng.permutation(graph.num_edges)[:150]]
    i, j = np.triu_indices(120, 1)
    absent = np.stack([i, j], 1)[~graph.contains_pairs(np.stack([i, j], 1))]
    threat = LinkThreat(hidden, absent[rng.permutation(len(absent))[:150]], 0.1)
    release = Release(graph.without_edges(hidden))
    found = {
        key: compute_auc(
            make_method(key, config).score(release, threat, Context(Seed(0))).scores, threat.truth
        )[0]
        for key, config in {"pair_classifier": {"embedding": False}, "feature_cosine": {}}.items()
    }
    assert found["pair_classifier"] > max(0.68, found["feature_cosine"])


def test_training_never_sees_the_pairs_that_are_asked_about():
    """Other questions, same answers: the pairs of the threat do not enter the training."""
    graph = two_communities(60, seed=2)
    method = make_method("pair_classifier", {"embedding": False})
    pairs = np.array([[0, 5], [1, 50], [3, 9]])
    answers = [
        method.score(Release(graph), threat, Context(Seed(3))).scores
        for threat in (
            LinkThreat(pairs, np.zeros((0, 2), int), 0.1),
            LinkThreat(pairs[:1], pairs[1:], 0.9),
        )
    ]
    np.testing.assert_array_equal(answers[0], answers[1])


def test_likeness_of_ends_and_neighbours_by_a_loop_over_neighbours():
    graph, context = two_communities(40), Context(Seed(0))
    vectors = share_latent(graph, context)[0].astype(float)
    dense, rows = graph.adjacency.toarray(), []
    for node in range(40):
        cosines = [
            vectors[node] @ vectors[z] / np.linalg.norm(vectors[node]) / np.linalg.norm(vectors[z])
            for z in np.flatnonzero(dense[node])
        ]
        unlike = [cosine < UNLIKE for cosine in cosines]
        rows.append([sum(cosines), np.mean(cosines), sum(unlike), np.mean(unlike)])
    pairs = np.array([[0, 5], [7, 31], [20, 39]])
    expected = [np.sort(np.array([rows[i], rows[j]]), axis=0).T.ravel() for i, j in pairs]
    np.testing.assert_allclose(describe_likeness(graph, pairs, context), expected, atol=1e-5)
    np.testing.assert_array_equal(
        describe_likeness(graph, pairs, context), describe_likeness(graph, pairs[:, ::-1], context)
    )


def test_clusters_of_features_that_meet_are_dense():
    """Features at four corners; links within a corner and between two of the corners."""
    rng = np.random.default_rng(0)
    kind = np.arange(160) % 4
    features = np.eye(4)[kind] * 4 + 0.1 * rng.normal(size=(160, 4))
    i, j = np.triu_indices(160, 1)
    meets = (kind[i] == kind[j]) | ((kind[i] == 0) & (kind[j] == 1))
    keep = meets & (rng.random(len(i)) < 0.3)
    graph = Graph.from_pairs(np.stack([i, j], 1)[keep], 160, features=features)
    pairs = np.array([[0, 4], [0, 1], [0, 2]])  # same corner, corners that meet, that do not
    found = describe_clusters(graph, pairs, Context(Seed(0)))[:, 0]
    assert found[0] > 0.2
    assert found[1] > found[2] + 1
    swapped = describe_clusters(graph, pairs[:, ::-1], Context(Seed(0)))[:, 0]
    np.testing.assert_array_equal(found, swapped)


def test_densities_of_clusters_by_a_count_over_links(monkeypatch):
    graph, context = two_communities(40), Context(Seed(0))
    pairs = np.stack(np.triu_indices(40, 1), axis=1)
    tables = _find_densities(graph, context)
    monkeypatch.setattr(pair_likeness, "_find_densities", lambda *given: tables)
    found = describe_clusters(graph, pairs, context)
    for column, (labels, *_) in zip((0, 2), tables, strict=True):
        ends = labels[np.concatenate([graph.edges, graph.edges[:, ::-1]])]
        sizes, degrees = np.bincount(labels), np.bincount(ends[:, 0], minlength=labels.max() + 1)
        for (i, j), by_degrees, by_sizes in zip(
            pairs, found[:, column], found[:, column + 1], strict=True
        ):
            a, b = labels[i], labels[j]
            links = ((ends == [a, b]).all(axis=1)).sum()
            expected = degrees[a] * degrees[b] / len(ends)
            assert by_degrees == pytest.approx(np.log((links + 1) / (expected + 1)))
            expected = sizes[a] * sizes[b] * len(ends) / 40**2
            assert by_sizes == pytest.approx(np.log((links + 1) / (expected + 1)))


@pytest.mark.parametrize("limit", [30, 1000])
def test_clusters_compare_directions_of_features_not_lengths(limit, monkeypatch):
    """Two directions, each with short and long rows: k-means by length would part these."""
    monkeypatch.setattr(pair_likeness, "CLUSTERS", (2,))
    monkeypatch.setattr(pair_likeness, "MAX_CLUSTERED", limit)
    rng = np.random.default_rng(0)
    kind, length = np.arange(80) % 2, np.where(np.arange(80) < 40, 0.05, 1.0)
    vectors = np.eye(2)[kind] * length[:, None] + 0.001 * rng.normal(size=(80, 2))
    monkeypatch.setattr(pair_likeness, "share_latent", lambda *given: (vectors, None, None))
    labels = _find_densities(two_communities(80), Context(Seed(0)))[0][0]
    assert len(set(zip(labels, kind, strict=True))) == 2
