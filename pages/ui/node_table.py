"""Choice of the secret, table of nodes ranked by exposure, and search by id."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from core.audit.asked.release_info import list_names
from core.audit.results.node_risks import NodeRisks
from core.audit.results.view import AuditView
from core.findings.glossary import explain_term
from core.findings.node_card import find_node
from core.findings.node_reasons import explain_people
from core.findings.palette import RISK_SCALE
from core.findings.people import (
    Secret,
    compare_people,
    describe_order,
    describe_prior,
    find_worst_secret,
    list_secrets,
    order_people,
    rank_people,
)
from core.graph import Graph
from core.words import cut_text
from pages.ui import cache, session
from pages.ui.chart import download_table
from pages.ui.text import escape

MAX_ROWS, MAX_MATCHES = 1_000, 8
TABLE_HEIGHT, MAX_WHOLE = 390, 10
"""Pixels, and the number of rows that need no more."""
WIDTHS = {"Node": 82, "Low": 78, "Advantage": 75, "On": 101, "Why": 290}
"""Pixels of the columns: 677 with the boxes and one other release, what a page of 1024 has."""
HEAD_LETTERS = 15
"""Of another release's name above its column; the whole one is its tooltip."""
KEY = "people"


def choose_secret(view: AuditView) -> Secret | None:
    """Ask for the secret; by default the one that exposes most nodes.

    Kept in the address. None if no attack has results.
    """
    secret = current_secret(view)
    if secret is None:
        return None
    secrets = {known.key: known for known in list_secrets(view.nodes)}
    st.session_state["risk-threat"] = secret.key
    if len(secrets) > 1:
        names = {key: escape(s.name(view.spec.threats.private)) for key, s in secrets.items()}
        st.segmented_control(
            "Secret",
            list(secrets),
            format_func=names.__getitem__,
            key="risk-threat",
            required=True,
            persist_state="session",
            on_change=session.write_threat,
        )
    return secret


def current_secret(view: AuditView) -> Secret | None:
    """The secret shown on the Risk page."""
    secrets = {s.key: s for s in cache.remember(view, lambda: list_secrets(view.nodes))}
    chosen = secrets.get(st.session_state.get("risk-threat", ""))
    worst = cache.remember(view, lambda: find_worst_secret(view.nodes))
    return chosen or worst or next(iter(secrets.values()), None)


def list_ranked(view: AuditView, secret: Secret, release: str) -> np.ndarray:
    """(k,) positions of the nodes at stake in the order of `rank_people`."""
    found = view.nodes.find_headline(release, secret)
    order = order_people(view.nodes, secret, release)
    return order if found is None else found.nodes[order]


def select_nodes(view: AuditView, secret: Secret) -> NodeRisks:
    """Risks of one secret, cached for each state of the audit."""
    return cache.remember(view, lambda: view.nodes.select(secret=secret))


