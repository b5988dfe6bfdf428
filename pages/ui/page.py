"""What every page does alike: its question and answer, its states, its charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.audit.access.authorised import may_change
from core.audit.spec import AuditSpec, MethodChoice
from core.audit.states import State
from core.audit.view import AuditView
from core.data.loaded import LoadedGraph
from core.data.profile import GraphProfile
from core.errors import AuditError
from core.findings import tables
from core.findings.facts import STATE_TITLES, LimitState
from core.findings.labels import method_title, metric_title, release_title
from core.findings.page_summary import Card, PageSummary
from core.methods import ATTACK_KINDS
from core.registry import find_method
from core.results import RELEASE
from core.words import begin_sentence, count_noun
from pages.ui import cache, service, session
from pages.ui.text import escape

PAGES = Path(__file__).parents[1]
STATE_ICONS: dict[LimitState, str] = {
    "met": ":green[:material/check:]",
    "not_proven": ":orange[:material/priority_high:]",
    "exceeded": ":red[:material/close:]",
    "not_tested": "–",
}
"""Of a limit, where Markdown is drawn; always beside the state's word or a legend."""
WAIT = "The next audit can start when this one is done or cancelled, in the rail on the left."
"""Why nothing can be started."""


def open_page(title: str, purpose: str, needs_graph: bool = True, help: str | None = None) -> None:
    """The page's head; ends a page that needs a graph where none is open, and says what to do."""
    st.title(title, anchor=False, help=help)
    with st.container(key="question"):
        st.markdown(purpose)
    notice = st.session_state.pop("notice", None)
    if notice:
        st.warning(escape(notice, 300), icon=":material/info:")
    if needs_graph and not session.has_graph():
        st.info(
            "No graph is open. Upload yours, try the example or open an earlier audit.",
            icon=":material/info:",
        )
        st.page_link(PAGES / "overview.py", label="Start on the Overview", icon=":material/home:")
        st.stop()


def show_answer(sentence: str) -> None:
    """The page's one sentence; `sentence` is Markdown, names in it are escaped."""
    with st.container(key="answer"):
        st.markdown(sentence)


def show_summary(summary: PageSummary) -> None:
    """Headline cards, one sentence, and the exact figures folded."""
    if summary.cards:
        show_cards(summary.cards)
    show_answer(escape(summary.sentence, 400))
    show_exact(summary.exact)


def show_exact(lines: Sequence[str]) -> None:
    """Figures with interval, attack, n and splits, folded."""
    if lines:
        with st.expander("Exact figures", icon=":material/straighten:"):
            st.markdown("\n".join(f"- {escape(line, 600)}" for line in lines))


def show_cards(cards: Sequence[Card]) -> None:
    """One number each, what it is compared with, and the state of its limit in a word and mark."""
    with st.grid(max(len(cards), 3), min_column_width=220, key="cards"):
        for card in cards:
            icon = "" if card.state is None else f"{STATE_ICONS[card.state]} "
            st.metric(
                f"{icon}{escape(card.title, 120)}",
                card.value,
                card.compared_with,
                delta_color="off",
                delta_arrow="off",
                delta_description=None if card.state is None else STATE_TITLES[card.state],
                help=escape(card.detail, 600),
                border=True,
                height="stretch",
            )


def show_folded(
    label: str, key: str, draw: Callable[[], None], expanded: bool = False, icon: str | None = None
) -> None:
    """What `draw` shows, computed once it is unfolded."""
    fold = st.expander(
        label, expanded=expanded, icon=icon, key=f"{key}-{expanded}", on_change="rerun"
    )
    if fold.open:
        with fold:
            draw()


def show_error(error: AuditError) -> None:
    st.error(escape(error, 400), icon=":material/error:")


