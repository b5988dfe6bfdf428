import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.metrics import balanced_accuracy_score, roc_auc_score, roc_curve

from core.measures.intervals import combine_measurements
from core.measures.ranking import (
    FPR_GRID,
    compute_attribute_roc,
    compute_auc,
    compute_grid_roc,
    compute_margins,
    compute_roc,
    join_more,
    measure_class_probabilities,
    measure_link_scores,
    rank_with_ties,
)
from core.node_column import NodeColumn
from core.results import ClassProbabilities, PairScores
from core.threats import AttributeThreat, LinkThreat


def link_threat(hidden, absent, prior=0.01):
    return LinkThreat(np.zeros((hidden, 2), int), np.ones((absent, 2), int), prior)


def attribute_threat(codes, num_classes):
    attribute = NodeColumn("z", codes, tuple("abcdef"[:num_classes]))
    hidden = np.ones(len(codes), bool)
    hidden[:3] = False
    return AttributeThreat(attribute, ~hidden, hidden)


def by_metric(measurements):
    return {m.metric: m for m in measurements}


def softmax(values):
    e = np.exp(values)
    return e / e.sum(axis=1, keepdims=True)


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=30),
    st.lists(st.integers(-3, 3), min_size=1, max_size=30),
)
@settings(max_examples=100)
def test_auc_equals_the_pair_loop_and_sklearn(positives, negatives):
    scores = np.array(positives + negatives, float)
    truth = np.arange(len(scores)) < len(positives)
    naive = np.mean([(p > q) + 0.5 * (p == q) for p in positives for q in negatives])
    auc, _ = compute_auc(scores, truth)
    assert rank_with_ties(scores).tolist() == rankdata(scores).tolist()
    assert auc == pytest.approx(naive)
    assert auc == pytest.approx(roc_auc_score(truth, scores))
    roc = compute_roc(scores, truth)
    assert auc == pytest.approx(np.trapezoid(roc.tpr, roc.fpr))


def test_delong_variance_equals_the_definition_and_the_bootstrap():
    rng = np.random.default_rng(0)
    positives, negatives = rng.normal(0.8, 1, 120).round(1), rng.normal(0, 1, 80).round(1)
    scores = np.concatenate([positives, negatives])
    truth = np.arange(200) < 120
    _, influence = compute_auc(scores, truth)
    psi = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)
    definition = psi.mean(1).var(ddof=1) / 120 + psi.mean(0).var(ddof=1) / 80
    assert (influence**2).sum() == pytest.approx(definition)
    draws = []
    for _ in range(1500):
        i, j = rng.integers(0, 120, 120), rng.integers(120, 200, 80)
        pick = np.concatenate([i, j])
        draws.append(compute_auc(scores[pick], truth[pick])[0])
    assert np.var(draws) == pytest.approx(definition, rel=0.15)


def test_perfect_ranking_keeps_an_interval():
    scores = PairScores(np.array([3.0, 2.0, 1.0, 0.0]))
    auc = by_metric(measure_link_scores(scores, link_threat(2, 2)))["auc"]
    assert auc.value == 1.0
    assert auc.variance > 0.01


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_roc_passes_through_the_points_of_sklearn(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=60).round(1)
    truth = np.arange(60) < 25
    fpr, tpr, _ = roc_curve(truth, scores, drop_intermediate=False)
    roc = compute_roc(scores, truth)
    np.testing.assert_allclose(roc.fpr, fpr)
    np.testing.assert_allclose(roc.tpr, tpr)
    grid = compute_grid_roc(scores, truth)
    assert (np.diff(grid.tpr) >= -1e-12).all()
    assert grid.tpr[-1] == 1.0
    assert FPR_GRID[0] == 0.0
    assert FPR_GRID[-1] == 1.0
    threshold = scores[~truth].max()
    assert grid.tpr[0] == pytest.approx((scores[truth] > threshold).mean())


def test_tpr_at_low_fpr_on_known_scores():
    """30 of 100 withheld links above all 1,000 non-links, the rest below all of them."""
    scores = np.concatenate([np.full(30, 2000.0), np.full(70, -1.0), np.arange(1000)])
    result = by_metric(measure_link_scores(PairScores(scores), link_threat(100, 1000, 0.002)))
    assert result["tpr_at_fpr_0.01"].value == pytest.approx(0.3)
    assert result["tpr_at_fpr_0.001"].value == pytest.approx(0.3)


def test_constant_scores_are_worth_exactly_chance():
    result = by_metric(
        measure_link_scores(PairScores(np.zeros(2000)), link_threat(1000, 1000, 0.01))
    )
    assert result["auc"].value == 0.5
    assert result["tpr_at_fpr_0.01"].value == pytest.approx(0.01)
    assert result["tpr_at_fpr_0.001"].value == pytest.approx(0.001)


