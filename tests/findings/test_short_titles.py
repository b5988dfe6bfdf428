"""Short names of releases tell them apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.asked.release_info import list_short_titles, parse_release
from core.audit.results.view import RunningCell
from core.findings.labels import describe_running
from core.release import ORIGINAL

IDS = [
    ORIGINAL,
    "gps_sampling:batch=6,epochs=3",
    "gps_sampling:batch=7,epochs=3",
    "random_deletion:strength=0.3",
    "edge_rand:epsilon=3",
    "priv_graph:epsilon=3",
    "priv_graph:data_free=true,epsilon=3",
    "of_another_version:x=1",
]


def list_titles(ids):
    return list_short_titles(map(parse_release, ids))


def test_settings_that_tell_nothing_apart_are_left_out():
    long = "gps_sampling:batch=6,epochs=3"
    assert list_titles([ORIGINAL, long])[long] == "GPS sampling"
    assert list_titles(["edge_rand:epsilon=3"])["edge_rand:epsilon=3"] == "EdgeRand (ε = 3)"
    pair = list_titles([long, "gps_sampling:batch=7,epochs=3"])
    assert pair == {key: parse_release(key).title for key in pair}
    assert len(set(list_titles(IDS).values())) == len(IDS)


@given(st.lists(st.sampled_from(IDS)))
def test_each_release_has_a_name_of_its_own(ids):
    names = list_titles(ids)
    assert set(names) == set(ids)
    assert len(set(names.values())) == len(names)
    for release, name in names.items():
        assert len(name) <= len(parse_release(release).title)


@pytest.mark.parametrize(
    ("kind", "release", "method", "text"),
    [
        ("attack", ORIGINAL, "gps", "GPS on original"),
        ("attack", "edge_rand:epsilon=3", "gps", "GPS on EdgeRand (ε = 3)"),
        ("publish", "edge_rand:epsilon=3", "", "Making EdgeRand (ε = 3)"),
        ("measure", "edge_rand:epsilon=3", "structure", "Measuring EdgeRand (ε = 3)"),
    ],
)
def test_a_running_part_has_the_titles_of_its_method_and_release(kind, release, method, text):
    assert describe_running(RunningCell(kind, release, method, 0, 0.5, "")) == text
