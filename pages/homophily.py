"""Homophily: why does structure give people away?"""

from __future__ import annotations

import streamlit as st

from core.audit.view import AuditView
from core.figures import homophily, pair_profile
from core.figures.chart import Chart
from core.findings import answers
from core.findings.homophily import explain_missing_ratios
from core.findings.labels import release_title
from core.findings.pair_profile import answer_pair_profile
from core.findings.palette import Theme
from core.findings.tables import list_releases
from core.release import ORIGINAL
from pages.ui import cache, page, session
from pages.ui.text import escape
from pages.ui.theme import current_theme

MECHANISMS = (
    "**Neighbours.** Where linked people tend to share the value, known neighbours give it away.",
    "**Role peers.** Where people with about as many links tend to share the value, however far "
    "apart they are, the shape of the network around a person gives it away.",
    "**Both.** Neighbours and role peers together: what an attacker who uses both can draw on.",
)


def _answer(view: AuditView, has_homophily: bool) -> str:
    sentences = (
        answers.answer_homophily(view.results) if has_homophily else "",
        answer_pair_profile(view.results),
    )
    return " ".join(filter(None, sentences))


def _plot_ratios(view: AuditView, releases: tuple[str, ...], theme: Theme) -> Chart:
    return homophily.ghratio_distributions(view.profile, list(releases), theme)


def _plot_nearness(view: AuditView, theme: Theme) -> Chart:
    return pair_profile.pair_profile(view.results, None, theme)


def _find_best(view: AuditView) -> str | None:
    return answers.find_best_defense(view.results)


def main() -> None:
    page.open_page("Homophily (GHRatio)", "How alike a node and its neighbours or role peers are.")
    view = page.require_view("Homophily and nearness are measured by an audit.")
    has_homophily = view.spec.private is not None and view.profile.ghratio_combined.notna().any()
    answer = cache.remember(view, _answer, bool(has_homophily))
    if answer:
        page.show_answer(answer)
    if has_homophily:
        _show_homophily(view)
    else:
        st.info(escape(explain_missing_ratios(view), 300), icon=":material/info:")
    if view.spec.has_link_threat:
        _show_pairs(view)
    page.show_next("tradeoff", "Which release to choose: Trade-off")


def _show_homophily(view: AuditView) -> None:
    for column, text in zip(st.columns(3, gap="medium"), MECHANISMS, strict=True):
        column.caption(text)
    releases = list_releases(view.profile)
    chosen = _choose_releases(view, releases)
    chart = cache.remember(view, _plot_ratios, tuple(chosen), current_theme())
    page.show_chart(chart, "ghratio", "How often peers share the private value")
    _show_scatter(view, releases)


def _show_pairs(view: AuditView) -> None:
    chart = cache.remember(view, _plot_nearness, current_theme())
    st.header("How near the ends of withheld links are", anchor=False)
    st.caption(
        "Link attacks look for pairs that are near: few steps apart, alike in their features, or "
        "in the same part of the network. The line joins withheld links (filled) to pairs without "
        "a link (hollow): where it is short, nearness no longer tells the two apart. A change of "
        "links moves steps and embeddings, never features."
    )
    page.show_chart(chart, "pair-profile")


def _choose_releases(view: AuditView, releases: list[str]) -> list[str]:
    if len(releases) <= 2:
        return releases
    best = cache.remember(view, _find_best) or releases[1]
    return st.multiselect(
        "Releases",
        releases,
        [ORIGINAL, best],
        format_func=release_title,
        key="homophily-releases",
        persist_state="session",
    ) or [ORIGINAL]


def _show_scatter(view: AuditView, releases: list[str]) -> None:
    st.header("Each person: neighbours against role peers", anchor=False)
    release = releases[0]
    if len(releases) > 1:
        release = st.selectbox(
            "Release",
            releases,
            format_func=release_title,
            key="scatter-release",
            persist_state="session",
        )
    chart = homophily.mechanism_scatter(view.profile, release, current_theme())
    event = page.show_chart(
        chart, "scatter", on_select="rerun", selection_mode=("points", "box", "lasso")
    )
    nodes = [point["customdata"] for point in event.selection.points] if event else []
    nodes = [node[0] if isinstance(node, list) else node for node in nodes]
    if not nodes:
        st.caption("Click a point, or draw a box around some, to see who they are.")
        return
    st.dataframe(chart.table[chart.table.node.isin(nodes)], hide_index=True, height=260)
    if len(nodes) == 1 and st.button("Open this node on the Risk page", key="open-node"):
        session.open_node(nodes[0])
        st.switch_page(page.PAGES / "risk.py")


main()
