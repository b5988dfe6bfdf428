"""PPGSL: what is learned and published, and that it works against its own attacker."""

from __future__ import annotations

import numpy as np
import pytest

from core.attacks.link.feature_neighbourhood import compute_neighbourhood_cosines
from core.context import Context
from core.defenses.ppgsl import FGP_MAX_NODES, Ppgsl
from core.errors import UnsupportedError
from core.graph import Graph
from core.methods import NEEDS_LINKS
from core.registry import make_method
from core.seeding import Seed
from core.threats import LinkThreat, Threats
from tests.oracles.graphs import GRAPHS, make_threats, two_communities
from tests.oracles.progress import RecordingProgress

QUICK = {"steps": 30, "mu": 10, "surrogate_epochs": 15}


def publish(graph, threats, seed=0, **settings):
    return Ppgsl(**{**QUICK, **settings}).publish(graph, threats, Context(Seed(seed)))


def test_without_candidates_links_are_only_removed():
    threats = make_threats(two_communities())
    release = publish(threats.visible, threats, k=0, alpha=0.0)
    assert threats.visible.contains_pairs(release.graph.edges).all()
    assert release.graph.num_edges < threats.visible.num_edges


def test_candidates_become_links_but_sensitive_links_never_do():
    threats = make_threats(two_communities())
    release = publish(threats.visible, threats, full=True, alpha=0.0)
    added = ~threats.visible.contains_pairs(release.graph.edges)
    assert added.sum() > 0
    assert not release.graph.contains_pairs(threats.link.hidden).any()


def test_a_high_price_leaves_the_graph_as_it_is():
    threats = make_threats(two_communities())
    release = publish(threats.visible, threats, alpha=10.0)
    np.testing.assert_array_equal(release.graph.edges, threats.visible.edges)


def test_a_lower_price_changes_more_and_hides_more():
    threats = make_threats(two_communities(60, seed=4))
    changes, privacy = [], []
    for alpha in (10.0, 0.05, 0.0):
        release = publish(threats.visible, threats, alpha=alpha)
        changes.append(len(np.setxor1d(threats.visible.edge_codes, release.graph.edge_codes)))
        privacy.append(release.curves["privacy loss"][-1][1])
    assert changes == sorted(changes)
    assert changes[2] > changes[0]
    assert privacy[2] < privacy[0]


def test_weighted_graphs_keep_their_scale():
    graph = GRAPHS["weighted"]()
    weights = np.asarray(graph.weights) * 7.0
    graph = Graph.from_pairs(
        graph.edges,
        graph.num_nodes,
        weights=weights,
        features=graph.features,
        attributes=graph.attributes,
    )
    threats = make_threats(graph)
    kept = publish(threats.visible, threats, alpha=10.0).graph
    assert kept.weights.max() <= weights.max() * (1 + 1e-6)
    change = (kept.adjacency - threats.visible.adjacency).toarray()
    assert abs(change).max() < 0.15 * weights.max()
    changed = publish(threats.visible, threats, alpha=0.0).graph
    change = (changed.adjacency - threats.visible.adjacency).toarray()
    assert abs(change).max() > 0.5 * weights.max()


@pytest.mark.parametrize("settings", [{"protocol": "adv"}, {"head": "inner"}, {"head": "mlp"}])
@pytest.mark.parametrize("name", ["two_communities", "two_components"])
def test_protocols_and_heads_lower_the_privacy_loss(settings, name):
    threats = make_threats(GRAPHS[name]())
    release = publish(threats.visible, threats, alpha=0.0, mu=30, **settings)
    losses = [value for _, value in release.curves["privacy loss"]]
    assert min(losses[1:]) < losses[0]


def test_curves_are_shown_while_they_grow_and_kept():
    threats = make_threats(two_communities())
    progress = RecordingProgress()
    context = Context(Seed(0), progress=progress)
    release = Ppgsl(**QUICK).publish(threats.visible, threats, context)
    assert progress.curves == release.curves
    assert len(release.curves["learner loss"]) == 30
    assert len(release.curves["surrogate loss"]) == 3 * 15


def test_adv_never_starts_afresh():
    threats = make_threats(two_communities())
    release = publish(threats.visible, threats, protocol="adv", steps=5)
    assert len(release.curves["surrogate loss"]) == 15 + 4 * 8


def test_the_defender_never_sees_what_the_audit_measures_with():
    """Other non-links and test links must not change the release."""
    threats = make_threats(two_communities())
    other = Threats(
        threats.visible, LinkThreat(threats.link.hidden, threats.link.absent[:1], 0.5), None, None
    )
    left = publish(threats.visible, threats)
    right = publish(threats.visible, other)
    np.testing.assert_array_equal(left.graph.edges, right.graph.edges)


def test_full_parameterisation_is_refused_beyond_its_limit():
    graph = Graph.from_pairs(np.array([[0, 1], [1, 2], [2, 3]]), FGP_MAX_NODES + 1)
    link = LinkThreat(np.array([[0, 2]]), np.array([[0, 3]]), 0.1)
    reason = Ppgsl(full=True).supports(graph, Threats(graph, link))
    assert f"{FGP_MAX_NODES:,} nodes" in reason
    with pytest.raises(UnsupportedError, match="pairs with full"):
        Ppgsl(full=True).publish(graph, Threats(graph, link), Context(Seed(0)))
    assert Ppgsl().supports(graph, Threats(graph)) == NEEDS_LINKS


def test_withheld_features_are_neither_published_nor_learned_from():
    graph = two_communities(40)
    threats = make_threats(graph)
    quick = {"steps": 4, "mu": 2, "surrogate_epochs": 3, "withhold_features": True}
    context = Context(Seed(0))
    release = make_method("ppgsl", quick).publish(threats.visible, threats, context)
    assert release.graph.features is None
    assert release.graph.node_ids == graph.node_ids
    bare = threats.visible.update_columns(features=None)
    quick["withhold_features"] = False
    same = make_method("ppgsl", quick).publish(bare, threats, context)
    np.testing.assert_array_equal(release.graph.edges, same.graph.edges)


def test_a_committee_hides_from_attackers_that_read_features():
    """What tells hidden pairs from the others in the ends' and neighbours' features falls."""
    threats = make_threats(two_communities(60, seed=1))
    pairs, truth = threats.link.pairs, threats.link.truth
    gaps = []
    for has_committee in (False, True):
        found = []
        for seed in range(3):
            release = publish(
                threats.visible, threats, seed, steps=120, alpha=0.01, committee=has_committee
            )
            scores = compute_neighbourhood_cosines(release.graph, pairs, Context(Seed(0))).across
            found.append(scores[truth].mean() - scores[~truth].mean())
        gaps.append(np.mean(found))
    assert gaps[1] < 0.75 * gaps[0]
