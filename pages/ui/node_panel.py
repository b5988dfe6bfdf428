"""Panel of one node on the Risk page: risk, reasons, neighbourhood and advice."""

from __future__ import annotations

import itertools

import streamlit as st

from core.audit.results.view import AuditView
from core.figures import ego_page
from core.findings import node_card
from core.findings.ego_network import SHAPES, describe_fingerprint, describe_missing
from core.findings.identity import describe_identity, list_hiding
from core.findings.link_prior import describe_link_prior
from core.findings.node_reasons import explain_node
from core.findings.people import Secret, list_secrets
from core.graph import Graph
from core.release import ORIGINAL
from core.words import count_noun, format_percent
from pages.ui import cache, session
from pages.ui.advice_panel import load_advice, show_advice
from pages.ui.node_table import current_secret, list_ranked, select_nodes
from pages.ui.text import escape

MAX_LEGEND = 8
MAX_HIDING = 3


@st.dialog("Node details", width="large", on_dismiss=lambda: session.open_node(None))
def show_node(view: AuditView, release: str) -> None:
    """Show the open node; `release` sets the order of the previous and next buttons."""
    node = st.session_state.get("node")
    secret = current_secret(view)
    if node is None or secret is None:
        return
    with st.container(key="node-panel"):
        _show_head(view, secret, release, node)
        graph = cache.load_audit_graph(view)
        number = graph.index.get(node)
        if number is None:
            st.warning("This graph has no node with this id.")
            return
        left, right = st.columns([1, 1], gap="large")
        with left:
            _show_risk(view, secret, node)
            if secret.threat == "identity":
                _show_identity(view, graph, node, number)
            _show_neighbors(view, graph, number, secret)
        with right:
            _show_ego(view, node, number, secret)
        _show_attacks(view, secret, node)
        _show_other_secrets(view, secret, node)
        if secret.threat == "attribute" and not secret.target:
            show_advice(view, node)


def _show_head(view: AuditView, secret: Secret, release: str, node: str) -> None:
    """Id of the node, its rank and the buttons to its neighbours in the ranking."""
    names = view.nodes.names.take(list_ranked(view, secret, release)).tolist()
    rank = names.index(node) if node in names else None
    head, back, forward = st.columns([4, 1, 1], vertical_alignment="center")
    head.header(f"Node {escape(node)}", anchor=False)
    position = "not ranked" if rank is None else f"rank {rank + 1:,} of {len(names):,}"
    head.caption(f"{escape(secret.name(view.spec.threats.private))}, {position}")
    steps = ((back, "Previous", -1, "arrow_back"), (forward, "Next", 1, "arrow_forward"))
    for column, label, step, icon in steps:
        target = -1 if rank is None else rank + step
        exists = 0 <= target < len(names)
        column.button(
            label,
            key=f"person-{label.lower()}",
            icon=f":material/{icon}:",
            disabled=not exists,
            on_click=session.open_node,
            args=(names[target] if exists else node,),
            width="stretch",
        )


def _show_risk(view: AuditView, secret: Secret, node: str) -> None:
    """Risk of the node on one secret, with reasons."""
    nodes = select_nodes(view, secret)
    st.markdown(node_card.describe_node_risk(nodes, node))
    reasons = explain_node(view, node, secret=secret)
    prior = describe_link_prior(view, node, ORIGINAL) if secret.threat == "link" else ""
    sentences = [*reasons, *filter(None, [prior])]
    if sentences:
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))


def _show_attacks(view: AuditView, secret: Secret, node: str) -> None:
    """Table of every attack on every release, as wide as the panel."""
    nodes = select_nodes(view, secret)
    scale = st.session_state.get("risk-scale", "advantage")
    table = node_card.compute_node_risks(nodes, node, scale)
    if not table.empty:
        st.dataframe(table, hide_index=True, alt=f"Attacks on node {node}, release by release")