def require_view(what: str) -> AuditView:
    """The open audit with at least one result; else says what to do and ends the page."""
    audit_id = session.current_audit()
    if audit_id is None:
        _show_nothing(what)
        st.stop()
    try:
        view = cache.load_view(audit_id)
    except AuditError as error:
        session.close_audit()
        show_error(error)
        st.stop()
    show_state(view)
    if view.results.empty or not (view.results.status == State.DONE).any():
        if view.summary.state.is_active:
            st.info("The first results appear here as soon as a part of the audit is finished.")
        st.stop()
    return view


def show_state(view: AuditView) -> None:
    """One line on a run that is not finished, and what to do about what failed."""
    summary = view.summary
    done = f"{summary.cells_done} of {summary.cells_total} parts"
    if summary.state.is_active:
        st.info(
            f"The audit is running: {done} are finished, and this is what is known so far."
            f"{_warn_of_gaps(view)}",
            icon=":material/progress_activity:",
        )
    elif summary.state in (State.CANCELLED, State.INTERRUPTED):
        st.warning(
            f"The audit was {summary.state} with {done} finished; nothing finished is lost."
            f"{_warn_of_gaps(view)}",
            icon=":material/pause_circle:",
        )
        _offer_resume(summary.id, "Resume the audit")
    if summary.cells_failed or summary.state is State.FAILED:
        failed = view.cells[view.cells.state == State.FAILED]
        parts = count_noun(len(failed), "part") + " of the audit failed; the others are complete."
        with st.expander(parts, icon=":material/error:"):
            shown = pd.DataFrame(
                {
                    "Release": failed.release.map(release_title),
                    "By": failed.method.map(method_title),
                    "Repeat": failed.seed + 1,
                    "Why": failed.reason,
                }
            )
            st.dataframe(
                shown,
                hide_index=True,
                column_config={"Why": st.column_config.TextColumn(width="large")},
                alt="Parts of the audit that failed, and why",
            )
            st.caption(
                "Change the method's settings or leave it out, then run again: "
                "finished parts are reused."
            )
            if summary.state is State.DONE:
                _offer_resume(summary.id, "Try the failed parts again")


def _warn_of_gaps(view: AuditView) -> str:
    """What has been attacked less looks safer."""
    if not view.spec.defenses:
        return ""
    return " A release that not every attack was tried on may look safer than it is."


def _offer_resume(audit_id: str, label: str) -> None:
    authorised = service.open_service()
    if may_change(authorised, audit_id) and st.button(
        label, key="resume", icon=":material/play_arrow:"
    ):
        authorised.resume_audit(audit_id)
        st.session_state["job"] = audit_id
        st.rerun()


def show_missing(view: AuditView, releases: list[str] | None = None) -> None:
    """What failed, was skipped or could not be resolved, with the reason."""
    missing = tables.describe_missing(view.results, releases)
    if missing.empty:
        return
    shown = pd.DataFrame(
        {
            "Release": missing.release.map(release_title),
            "By": missing.method.map(_format_method),
            "State": missing.status,
            "Why": missing.reason,
            "Measures": [
                ", ".join(metric_title(key) for key in text.split(", ")) for text in missing.metrics
            ],
        }
    )
    with st.expander(f"Not computed: {count_noun(len(missing), 'entry', 'entries')}"):
        st.dataframe(shown, hide_index=True, alt="What was not computed, and why")


def _format_method(method: str) -> str:
    return "the release itself" if method == RELEASE else method_title(method)


def _show_nothing(what: str) -> None:
    graph = session.current_graph()
    st.info(f"No audit of {escape(graph.name)} is open. {what}", icon=":material/info:")
    with st.container(horizontal=True):
        st.page_link(PAGES / "decision.py", label="Answer a few questions", icon=":material/gavel:")
        st.page_link(PAGES / "attack.py", label="Run attacks", icon=":material/arrow_forward:")
        st.page_link(PAGES / "audits.py", label="Open an earlier audit", icon=":material/history:")


def find_profile() -> GraphProfile:
    """What is known of the open graph; computed once for all pages."""
    choice, graph_hash = session.current_threats(), st.session_state["graph"]
    return cache.compute_profile(
        graph_hash,
        choice.threats.private,
        choice.disclosure.utility,
        st.session_state.get("load_reports", {}).get(graph_hash),
    )


