"""Search on the Decision page: what must stay useful, how far it is, and what came of it."""

from __future__ import annotations

import streamlit as st

from core.audit.asked.spec import AuditSpec
from core.errors import AuditError
from core.figures.search_curves import draw_search
from core.findings.kept import USEFUL
from core.findings.numbers import format_duration
from core.search.background import BackgroundSearches
from core.search.outcome import (
    STATES,
    describe_headline,
    describe_request,
    find_recommended,
    list_facts,
    list_rows,
)
from core.search.run import SearchProgress, SearchRequest, list_requests, read_search
from core.words import begin_sentence
from pages.ui import cache, page, service
from pages.ui.chart import show_chart
from pages.ui.text import escape, format_cell
from pages.ui.theme import current_theme

POLL_S = 2.0
CHART_S = 10.0
"""Seconds between drawings of a running search: its chart takes the processors from it."""

TIMES = (300, 900, 3_600, None)
START_SHARE = 25


@st.cache_resource(show_spinner=False)
def _get_searches() -> BackgroundSearches:
    return BackgroundSearches()


def show_search(spec: AuditSpec) -> None:
    """Form and latest search of the graph.

    spec  secrets, disclosure and policy that a release must meet
    """
    with st.container(key="search"):
        shown = _find_shown(spec)
        if shown is not None:
            _show_progress(shown)
        fold = st.expander(
            "What must stay useful?" if shown is None else "Search with other wishes",
            expanded=shown is None,
            key=f"search-form-{shown is not None}",
        )
        with fold:
            _show_form(spec)


def _find_shown(spec: AuditSpec) -> SearchRequest | None:
    """The search that was just started here, which may have no audit yet, else the newest one."""
    found = list_requests(service.open_service(), spec.graph_hash)
    started: SearchRequest | None = st.session_state.get("search")
    known = {request.id for request in found}
    if started and started.spec.graph_hash == spec.graph_hash and started.id not in known:
        return started
    return found[0] if found else None


def _show_form(spec: AuditSpec) -> None:
    offered = [name for name in USEFUL if name != "column" or spec.disclosure.utility]
    if not spec.test_links:
        offered.remove("link_prediction")
    start = "column" if "column" in offered else "links"
    chosen = st.multiselect(
        "Must stay useful",
        offered,
        [start],
        format_func=lambda name: begin_sentence(USEFUL[name]),
        key="search-useful",
        persist_state="session",
    )
    useful = {
        name: st.slider(
            f"Keep at least, in % of {USEFUL[name]}",
            0,
            100,
            START_SHARE,
            5,
            key=f"search-share-{name}",
            persist_state="session",
        )
        / 100
        for name in chosen
    }
    within = st.segmented_control(
        "Time to spend",
        TIMES,
        default=TIMES[1],
        format_func=lambda s: "until it is over" if s is None else format_duration(s),
        key="search-within",
        required=True,
        persist_state="session",
    )
    st.caption(
        "Tries the defenses that fit this graph at several strengths, first against quick "
        "attackers, then against those that the policy requires, and confirms what is left on "
        "splits that it never saw. It can be stopped and continued."
    )
    if st.button(
        "Find a release that passes",
        type="primary",
        key="search-start",
        icon=":material/travel_explore:",
        disabled=not useful,
    ):
        try:
            graph = cache.load_graph(spec.graph_hash)
            request = SearchRequest.check(spec.update(defenses=()), useful, graph)
        except AuditError as error:
            page.show_error(error)
            return
        _get_searches().start(service.open_service(), request, within)
        st.session_state["search"] = request
        st.rerun()


