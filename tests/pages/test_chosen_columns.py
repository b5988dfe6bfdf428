"""Columns that were read as features and chosen on Data: every page takes them for columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles.graphs import two_communities
from tests.pages.conftest import OpenApp
from tests.pages.test_pages import texts

COLUMNS = ("mature", "partner")
CLASSES = "Show classes of"


def make_graph(attributes):
    graph = two_communities()
    halves = np.arange(graph.num_nodes) % np.array([[2], [3]]) == 0
    features = np.column_stack([*halves, np.arange(graph.num_nodes)]).astype(np.float32)
    names = (*COLUMNS, "views")
    return graph.update_columns(attributes=attributes, features=features, feature_names=names)


@pytest.fixture
def features_only(audited) -> str:
    """Hash of a stored graph without an attribute."""
    return audited[0].save_graph(make_graph({}))


def find_box(app, label):
    return next(box for box in app.selectbox if box.label == label)


def choose(app, label, value) -> None:
    find_box(app, label).set_value(value).run()
    assert not app.exception, app.exception


def choose_on_data(open_app: OpenApp, graph: str):
    app = open_app("data", graph=graph)
    choose(app, "Private column", "mature")
    choose(app, "Utility column", "partner")
    return app


def test_the_class_chart_shows_the_chosen_columns(open_app: OpenApp, features_only: str) -> None:
    app = choose_on_data(open_app, features_only)
    assert find_box(app, CLASSES).options == ["mature", "partner", "views"]
    assert "2 attributes and 1 feature per" in texts(app)
    choose(app, CLASSES, "partner")
    choose(app, "Private column", "none")
    assert find_box(app, CLASSES).options == ["partner", "mature", "views"]


def test_the_guide_audits_what_was_chosen(
    open_app: OpenApp, features_only: str, audited, monkeypatch
) -> None:
    started = []
    monkeypatch.setattr(audited[0], "start_audit", lambda spec: started.append(spec) or "a1")
    app = choose_on_data(open_app, features_only)
    open_guide(app)
    assert not app.exception, app.exception
    assert "attribute" in find_secrets(app).value
    box = find_box(app, "Which column is private?")
    assert (box.value, set(box.options)) == ("mature", {*COLUMNS, "views"})
    assert not app.button(key="guide-run").disabled
    assert any(str(box.key).startswith("guide-try-") for box in app.checkbox)
    app.button(key="guide-run").click().run()
    (spec,) = started
    assert (spec.threats.private, spec.disclosure.utility) == COLUMNS


def open_guide(app) -> None:
    """The Decision page with its questions."""
    app.switch_page("../decision.py").run()
    recipient = app.radio(key="guide-recipient")
    if recipient.value is None:
        recipient.set_value("public").run()


def find_secrets(app):
    return next(box for box in app.multiselect if box.label == "What must not be learned?")


def test_a_column_set_at_loading_is_not_the_only_one(open_app: OpenApp, audited) -> None:
    """Of a graph with one attribute, the guide offered this one whatever was chosen."""
    graph = two_communities()
    one = make_graph({"label": replace(graph.column("private"), name="label")})
    app = choose_on_data(open_app, audited[0].save_graph(one))
    open_guide(app)
    assert find_box(app, "Which column is private?").value == "mature"


def test_a_new_choice_on_data_replaces_the_guides(open_app: OpenApp, features_only: str) -> None:
    app = choose_on_data(open_app, features_only)
    choose(app, "Private column", "none")
    open_guide(app)
    assert "attribute" not in find_secrets(app).value
    for column in ("mature", "views"):
        app.switch_page("../data.py").run()
        choose(app, "Private column", column)
        open_guide(app)
        assert "attribute" in find_secrets(app).value
        assert find_box(app, "Which column is private?").value == column


def test_links_between_the_classes_of_a_chosen_column(
    open_app: OpenApp, features_only: str
) -> None:
    app = choose_on_data(open_app, features_only)
    choose(app, "Sensitive links", "classes")
    assert find_box(app, "Column").options == ["mature", "partner", "views"]


def test_the_map_shows_the_chosen_column(open_app: OpenApp, features_only: str, audited) -> None:
    from tests.pages.test_map import run_layout

    run_layout(audited[0], features_only)
    app = choose_on_data(open_app, features_only)
    app.switch_page("../map.py").run()
    assert not app.exception, app.exception
    table = app.dataframe[0].value
    assert any(set(table[name].astype(str)) == {"0", "1"} for name in table)


@pytest.mark.parametrize("page", ["attack", "defend", "map", "overview", "report"])
def test_other_pages_open_with_chosen_features(
    open_app: OpenApp, features_only: str, page: str
) -> None:
    app = choose_on_data(open_app, features_only)
    app.switch_page(f"../{page}.py").run()
    assert not app.exception, app.exception
