"""Form on the Data page that changes which columns are attributes and which are features."""

from __future__ import annotations

import streamlit as st

from core.data.column_roles import assign_roles, list_numbers, report_roles
from core.data.loaded import LoadedGraph, LoadReport
from core.errors import AuditError
from core.graph import Graph
from pages.ui import page, session
from pages.ui.threat_form import form_key


def show_roles(graph: Graph) -> None:
    """Two lists of columns; applied, the graph opens again with them, and audits stay as made."""
    many, columns = graph.columns.together, graph.columns.list_choices()
    if not columns:
        return
    features = [name for name in columns if name not in graph.attributes]
    with st.expander("Change attributes and features", icon=":material/swap_horiz:"):
        st.caption(
            "An attribute has classes and may be private or published. Features are numbers that "
            "attackers read. A column in neither list is left out. Audits keep the columns that "
            "they were made with."
        )
        key = f"{form_key()}-{st.session_state['graph'][:8]}"
        chosen = st.multiselect("Attributes", columns, list(graph.attributes), key=f"roles-a-{key}")
        offered = [name for name in list_numbers(graph) if name not in many]
        numbers = st.multiselect("Features", offered, features, key=f"roles-f-{key}")
        if many:
            st.caption(f"The {len(many):,} features of the input stay.")
        is_same = set(chosen) == set(graph.attributes) and set(numbers) == set(features)
        if st.button("Apply", key="roles-apply", disabled=is_same):
            try:
                changed = assign_roles(graph, chosen, [*many, *numbers])
            except AuditError as error:
                page.show_error(error)
                return
            _open(changed)


def _open(changed: Graph) -> None:
    """Open the changed graph; the choice of secrets stays where its columns are still there."""
    choice, old = session.current_threats(), st.session_state["graph"]
    kept = choice if {name for name in choice.columns if name} <= set(changed.columns) else None
    report = st.session_state.get("load_reports", {}).get(old, LoadReport())
    page.open_loaded(LoadedGraph(changed, report_roles(report, changed)), kept)
