"""Publishing runs on the Report page, which make the release that is handed over."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.publish_spec import PublishSpec
from core.audit.computing.prepared import list_written
from core.audit.jobs.publish import RETENTION_DAYS
from core.audit.results.view import AuditView, PublishProgress
from core.audit.store.states import State
from core.data.keyed_pseudonyms import MAX_DOMAIN, KeyedPseudonyms, check_domain, parse_secret
from core.data.link_release import list_link_columns
from core.errors import AuditError
from core.findings.leaving import describe_columns, list_released
from core.findings.ledger import COLUMNS, describe_relative, explain_ledger, list_ledger_rows
from core.findings.verdict import judge_next
from core.findings.verdict_words import summarize_reasons
from pages.ui import cache, documents, job, login, page, service
from pages.ui.decision_record import record_handout
from pages.ui.guarantee_card import describe_checks, show_card
from pages.ui.policy import chosen_release, current_policy, has_policy, judge_view, show_obstacles
from pages.ui.text import escape

FORMATS = {"csv": "CSV", "parquet": "Parquet", "graphml": "GraphML", "gexf": "GEXF", "npz": "NPZ"}


def show_publishing(view: AuditView) -> None:
    st.header("Release to hand over", anchor=False)
    if view.spec.external_release is not None:
        st.caption("The release was made with another tool. Hand over the file that was audited.")
        show_ledger(view)
        return
    if not view.spec.defenses:
        st.caption(
            "This audit has no defended release to publish. Add defenses on the Defend page."
        )
        return
    st.caption(
        "Do not publish a release of an audit: it is repeatable, so its noise could be removed. A "
        "publishing run makes the chosen release again from the whole graph, with fresh randomness "
        "that is not stored."
    )
    if login.check_change(view.summary.id, view.summary.person, "publish its releases"):
        _show_form(view)
    show_ledger(view)
    runs = service.open_service().publishing.list(view.summary.id)
    if runs:
        _show_run(view, runs[-1])


def _show_form(view: AuditView) -> None:
    left, middle, right = st.columns([3, 1.6, 1.9], vertical_alignment="bottom")
    budget = middle.number_input(
        "Privacy budget (ε)",
        min_value=0.01,
        value=None,
        placeholder="no limit",
        key="publish-budget",
        help="Largest sum of ε over all publishing runs of the graph. A run above it is refused, "
        "and one that takes the sum of δ above one in the number of nodes.",
    )
    publishable = show_obstacles(judge_view(view))
    offered = [choice for choice in view.spec.defenses if choice.id in publishable]
    ids = [c.id for c in offered]
    chosen = chosen_release(view)
    choice = left.selectbox(
        "Release to publish",
        offered,
        ids.index(chosen) if chosen in ids else None,
        format_func=lambda c: c.make().title,
        key=f"publish-choice-{view.summary.id}",
        placeholder="none chosen",
    )
    if choice is None:
        st.caption("Choose a release here or on the Release decision page.")
    else:
        text = cache.remember(view, lambda key: _describe_leaving(view, key), choice.id)
        st.caption(escape(text, 400))
    graph_hash = view.spec.graph_hash
    relative = cache.remember(view, lambda: service.open_service().find_relative(graph_hash))
    if relative is not None:
        st.warning(escape(describe_relative(relative), 400), icon=":material/help:")
    is_allowed = choice is not None and _check_policy(view, choice.id)
    if right.button(
        "Make the release",
        key="publish",
        icon=":material/lock_open:",
        width="stretch",
        disabled=not is_allowed,
    ):
        assert choice is not None
        _start(view, choice, budget)


def _describe_leaving(view: AuditView, release: str) -> str:
    """Which columns a release will hold, before it is made and entered in the ledger."""
    choice = next(choice for choice in view.spec.defenses if choice.id == release)
    spec = view.spec.update(leave_out=())  # the view's graph is without these nodes
    columns = list_released(spec, view.load_graph(), choice.make_defense())
    return describe_columns(columns, spec.disclosure.generalize)


def _check_policy(view: AuditView, release: str) -> bool:
    """Whether one more release may be made; explain a refusal and ask for a manual decision."""
    policy = current_policy(view)
    found = cache.remember(view, lambda: judge_next(view, release, policy))
    if found is None or found.decision == "publish":
        return True
    reason = escape(summarize_reasons(found), 300)
    if found.decision == "do_not_publish" and has_policy(view):
        st.error(
            f"The policy “{escape(policy.title, 80)}” does not allow this release: {reason}.",
            icon=":material/block:",
        )
        return False
    outcome = "requires a review" if has_policy(view) else "does not clear this release"
    st.warning(
        f"The policy “{escape(policy.title, 80)}” {outcome}: {reason}.", icon=":material/help:"
    )
    return st.checkbox(
        "I decide to publish it anyway and can justify this", key=f"publish-against-{release}"
    )


def show_ledger(view: AuditView) -> None:
    """Privacy budget spent by all publishing runs of this graph."""
    with st.expander("Ledger of published releases", expanded=bool(view.ledger)):
        st.markdown(escape(explain_ledger(view.ledger), 2000))
        if view.ledger:
            rows = list_ledger_rows(view.ledger)
            st.dataframe(pd.DataFrame(rows, columns=list(COLUMNS)), hide_index=True, key="ledger")


def _start(view: AuditView, choice: MethodChoice, budget: float | None) -> None:
    spec = PublishSpec.of_audit(view.spec, choice, budget)
    try:
        service.open_service().start_publish(spec, view.summary.id)
    except AuditError as error:
        page.show_error(error)


def _show_run(view: AuditView, run: PublishProgress) -> None:
    """State of a publishing run. Only an active run is polled: redraws interrupt downloads."""
    publishing = service.open_service().publishing
    title = run.spec.defense.make().title
    if run.is_active:
        job.watch_job(
            lambda: publishing.get(run.id),
            lambda now: f"Making {title}: {job.describe_message(now.message)}",
            "Cancel the publishing run",
            "publish-cancel",
            lambda: publishing.cancel(run.id),
        )
        return
    if run.state is State.DONE:
        try:
            if run.signed_by:
                _show_release(view, service.open_service().get_publish(run.id))
            else:
                _show_unsigned(run)
        except AuditError as error:
            page.show_error(error)
        return
    st.error(f"{title} could not be made: {escape(run.reason or run.state, 300)}")


def _show_unsigned(run: PublishProgress) -> None:
    """A prepared release that waits for an approver's signature."""
    authorised = service.open_service()
    title, who = run.spec.defense.make().title, login.format_person(run.prepared_by)
    with st.container(border=True):
        st.markdown(
            f"**{title}** was prepared by {who} and waits for the signature of an approver. "
            "It already counts in the ledger. It cannot be downloaded before it is signed."
        )
        with st.expander("Provenance"):
            st.json(run.provenance)
        person = authorised.person
        if not person.has("approver"):
            st.caption(":material/lock: Only an approver may sign it.")
        elif run.prepared_by == person.subject:
            st.caption(":material/lock: Another approver must sign a release that you prepared.")
        elif st.button("Sign the release", key="publish-sign", icon=":material/verified:"):
            authorised.sign_publish(run.id)
            st.rerun()


