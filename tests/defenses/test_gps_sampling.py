"""GPS sampling: relaxed graphs against drawn ones, its losses against loops, what it releases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.context import Context
from core.defenses import gps_sampling, imputation, release_selection
from core.defenses.gps_sampling import GpsSampling
from core.defenses.release_selection import FRONTIER, Choice, EvaluatedState
from core.graph import Graph
from core.models.encoders import make_inputs
from core.models.gps.attacker import GpsAttacker, GpsSettings
from core.models.gps.sampler import RatioGap, RelaxedAttacker, Sampler, draw_relaxed
from core.models.gps.sampler_training import compute_believed_auc
from core.models.pair_matrix import PairMatrix
from core.node_column import NodeColumn
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import GRAPHS, make_threats, two_communities
from tests.oracles.progress import RecordingProgress

QUICK = {"epochs": 4, "batch": 8, "attacker_steps": 1, "restarts": 1, "further": 0, "lr": 0.02}


@pytest.fixture(autouse=True)
def _impute_quickly(monkeypatch):
    """What is learned of the values that may not be used takes longer than all the rest."""
    monkeypatch.setattr(imputation, "LEARNED", {"trees": 2, "rounds": 1, "folds": 2, "width": 4})
    monkeypatch.setattr(imputation, "LEARNED_FOLDS", 2)


def publish(threats, seed=0, **settings):
    method = GpsSampling(**{**QUICK, **settings})
    return method.publish(threats.visible, threats, Context(Seed(seed)))


@pytest.fixture
def drawn():
    """A graph, weights 0 or 1 for its links, and the graph of the links with weight 1."""
    graph = two_communities(24)
    keep = np.random.default_rng(0).random(graph.num_edges) < 0.6
    return graph, torch.from_numpy(keep.astype(np.float32)), graph.with_edges(graph.edges[keep])


def make_attacker(graph, backbone, seed=0):
    """The simulated attacker with fresh weights, in evaluation mode."""
    beliefs, prior = torch.full((graph.num_nodes, 2), 0.5), torch.full((2,), 0.5)
    settings = GpsSettings(backbone=backbone)
    inputs = make_inputs(graph)
    attacker = RelaxedAttacker(graph, inputs, beliefs, prior, settings, 0.01, 8, Seed(seed), "cpu")
    attacker.model.eval()
    return attacker


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("backbone", ["gcn", "gin", "sage", "gat"])
def test_the_simulated_attacker_is_the_attack_layer_for_layer(drawn, backbone, weighted):
    """On the unsampled graph, and on a graph drawn from it: one forward pass to 1e-5."""
    graph, kept, _ = drawn
    if weighted:
        strengths = np.random.default_rng(1).uniform(0.1, 3.0, graph.num_edges)
        graph = graph.with_edges(graph.edges, strengths)
    for shares in (torch.ones(graph.num_edges), kept):
        mask = shares.numpy() > 0
        weights = None if graph.weights is None else graph.weights[mask]
        real = GpsAttacker(
            graph.with_edges(graph.edges[mask], weights),
            np.arange(24) % 2,
            2,
            GpsSettings(backbone=backbone),
            Context(Seed(3)),
        )
        simulated = make_attacker(graph, backbone)
        simulated.model.load_state_dict(real.model.state_dict())
        with torch.no_grad():
            found = simulated.score(shares, np.arange(24))
        torch.testing.assert_close(found, real._infer(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("backbone", ["gcn", "gin", "sage", "gat"])
def test_what_the_simulated_attacker_says_has_the_right_gradient(drawn, backbone):
    """Against central differences along a random direction."""
    graph, _, _ = drawn
    attacker = make_attacker(graph, backbone)
    nodes = np.arange(24)
    # The overlap has no gradient, and a share that crosses one half would change it.
    kept = torch.full((graph.num_edges,), 0.7, requires_grad=True)
    weights = torch.randn(24, 2, generator=Seed(5).torch("mix"))

    def total(shares):
        return (attacker.score(shares, nodes) * weights).sum()

    total(kept).backward()
    with torch.no_grad():
        direction = torch.randn(graph.num_edges, generator=Seed(6).torch("direction"))
        step = 1e-3 * direction
        slope = (total(kept + step) - total(kept - step)) / 2e-3
    found = float(kept.grad @ direction)
    assert abs(found) > 1e-2
    assert found == pytest.approx(float(slope), rel=0.05, abs=0.02)


def test_a_mean_over_hardly_kept_links_keeps_its_gradient_bounded(drawn):
    graph, _, _ = drawn
    attacker = make_attacker(graph, "sage")
    kept = torch.full((graph.num_edges,), 1e-6, requires_grad=True)
    attacker.score(kept, np.arange(24)).square().mean().backward()
    assert float(kept.grad.abs().max()) < 100


def test_ratio_gap_equals_loops_over_neighbours_and_peers(drawn):
    graph, weights, smaller = drawn
    codes = np.arange(24) >= 12
    beliefs = torch.eye(2)[torch.from_numpy(codes.astype(int))]
    prior = torch.tensor([0.4, 0.6])
    gap = RatioGap(PairMatrix(24, graph.edges), beliefs, prior, 3.0, np.random.default_rng(0))
    adjacency, degrees = smaller.adjacency.toarray(), smaller.degrees
    border = max(3.0 / 4, 0.5)
    expected = 0.0
    for i in range(24):
        share = float(prior[int(codes[i])])
        near = 1 / (1 + np.exp(-(3.5 - np.abs(degrees - degrees[i])) / border))
        near[i] = 0
        for row in (adjacency[i], near):
            ratio = (row[codes == codes[i]].sum() + share) / (row.sum() + 1)
            expected += abs(ratio - share) / 24
    assert float(gap(weights)) == pytest.approx(expected, rel=1e-4)


def test_relaxed_draws_are_bernoulli_at_low_temperature():
    logits = torch.tensor([-2.0, 0.0, 1.5]).repeat(20_000, 1)
    draws = draw_relaxed(logits, 0.01, Seed(0).torch("draws"))
    assert ((draws < 0.01) | (draws > 0.99)).float().mean() > 0.98
    means = draws.mean(dim=0)
    torch.testing.assert_close(means, torch.sigmoid(logits[0]), atol=0.015, rtol=0)


def test_a_links_probability_does_not_depend_on_the_order_of_its_ends():
    graph = two_communities(20)
    order = np.random.default_rng(3).permutation(20)
    place = np.argsort(order)
    inverted = Graph.from_pairs(place[graph.edges], 20, features=graph.features[order])
    logits = Sampler(graph, make_inputs(graph), Seed(0), "cpu")()
    other = Sampler(inverted, make_inputs(inverted), Seed(0), "cpu")()
    codes = np.sort(place[graph.edges], axis=1)
    where = np.searchsorted(inverted.edge_codes, codes[:, 0] * 20 + codes[:, 1])
    torch.testing.assert_close(logits, other[torch.from_numpy(where)], atol=1e-4, rtol=1e-4)


def test_believed_auc_is_the_auc_where_beliefs_are_certain():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 200), np.round(rng.random(200), 1)
    found = compute_believed_auc(np.stack([1 - scores, scores], axis=1), np.eye(2)[truth])
    assert found == pytest.approx(roc_auc_score(truth, scores))
    assert compute_believed_auc(np.full((200, 2), 0.5), np.eye(2)[truth]) == 0.5


@pytest.mark.parametrize("variant", ["full", "adv", "dis"])
def test_releases_a_part_of_the_links_and_their_probabilities(variant):
    threats = make_threats(two_communities())
    release = publish(threats, variant=variant)
    graph = threats.visible
    assert graph.contains_pairs(release.graph.edges).all()
    assert release.link_scores.shape == (graph.num_edges,)
    assert ((release.link_scores >= 0) & (release.link_scores <= 1)).all()
    assert release.graph.num_edges < graph.num_edges
    named = {name.partition(",")[0] for name in release.curves}
    assert ("adversary's loss" in named) == (variant != "dis")
    assert ("ratio gap" in named) == (variant != "adv")


def test_hidden_values_are_never_read():
    threats = make_threats(two_communities())
    threat = threats.attribute
    codes = threat.attribute.codes.copy()
    codes[threat.hidden] = 1 - codes[threat.hidden]
    other = replace(
        threats,
        attribute=replace(threat, attribute=NodeColumn("private", codes, threat.attribute.classes)),
    )
    first, second = publish(threats), publish(other)
    np.testing.assert_array_equal(first.graph.edges, second.graph.edges)


def test_ratios_even_out_with_their_weight():
    threats = make_threats(two_communities(60, seed=4))
    shares, kept = [], []
    for eta in (0.0, 60.0):  # the state with most links, whatever attackers reach on it
        release = publish(threats, variant="dis", eta=eta, epochs=60, target=1.0)
        shares.append(homophily(release.graph, threats))
        kept.append(release.link_scores.mean())
    assert shares[1] < shares[0] - 0.02
    assert kept[1] < kept[0]
    gaps = [value for _, value in release.curves["ratio gap, restart 1"]]
    assert gaps[-1] < gaps[0] / 3


def homophily(graph, threats):
    codes = threats.attribute.attribute.codes
    return (codes[graph.edges[:, 0]] == codes[graph.edges[:, 1]]).mean()


def test_weights_of_kept_links_stay_and_reasons_are_given():
    graph = GRAPHS["weighted"]()
    threats = make_threats(graph)
    released = publish(threats, variant="dis").graph
    kept = np.isin(threats.visible.edge_codes, released.edge_codes)
    np.testing.assert_array_equal(released.weights, threats.visible.weights[kept])
    assert "private column" in GpsSampling().supports(graph, Threats(graph))


def test_it_is_trained_again_while_no_release_is_near_the_target(monkeypatch):
    """Two trainings, then one by one; the curves and facts tell all of them."""
    graph, attacks = two_communities(), iter([0.9, 0.8, 0.57])

    def choose(graph, threat, beliefs, states, target, context, **options):
        attack = next(attacks)
        best = EvaluatedState(attack, states[0])
        return Choice(best, [0.6] * len(states), tried=(best,))

    monkeypatch.setattr(gps_sampling, "choose_state", choose)
    threats = make_threats(graph)
    settings = {**QUICK, "restarts": 2, "further": 5, "target": 0.55}
    release = GpsSampling(**settings).publish(threats.visible, threats, Context(Seed(0)))
    assert release.facts["restarts"] == 4
    assert release.facts["estimated_attack_auc"] == 0.57
    assert {name.rpartition(" ")[2] for name in release.curves} >= {"1", "2", "3", "4"}


@pytest.fixture(scope="module")
def homophilous():
    """People who mostly know their like: no release keeps many links and tells nothing."""
    rng = np.random.default_rng(3)
    side = np.arange(80) >= 40
    i, j = np.triu_indices(80, 1)
    keep = rng.random(len(i)) < np.where(side[i] == side[j], 0.12, 0.01)
    column = NodeColumn("private", side.astype(int), ("left", "right"))
    attributes = {"private": column, "label": replace(column, name="label")}
    return make_threats(
        Graph.from_pairs(np.stack([i[keep], j[keep]], 1), 80, attributes=attributes)
    )


@pytest.fixture
def quick_attacks(monkeypatch):
    """Releases are judged by label propagation and degrees only."""
    monkeypatch.setattr(release_selection, "_make_verifiers", dict)


@pytest.mark.nightly
@pytest.mark.usefixtures("quick_attacks")
def test_where_both_goals_cannot_be_met_the_nearest_to_each_are_offered(homophilous):
    goals = {"target": 0.5, "least_kept": 0.5, "epochs": 20}
    private, useful = (publish(homophilous, prefer=goal, **goals) for goal in ("privacy", "links"))
    assert private.facts["meets_both_goals"] == useful.facts["meets_both_goals"] == 0.0
    for release in (private, useful):
        points = release.curves[FRONTIER]
        assert points == sorted(points)
        assert all(0 <= share <= 1 and 0.5 <= attack <= 1 for share, attack in points)
        for name in ("private", "useful"):
            facts = [
                release.facts[f"{what}_most_{name}_release"]
                for what in ("share_kept_by", "attack_auc_of")
            ]
            assert tuple(facts) in points
    assert useful.facts["expected_share_kept"] == useful.facts["share_kept_by_most_useful_release"]
    enough = [point for point in useful.curves[FRONTIER] if point[0] >= goals["least_kept"]]
    nearest = min(enough, key=lambda point: point[1]) if enough else useful.curves[FRONTIER][-1]
    assert useful.facts["share_kept_by_most_useful_release"] == nearest[0]
    assert useful.link_scores.mean() == pytest.approx(useful.facts["expected_share_kept"])
    lowest = min(attack for _, attack in useful.curves[FRONTIER])
    assert useful.facts["attack_auc_of_most_private_release"] == lowest


@pytest.mark.usefixtures("quick_attacks")
@pytest.mark.parametrize("bound", [0.0, 0.1])
def test_people_left_without_links_are_bounded(homophilous, bound):
    release = publish(homophilous, max_isolated=bound, eta=500.0, epochs=20, lr=0.1, variant="dis")
    graph = homophilous.visible
    isolated = ((graph.degrees > 0) & (release.graph.degrees == 0)).sum()
    assert isolated <= bound * (graph.degrees > 0).sum()
    assert release.facts["share_left_without_links"] == isolated / (graph.degrees > 0).sum()


@pytest.mark.usefixtures("quick_attacks")
def test_quick_attacks_are_shown_while_it_trains(homophilous):
    progress = RecordingProgress()
    settings = {**QUICK, "restarts": 2, "epochs": 12}
    context = Context(Seed(0), progress=progress)
    GpsSampling(**settings).publish(homophilous.visible, homophilous, context)
    assert len(progress.curves[f"quick {FRONTIER}"]) == 4
