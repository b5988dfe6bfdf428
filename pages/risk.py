"""Risk: who is exposed?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.audit.view import AuditView
from core.figures import margins, risk
from core.figures.chart import Chart
from core.findings import answers
from core.findings.attackers import find_secret, pick_worst, tabulate_exposed
from core.findings.groups import answer_groups, load_groups, tabulate_groups
from core.findings.labels import method_title, release_title
from core.findings.margins import answer_margins, list_margin_attacks
from core.findings.palette import Theme
from core.findings.people import Secret
from core.findings.risk import SCALE_TITLES, Group, Scale, compute_heatmap
from core.findings.tables import list_releases
from core.release import ORIGINAL
from pages.ui import cache, page, session
from pages.ui.node_panel import show_node
from pages.ui.people import choose_secret, list_people, select_nodes, show_people
from pages.ui.person_search import show_search
from pages.ui.text import escape
from pages.ui.theme import current_theme

HEATMAP_HEIGHT = 520


def main() -> None:
    page.open_page("Risk", "Re-identification and inference risk of each node.")
    view = page.require_view("Node risk comes from the attacks of an audit.")
    if view.nodes.empty:
        st.info("No attack that says something about single nodes has finished yet.")
        return
    page.show_answer(cache.remember(view, _answer))
    secret = choose_secret(view)
    if secret is None:
        st.info("Only baseline attackers have finished yet: they expose nobody.")
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        chosen = _choose_releases(view, secret)
    with right:
        show_search("find-node", lambda: cache.load_audit_graph(view))
    show_people(view, secret, chosen)
    _show_heatmaps(view, secret, chosen)
    if st.session_state.get("node") is not None:
        show_node(view, chosen[0])
    _show_groups(view, secret, chosen)
    if secret.threat == "attribute" and not secret.target:
        _show_margins(view, chosen)
    page.show_next("map", "Where they are: Map")


def _show_heatmaps(view: AuditView, secret: Secret, chosen: list[str]) -> None:
    """A panel a release, with the same people in the same order; then the curves."""
    scale = _choose_scale()
    chart = cache.remember(
        view, _plot_heatmap, secret, tuple(chosen), scale, current_theme(), _choose_ranks()
    )
    page.show_chart(chart, "heatmap", on_select=_open_clicked, selection_mode="points")
    bound = cache.remember(view, _bound, secret)
    st.caption(
        f"Click a cell to open the person, or a row of several to see them one by one. "
        f"{escape(bound, 1000)}"
    )
    table = cache.remember(view, _tabulate, secret, tuple(chosen))
    if len(table):
        with st.expander("Exposed people by base rate"):
            st.dataframe(table, hide_index=True, alt="Exposed people by base rate")
    rows = view.results[view.results.method.map(find_secret) == (secret.threat, secret.target)]
    inverted = answers.answer_inverted(rows, chosen)
    if inverted:
        st.warning(inverted, icon=":material/swap_horiz:")
    chart = cache.remember(view, _plot_shares, secret, tuple(chosen), current_theme(), scale)
    page.show_chart(chart, "risk-shares", "How many people are exposed")


def _choose_releases(view: AuditView, secret: Secret) -> list[str]:
    """The original next to the safest release, or what the user picks (at most two)."""
    releases = list_releases(select_nodes(view, secret))
    if len(releases) == 1:
        waits = view.spec.defenses and view.summary.state.is_active
        why = "the others are still being attacked" if waits else "add defenses on the Defend page"
        st.caption(f"Only the {release_title(releases[0]).lower()} is here: {why}.")
        return releases
    best = cache.remember(view, _find_safest, secret)
    start = [ORIGINAL, best] if best in releases else releases[:2]
    return st.multiselect(
        "Releases; people stand in the order of the first",
        releases,
        start,
        format_func=release_title,
        max_selections=2,
        key=f"risk-releases-{secret.key}",
        persist_state="session",
    ) or [releases[0]]


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


def _choose_ranks() -> tuple[int, int] | None:
    """The people whose row was clicked, one by one; None: everybody."""
    ranks: tuple[int, int] | None = st.session_state.get("heatmap-ranks")
    if ranks is not None and st.button("Show everybody", key="heatmap-all"):
        del st.session_state["heatmap-ranks"]
        st.rerun()
    return ranks


def _plot_heatmap(
    view: AuditView,
    secret: Secret,
    releases: tuple[str, ...],
    scale: Scale,
    theme: Theme,
    ranks: tuple[int, int] | None,
) -> Chart:
    nodes = select_nodes(view, secret)
    order = list_people(view, secret, releases[0]).node.tolist()
    tables = {r: compute_heatmap(nodes, r, None, scale, order) for r in releases}
    return risk.risk_heatmap(tables, scale, theme, HEATMAP_HEIGHT, ranks)


def _open_clicked() -> None:
    """Open the person of the cell, or the people of a row of several. A second click on a cell
    lets go of it in Plotly, so that nothing is selected: with the panel closed, that means the
    same person again."""
    points = st.session_state["heatmap"].selection.points
    if points:
        node, _, first, last = points[0]["customdata"]
        if first < last:
            st.session_state["heatmap-ranks"] = (first, last)
            return
        st.session_state["clicked-heatmap"] = node
    elif "node" in st.session_state:
        return
    node = st.session_state.get("clicked-heatmap")
    if node is not None:
        session.open_node(node)


def _show_groups(view: AuditView, secret: Secret, chosen: list[str]) -> None:
    st.header("Who shares the risk", anchor=False)
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
        table, said = cache.remember(view, _compare_groups, secret)
        st.markdown(escape(said, 1000))
        st.dataframe(table, hide_index=True)
    scale: Scale = st.session_state["risk-scale"]
    chart = cache.remember(view, _plot_groups, secret, by, tuple(chosen), current_theme(), scale)
    page.show_chart(chart, f"risk-{by}")


def _show_margins(view: AuditView, chosen: list[str]) -> None:
    attacks = list_margin_attacks(view)
    if not attacks:
        return
    st.header("How sure the attacker is", anchor=False)
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
    """A paragraph a secret: none speaks for another."""
    return "\n\n".join(answers.list_risks(view.nodes))


def _tabulate(view: AuditView, secret: Secret, releases: tuple[str, ...]) -> pd.DataFrame:
    return tabulate_exposed(select_nodes(view, secret), releases)


def _compare_groups(view: AuditView, secret: Secret) -> tuple[pd.DataFrame, str]:
    labels, nodes = load_groups(view), select_nodes(view, secret)
    return tabulate_groups(nodes, labels), answer_groups(nodes, labels)


def _bound(view: AuditView, secret: Secret) -> str:
    return answers.answer_bound(select_nodes(view, secret))


def _find_safest(view: AuditView, secret: Secret) -> str | None:
    return answers.find_least_exposing(pick_worst(select_nodes(view, secret)))


def _plot_shares(
    view: AuditView, secret: Secret, releases: tuple[str, ...], theme: Theme, scale: Scale
) -> Chart:
    return risk.risk_distribution(select_nodes(view, secret), releases, theme, scale)


def _plot_groups(
    view: AuditView,
    secret: Secret,
    by: Group,
    releases: tuple[str, ...],
    theme: Theme,
    scale: Scale,
) -> Chart:
    nodes = select_nodes(view, secret)
    return risk.risk_by_group(nodes, view.profile, by, releases, theme, scale)


def _plot_margins(
    view: AuditView, attack: str, releases: tuple[str, ...], absolute: bool, theme: Theme
) -> Chart:
    return margins.margin_boxes(view, attack, releases, absolute, theme)


main()
