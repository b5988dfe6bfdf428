"""The distinguishing game: broken mechanisms are caught, sound ones are not."""

from __future__ import annotations

import json
import math
from unittest.mock import patch

import numpy as np
import pytest
from scipy import stats

from core.context import Context
from core.errors import InputError, RunCancelled, UnsupportedError
from core.graph import Graph
from core.privacy import claim_check
from core.privacy.claim_check import (
    DEFAULT_TRIALS,
    MOST_TRIALS,
    ClaimCheck,
    Rule,
    _choose_rule,
    check_claim,
    choose_trials,
    compute_lower_bound,
    compute_resolution,
    make_neighbors,
    make_statistic,
)
from core.privacy.guarantees import EDGE, LINK_TWICE
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from tests.benchmarks import claim_checks
from tests.oracles.broken import FreeCountPrivDpr, make_half_noise
from tests.oracles.progress import RecordingProgress

SMALL = make_neighbors("edge", 12)
PRIVDPR = {"epochs": 1, "dimensions": 4, "hidden": 4, "walk_length": 2, "batch": 24}


def check(defense, seed=0, **settings):
    return check_claim(defense, Context(Seed(seed)), **settings)


@pytest.mark.parametrize(
    ("key", "epsilon"), [("edge_rand", 1.0), ("sym_rr", 2.0), ("randomized_response", 1.0)]
)
def test_half_the_noise_is_caught_and_the_full_noise_is_not(key, epsilon):
    sound = make_method(key, {"epsilon": epsilon})
    caught = check(make_half_noise(sound), neighbors=SMALL, trials=1000)
    assert caught.is_refuted
    assert caught.trials <= 1000
    assert "does not hold" in caught.verdict
    passed = check(sound, neighbors=SMALL, trials=400)
    assert not passed.is_refuted
    assert passed.trials == 400
    # Far from idle: the attacker comes near what the mechanism really spends.
    assert passed.lower_bound > 0.3 * passed.claimed


def test_half_the_noise_of_lap_graph_is_caught():
    sound = make_method("lap_graph", {"epsilon": 2.0})
    assert check(make_half_noise(sound), trials=1500).is_refuted
    assert not check(sound, trials=400).is_refuted


@pytest.mark.parametrize("config", [{"variant": "hard"}, {"variant": "hybrid"}])
def test_blink_is_held_to_what_both_reports_of_a_link_spend(config):
    result = check(make_method("blink", {"epsilon": 2.0, **config}), neighbors=SMALL, trials=200)
    assert result.claimed == 4.0
    assert not result.is_refuted


def test_privdpr_passes_and_publishing_the_true_number_of_links_is_caught():
    sound = make_method("privdpr", {"epsilon": 1.0, **PRIVDPR})
    assert not check(sound, trials=60).is_refuted
    broken = FreeCountPrivDpr(epsilon=1.0, **PRIVDPR)
    caught = check(broken, trials=120)
    assert caught.is_refuted
    assert caught.statistic in ("links at their ends", "links in all")
    assert caught.unit == "node"


def test_sound_mechanisms_are_refuted_no_more_often_than_promised():
    """EdgeRand at its exact ε: at most 5 % of the games may accuse it."""
    sound = make_method("edge_rand", {"epsilon": 0.5})
    pair = make_neighbors("edge", 6)
    wrong = sum(check(sound, seed, neighbors=pair, trials=80).is_refuted for seed in range(30))
    assert stats.binomtest(wrong, 30, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (1.5, 0.05)])
def test_bound_covers_a_known_pair_of_rates(epsilon, delta):
    """P = e^ε Q + δ exactly: the bound exceeds ε in at most 5 % of the draws."""
    rng = np.random.default_rng(0)
    q = 0.15
    p = math.exp(epsilon) * q + delta
    above = sum(
        compute_lower_bound(rng.binomial(300, p), 300, rng.binomial(300, q), 300, delta, 0.05)
        > epsilon
        for _ in range(1000)
    )
    assert above <= 50


def test_bound_is_that_of_exact_binomial_intervals():
    low = stats.binomtest(80, 100).proportion_ci(0.95, "exact").low
    high = stats.binomtest(10, 90).proportion_ci(0.95, "exact").high
    expected = math.log((low - 0.01) / high)
    assert compute_lower_bound(80, 100, 10, 90, 0.01, 0.05) == pytest.approx(expected)
    assert compute_lower_bound(10, 100, 80, 90, 0.0, 0.05) == 0.0
    assert compute_lower_bound(0, 100, 0, 90, 0.0, 0.05) == 0.0


def test_the_rule_separates_what_can_be_separated():
    left = np.stack([np.zeros(50), np.arange(50) + 100.0], axis=1)
    right = np.stack([np.zeros(50), np.arange(50) * 1.0], axis=1)
    rule = _choose_rule(left, right, 0.0)
    assert rule.statistic == 1
    hits = rule.judge(left).mean(), rule.judge(right).mean()
    assert hits[rule.accused] > 0.9
    assert hits[1 - rule.accused] == 0.0
    assert isinstance(rule, Rule)


def test_default_statistic_counts_links_in_question_at_their_ends_and_in_all():
    left = Graph.from_pairs([[0, 1], [1, 2], [3, 4]], 5)
    right = Graph.from_pairs([[1, 2], [2, 3], [3, 4]], 5)
    statistic = make_statistic(left, right)
    assert statistic(Release(left)) == (1.0, 5.0, 3.0)
    assert statistic(Release(right)) == (-1.0, 5.0, 3.0)


