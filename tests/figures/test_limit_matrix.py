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

LEAST_PX = 28
"""Height of a row at which two lines of a name are read."""
PLOT_PX, LETTER_PX = 500, 6
"""Width of the cells on a page of 1024 pixels, and of a letter above them."""


@pytest.fixture(scope="module")
def verdict(view):
    return judge(view, find_policy("public"))


def read_rows(figure):
    """Names of the releases in their order, each with the decision above it."""
    found, section = {}, ""
    for text in figure.layout.yaxis.ticktext:
        if text.startswith("<b>"):
            section = text[3:-4]
        else:
            found[text.replace("<br>", " ").replace("\u00a0", " ")] = section
    return found


def read_cells(figure, name):
    """Limit's title → text and place on the scale of colours, of the row of a release."""
    cells = {}
    for heat in figure.data:
        for texts, places, hovers in zip(heat.text, heat.z, heat.hovertext, strict=True):
            for text, place, hover in zip(texts, places, hovers, strict=True):
                whole = hover.replace("\u00a0", " ")
                if whole.rpartition("<br>")[0].replace("<br>", " ") == name:
                    cells[whole.rpartition("<br>")[2]] = text, place
    return cells


def repeat(verdict, count):
    """A verdict of so many limits of unlike names."""
    releases = []
    for release in verdict.releases:
        check = release.checks[0]
        limits = [
            check.limit.model_copy(update={"name": f"n{i}", "title": f"Limit {i}"})
            for i in range(count)
        ]
        checks = tuple(check.model_copy(update={"limit": limit}) for limit in limits)
        releases.append(release.model_copy(update={"checks": checks}))
    return verdict.model_copy(update={"releases": tuple(releases)})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_cell_has_its_mark_its_distance_and_its_colour(verdict, theme):
    names = list_short_titles(release.made for release in verdict.releases)
    chart = limit_matrix(verdict, names, theme)
    assert len(chart.figure.data) == 1
    states, exceeded = set(), []
    for release in verdict.releases:
        cells = read_cells(chart.figure, names[release.release])
        for check in release.checks:
            if check.limit.title in chart.note:
                assert check.limit.optional
                assert check.state == "not_tested"
                continue
            text, place = cells[check.limit.title]
            assert text.startswith(MARKS[check.state])
            states.add(check.state)
            if check.state == "not_tested":
                assert math.isnan(place)
                continue
            assert len(text) > len("✗ ")
            start, end = {"met": (0, 1), "not_proven": (1, 2), "exceeded": (2, 3)}[check.state]
            assert start / 3 <= place <= end / 3
            exceeded += [(check.severity, place)] * (check.state == "exceeded")
    assert {"exceeded", "not_proven"} <= states
    assert [place for _, place in sorted(exceeded)] == sorted(place for _, place in exceeded)
    assert chart.figure.layout.xaxis.tickangle == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_are_read_on_every_colour(theme):
    ink = luminance(INKS[theme].text)
    for ends in STATE_COLORS[theme].values():
        for color in ends:
            levels = sorted((ink, luminance(color)))
            assert (levels[1] + 0.05) / (levels[0] + 0.05) >= 4.5


def test_eleven_releases_fit_on_a_screen(verdict):
    """They were drawn four beside each other, 1,170 pixels high."""
    many = verdict.model_copy(update={"releases": (verdict.releases * 4)[:11]})
    names = {release.release: f"R{i}" for i, release in enumerate(verdict.releases)}
    figure = limit_matrix(many, names).figure
    (heat,) = figure.data
    sizes = np.diff(heat.y)[[any(row) for row in heat.text]]
    assert len(sizes) == 11
    assert (sizes >= LEAST_PX).all()
    assert figure.layout.height <= 600
    drawn = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    assert drawn >= heat.y[-1]  # a row has at least its pixels


def test_the_release_that_matters_is_first_and_the_others_below_their_decision(verdict):
    def measure(check, multiple):
        value = multiple * check.limit.limit
        found = replace(check.evidence, value=value, high=value)
        return check.model_copy(update={"evidence": found})

    releases = tuple(
        release.model_copy(update={"checks": tuple(measure(c, value) for c in release.checks)})
        for release, value in zip(verdict.releases, (3.0, 4.0, 0.5), strict=True)
    )
    names = list_short_titles(release.made for release in releases)
    titles = [names[release.release] for release in releases]
    now = verdict.model_copy(update={"releases": releases})
    rows = read_rows(limit_matrix(now, names).figure)
    best = DECISION_TITLES[releases[2].decision]
    assert list(rows.items()) == [
        (titles[2], f"Nearest: {best}"),
        (titles[0], "Do not publish"),
        (titles[1], "Do not publish"),
    ]
    now = now.model_copy(update={"recommended": releases[1].release})
    rows = read_rows(limit_matrix(now, names).figure)
    assert next(iter(rows.items())) == (titles[1], "Recommended: Do not publish")