def _show_other_secrets(view: AuditView, secret: Secret, node: str) -> None:
    others = [other for other in list_secrets(view.nodes) if other != secret]
    if not others:
        return
    with st.expander("Other secrets of this node"):
        for other in others:
            name = escape(other.name(view.spec.threats.private))
            risk = node_card.describe_node_risk(select_nodes(view, other), node)
            reasons = explain_node(view, node, secret=other)
            st.markdown(f"**{name}.** {risk} {' '.join(reasons)}")


def _show_neighbors(view: AuditView, graph: Graph, number: int, secret: Secret) -> None:
    degree = count_noun(int(graph.degrees[number]), "link")
    column = secret.target or view.spec.threats.private
    if secret.threat != "attribute" or column is None or not graph.degrees[number]:
        st.caption(f"It has {degree}.")
        return
    st.caption(f"It has {degree}. Values of {escape(column)} among its neighbours:")
    attribute = graph.column(column)
    table = node_card.compute_neighbor_classes(graph, number, attribute)
    texts = {n: table[n].map(format_percent) for n in ("share of neighbours", "share of all")}
    st.dataframe(
        table.assign(**texts)[table.neighbours > 0], hide_index=True, alt=f"Neighbours by {column}"
    )


def _show_ego(view: AuditView, node: str, number: int, secret: Secret) -> None:
    releases = view.nodes.releases
    release = ORIGINAL
    if len(releases) > 1:
        release = st.selectbox(
            "Neighbourhood in",
            releases,
            format_func=lambda release: view.get_release(release).title,
            key="ego-release",
            persist_state="session",
        )
    graph = cache.load_release(view, release)
    private = view.spec.threats.private
    attribute = None if private is None else graph.columns.get(private)
    risks = cache.number_risks(view, release, secret)
    advised = _number_advised(view, node) if release == ORIGINAL else []
    is_sought = secret.threat == "identity"
    st.iframe(
        ego_page.render_ego_html(
            graph, number, attribute, risks, hide=advised, show_fingerprint=is_sought
        ),
        height=ego_page.HEIGHT + 10,
        alt=f"Neighbourhood of node {node}",
    )
    if is_sought:
        text = describe_fingerprint(graph, number)
        st.caption(f"Fingerprint in this release: {escape(text, 200)}.")
    made = view.get_release(release)
    missing = describe_missing(cache.load_audit_graph(view), graph, number, made.is_defended)
    if missing:
        st.caption(missing)
    parts = ["Fill: risk, from light (low) to dark (high); grey: nothing at stake."]
    if attribute is not None and attribute.num_classes <= MAX_LEGEND:
        marks = itertools.cycle(SHAPES.values())
        classes = ", ".join(
            f"{mark} {escape(name, 24)}"
            for mark, name in zip(marks, attribute.classes, strict=False)
        )
        parts.append(f"{escape(attribute.name)}: {classes}.")
    if is_sought:
        parts.append("Number after each id: its links.")
    if advised:
        parts.append("Dashed red: links that the advice hides.")
    st.caption(" ".join(parts))


def _show_identity(view: AuditView, graph: Graph, node: str, number: int) -> None:
    """Size of the node's anonymity set, and buttons for releases that hide the node."""
    facts = describe_identity(view.nodes, node, int(graph.degrees[number]))
    if not facts:
        return
    st.markdown("\n".join(f"- {sentence}" for sentence in facts))
    with st.container(horizontal=True):
        for release in list_hiding(view.nodes, node)[:MAX_HIDING]:
            st.button(
                f"Show in {view.get_release(release).title}",
                key=f"hidden-in-{release}",
                icon=":material/visibility_off:",
                on_click=st.session_state.update,
                args=({"ego-release": release},),
            )


def _number_advised(view: AuditView, node: str) -> list[tuple[int, int]]:
    advice = load_advice(view, node)
    if advice is None:
        return []
    numbers = cache.load_audit_graph(view).index
    return [(numbers[link.source], numbers[link.target]) for link in advice.links]
