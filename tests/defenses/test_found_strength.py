"""A defense that finds its strength: by attacks on links of its own, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from core.attacks.link.katz import Katz
from core.attacks.link.resource_allocation import ResourceAllocation
from core.audit.asked.method_choice import MethodChoice
from core.context import Context
from core.defenses import found_strength
from core.defenses.found_strength import (
    FRONTIER,
    NUM_TRIALS,
    FindsStrength,
    Target,
    Trial,
    hold_out,
)
from core.defenses.link_changes import change_links
from core.defenses.ppne import Ppne
from core.errors import InputError
from core.methods import MethodInfo, Strength
from core.registry import make_method, parse_method
from core.seeding import Seed
from core.threats import LinkThreat, Threats
from tests.oracles.graphs import make_threats, two_communities
from tests.oracles.progress import RecordingProgress


class Removal(FindsStrength):
    """Removes random links, from 10 % of them to 90 %."""

    info: ClassVar[MethodInfo] = MethodInfo("removal", "Removal", "", "", "empirical")
    acts_by: ClassVar[Strength | None] = Strength("share", 0.1, 0.9)
    share: float = 0.3
    target: Target = None

    def protect(self, graph, threats, context):
        drop = context.rng("drop").permutation(graph.num_edges)[
            : round(self.share * len(graph.edges))
        ]
        return self.build_release(change_links(graph, drop))


class Priced(Removal):
    """The same, from a price of 1 down to one of 0.01."""

    acts_by: ClassVar[Strength | None] = Strength("price", 1.0, 0.01, is_log=True)
    price: float = 0.3


@pytest.fixture(scope="module")
def threats():
    return make_threats(two_communities(60))


@pytest.fixture
def quick_attacks(monkeypatch):
    attacks = {"resource_allocation": ResourceAllocation(), "katz": Katz()}
    monkeypatch.setattr(found_strength, "build_attacks", lambda: attacks)


def publish(defense, threats, seed=0, progress=None):
    context = Context(Seed(seed), **({"progress": progress} if progress else {}))
    return defense.publish(threats.visible, threats, context)


def find(monkeypatch, defense, threats, compute_aucs):
    """The release where the attacks' AUCs are a function of the strength."""

    def try_strength(varied, own, context):
        value = varied.config[defense.acts_by.setting]
        return Trial(value, compute_aucs(value), error=0.01)

    monkeypatch.setattr(found_strength, "try_strength", try_strength)
    return publish(defense, threats)


@pytest.mark.parametrize("limit", [0.15, 0.4, 0.62, 0.87])
def test_the_weakest_strength_within_the_target_is_found(monkeypatch, threats, limit):
    release = find(
        monkeypatch,
        Removal(target=0.6),
        threats,
        lambda share: {"far": 0.5, "near": 0.57 if share >= limit else 0.8},
    )
    assert limit <= release.facts["found_share"] <= limit + 0.8 / 2**NUM_TRIALS
    assert release.facts["estimated_attack_auc"] == release.facts["estimated_auc_of_near"] == 0.57
    assert release.facts["meets_target"] == 1.0
    removed = 1 - release.graph.num_edges / threats.visible.num_edges
    assert removed == pytest.approx(release.facts["found_share"], abs=0.01)


def test_a_falling_logarithmic_strength_is_found_in_ratios(monkeypatch, threats):
    release = find(monkeypatch, Priced(target=0.6), threats, lambda price: {"one": 0.5 + price})
    assert 0.09 <= release.facts["found_price"] <= 0.1001


def test_what_is_within_noise_of_the_target_ends_the_search(monkeypatch, threats):
    release = find(monkeypatch, Removal(target=0.6), threats, lambda share: {"one": 0.595})
    assert (release.facts["strengths_tried"], release.facts["found_share"]) == (1.0, 0.5)


