import numpy as np
import pytest
from scipy import stats

from core.measures.intervals import (
    add_variances,
    combine_measurements,
    compare_repeats,
    make_share,
    measure_mean,
    measure_share,
    share_interval,
    share_variance,
    wilson_interval,
)
from core.measures.metrics import METRICS
from core.results import Measurement


def test_one_repeat_uses_the_sampling_variance_alone():
    e = combine_measurements([Measurement("auc", 0.7, 0.01**2, 401)])
    half = stats.t.ppf(0.975, 400) * 0.01
    assert (e.value, e.n, e.seeds) == (0.7, 401, 1)
    assert (e.low, e.high) == pytest.approx((0.7 - half, 0.7 + half))
    assert "one repeat" in e.how


def test_exact_repeats_give_the_plain_t_interval():
    values = [0.61, 0.66, 0.64, 0.70, 0.59]
    e = combine_measurements([Measurement("margin", v, 0.0, 50) for v in values])
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert (e.low, e.high) == pytest.approx((low, high))
    assert e.seeds == 5


def test_intervals_are_clipped_to_the_range_but_hold_the_value():
    e = combine_measurements([Measurement("auc", v, 0.02, 50) for v in (0.99, 1.0)])
    assert e.high == 1.0
    assert e.low >= 0.0
    unbounded = combine_measurements([Measurement("facts", 5.0, 100.0, 50)])
    assert unbounded.low < 0
    assert unbounded.high > 5
    counts = combine_measurements([Measurement("links_kept", v) for v in (900.0, 910.0)])
    assert counts.high > 905


def test_missing_values_give_their_reason():
    missing = Measurement("auc", None, reason="too few pairs")
    e = combine_measurements([missing, missing])
    assert not e.is_known
    assert e.how == "too few pairs"
    partly = combine_measurements([missing, Measurement("auc", 0.6, 0.01, 30)])
    assert partly.value == 0.6
    assert "without a value" in partly.how


def test_mixed_metrics_are_refused():
    with pytest.raises(ValueError, match="one metric"):
        combine_measurements([Measurement("auc", 0.5), Measurement("accuracy", 0.5)])
    with pytest.raises(ValueError, match="at least one"):
        combine_measurements([])


@pytest.mark.parametrize("repeats", [1, 3, 5])
@pytest.mark.parametrize("split", [0.0, 0.03])
@pytest.mark.parametrize("overlap", [0.0, 0.9, 1.0])
def test_coverage_in_simulation(repeats, split, overlap):
    """Truth inside the interval in ≥ 90 % of 1,500 runs, whatever varies and is shared.

    One repeat claims nothing on splits, so it is tried without their variance.
    """
    if repeats == 1 and split:
        pytest.skip("one repeat cannot see the variance between splits")
    rng = np.random.default_rng(7)
    noise, runs = 0.02, 1500
    common = rng.normal(0, noise * overlap**0.5, (runs, 1))
    own = rng.normal(0, noise * (1 - overlap) ** 0.5, (runs, repeats))
    values = 0.6 + common + own + rng.normal(0, split, (runs, repeats))
    hits = 0
    for row in values:
        items = [Measurement("auc", v, noise**2, 200) for v in row]
        e = combine_measurements(items, overlap)
        hits += e.low <= 0.6 <= e.high
    assert hits / runs >= 0.92


def test_share_intervals_match_scipy():
    for successes, trials in ((0, 20), (3, 20), (20, 20), (150, 1000)):
        test = stats.binomtest(successes, trials)
        expected = test.proportion_ci(method="wilson")
        assert wilson_interval(successes, trials) == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert share_variance(0, 50) > 0


def find_interval(successes, trials, level, repeats=1):
    hits = np.arange(trials) < successes
    return combine_measurements([measure_share("accuracy", hits)] * repeats, 1.0, level)


@pytest.mark.parametrize("level", [0.95, 0.999, 1 - 1e-6])
@pytest.mark.parametrize("trials", [1, 3, 11, 41, 85, 1000])
def test_neither_end_of_a_share_is_missed_more_often_than_the_level_says(trials, level):
    """By the binomial distribution itself, at true shares all over and just beyond each end."""
    for repeats in (1, 3):
        found = [find_interval(k, trials, level, repeats) for k in range(trials + 1)]
        low, high = (np.array([getattr(e, end) for e in found]) for end in ("low", "high"))
        counts = np.arange(trials + 1)
        for truth in [*np.linspace(0.001, 0.999, 200), *(high[high < 1] + 1e-12)]:
            missed = stats.binom.pmf(counts, trials, truth)[high < truth].sum()
            assert missed <= (1 - level) / 2 * (1 + 1e-9)
        for truth in [*np.linspace(0.001, 0.999, 200), *(low[low > 0] - 1e-12)]:
            missed = stats.binom.pmf(counts, trials, truth)[low > truth].sum()
            assert missed <= (1 - level) / 2 * (1 + 1e-9)


