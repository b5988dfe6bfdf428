"""Another graph to learn from is uploaded on the Data page, and asked for on the Attack page."""

from __future__ import annotations

import pytest

from core.audit.asked.method_choice import MethodChoice
from core.data.catalogue import load_dataset
from pages.ui import page, second_graph_form

PEOPLE = "id,affiliation\nanna,{0}\nben,{1}\ncleo,{0}\ndora,{1}\n"
LINKS = b"source,target\nanna,ben\nben,cleo\ncleo,dora\n"


def test_another_graph_is_uploaded_on_the_data_page(open_app, example, monkeypatch):
    app = open_app("data", graph=example)

    def find(widgets, start):
        return next(w for w in widgets if w.key and w.key.startswith(start))

    def held():
        return app.session_state["threats"][app.session_state["graph"]].knowledge.shadow_graph

    def upload(*classes):
        files = [("links.csv", LINKS, "text/csv")]
        if classes:
            files.append(("people.csv", PEOPLE.format(*classes).encode(), "text/csv"))
        find(app.file_uploader, "other-graph-").set_value(files).run()

    assert load_dataset("social").graph.column("affiliation").classes[:2] == ("blue", "green")
    upload()
    assert "must have the private column" in app.error[0].value
    upload("purple", "green")
    assert "at least two classes" in app.error[0].value
    assert held() is None
    upload("blue", "green")
    assert not app.error
    assert len(held()) == 64
    monkeypatch.setattr(second_graph_form, "_load_other", lambda *_: pytest.fail("read again"))
    app.run()
    assert len(held()) == 64
    choice = app.session_state["threats"][app.session_state["graph"]]
    assert choice.spec_fields["knowledge"].shadow_graph == held()
    for folder, _ in app.session_state["uploads"].values():
        folder.cleanup()  # as a session does that ends


def test_the_page_names_the_private_columns_it_has(open_app, example):
    app = open_app("data", graph=example)

    def find(widgets, start):
        return next(w for w in widgets if w.key and w.key.startswith(start))

    def held():
        return app.session_state["threats"][app.session_state["graph"]].knowledge.shadow_graph

    def upload(people):
        files = [("links.csv", LINKS, "text/csv"), ("people.csv", people.encode(), "text/csv")]
        find(app.file_uploader, "other-graph-").set_value(files).run()

    find(app.multiselect, "more-private-").set_value(["seniority"]).run()
    assert any("'affiliation' or 'seniority' is known" in c.value for c in app.caption)
    upload(PEOPLE.format("blue", "green").replace("affiliation", "shoes"))
    assert "the column 'affiliation' or 'seniority'" in app.error[0].value
    assert held() is None
    expected = r"It has affiliation, not seniority \(no such column there\)."
    upload(PEOPLE.format("blue", "green"))
    assert not app.error
    assert expected in [c.value for c in app.caption]
    first = held()
    upload(PEOPLE.replace("affiliation", "seniority").format("junior", "senior"))
    assert not app.error
    assert held() != first
    expected = r"It has seniority, not affiliation \(no such column there\)."
    assert expected in [c.value for c in app.caption]
    find(app.multiselect, "more-private-").set_value([]).run()
    assert "must have one table with the column 'affiliation'" in app.error[0].value
    for folder, _ in app.session_state["uploads"].values():
        folder.cleanup()  # as a session does that ends


def test_only_some_attacks_learn_from_it():
    assert page.uses_shadow_graph(MethodChoice(key="neighbourhood_classifier"))
    assert not page.uses_shadow_graph(MethodChoice(key="label_propagation"))
    assert not page.uses_shadow_graph(MethodChoice(key="adamic_adar"))