def test_a_stricter_target_never_finds_less(monkeypatch, threats):
    found = [
        find(
            monkeypatch, Removal(target=target), threats, lambda share: {"one": 1 - share / 2}
        ).facts["found_share"]
        for target in (0.9, 0.75, 0.7, 0.6)
    ]
    assert found == sorted(found)
    assert len(set(found)) == len(found)


def test_an_inverted_attack_counts_and_is_answered_by_less(monkeypatch, threats):
    """Beyond a share of 0.4 the secrets rank last: from there on less strength leaks less."""
    release = find(
        monkeypatch, Removal(target=0.52), threats, lambda share: {"one": 0.9 - share, "other": 0.5}
    )
    assert release.facts["meets_target"] == 1.0
    assert release.facts["found_share"] == pytest.approx(0.4, abs=0.02)


def test_where_none_meets_the_target_no_strength_is_spent_on_noise(monkeypatch, threats):
    """Lowest at 0.85; a share of 0.8 is within an error of it, of 0.7 is not."""
    release = find(
        monkeypatch,
        Removal(target=0.5),
        threats,
        lambda share: {"one": 0.6 if share > 0.84 else 0.609 if share > 0.75 else 0.62},
    )
    assert release.facts["meets_target"] == 0.0
    assert release.facts["found_share"] == pytest.approx(0.8)
    assert release.facts["estimated_attack_auc"] == 0.609


def test_where_none_meets_the_target_the_lowest_is_taken_and_said(monkeypatch, threats):
    release = find(monkeypatch, Removal(target=0.5), threats, lambda share: {"one": 1 - share / 3})
    assert release.facts["meets_target"] == 0.0
    shares = [share for share, _ in release.curves[FRONTIER]]
    assert len(shares) == NUM_TRIALS == release.facts["strengths_tried"]
    assert release.facts["found_share"] == pytest.approx(max(shares), abs=0.03)


@pytest.mark.usefixtures("quick_attacks")
def test_what_is_met_holds_for_the_links_held_out(threats):
    """Made again by hand: hold out, defend, attack."""
    progress, target = RecordingProgress(), 0.6
    context = Context(Seed(3), progress=progress)
    release = Ppne(target=target).publish(threats.visible, threats, context)
    own = hold_out(threats.visible, threats, context)
    assert threats.visible.contains_pairs(own.link.hidden).all()
    assert not own.visible.contains_pairs(own.link.hidden).any()
    assert not threats.visible.contains_pairs(own.link.absent).any()
    tried = progress.curves[FRONTIER]
    for number, (value, found) in enumerate(tried):
        inner = context.child("trial", number)
        drawn = Ppne(strength=value).publish(own.visible, own, inner)
        aucs = [
            roc_auc_score(own.link.truth, attack.score(drawn, own.link, inner).scores)
            for attack in (ResourceAllocation(), Katz())
        ]
        assert found == pytest.approx(max(max(auc, 1 - auc) for auc in aucs))
    within = [value for value, found in tried if found <= target]
    assert 0 < len(within) < NUM_TRIALS
    assert release.facts["found_strength"] == min(within)


@pytest.mark.usefixtures("quick_attacks")
def test_the_error_is_that_of_the_strongest_attack(threats):
    """Beside the spread over resampled pairs."""
    context, rng = Context(Seed(0)), np.random.default_rng(0)
    own, defense = hold_out(threats.visible, threats, context), Ppne(strength=0.3)
    trial = found_strength.try_strength(defense, own, context)
    release = defense.publish(own.visible, own, context)
    attack = {"resource_allocation": ResourceAllocation(), "katz": Katz()}[trial.strongest]
    scores = attack.score(release, own.link, context).scores
    linked, absent = scores[own.link.truth], scores[~own.link.truth]
    truth = np.arange(len(scores)) < len(linked)
    aucs = [
        roc_auc_score(
            truth, np.concatenate([rng.choice(part, len(part)) for part in (linked, absent)])
        )
        for _ in range(300)
    ]
    assert trial.error == pytest.approx(np.std(aucs), rel=0.15)