def choose_one(label: str, options: Sequence[Any], titles: Mapping[Any, str], key: str) -> Any:
    """One of several, as segments; a single option is taken without asking."""
    if len(options) == 1:
        return options[0]
    if st.session_state.get(key) not in options:
        st.session_state[key] = options[0]
    return st.segmented_control(
        label,
        options,
        format_func=lambda option: begin_sentence(titles.get(option, str(option))),
        key=key,
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )


def choose_release(label: str, releases: Sequence[str], key: str, start: str | None = None) -> str:
    """One of the releases of an audit; a single one is taken without asking."""
    if len(releases) == 1:
        return releases[0]
    release: str = st.selectbox(
        label,
        releases,
        releases.index(start) if start in releases else 0,
        format_func=release_title,
        key=key,
        persist_state="session",
    )
    return release


def show_next(page: str, label: str) -> None:
    """The one next step: a button that says where it leads."""
    if st.button(label, key="next", type="primary", icon=":material/arrow_forward:"):
        st.switch_page(PAGES / f"{page}.py")


def choose_identity(attacks: Sequence[MethodChoice]) -> dict[str, Any]:
    """The field of a next spec that no form holds: the threat to identities, where one of the
    attacks is after them."""
    kinds = {find_method(choice.key, *ATTACK_KINDS).kind for choice in attacks}
    return {"identity": {} if "identity_attack" in kinds else None}


def learns(choice: MethodChoice) -> bool:
    """Whether an attack learns from another graph, where the attacker holds one."""
    return bool(getattr(find_method(choice.key, *ATTACK_KINDS), "transfers", False))


def keep_fields(view: AuditView) -> dict[str, Any]:
    """The open audit's fields that a changed run of it keeps: what attackers know, for whom."""
    spec, threats, knowledge = view.spec, view.spec.threats, view.spec.knowledge
    names = ("attacks", "defenses", "num_repeats", "policy", "purpose", "stop_early")
    return {
        **{name: getattr(spec, name) for name in names},
        **knowledge.model_dump(include={"adaptive", "composition", "hold_every_defense"}),
        **threats.model_dump(include={"released_links", "evaluation", "identity"}),
    }


def make_spec(fields: dict[str, Any]) -> AuditSpec:
    """The spec of an audit of the open graph and its threats; InputError where a rule is broken."""
    choice = session.current_threats()
    if fields.get("identity") is not None:  # what the attacker holds is set on the Data page
        fields = {**fields, "identity": choice.identity.model_dump() | fields["identity"]}
    return AuditSpec.check_spec(
        {
            "graph_name": session.current_graph().name,
            "graph_hash": st.session_state["graph"],
            **choice.spec_fields,
            **fields,
        }
    )


def start_audit(fields: dict[str, Any]) -> None:
    """Start an audit of the open graph and open it; a broken rule is shown in place."""
    try:
        audit_id = service.open_service().start_audit(make_spec(fields))
    except AuditError as error:
        show_error(error)
        return
    st.session_state["audit"] = st.session_state["job"] = audit_id
    session.write_address()
    st.rerun()


def open_audit(audit_id: str, target: str) -> None:
    """Open a stored audit on a page; what went wrong is shown in place."""
    try:
        session.open_audit(audit_id)
    except AuditError as error:
        show_error(error)
        return
    st.switch_page(PAGES / f"{target}.py")


def open_loaded(loaded: LoadedGraph, threats: session.ThreatChoice | None = None) -> None:
    """Store a graph that was read, remember what reading did to it, and go to its Data page."""
    graph_hash = service.open_service().save_graph(loaded.graph)
    st.session_state.setdefault("load_reports", {})[graph_hash] = loaded.report
    session.open_graph(graph_hash, threats)
    session.write_address()
    st.session_state["loaded"] = True
    st.switch_page(PAGES / "data.py")