def _show_release(view: AuditView, progress: PublishProgress) -> None:
    choice = progress.spec.defense
    release, title = progress.release, choice.make().title
    if release is None:
        st.caption(
            f":material/lock: {title} was published by {login.format_person(view.summary.person)}."
        )
        return
    authorised = service.open_service()  # the download has no session

    def hand_out() -> bytes:
        run = authorised.hand_out(progress.id)
        assert run.release is not None
        assert pseudonyms is not None
        return documents.make_archive(
            run.release,
            f"{view.spec.graph_name}-{run.release.defense}",
            run.provenance,
            formats,
            columns,
            pseudonyms,
        )

    with st.container(border=True):
        st.markdown(
            f"**{title}** is ready: {release.graph.num_edges:,} links, {release.guarantee.label}. "
            f"It is kept for {RETENTION_DAYS} days, or until this audit is deleted."
        )
        if not authorised.person.is_local:
            prepared, signed = map(login.format_person, (progress.prepared_by, progress.signed_by))
            st.caption(f":material/verified: Prepared by {prepared}, signed by {signed}.")
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
        defense = choice.make_defense()
        columns = list_written(progress.spec, release.graph, defense)
        named = [*columns, *list_link_columns(release.graph)]
        told = describe_columns(named, progress.spec.disclosure.generalize)
        middle.caption(
            escape(told, 400), help="Choose other columns on the Data page, and audit them."
        )
        with right:
            is_fixed = _leaves_ids_out(view, choice.id)
            pseudonyms = _choose_pseudonyms(is_fixed, defense.keeps_nodes)
        st.download_button(
            "Download the release",
            record_handout(view, choice.id, hand_out),
            f"release-{release.defense}.zip",
            "application/zip",
            key="publish-download",
            type="primary",
            on_click="ignore",
            disabled=not formats or pseudonyms is None,
            icon=":material/folder_zip:",
        )
        with st.expander("Provenance"):
            st.json(progress.provenance)


def _leaves_ids_out(view: AuditView, release: str) -> bool:
    """Whether the audit counts the ids of a release as left out, so that they must not leave."""
    found = judge_view(view).find(release)
    channels = () if found is None else found.channels
    return any(c.kind == "ids" and c.treatment == "left out" for c in channels)


def _choose_pseudonyms(is_fixed: bool, keeps_nodes: bool) -> bool | KeyedPseudonyms | None:
    """Whether the ids are replaced, or by which pseudonyms; None while these are not complete.

    is_fixed     whether the ids must not leave
    keeps_nodes  whether the release's nodes are the graph's, so that a person can be named again
    """
    why = " The audit counts the ids as left out." if is_fixed else ""
    is_renamed = st.toggle(
        "Replace ids",
        True,
        key=f"publish-pseudonyms-{is_fixed}",
        help=f"Nodes get new numbers in random order. The mapping is not stored.{why}",
        disabled=is_fixed,
    )
    if not is_renamed or not keeps_nodes:
        return bool(is_renamed)
    with st.popover("Same pseudonyms each time", width="stretch"):
        domain = st.text_input(
            "Recipient",
            max_chars=MAX_DOMAIN,
            key="publish-domain",
            help="A person has one pseudonym in all releases for this recipient, and another one "
            "in those for every other recipient.",
        )
        file = st.file_uploader(
            "Secret",
            key="publish-secret",
            help="A file of 64 hexadecimal digits, which the command `publish --pseudonyms "
            "keyed:FILE` makes. It is not stored: keep it apart from releases and backups.",
        )
    if file is None and not domain.strip():
        return True
    try:
        name, content = check_domain(domain), b"" if file is None else file.getvalue()
        return KeyedPseudonyms(parse_secret(content, "secret of the pseudonyms"), name)
    except AuditError as error:
        page.show_error(error)
        return None
