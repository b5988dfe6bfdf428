"""What a defense believes of hidden values: certain where told, useful where not, never peeking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.context import Context
from core.data.splits import draw_attribute_threat
from core.defenses import imputation
from core.defenses.imputation import impute_values
from core.errors import RunCancelled
from core.progress import Progress
from core.seeding import Seed
from core.threats import AttributeThreat
from tests.oracles.graphs import make_threats, plant_blocks, two_communities


def guess(graph, threat: AttributeThreat) -> np.ndarray:
    return impute_values(graph, threat, Context(Seed(0)))


def compute_losses(beliefs: np.ndarray, threat: AttributeThreat) -> tuple[float, float]:
    """Log-loss over the hidden nodes of beliefs, and of the class shares."""
    truth = threat.attribute.codes[threat.hidden]
    own = -np.log(beliefs[threat.hidden, truth]).mean()
    return float(own), float(-np.log(threat.observed_shares[truth]).mean())


def make_roles(seed: int, n: int = 240):
    """People with many links and with few, whoever their neighbours are."""
    codes = np.arange(n) % 2
    theta = np.where(codes == 1, 2.5, 0.6)
    graph = plant_blocks(codes, np.full((2, 2), 8.0 / n), seed, theta)
    return graph, draw_attribute_threat(graph, "private", 0.4, Seed(seed))


def test_guesses_keep_known_values_and_beat_the_class_shares():
    threats = make_threats(two_communities(60, seed=2))
    threat = threats.attribute
    beliefs = guess(threats.visible, threat)
    np.testing.assert_allclose(beliefs.sum(axis=1), 1)
    certain = np.eye(2)[threat.observed[threat.known]]
    np.testing.assert_array_equal(beliefs[threat.known], certain)
    own, shares = compute_losses(beliefs, threat)
    assert own < shares - 0.1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_guesses_see_roles_where_neighbours_tell_nothing(seed):
    graph, threat = make_roles(seed)
    own, shares = compute_losses(guess(graph, threat), threat)
    spread = imputation._propagate_values(graph, threat, Context(Seed(0)))
    assert compute_losses(spread, threat)[0] > shares - 0.1
    assert own < shares - 0.3


def test_who_knows_everybody_guesses_nothing(monkeypatch):
    monkeypatch.setattr(imputation, "_propagate_values", None)
    monkeypatch.setattr(imputation, "_pool_imputations", None)
    threats = make_threats(two_communities())
    attribute = threats.attribute.attribute
    told = replace(threats.attribute, known=attribute.known, hidden=np.zeros_like(attribute.known))
    np.testing.assert_array_equal(guess(threats.visible, told), np.eye(2)[attribute.codes])


@pytest.mark.parametrize("count", [0, 1, 9])
def test_nothing_is_learned_from_a_handful(monkeypatch, count):
    monkeypatch.setattr(imputation, "_learn_values", None)
    threats = make_threats(two_communities())
    known = np.zeros(threats.visible.num_nodes, bool)
    known[np.flatnonzero(threats.attribute.attribute.known)[:count]] = True
    beliefs = guess(threats.visible, replace(threats.attribute, known=known))
    np.testing.assert_allclose(beliefs.sum(axis=1), 1)
    if not count:
        np.testing.assert_allclose(beliefs, 0.5)


def test_guessing_can_be_cancelled_while_values_spread(monkeypatch):
    class Cancelled(Progress):
        def check(self) -> None:
            raise RunCancelled

    monkeypatch.setattr(imputation, "_learn_values", None)
    threats = make_threats(two_communities())
    context = Context(Seed(0), progress=Cancelled())
    with pytest.raises(RunCancelled):
        impute_values(threats.visible, threats.attribute, context)


def test_one_class_known_is_enough_to_go_on():
    threats = make_threats(two_communities())
    codes = threats.attribute.attribute.codes
    known = codes == 0
    beliefs = guess(threats.visible, replace(threats.attribute, known=known, hidden=codes == 1))
    assert np.isfinite(beliefs).all()
    assert (beliefs[known, 0] == 1).all()


def test_the_sharpest_power_within_a_standard_error_is_taken():
    """Against a loop over the powers."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    logits = 0.2 * (np.eye(2)[truth] - 0.5) + rng.normal(0, 0.1, (60, 2))
    prior, losses = np.array([0.4, 0.6]), []
    for power in imputation.POWERS:
        values = prior * np.exp(power * logits)
        values /= values.sum(axis=1, keepdims=True)
        losses.append(-np.log(values[np.arange(60), truth]))
    best = min(losses, key=np.mean)
    limit = best.mean() + best.std(ddof=1) / np.sqrt(60)
    passing = [p for p, loss in zip(imputation.POWERS, losses, strict=True) if loss.mean() <= limit]
    assert imputation._choose_power(logits, prior, truth) == max(passing)


def test_each_known_value_is_kept_from_one_run(monkeypatch):
    """The weights are judged on values that no guess had seen."""
    threats = make_threats(two_communities())
    threat, seen = threats.attribute, []

    def learn(graph, part, context):
        seen.append(part.known)
        return np.full((graph.num_nodes, 2), 0.5)

    monkeypatch.setattr(imputation, "_learn_values", learn)
    guess(threats.visible, threat)
    np.testing.assert_array_equal(seen[-1], threat.known)
    left_out = np.sum([threat.known & ~known for known in seen], axis=0)
    np.testing.assert_array_equal(left_out, threat.known.astype(int))