def show_nodes(view: AuditView, secret: Secret, releases: list[str]) -> None:
    """Table of nodes; selecting a row opens the node."""
    first, others = releases[0], tuple(releases[1:])
    found, most = view.nodes.find_headline(first, secret), MAX_ROWS
    if found is None:
        st.caption("No node has a secret of this type at stake on this release.")
        return
    shown = cache.remember(view, lambda: _tabulate(view, secret, first, others, most))
    if st.button(
        "Browse nodes one by one",
        key="first-person",
        icon=":material/person_search:",
        help="Opens the most surely exposed node. Use Next and Previous to continue.",
    ):
        session.open_node(str(shown.Node.iloc[0]))
        st.rerun()
    on_others = [column for column in shown if column.startswith("On ")]
    sure = shown.Low.dropna()
    st.dataframe(
        shown,
        hide_index=True,
        height=TABLE_HEIGHT if len(shown) > MAX_WHOLE else "content",
        key=KEY,
        on_select=lambda: _open_selected(shown["Node"].tolist()),
        selection_mode="single-row",
        placeholder="–",
        alt="Nodes by advantage over the base rate: " + secret.name(view.spec.threats.private),
        # The file has all columns, the node's panel all figures.
        column_order=["Node", *([] if sure.empty else ["Low"]), "Advantage", *on_others, "Why"],
        column_config={
            "Node": st.column_config.TextColumn(width=WIDTHS["Node"]),
            "Low": st.column_config.ProgressColumn(
                "At least",
                format="%.2f",
                min_value=0.0,
                max_value=max(0.02, float(sure.max())) if len(sure) else 1.0,
                color=RISK_SCALE[4],
                width=WIDTHS["Low"],
                help="Lower end of the 95 % interval of the advantage. None after one split.",
            ),
            "Advantage": st.column_config.NumberColumn(
                format="%.2f", width=WIDTHS["Advantage"], help=explain_term("Advantage")
            ),
            **{
                column: st.column_config.NumberColumn(
                    cut_text(column.removeprefix("On "), HEAD_LETTERS),
                    format="%.2f",
                    width=WIDTHS["On"],
                    help=f"Advantage o{column[1:]}.",
                )
                for column in on_others
            },
            "Why": st.column_config.TextColumn(width=WIDTHS["Why"]),
        },
    )
    notes = [describe_prior(found.base, secret), describe_order(found.sure)]
    if len(found) > MAX_ROWS:
        notes.insert(0, f"The first {MAX_ROWS:,} of {len(found):,} nodes. The CSV file has all.")
    notes.append("Select a row to open the node.")
    with st.container(horizontal=True, wrap=False):
        st.caption(" ".join(escape(note, 400) for note in notes), width="stretch")
        download_table(
            lambda: _tabulate(view, secret, first, others, len(found)), f"nodes-{secret.threat}"
        )


def _open_selected(names: list[str]) -> None:
    rows = st.session_state[KEY].selection.rows
    if rows:
        session.open_node(names[rows[0]])


def _tabulate(
    view: AuditView, secret: Secret, release: str, others: tuple[str, ...], most: int
) -> pd.DataFrame:
    """Table of the first `most` nodes, with the reasons for their exposure."""
    nodes = rank_people(view.nodes, secret, release, most)
    table = pd.DataFrame(
        {
            "Rank": nodes["rank"],
            "Node": nodes.node,
            "Advantage": nodes.advantage,
            "Why": explain_people(view, nodes, secret, release),
            "Risk": nodes.risk,
            "Base rate": nodes.base,
        }
    )
    names = list_names(map(view.get_release, (release, *others)))
    for other in others:
        gains = compare_people(view.nodes, secret, other, nodes.number.to_numpy())
        table[f"On {names[other]}"] = gains.round(2) + 0.0  # no "-0.00"
    table["Low"], table["High"] = nodes.low, nodes.high
    table["Attack"] = [attack.title for attack in nodes.attack]
    return table


def show_search(
    key: str, load: Callable[[], Graph], open_node: Callable[[str], None] = session.open_node
) -> None:
    """Search a graph by id or part of an id; several matches are offered as pills.

    load       returns the graph
    open_node  called with the id that was found or chosen
    """
    st.text_input(
        "Find a node",
        key=key,
        placeholder="id or part of it",
        on_change=_search,
        args=(key, load, open_node),
    )
    matches = st.session_state.get(f"{key}-matches", [])
    if st.session_state.get(key) and not matches:
        st.caption("No node has a matching id.")
    elif len(matches) > 1:
        st.pills(
            "Found",
            matches,
            key=f"{key}-found",
            on_change=_open_found,
            args=(key, open_node),
            format_func=escape,
            label_visibility="collapsed",
        )


def _search(key: str, load: Callable[[], Graph], open_node: Callable[[str], None]) -> None:
    text = st.session_state[key]
    matches = find_node(load(), text, MAX_MATCHES)
    st.session_state[f"{key}-matches"] = matches
    if matches and (len(matches) == 1 or matches[0] == text.strip()):
        open_node(matches[0])


def _open_found(key: str, open_node: Callable[[str], None]) -> None:
    node = st.session_state[f"{key}-found"]
    if node is not None:
        open_node(node)
