"""Data: what am I about to share?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.data.catalogue import DatasetInfo, list_datasets, load_dataset
from core.data.profile import GraphProfile
from core.errors import AuditError
from core.figures import profile as figures
from core.findings.numbers import format_number, format_percent
from core.graph import Graph
from core.words import count_noun
from pages.ui import cache, page, session
from pages.ui.columns_form import show_columns
from pages.ui.second_graph_form import show_second_graph, show_shadow_graph
from pages.ui.text import escape
from pages.ui.theme import current_theme
from pages.ui.threat_form import show_threats
from pages.ui.upload import show_upload

METRIC_WIDTH = 104

DOORS = {
    "example": ":material/science: Try an example",
    "upload": ":material/upload_file: Upload files",
    "catalogue": ":material/database: Catalogue",
}


def main() -> None:
    page.open_page("Data", "What am I about to share?")
    graph = session.current_graph()
    if st.session_state.pop("loaded", False):
        st.session_state["door"] = None
        st.success(
            f"{escape(graph.name)} is loaded. Next: what must stay secret, below; or go straight "
            "to the questions on the Verdict page.",
            icon=":material/check_circle:",
        )
    if st.session_state.get("door") == "upload" and st.session_state.get("upload"):
        _show_doors()  # nothing else: the columns that are asked for are those of the files
        return
    top, bottom = st.container(), st.container()
    with bottom:  # first: what it says decides which warnings the top shows
        show_threats(graph)
        show_second_graph(graph)
        show_shadow_graph(graph)
        show_columns(graph)
        page.show_next("attack", "What could an adversary learn: Attack")
    with top:
        _show_graph(graph)


def _show_graph(graph: Graph) -> None:
    threats = session.current_threats()
    profile = cache.compute_profile(
        st.session_state["graph"],
        threats.private,
        threats.utility,
        st.session_state.get("load_reports", {}).get(st.session_state["graph"]),
    )
    page.show_answer(_describe(graph, profile))
    _show_doors()
    for warning in profile.warnings:
        st.warning(escape(warning, 300), icon=":material/warning:")
    _show_counts(profile)
    _show_charts(graph, profile)


def _describe(graph: Graph, profile: GraphProfile) -> str:
    columns = count_noun(len(graph.attributes), "attribute")
    features = count_noun(profile.num_features, "feature")
    return (
        f"**{escape(graph.name)}** has {count_noun(profile.num_nodes, 'person', 'people')} and "
        f"{count_noun(profile.num_edges, 'link')}: {format_number(profile.mean_degree)} links "
        f"each on average, {columns} and {features} a person."
    )


def _show_doors() -> None:
    is_fresh = session.is_fresh()  # nothing of one's own yet: the files can be dropped at once
    if is_fresh:
        st.session_state["door"] = st.session_state.get("door") or "upload"
    with st.container(border=True, key="doors"):
        door = st.segmented_control(
            "Load a graph",
            list(DOORS),
            format_func=DOORS.__getitem__,
            key="door",
            persist_state="session",
            required=is_fresh,
        )
        if door == "example":
            _show_datasets([info for info in list_datasets() if info.is_built_in], "example")
        elif door == "upload":
            show_upload()
        elif door == "catalogue":
            _show_datasets([info for info in list_datasets() if not info.is_built_in], "catalogue")


def _show_datasets(infos: list[DatasetInfo], key: str) -> None:
    info = st.selectbox("Graph", infos, format_func=_describe_dataset, key=f"dataset-{key}")
    if info is None:
        return
    st.caption(f"{info.summary} Source: {info.source}.")
    if not info.is_at_hand:
        st.caption("It will be downloaded from its publisher.")
    if st.button(f"Load {info.title}", key=f"load-{key}", type="primary"):
        try:
            with st.spinner(f"Loading {info.title}"):
                loaded = load_dataset(info.name)
        except AuditError as error:
            page.show_error(error)
            return
        page.open_loaded(loaded)


def _describe_dataset(info: DatasetInfo) -> str:
    links = f", {info.num_edges:,} links" if info.num_edges else ""
    return f"{info.title}: {info.num_nodes:,} nodes{links}"


def _show_counts(profile: GraphProfile) -> None:
    counts = {
        "Nodes": f"{profile.num_nodes:,}",
        "Links": f"{profile.num_edges:,}",
        "Density": format_percent(profile.density),
        "Components": f"{profile.num_components:,}",
        "Without links": f"{profile.num_isolated:,}",
        "Median degree": format_number(profile.degree_quantiles[0.5]),
        "Clustering": format_number(profile.average_clustering),
        "Triangles": f"{profile.num_triangles:,}",
    }
    with st.container(horizontal=True, gap="small"):
        for label, value in counts.items():
            st.metric(label, value, width=METRIC_WIDTH)
    dropped = [f"{count:,} {what}" for what, count in profile.dropped.items() if count]
    if dropped:
        st.caption("Dropped or merged while loading: " + ", ".join(dropped) + ".")


def _show_charts(graph: Graph, profile: GraphProfile) -> None:
    with st.container(key="wide-profile"):
        left, right = st.columns(2, gap="large")
    theme = current_theme()
    with left:
        page.show_chart(figures.degree_distribution(graph, theme), "degrees", "Degrees")
    with right:
        st.header("Attributes", anchor=False)
        if profile.attribute_table.empty:
            st.caption("No attributes: only links can be audited.")
            return
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
                "largest_share": st.column_config.ProgressColumn("Its share", **share),
            },
        )
        name = st.selectbox(
            "Classes of", list(graph.attributes), key="class-column", persist_state="session"
        )
        page.show_chart(figures.class_bars(graph.attribute(name), theme), "classes")


main()
