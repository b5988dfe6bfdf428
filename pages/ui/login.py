"""Sign-in: access to the pages, the signed-in person, sharing and permissions."""

from __future__ import annotations

import streamlit as st

from core.audit.store.accounts import Person
from core.errors import AuditError
from pages.ui import service, sign_in
from pages.ui.text import escape


def let_in() -> None:
    """Stop the page for people who are not signed in or have no role; no-op for the local user."""
    if not sign_in.has_sign_in():
        return
    if not sign_in.is_signed_in():
        _ask_to_sign_in()
        st.stop()
    person = service.open_service().person
    if person.role == "none":
        _refuse(person)
        st.stop()
    if st.session_state.get("welcomed") != person.subject:
        bare = service.start_service()
        bare.team.welcome(person, sign_in.read_groups(bare.home))
        st.session_state["welcomed"] = person.subject


def show_person() -> None:
    """Name of the signed-in person and the sign-out button; no-op for the local user."""
    if not sign_in.has_sign_in():
        return
    person = service.open_service().person
    if person.is_local:
        return
    with st.container(key="rail-person", gap="xxsmall"):
        st.caption(f"Signed in as **{escape(person.name, 40)}**, {person.role}")
        st.button("Sign out", key="sign-out", icon=":material/logout:", on_click=st.logout)


def format_person(subject: str) -> str:
    """Name of a person as Markdown; "you" for the current user."""
    authorised = service.open_service()
    if subject == authorised.person.subject:
        return "you"
    return escape(authorised.team.find_names().get(subject, "a former user"), 60)


def find_names() -> dict[str, str]:
    """Names by subject; empty for the local user."""
    authorised = service.open_service()
    return {} if authorised.person.is_local else authorised.team.find_names()


def show_sharing(audit_id: str) -> None:
    """Control that shares an audit with other people."""
    authorised = service.open_service()
    if authorised.person.is_local:
        return
    names, granted = find_names(), authorised.team.list_grants(audit_id)
    me = authorised.person.subject
    others = [p.subject for p in authorised.team.list_people() if p.subject != me]
    chosen = st.multiselect(
        "Shared with",
        [*others, *(subject for subject in granted if subject not in others)],
        granted,
        format_func=lambda subject: names.get(subject, "a former user"),
        key=f"share-{audit_id}",
        placeholder="not shared",
        help="They can read the audit and its graph, but not change or publish it.",
    )
    for subject in chosen:
        if subject not in granted:
            authorised.team.share_audit(audit_id, subject)
    for subject in granted:
        if subject not in chosen:
            authorised.team.unshare_audit(audit_id, subject)


def check_change(audit_id: str, owner: str, what: str) -> bool:
    """Whether the current user may change an audit; otherwise note who can."""
    if service.open_service().may_change(audit_id):
        return True
    st.caption(
        f":material/lock: This audit was started by {format_person(owner)}. Only its owner "
        f"or an administrator can {what}."
    )
    return False


def _ask_to_sign_in() -> None:
    st.title("Graph privacy audit", anchor=False)
    st.markdown("Sign in to audit graphs of people and to see your audits.")
    st.button("Sign in", key="sign-in", type="primary", icon=":material/login:", on_click=st.login)


def _refuse(person: Person) -> None:
    st.title("Graph privacy audit", anchor=False)
    try:
        from core.audit.store.roles import load_roles

        load_roles(service.start_service().home)
    except AuditError as error:
        st.error(escape(error, 300), icon=":material/error:")
    st.warning(
        "You are signed in but have no role. Ask an administrator for one and send them this line:",
        icon=":material/lock:",
    )
    st.code(person.subject or "no subject", language=None)
    st.button("Sign out", key="sign-out", icon=":material/logout:", on_click=st.logout)
