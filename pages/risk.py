"""Risk page: re-identification and inference risk of each node."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.audit.asked.release_info import ReleaseInfo
from core.audit.results.view import AuditView
from core.figures.margin_boxes import margin_boxes
from core.figures.risk_charts import risk_by_group, risk_distribution
from core.figures.risk_heatmap import risk_heatmap
from core.findings.exposure import (
    answer_bound,
    find_least_exposing,
    propose_repeats,
    summarize_risk,
)
from core.findings.glossary import explain_term
from core.findings.groups import answer_groups, load_groups, tabulate_groups
from core.findings.margins import answer_margins, list_margin_attacks
from core.findings.people import Secret
from core.findings.risk import SCALE_TITLES, Scale, compute_heatmap, count_forms, tabulate_exposed
from core.findings.strongest import answer_inverted
from core.findings.tables import find_doubles
from core.release import ORIGINAL
from core.words import count_noun
from pages.ui import cache, page, session
from pages.ui.chart import show_cached_chart
from pages.ui.node_panel import show_node
from pages.ui.node_table import choose_secret, list_ranked, select_nodes, show_nodes, show_search
from pages.ui.policy import chosen_release, current_policy
from pages.ui.text import escape

GROUPS = {"degree": "number of links", "class": "class", "community": "community"}


def main() -> None:
    page.open_page("Risk", "Re-identification and inference risk of each node.")
    view = page.require_view("Run an audit to measure the risk of each node.")
    if view.nodes.is_empty:
        st.info("No attack with results for single nodes has finished yet.")
        return
    policy, best = current_policy(view), chosen_release(view)
    summary = cache.remember(view, lambda: summarize_risk(view, best, policy))
    page.show_summary(summary, exact_below=True)
    _offer_repeats(view, best)
    secret = choose_secret(view)
    if secret is None:
        st.info("So far only baseline attackers have finished. They expose nobody.")
        page.show_exact(summary.exact)
        return
    left, middle, right = st.columns([5, 3, 3], gap="medium", vertical_alignment="bottom")
    with left:
        chosen = _choose_releases(view, secret)
    with middle:
        scale = _choose_scale()
    with right:
        show_search("find-node", lambda: cache.load_audit_graph(view))
    _show_heatmap(view, secret, tuple(chosen), scale)
    page.show_exact(summary.exact)
    if st.session_state.get("node") is not None:
        show_node(view, chosen[0])
    _show_details(view, secret, chosen, scale)
    page.show_next("map", "See the exposed nodes on the map")


def _offer_repeats(view: AuditView, release: str | None) -> None:
    """Button that runs the repeats which settle the nodes tested too little."""
    proposed = cache.remember(view, lambda: propose_repeats(view, release))
    if proposed is None or view.summary.state.is_active:
        return
    left, right = st.columns([2, 5], vertical_alignment="center")
    label = f"Run {count_noun(proposed.added, 'more repeat')}"
    if left.button(label, key="more-repeats", icon=":material/add:", width="stretch"):
        page.start_again(proposed.spec)
    right.caption(escape(proposed.reason, 300))


def _show_details(view: AuditView, secret: Secret, chosen: list[str], scale: Scale) -> None:
    releases = tuple(chosen)
    contents = {
        "Nodes": lambda: show_nodes(view, secret, chosen),
        "Number exposed": lambda: _show_shares(view, secret, releases, scale),
        "Groups": lambda: _show_groups(view, secret, releases, scale),
        "By base rate": lambda: _show_base_rates(view, secret, releases),
    }
    if secret.threat == "attribute" and not secret.target:
        contents["Attacker's confidence"] = lambda: _show_margins(view, releases)
    page.show_tabs(f"risk-tabs-{len(contents)}", contents)


def _choose_releases(view: AuditView, secret: Secret) -> list[str]:
    """Ask for one or two releases; by default the original and the one of the headline, else the
    safest."""
    releases = view.nodes.select(secret=secret).releases
    if len(releases) == 1:
        is_waiting = view.spec.defenses and view.summary.state.is_active
        hint = "The others are being attacked" if is_waiting else "Add defenses on the Defend page"
        st.caption(f"Only {view.get_release(releases[0]).title} has results. {hint}.")
        return releases
    best = chosen_release(view)
    if best not in releases:
        best = cache.remember(view, lambda: find_least_exposing(view.nodes, secret))
    start = releases[:2]
    if best in releases:
        start = [release for release in releases if release in (ORIGINAL, best)]
    return st.multiselect(
        "Releases (nodes are ranked on the first)",
        releases,
        start,
        format_func=lambda release: view.get_release(release).title,
        max_selections=2,
        key=f"risk-releases-{secret.key}",
        persist_state="session",
    ) or [releases[0]]


def _choose_scale() -> Scale:
    """Ask for the scale of heatmap, distribution, groups and node table."""
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
    """Heatmap with one panel per release: same nodes, same order, one scale."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        is_folded = not _unfold_forms(view, secret, chosen)
        ranks = _choose_ranks()
    show_cached_chart(
        view,
        lambda theme: risk_heatmap(
            _load_heatmaps(view, secret, chosen, scale, is_folded), scale, theme, ranks
        ),
        "heatmap",
        on_select=_open_clicked,
        selection_mode="points",
    )
    if inverted := cache.remember(view, lambda: _find_inverted(view, secret, chosen)):
        st.warning(inverted, icon=":material/swap_horiz:")


