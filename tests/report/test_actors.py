"""Where the best attack stands to the best baseline attacker, in the words of page 1."""

from __future__ import annotations

import pytest

from core.audit.asked.attack import parse_attack
from core.findings.evidence import find_evidence
from core.findings.policy import Limit
from core.findings.strongest import find_strongest
from core.report.actors import format_best, measure_best
from core.report.data import ReportData
from core.report.options import ReportOptions
from core.report.page_one import list_figures
from tests.oracles.audits import make_audit

LINKS = ("common_neighbors", "degree_product", "preferential_attachment")


def compare(attack: float, baseline: float, half: float = 0.04) -> str:
    scores = {("original", "common_neighbors", "auc"): attack}
    scores["original", "degree_product", "auc"] = baseline
    found = find_strongest(make_audit(scores, LINKS, half=half).results, "link", "original")
    return format_best(found)


@pytest.mark.parametrize(
    ("attack", "baseline", "half", "text"),
    [
        (
            *(0.84, 0.61, 0.04),
            "0.84 [0.80, 0.88] by Common neighbours, above the baseline, Degree product at 0.61",
        ),
        (
            *(0.84, 0.82, 0.04),
            "0.84 [0.80, 0.88] by Common neighbours, within noise of the baseline, Degree product "
            "at 0.82",
        ),
        (
            *(0.65, 0.73, 0.04),
            "0.73 [0.69, 0.77] by Degree product, a baseline attacker; Common neighbours 0.65 "
            "[0.61, 0.69] is below it",
        ),
        (
            *(0.70, 0.73, 0.04),
            "0.73 [0.69, 0.77] by Degree product, a baseline attacker; Common neighbours 0.70 "
            "[0.66, 0.74] is within noise of it",
        ),
        (
            *(0.84, 0.61, float("nan")),
            "0.84 by Common neighbours, not clearly apart from the baseline, Degree product at "
            "0.61",
        ),
    ],
)
def test_an_attack_is_above_within_noise_of_or_below_the_baseline(attack, baseline, half, text):
    """An attack clearly below the baseline was "within noise of it"."""
    assert compare(attack, baseline, half) == f"Attack AUC {text}, n = 400, repeats = 5"


def test_page_1_names_the_attack_of_the_verdict():
    """The verdict named Preferential attachment, which no chart had: it is the baseline's
    formula."""
    scores = {("original", name, "auc"): 0.73 for name in LINKS}
    scores["original", "common_neighbors", "auc"] = 0.65
    order = ("preferential_attachment", "common_neighbors", "degree_product")
    view = make_audit({("original", n, "auc"): scores["original", n, "auc"] for n in order}, LINKS)
    limit = Limit(name="auc", threat="link", metric="auc", limit=0.8, title="AUC", source="x")
    found = find_evidence(view, "original", limit)
    assert found.attack is not None
    assert (found.value, found.attack.title) == (0.73, "Degree product")
    rows = dict(list_figures(ReportData(view, ReportOptions())))
    assert f"by {found.attack.title}, a baseline attacker" in rows["Link inference"]


def test_of_several_secrets_page_1_names_the_highest_figure_as_the_verdict_does():
    """The one further above its own baseline attackers was named."""
    names = ("label_propagation", "class_prior")
    values = (("", 0.9, 0.85), ("@column:label", 0.7, 0.5))
    scores = {
        ("original", name + target, "auc"): value
        for target, *reached in values
        for name, value in zip(names, reached, strict=True)
    }
    view = make_audit(scores, names)
    limit = Limit(name="auc", threat="attribute", metric="auc", limit=0.8, title="AUC", source="x")
    assert find_evidence(view, "original", limit).value == 0.9
    text = dict(list_figures(ReportData(view, ReportOptions())))["Attribute inference"]
    assert text.startswith("Attack AUC 0.90 [0.89, 0.91] by Label propagation, above the baseline")


def test_an_actor_reaches_what_its_own_attacks_reach():
    """Beside all baseline attackers; nothing by an attack of which there is no result."""
    names = ("common_neighbors", "adamic_adar", "degree_product")
    reached = dict(zip(names, (0.7, 0.9, 0.6), strict=True))
    view = make_audit({("original", n, "auc"): value for n, value in reached.items()}, names)
    for name in names[:2]:
        found = measure_best(view.results, "link", "original", [parse_attack(name)])
        assert found is not None
        assert (found.best.value, found.baseline.value) == (reached[name], 0.6)
    assert measure_best(view.results, "link", "original", [parse_attack("katz")]) is None