def test_what_the_sample_cannot_resolve_is_said():
    result = by_metric(measure_link_scores(PairScores(np.arange(150.0)), link_threat(50, 100)))
    assert result["tpr_at_fpr_0.01"].value is not None
    assert result["tpr_at_fpr_0.001"].value is None
    assert "100 of 1000" in result["tpr_at_fpr_0.001"].reason
    few = by_metric(measure_link_scores(PairScores(np.arange(60.0)), link_threat(20, 40)))
    assert few["tpr_at_fpr_0.01"].value is None
    assert few["auc"].value is not None


def test_the_milder_rate_is_resolved_where_the_stricter_is():
    """34 people: 8 withheld links and as many non-links, but 400 more of these to judge by."""
    threat, more = link_threat(8, 8), np.arange(2000.0)
    scores = np.concatenate([np.full(4, 3000.0), np.full(4, -1.0), np.arange(8)])
    few = by_metric(measure_link_scores(PairScores(scores), threat, more[:400]))
    assert few["tpr_at_fpr_0.01"].value == pytest.approx(0.5)
    assert few["tpr_at_fpr_0.01"].n == 416
    assert few["tpr_at_fpr_0.001"].value is None
    many = by_metric(measure_link_scores(PairScores(scores), threat, more))
    assert many["tpr_at_fpr_0.01"].value == many["tpr_at_fpr_0.001"].value == pytest.approx(0.5)
    curve = compute_grid_roc(*join_more(PairScores(scores), threat, more[:400], 0.01))
    assert curve.at(0.01) == few["tpr_at_fpr_0.01"].value  # the number beside the curve
    # Where its own non-links suffice, nothing else is counted.
    enough = PairScores(np.arange(300.0))
    own = by_metric(measure_link_scores(enough, link_threat(100, 200), more))
    assert own["tpr_at_fpr_0.01"].n == 300


def test_variance_of_tpr_matches_fresh_samples():
    rng = np.random.default_rng(1)
    truth = np.arange(1000) < 500
    values, variances = [], []
    for _ in range(400):
        scores = rng.normal(size=1000) + 1.5 * truth
        m = by_metric(measure_link_scores(PairScores(scores), link_threat(500, 500)))
        values.append(m["tpr_at_fpr_0.01"].value)
        variances.append(m["tpr_at_fpr_0.01"].variance)
    assert 0.6 < np.mean(variances) / np.var(values) < 1.8


def test_intervals_of_tpr_are_those_of_the_positives():
    """Of 12 withheld links none is named: exact bound of 0 of 12, not of all pairs."""
    scores = np.append(np.zeros(12), np.arange(1.0, 501.0))
    own = by_metric(measure_link_scores(PairScores(scores), link_threat(12, 500)))
    low_rate = own["tpr_at_fpr_0.01"]
    assert (low_rate.value, low_rate.n) == (0, 512)
    assert combine_measurements([low_rate]).high == pytest.approx(1 - 0.025 ** (1 / 12))


def test_intervals_of_tpr_of_classes_rest_on_the_smallest():
    """Of three classes none is ever named first, then half of the smallest."""
    codes = np.repeat([0, 1, 2], [300, 290, 10])
    everyone = np.ones(600, bool)
    threat = AttributeThreat(NodeColumn("z", codes, ("a", "b", "c")), ~everyone, everyone)
    p = np.where(np.arange(3) == codes[:, None], 0.0, 0.5)

    def measure():
        found = by_metric(measure_class_probabilities(ClassProbabilities(p), threat))
        return found["tpr_at_fpr_0.01"]

    none = measure()
    assert none.value == 0
    # the mean of three shares of one rate p varies by p(1 − p) Σ 1/n / 9
    assert none.trials == pytest.approx(9 / (1 / 300 + 1 / 290 + 1 / 10))
    p[-5:] = [0.0, 0.0, 1.0]
    half = measure()
    assert half.value == pytest.approx(0.5 / 3)
    variance = 0.25 / 10 / 9  # of the smallest class alone
    assert half.value * (1 - half.value) / half.trials == pytest.approx(variance)


@pytest.mark.parametrize("num_classes", [2, 4])
def test_class_metrics_against_sklearn(num_classes):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, num_classes, 300)
    threat = attribute_threat(codes, num_classes)
    p = softmax(rng.normal(size=(300, num_classes)) + 1.0 * np.eye(num_classes)[codes])
    result = by_metric(measure_class_probabilities(ClassProbabilities(p), threat))
    h = threat.hidden
    expected = (
        roc_auc_score(codes[h], p[h][:, 1])
        if num_classes == 2
        else roc_auc_score(codes[h], p[h], multi_class="ovr", average="macro")
    )
    assert result["auc"].value == pytest.approx(expected)
    assert result["accuracy"].value == pytest.approx((p.argmax(1) == codes)[h].mean())
    assert result["balanced_accuracy"].value == pytest.approx(
        balanced_accuracy_score(codes[h], p[h].argmax(1))
    )
    margins = [p[i, codes[i]] - np.delete(p[i], codes[i]).max() for i in np.flatnonzero(h)]
    np.testing.assert_allclose(compute_margins(p[h], codes[h]), margins)
    assert result["margin"].value == pytest.approx(np.mean(margins))
    assert result["margin_absolute"].value == pytest.approx(np.mean(np.abs(margins)))
    assert result["share_below_zero"].value == pytest.approx(np.mean(np.array(margins) < 0))
    rarer = int(threat.attribute.shares.argmin())
    classes = [rarer] if num_classes == 2 else range(num_classes)
    sides = [compute_roc(p[h][:, c], codes[h] == c).at(0.01) for c in classes]
    assert result["tpr_at_fpr_0.01"].value == pytest.approx(np.mean(sides))
    assert all(m.n == h.sum() for m in result.values())


