"""Graphs that attackers hold, on the Data page: a second graph and a shadow graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from core.audit.asked.spec_parts import IdentityChoice
from core.audit.computing.prepared import describe_shadow_columns, find_gaps
from core.data import sandbox
from core.data.formats import SUFFIXES
from core.data.second_graph import draw_identity_threat
from core.errors import AuditError, InputError
from core.graph import Graph
from core.seeding import Seed
from core.words import count_noun
from pages.ui import cache, page, service, session
from pages.ui.spec_form import ask, read_help, read_label
from pages.ui.text import escape
from pages.ui.threat_form import form_key
from pages.ui.upload import ask_layout, store_upload


def show_second_graph(graph: Graph) -> None:
    """Widgets for the second graph; an invalid one is reported and not applied."""
    choice, key = session.current_threats().identity, form_key()
    with st.expander("Re-identification: what the attacker holds"):
        st.caption(
            "Re-identification attacks know how nodes are linked, or hold a second graph of them, "
            "such as an older copy. Without an upload, the second graph is simulated."
        )
        given = _choose_graph(choice.auxiliary_graph)
        left, middle, right = st.columns(3)
        reason = "Not used: a second graph was uploaded." if given else ""
        seeds = ask("seeds_known", choice.seeds_known, f"seeds-known-{key}", left)
        overlap = ask("overlap", choice.overlap, f"overlap-{key}", middle, reason=reason)
        noise = ask("noise", choice.noise, f"noise-{key}", right, reason=reason)
        fields = {
            "auxiliary_graph": given,
            "seeds_known": seeds,
            "overlap": overlap,
            "noise": noise,
        }
        try:
            _check(graph, fields)
        except AuditError as error:
            page.show_error(error)
            return
        session.set_threats(identity=IdentityChoice.model_validate(fields))


def show_shadow_graph(graph: Graph) -> None:
    """Widgets for the shadow graph; an unusable graph or column is reported and not applied."""
    choice, key = session.current_threats(), form_key()
    if choice.threats.private is None:
        return
    private = (choice.threats.private, *choice.threats.more_private)
    with st.expander("Shadow graph: training data of the attacker"):
        st.caption(
            f"The attacker may hold a graph of other nodes in which {_format_columns(private)} is "
            "known. The attack Neighbourhood classifier is trained on it."
        )
        files = st.file_uploader(
            read_label("shadow_graph"),
            type=SUFFIXES,
            help=read_help("shadow_graph"),
            accept_multiple_files=True,
            key=f"other-graph-{key}",
        )
        given = choice.knowledge.shadow_graph
        if not files:
            if given and not st.checkbox(
                "Use the graph that was uploaded", True, key=f"other-{key}"
            ):
                given = None
        else:

            def load() -> Graph:
                other = _load_other(files, private)
                find_gaps(private, graph, other)
                return other

            asked = (*private, *(file.file_id for file in files))
            given = store_once("other", asked, load)
            if given is None:
                return
        session.set_threats(shadow_graph=given)
        if given is not None and choice.threats.more_private:
            _describe_columns(private, given)


def _describe_columns(private: tuple[str, ...], other: str) -> None:
    """Note which private columns the shadow graph can be used for."""
    try:
        gaps = cache.find_gaps(st.session_state["graph"], other, private)
    except AuditError as error:
        page.show_error(error)
        return
    st.caption(f"It {escape(describe_shadow_columns(gaps), 400)}.")


def _format_columns(names: Sequence[str]) -> str:
    return " or ".join(f"'{escape(name)}'" for name in names)


def _load_other(files: Sequence[Any], private: tuple[str, ...]) -> Graph:
    """Load the uploaded graph: one file, or links and a node table with a private column."""
    if len(files) > 2:
        raise InputError("shadow graph", "must be a file of links and a table", len(files))
    paths = [store_upload(file) for file in files]
    if len(paths) == 1:
        return sandbox.load_in_sandbox(paths[0]).graph
    heads = {path: sandbox.preview_in_sandbox(path, 1, is_nodes=True).columns for path in paths}
    tables = [path for path in paths if set(private) & set(heads[path])]
    if len(tables) != 1:
        columns = " or ".join(f"'{name}'" for name in private)
        raise InputError("shadow graph", f"must have one table with the column {columns}")
    links = next(path for path in paths if path != tables[0])
    # The first private column is parsed as in the audited graph.
    first = private[0] if private[0] in heads[tables[0]] else None
    return sandbox.load_in_sandbox(links, nodes_path=tables[0], private=first).graph


def _choose_graph(stored: str | None) -> str | None:
    """Ask for the second graph; return its hash, or None to simulate it."""
    file = st.file_uploader(
        read_label("auxiliary_graph"),
        type=SUFFIXES,
        key=f"second-graph-{form_key()}",
        help=read_help("auxiliary_graph"),
    )
    if file is None:
        if stored is None or not st.checkbox(
            "Use the second graph that was uploaded", True, key=f"second-kept-{form_key()}"
        ):
            return None
        return stored
    path = store_upload(file)
    layout = ask_layout(path, is_nodes=False)
    if None in layout.values():
        return stored
    asked = (file.file_id, *map(str, layout.items()))
    found = store_once("second", asked, lambda: sandbox.load_in_sandbox(path, layout=layout).graph)
    return found or stored


def store_once(what: str, asked: tuple[str, ...], load: Callable[[], Graph]) -> str | None:
    """Load and store an uploaded graph, once for each value of `asked`.

    Returns the hash of the graph; None, with the error shown, if it cannot be loaded.
    """
    name = f"{what}-read-{form_key()}"
    kept = st.session_state.get(name)
    if kept is None or kept[0] != asked:
        try:
            graph = load()
        except AuditError as error:
            page.show_error(error)
            return None
        people = count_noun(graph.num_nodes, "node")
        text = f"{people} and {count_noun(graph.num_edges, 'link')}."
        kept = asked, service.open_service().save_graph(graph), text
        st.session_state[name] = kept
    st.caption(kept[2])
    return str(kept[1])


def _check(graph: Graph, fields: dict[str, Any]) -> None:
    """Raise InputError if the graphs share no node, or fewer nodes than seeds."""
    if fields["auxiliary_graph"] is not None:
        known = service.open_service().load_graph(fields["auxiliary_graph"])
        draw_identity_threat(graph, Seed(0), num_seeds=int(fields["seeds_known"]), known=known)
