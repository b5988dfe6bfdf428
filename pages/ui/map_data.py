"""What the map draws, kept for all sessions; nobody changes what these return."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.audit.jobs.layout import Layout
from core.audit.view import AuditView
from core.figures.people_map import Side
from core.findings.labels import release_title
from core.findings.page_summary import PageSummary
from core.findings.people_map import (
    MAX_COMMUNITIES,
    Color,
    compute_communities,
    compute_people,
    compute_places,
    find_changes,
    join_communities,
    list_people,
    match_people,
    summarize_map,
)
from core.graph import Graph
from core.release import ORIGINAL
from pages.ui import cache, service, session


@st.cache_resource(max_entries=4, show_spinner=False)
def load_layout(graph_hash: str) -> Layout:
    """Places and communities of a graph that was laid out."""
    return service.open_service().layouts.load(graph_hash)


def load_everybody(view: AuditView | None) -> Graph:
    """The stored graph with all nodes, also those that an audit left out."""
    graph_hash, private = (
        st.session_state["graph"],
        None if view is None else view.spec.threats.private,
    )

    def load() -> Graph:
        graph = cache.load_graph(graph_hash)
        return graph if private is None else graph.with_private(private)

    return cache.remember(None, load)


@st.cache_resource(max_entries=4, show_spinner=False)
def number_people(graph_hash: str) -> dict[str, int]:
    """Id → number in the stored graph."""
    return {node: number for number, node in enumerate(cache.load_graph(graph_hash).node_ids)}


def load_people(view: AuditView | None, release: str) -> pd.DataFrame:
    """A row a node, as it is in a release; without an audit, in the open graph."""
    graph_hash = st.session_state["graph"]

    def compute() -> pd.DataFrame:
        graph, communities = load_everybody(view), load_layout(graph_hash).communities
        attribute = next(iter(graph.attributes.values()), None)
        if view is None:
            return compute_people(graph, communities, attribute=attribute)
        private = view.spec.threats.private
        attribute = (graph.attributes.get(private) if private else None) or attribute
        released = None if release == ORIGINAL else cache.load_release(view, release)
        nodes = view.nodes[view.nodes.release == release]
        return compute_people(graph, communities, nodes, attribute, released)

    return cache.remember(view, compute)


def load_summary(view: AuditView | None) -> PageSummary:
    """The page's cards and its sentence."""
    graph_hash = st.session_state["graph"]
    return cache.remember(view, lambda: summarize_map(load_people(view, ORIGINAL)), graph_hash)


def load_ranked(view: AuditView | None, by: Color) -> pd.DataFrame:
    """All nodes in the order of an amount."""
    graph_hash = st.session_state["graph"]
    return cache.remember(view, lambda: list_people(load_people(view, ORIGINAL), by), graph_hash)


def load_side(view: AuditView | None, release: str, only_changes: bool = False) -> Side:
    """One picture of the map."""
    people = load_people(view, release)
    if view is None or release == ORIGINAL:
        return Side(release_title(release), people, session.current_graph().edges)
    edges, lost, gained = cache.remember(view, lambda: _compute_edges(view, release))
    changes = (lost, gained) if only_changes else (None, None)
    return Side(release_title(release), people, edges, *changes)


def _compute_edges(view: AuditView, release: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    graph = load_everybody(view)
    after = match_people(graph, cache.load_release(view, release))
    return (after.edges, *find_changes(graph, after))


def load_communities(view: AuditView | None) -> tuple[pd.DataFrame, np.ndarray]:
    """A row a community and where it stands."""
    graph_hash = st.session_state["graph"]

    def place() -> tuple[pd.DataFrame, np.ndarray]:
        table, layout = compute_communities(load_people(view, ORIGINAL)), load_layout(graph_hash)
        return table, compute_places(layout.positions, layout.communities)[table.community - 1]

    return cache.remember(view, place)


@st.cache_resource(max_entries=4, show_spinner=False)
def load_community_links(graph_hash: str) -> np.ndarray:
    """Which of the largest communities are joined by many links."""
    communities = load_layout(graph_hash).communities
    return join_communities(cache.load_graph(graph_hash), communities, MAX_COMMUNITIES)
