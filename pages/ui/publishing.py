"""A publishing run on the Report page: the release that leaves the house."""

from __future__ import annotations

import streamlit as st

from core.audit.spec import MethodChoice
from core.audit.view import AuditView, PublishProgress
from core.errors import AuditError
from core.findings.labels import release_title
from pages.ui import documents, page, service
from pages.ui.guarantee_card import describe_checks, show_card
from pages.ui.text import escape

FORMATS = {"csv": "CSV", "graphml": "GraphML", "npz": "NPZ"}
POLL_S = 0.7
ACTIVE = ("queued", "running")


def show_publishing(view: AuditView) -> None:
    st.subheader("The release itself", anchor=False)
    if not view.spec.defenses:
        st.caption(
            "This audit has no defense, so there is nothing to publish but the original. "
            "Add defenses on the Defend page."
        )
        return
    st.caption(
        "The releases of an audit are repeatable, so their noise could be taken away again. A "
        "publishing run makes the chosen one anew from the whole graph, with randomness of the "
        "operating system that nobody keeps."
    )
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    choice = left.selectbox(
        "Release to publish",
        view.spec.defenses,
        format_func=lambda c: release_title(c.id),
        key="publish-choice",
    )
    if right.button(
        "Make the release", key="publish", icon=":material/lock_open:", width="stretch"
    ):
        _start(view, choice)
    run = st.session_state.get("publish-run")
    if run is not None and run[1] == view.summary.id:
        _show_run(view, run[0], run[2])


def _start(view: AuditView, choice: MethodChoice) -> None:
    spec = view.spec
    fields = {
        "private": spec.private,
        "utility": spec.utility,
        "known": spec.known,
        "sensitive_links": spec.sensitive_links,
    }
    try:
        run_id = service.open_service().start_publish(spec.graph_hash, choice, fields)
    except AuditError as error:
        page.show_error(error)
        return
    st.session_state["publish-run"] = (run_id, view.summary.id, choice)


def _show_run(view: AuditView, run_id: str, choice: MethodChoice) -> None:
    """Only a run that is under way is polled: drawing anew would take the download away."""
    try:
        progress = service.open_service().get_publish(run_id)
    except AuditError as error:
        page.show_error(error)
        return
    if progress.state in ACTIVE:
        st.fragment(_show_running, run_every=POLL_S)(run_id, release_title(choice.id))
    elif progress.release is None:
        st.error(f"{release_title(choice.id)} was not made: {escape(progress.reason, 300)}")
    else:
        _show_release(view, progress, choice)


def _show_running(run_id: str, title: str) -> None:
    progress = service.open_service().get_publish(run_id)
    if progress.state not in ACTIVE:
        st.rerun(scope="app")  # ends the polling
    st.progress(progress.fraction, text=f"Making {title}")
    if st.button("Cancel the publishing run", key="publish-cancel"):
        service.open_service().cancel_publish(run_id)


def _show_release(view: AuditView, progress: PublishProgress, choice: MethodChoice) -> None:
    release, title = progress.release, release_title(choice.id)
    assert release is not None
    with st.container(border=True):
        st.markdown(
            f"**{title}** is ready: {release.graph.num_edges:,} links, {release.guarantee.label}. "
            "It is not stored: what you do not download now is gone with this server."
        )
        show_card(release.guarantee, view)
        if release.guarantee.is_private:
            st.caption(describe_checks(view, choice.id))
        left, middle, right = st.columns(3)
        formats = left.multiselect(
            "Formats",
            list(FORMATS),
            ["csv"],
            format_func=FORMATS.__getitem__,
            key="publish-formats",
        )
        names = [n for n in release.graph.attributes if n != view.spec.private]
        attributes = middle.multiselect(
            "Attributes to include",
            names,
            [n for n in names if n == view.spec.utility],
            key="publish-attributes",
            help="The private column is never included.",
        )
        pseudonyms = right.toggle(
            "Replace the ids",
            True,
            key="publish-pseudonyms",
            help="People are numbered anew in random order; the mapping is not kept.",
        )
        st.download_button(
            "Download the release",
            lambda: documents.make_archive(
                release,
                f"{view.spec.graph_name}-{release.defense}",
                progress.provenance,
                formats,
                attributes,
                pseudonyms,
            ),
            f"release-{release.defense}.zip",
            "application/zip",
            key="publish-download",
            type="primary",
            on_click="ignore",
            disabled=not formats,
            icon=":material/folder_zip:",
        )
        with st.expander("Provenance"):
            st.json(progress.provenance)