def test_result_is_json_repeatable_and_has_a_roc_from_corner_to_corner():
    method = make_method("edge_rand", {"epsilon": 1.0})
    first, second = (check(method, 4, neighbors=SMALL, trials=80) for _ in range(2))
    assert json.loads(json.dumps(first.describe())) == second.describe()
    np.testing.assert_array_equal(first.roc[[0, -1]], [[0, 0], [1, 1]])
    assert (np.diff(first.roc, axis=0) >= 0).all()
    # So few trials cannot refute a large claim, and the verdict says so.
    large = check(make_method("edge_rand", {"epsilon": 9.0}), neighbors=SMALL, trials=80)
    assert "is not testable with 80 trials" in large.verdict
    assert large.outcome == "not testable with 80 trials"
    assert not large.is_testable
    assert first.outcome == "not refuted"
    restored = ClaimCheck.restore({k: v for k, v in first.describe().items() if k != "num_claims"})
    assert restored.verdict == first.verdict


def test_a_rule_is_never_judged_on_the_trials_that_chose_it():
    """Statistics of pure chance, 400 of them: the best of a quarter says nothing of the others."""
    numbers = iter(np.random.default_rng(0).random((10_000, 400)))
    seen = []

    def watch(rule, left, right, *rest):
        seen.append((rule, left, right))
        return bound_by_rule(rule, left, right, *rest)

    bound_by_rule = claim_check._bound_by_rule
    with patch.object(claim_check, "_bound_by_rule", watch):
        result = check(
            make_method("edge_rand", {"epsilon": 0.01}),
            neighbors=SMALL,
            trials=160,
            describe=lambda release: {f"{i:03}": x for i, x in enumerate(next(numbers))},
        )
    assert not result.is_refuted
    assert [len(left) for _, left, _ in seen] == [20, 40, 60]
    rng = np.random.default_rng(0)
    drawn = [rng.random(400) for _ in range(161)][1:]  # after the release that is no trial
    for _, left, right in seen:
        assert (left[0, 3:] == drawn[40]).all()  # the first 20 of either side chose
        assert (right[0, 3:] == drawn[41]).all()


@pytest.mark.parametrize(("trials", "resolution"), [(2000, 5.05), (10_000, 6.66)])
def test_so_many_trials_resolve_so_large_an_epsilon(trials, resolution):
    judged = trials // 2 - trials // 2 // 4
    found = compute_resolution(judged, 0.0, 0.05 / 3)
    assert found == pytest.approx(resolution, abs=0.01)


def test_trials_are_chosen_from_epsilon_and_several_claims_share_the_error_rate():
    small, large, vast = (EDGE.make_guarantee(epsilon) for epsilon in (1.0, 6.0, 20.0))
    assert choose_trials(small) == DEFAULT_TRIALS < choose_trials(large) <= MOST_TRIALS
    assert choose_trials(LINK_TWICE.make_guarantee(3.0)) == choose_trials(large)
    assert choose_trials(vast) == DEFAULT_TRIALS  # no number of trials that is played would do
    method = make_method("edge_rand", {"epsilon": 1.0})
    one, four = (check(method, neighbors=SMALL, trials=200, num_claims=n) for n in (1, 4))
    assert four.lower_bound < one.lower_bound
    assert four.resolution < one.resolution
    assert four.resolution == pytest.approx(compute_resolution(75, 0.0, 0.05 / 3 / 4))


def test_what_is_written_beside_the_graph_gives_a_broken_run_away():
    """The graph is sound, but its provenance names the true number of links."""
    true_counts = iter([21] + [21, 20] * 500)
    result = check(
        make_method("edge_rand", {"epsilon": 0.5}),
        neighbors=SMALL,
        trials=200,
        describe=lambda release: {"about": {"links": next(true_counts)}},
    )
    assert result.is_refuted
    assert result.statistic == "written: about: links"


def test_the_game_plays_publishing_runs():
    method = make_method("edge_rand")
    seen = []

    class Watched(type(method)):
        def publish(self, graph, threats, context):
            seen.append(context.is_publishing)
            return super().publish(graph, threats, context)

    check(Watched(epsilon=1.0), neighbors=SMALL, trials=40)
    assert all(seen)
    assert len(seen) == 41


def test_what_has_no_claim_or_too_few_trials_is_refused():
    with pytest.raises(UnsupportedError, match="differential privacy"):
        check(make_method("random_deletion"))
    with pytest.raises(InputError, match="at least 40"):
        check(make_method("edge_rand"), trials=10)


def test_progress_is_reported_and_cancel_obeyed():
    progress = RecordingProgress()
    method = make_method("edge_rand")
    check_claim(method, Context(Seed(0), progress=progress), neighbors=SMALL, trials=40)
    assert progress.updates[-1][:2] == (20, 20)
    cancelled = RecordingProgress(is_cancelled=lambda: True)
    with pytest.raises(RunCancelled):
        check_claim(method, Context(Seed(0), progress=cancelled), neighbors=SMALL)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("key", "variant"), [("dgg", "half the noise"), ("priv_skg", "PGB's noise")]
)
def test_the_noise_of_pgbs_implementations_is_refuted_and_ours_is_not(key, variant):
    config = claim_checks.CASES[key][1]
    variants, game = claim_checks.list_variants(key, config, 1.0), claim_checks.make_game(key)
    for name, is_refuted in (("sound", False), (variant, True)):
        result = check_claim(variants[name], Context(Seed(0)), trials=2000, **game)
        assert result.is_refuted == is_refuted, name
        assert result.is_testable