def test_macro_auc_variance_matches_the_bootstrap():
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1, 2], [150, 100, 50])
    p = softmax(rng.normal(size=(300, 3)) + 0.8 * np.eye(3)[codes])
    attribute = NodeColumn("z", codes, ("a", "b", "c"))
    everyone = np.ones(300, bool)
    threat = AttributeThreat(attribute, ~everyone, everyone)
    variance = by_metric(measure_class_probabilities(ClassProbabilities(p), threat))["auc"].variance
    draws = []
    for _ in range(500):
        i = rng.integers(0, 300, 300)
        draws.append(np.mean([compute_auc(p[i, c], codes[i] == c)[0] for c in range(3)]))
    assert variance == pytest.approx(np.var(draws), rel=0.3)


def test_values_of_known_nodes_do_not_count():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, 80)
    p = softmax(rng.normal(size=(80, 2)))
    threat = attribute_threat(codes, 2)
    first = measure_class_probabilities(ClassProbabilities(p), threat)
    changed = p.copy()
    changed[threat.known] = [0.5, 0.5]
    assert measure_class_probabilities(ClassProbabilities(changed), threat) == first


def test_a_class_without_nodes_and_no_hidden_nodes():
    codes = np.arange(40) % 2
    p = softmax(np.random.default_rng(0).normal(size=(40, 3)))
    threat = attribute_threat(codes, 3)
    result = by_metric(measure_class_probabilities(ClassProbabilities(p), threat))
    assert result["auc"].value is not None
    nobody = AttributeThreat(NodeColumn("z", codes, ("a", "b", "c")), codes >= 0, codes < 0)
    assert all(
        m.value is None and m.reason
        for m in measure_class_probabilities(ClassProbabilities(p), nobody)
    )


@pytest.mark.parametrize("num_classes", [2, 3])
def test_attribute_roc_ends_and_chance(num_classes):
    codes = np.arange(90) % num_classes
    threat = attribute_threat(codes, num_classes)
    flat = ClassProbabilities(np.full((90, num_classes), 1 / num_classes))
    roc = compute_attribute_roc(flat, threat)
    np.testing.assert_allclose(roc.tpr, FPR_GRID)
    perfect = compute_attribute_roc(ClassProbabilities(np.eye(num_classes)[codes]), threat)
    np.testing.assert_allclose(perfect.tpr, 1.0)


def test_of_equal_classes_the_second_is_positive():
    codes = np.arange(400) % 2
    scores = np.random.default_rng(1).normal(size=400) ** 2 * np.where(codes, 1.0, 0.3)
    values = np.exp(np.stack([-scores, scores], axis=1))
    values /= values.sum(axis=1, keepdims=True)
    threat = attribute_threat(codes, 2)
    found = by_metric(measure_class_probabilities(ClassProbabilities(values), threat))
    expected = [
        compute_roc(values[3:, c], codes[3:] == c).at(0.01)  # the first three are not hidden
        for c in (0, 1)
    ]
    assert expected[0] != pytest.approx(expected[1], abs=0.02)
    assert found["tpr_at_fpr_0.01"].value == pytest.approx(expected[1])


def test_a_class_of_everybody_hidden_is_not_ranked():
    codes = np.zeros(40, int)
    p = softmax(np.random.default_rng(0).normal(size=(40, 3)))
    found = by_metric(
        measure_class_probabilities(ClassProbabilities(p), attribute_threat(codes, 3))
    )
    for metric in ("auc", "tpr_at_fpr_0.01"):
        assert found[metric].value is None
        assert found[metric].reason == "needs nodes of two classes"


def test_one_class_that_the_sample_cannot_resolve_leaves_no_mean():
    """A class of 300 has 87 hidden others, too few for 1 in 100."""
    codes = np.repeat([0, 1, 2], [45, 45, 300])
    p = softmax(np.random.default_rng(0).normal(size=(len(codes), 3)))
    found = by_metric(
        measure_class_probabilities(ClassProbabilities(p), attribute_threat(codes, 3))
    )
    assert found["tpr_at_fpr_0.01"].value is None
    assert "87 of 100 negative cases" in found["tpr_at_fpr_0.01"].reason


def test_a_perfect_ranking_of_classes_keeps_an_interval():
    codes = np.arange(30) % 3
    found = measure_class_probabilities(
        ClassProbabilities(np.eye(3)[codes]), attribute_threat(codes, 3)
    )
    assert by_metric(found)["auc"].value == 1.0
    assert by_metric(found)["auc"].variance > 0.001
