"""Card of one node beside the map, and the table of selected nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.audit.results.view import AuditView
from core.findings import node_card
from core.findings.node_reasons import explain_node
from core.findings.people_map import Color, has_intervals, list_people
from core.words import count_noun
from pages.ui import cache, page, session
from pages.ui.chart import download_table
from pages.ui.map_data import load_ranked
from pages.ui.text import escape

MAX_ROWS = 500
WIDE = ("Advantage", "Risk", "Class", "Attack")
"""Columns for which the table has no room beside the card."""


def show_person(view: AuditView | None, people: pd.DataFrame, node: str) -> None:
    """Card of a node: facts, risk on every release and reasons."""
    number = cache.load_graph(st.session_state["graph"]).index.get(node)
    with st.container(border=True, key="map-person"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.header(f"Node {escape(node)}", anchor=False)
            st.button(
                "Close", key="map-close", type="tertiary", icon=":material/close:", on_click=_close
            )
        if number is None:
            st.warning("This graph has no node with this id.")
            return
        row = people.iloc[number]
        facts = [count_noun(int(row.links), "link"), f"community {row.community}"]
        if row["class"]:
            facts.insert(1, f"class {escape(row['class'], 40)}")
        st.caption(", ".join(facts) + ".")
        if view is None or view.nodes.is_empty:
            st.caption("Run an audit to measure the exposure of this node.")
            return
        st.markdown(node_card.describe_node_risk(view.nodes, node))
        audited = cache.load_audit_graph(view).index.get(node)
        reasons = [] if audited is None else explain_node(view, node)
        if reasons:
            st.markdown("\n".join(f"- {reason}" for reason in reasons))
        st.page_link(
            page.PAGES / "risk.py",
            label="All details on the Risk page",
            icon=":material/person_search:",
        )


def show_table(
    view: AuditView | None,
    people: pd.DataFrame,
    by: Color,
    shown: np.ndarray | None = None,
    is_narrow: bool = False,
) -> None:
    """Table of the nodes in the selection, or of all nodes, the most surely exposed first.

    shown      (n,) bool of the nodes on the map; None: all
    is_narrow  beside an opened node, whose card has the rest: the first columns alone
    """
    chosen = read_chosen("people")
    communities = read_chosen("communities")
    what = "selected"
    if communities:
        ranked = list_people(people[people.community.isin(communities)], by)
    elif chosen:
        ranked = list_people(people.iloc[chosen], by)
    elif shown is not None:
        ranked, what = list_people(people[shown], by), "shown"
    else:
        ranked, what = load_ranked(view, by), "in total"
    st.markdown(f"**{count_noun(len(ranked), 'node')} {what}**")
    top = _describe(ranked.head(MAX_ROWS), view is not None and not view.nodes.is_empty)
    event = st.dataframe(
        top,
        hide_index=True,
        height=320,
        alt="Nodes on the map, with their risk",
        key=f"map-table-{by}-{len(ranked)}",
        on_select=lambda: None,
        selection_mode="single-row",
        column_order=[name for name in top if not (is_narrow and name in WIDE)],
        column_config={
            "Node": st.column_config.TextColumn(width=90),
            "At least": st.column_config.NumberColumn(
                format="%.2f",
                width=65,
                help="Lower end of the 95 % interval of the advantage. None after one split.",
            ),
            "Advantage": st.column_config.NumberColumn(format="%.2f", width=75),
            "Risk": st.column_config.NumberColumn(format="%.2f", width=50),
        },
    )
    _open_row(event.selection.rows, top)
    with st.container(horizontal=True, wrap=False):
        rows = f"The first {MAX_ROWS:,} rows. " if len(ranked) > len(top) else ""
        st.caption(f"{rows}Select a row to open the node.", width="stretch")
        download_table(ranked.drop(columns="number"), "map")


def choose(kind: str, numbers: list[int]) -> None:
    """Store a selection on the map: node numbers or communities."""
    st.session_state[f"map-{kind}"] = (st.session_state["graph"], numbers)


def read_chosen(kind: str) -> list[int]:
    """Selection on the map of the open graph."""
    graph_hash, numbers = st.session_state.get(f"map-{kind}", ("", []))
    return numbers if graph_hash == st.session_state["graph"] else []


def _open_row(rows: list[int], table: pd.DataFrame) -> None:
    """Open the node of a newly selected row."""
    chosen = table.Node.iloc[rows[0]] if rows and rows[0] < len(table) else None
    if chosen != st.session_state.get("map-row"):
        st.session_state["map-row"] = chosen
        if chosen is not None:
            session.open_node(chosen)
            st.session_state["map-focus"] = chosen
            st.rerun()


def _close() -> None:
    session.open_node(None)
    st.session_state.pop("map-focus", None)


def _describe(people: pd.DataFrame, has_risk: bool) -> pd.DataFrame:
    columns = {"Node": people.node}
    if has_risk:
        least = {"At least": people.sure} if has_intervals(people) else {}
        columns |= {**least, "Advantage": people.advantage, "Risk": people.risk}
    columns |= {"Links": people.links, "Community": people.community}
    if (people["class"] != "").any():
        columns["Class"] = people["class"]
    if has_risk:
        columns["Attack"] = ["" if attack is None else attack.title for attack in people.attack]
    return pd.DataFrame(columns)
