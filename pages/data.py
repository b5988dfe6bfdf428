"""Data page: contents of the graph, its secrets and the published columns."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.data.loaded import LEFT_OUT
from core.data.profile import GraphProfile
from core.figures import graph_bars
from core.findings.numbers import format_number
from core.graph import Graph
from core.nouns import NOUNS
from core.words import count_noun, format_modes, format_percent
from pages.ui import cache, page, session
from pages.ui.chart import show_cached_chart
from pages.ui.columns_form import show_columns
from pages.ui.load_form import show_load_form
from pages.ui.roles_form import show_roles
from pages.ui.second_graph_form import show_second_graph, show_shadow_graph
from pages.ui.text import escape
from pages.ui.threat_form import form_key, show_threats

METRIC_WIDTH = 104


def main() -> None:
    page.open_page(
        "Data", "What the graph contains, what is secret, and which columns are published.", False
    )
    if not session.has_graph():
        st.info("No graph is open. Load one below.", icon=":material/info:")
        show_load_form()
        return
    graph = session.current_graph()
    is_new = st.session_state.pop("loaded", False)
    notice, top, bottom = st.container(), st.container(), st.container()
    if is_new:  # in a container: without it, what follows would be drawn anew and closed
        notice.success(f"{escape(graph.name)} is loaded.", icon=":material/check_circle:")
    with bottom:  # first: the warnings above depend on these choices
        show_threats(graph)
        show_second_graph(graph)
        show_shadow_graph(graph)
        show_columns(session.chosen_graph())
        with st.expander("Load another graph", icon=":material/upload_file:"):
            show_load_form()
        page.show_next("decision", "Choose recipient and defenses")
    with top:
        _show_graph(session.chosen_graph(), is_new)


def _ask_noun() -> None:
    keys = list(NOUNS)
    chosen = st.selectbox(
        "The nodes are",
        keys,
        keys.index(session.find_noun_key()),
        key=f"noun-{form_key()}",
        help="The word for nodes on pages and in reports. It changes no result.",
        width=METRIC_WIDTH * 2,
    )
    session.set_threats(noun=chosen)


def _show_graph(graph: Graph, is_new: bool) -> None:
    profile = page.find_profile()
    head = st.container()
    warnings = [escape(warning, 300) for warning in profile.warnings]
    if warnings:
        lines = [f"- {warning}" for warning in warnings] if len(warnings) > 1 else warnings
        st.warning("\n".join(lines), icon=":material/warning:")
    _show_counts(profile)
    _show_columns_read(profile, is_new)
    show_roles(session.current_graph())
    _show_charts(graph, profile)
    _ask_noun()
    with head:  # last: the sentence has the chosen noun
        page.show_answer(_describe(graph, profile))


def _describe(graph: Graph, profile: GraphProfile) -> str:
    columns = count_noun(len(graph.attributes), "attribute")
    features, noun = count_noun(profile.num_features, "feature"), session.find_noun()
    return (
        f"**{escape(graph.name)}** has {noun.count(profile.num_nodes)} and "
        f"{count_noun(profile.num_edges, 'link')}, with {columns} and {features} per {noun.one}."
    )


def _show_counts(profile: GraphProfile) -> None:
    counts = {
        "Nodes": f"{profile.num_nodes:,}",
        "Links": f"{profile.num_edges:,}",
        "Density": format_percent(profile.density),
    }
    found = profile.counts
    if found is not None:
        counts["Components"] = f"{found.num_components:,}"
    counts["Isolated"] = f"{profile.num_isolated:,}"
    counts["Median degree"] = f"{profile.median_degree:g}"
    if found is not None:
        counts["Clustering"] = format_number(found.average_clustering)
        counts["Triangles"] = f"{found.num_triangles:,}"
    if profile.median_strength is not None:
        counts["Median strength"] = format_number(profile.median_strength)
    if profile.reciprocity is not None:
        counts["Reciprocity"] = format_percent(profile.reciprocity)
    with st.container(horizontal=True, gap="small"):
        for label, value in counts.items():
            st.metric(label, value, width=METRIC_WIDTH)
    dropped = [f"{count:,} {what}" for what, count in profile.dropped.items() if count]
    if dropped:
        st.caption("Removed or merged while loading: " + ", ".join(dropped) + ".")
    for name, (first, last) in profile.time_spans.items():
        st.caption(f"Times of “{escape(name, 60)}” lie between {first} and {last}.")


def _show_columns_read(profile: GraphProfile, is_new: bool) -> None:
    """The use of each column of the input; open right after loading if one is left out."""
    table = profile.column_table
    if profile.modes:
        modes = format_modes({escape(name): f"{n:,}" for name, n in profile.modes.items()})
        st.caption(
            f"Every link joins two modes: {modes}. Only pairs across them are "
            "candidates: attacks are judged on those, and density is their linked share."
        )
    if table.empty:  # the graph was not loaded in this session, or has no columns
        return
    count = int((table.use == LEFT_OUT).sum())
    title = f"{count_noun(len(table), 'column')} of the input, {count} left out"
    with st.expander(title, expanded=is_new and count > 0, icon=":material/view_column:"):
        st.dataframe(
            table,
            hide_index=True,
            column_config={
                "table": "Table",
                "name": "Column",
                "use": "Use",
                "kind": "Kind",
                "why": st.column_config.TextColumn("Why", width="large"),
            },
        )


def _show_charts(graph: Graph, profile: GraphProfile) -> None:
    with st.container(key="wide-profile"):
        left, right = st.columns(2, gap="large")
    key, columns = st.session_state["graph"], session.current_threats().columns
    with left:
        show_cached_chart(
            None,
            lambda theme: graph_bars.degree_distribution(cache.load_graph(key), theme),
            "degrees",
            "Degrees",
        )
    if profile.attribute_table.empty:  # a warning above says so
        return
    with right:
        st.header("Attributes", anchor=False)
        share: dict[str, Any] = {
            "format": "%.0f %%",
            "min_value": 0,
            "max_value": 100,
            "width": 110,
        }
        st.dataframe(
            profile.attribute_table.assign(
                missing_share=lambda t: 100 * t.missing_share,
                largest_share=lambda t: 100 * t.largest_share,
            ),
            hide_index=True,
            column_order=("column", "classes", "missing_share", "largest_class", "largest_share"),
            column_config={
                "column": "Column",
                "classes": "Classes",
                "missing_share": st.column_config.ProgressColumn("Unknown", **share),
                "largest_class": "Largest class",
                "largest_share": st.column_config.ProgressColumn("Share", **share),
            },
        )
        offered = graph.columns.list_choices()
        name = st.selectbox("Show classes of", offered, key="class-column", persist_state="session")
        show_cached_chart(
            None,
            lambda theme: graph_bars.class_bars(
                cache.load_chosen(key, columns).column(name), theme
            ),
            "classes",
        )


main()
