"""Risk: re-identification and inference risk of each node."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.audit.view import AuditView
from core.figures import margins, risk
from core.findings import answers
from core.findings.attackers import find_secret, pick_worst, tabulate_exposed
from core.findings.glossary import explain_term
from core.findings.groups import answer_groups, load_groups, tabulate_groups
from core.findings.labels import method_title, release_title
from core.findings.margins import answer_margins, list_margin_attacks
from core.findings.page_summary import summarize_risk
from core.findings.people import Secret
from core.findings.risk import SCALE_TITLES, Scale, compute_heatmap
from core.findings.tables import list_releases
from core.release import ORIGINAL
from pages.ui import cache, page, session
from pages.ui.chart import show_chart
from pages.ui.node_panel import show_node
from pages.ui.node_table import choose_secret, rank_nodes, select_nodes, show_nodes, show_search
from pages.ui.policy import chosen_release, current_policy
from pages.ui.text import escape
from pages.ui.theme import current_theme

HEATMAP_HEIGHT = 520
GROUPS = {"degree": "number of links", "class": "class", "community": "community"}


def main() -> None:
    page.open_page("Risk", "Re-identification and inference risk of each node.")
    view = page.require_view("Node risk comes from the attacks of an audit.")
    if view.nodes.empty:
        st.info("No attack that says something about single nodes has finished yet.")
        return
    policy, best = current_policy(view), chosen_release(view)
    page.show_summary(cache.remember(view, lambda: summarize_risk(view, best, policy)))
    secret = choose_secret(view)
    if secret is None:
        st.info("Only baseline attackers have finished yet: they expose nobody.")
        return
    left, middle, right = st.columns([4, 3, 3], gap="medium", vertical_alignment="bottom")
    with left:
        chosen = _choose_releases(view, secret)
    with middle:
        scale = _choose_scale()
    with right:
        show_search("find-node", lambda: cache.load_audit_graph(view))
    _show_heatmap(view, secret, tuple(chosen), scale)
    if st.session_state.get("node") is not None:
        show_node(view, chosen[0])
    _show_details(view, secret, chosen, scale)
    page.show_next("map", "See where they are on the map")


def _show_details(view: AuditView, secret: Secret, chosen: list[str], scale: Scale) -> None:
    names = ["Nodes", "How many are exposed", "Who shares the risk", "By base rate"]
    if secret.threat == "attribute" and not secret.target:
        names.append("How sure the attacker is")
    tabs = st.tabs(names, key=f"risk-tabs-{len(names)}", on_change="rerun")
    shown = next((index for index, tab in enumerate(tabs) if tab.open), 0)
    with tabs[shown]:
        if shown == 0:
            show_nodes(view, secret, chosen)
        elif shown == 1:
            _show_shares(view, secret, tuple(chosen), scale)
        elif shown == 2:
            _show_groups(view, secret, tuple(chosen), scale)
        elif shown == 3:
            _show_base_rates(view, secret, tuple(chosen))
        else:
            _show_margins(view, tuple(chosen))


def _choose_releases(view: AuditView, secret: Secret) -> list[str]:
    """The original next to the safest release, or what the user picks (at most two)."""
    releases = list_releases(select_nodes(view, secret))
    if len(releases) == 1:
        waits = view.spec.defenses and view.summary.state.is_active
        why = "the others are still being attacked" if waits else "add defenses on the Defend page"
        st.caption(f"Only {release_title(releases[0])} is here: {why}.")
        return releases
    best = cache.remember(
        view, lambda: answers.find_least_exposing(pick_worst(select_nodes(view, secret)))
    )
    start = [ORIGINAL, best] if best in releases else releases[:2]
    return st.multiselect(
        "Releases, nodes in the order of the first",
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
        help=explain_term("Advantage"),
    )
    return chosen


def _show_heatmap(view: AuditView, secret: Secret, chosen: tuple[str, ...], scale: Scale) -> None:
    """A panel a release, with the same nodes in the same order on one scale."""
    tables = cache.remember(view, lambda: _tabulate_heatmaps(view, secret, chosen, scale))
    # Drawn anew each time: a remembered figure loses the first click.
    chart = risk.risk_heatmap(tables, scale, current_theme(), HEATMAP_HEIGHT, _choose_ranks())
    show_chart(chart, "heatmap", on_select=_open_clicked, selection_mode="points")
    rows = view.results[view.results.method.map(find_secret) == (secret.threat, secret.target)]
    if inverted := answers.answer_inverted(rows, chosen):
        st.warning(inverted, icon=":material/swap_horiz:")


def _tabulate_heatmaps(
    view: AuditView, secret: Secret, releases: tuple[str, ...], scale: Scale
) -> dict[str, pd.DataFrame]:
    nodes = select_nodes(view, secret)
    order = rank_nodes(view, secret, releases[0]).node.tolist()
    return {r: compute_heatmap(nodes, r, None, scale, order) for r in releases}


def _choose_ranks() -> tuple[int, int] | None:
    """The nodes of the row that was clicked, a row each; None: all."""
    ranks: tuple[int, int] | None = st.session_state.get("heatmap-ranks")
    if ranks is None:
        st.caption("Click a cell to open its node; a row of several opens into a row each.")
    elif st.button("Show all nodes", key="heatmap-all", icon=":material/zoom_out_map:"):
        del st.session_state["heatmap-ranks"]
        st.rerun()
    return ranks


def _open_clicked() -> None:
    """Open the node of the cell, or the nodes of a row of several. A second click on a cell lets
    go of it in Plotly, so that nothing is selected: with the panel closed, that means the same
    node again."""
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


def _show_shares(view: AuditView, secret: Secret, chosen: tuple[str, ...], scale: Scale) -> None:
    theme = current_theme()
    show_chart(
        cache.remember(
            view, lambda: risk.risk_distribution(select_nodes(view, secret), chosen, theme, scale)
        ),
        "risk-shares",
    )
    bound = cache.remember(view, lambda: answers.answer_bound(select_nodes(view, secret)))
    st.caption(escape(bound, 1000))


def _show_groups(view: AuditView, secret: Secret, chosen: tuple[str, ...], scale: Scale) -> None:
    by = page.choose_one("Group by", list(GROUPS), GROUPS, "risk-by")
    if view.spec.groups:
        table, said = cache.remember(view, lambda: _compare_groups(view, secret))
        st.markdown(escape(said, 1000))
        st.dataframe(table, hide_index=True, alt="Exposure by group")
    theme = current_theme()
    show_chart(
        cache.remember(
            view,
            lambda: risk.risk_by_group(
                select_nodes(view, secret), view.profile, by, chosen, theme, scale
            ),
        ),
        f"risk-{by}",
    )


def _compare_groups(view: AuditView, secret: Secret) -> tuple[pd.DataFrame, str]:
    labels, nodes = load_groups(view), select_nodes(view, secret)
    return tabulate_groups(nodes, labels), answer_groups(nodes, labels)


def _show_base_rates(view: AuditView, secret: Secret, chosen: tuple[str, ...]) -> None:
    table = cache.remember(view, lambda: tabulate_exposed(select_nodes(view, secret), chosen))
    if table.empty:
        st.caption("The base rate is the same for every node.")
        return
    st.dataframe(table, hide_index=True, alt="Exposed nodes by base rate")


def _show_margins(view: AuditView, chosen: tuple[str, ...]) -> None:
    attacks = list_margin_attacks(view)
    if not attacks:
        st.caption("No attack of this audit gives class probabilities.")
        return
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
    is_absolute, theme = kind == "absolute", current_theme()
    show_chart(
        cache.remember(
            view, lambda: margins.margin_boxes(view, attack, chosen, is_absolute, theme)
        ),
        "margins",
    )


main()