def test_the_only_release_that_was_tested_is_not_called_the_nearest(verdict):
    """While an audit ran, the original came "nearest" to passing."""
    names = list_short_titles(release.made for release in verdict.releases)
    first, *others = verdict.releases
    others = [
        release.model_copy(
            update={
                "checks": tuple(
                    c.model_copy(update={"evidence": replace(c.evidence, value=None, high=None)})
                    for c in release.checks
                )
            }
        )
        for release in others
    ]
    now = verdict.model_copy(update={"releases": (first, *others)})
    rows = read_rows(limit_matrix(now, names).figure)
    assert rows[names[first.release]] == "Do not publish"


def test_a_limit_that_must_be_tested_has_a_dash(verdict):
    names = list_short_titles(release.made for release in verdict.releases)
    few = repeat(verdict, 1)
    releases = []
    for release in few.releases:
        (check,) = release.checks
        none = replace(check.evidence, value=None, high=None)
        limit = check.limit.model_copy(update={"optional": False})
        own = check.model_copy(update={"evidence": none, "limit": limit})
        releases.append(release.model_copy(update={"checks": (own,)}))
    chart = limit_matrix(few.model_copy(update={"releases": tuple(releases)}), names)
    text, place = read_cells(chart.figure, names[releases[0].release])["Limit 0"]
    assert text == MARKS["not_tested"]
    assert math.isnan(place)


def test_limits_stand_below_their_threat_and_fit(verdict):
    figure = limit_matrix(verdict, list_short_titles(r.made for r in verdict.releases)).figure
    titles = [note.text for note in figure.layout.annotations]
    assert titles[:1] == ["<b>Withheld links</b>"]
    places = [note.x for note in figure.layout.annotations]
    assert places == sorted(places)
    axis = figure.layout.xaxis
    assert len(axis.tickvals) == len(axis.ticktext) <= COLUMNS
    edges = figure.data[0].x
    for head, at in zip(axis.ticktext, axis.tickvals, strict=True):
        after = int(np.searchsorted(edges, at))
        room = PLOT_PX * (edges[after] - edges[after - 1]) / edges[-1]
        assert max(map(len, head.split("<br>"))) * LETTER_PX <= room + LETTER_PX


def test_many_limits_are_drawn_below_each_other(verdict):
    names = list_short_titles(release.made for release in verdict.releases)
    figure = limit_matrix(repeat(verdict, 2 * COLUMNS + 1), names).figure
    assert len(figure.data) == 3
    heads = [t for axis in ("xaxis", "xaxis2", "xaxis3") for t in figure.layout[axis].ticktext]
    assert [head.replace("<br>", " ") for head in heads] == [
        f"Limit {i}" for i in range(2 * COLUMNS + 1)
    ]
    domains = [figure.layout[axis].domain for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert all(upper[0] > lower[1] for upper, lower in pairwise(domains))


def test_an_optional_limit_that_none_was_tested_against_takes_no_column(verdict):
    """A column of dashes below a name says less than a line."""
    names = list_short_titles(release.made for release in verdict.releases)
    optional = [
        check.limit
        for check in verdict.releases[0].checks
        if check.limit.optional
        and all(
            own.state == "not_tested"
            for release in verdict.releases
            for own in release.checks
            if own.limit.name == check.limit.name
        )
    ]
    assert optional
    chart = limit_matrix(verdict, names)
    cells = read_cells(chart.figure, names[verdict.releases[0].release])
    for limit in optional:
        assert limit.title in chart.note
        assert limit.title not in cells
    assert set(cells) | {x.title for x in optional} == {
        check.limit.title for check in verdict.releases[0].checks
    }


def test_one_limit_has_its_column(verdict):
    (heat,) = limit_matrix(
        repeat(verdict, 1), {r.release: "R" for r in verdict.releases}
    ).figure.data
    assert sum(map(any, np.transpose(heat.text))) == 1


def test_a_tiny_share_of_a_limit_is_no_power_of_ten(verdict):
    """One of three million people was 3.4e−06 times the limit."""
    release = next(r for r in verdict.releases for c in r.checks if c.state == "exceeded")
    check = next(c for c in release.checks if c.state == "exceeded")
    few = replace(check.evidence, value=3e-7)
    tiny = release.model_copy(update={"checks": (check.model_copy(update={"evidence": few}),)})
    figure = limit_matrix(
        verdict.model_copy(update={"releases": (tiny,)}), {release.release: "R"}
    ).figure
    texts = [str(text) for heat in figure.data for row in heat.text for text in row]
    assert any(text.endswith("&lt;0.001") for text in texts)
