"""Each field of the spec has its control and its option, or says why not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from pydantic import Field
from streamlit.testing.v1 import AppTest

from core.audit.asked.declared import Declaration, declare
from core.audit.asked.knowledge import KnowledgeSpec
from core.audit.asked.spec import list_spec_fields
from core.audit.asked.spec_parts import PARTS
from pages.ui.spec_form import title_control

FORMS = Path(__file__).parents[2] / "pages" / "ui"
FIELDS = list_spec_fields()


def read_labels(form: str) -> set[str]:
    """Fields that a form asks for, or whose labels it reads."""
    file = "attack_form" if form == "run_form" else form
    tree = ast.parse((FORMS / f"{file}.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        str(call.args[0].value)
        for call in calls
        if isinstance(call.func, ast.Name)
        and call.func.id in ("ask", "read_label")
        and isinstance(call.args[0], ast.Constant)
    }


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_has_a_control_or_says_why_not(name: str) -> None:
    declared = Declaration.of(FIELDS[name])
    assert bool(declared.form) != bool(declared.no_control), "declare form or no_control"
    if declared.form:
        assert FIELDS[name].title
        assert declared.form == "attack_form" or name in read_labels(declared.form)


class Added(KnowledgeSpec):
    rounds_held: int = Field(
        2,
        ge=1,
        le=9,
        title="Rounds held",
        description="How many rounds.",
        json_schema_extra=declare(form="attack_form"),
    )


def test_a_new_option_is_shown_by_its_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARTS, "knowledge", Added)

    def page() -> None:
        import streamlit as st

        from pages.ui.spec_form import show_form

        st.session_state["shown"] = show_form("attack_form")

    app = AppTest.from_function(page).run()
    box = next(box for box in app.number_input if box.label == "Rounds held")
    assert (box.min, box.max, box.value, box.help) == (1, 9, 2, "How many rounds.")
    assert app.session_state["shown"]["rounds_held"] == 2
    assert set(app.session_state["shown"]) >= {"adaptive", "released_links", "evaluation"}


def test_messages_name_the_label() -> None:
    assert title_control("num_repeats") == "“Repeats”"
    assert title_control("threats.known").startswith("“Share of nodes")
    assert title_control("note") == "spec field 'note'"
