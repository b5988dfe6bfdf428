"""A field that finds a person by id; several with a part of it in common are offered."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.findings.node_card import find_node
from core.graph import Graph
from pages.ui import session
from pages.ui.text import escape

MAX_MATCHES = 8

Load = Callable[[], Graph]
Open = Callable[[str], None]


def show_search(key: str, load: Load, open_person: Open = session.open_node) -> None:
    """Search the graph that `load` gives; the one person found, or the one chosen, is opened."""
    st.text_input(
        "Find a person",
        key=key,
        placeholder="an id, or a part of it",
        on_change=_search,
        args=(key, load, open_person),
    )
    matches = st.session_state.get(f"{key}-matches", [])
    if st.session_state.get(key) and not matches:
        st.caption("Nobody has an id like that.")
    elif len(matches) > 1:
        st.pills(
            "Found",
            matches,
            key=f"{key}-found",
            on_change=_open_found,
            args=(key, open_person),
            format_func=escape,
            label_visibility="collapsed",
        )


def _search(key: str, load: Load, open_person: Open) -> None:
    text = st.session_state[key]
    matches = find_node(load(), text, MAX_MATCHES)
    st.session_state[f"{key}-matches"] = matches
    if matches and (len(matches) == 1 or matches[0] == text.strip()):
        open_person(matches[0])


def _open_found(key: str, open_person: Open) -> None:
    node = st.session_state[f"{key}-found"]
    if node is not None:
        open_person(node)
