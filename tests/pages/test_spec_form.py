"""Each field of the spec has its control and its option, or says why not."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import Field
from streamlit.testing.v1 import AppTest

from core.audit.asked.declared import Declaration, declare
from core.audit.asked.knowledge import KnowledgeSpec
from core.audit.asked.spec import AuditSpec, list_spec_fields
from core.audit.asked.spec_parts import PARTS
from pages.ui.page import keep_fields
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


def test_a_placed_control_is_as_declared_and_shows_every_value_of_a_spec() -> None:
    def page() -> None:
        import streamlit as st

        from pages.ui.spec_form import ask

        st.session_state["asked"] = {
            "hide_links": ask("hide_links", 0.995, "hide", reason="Not now."),
            "num_repeats": ask("num_repeats", 7, "repeats"),
            "stop_early": ask("stop_early", True, "stop"),
            "joint": ask("joint", ("known",), "joint"),
            "publisher_knows": ask("publisher_knows", "none", "publisher"),
            "groups": ask("groups", ("b", "gone"), "groups", options=["a", "b"]),
        }

    app = AppTest.from_function(page).run()
    assert app.session_state["asked"] == {
        "hide_links": 0.995,
        "num_repeats": 7,
        "stop_early": True,
        "joint": ("known",),
        "publisher_knows": "none",
        "groups": ("b",),
    }
    slider, repeats = app.slider[0], app.number_input[0]
    assert (slider.min, slider.max, slider.disabled) == (1, 99.5, True)
    assert slider.help == f"{FIELDS['hide_links'].description} Not now."
    assert (repeats.min, repeats.max, repeats.label) == (1, 100, "Repeats")
    assert repeats.help == FIELDS["num_repeats"].description
    assert app.selectbox[0].options == ["the values known to the attacker", "the whole column",
                                        "nothing"]  # fmt: skip


def test_a_changed_run_keeps_what_forms_of_runs_set() -> None:
    spec = AuditSpec.check_fields({"graph_hash": "x", "adaptive": True, "wrong_values": 0.3})
    kept = keep_fields(SimpleNamespace(spec=spec))
    forms = ("attack_form", "run_form", "guide_form")
    assert {n for n, f in FIELDS.items() if Declaration.of(f).form in forms} < kept.keys()
    assert (kept["adaptive"], kept["wrong_values"], kept["identity"]) == (True, 0.3, None)
    assert "private" not in kept  # as the Data page has it by now
