"""What works on graphs like this one: the shipped benchmark's graphs, the most alike first."""

from __future__ import annotations

import streamlit as st

from core.audit.scenarios import THREAT_TITLES
from core.findings.benchmark import (
    describe_threat,
    format_shape,
    load_shipped,
    rank_graphs,
    summarize_threat,
    tabulate_releases,
)
from core.findings.glossary import explain_term
from core.words import begin_sentence
from pages.ui import page
from pages.ui.chart import download_table
from pages.ui.text import escape

CAVEAT = (
    "From a quick benchmark: one repeat, settings lowered to save time. Learned attacks are weaker "
    "than they can be, so that what they reach is a lower bound; an audit of your graph decides."
)


def show_benchmark() -> None:
    """The nearest graphs, what each defense left to attackers there, and what it cost."""
    profile = page.find_profile()
    summary = load_shipped()
    shape = profile.num_nodes, profile.num_edges, profile.average_clustering
    left, right = st.columns(2)
    shapes = {name: format_shape(rows) for name, rows in summary.groupby("graph")}
    graph = left.selectbox(
        "Graph, the most alike first",
        rank_graphs(summary, *shape),
        format_func=lambda name: f"{name}: {shapes[name]}",
        key="benchmark-graph",
        help="By the number of nodes, the links of a node and the clustering.",
    )
    rows = summary[summary.graph == graph]
    threat = right.selectbox(
        "Threat",
        list(dict.fromkeys(rows.threat)),
        format_func=lambda key: begin_sentence(THREAT_TITLES[key]),
        key="benchmark-threat",
    )
    rows = rows[rows.threat == threat]
    fear, choose = (escape(text, 400) for text in summarize_threat(rows))
    st.markdown(f"**Attack to fear.** {fear}\n\n**Defense.** {choose}")
    st.caption(" ".join(escape(text, 400) for text in describe_threat(rows)))
    table = tabulate_releases(rows).drop(columns="release")
    st.dataframe(table, hide_index=True, height=320, key="benchmark-table")
    st.caption(CAVEAT, help=explain_term("Usefulness"))
    download_table(table, "benchmark")
