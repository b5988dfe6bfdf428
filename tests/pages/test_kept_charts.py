"""Figures that every visit shows are built once, and what browsers are sent of them too."""

from __future__ import annotations

import importlib
import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest
import streamlit as st

from core.figures.chart import KeptFigure
from core.findings.policy import list_policies
from pages.ui import map_data
from tests.pages.test_map import placed, read_figure

__all__ = ["placed"]


def test_a_kept_figure_is_sent_as_it_is_and_copied_once(monkeypatch):
    figure = go.Figure(go.Scatter(x=np.arange(3.0), y=[1, np.nan, 2], text=["a", "é", "<"]))
    figure.update_layout(title={"text": "One"}, xaxis={"title": {"text": "x"}})
    kept = KeptFigure(figure)
    expected = plotly.io.to_json(figure.to_dict(), validate=False)
    monkeypatch.setattr(go.Figure, "to_dict", lambda _: pytest.fail("copied again"))
    for _ in range(2):
        assert plotly.io.to_json(kept.to_dict(), validate=False) == expected
    assert json.loads(expected) == kept.to_dict()  # no array is left to be encoded
    assert kept.layout.title.text == "One"
    assert list(kept.data[0].x) == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("page", "picture"),
    [
        ("map", "core.figures.node_map.people_map"),
        ("decision", "core.figures.limit_matrix.limit_matrix"),
    ],
)
def test_a_second_session_is_sent_the_same_picture_without_drawing_it(
    open_app, placed, audit_id, monkeypatch, page, picture
):
    st.cache_resource.clear()
    first = read_figure(open_app(page, audit=audit_id))
    monkeypatch.setattr(picture, lambda *_, **__: pytest.fail("drawn again"))
    monkeypatch.setattr(go.Figure, "to_dict", lambda _: pytest.fail("copied again"))
    assert read_figure(open_app(page, audit=audit_id)) == first


def test_the_map_of_an_opened_node_is_its_own(open_app, placed, audit_id):
    st.cache_resource.clear()
    app = open_app("map", audit=audit_id)
    whole = read_figure(app)
    app.session_state["node"] = "5"
    app.run()
    assert len(read_figure(app)["data"]) > len(whole["data"])
    assert read_figure(open_app("map", audit=audit_id)) == whole


def test_the_kept_map_follows_secret_colour_and_second_release(open_app, placed, audit_id):
    st.cache_resource.clear()
    app = open_app("map", audit=audit_id)
    seen = [read_figure(app)]
    app.selectbox(key="map-secret").select_index(1).run()
    seen.append(read_figure(app))
    next(c for c in app.segmented_control if c.label == "Colour").set_value("links").run()
    seen.append(read_figure(app))
    app.selectbox(key="map-release").select_index(1).run()
    seen.append(read_figure(app))
    next(c for c in app.segmented_control if c.label == "Colour").set_value("change").run()
    seen.append(read_figure(app))
    assert not app.exception
    assert len({json.dumps(figure, sort_keys=True) for figure in seen}) == 5


def test_the_matrix_follows_the_policy(open_app, audit_id):
    st.cache_resource.clear()
    app = open_app("decision", audit=audit_id)
    seen = [read_figure(app)]
    policy = next(c for c in app.segmented_control if c.label == "Policy")
    policy.set_value(next(p.key for p in list_policies() if p.key != policy.value)).run()
    seen.append(read_figure(app))
    assert seen[0] != seen[1]


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("risk", "core.findings.strongest.answer_inverted"),
        ("decision", "core.findings.verdict_words.explain_others"),
        ("map", "core.findings.people_map.list_people"),
        ("attack", "core.findings.tables.describe_missing"),
    ],
)
def test_what_depends_on_the_audit_alone_is_found_once(
    open_app, placed, audit_id, monkeypatch, page, found
):
    st.cache_resource.clear()
    counts = []
    module, name = found.rsplit(".", 1)
    find = getattr(importlib.import_module(module), name)
    monkeypatch.setattr(found, lambda *given: counts.append(1) or find(*given))
    if page == "map":
        monkeypatch.setattr(map_data, name, getattr(importlib.import_module(module), name))
    for _ in range(2):
        open_app(page, audit=audit_id)
    assert len(counts) == 1
