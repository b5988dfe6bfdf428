"""Results of the shipped benchmark on the graphs most similar to the open one."""

from __future__ import annotations

import streamlit as st

from core.audit.asked.scenarios import THREAT_TITLES
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
    "From a quick benchmark with one repeat and reduced settings. Learned attacks can be "
    "stronger, so their figures are a lower bound. Audit your own graph before you decide."
)


def show_benchmark() -> None:
    """Choice of a similar graph, and risk and cost of each defense on it."""
    profile = page.find_profile()
    if profile.counts is None:
        st.caption("Similar graphs are found by clustering, which links in partitions lack.")
        return
    summary = load_shipped()
    shape = profile.num_nodes, profile.num_edges, profile.counts.average_clustering
    left, right = st.columns(2)
    shapes = {name: format_shape(rows) for name, rows in summary.groupby("graph")}
    graph = left.selectbox(
        "Graph (most similar first)",
        rank_graphs(summary, *shape),
        format_func=lambda name: f"{name}: {shapes[name]}",
        key="benchmark-graph",
        help="Similar in number of nodes, mean degree and clustering.",
    )
    rows = summary[summary.graph == graph]
    threat = right.selectbox(
        "Threat",
        list(dict.fromkeys(rows.threat)),
        format_func=lambda key: begin_sentence(THREAT_TITLES[key]),
        key="benchmark-threat",
    )
    rows = rows[rows.threat == threat]
    attack, defense = (escape(text, 400) for text in summarize_threat(rows))
    st.markdown(f"**Strongest attack.** {attack}\n\n**Defense.** {defense}")
    st.caption(" ".join(escape(text, 400) for text in describe_threat(rows)))
    table = tabulate_releases(rows).drop(columns="release")
    st.dataframe(table, hide_index=True, height=320, key="benchmark-table")
    st.caption(CAVEAT, help=explain_term("Usefulness"))
    download_table(table, "benchmark")
