"""Risk: who is exposed?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.audit.view import AuditView
from core.figures import margins, risk
from core.figures.chart import Chart
from core.findings import answers
from core.findings.attackers import compute_headline, tabulate_exposed
from core.findings.groups import answer_groups, load_groups, tabulate_groups
from core.findings.labels import method_title, release_title
from core.findings.margins import answer_margins, list_margin_attacks
from core.findings.node_card import find_node
from core.findings.palette import Theme
from core.findings.risk import SCALE_TITLES, Group, Scale
from core.findings.tables import list_releases
from core.release import ORIGINAL
from pages.ui import cache, page, session
from pages.ui.node_panel import show_node
from pages.ui.text import escape
from pages.ui.theme import current_theme

MAX_MATCHES = 8
HEATMAP_HEIGHT = 520


def main() -> None:
    page.open_page("Risk", "Who is exposed?")
    view = page.require_view("Node risk comes from the attacks of an audit.")
    if view.nodes.empty:
        st.info("No attack that says something about single nodes has finished yet.")
        return
    page.show_answer(cache.remember(view, _answer))
    left, right = st.columns([3, 2], gap="large")
    with left:
        chosen = _choose_releases(view, list_releases(view.nodes))
    with right:
        _show_search(view)
    scale = _choose_scale()
    columns = st.columns(2 if len(chosen) > 1 else [3, 2], gap="large")
    for release, column in zip(chosen, columns, strict=False):
        with column:
            _show_heatmap(view, release, scale)
    bound = cache.remember(view, _bound)
    st.caption(f"Click a cell to open the node, or search for one. {escape(bound, 1000)}")
    table = cache.remember(view, _tabulate, tuple(chosen))
    if len(table):
        with st.expander("Exposed people by base rate"):
            st.dataframe(table, hide_index=True)
    turned = answers.answer_turned(view.results, chosen)
    if turned:
        st.warning(turned, icon=":material/swap_horiz:")
    if "node" in st.session_state:
        show_node(view, st.session_state["node"])
    with columns[1] if len(chosen) == 1 else st.container():
        chart = cache.remember(view, _plot_shares, tuple(chosen), current_theme(), scale)
        page.show_chart(chart, "risk-shares", "How many people are exposed")
    _show_groups(view, chosen, scale)
    _show_margins(view, chosen)
    page.show_next("map", "Where they are: Map")


def _choose_releases(view: AuditView, releases: list[str]) -> list[str]:
    """The original next to the safest release, or what the user picks (at most two)."""
    if len(releases) == 1:
        st.caption("Only the original is here: add defenses on the Defend page.")
        return releases
    best = cache.remember(view, _find_safest)
    start = [ORIGINAL, best] if best in releases else releases[:2]
    return st.multiselect(
        "Releases",
        releases,
        start,
        format_func=release_title,
        max_selections=2,
        key="risk-releases",
        persist_state="session",
    ) or [ORIGINAL]


def _choose_scale() -> Scale:
    """What heatmap, distribution, groups and the node's table show."""
    chosen: Scale = st.segmented_control(
        "Show",
        list(SCALE_TITLES),
        default="advantage",
        format_func=lambda key: SCALE_TITLES[key],
        key="risk-scale",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    return chosen


def _show_heatmap(view: AuditView, release: str, scale: Scale) -> None:
    key = f"heatmap-{release}"
    chart = risk.risk_heatmap(
        view.nodes, release, theme=current_theme(), height=HEATMAP_HEIGHT, by=scale
    )
    st.markdown(f"**{release_title(release)}**")
    page.show_chart(chart, key, on_select=lambda: _open_clicked(key), selection_mode="points")


def _open_clicked(key: str) -> None:
    """Open the node of the cell. A second click on a cell lets go of it in Plotly, so that
    nothing is selected: with the panel closed, that means the same node again."""
    points = st.session_state[key].selection.points
    if points:
        st.session_state[f"clicked-{key}"] = points[0]["customdata"][0]
    elif "node" in st.session_state:
        return
    node = st.session_state.get(f"clicked-{key}")
    if node is not None:
        session.open_node(node)


def _show_search(view: AuditView) -> None:
    st.text_input(
        "Find a node",
        key="find-node",
        placeholder="its id, or a part of it",
        on_change=_search,
        args=(view,),
    )
    matches = st.session_state.get("matches", [])
    if st.session_state.get("find-node") and not matches:
        st.caption("No node has an id like that.")
    elif len(matches) > 1:
        st.pills(
            "Found",
            matches,
            key="found-node",
            on_change=_open_found,
            format_func=escape,
            label_visibility="collapsed",
        )


def _search(view: AuditView) -> None:
    graph = cache.load_audit_graph(view)
    matches = find_node(graph, st.session_state["find-node"], MAX_MATCHES)
    st.session_state["matches"] = matches
    if matches and (len(matches) == 1 or matches[0] == st.session_state["find-node"].strip()):
        session.open_node(matches[0])


def _open_found() -> None:
    session.open_node(st.session_state["found-node"])


def _show_groups(view: AuditView, chosen: list[str], scale: Scale) -> None:
    st.subheader("Who shares the risk", anchor=False)
    groups = {"degree": "number of links", "class": "class", "community": "community"}
    by = st.segmented_control(
        "by",
        list(groups),
        default="degree",
        format_func=groups.__getitem__,
        key="risk-by",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    if view.spec.groups:
        table, said = cache.remember(view, _compare_groups)
        st.markdown(escape(said, 1000))
        st.dataframe(table, hide_index=True)
    chart = cache.remember(view, _plot_groups, by, tuple(chosen), current_theme(), scale)
    page.show_chart(chart, f"risk-{by}")


def _show_margins(view: AuditView, chosen: list[str]) -> None:
    attacks = list_margin_attacks(view)
    if not attacks:
        return
    st.subheader("How sure the attacker is", anchor=False)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    attack = left.selectbox(
        "Attack", attacks, format_func=method_title, key="margin-attack", persist_state="session"
    )
    kind = right.segmented_control(
        "Margin",
        ["signed", "absolute"],
        default="signed",
        key="margin-kind",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    st.caption(escape(answer_margins(view.results, attack, chosen), 400))
    chart = cache.remember(
        view, _plot_margins, attack, tuple(chosen), kind == "absolute", current_theme()
    )
    page.show_chart(chart, "margins")


def _answer(view: AuditView) -> str:
    return answers.answer_risk(view.nodes)


def _tabulate(view: AuditView, releases: tuple[str, ...]) -> pd.DataFrame:
    return tabulate_exposed(view.nodes, releases)


def _compare_groups(view: AuditView) -> tuple[pd.DataFrame, str]:
    labels = load_groups(view)
    return tabulate_groups(view.nodes, labels), answer_groups(view.nodes, labels)


def _bound(view: AuditView) -> str:
    return answers.answer_bound(view.nodes)


def _find_safest(view: AuditView) -> str | None:
    return answers.find_least_exposing(compute_headline(view.nodes))


def _plot_shares(view: AuditView, releases: tuple[str, ...], theme: Theme, scale: Scale) -> Chart:
    return risk.risk_distribution(view.nodes, releases, theme, scale)


def _plot_groups(
    view: AuditView, by: Group, releases: tuple[str, ...], theme: Theme, scale: Scale
) -> Chart:
    return risk.risk_by_group(view.nodes, view.profile, by, releases, theme, scale)


def _plot_margins(
    view: AuditView, attack: str, releases: tuple[str, ...], absolute: bool, theme: Theme
) -> Chart:
    return margins.margin_boxes(view, attack, releases, absolute, theme)


main()
