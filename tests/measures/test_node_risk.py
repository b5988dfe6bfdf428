import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from core.measures import node_risk
from core.measures.node_risk import (
    NUM_FOLDS,
    NodeRisk,
    assign_folds,
    calibrate_across_folds,
    calibrate_classes_across_folds,
    compute_attribute_node_risk,
    compute_link_node_risk,
    find_worst_attacker,
    fit_isotonic,
    group_classes,
    measure_advantage,
    measure_class_advantage,
    measure_forecast_advantage,
    measure_margin_gain,
)
from core.node_column import NodeColumn
from core.results import ClassProbabilities, PairScores
from core.threats import AttributeThreat, LinkThreat


def link_threat(count, num_nodes, seed=0):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(num_nodes, 1)
    pick = rng.choice(len(i), 2 * count, replace=False)
    pairs = np.stack([i[pick], j[pick]], 1)
    return LinkThreat(pairs[:count], pairs[count:], 0.01)


def attribute_threat(shares, n, seed=0):
    codes = np.random.default_rng(seed).choice(len(shares), n, p=shares)
    known = np.arange(n) % 10 == 0
    attribute = NodeColumn("z", codes, tuple(map(str, range(len(shares)))))
    return AttributeThreat(attribute, known, ~known)


def test_folds_are_deterministic_balanced_and_independent_of_order():
    rng = np.random.default_rng(0)
    truth, cases = rng.random(503) < 0.3, rng.permutation(10_000)[:503]
    folds = assign_folds(truth, cases)
    for side in (truth, ~truth):
        counts = np.bincount(folds[side], minlength=NUM_FOLDS)
        assert counts.max() - counts.min() <= 1
    order = rng.permutation(503)
    np.testing.assert_array_equal(assign_folds(truth[order], cases[order]), folds[order])


def test_no_case_takes_part_in_its_own_calibration(monkeypatch):
    """With the folds held fixed, flipping a label changes other folds but not its own."""
    rng = np.random.default_rng(1)
    truth = np.arange(200) < 100
    scores, cases = rng.normal(size=200) + truth, np.arange(200)
    folds = assign_folds(truth, cases)
    monkeypatch.setattr(node_risk, "assign_folds", lambda *_: folds)
    before = calibrate_across_folds(scores, truth, cases, False)
    for case in (3, 50, 150):
        flipped = truth.copy()
        flipped[case] = not truth[case]
        after = calibrate_across_folds(scores, flipped, cases, False)
        same = folds == folds[case]
        np.testing.assert_array_equal(after[same], before[same])
        assert (after[~same] != before[~same]).any()


@pytest.mark.parametrize("kind", ["random", "constant", "inverted_noise"])
def test_an_uninformative_link_attack_has_no_advantage(kind):
    threat = link_threat(1500, 120)
    rng = np.random.default_rng(2)
    scores = np.zeros(3000) if kind == "constant" else rng.normal(size=3000)
    risk = compute_link_node_risk(PairScores(scores), threat, 120)
    assert abs(risk.advantage.mean()) < 0.03
    np.testing.assert_array_equal(risk.base, 0.5)


def test_a_perfect_link_attack_reaches_one_and_any_monotone_scale_gives_the_same():
    threat = link_threat(200, 80)
    scores = threat.truth + np.random.default_rng(3).random(400) * 0.5
    risk = compute_link_node_risk(PairScores(scores), threat, 80)
    assert risk.risk.mean() > 0.97  # a pair at the gap between the sides may stay unsure
    scaled = compute_link_node_risk(PairScores(np.exp(20 * scores)), threat, 80)
    np.testing.assert_array_equal(scaled.risk, risk.risk)
    np.testing.assert_array_equal(risk.nodes, np.unique(threat.hidden))
    assert risk.risk.max() < 1


def test_an_attack_that_is_clearly_wrong_puts_people_at_the_same_risk_turned_round():
    threat = link_threat(400, 80)
    scores = np.random.default_rng(6).normal(size=800) + 1.5 * threat.truth
    right, wrong = (
        compute_link_node_risk(PairScores(sign * scores), threat, 80) for sign in (1, -1)
    )
    np.testing.assert_allclose(wrong.risk, right.risk, atol=1e-12)
    assert right.advantage.mean() > 0.1


