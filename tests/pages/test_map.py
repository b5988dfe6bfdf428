"""The Map page: drawn when asked for, cancelled, and what is chosen on it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from core.algorithms.community_discs import separate_communities
from core.audit.jobs.job import run_job
from core.audit.jobs.layout import LayoutJobs, LayoutRequest, compute_arrays, lay_out
from core.audit.results.view import JobProgress
from core.audit.store.states import State
from core.errors import InputError
from pages.ui import cache, map_data
from tests.pages.conftest import OpenApp
from tests.pages.test_pages import texts


def run_layout(service, graph_hash: str) -> str:
    """Compute the places in this process, as a worker would."""
    jobs, request = service.layouts, LayoutRequest(graph_hash=graph_hash)
    key = jobs.find_key(request, None)
    service._store.add_job(key, jobs.name, request=request.model_dump(mode="json"))
    assert run_job(LayoutJobs, str(service.home), service._store.url, key) is State.DONE
    return key


@pytest.fixture
def placed(audited) -> str:
    service, audit_id = audited
    graph_hash = service.get_view(audit_id).spec.graph_hash
    run_layout(service, graph_hash)
    return graph_hash


def test_places_are_kept_by_the_graphs_hash(audited, placed: str) -> None:
    jobs = audited[0].layouts
    layout = jobs.load(placed)
    assert layout.positions.shape == (34, 2)
    assert layout.communities.min() == 0
    key = jobs.start(placed)  # done and kept: nothing is submitted
    assert jobs.get(key).state is State.DONE
    assert (layout.positions == audited[0].layouts.load(placed).positions).all()
    graph = audited[0].load_graph(placed)
    assert (layout.positions == lay_out(graph).positions).all()
    stored = compute_arrays(graph)["positions"].astype(float)  # by distance, shown apart
    shown = separate_communities(stored, layout.communities)
    assert (layout.positions == shown.astype(np.float32)).all()
    assert not np.allclose(stored, shown, atol=0.05)


def test_places_of_a_deleted_graph_go(audited) -> None:
    service = audited[0]
    graph_hash = service.get_view(audited[1]).spec.graph_hash
    run_layout(service, graph_hash)
    service.layouts.forget_graph(graph_hash)
    assert service.layouts.find(graph_hash) is None
    with pytest.raises(InputError, match="draw it again"):
        service.layouts.load(graph_hash)


def test_the_map_has_a_picture_an_answer_and_a_table(open_app: OpenApp, placed, audit_id) -> None:
    app = open_app("map", audit=audit_id)
    assert "exposed, " in texts(app) or "xposed people concentrate" in texts(app)
    table = app.dataframe[0].value
    assert len(table) == 34
    first = "At least" if "At least" in table else "Advantage"
    assert table[first].dropna().is_monotonic_decreasing
    assert len(app.get("plotly_chart")) == 1
    assert "Drag to move" in texts(app)


def read_figure(app) -> dict:
    return json.loads(app.get("plotly_chart")[0].proto.spec)


def test_communities_are_named_and_the_one_of_the_headline_too(
    open_app: OpenApp, placed, audit_id, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.findings.people_map.MAX_LABELS", 1)
    monkeypatch.setattr(map_data, "number_gathering", lambda _people: 3)
    cache._remember.clear()  # the labels of other tests, and after it of this one
    app = open_app("map", audit=audit_id)
    cache._remember.clear()
    names = [label["text"] for label in read_figure(app)["layout"]["annotations"]]
    assert [name.split("<br>")[0] for name in names] == ["<b>community 1</b>", "<b>community 3</b>"]
    assert all(name.endswith(" exposed") for name in names)


def test_a_click_or_two_show_those_that_are_meant(open_app: OpenApp, placed, audit_id) -> None:
    app = open_app("map", audit=audit_id)
    people = app.dataframe[0].value
    exposed = set(people.Node[people["At least"] > 0.2])
    assert 0 < len(exposed) < 34
    app.toggle(key="map-exposed").set_value(True).run()
    assert set(app.dataframe[0].value.Node) == exposed
    assert f"**{len(exposed)} nodes shown**" in texts(app)
    drawn = [t["customdata"] for t in read_figure(app)["data"] if "customdata" in t]
    assert drawn
    assert f"{len(exposed)} of 34 nodes, all" in texts(app)
    app.toggle(key="map-exposed").set_value(False).run()
    (classes,) = (choice for choice in app.multiselect if choice.label == "Class")
    classes.set_value([classes.options[0]]).run()
    (links,) = (choice for choice in app.select_slider if choice.label == "Links of a node")
    links.set_value((5, 10)).run()
    assert not app.exception
    shown = app.dataframe[0].value
    assert set(shown.Class) == {classes.options[0]}
    assert shown.Links.between(5, 10).all()
    assert len(shown) == ((people.Class == classes.options[0]) & people.Links.between(5, 10)).sum()


def test_a_person_is_found_and_told(open_app: OpenApp, placed, audit_id) -> None:
    app = open_app("map", audit=audit_id)
    app.text_input(key="map-find").set_value("33").run()
    assert not app.exception
    assert app.session_state["node"] == "33"
    assert any("Node 33" in item.value for item in app.header)
    assert "On the original its risk is" in texts(app)
    app.button(key="map-close").click().run()
    assert "node" not in app.session_state


def test_a_release_beside_it_has_changes(open_app: OpenApp, placed, audit_id) -> None:
    app = open_app("map", audit=audit_id)
    app.selectbox(key="map-release").select_index(1).run()
    color = next(c for c in app.segmented_control if c.label == "Colour")
    color.set_value("change").run()
    assert not app.exception
    assert "removed links" in texts(app)


def test_a_frame_lists_those_in_it(open_app: OpenApp, placed, audit_id) -> None:
    app = open_app("map", audit=audit_id)
    app.session_state["map-people"] = (placed, [0, 4, 9])
    app.run()
    assert "**3 nodes selected**" in texts(app)
    assert set(app.dataframe[0].value["Node"]) == {"1", "5", "10"}
    app.session_state["map-people"] = ("another graph", [0, 4, 9])
    app.run()
    assert "**34 nodes in total**" in texts(app)


def test_above_the_limit_communities_stand_for_people(
    open_app: OpenApp, placed, audit_id, monkeypatch
) -> None:
    monkeypatch.setattr("core.findings.people_map.MAX_PEOPLE", 30)
    app = open_app("map", audit=audit_id)
    assert "each is placed at the centre of its nodes" in texts(app)
    app.session_state["map-communities"] = (placed, [1])
    app.run()
    first = map_data.load_layout(placed).communities == 0
    assert len(app.dataframe[0].value) == first.sum()


def test_a_cancelled_map_asks_before_it_starts_again(
    open_app: OpenApp, audited, example: str
) -> None:
    service = audited[0]
    jobs, graph_hash = service.layouts, example
    key = jobs.find_key(LayoutRequest(graph_hash=graph_hash), None)
    service._store.add_job(key, jobs.name, request={"graph_hash": graph_hash})
    service._store.update_job(key, state=State.CANCELLED, reason="cancelled")
    app = open_app("map", graph=example)
    assert "was not finished" in texts(app)
    assert app.button(key="map-start").label == "Draw the map"


def test_a_map_that_is_quickly_placed_is_drawn_unasked(
    open_app: OpenApp, audited, example: str, monkeypatch
) -> None:
    """The map was drawn only when asked."""
    started: list[str] = []
    layouts = audited[0].layouts
    run = JobProgress("l1", State.RUNNING, 0.5, "placing the people", "", 0.0)
    monkeypatch.setattr(layouts, "find", lambda graph_hash: run if started else None)
    monkeypatch.setattr(layouts, "start", lambda graph_hash: started.append(graph_hash))
    app = open_app("map", graph=example)
    assert started == [example]
    assert "map-start" not in [button.key for button in app.button]


def test_defend_counts_links_in_the_communities_of_the_map(
    open_app: OpenApp, audited, placed: str, audit_id: str
) -> None:
    """They came only once the map was drawn; they are its own before, too."""
    service = audited[0]
    codes = service.layouts.load(placed).communities
    service.layouts.forget_graph(placed)
    chart = json.loads(open_app("defend", audit=audit_id).get("plotly_chart")[1].proto.spec)
    found = [row for trace in chart["data"] if trace["type"] == "bar" for row in trace["y"]]
    rows = [re.sub("<.*?>", "", row) for row in found]
    view = service.get_view(audit_id)
    ends = codes[view.load_release("original", 0).edges]
    for number in range(codes.max() + 1):
        links = int((ends == number).all(axis=1).sum())
        assert f"community {number + 1} ({links})" in rows


def test_beside_an_opened_node_the_table_has_the_columns_that_fit(
    open_app: OpenApp, audited, audit_id: str, placed: str
) -> None:
    """Attacks were cut in the half that the card leaves, and communities out of sight."""
    node = audited[0].get_view(audit_id).nodes.names[0]
    for address, is_narrow in (({}, False), ({"node": node}, True)):
        shown = open_app("map", audit=audit_id, **address).dataframe[0]
        wide = {"Advantage", "Risk", "Attack"} & set(shown.proto.column_order)
        assert wide == (set() if is_narrow else {"Advantage", "Risk", "Attack"})
        assert {"Node", "Links", "Community"} < set(shown.proto.column_order)


def test_a_running_audit_is_told_of(
    open_app: OpenApp, audited, audit_id: str, placed: str, monkeypatch
) -> None:
    """The map alone said nothing of the parts that are open."""
    view = audited[0].get_view(audit_id)
    running = replace(view, summary=replace(view.summary, state=State.RUNNING))
    for of, is_told in ((view, False), (running, True)):
        monkeypatch.setattr(cache, "load_view", lambda _audit, of=of: of)
        assert ("Results are preliminary" in texts(open_app("map", audit=audit_id))) is is_told
