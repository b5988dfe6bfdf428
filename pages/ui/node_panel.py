"""The panel of one node: its risk everywhere, why, and who is around it."""

from __future__ import annotations

import streamlit as st

from core.audit.view import AuditView
from core.figures import ego
from core.findings import node_card
from core.findings.ego import class_legend
from core.findings.identity import describe_identity
from core.findings.labels import release_title
from core.findings.link_prior import describe_link_prior
from core.findings.node_reasons import explain_node
from core.findings.tables import list_releases
from core.graph import Graph
from core.release import ORIGINAL
from pages.ui import cache, session
from pages.ui.advice_panel import load_advice, show_advice
from pages.ui.text import count_noun, escape
from pages.ui.theme import current_theme

SHAPES = {
    "dot": "●",
    "diamond": "◆",
    "square": "■",
    "triangle": "▲",
    "star": "★",
    "triangleDown": "▼",
    "hexagon": "⬢",
}
MAX_LEGEND = 8
EGO_HEIGHT = 440


def show_node(view: AuditView, node: str) -> None:
    graph = cache.load_audit_graph(view)
    numbers = cache.number_nodes(view.spec.graph_hash)
    with st.container(border=True, key="node-panel"):
        head, close = st.columns([6, 1], vertical_alignment="center")
        head.subheader(f"Node {escape(node)}", anchor=False)
        close.button(
            "Close",
            key="close-node",
            type="tertiary",
            icon=":material/close:",
            on_click=session.open_node,
            args=(None,),
        )
        if node not in numbers:
            st.warning("This graph has no node with that id.")
            return
        number = numbers[node]
        left, right = st.columns([1, 1], gap="large")
        with left:
            _show_risks(view, node)
            known = describe_identity(view.nodes, node, int(graph.degrees[number]))
            if known:
                st.markdown("\n".join(f"- {sentence}" for sentence in known))
            _show_neighbors(view, graph, number)
        with right:
            _show_ego(view, node, number)
        show_advice(view, node)


def _show_risks(view: AuditView, node: str) -> None:
    st.markdown(node_card.describe_node_risk(view.nodes, node))
    prior = describe_link_prior(view, node, ORIGINAL)
    if prior:
        st.caption(prior)
    numbers = cache.number_nodes(view.spec.graph_hash)
    reasons = explain_node(view, node, numbers[node])
    if reasons:
        st.markdown("\n".join(f"- {reason}" for reason in reasons))
    scale = st.session_state.get("risk-scale", "advantage")
    table = node_card.compute_node_risks(view.nodes, node, scale)
    if not table.empty:
        st.dataframe(table, hide_index=True)


def _show_neighbors(view: AuditView, graph: Graph, number: int) -> None:
    degree = count_noun(int(graph.degrees[number]), "link")
    if view.spec.private is None or not graph.degrees[number]:
        st.caption(f"It has {degree}.")
        return
    st.caption(f"It has {degree}. {escape(view.spec.private)} of its neighbours:")
    table = node_card.compute_neighbor_classes(graph, number, graph.attribute(view.spec.private))
    share = st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1)
    st.dataframe(
        table[table.neighbours > 0],
        hide_index=True,
        column_config={"share of neighbours": share, "share of all": share},
    )


def _show_ego(view: AuditView, node: str, number: int) -> None:
    releases = list_releases(view.nodes)
    release = ORIGINAL
    if len(releases) > 1:
        release = st.selectbox(
            "Neighbourhood in",
            releases,
            format_func=release_title,
            key="ego-release",
            persist_state="session",
        )
    graph = cache.load_release(view, release)
    attribute = graph.attributes.get(view.spec.private) if view.spec.private else None
    risks = cache.number_risks(view, release)
    advised = _number_advised(view, node) if release == ORIGINAL else []
    st.iframe(
        ego.render_ego_html(
            graph, number, attribute, risks, current_theme(), height=EGO_HEIGHT, hide=advised
        ),
        height=EGO_HEIGHT + 10,
        alt=f"Neighbourhood of node {node}",
    )
    parts = ["Fill: risk, light is low and dark is high; grey: nothing at stake."]
    if attribute is not None and attribute.num_classes <= MAX_LEGEND:
        classes = ", ".join(
            f"{SHAPES.get(shape, '●')} {escape(name, 24)}"
            for name, shape, _ in class_legend(attribute)
        )
        parts.append(f"{escape(attribute.name)}: {classes}.")
    if advised:
        parts.append("Dashed red: links that the advice hides.")
    st.caption(" ".join(parts))


def _number_advised(view: AuditView, node: str) -> list[tuple[int, int]]:
    advice = load_advice(view, node)
    if advice is None:
        return []
    numbers = cache.number_nodes(view.spec.graph_hash)
    return [(numbers[link.source], numbers[link.target]) for link in advice.links]
