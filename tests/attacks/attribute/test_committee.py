"""A committee judges its members on people whose values they were not given."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from core.attacks.attribute import committee
from core.attacks.attribute.best_single import BestSingle
from core.attacks.attribute.class_prior import ClassPrior
from core.attacks.attribute.ensemble import Ensemble
from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.release import Release
from core.results import ClassProbabilities
from core.seeding import Seed
from tests.oracles.graphs import make_threats, two_communities


class Memoriser(AttributeAttack):
    """Repeats the values that it was given, and is sure of the wrong one elsewhere."""

    info: ClassVar[MethodInfo] = ClassPrior.info

    def infer(self, release, threat, context):
        truth = threat.attribute.codes
        said = np.where(threat.known, truth, 1 - truth)
        return ClassProbabilities(0.98 * np.eye(2)[said] + 0.01)


@pytest.fixture
def threat(monkeypatch):
    monkeypatch.setitem(committee.MEMBERS, "class_prior", Memoriser)
    return make_threats(two_communities(80)).attribute


MEMBERS = "class_prior+label_propagation"


def test_the_best_single_attack_is_not_the_one_that_repeats_what_it_was_given(threat):
    release = Release(two_communities(80))
    found = BestSingle(members=MEMBERS, folds=2).infer(release, threat, Context(Seed(0)))
    assert found.facts["chosen"] == "label_propagation"
    assert found.facts["log-loss of class_prior"] > 2


def test_an_ensemble_turns_away_from_the_one_that_repeats_what_it_was_given(threat):
    release = Release(two_communities(80))
    found = Ensemble(members=MEMBERS, folds=2).infer(release, threat, Context(Seed(0)))
    assert found.facts["weight of class_prior"] < found.facts["weight of label_propagation"]
    truth = threat.attribute.codes[threat.hidden]
    assert (found.probabilities[threat.hidden].argmax(axis=1) == truth).mean() > 0.8
