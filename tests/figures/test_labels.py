"""Titles come from the methods and measures themselves; arrows point the good way."""

from __future__ import annotations

import pytest

from core.audit.asked.attack import parse_attack
from core.audit.asked.release_info import parse_release
from core.findings.labels import (
    axis_title,
    chance_level,
    is_attack_metric,
    is_higher_useful,
    metric_title,
)


@pytest.mark.parametrize(
    ("release", "title"),
    [
        ("original", "Original"),
        ("edge_rand", "EdgeRand (ε = 6)"),
        ("edge_rand:epsilon=4.0", "EdgeRand (ε = 4)"),
        ("blink", "Blink (2ε = 12)"),
        ("randomized_response:epsilon=1.5", "Randomised response (2ε = 3)"),
        ("random_deletion:strength=0.5", "Random deletion (strength = 0.5)"),
        ("a_method_of_tomorrow:x=1", "a_method_of_tomorrow:x=1"),
    ],
)
def test_release_title_names_its_strength(release, title):
    assert parse_release(release).title == title


def test_attacks_know_their_threat_and_whether_they_are_null():
    link, prior = parse_attack("common_neighbors"), parse_attack("class_prior")
    assert link.title == "Common neighbours"
    assert (link.threat, link.is_baseline) == ("link", False)
    assert (prior.threat, prior.is_baseline) == ("attribute", True)
    assert parse_attack("release").threat is None


@pytest.mark.parametrize(
    ("metric", "hint"),
    [
        ("auc", "← safer"),
        ("share_below_zero", "safer →"),
        ("node_classification_f1", "more useful →"),
        ("mmd_degree", "← more useful"),
        ("links_added", "← more useful"),
    ],
)
def test_axis_arrows(metric, hint):
    assert axis_title(metric) == f"{metric_title(metric)}   {hint}"


def test_metrics_declare_chance_and_direction():
    assert (chance_level("auc"), chance_level("tpr_at_fpr_0.01")) == (0.5, 0.01)
    assert chance_level("accuracy") is None
    assert is_attack_metric("auc")
    assert not is_attack_metric("link_prediction_auc")
    assert is_higher_useful("link_prediction_auc")
    assert not is_higher_useful("degree_ks")
    assert metric_title("some_new_thing") == "Some new thing"
