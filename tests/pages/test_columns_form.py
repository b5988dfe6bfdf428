"""What leaves with the links is chosen on the Data page, by clicks."""

from __future__ import annotations

import numpy as np
import pytest

from core.graph import Graph
from core.node_column import NodeColumn


@pytest.fixture(scope="module")
def people(audited) -> str:
    """Forty people with an age, a birth date, a place and a private opinion."""
    n = 40
    pairs = [(i, (i + step) % n) for i in range(n) for step in (1, 2, 7)]
    columns = {
        "age": [str(20 + i % 30) for i in range(n)],
        "born": [f"{1988 + i % 2}-0{1 + i % 9}-11" for i in range(n)],
        "place": ["here" if i else "there" for i in range(n)],
        "opinion": [str(i % 2) for i in range(n)],
    }
    graph = Graph.from_pairs(
        np.array(pairs),
        n,
        attributes={name: NodeColumn.from_values(name, v) for name, v in columns.items()},
        name="people",
    )
    return audited[0].save_graph(graph)


@pytest.fixture
def app(open_app, people):
    app = open_app("data", graph=people)
    find(app.selectbox, "private-").select("opinion").run()
    return app


def find(widgets, start):
    return next(w for w in widgets if w.key and w.key.startswith(start))


def threats(app):
    return app.session_state["threats"][app.session_state["graph"]]


def add_rule(app, column, kind, number="10"):
    find(app.selectbox, "rule-column-").select(column)
    find(app.selectbox, "rule-kind-").select(kind).run()
    if kind not in ("year", "month"):
        find(app.text_input, "rule-number-").set_value(number)
    app.button(key="rule-add").click().run()
    assert not app.exception


def errors(app):
    return [error.value.replace("\\", "") for error in app.error]


def test_columns_are_published_coarser_and_withheld(app):
    find(app.button_group, "leaving-").set_value("chosen").run()
    find(app.multiselect, "published-").set_value(["age", "born"]).run()
    add_rule(app, "age", "bin")
    add_rule(app, "born", "year")
    assert errors(app) == []
    choice = threats(app)
    assert choice.disclosure.publish_columns == ("age", "born")
    assert choice.disclosure.generalize == ("age:bin=10", "born:year")
    text = "\n".join(item.value for item in app.markdown)
    assert "age \\(in steps of 10\\)" in text
    assert "5-anonymous" in text
    assert not any("published" in t.value.columns for t in app.dataframe)  # computed when opened
    app.session_state["leaving-open-False"] = True
    app.run()
    table = next(t.value for t in app.dataframe if "published" in t.value.columns)
    rows = table.set_index("column").published.to_dict()
    assert rows == {"age": "coarser", "born": "coarser", "place": "withheld", "opinion": "withheld"}
    from core.audit.asked.spec import AuditSpec

    fields = choice.spec_fields | {"graph_hash": "x", "attacks": [{"key": "class_prior"}]}
    spec = AuditSpec.check_spec(fields)
    assert (spec.disclosure.publish_columns, spec.disclosure.generalize) == (
        ("age", "born"),
        choice.disclosure.generalize,
    )
    find(app.button_group, "leaving-").set_value("none").run()
    assert threats(app).disclosure.publish_columns == ()
    assert any("No column is published" in item.value for item in app.markdown)


@pytest.mark.parametrize(
    ("utility", "held"), [("none", "no columns"), ("place", "the utility column")]
)
def test_what_files_hold_unless_columns_are_chosen(app, utility, held):
    box = find(app.selectbox, "utility-")
    box.select_index(box.options.index(utility)).run()
    find(app.button_group, "leaving-").set_value("utility").run()
    assert any(f"Files hold {held}" in caption.value for caption in app.caption)


def test_every_column_is_made_as_fine_as_enough_people_share(app):
    find(app.button_group, "leaving-").set_value("chosen").run()
    find(app.multiselect, "published-").set_value(["age", "born", "place"]).run()
    add_rule(app, "every column of people", "shared", "10")
    assert errors(app) == []
    rules = ("age:shared=10", "born:shared=10", "place:shared=10")
    assert threats(app).disclosure.generalize == rules
    text = "\n".join(item.value for item in app.markdown)
    assert "age, born, place \\(each shared by at least 10 people\\)" in text
    # Of one column alone there is no other to choose.
    find(app.multiselect, "published-").set_value(["age"]).run()
    assert find(app.selectbox, "rule-column-").options == ["age"]


def test_a_rule_that_does_not_fit_is_one_line(app):
    for column, kind, number, said in [
        ("age", "bin", "ten", "must have a number after ="),
        ("place", "bin", "10", "needs a column of numbers"),
        ("age", "bin", "0", "must be wider than 0"),
        ("place", "year", "", "needs a column of dates"),
    ]:
        add_rule(app, column, kind, number)
        assert len(errors(app)) == 1
        assert said in errors(app)[0]
        assert "\n" not in errors(app)[0].strip()
        assert threats(app).disclosure.generalize == ()


def test_people_who_objected_are_left_out(app):
    find(app.text_area, "left-out-").set_value("3\n17").run()
    assert threats(app).disclosure.leave_out == ("3", "17")
    assert any("2 nodes are excluded; 38 remain" in c.value for c in app.caption)
    find(app.text_area, "left-out-").set_value("3\nnobody").run()
    assert "must be in the graph" in errors(app)[0]
    assert threats(app).disclosure.leave_out == ("3", "17")
