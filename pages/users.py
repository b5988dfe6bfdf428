"""Users page: people, their tokens and the audit trail."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd
import streamlit as st

from core.audit.store.team import DAYS, MAX_DAYS, Token
from core.errors import AuditError
from core.words import count_noun
from pages.ui import page, service
from pages.ui.chart import download_table
from pages.ui.text import escape

RIGHTS = {
    "analyst": "You audit graphs, share your audits and prepare releases.",
    "approver": "You audit graphs, and sign the releases that others prepared.",
    "administrator": "You see and manage all audits, all tokens and the audit trail.",
}
NEWEST = 500


def main() -> None:
    page.open_page("Users", "People, command-line tokens and the audit trail.", needs_graph=False)
    authorised = service.open_service()
    person, people = authorised.person, authorised.team.list_people()
    page.show_answer(
        f"You are {escape(person.name)}, {person.role}. {RIGHTS.get(person.role, '')} "
        f"{count_noun(len(people), 'person has', 'people have')} signed in here."
    )
    table = [{"name": p.name, "e-mail": p.email, "role": p.role} for p in people]
    st.dataframe(pd.DataFrame(table), hide_index=True, key="people")
    _show_tokens()
    if person.has("administrator"):
        _show_trail()


def _show_tokens() -> None:
    st.header("Tokens for the command line", anchor=False)
    st.caption("Commands with your token in AUDIT_TOKEN act as you until it expires or is revoked.")
    authorised = service.open_service()
    subject = authorised.person.subject
    with st.form("token", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.text_input("Purpose", max_chars=100, key="token-label")
        days = st.number_input("Days", 1, MAX_DAYS, DAYS, key="token-days", width=140)
        if st.form_submit_button("Create a token", icon=":material/key:"):
            text = authorised.team.make_token(label, int(days), subject)
            st.session_state["token-made"] = text
    if "token-made" in st.session_state:
        st.caption("Copy the token now. It is shown only once:")
        st.code(st.session_state.pop("token-made"), language=None)
    for token in authorised.team.list_tokens(subject):
        if token.is_valid:
            _show_token(token)


def _show_token(token: Token) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        used = f"last used {token.used[:16]}" if token.used else "never used"
        label = escape(token.label or "unnamed")
        st.markdown(f"**{label}** {token.id}, expires {token.expires[:10]}, {used}")
        if st.button("Revoke", key=f"revoke-{token.id}", icon=":material/block:"):
            try:
                service.open_service().team.revoke_token(token.id)
            except AuditError as error:
                page.show_error(error)
                return
            st.rerun()


def _show_trail() -> None:
    st.header("Audit trail", anchor=False)
    entries = service.open_service().team.list_trail(NEWEST)
    table = pd.DataFrame([asdict(entry) for entry in entries])
    st.dataframe(table, hide_index=True, key="trail")
    download_table(table, "trail")
    st.caption(f"The latest {NEWEST} entries. `python -m core trail --json` prints all.")


main()
