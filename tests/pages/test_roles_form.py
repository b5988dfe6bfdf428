"""Attributes and features are changed on Data after loading, and after an audit."""

from __future__ import annotations

from tests.pages.conftest import OpenApp
from tests.pages.test_chosen_columns import COLUMNS, features_only  # noqa: F401
from tests.pages.test_pages import texts

NO_ATTRIBUTES = "The nodes have no attributes"


def warnings(app) -> str:
    return "\n".join(item.value for item in app.warning)


def find_list(app, label):
    return next(box for box in app.multiselect if box.label == label)


def test_columns_read_as_features_become_attributes(
    open_app: OpenApp,
    features_only: str,  # noqa: F811
    audited,
) -> None:
    app = open_app("data", graph=features_only)
    assert NO_ATTRIBUTES in warnings(app)
    assert app.button(key="roles-apply").disabled
    find_list(app, "Attributes").set_value(list(COLUMNS)).run()
    find_list(app, "Features").set_value(["views"]).run()
    app.button(key="roles-apply").click().run()
    assert not app.exception
    changed = app.session_state["graph"]
    assert changed != features_only
    graph = audited[0].load_graph(changed)
    assert list(graph.attributes) == list(COLUMNS)
    assert graph.feature_names == ("views",)
    assert "2 attributes and 1 feature per" in texts(app)
    assert NO_ATTRIBUTES not in warnings(app)


def test_an_audit_keeps_the_columns_that_it_was_made_with(
    open_app: OpenApp, audited, audit_id: str
) -> None:
    service = audited[0]
    before = service.get_view(audit_id)
    app = open_app("data", audit=audit_id)
    attributes = find_list(app, "Attributes")
    assert attributes.value
    attributes.set_value([]).run()
    app.button(key="roles-apply").click().run()
    assert not app.exception
    assert app.session_state["graph"] != before.spec.graph_hash
    assert "audit" not in app.session_state
    after = service.get_view(audit_id)
    assert after.spec == before.spec
    assert after.load_graph().content_hash == before.spec.graph_hash


def test_a_column_in_both_lists_is_told(open_app: OpenApp, features_only: str) -> None:  # noqa: F811
    app = open_app("data", graph=features_only)
    find_list(app, "Attributes").set_value(["views"]).run()
    app.button(key="roles-apply").click().run()
    assert "an attribute or a feature, not both" in app.error[0].value
    assert app.session_state["graph"] == features_only