def _find_inverted(view: AuditView, secret: Secret, chosen: tuple[str, ...]) -> str:
    is_meant = [attack is not None and attack.secret == secret for attack in view.results.attack]
    return answer_inverted(view.results[is_meant], chosen)


def _unfold_forms(view: AuditView, secret: Secret, chosen: tuple[str, ...]) -> bool:
    """Ask whether each form of an attack has a row, where one has several."""
    forms, attacks = cache.remember(
        view, lambda: count_forms(select_nodes(view, secret).select(chosen))
    )
    if forms == attacks:
        return False
    return st.toggle(
        f"Show all {forms} forms of these {count_noun(attacks, 'attack')}",
        key="risk-forms",
        persist_state="session",
        help="Forms differ in what the attacker knows, such as which defense was used. Folded, "
        "each attack is shown in its strongest form on each release.",
    )


def _load_heatmaps(
    view: AuditView, secret: Secret, releases: tuple[str, ...], scale: Scale, is_folded: bool
) -> dict[ReleaseInfo, pd.DataFrame]:
    return cache.remember(
        view, lambda: _tabulate_heatmaps(view, secret, releases, scale, is_folded)
    )


def _tabulate_heatmaps(
    view: AuditView, secret: Secret, releases: tuple[str, ...], scale: Scale, is_folded: bool
) -> dict[ReleaseInfo, pd.DataFrame]:
    order = list_ranked(view, secret, releases[0])
    nodes, doubles = select_nodes(view, secret), find_doubles(view.results)
    shared = scale, order, is_folded, doubles, nodes.names.take(order)
    return {
        view.get_release(release): compute_heatmap(nodes, release, *shared) for release in releases
    }


def _choose_ranks() -> tuple[int, int] | None:
    """Ranks of the clicked column, to be shown one node each; None for all nodes."""
    ranks: tuple[int, int] | None = st.session_state.get("heatmap-ranks")
    if ranks is None:
        st.caption(
            "Click a cell to open its node. A column of several nodes expands first.",
            width="stretch",
        )
    elif st.button("Show all nodes", key="heatmap-all", icon=":material/zoom_out_map:"):
        del st.session_state["heatmap-ranks"]
        st.rerun()
    return ranks


def _open_clicked() -> None:
    """Open the clicked node, or expand a column of several nodes.

    A second click on a cell deselects it in Plotly. If the panel is closed, it reopens the node.
    """
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
    show_cached_chart(
        view,
        lambda theme: risk_distribution(select_nodes(view, secret), chosen, theme, scale),
        "risk-shares",
    )
    bound = cache.remember(view, lambda: answer_bound(select_nodes(view, secret)))
    st.caption(escape(bound, 1000))


def _show_groups(view: AuditView, secret: Secret, chosen: tuple[str, ...], scale: Scale) -> None:
    by = page.choose_one("Group by", list(GROUPS), GROUPS, "risk-by")
    if view.spec.groups:
        table, text = cache.remember(view, lambda: _compare_groups(view, secret))
        st.markdown(escape(text, 1000))
        st.dataframe(table, hide_index=True, alt="Exposure by group")
    show_cached_chart(
        view,
        lambda theme: risk_by_group(
            select_nodes(view, secret),
            view.profile,
            by,
            chosen,
            theme,
            scale,
            view.load_communities() if by == "community" else None,
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
        st.caption("No attack of this audit returns class probabilities.")
        return
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    attack = left.selectbox(
        "Attack",
        attacks,
        format_func=lambda attack: view.get_attack(attack).title,
        key="margin-attack",
        persist_state="session",
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
    is_absolute = kind == "absolute"
    show_cached_chart(
        view, lambda theme: margin_boxes(view, attack, chosen, is_absolute, theme), "margins"
    )


main()
