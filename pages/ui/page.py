"""Parts shared by all pages: title, headline, states of an audit, common choices.

The first page opens in a new home without an audit, so that what only audits need is imported where
it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.audit.store.states import State
from core.errors import AuditError
from core.words import begin_sentence, count_noun
from pages.ui import service, session
from pages.ui.text import escape

if TYPE_CHECKING:
    from core.audit.asked.attack import Attack
    from core.audit.asked.method_choice import MethodChoice
    from core.audit.asked.spec import AuditSpec
    from core.audit.results.view import AuditView
    from core.data.loaded import LoadedGraph
    from core.data.profile import GraphProfile
    from core.findings.page_summary import PageSummary
    from core.findings.verdict import Decision, Verdict
    from pages.ui.threat_choice import ThreatChoice

PAGES = Path(__file__).parents[1]
DECISION_ICONS: dict[Decision, str] = {
    "publish": ":material/check_circle:",
    "review": ":material/help:",
    "do_not_publish": ":material/block:",
}
"""Markdown icon of a decision; always shown with its sentence."""
RUN_FORMS = ("attack_form", "run_form", "guide_form")
"""Forms that start a run; what the Data page sets is kept in the session."""
KEPT = ("attacks", "defenses", "policy", "purpose", "input_columns")
"""Fields that a changed run keeps although they have no control of their own."""
WAIT = "An audit is running. Wait until it ends, or cancel it in the sidebar."


def open_page(title: str, purpose: str, needs_graph: bool = True, help: str | None = None) -> None:
    """Title and purpose; stops a page that needs a graph if none is open."""
    st.title(title, anchor=False, help=help)
    with st.container(key="question"):
        st.markdown(purpose)
    notice = st.session_state.pop("notice", None)
    if notice:
        st.warning(escape(notice, 300), icon=":material/info:")
    if needs_graph and not session.has_graph():
        st.info(
            "No graph is open. Upload your graph, try an example or open an earlier audit.",
            icon=":material/info:",
        )
        st.page_link(PAGES / "overview.py", label="Go to Overview", icon=":material/home:")
        st.stop()


def show_answer(sentence: str) -> None:
    """Headline sentence, as Markdown with names already escaped."""
    with st.container(key="answer"):
        st.markdown(sentence)


def show_summary(summary: PageSummary, exact_below: bool = False) -> None:
    """Headline cards, headline sentence and the folded exact figures, unless the page shows these
    below its picture."""
    if summary.cards:
        from pages.ui import cards

        cards.show_cards(summary.cards)
    show_answer(escape(summary.sentence, 400))
    if summary.aside:
        st.markdown(escape(summary.aside, 400))
    if not exact_below:
        show_exact(summary.exact)


def show_exact(lines: Sequence[str]) -> None:
    """Folded list of exact figures: interval, attack, sample size and splits."""
    if lines:
        with st.expander("Exact figures", icon=":material/straighten:"):
            st.markdown("\n".join(f"- {escape(line, 600)}" for line in lines))


def show_folded(
    label: str,
    key: str,
    draw: Callable[[], object],
    expanded: bool = False,
    icon: str | None = None,
) -> None:
    """Expander whose content is drawn only when it is open."""
    fold = st.expander(
        label, expanded=expanded, icon=icon, key=f"{key}-{expanded}", on_change="rerun"
    )
    if fold.open:
        with fold:
            draw()


def show_tabs(key: str, contents: Mapping[str, Callable[[], object]]) -> None:
    """Tabs whose content is drawn only when they are open; `contents` maps titles to functions."""
    tabs = st.tabs(list(contents), key=key, on_change="rerun")
    for tab, draw in zip(tabs, contents.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def show_error(error: AuditError) -> None:
    st.error(escape(error, 400), icon=":material/error:")


def require_view(what: str) -> AuditView:
    """Return the open audit if it has a result; otherwise explain what to do and stop the page."""
    from pages.ui import cache

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
            st.info("The first results appear here when a part of the audit has finished.")
        st.stop()
    return view


def show_state(view: AuditView) -> None:
    """State of an unfinished audit, its failed parts and the buttons to resume it."""
    summary = view.summary
    done = f"{summary.cells_done} of {summary.cells_total} parts"
    if summary.state.is_active:
        st.info(
            f"The audit is running: {done} are finished. Results are preliminary."
            f"{_warn_of_gaps(view)}",
            icon=":material/progress_activity:",
        )
    elif summary.state in (State.CANCELLED, State.INTERRUPTED):
        st.warning(
            f"The audit was {summary.state} after {done}. Finished parts are kept."
            f"{_warn_of_gaps(view)}",
            icon=":material/pause_circle:",
        )
        _offer_resume(summary.id, "Resume the audit")
    if summary.cells_failed or summary.state is State.FAILED:
        import pandas as pd

        failed = view.cells[view.cells.state == State.FAILED]
        parts = count_noun(len(failed), "part") + " of the audit failed; the others are complete."
        with st.expander(parts, icon=":material/error:"):
            shown = pd.DataFrame(
                {
                    "Release": [view.get_release(r).title for r in failed.release],
                    "By": [view.get_attack(method).title for method in failed.method],
                    "Repeat": failed.seed + 1,
                    "Reason": failed.reason,
                }
            )
            st.dataframe(
                shown,
                hide_index=True,
                column_config={"Reason": st.column_config.TextColumn(width="large")},
                alt="Failed parts of the audit, with the reason",
            )
            st.caption(
                "Change the method's settings or remove it, then run again. "
                "Finished parts are reused."
            )
            if summary.state is State.DONE:
                _offer_resume(summary.id, "Retry the failed parts")


def _warn_of_gaps(view: AuditView) -> str:
    """Warning that releases with missing attacks may look safer."""
    if not view.spec.defenses:
        return ""
    return " A release may look safer than it is until every attack has run."


def _offer_resume(audit_id: str, label: str) -> None:
    authorised = service.open_service()
    if authorised.may_change(audit_id) and st.button(
        label, key="resume", icon=":material/play_arrow:"
    ):
        authorised.resume_audit(audit_id)
        st.session_state["job"] = audit_id
        st.rerun()


def show_missing(view: AuditView, releases: list[str] | None = None) -> None:
    """Folded table of failed, skipped and unresolved results, with the reason."""
    import pandas as pd

    from core.findings import tables
    from core.findings.labels import metric_title
    from pages.ui import cache

    missing = cache.remember(view, lambda: tables.describe_missing(view.results, releases))
    if missing.empty:
        return
    shown = pd.DataFrame(
        {
            "Release": [made.title for made in missing.made],
            "By": [_format_attack(attack) for attack in missing.attack],
            "State": missing.status,
            "Reason": missing.reason,
            "Measures": [
                ", ".join(metric_title(key) for key in text.split(", ")) for text in missing.metrics
            ],
        }
    )
    with st.expander(f"Not computed: {count_noun(len(missing), 'entry', 'entries')}"):
        st.dataframe(shown, hide_index=True, alt="Results that were not computed, with the reason")


def _format_attack(attack: Attack | None) -> str:
    return "the release itself" if attack is None else attack.title


def _show_nothing(what: str) -> None:
    graph = session.current_graph()
    st.info(f"No audit of {escape(graph.name)} is open. {what}", icon=":material/info:")
    with st.container(horizontal=True):
        st.page_link(PAGES / "decision.py", label="Set up an audit", icon=":material/gavel:")
        st.page_link(PAGES / "attack.py", label="Run attacks", icon=":material/arrow_forward:")
        st.page_link(PAGES / "audits.py", label="Open an earlier audit", icon=":material/history:")


def find_profile() -> GraphProfile:
    """Profile of the open graph, cached for all pages."""
    from pages.ui import cache

    choice, graph_hash = session.current_threats(), st.session_state["graph"]
    return cache.compute_profile(
        graph_hash,
        choice.columns,
        choice.threats.private,
        choice.disclosure.utility,
        st.session_state.get("load_reports", {}).get(graph_hash),
    )


def choose_one(label: str, options: Sequence[Any], titles: Mapping[Any, str], key: str) -> Any:
    """Segmented control; a single option is returned without a control."""
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


def choose_release(
    view: AuditView, label: str, releases: Sequence[str], key: str, start: str | None = None
) -> str:
    """Select box of releases; a single release is returned without a control."""
    if len(releases) == 1:
        return releases[0]
    release: str = st.selectbox(
        label,
        releases,
        releases.index(start) if start in releases else 0,
        format_func=lambda release: view.get_release(release).title,
        key=key,
        persist_state="session",
    )
    return release


def label_report(verdict: Verdict) -> str:
    """Label of the button to the Report page, which hands over a release if one may leave."""
    return "Get the report and the release" if verdict.may_leave else "Get the report"


def show_next(page: str, label: str) -> None:
    """Button to the next page."""
    if st.button(label, key="next", type="primary", icon=":material/arrow_forward:"):
        st.switch_page(PAGES / f"{page}.py")


def choose_identity(attacks: Sequence[MethodChoice]) -> dict[str, Any]:
    """Identity field of the next spec, set if one of the attacks is a re-identification."""
    from core.methods import ATTACK_KINDS
    from core.registry import find_method

    kinds = {find_method(choice.key, *ATTACK_KINDS).kind for choice in attacks}
    return {"identity": {} if "identity_attack" in kinds else None}


def uses_shadow_graph(choice: MethodChoice) -> bool:
    """Whether an attack can be trained on a shadow graph."""
    from core.methods import ATTACK_KINDS
    from core.registry import find_method

    return bool(getattr(find_method(choice.key, *ATTACK_KINDS), "transfers", False))


def keep_fields(view: AuditView) -> dict[str, Any]:
    """Fields of the open audit that a changed run keeps: its methods and what forms of runs set."""
    from core.audit.asked.declared import Declaration

    spec, identity = view.spec, view.spec.threats.identity
    kept = {
        name: getattr(part, name)
        for part in (spec, spec.threats, spec.disclosure, spec.knowledge)
        for name, field in type(part).model_fields.items()
        if name in KEPT or Declaration.of(field).form in RUN_FORMS
    }
    return {**kept, "identity": identity and identity.model_dump()}


def find_uses() -> dict[str, Any]:
    """Field of the spec with the uses of the columns of the open graph's files, if they were read
    in this session."""
    report = st.session_state.get("load_reports", {}).get(st.session_state["graph"])
    return {} if report is None else {"input_columns": report.columns}


def make_spec(fields: dict[str, Any]) -> AuditSpec:
    """Spec of an audit of the open graph and its threats; raises InputError."""
    from core.audit.asked.spec import AuditSpec
    from pages.ui.spec_form import title_control

    choice = session.current_threats()
    if fields.get("identity") is not None:  # set on the Data page
        fields = {**fields, "identity": choice.identity.model_dump() | fields["identity"]}
    return AuditSpec.check_spec(
        {
            "graph_name": session.current_graph().name,
            "graph_hash": st.session_state["graph"],
            **choice.spec_fields,
            "noun": session.find_noun_key(),
            **fields,
            **find_uses(),
        },
        title_control,
    )


def start_audit(fields: dict[str, Any]) -> None:
    """Start an audit of the open graph and open it; errors are shown in place."""
    _start(lambda: make_spec(fields))


def start_again(spec: AuditSpec) -> None:
    """Start an audit by a stored spec, some of whose fields were changed."""
    _start(lambda: spec)


def _start(make: Callable[[], AuditSpec]) -> None:
    try:
        audit_id = service.open_service().start_audit(make())
    except AuditError as error:
        show_error(error)
        return
    st.session_state["audit"] = st.session_state["job"] = audit_id
    session.write_address()
    st.rerun()


def open_audit(audit_id: str, target: str) -> None:
    """Open a stored audit on a page; errors are shown in place."""
    try:
        session.open_audit(audit_id)
    except AuditError as error:
        show_error(error)
        return
    st.switch_page(PAGES / f"{target}.py")


def open_loaded(loaded: LoadedGraph, threats: ThreatChoice | None = None) -> None:
    """Store a loaded graph with its load report and open its Data page."""
    graph_hash = service.open_service().save_graph(loaded.graph)
    st.session_state.setdefault("load_reports", {})[graph_hash] = loaded.report
    session.open_graph(graph_hash, threats)
    session.write_address()
    st.session_state["loaded"] = True
    st.switch_page(PAGES / "data.py")