@pytest.mark.parametrize("trials", [1, 3, 12, 400])
def test_nobody_found_is_not_known_for_certain(trials):
    for repeats in (1, 3):
        found = find_interval(0, trials, 0.95, repeats)
        assert (found.value, found.low) == (0, 0)
        assert found.high == pytest.approx(1 - 0.025 ** (1 / trials))  # (1 − p)^n = 2.5 %
        assert find_interval(trials, trials, 0.95, repeats).low == pytest.approx(1 - found.high)


def test_exact_intervals_match_scipy():
    for level in (0.95, 1 - 1e-6):
        for successes, trials in ((0, 20), (3, 20), (20, 20), (150, 1000)):
            expected = stats.binomtest(successes, trials).proportion_ci(level, "exact")
            assert share_interval(successes, trials, level) == pytest.approx(
                (expected.low, expected.high), abs=1e-9
            )
    assert share_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("overlap", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    ("trials", "share", "split"), [(41, 0.1, 0), (85, 0.05, 0), (85, 0.1, 0.03)]
)
def test_upper_ends_of_shares_over_repeats_in_simulation(overlap, trials, share, split):
    """Missed in at most 2.5 % of 1,000 runs, and 1 % more by chance."""
    rng, runs, repeats = np.random.default_rng(3), 1000, 3
    common = round(overlap * trials)
    missed = 0
    for _ in range(runs):
        same = rng.random(common)
        draws = [np.append(same, rng.random(trials - common)) for _ in range(repeats)]
        rates = share + rng.normal(0, split, repeats)
        items = [measure_share("accuracy", d < r) for d, r in zip(draws, rates, strict=True)]
        missed += combine_measurements(items, overlap).high < share
    assert missed / runs <= 0.035


def test_a_share_of_many_differs_between_repeats_as_other_figures_do():
    shares = (0.3, 0.4, 0.38, 0.35)
    found = combine_measurements([make_share("accuracy", s, 1e6) for s in shares])
    half = stats.t.ppf(0.975, 3) * np.std(shares, ddof=1) / 2
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.05)
    same = combine_measurements([make_share("accuracy", 0.3, 50)] * 4, overlap=0.0)
    assert (same.low, same.high) == pytest.approx(share_interval(60, 200))


def test_further_variance_counts_as_fewer_trials():
    plain, more = make_share("accuracy", 0.1, 50), make_share("accuracy", 0.1, 50, more=0.003)
    assert plain.trials == 50
    assert more.variance == pytest.approx(plain.variance + 0.003)
    assert more.trials == pytest.approx(50 * plain.variance / more.variance)
    assert combine_measurements([more]).high > combine_measurements([plain]).high


def test_the_mean_of_one_has_no_interval():
    found = combine_measurements([measure_mean("margin", np.array([0.3]))] * 3)
    assert (found.value, found.low, found.high) == (pytest.approx(0.3), None, None)
    assert "no interval" in found.how
    assert add_variances(0.1, 0.2) == pytest.approx(0.3)
    assert add_variances(0.1, None) is None


def test_metric_metadata_is_complete():
    for key, info in METRICS.items():
        assert info.key == key
        assert info.title
        assert info.help.endswith(".")
        low, high = info.range
        assert low < high
        if info.chance is not None:
            assert low <= info.chance <= high
        if info.group == "attack":
            assert info.better_for_utility is None


def number(values):
    return dict(enumerate(map(float, values)))


def test_equals_scipys_paired_interval():
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=6), rng.normal(0.3, 1, size=6)
    found = compare_repeats(number(before), number(after))
    expected = stats.ttest_rel(after, before).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.seeds == 6


def test_a_difference_within_splits_is_seen_though_splits_differ_more():
    splits = np.array([0.6, 0.8, 0.7, 0.9, 0.65])
    after = splits - 0.03 + np.array([1, -1, 0, 1, -1]) * 0.002
    found = compare_repeats(number(splits), number(after))
    assert found.high < 0
    alone = 2.776 * splits.std(ddof=1) / 5**0.5
    assert alone > 0.1  # their own intervals overlap


def test_only_repeats_in_common_count():
    found = compare_repeats({0: 0.5, 1: 0.6, 2: 0.9}, {1: 0.5, 2: 0.7, 5: 0.1})
    assert found.value == pytest.approx(-0.15)
    assert found.seeds == 2
    one = compare_repeats({0: 0.5}, {0: 0.4})
    assert (one.value, one.low) == (pytest.approx(-0.1), None)
    assert compare_repeats({0: 0.5}, {1: 0.4}).value is None


def test_the_interval_covers_the_expected_difference_as_often_as_it_says():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(600):
        split = rng.normal(0.7, 0.1, 5)
        before, after = split + rng.normal(0, 0.02, 5), split - 0.05 + rng.normal(0, 0.02, 5)
        found = compare_repeats(number(before), number(after))
        covered += found.low <= -0.05 <= found.high
    assert covered / 600 == pytest.approx(0.95, abs=0.03)
