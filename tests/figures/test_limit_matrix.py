"""The matrix of releases and limits: each state in its colour, fuller the farther from a limit."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core.audit.asked.release_info import list_short_titles
from core.figures.limit_matrix import COLUMNS, MARKS, limit_matrix
from core.figures.theme import INKS
from core.findings.palette import STATE_COLORS
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.findings.verdict_words import DECISION_TITLES

from .test_theme import luminance


@pytest.fixture(scope="module")
def verdict(view):
    return judge(view, find_policy("public"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_cell_has_its_mark_its_distance_and_its_colour(verdict, theme):
    names = list_short_titles(release.made for release in verdict.releases)
    chart = limit_matrix(verdict, names, theme)
    (heat,) = chart.figure.data
    states = set()
    for column, release in enumerate(verdict.releases):
        head = chart.figure.layout.xaxis.ticktext[column]
        assert head.startswith(f"<b>{DECISION_TITLES[release.decision]}</b><br>")
        for row, check in enumerate(release.checks):
            text, place = heat.text[row][column], heat.z[row][column]
            assert text.startswith(MARKS[check.state])
            states.add(check.state)
            if check.state == "not_tested":
                assert math.isnan(place)
                continue
            assert "×" in text
            start, end = {"met": (0, 1), "not_proven": (1, 2), "exceeded": (2, 3)}[check.state]
            assert start / 3 <= place <= end / 3
    assert {"exceeded", "not_tested"} <= states
    exceeded = [
        (check.severity, heat.z[row][column])
        for column, release in enumerate(verdict.releases)
        for row, check in enumerate(release.checks)
        if check.state == "exceeded"
    ]
    assert [place for _, place in sorted(exceeded)] == sorted(place for _, place in exceeded)
    assert chart.figure.layout.xaxis.tickangle == 0
    assert np.shape(heat.z) == (len(verdict.releases[0].checks), len(verdict.releases))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_are_read_on_every_colour(theme):
    ink = luminance(INKS[theme].text)
    for ends in STATE_COLORS[theme].values():
        for color in ends:
            levels = sorted((ink, luminance(color)))
            assert (levels[1] + 0.05) / (levels[0] + 0.05) >= 4.5


def test_many_releases_are_drawn_below_each_other(verdict):
    """Eleven beside each other had their names upon one another."""
    many = verdict.model_copy(update={"releases": (verdict.releases * 7)[: 2 * COLUMNS + 1]})
    names = {release.release: f"R{i}" for i, release in enumerate(verdict.releases)}
    figure = limit_matrix(many, names).figure
    assert len(figure.data) == 3
    heads = [
        head for axis in ("xaxis", "xaxis2", "xaxis3") for head in figure.layout[axis].ticktext
    ]
    assert [h.rpartition("<br>R")[2] for h in heads] == [
        names[r.release][1:] for r in many.releases
    ]
    assert all(len(heat.x) <= COLUMNS for heat in figure.data)
    one = limit_matrix(verdict, names).figure
    assert figure.layout.height > 2 * one.layout.height
    domains = [figure.layout[axis].domain for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert all(upper[0] > lower[1] for upper, lower in pairwise(domains))


def test_a_limit_that_applies_to_none_of_a_matrix_takes_no_row(verdict):
    """ε of node-DP stood empty below four releases that promise nothing."""
    first, *_ = verdict.releases
    few = first.model_copy(update={"checks": first.checks[:2]})
    many = verdict.model_copy(update={"releases": (few,) * COLUMNS + (first,) * COLUMNS})
    figure = limit_matrix(many, {first.release: "R"}).figure
    assert [len(heat.y) for heat in figure.data] == [2, len(first.checks)]
    heights = [axis.domain[1] - axis.domain[0] for axis in figure.select_yaxes()]
    assert heights[0] / heights[1] == pytest.approx(2 / len(first.checks))


def test_a_tiny_share_of_a_limit_is_no_power_of_ten(verdict):
    """One of three million people was × 3.4e−06."""
    release = next(r for r in verdict.releases for c in r.checks if c.state == "exceeded")
    check = next(c for c in release.checks if c.state == "exceeded")
    few = replace(check.evidence, value=3e-7)
    tiny = release.model_copy(update={"checks": (check.model_copy(update={"evidence": few}),)})
    one = verdict.model_copy(update={"releases": (tiny,)})
    (heat,) = limit_matrix(one, {release.release: "R"}).figure.data
    assert heat.text[0][0].endswith("× &lt;0.001")


def test_one_limit_has_its_row(verdict):
    """Names above a single row are higher than it."""
    released = [r.model_copy(update={"checks": r.checks[:1]}) for r in verdict.releases]
    names = {release.release: "a long name " * 5 for release in released}
    few = verdict.model_copy(update={"releases": tuple(released)})
    (heat,) = limit_matrix(few, names).figure.data
    assert np.shape(heat.z) == (1, len(released))