def test_only_clearly_wrong_rankings_are_turned():
    """At chance, no more often than a one-sided 2.5 % test allows; an exact AUC of 1/2, never."""
    rng = np.random.default_rng(7)
    truth = np.arange(200) < 100
    inverted = np.mean([node_risk.is_wrong_way(rng.permutation(200), truth) for _ in range(4000)])
    assert 0.015 < inverted < 0.035
    assert not node_risk.is_wrong_way(np.ones(200), truth)
    assert not node_risk.is_wrong_way(np.arange(8)[::-1], np.arange(8) > 3)  # too few to tell


def test_link_risk_is_calibrated():
    """Logistic scores: calibrated probabilities match the truth in bins of the score."""
    rng = np.random.default_rng(4)
    threat = link_threat(3000, 200)
    scores = rng.normal(size=6000) + 1.2 * threat.truth
    p = calibrate_across_folds(scores, threat.truth, np.arange(6000), True)
    exact = 1 / (1 + np.exp(-(1.2 * scores - 0.72)))
    assert np.abs(p - exact).mean() < 0.03


@pytest.mark.parametrize("shares", [(0.8, 0.2), (0.6, 0.3, 0.1)])
def test_attribute_risk_from_knowing_nothing_to_everything(shares):
    threat = attribute_threat(shares, 2000)
    codes = threat.attribute.codes
    prior = ClassProbabilities(np.tile(shares, (2000, 1)))
    nothing = compute_attribute_node_risk(prior, threat)
    assert np.abs(nothing.advantage).max() < 0.02
    rng = np.random.default_rng(5)
    noise = compute_attribute_node_risk(
        ClassProbabilities(rng.dirichlet(np.ones(len(shares)), 2000)), threat
    )
    assert abs(noise.advantage.mean()) < 0.02
    everything = compute_attribute_node_risk(ClassProbabilities(np.eye(len(shares))[codes]), threat)
    assert everything.risk.mean() > 0.97
    np.testing.assert_array_equal(everything.nodes, np.flatnonzero(threat.hidden))
    np.testing.assert_allclose(everything.base, threat.attribute.shares[codes[everything.nodes]])


def test_nothing_at_stake_gives_no_nodes():
    threat = LinkThreat(np.zeros((0, 2), int), np.zeros((0, 2), int), 0.0)
    assert len(compute_link_node_risk(PairScores(np.zeros(0)), threat, 5).nodes) == 0
    attribute = NodeColumn("z", [0, 1], ("a", "b"))
    nobody = AttributeThreat(attribute, np.array([True, True]), np.array([False, False]))
    p = ClassProbabilities(np.full((2, 2), 0.5))
    assert len(compute_attribute_node_risk(p, nobody).nodes) == 0


def test_very_few_cases():
    threat = LinkThreat(np.array([[0, 1]]), np.array([[1, 2]]), 0.1)
    risk = compute_link_node_risk(PairScores(np.array([1.0, 0.0])), threat, 3)
    np.testing.assert_array_equal(risk.nodes, [0, 1])
    assert ((risk.risk > 0) & (risk.risk < 1)).all()


def test_advantage_share_counts_people_above_the_limit():
    nodes = np.arange(4)
    risk = node_risk.NodeRisk(nodes, np.array([0.9, 0.5, 0.71, 0.69]), np.full(4, 0.5))
    found = node_risk.measure_advantage(risk)
    assert (found.metric, found.value, found.n) == ("advantage_share", 0.5, 4)
    nobody = node_risk.NodeRisk(np.zeros(0, int), np.zeros(0), np.zeros(0))
    assert node_risk.measure_advantage(nobody).value is None


def test_guessing_gains_nothing_on_average():
    found = node_risk.compute_guessing_advantage((60, 40), 3, repeats=2)
    assert found.shape == (3, 100)
    assert abs(found.mean()) < 0.02


