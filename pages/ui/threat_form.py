"""Threats on the Data page: private attributes, sensitive links, auxiliary knowledge."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.data import node_pairs
from core.errors import AuditError
from core.graph import Graph
from core.words import count_noun, format_percent
from pages.ui import page, session, upload
from pages.ui.spec_form import ask
from pages.ui.text import escape
from pages.ui.threat_choice import DEFAULT_SHARE

WAYS = {
    "share": "a random share",
    "file": "from a file",
    "nodes": "all links of chosen nodes",
    "classes": "all links between two classes",
    "given": "those of the open audit",
    "none": "none",
}
Pair = tuple[str, str]
OTHERS = (0.01, 0.1, 0.3, 0.5)
PLACES = ("degree:0.1", "community:0.1", "degree:0.3", "community:0.3")


def show_threats(graph: Graph) -> None:
    """Widgets for both threats; changes apply to the session at once."""
    st.header("Secrets", anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        _show_attribute_threat(graph)
    with right:
        _show_link_threat()
    if session.current_threats().is_empty:
        st.warning("Nothing is secret yet. Choose a private column or sensitive links.")


def _show_attribute_threat(graph: Graph) -> None:
    st.markdown("**Attribute inference:** whose private value can be guessed")
    choice, key = session.current_threats(), form_key()
    columns = [None, *graph.columns.list_choices()]
    private = ask(
        "private", choice.threats.private, f"private-{key}", options=columns, show=_format_column
    )
    known = ask(
        "known",
        choice.threats.known,
        f"known-{key}",
        reason="" if private else "Choose a private column first.",
    )
    rest = [c for c in columns if c is None or c != private]
    utility = ask(
        "utility", choice.disclosure.utility, f"utility-{key}", options=rest, show=_format_column
    )
    session.set_threats(private=private, known=known, utility=utility)
    if private is not None:
        _show_knowledge([c for c in columns if c not in (None, private, utility)], key)


def _show_knowledge(columns: Sequence[str | None], key: str) -> None:
    """Further private columns, groups and auxiliary knowledge."""
    choice = session.current_threats()
    known = choice.knowledge.auxiliary
    shares = [k.share for k in known if k.spread == "stratified"]
    other_places = [k.place for k in known if k.spread != "stratified"]
    with st.expander("More private columns and auxiliary knowledge"):
        more = ask(
            "more_private", choice.threats.more_private, f"more-private-{key}", options=columns
        )
        joint = ask(
            "joint",
            choice.knowledge.joint if more else (),
            f"joint-{key}",
            reason="" if more else "Choose further private columns first.",
        )
        rest = [c for c in columns if c not in more]
        groups = ask("groups", choice.groups, f"groups-{key}", options=rest)
        others = ask(
            "auxiliary_known",
            tuple(shares),
            f"others-{key}",
            options=sorted({*OTHERS, *shares}),
            show=format_percent,
        )
        places = st.multiselect(
            "Further attackers: kind of nodes they know",
            sorted({*PLACES, *other_places}),
            other_places,
            format_func=_format_place,
            key=f"places-{key}",
            help="Attackers who know nodes with high degree, or whole communities, instead of a "
            "random sample of the same size.",
        )
        knows = ask("publisher_knows", choice.publisher_knows, f"publisher-{key}")
    session.set_threats(
        more_private=more,
        joint=joint if more else (),
        groups=groups,
        auxiliary_known=(*others, *places),
        publisher_knows=knows,
    )


def _format_place(text: str) -> str:
    spread, _, share = text.partition(":")
    people = "mostly high degree" if spread == "degree" else "whole communities"
    return f"{format_percent(float(share))}, {people}"


def _show_link_threat() -> None:
    st.markdown("**Link inference:** which missing links can be guessed")
    choice, key = session.current_threats(), form_key()
    ways = [way for way in WAYS if way != "given" or choice.way == "given"]
    way = ask("sensitive_links", choice.way, f"way-{key}", options=ways, show=WAYS.__getitem__)
    if way == "none":
        session.set_threats(way=way, hide_links=None, sensitive_links=None)
        return
    if way == "share":
        start = choice.threats.hide_links or DEFAULT_SHARE
        share = ask("hide_links", start, f"hide-{key}")
        session.set_threats(way=way, hide_links=share, sensitive_links=None)
        return
    read = {"file": _ask_file, "nodes": _ask_nodes, "classes": _ask_classes}.get(way)
    try:
        given = choice.threats.sensitive_links or ()
        pairs = given if read is None else read(session.chosen_graph(), key)
    except AuditError as error:
        page.show_error(error)
        pairs = ()
    session.set_threats(way=way, hide_links=None, sensitive_links=tuple(pairs))
    if pairs:
        first = ", ".join(f"{escape(a, 20)} and {escape(b, 20)}" for a, b in pairs[:3])
        st.caption(
            f"{count_noun(len(pairs), 'sensitive link')}, such as {first}. "
            "A defense that flips pairs at random may add one again by chance."
        )


def _ask_file(graph: Graph, key: str) -> Sequence[Pair]:
    file = st.file_uploader(
        "Pairs of ids, one per line", type=["csv", "tsv", "txt", "gz"], key=f"pairs-{key}"
    )
    if file is None:  # the pairs are kept when the upload is gone
        choice = session.current_threats()
        return choice.threats.sensitive_links or () if choice.way == "file" else ()
    return node_pairs.load_node_pairs(upload.store_upload(file), graph)


def _ask_nodes(graph: Graph, key: str) -> Sequence[Pair]:
    text = st.text_area(
        "Node ids, separated by commas or line breaks", key=f"nodes-{key}", persist_state="session"
    )
    nodes = list(filter(None, (part.strip() for part in text.replace("\n", ",").split(","))))
    return node_pairs.find_links_at(graph, nodes) if nodes else ()


def _ask_classes(graph: Graph, key: str) -> Sequence[Pair]:
    columns = graph.columns.list_choices()
    if not columns:
        st.caption("This graph has no column to choose. Choose another way above.")
        return ()
    column = st.selectbox("Column", columns, key=f"pair-column-{key}", persist_state="session")
    classes = graph.column(column).classes
    left, right = st.columns(2)
    first = left.selectbox(
        "Between", classes, key=f"pair-first-{key}-{column}", persist_state="session"
    )
    second = right.selectbox(
        "and",
        classes,
        min(1, len(classes) - 1),
        key=f"pair-second-{key}-{column}",
        persist_state="session",
    )
    return node_pairs.find_links_between(graph, column, first, second)


def _format_column(name: str | None) -> str:
    return "none" if name is None else name


def form_key() -> str:
    """Part of widget keys that changes with the graph and when an audit sets the threats."""
    return f"{st.session_state['graph'][:8]}-{st.session_state.get('threat_form', 0)}"
