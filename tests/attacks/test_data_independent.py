"""A release that was made without looking at the graph tells an attacker nothing."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from core.attacks.adaptive import infer_adaptive, learn_adaptive
from core.context import Context, SharedWork
from core.data.splits import draw_released_threat, draw_threats
from core.measures.ranking import measure_class_probabilities, measure_link_scores
from core.measures.released_links import measure_released
from core.methods import Defense, MethodInfo
from core.registry import list_methods, make_method
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import two_communities

SEEDS = (0, 1, 2)
LINK_ATTACKS = [
    method.info.key
    for method in list_methods("link_attack")
    if method.info.cost == "instant" and "features" not in method.info.group
]
ATTRIBUTE_ATTACKS = ("class_prior", "com_infer", "label_propagation", "attri_infer")


class Unrelated(Defense):
    """Publishes as many links as the graph has, drawn at random, and no columns."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="unrelated", title="Unrelated", summary="For tests.", source="none", group="empirical"
    )

    def publish(self, graph, threats, context):
        ends = context.rng("links").integers(0, graph.num_nodes, (graph.num_edges, 2))
        links = graph.with_edges(ends[ends[:, 0] != ends[:, 1]])
        return Release(links.update_columns(features=None), "unrelated", self.config)


def make_case(seed):
    threats = draw_threats(
        two_communities(120, seed), Seed(seed), private="private", known=0.3, hide_links=0.3
    )
    release = Unrelated().publish(threats.visible, threats, Context(Seed(seed).child("noise")))
    return threats, release, Context(Seed(seed), shared=SharedWork())


def check_chance(measured, chance=0.5):
    """All seeds together: the mean lies within four standard errors of chance."""
    values = [m.value for m in measured]
    error = np.sqrt(np.mean([m.variance for m in measured]) / len(values))
    assert abs(np.mean(values) - chance) < 4 * error


@pytest.mark.parametrize("is_adaptive", [False, True])
@pytest.mark.parametrize("key", [key for key in LINK_ATTACKS if key != "mechanism_posterior"])
def test_withheld_links_are_guessed(key, is_adaptive):
    attack, measured = make_method(key), []
    for seed in SEEDS:
        threats, release, context = make_case(seed)
        if attack.supports(release, threats.link) or "link" not in attack.threats:
            pytest.skip("declines a release without features")
        if is_adaptive:
            scores = learn_adaptive(attack, Unrelated(), release, threats.link, threats, context)(
                threats.link
            )
        else:
            scores = attack.score(release, threats.link, context)
        measured.append(measure_link_scores(scores, threats.link)[0])
    check_chance(measured)


@pytest.mark.parametrize("is_adaptive", [False, True])
def test_links_that_went_in_are_guessed(is_adaptive):
    attack, measured = make_method("mechanism_posterior"), []
    for seed in SEEDS:
        threats, release, context = make_case(seed)
        threat = draw_released_threat(threats.visible, release.graph, context.rng("released"))
        if is_adaptive:
            scores = learn_adaptive(attack, Unrelated(), release, threat, threats, context)(threat)
        else:
            scores = attack.score(release, threat, context)
        measured.append(measure_released(scores, threat)[0])
    check_chance(measured)


@pytest.mark.parametrize("is_adaptive", [False, True])
@pytest.mark.parametrize("key", ATTRIBUTE_ATTACKS)
def test_private_values_are_guessed(key, is_adaptive):
    attack, measured = make_method(key), []
    for seed in SEEDS:
        threats, release, context = make_case(seed)
        threat = threats.attribute
        if is_adaptive:
            found = infer_adaptive(attack, Unrelated(), release, threat, threats, context)
        else:
            found = attack.infer(release, threat, context)
        measured.append(measure_class_probabilities(found, threat)[0])
    check_chance(measured)
