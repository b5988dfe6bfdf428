"""Homophily page: GHRatios of nodes with their neighbours and role peers."""

from __future__ import annotations

import streamlit as st

from core.audit.results.view import AuditView
from core.figures import ghratios
from core.figures.proximity import pair_profile
from core.findings.glossary import explain_term
from core.findings.homophily import compute_gps_gains, explain_missing_ratios, summarize_homophily
from core.findings.pair_profile import answer_pair_profile
from core.findings.tables import list_releases
from core.release import ORIGINAL
from pages.ui import cache, page, session
from pages.ui.chart import show_cached_chart, show_chart
from pages.ui.policy import find_shown_release
from pages.ui.text import escape
from pages.ui.theme import current_theme


def main() -> None:
    page.open_page(
        "Homophily (GHRatio)",
        "How similar each node is to its neighbours and to its role peers.",
        help=explain_term("GHRatio"),
    )
    view = page.require_view("Run an audit to measure GHRatios.")
    has_ratios = (
        view.spec.threats.private is not None and view.profile.ghratio_combined.notna().any()
    )
    if not has_ratios:
        st.info(escape(explain_missing_ratios(view), 300), icon=":material/info:")
        if view.spec.threats.has_links:
            _show_pairs(view)
    else:
        _show_ratios(view)
    page.show_next("tradeoff", "Compare usefulness and risk")


def _show_ratios(view: AuditView) -> None:
    summary = cache.remember(view, lambda: summarize_homophily(view))
    page.show_summary(summary, exact_below=True)
    releases = list_releases(view.profile)
    chosen = tuple(_choose_releases(view, releases))
    show_cached_chart(
        view, lambda theme: ghratios.ghratio_distributions(view, list(chosen), theme), "ghratio"
    )
    page.show_exact(summary.exact)
    contents = {}
    # Of links between two modes no neighbour has a value, unless a defense adds other links.
    both = list_releases(view.profile[["release"]][view.profile.ghratio_proximity.notna()])
    if both:
        contents["Neighbours against role peers"] = lambda: _show_scatter(view, both)
    gains = cache.remember(view, lambda: compute_gps_gains(view))
    if not gains.empty:
        contents["What GPS makes of it"] = lambda: show_cached_chart(
            view, lambda theme: ghratios.gps_gains(gains, theme), "gps-gains"
        )
    if view.spec.threats.has_links:
        contents["Endpoints of withheld links"] = lambda: _show_pairs(view)
    if contents:
        page.show_tabs("homophily-tabs", contents)


def _show_pairs(view: AuditView) -> None:
    st.markdown(cache.remember(view, lambda: answer_pair_profile(view.results)))
    show_cached_chart(view, lambda theme: pair_profile(view.results, theme), "pair-profile")


def _choose_releases(view: AuditView, releases: list[str]) -> list[str]:
    """Ask for releases; by default the original and the one that Defend shows first."""
    if len(releases) <= 2:
        return releases
    best = find_shown_release(view)
    return st.multiselect(
        "Releases",
        releases,
        [ORIGINAL, best if best in releases and best != ORIGINAL else releases[1]],
        format_func=lambda release: view.get_release(release).title,
        key="homophily-releases",
        persist_state="session",
    ) or [ORIGINAL]


def _show_scatter(view: AuditView, releases: list[str]) -> None:
    release = page.choose_release(view, "Release", releases, "scatter-release")
    chart = cache.remember(
        view, lambda theme: ghratios.mechanism_scatter(view, release, theme), current_theme()
    )
    event = show_chart(
        chart, "scatter", is_kept=True, on_select="rerun", selection_mode=("points", "box", "lasso")
    )
    nodes = [point["customdata"] for point in event.selection.points] if event else []
    nodes = [node[0] if isinstance(node, list) else node for node in nodes]
    if not nodes:
        st.caption("Click a point or draw a box to list nodes.")
        return
    table = chart.table
    st.dataframe(table[table.node.isin(nodes)], hide_index=True, height=260)
    if len(nodes) == 1 and st.button("Open this node on the Risk page", key="open-node"):
        session.open_node(nodes[0])
        st.switch_page(page.PAGES / "risk.py")


main()