@pytest.mark.parametrize("share", [0.5, 0.73, 0.82])
def test_a_margin_counts_above_what_the_class_shares_give(share):
    rng = np.random.default_rng(0)
    n = 2000
    codes = (np.arange(n) >= share * n).astype(int)
    attribute = NodeColumn("z", codes, ("a", "b"))
    threat = AttributeThreat(attribute, np.zeros(n, bool), np.ones(n, bool))

    def measure(values):
        calibrated = node_risk.calibrate_classes_across_folds(ClassProbabilities(values), threat)
        (found,) = measure_margin_gain(calibrated, threat)
        return found

    noise = measure(rng.dirichlet([1, 1], n))
    assert abs(noise.value) < 4 * noise.variance**0.5 + 0.01
    perfect = measure(np.eye(2)[codes])
    large, small = share, 1 - share
    blind = large * (large - small) + small * (small - large)
    assert perfect.value == pytest.approx(1 - blind, abs=0.02)


@pytest.mark.parametrize("seed", range(20))
def test_as_scikit_learn_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 120))
    places = rng.integers(0, rng.integers(1, 60), k) / 2  # ties
    values, weights = rng.random(k) < 0.4, rng.choice([0.25, 1.0, 3.0], k)
    asked = rng.uniform(-5, 35, 50)
    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    expected = model.fit(places, values.astype(float), weights).predict(asked)
    np.testing.assert_allclose(fit_isotonic(places, values, weights, asked), expected, atol=1e-12)


def test_nobody_asked() -> None:
    none = np.zeros(0)
    assert fit_isotonic(np.array([1.0]), np.array([1.0]), np.array([1.0]), none).shape == (0,)


def test_a_rare_class_that_is_fully_known_is_exposed_by_its_own_base_rate():
    threat = attribute_threat((0.91, 0.09), 3000)
    known = ClassProbabilities(np.eye(2)[threat.attribute.codes])
    risk = compute_attribute_node_risk(known, threat)
    assert measure_advantage(risk).value < 0.12
    found = measure_class_advantage(risk, threat.attribute.codes)
    assert found.value == pytest.approx(1.0, abs=0.01)
    assert found.n == ((threat.attribute.codes == 1) & threat.hidden).sum()
    guessed = ClassProbabilities(np.tile(threat.attribute.shares, (3000, 1)))
    blind = measure_class_advantage(
        compute_attribute_node_risk(guessed, threat), threat.attribute.codes
    )
    assert blind.value == 0


def test_classes_of_hardly_anybody_have_no_share():
    threat = attribute_threat((0.5, 0.5), 8)
    risk = compute_attribute_node_risk(ClassProbabilities(np.full((8, 2), 0.5)), threat)
    assert measure_class_advantage(risk, threat.attribute.codes).value is None


def make_risk(sizes, exposed):
    """Of each class so many nodes, of whom the first ones are exposed."""
    hits = np.concatenate([np.arange(size) < hit for size, hit in zip(sizes, exposed, strict=True)])
    nodes, codes = np.arange(len(hits)), np.repeat(np.arange(len(sizes)), sizes)
    return NodeRisk(nodes, np.where(hits, 0.9, 0.1), np.full(len(hits), 0.1)), codes


def test_rare_classes_count_together():
    """39 classes of nine beside a large one: 117 of their 351 people are not to vanish."""
    risk, codes = make_risk([400] + [9] * 39, [4] + [9] * 13 + [0] * 26)
    found = measure_class_advantage(risk, codes)
    assert (found.value, found.n) == (pytest.approx(1 / 3), 351)
    # Classes of one size, none of which is large enough: nobody vanishes there either.
    found = measure_class_advantage(*make_risk([9] * 60, [9] + [0] * 59))
    assert (found.value, found.n) == (pytest.approx(1 / 60), 540)


