"""What a defense learned of each link, on the Defend page."""

from __future__ import annotations

import streamlit as st

from core.audit.states import State
from core.audit.view import AuditView
from core.figures import link_scores
from core.figures.chart import Chart
from core.findings.labels import release_title
from core.findings.palette import Theme
from core.release import ORIGINAL
from core.seeding import Seed
from pages.ui import cache, page
from pages.ui.theme import current_theme


def list_learned(view: AuditView, releases: list[str]) -> list[str]:
    """The releases whose defense learned a chance for each link."""
    return cache.remember(view, _list_learned, tuple(releases))


def show_learned_links(view: AuditView, releases: list[str]) -> None:
    if not releases:
        st.caption("None of these defenses learns which links to keep: GPS sampling and PPGSL do.")
        return
    release = st.selectbox(
        "Release",
        releases,
        format_func=release_title,
        key="learned-release",
        persist_state="session",
    )
    page.show_chart(cache.remember(view, _plot, release, current_theme()), "learned-links")


def _list_learned(view: AuditView, releases: tuple[str, ...]) -> list[str]:
    cells = view.cells[(view.cells.kind == "publish") & (view.cells.state == State.DONE)]
    first = set(cells[cells.seed == 0].release)
    return [r for r in releases if r in first and view.load_link_scores(r, 0) is not None]


def _plot(view: AuditView, release: str, theme: Theme) -> Chart:
    scores = view.load_link_scores(release, 0)
    assert scores is not None
    rng = Seed(view.spec.root_seed).rng("sub-structures", release)
    return link_scores.link_scores(cache.load_release(view, ORIGINAL), scores, rng, theme)
