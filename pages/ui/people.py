"""The people of one secret: a table, the most exposed first, and the way to a person's panel."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.audit.view import AuditView
from core.findings.labels import method_title, short_titles
from core.findings.node_reasons import explain_people
from core.findings.palette import RISK_SCALE
from core.findings.people import (
    TIES,
    Secret,
    compare_people,
    describe_prior,
    find_worst_secret,
    list_secrets,
    rank_people,
    select_secret,
)
from pages.ui import cache, page, session
from pages.ui.text import escape

MAX_ROWS = 1_000
TABLE_HEIGHT = 390
KEY = "people"


def choose_secret(view: AuditView) -> Secret | None:
    """Which secret the page is about, at first the one that most people lose; kept in the
    address. None where no attack has an answer."""
    secret = current_secret(view)
    if secret is None:
        return None
    secrets = {known.key: known for known in list_secrets(view.nodes)}
    st.session_state["risk-threat"] = secret.key
    if len(secrets) > 1:
        names = {key: escape(s.name(view.spec.private)) for key, s in secrets.items()}
        st.segmented_control(
            "What the attacker is after",
            list(secrets),
            format_func=names.__getitem__,
            key="risk-threat",
            required=True,
            persist_state="session",
            on_change=session.write_threat,
        )
    return secret


def current_secret(view: AuditView) -> Secret | None:
    """The secret that the Risk page is about now."""
    secrets = {secret.key: secret for secret in list_secrets(view.nodes)}
    chosen = secrets.get(st.session_state.get("risk-threat", ""))
    return chosen or cache.remember(view, _find_worst) or next(iter(secrets.values()), None)


def list_people(view: AuditView, secret: Secret, release: str) -> pd.DataFrame:
    """`rank_people`, once for each state of the audit."""
    return cache.remember(view, _rank, secret, release)


def show_people(view: AuditView, secret: Secret, releases: list[str]) -> None:
    """The table; a chosen row opens the person. Not a cell: the Tab key would choose those too."""
    first, others = releases[0], tuple(releases[1:])
    people = list_people(view, secret, first)
    if people.empty:
        st.caption("Nobody's secret of this kind is at stake on this release.")
        return
    shown = cache.remember(view, _tabulate, secret, first, others, MAX_ROWS)
    if st.button(
        "Look at them one by one",
        key="first-person",
        icon=":material/person_search:",
        help="Opens the most exposed person; next and previous lead on.",
    ):
        session.open_node(str(people.node.iloc[0]))
    gain = st.column_config.ProgressColumn(
        "Advantage",
        format="%.2f",
        min_value=0.0,
        max_value=1.0,
        color=RISK_SCALE[4],
        help="What the attack adds to the base rate: the table's order.",
    )
    number = st.column_config.NumberColumn(format="%.2f")
    narrow = st.column_config.NumberColumn(format="%.2f", width=48)
    st.dataframe(
        shown,
        hide_index=True,
        height=min(TABLE_HEIGHT, 36 * (len(shown) + 1)),
        key=KEY,
        on_select=lambda: _open_selected(shown["Person"].tolist()),
        selection_mode="single-row",
        placeholder="–",
        alt=f"People by what attacks on {secret.name(view.spec.private)} add to the base rate",
        column_config={
            "Rank": st.column_config.NumberColumn(width=55),
            "Person": st.column_config.TextColumn(width=90),
            "Advantage": gain,
            "Risk": narrow,
            "Base rate": number,
            **{
                column: st.column_config.NumberColumn(
                    format="%.2f", width=140, help=f"Advantage o{column[1:]}."
                )
                for column in shown
                if column.startswith("On ")
            },
            "Why": st.column_config.TextColumn(width=310),
            "Low": narrow,
            "High": narrow,
        },
    )
    notes = [describe_prior(people, secret), TIES]
    if len(people) > MAX_ROWS:
        notes.insert(0, f"The first {MAX_ROWS:,} of {len(people):,} people; the file has all.")
    notes.append("Choose a row to open the person.")
    with st.container(horizontal=True, wrap=False):
        st.caption(" ".join(escape(note, 400) for note in notes), width="stretch")
        page.download_table(
            lambda: _tabulate(view, secret, first, others, len(people)), f"people-{secret.threat}"
        )


def _open_selected(names: list[str]) -> None:
    rows = st.session_state[KEY].selection.rows
    if rows:
        session.open_node(names[rows[0]])


def _find_worst(view: AuditView) -> Secret | None:
    return find_worst_secret(view.nodes)


def _rank(view: AuditView, secret: Secret, release: str) -> pd.DataFrame:
    return rank_people(view.nodes, secret, release)


def _tabulate(
    view: AuditView, secret: Secret, release: str, others: tuple[str, ...], most: int
) -> pd.DataFrame:
    """The first `most` people, with what gives them away."""
    people = list_people(view, secret, release).head(most)
    table = pd.DataFrame(
        {
            "Rank": people["rank"],
            "Person": people.node.astype(str),
            "Advantage": people.advantage,
            "Why": explain_people(view, people, secret, release),
            "Risk": people.risk,
            "Base rate": people.base,
        }
    )
    names = short_titles((release, *others))
    for other in others:
        gains = compare_people(view.nodes, secret, other)
        gain = people.node.map(gains).round(2) + 0.0  # no "-0.00"
        table[f"On {names[other]}"] = gain
    table["Low"], table["High"] = people.low, people.high
    table["Attack"] = people.attack.map(method_title)
    return table


def select_nodes(view: AuditView, secret: Secret) -> pd.DataFrame:
    """The rows of `view.nodes` on one secret, once for each state of the audit."""
    return cache.remember(view, _select, secret)


def _select(view: AuditView, secret: Secret) -> pd.DataFrame:
    return select_secret(view.nodes, secret)