def _show_progress(request: SearchRequest) -> None:
    searches = _get_searches()
    st.caption(escape(describe_request(request), 400))
    if not searches.is_running(request.id):
        _draw(request, _read(request))
        return

    @st.fragment(run_every=POLL_S)
    def watch() -> None:
        if not searches.is_running(request.id):
            st.rerun(scope="app")
        progress = searches.find_progress(request.id)
        if progress is None:
            st.info("The search is starting.", icon=":material/progress_activity:")
            return
        doing = progress.doing
        if progress.current is not None:
            seen = service.open_service().get_progress(progress.current)
            doing += f"; {seen.cells_done} of {seen.cells_total} parts of the next"
        st.info(f"The search is running. {doing}.", icon=":material/progress_activity:")
        if st.button("Stop the search", key="search-stop", icon=":material/stop_circle:"):
            searches.stop(request.id)

    @st.fragment(run_every=CHART_S)
    def draw() -> None:
        progress = searches.find_progress(request.id)
        if progress is not None:
            _draw_tried(progress)

    watch()
    draw()


def _read(request: SearchRequest) -> SearchProgress:
    """The search as stored; its audits are assembled again only when one of them has changed, or
    what else decides the newest: releases of the graph that were published, and claims."""
    authorised = service.open_service()
    own = [a for a in authorised.list_audits() if a.search and a.search["id"] == request.id]
    found = tuple((audit.id, str(audit.state), audit.cells_done) for audit in own)
    newest = cache.describe_state(authorised.get_view(own[0].id)) if own else ()
    return _read_once(request.id, found, newest, request)


@st.cache_resource(max_entries=4, show_spinner="Reading the search")
def _read_once(
    search_id: str,
    audits: tuple[tuple[str, str, int], ...],
    newest: tuple[object, ...],
    _request: SearchRequest,
) -> SearchProgress:
    """Kept by the search, its audits' states and whatever changes the newest one's verdict."""
    return read_search(service.open_service(), _request)


def _draw(request: SearchRequest, progress: SearchProgress) -> None:
    searches, search = _get_searches(), progress.search
    best = find_recommended(progress)
    icons = {"confirmed": ":material/check_circle:", "none_passes": ":material/block:"}
    if not progress.is_over:
        reason = searches.get_reason(request.id) or progress.stopped or "it was interrupted"
        st.warning(
            f"The search is not over, since {escape(reason, 300)}. What is finished is kept.",
            icon=":material/pause_circle:",
        )
        _show_facts(progress)
        _offer_to_continue(request, "Continue the search")
    else:
        with st.container(border=True):
            icon = icons.get(search.state, ":material/help:")
            st.markdown(f"{icon} **{STATES[search.state]}.** {escape(_describe(progress), 500)}")
            _show_facts(progress)
            if best is not None and st.button(
                "Open the confirming audit", key="search-open", icon=":material/arrow_forward:"
            ):
                page.open_audit(progress.audits[-1], "decision")
            if search.list_left_out():
                _offer_to_continue(request, "Search on, however long it takes")
    _draw_tried(progress)


def _show_facts(progress: SearchProgress) -> None:
    if facts := list_facts(progress):
        st.markdown("\n".join(f"- {escape(text, 400)}" for text in facts))


def _offer_to_continue(request: SearchRequest, label: str) -> None:
    """A button that takes the search up again, without a limit of time."""
    if st.button(label, key="search-continue", icon=":material/play_arrow:"):
        _get_searches().start(service.open_service(), request)
        st.rerun()


def _describe(progress: SearchProgress) -> str:
    """The headline without the state, which stands before it."""
    return begin_sentence(describe_headline(progress).removeprefix("Not decided: "))


def _draw_tried(progress: SearchProgress) -> None:
    """Chart and table of what was tried."""
    if not progress.search.measured:
        return
    show_chart(draw_search(progress, current_theme()), f"search-{progress.request.id}")
    rows = [{name: format_cell(text) for name, text in row.items()} for row in list_rows(progress)]
    page.show_folded(
        "Every defense that was considered",
        "search-rows",
        lambda: st.table(rows, border="horizontal", alt="Defenses of the search"),
    )