@pytest.mark.usefixtures("quick_attacks")
def test_the_same_seed_finds_the_same_and_shows_it(threats):
    progress = RecordingProgress()
    one, two = publish(Ppne(target=0.6), threats), publish(Ppne(target=0.6), threats, 0, progress)
    np.testing.assert_array_equal(one.graph.edges, two.graph.edges)
    assert (one.facts, one.curves) == (two.facts, two.curves)
    assert sorted(progress.curves[FRONTIER]) == one.curves[FRONTIER]
    assert publish(Ppne(target=0.6), threats, 1).curves[FRONTIER] != one.curves[FRONTIER]


@pytest.mark.usefixtures("quick_attacks")
def test_nothing_that_the_audit_measures_with_is_looked_at(threats):
    """Other secrets of the same number, other non-links, no test links: the same strength; the
    release is the one that this strength makes of the true secrets."""
    defense, link = Ppne(target=0.6), threats.link
    release = publish(defense, threats)
    others = LinkThreat(link.absent[: len(link.hidden)], link.hidden, 0.5)
    other = publish(defense, Threats(threats.visible, others))
    assert other.facts["found_strength"] == release.facts["found_strength"]
    assert other.curves == release.curves
    bare = Threats(threats.visible, replace(link, absent=link.absent[:1]))
    np.testing.assert_array_equal(publish(defense, bare).graph.edges, release.graph.edges)
    made = publish(Ppne(strength=release.facts["found_strength"]), threats)
    np.testing.assert_array_equal(made.graph.edges, release.graph.edges)
    assert release.config == {**defense.config, "target": 0.6}


def test_as_large_a_share_is_held_out_as_was_withheld_but_enough_to_judge_by():
    graph = two_communities(200)
    pairs = np.stack(np.triu_indices(200, 1), 1)
    absent = pairs[~graph.contains_pairs(pairs)]
    for num_secrets, expected in ((graph.num_edges, 0.5), (5, 100 / graph.num_edges)):
        threat = LinkThreat(absent[:num_secrets], absent[:1], 0.1)
        own = hold_out(graph, Threats(graph, threat), Context(Seed(0)))
        assert len(own.link.hidden) == pytest.approx(expected * graph.num_edges, abs=1)
        assert own.visible.num_edges == graph.num_edges - len(own.link.hidden)
        assert len(own.link.absent) == 4 * len(own.link.hidden)
    small = two_communities(30)
    own = hold_out(small, Threats(small, replace(threat, hidden=absent[:1])), Context(Seed(0)))
    assert len(own.link.hidden) == round(0.2 * small.num_edges)


def test_the_strongest_attack_is_the_one_furthest_from_chance():
    trial = Trial(1.0, {"one": 0.7, "other": 0.2})
    assert (trial.strongest, trial.attack, trial.is_inverted) == ("other", 0.8, True)
    assert not Trial(1.0, {"one": 0.7, "other": 0.4}).is_inverted


@pytest.mark.parametrize("key", ["ppgsl", "ppne"])
def test_a_target_takes_the_place_of_the_strength(key):
    plain, finding = make_method(key), parse_method(f"{key}:target=0.55", "defense")
    assert "target" not in plain.config
    assert finding.changed == {"target": 0.55}
    assert finding.title == f"{plain.info.title} (target = 0.55)"
    assert finding.vary(5) == [finding]
    assert list(type(plain).model_fields)[:2] == [plain.acts_by.setting, "target"]  # in forms
    name = plain.acts_by.setting
    with pytest.raises(InputError, match=f"{name} is found where a target is set"):
        make_method(key, {"target": 0.55, name: 0.05})
    with pytest.raises(InputError, match="finds its strength"):
        MethodChoice.expand(f"{key}:target=0.55,{name}=sweep", "defense")
