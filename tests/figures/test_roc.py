"""ROC on log axes: every curve once, nulls dashed, data as given."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.audit.asked.attack import parse_attack
from core.figures.roc import roc_by_attack, roc_by_release
from core.findings.palette import release_color
from core.report.charts import draw_roc

from .conftest import RELEASES


def list_attacks(view):
    return [view.get_attack(attack) for release, attack in view.rocs if release == "original"]


def test_by_attack_draws_each_curve_and_dashes_nulls(view):
    chart = roc_by_attack(view.rocs, view.get_release("original"), list_attacks(view))
    lines = {trace.name: trace for trace in chart.figure.data}
    assert set(lines) == {"Common neighbours", "Degree product", "chance"}
    assert lines["Degree product"].line.dash == "dash"
    assert lines["Common neighbours"].line.dash == "solid"
    curve = view.rocs["original", "common_neighbors"]
    np.testing.assert_allclose(lines["Common neighbours"].y, curve.tpr)
    assert lines["Common neighbours"].line.width > lines["Degree product"].line.width
    assert chart.figure.layout.xaxis.type == chart.figure.layout.yaxis.type == "log"
    assert set(chart.table.columns) == {"release", "attack", "fpr", "tpr"}
    assert len(chart.table) == 3 * len(curve)


def test_the_best_curve_is_the_highest_at_the_titles_fpr(view):
    """Bars beside it rank by the same rate; areas would name another attack."""
    early, wide = "common_neighbors", "katz"
    points = np.array([0.0, 0.01, 0.5, 1.0])
    rocs = {
        ("original", early): pd.DataFrame({"fpr": points, "tpr": [0.0, 0.30, 0.55, 1.0]}),
        ("original", wide): pd.DataFrame({"fpr": points, "tpr": [0.0, 0.20, 0.95, 1.0]}),
    }
    original = view.get_release("original")
    attacks = [parse_attack(early), parse_attack(wide)]
    chart = roc_by_attack(rocs, original, attacks, level=0.01)
    widths = {trace.name: trace.line.width for trace in chart.figure.data}
    assert max(widths, key=widths.get) == "Common neighbours"
    assert chart.title == "At 1 % FPR, Common neighbours finds 30 % on Original"
    pdf = draw_roc({parse_attack(key): curve for (_, key), curve in rocs.items()}, 0.01)
    assert "Common neighbours" in pdf
    assert "Katz" not in pdf  # the areas' best, one of the "other attacks"
    base = parse_attack("degree_product")
    rocs["original", base.id] = pd.DataFrame({"fpr": points, "tpr": [0.0, 0.4, 0.9, 1.0]})
    assert "Common neighbours finds" in roc_by_attack(rocs, original, [*attacks, base]).title
    del rocs["original", base.id]
    unresolved = {key: curve[1:] for key, curve in rocs.items()}
    assert roc_by_attack(unresolved, original, attacks, level=0.001).title == ""


def test_by_release_uses_the_releases_colours(view):
    curves = {key: curve for key, curve in view.rocs.items() if key[0] in RELEASES[1:]}
    made = [view.get_release(release) for release in RELEASES]
    chart = roc_by_release(curves, view.get_attack("common_neighbors"), made)
    colors = release_color(made)
    drawn = [trace.line.color for trace in chart.figure.data[:-1]]
    assert drawn == [colors[release] for release in RELEASES[1:]]


def test_no_curve_is_an_empty_chart(view):
    original = view.get_release("original")
    assert roc_by_attack({}, original, list_attacks(view)).is_empty
    assert roc_by_attack(view.rocs, original, []).is_empty
