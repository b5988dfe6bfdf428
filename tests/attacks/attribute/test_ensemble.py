"""What the ensemble and the best single attack do with their members."""

from __future__ import annotations

import numpy as np
import pytest

from core.attacks.attribute.best_single import BestSingle, compute_losses
from core.attacks.attribute.ensemble import Ensemble
from core.context import Context
from core.errors import InputError
from core.models.pooling import FLOOR
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats
from tests.oracles.progress import RecordingProgress


@pytest.mark.parametrize("members", ["ensemble", "best_single", "gcn+gcn", "nothing", ""])
@pytest.mark.parametrize("key", ["ensemble", "best_single"])
def test_members_must_be_distinct_attacks(members, key):
    with pytest.raises(InputError, match="members"):
        make_method(key, {"members": members})


def test_the_best_single_attack_is_that_with_the_lowest_loss_on_known_values_held_out():
    graph = GRAPHS["two_communities"]()
    threat, release = make_threats(graph).attribute, Release(graph)
    attack = BestSingle(members="class_prior+label_propagation", folds=2)
    context = Context(Seed(0))
    found = attack.infer(release, threat, context)
    losses = {key: found.facts[f"log-loss of {key}"] for key in attack.members.split("+")}
    assert found.facts["chosen"] == min(losses, key=losses.get) == "label_propagation"
    alone = make_method("label_propagation").infer(
        release, threat, context.child("label_propagation")
    )
    np.testing.assert_array_equal(found.probabilities, alone.probabilities)


def test_losses_equal_a_loop_over_members_and_nodes():
    rng = np.random.default_rng(0)
    members, truth = rng.dirichlet(np.full(4, 0.5), (3, 20)), rng.integers(0, 4, 20)
    expected = [
        -sum(np.log(max(member[i, truth[i]], FLOOR)) for i in range(20)) / 20 for member in members
    ]
    np.testing.assert_allclose(compute_losses(members, truth), expected)


def test_progress_grows_over_all_members_and_weights_are_recorded():
    graph = GRAPHS["two_communities"]()
    progress = RecordingProgress()
    attack = Ensemble(members="label_propagation+com_infer", folds=2)
    result = attack.infer(
        Release(graph), make_threats(graph).attribute, Context(Seed(0), progress=progress)
    )
    shares = [done / total for done, total, _ in progress.updates]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0, abs=0.2)
    assert list(result.facts) == ["weight of label_propagation", "weight of com_infer"]


def test_members_that_cannot_run_stay_out():
    graph = GRAPHS["star"]()
    threat = make_threats(graph).attribute
    attack = Ensemble(members="mlp+label_propagation", folds=2)
    facts = attack.infer(Release(graph), threat, Context(Seed(0))).facts
    assert list(facts) == ["weight of label_propagation"]
    assert Ensemble(members="mlp").supports(Release(graph), threat)
