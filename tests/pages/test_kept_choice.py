"""What was chosen for a graph comes back in a fresh session, and no column is published by a
guess."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from core.audit.access.authorised import enter
from core.audit.store.accounts import Person
from core.audit.store.schema import HolderRow
from core.data.catalogue import load_dataset
from core.errors import InputError
from core.graph import Graph
from pages.ui.threat_choice import ThreatChoice
from tests.oracles.graphs import two_communities
from tests.pages.conftest import OpenApp
from tests.pages.test_upload import Upload, show

LINKS = "von,nach\n" + "".join(f"n{i},n{(i + 1) % 40}\n" for i in range(40))
PEOPLE = "id,Standort,Diagnose,Team\n" + "".join(
    f"n{i},{'AB'[i % 2]},{'xyz'[i % 3]},{'rst'[i // 14]}\n" for i in range(40)
)


def read_columns(app) -> list[str | None]:
    """Private and utility column on the Data page, which may have an upload form as well."""
    return [
        next(box.value for box in app.selectbox if box.key.startswith(f"{role}-"))
        for role in ("private", "utility")
    ]


def find_box(app, label):
    return next(box for box in app.selectbox if box.label == label)


def upload(open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, **chosen: str):
    app = show(open_app, monkeypatch, Upload("links.csv", LINKS), Upload("people.csv", PEOPLE))
    for label, name in chosen.items():
        find_box(app, f"{label} column").set_value(name).run()
    app.button(key="load-upload").click().run()
    assert not app.exception
    return app.session_state["graph"]


def test_both_columns_are_as_chosen_in_a_fresh_session(open_app: OpenApp, monkeypatch) -> None:
    """The confidential column once became the published one."""
    graph = upload(open_app, monkeypatch, Private="Diagnose", Utility="Standort")
    for page in ("overview", "data"):
        app = open_app(page, graph=graph)
        threats = app.session_state["threats"][graph]
        assert threats.threats.private == "Diagnose"
        assert threats.disclosure.utility == "Standort"
    assert read_columns(app) == ["Diagnose", "Standort"]
    app = open_app("decision", graph=graph)
    app.radio(key="guide-recipient").set_value("internal").run()
    assert find_box(app, "Which column is private?").value == "Diagnose"


def test_a_later_choice_on_data_is_kept_whole(open_app: OpenApp, monkeypatch) -> None:
    graph = upload(open_app, monkeypatch, Private="Diagnose")
    app = open_app("data", graph=graph)
    next(b for b in app.selectbox if b.key.startswith("private-")).set_value("Team").run()
    next(n for n in app.slider if n.key.startswith("known-")).set_value(30.0).run()
    find_box(app, "The nodes are").set_value("accounts").run()
    assert not app.exception
    before = app.session_state["threats"][graph]
    after = open_app("overview", graph=graph).session_state["threats"][graph]
    assert after == before
    assert (after.threats.private, after.threats.known, after.noun) == ("Team", 0.3, "accounts")


def test_no_column_is_published_by_a_guess(open_app: OpenApp, audited, monkeypatch) -> None:
    """The name "label" says nothing about who may see the column."""
    app = open_app("data", graph=audited[0].save_graph(two_communities(44)))
    assert read_columns(app) == [None, None]
    table = PEOPLE.replace("Standort", "label").replace("Team", "category")
    app = show(open_app, monkeypatch, Upload("links.csv", LINKS), Upload("people.csv", table))
    assert find_box(app, "Utility column").value is None


def test_the_guide_asks_which_column_they_predict(open_app: OpenApp, monkeypatch) -> None:
    graph = upload(open_app, monkeypatch, Private="Diagnose")
    app = open_app("decision", graph=graph)
    app.radio(key="guide-recipient").set_value("internal").run()
    uses = next(box for box in app.multiselect if box.key.startswith("guide-uses"))
    uses.set_value(["column"]).run()
    assert find_box(app, "Which column do they predict?").value is None
    assert app.button(key="guide-run").disabled
    find_box(app, "Which column do they predict?").set_value("Team").run()
    assert not app.button(key="guide-run").disabled


def test_an_only_attribute_is_proposed_as_private() -> None:
    found = ThreatChoice.propose(load_dataset("karate").graph)
    assert (found.threats.private, found.disclosure.utility) == ("label", None)


def test_a_choice_is_that_of_the_person_who_made_it(audited) -> None:
    service = audited[0]
    ada, ben = (enter(service, Person(name, name, "analyst")) for name in ("ada", "ben"))
    graph = two_communities(46)
    graph_hash = ada.save_graph(graph)
    with pytest.raises(InputError, match="must be stored"):
        ben.find_choice(graph_hash)
    ben.save_graph(graph)
    ada.save_choice(graph_hash, {"of": "ada"})
    assert ada.find_choice(graph_hash) == {"of": "ada"}
    assert ben.find_choice(graph_hash) is None


def test_a_choice_of_another_version_is_none(open_app: OpenApp, audited) -> None:
    graph_hash = audited[0].save_graph(Graph.from_pairs([(0, 1), (1, 2)]))
    audited[0].save_choice(graph_hash, {"threats": {"secret": "x"}})
    assert ThreatChoice.read(audited[0].find_choice(graph_hash)) is None
    open_app("data", graph=graph_hash)


def test_holders_of_a_store_of_before_have_no_choice(audited, tmp_path) -> None:
    from core.audit.store.database import Store

    store = Store(tmp_path)
    graph_hash = store.save_graph(two_communities())
    with store.write() as connection:
        connection.execute(sa.text("ALTER TABLE graph_holders DROP COLUMN choice"))
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0003'"))
    store.close()
    store = Store(tmp_path)
    with store.read() as connection:
        assert connection.scalars(sa.select(HolderRow.graph_hash)).all() == [graph_hash]
    assert store.find_choice(graph_hash, "local") is None
    store.save_choice(graph_hash, {"a": [1]}, "local")
    assert store.find_choice(graph_hash, "local") == {"a": [1]}
    store.close()
