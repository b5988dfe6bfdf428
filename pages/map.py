"""Map page: where in the graph the risk is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.errors import AuditError
from core.figures.chart import Chart
from core.figures.node_map import community_map, people_map
from core.findings.exposure import AT_LEAST
from core.findings.palette import Theme
from core.findings.people_map import (
    COLOR_TITLES,
    MAX_PEOPLE,
    Color,
    NodeFilter,
    list_colors,
    list_degrees,
)
from core.findings.tables import list_made
from core.graph import Graph
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS
from core.release import ORIGINAL
from core.words import begin_sentence, count_noun
from pages.ui import cache, job, page, service, session
from pages.ui.chart import show_cached_chart, show_chart
from pages.ui.map_data import (
    find_private,
    find_secret,
    list_map_secrets,
    load_communities,
    load_community_links,
    load_everybody,
    load_labels,
    load_layout,
    load_people,
    load_side,
    load_summary,
)
from pages.ui.node_table import show_search
from pages.ui.person_card import choose, show_person, show_table
from pages.ui.text import escape
from pages.ui.theme import current_theme

AUTOMATIC = 20_000
"""Number of nodes up to which the layout starts without being asked for."""

NO_RELEASE = "none"
ANY = "Any secret"
HOW_TO = (
    "Drag to move, scroll to zoom, click a point to open it. Box and lasso (above the map) select "
    "several, which are listed below."
)
CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "scrollZoom": True,
    # A list of all buttons would leave out the one for full screen, which Streamlit adds.
    "modeBarButtonsToRemove": ["zoom2d", "autoScale2d"],
}


def main() -> None:
    page.open_page("Map", "Where in the graph the risk is.")
    audit_id = session.current_audit()
    view = None if audit_id is None else cache.load_view(audit_id)
    if view is not None:
        page.show_state(view)
    graph = load_everybody(view)
    if _is_placed(st.session_state["graph"], graph):
        _show_map(graph, view)
    page.show_next("homophily", "See how links reveal values")


def _is_placed(graph_hash: str, graph: Graph) -> bool:
    """Whether the layout is finished; otherwise start it or show its progress."""
    if isinstance(graph, PartitionedGraph):
        st.info(f"No map: a layout {ONE_PROCESS}.", icon=":material/map:")
        return False
    layouts = service.open_service().layouts
    run = layouts.find(graph_hash)
    if run is not None and run.state is State.DONE:
        return True
    if run is not None and run.is_active:
        job.watch_job(
            lambda: layouts.find(graph_hash),
            lambda now: f"Computing the layout: {job.describe_message(now.message)}",
            "Cancel the map",
            "map-cancel",
            lambda: layouts.stop(graph_hash),
        )
        return False
    nodes = count_noun(graph.num_nodes, "node")
    if run is None:
        text = f"{nodes} and {count_noun(graph.num_edges, 'link')} have no layout yet."
    else:
        text = f"The layout of {nodes} was not finished ({run.state})."
        if run.reason:
            text += f" {escape(begin_sentence(run.reason), 200)}."
    st.info(text + " It is computed once per graph and stored.", icon=":material/map:")
    is_automatic = run is None and graph.num_nodes <= AUTOMATIC
    if is_automatic or st.button("Draw the map", key="map-start", icon=":material/map:"):
        layouts.start(graph_hash)
        st.rerun()
    return False


def _show_map(graph: Graph, view: AuditView | None) -> None:
    try:
        load_layout(st.session_state["graph"])
    except AuditError as error:
        page.show_error(error)
        st.button("Draw the map again", key="map-start")
        return
    people, summary = load_people(view, ORIGINAL), load_summary(view)
    page.show_summary(summary, exact_below=True)
    is_small = graph.num_nodes <= MAX_PEOPLE
    by, beside, only_changes = _choose(view, list_colors(people), is_small)
    shown = None
    if is_small:
        shown = _choose_nodes(view, people)
        _show_people(graph, view, by, beside, only_changes, shown)
    else:
        _show_communities(view, by)
    page.show_exact(summary.exact)
    # Beside an opened node its card; else the table has the width, for all its columns.
    node = st.session_state.get("node")
    left, right = st.columns([3, 2], gap="large")
    with right:
        show_search("map-find", lambda: graph, _open)
        if node is not None:
            show_person(view, people, node)
    with st.container() if node is None else left:
        show_table(view, people, by, shown, node is not None)


def _choose(
    view: AuditView | None, colors: list[Color], is_small: bool
) -> tuple[Color, str | None, bool]:
    """Ask for the colour and a second release; also return whether to draw only the changes."""
    left, right = st.columns([5, 3], gap="large", vertical_alignment="bottom")
    made = {} if view is None else list_made(view.results)
    titles = {release: one.title for release, one in made.items() if not one.is_original}
    beside = NO_RELEASE
    if titles and is_small:
        with right.container(horizontal=True, vertical_alignment="bottom"):
            beside = st.selectbox(
                "Second release",
                [NO_RELEASE, *titles],
                format_func=lambda release: titles.get(release, release),
                key="map-release",
                persist_state="session",
            )
    if beside != NO_RELEASE:
        colors = [*colors, "change"]
    by: Color = left.segmented_control(
        "Colour",
        colors,
        default=colors[0],
        format_func=COLOR_TITLES.__getitem__,
        key=f"map-color-{'-'.join(colors)}",
        required=True,
        persist_state="session",
        help="Advantage: risk above the base rate. Risk: the attacker's confidence in the truth. "
        "Community: a group with more internal than external links.",
    )
    return by, None if beside == NO_RELEASE else beside, by == "change"


def _choose_nodes(view: AuditView | None, people: pd.DataFrame) -> np.ndarray | None:
    """Ask for the secret and which nodes to show; (n,) bool, or None for all."""
    graph_key, degrees = st.session_state["graph"][:12], list_degrees(people)
    keep: dict[str, Any] = {"persist_state": "session"}
    with st.container(horizontal=True, vertical_alignment="center", key="map-filters"):
        secrets = list_map_secrets(view)
        if view is not None and secrets:
            column = view.spec.threats.private
            st.selectbox(
                "Secret",
                [ANY, *secrets],
                format_func=lambda key: secrets[key].name(column) if key in secrets else key,
                key="map-secret",
                label_visibility="collapsed",
                width=260,
                **keep,
            )
        is_exposed = bool(people.advantage.notna().any()) and st.toggle(
            "Exposed only", key="map-exposed", help=AT_LEAST, **keep
        )
        with st.popover("Filter", icon=":material/filter_list:"):
            names = [name for name in sorted(people["class"].unique()) if name]
            classes = names and st.multiselect(
                "Class", names, key=f"map-classes-{graph_key}", **keep
            )
            communities = st.multiselect(
                "Community",
                list(people.community.value_counts().index),
                key=f"map-groups-{graph_key}",
                **keep,
            )
            links = len(degrees) > 1 and st.select_slider(
                "Links of a node",
                degrees,
                (degrees[0], degrees[-1]),
                key=f"map-links-{graph_key}",
                **keep,
            )
    chosen = NodeFilter(tuple(classes), tuple(communities), links or None, is_exposed)
    shown = chosen.find(people)
    return None if shown.all() else shown


def _show_people(
    graph: Graph,
    view: AuditView | None,
    by: Color,
    beside: str | None,
    only_changes: bool,
    shown: np.ndarray | None,
) -> None:
    graph_hash, node = st.session_state["graph"], st.session_state.get("node")
    opened = cache.load_graph(graph_hash).index.get(node or "")
    is_near = node is not None and node == st.session_state.get("map-focus")

    def draw(theme: Theme, *_of: object) -> Chart:
        sides = [load_side(view, ORIGINAL)]
        if beside is not None:
            sides.append(load_side(view, beside, only_changes))
        return people_map(
            sides, load_layout(graph_hash).positions, by, theme, shown, opened, is_near
        )

    options: dict[str, Any] = {
        "config": CONFIG,
        "on_select": lambda: _take_people(graph),
        "selection_mode": ("points", "box", "lasso"),
    }
    if shown is None and opened is None:  # what every visit shows first
        of = find_secret(view), find_private(view)
        show_cached_chart(view, draw, "people-map", of=of, **options)
    else:
        show_chart(draw(current_theme()), "people-map", **options)
    st.caption(f"{HOW_TO} Full screen: the last button above the map.")


def _show_communities(view: AuditView | None, by: Color) -> None:
    table, places = load_communities(view)
    links = load_community_links(st.session_state["graph"])
    chart = community_map(table, places, links, by, current_theme(), load_labels(view))
    show_chart(
        chart,
        "community-map",
        config=CONFIG,
        on_select=_take_communities,
        selection_mode=("points", "box", "lasso"),
    )
    st.caption(HOW_TO)


def _take_people(graph: Graph) -> None:
    """Open a clicked node, or list those of a box or lasso; no selection lists all nodes."""
    chosen = st.session_state["people-map"].selection
    numbers = list(dict.fromkeys(_read_number(point) for point in chosen.points))
    if len(numbers) == 1 and not chosen.box and not chosen.lasso:
        session.open_node(graph.node_ids[numbers[0]])
    choose("people", numbers if chosen.box or chosen.lasso else [])


def _take_communities() -> None:
    points = st.session_state["community-map"].selection.points
    choose("communities", [_read_number(point) for point in points])


def _read_number(point: dict[str, Any]) -> int:
    data = point["customdata"]
    return int(data[0] if isinstance(data, list) else data)


def _open(node: str) -> None:
    session.open_node(node)
    st.session_state["map-focus"] = node


main()