def test_rare_classes_of_hardly_anybody_join_the_smallest_other():
    risk, codes = make_risk([400, 12, 4], [0, 1, 4])
    found = measure_class_advantage(risk, codes)
    assert (found.value, found.n) == (pytest.approx(5 / 16), 16)
    # A class of ten has its own share.
    found = measure_class_advantage(*make_risk([400, 10, 30], [0, 10, 0]))
    assert (found.value, found.n) == (1.0, 10)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_everybody_is_in_a_group_of_ten(sizes):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    groups = group_classes(codes)
    if len(codes) < 10:
        assert groups == []
        return
    assert np.logical_or.reduce(groups).all()
    assert min(map(np.count_nonzero, groups)) >= 10


def make_forecast(strength, seed=0, n=4000):
    threat = attribute_threat((0.5, 0.5), n, seed)
    rng = np.random.default_rng(seed)
    sign = np.where(threat.attribute.codes == 1, 1.0, -1.0)

    def draw():
        chance = 1 / (1 + np.exp(-rng.normal(size=n) - strength * sign))
        return np.stack([1 - chance, chance], axis=1)

    held_out = draw()
    held_out[~threat.known] = np.nan
    return ClassProbabilities(draw(), held_out=held_out), threat


def test_the_own_forecast_reads_nothing_hidden_and_is_calibrated():
    found, threat = make_forecast(1.0)
    forecast = node_risk.calibrate_on_known(found, threat)
    codes = threat.attribute.codes.copy()
    codes[threat.hidden] = 1 - codes[threat.hidden]
    attribute = NodeColumn("z", codes, threat.attribute.classes)
    other = AttributeThreat(attribute, threat.known, threat.hidden)
    np.testing.assert_array_equal(node_risk.calibrate_on_known(found, other), forecast)
    truth = threat.attribute.codes[threat.hidden]
    for low in (0.2, 0.4, 0.6):
        inside = (forecast[:, 1] >= low) & (forecast[:, 1] < low + 0.2)
        assert truth[inside].mean() == pytest.approx(forecast[inside, 1].mean(), abs=0.1)
    (exposed,) = measure_forecast_advantage(found, threat)
    across = measure_advantage(compute_attribute_node_risk(found, threat))
    assert exposed.value == pytest.approx(across.value, abs=0.06)


def test_a_forecast_that_was_wrong_on_hidden_nodes_only_stays_wrong():
    """Only a calibration on the hidden truth could invert it back."""
    found, threat = make_forecast(2.0)
    values = found.probabilities.copy()
    values[threat.hidden] = values[threat.hidden][:, ::-1]
    inverted = ClassProbabilities(values, held_out=found.held_out)
    assert measure_advantage(compute_attribute_node_risk(inverted, threat)).value > 0.5
    (exposed,) = measure_forecast_advantage(inverted, threat)
    assert exposed.value < 0.15
    assert measure_forecast_advantage(ClassProbabilities(values), threat) == []


def compute_ece(values, codes):
    """Mean distance of the largest probability from the share of right ones, over ten bins."""
    top, right = values.max(axis=1), values.argmax(axis=1) == codes
    bins = np.minimum((10 * top).astype(int), 9)
    inside = [bins == each for each in np.unique(bins)]
    return sum(abs(right[b].mean() - top[b].mean()) * b.mean() for b in inside)


def draw_scores(num_classes, n=6000, seed=0):
    """Classes of uneven sizes and scores that point to them more or less."""
    rng = np.random.default_rng(seed)
    sizes = rng.gamma(2.0, size=num_classes) + 0.1
    threat = attribute_threat(sizes / sizes.sum(), n, seed)
    told = rng.gamma(2.0, 2.0, (n, 1)) * np.eye(num_classes)[threat.attribute.codes]
    logits = rng.normal(size=(n, num_classes)) + told
    chances = np.exp(0.5 * logits)
    return ClassProbabilities(chances / chances.sum(axis=1, keepdims=True)), threat


@pytest.mark.parametrize("num_classes", [6, 40])
def test_rows_of_many_classes_are_calibrated(num_classes, monkeypatch):
    found, threat = draw_scores(num_classes)
    codes = threat.attribute.codes[threat.hidden]
    after = compute_ece(calibrate_classes_across_folds(found, threat), codes)
    assert after < 0.03
    monkeypatch.setattr(node_risk, "_calibrate_likeliest", lambda values, *others: values)
    before = compute_ece(calibrate_classes_across_folds(found, threat), codes)
    assert before > after + 0.02


