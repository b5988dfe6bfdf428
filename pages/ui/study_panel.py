"""Studies on the Attack page: the attacks of the audit under varied conditions."""

from __future__ import annotations

import streamlit as st

from core.audit import studies
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.audit.studies import Study, StudyKind
from core.errors import AuditError
from core.figures import study_lines
from core.findings.study import compute_falls, compute_study, describe_falls, describe_study
from core.findings.tables import list_threats
from core.words import count_noun
from pages.ui import cache, job, page, service
from pages.ui.chart import show_chart
from pages.ui.text import escape
from pages.ui.theme import current_theme

POLL_S = 1.5


def show_studies(view: AuditView) -> None:
    newest: dict[str, Study] = {}
    for study in studies.list_studies(service.open_service(), view.spec.graph_hash):
        newest.setdefault(study.kind.key, study)
    st.caption(
        f"Each study runs the {count_noun(len(view.spec.attacks), 'attack')} of this audit on "
        f"the original, with {count_noun(view.spec.num_repeats, 'repeat')}."
    )
    tabs = st.tabs([kind.title for kind in studies.STUDIES])
    for kind, tab in zip(studies.STUDIES, tabs, strict=True):
        with tab:
            _show_study(view, kind, newest.get(kind.key))


def _show_study(view: AuditView, kind: StudyKind, study: Study | None) -> None:
    obstacle = studies.find_obstacle(kind.key, view.spec, cache.load_graph(view.spec.graph_hash))
    st.caption(kind.summary if obstacle is None else f"{kind.summary} Not available: {obstacle}.")
    if study is not None and study.is_active:
        _watch(view.spec.graph_hash, study)
    elif st.button(
        "Run the study" if study is None else "Run the study again",
        key=f"study-{kind.key}",
        disabled=obstacle is not None,
        icon=":material/play_arrow:",
    ):
        try:
            with st.spinner("Preparing the graphs of the study"):
                studies.start_study(service.open_service(), kind.key, view.spec)
        except AuditError as error:
            page.show_error(error)
            return
        st.rerun()
    if study is not None:
        _show_result(kind, study)


def _watch(graph_hash: str, study: Study) -> None:
    def read() -> Study | None:
        found = studies.list_studies(service.open_service(), graph_hash)
        return next((known for known in found if known.id == study.id), None)

    job.watch_job(
        read,
        lambda now: f"{now.cells_done} of {now.cells_total} parts are done",
        "Cancel the study",
        f"study-cancel-{study.kind.key}",
        lambda: studies.cancel_study(service.open_service(), study),
        POLL_S,
    )


def _show_result(kind: StudyKind, study: Study) -> None:
    points = [(share, cache.load_view(audit.id)) for share, audit in study.points]
    table = compute_study(points)
    for threat in list_threats(table):
        if study.names:
            st.markdown(escape(describe_falls(table, threat, study.names), 400))
        elif sentence := describe_study(table, threat):
            st.markdown(sentence)
        chart = study_lines.study_lines(table, threat, kind, current_theme(), study.names)
        show_chart(chart, f"study-{kind.key}-{threat}")
        if study.names:
            with st.expander("Decrease of each attack"):
                falls = compute_falls(table, threat, study.names)
                st.dataframe(falls, hide_index=True, key=f"falls-{threat}")
    stopped = [
        audit
        for _, audit in study.points
        if not (audit.state is State.DONE or audit.state.is_active)
    ]
    if stopped:
        st.caption(f"{count_noun(len(stopped), 'point')} stopped early. Resume on Audits.")