def test_the_likeliest_class_is_calibrated_on_the_other_half(monkeypatch):
    """Against a logistic regression on the other half's truth alone; other entries keep their
    proportions."""
    seen, calibrate = [], node_risk._calibrate_likeliest
    monkeypatch.setattr(
        node_risk, "_calibrate_likeliest", lambda *a: seen.append(a) or calibrate(*a)
    )
    found, threat = draw_scores(5, 2000)
    values, nodes = calibrate_classes_across_folds(found, threat), np.flatnonzero(threat.hidden)
    is_second = node_risk.mix_bits(nodes) % 2 == 1
    assert 700 < is_second.sum() < 1100
    for half, (before, told, codes) in zip((is_second, ~is_second), seen, strict=True):
        np.testing.assert_array_equal(codes, threat.attribute.codes[nodes[~half]])
        odds, own = (logit(np.clip(v.max(1), 0.001, 0.999))[:, None] for v in (told, before))
        model = LogisticRegression(C=1e6).fit(odds, told.argmax(1) == codes)
        rows, place = np.arange(len(before)), before.argmax(axis=1)
        top = values[half][rows, place]
        np.testing.assert_allclose(top, model.predict_proba(own)[:, 1], atol=0.02)
        rest, expected = values[half].copy(), before.copy()
        rest[rows, place] = expected[rows, place] = 0
        rest, expected = (v / v.sum(axis=1, keepdims=True) for v in (rest, expected))
        np.testing.assert_allclose(rest, expected, atol=1e-9)
    np.testing.assert_allclose(values.sum(axis=1), 1)


def test_two_classes_and_rows_without_others_truth_stay():
    found, threat = draw_scores(2, 400)
    nodes = np.flatnonzero(threat.hidden)
    scaled = node_risk._calibrate_classes(
        found.probabilities[nodes], threat.attribute.codes[nodes], nodes, threat.attribute.shares
    )
    np.testing.assert_array_equal(calibrate_classes_across_folds(found, threat), scaled)
    rows = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    none = node_risk._calibrate_likeliest(rows, rows[:0], np.zeros(0, np.int64))
    np.testing.assert_array_equal(none, rows)
    wrong = np.tile([0.6, 0.2, 0.2], (50, 1))
    calibrated = node_risk._calibrate_likeliest(rows, wrong, np.ones(50, np.int64))
    assert np.isfinite(calibrated).all()
    np.testing.assert_allclose(calibrated.sum(axis=1), 1)
    assert calibrated[0, 0] < 0.2


def test_the_attacker_that_exposes_most_leads_only_beyond_noise():
    rng, nodes = np.random.default_rng(0), np.arange(100)
    sure = np.where(nodes < 40, 0.9, 0.0)
    wide = np.where(nodes < 40, 0.25, 0.0) + np.where((nodes >= 40) & (nodes < 50), 0.25, 0.0)
    wider = np.where(nodes < 60, 0.21, 0.0)
    assert sure.mean() > wide.mean()
    assert find_worst_attacker([(nodes, wide), (nodes, sure)]) == 0
    assert find_worst_attacker([(nodes, sure), (nodes, wide), (nodes, wider)]) == 2
    near = np.where(nodes < 43, 0.25, 0.0)
    assert find_worst_attacker([(nodes, near), (nodes, sure)]) == 1
    swapped = np.roll(wide, 45)  # as many more, but on other nodes: chance
    assert find_worst_attacker([(nodes, swapped), (nodes, sure)]) == 1
    elsewhere = nodes + 100
    assert find_worst_attacker([(elsewhere, wider), (nodes, sure)]) == 1
    beyond = np.concatenate([nodes[:40], elsewhere])
    gains = np.where(beyond < 100, 0.25, rng.random(140) * 0.3)
    assert find_worst_attacker([(beyond, gains), (nodes, sure)]) == 1  # equal where both attack
