"""What the map draws, kept for all sessions; nobody changes what these return."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from core.audit.layout import Layout
from core.audit.view import AuditView
from core.figures.people_map import Side
from core.findings.labels import release_title
from core.findings.people_map import (
    MAX_COMMUNITIES,
    Color,
    answer_map,
    compute_communities,
    compute_people,
    compute_places,
    find_changes,
    join_communities,
    list_people,
    match_people,
)
from core.graph import Graph
from core.release import ORIGINAL
from pages.ui import cache, service, session


@st.cache_resource(max_entries=4, show_spinner=False)
def load_layout(graph_hash: str) -> Layout:
    """Places and communities of a graph that was laid out."""
    return service.open_service().layouts.load(graph_hash)


def load_everybody(view: AuditView | None) -> Graph:
    """The stored graph with everybody in it, also those whom an audit left out."""
    return _load_everybody(st.session_state["graph"], None if view is None else view.spec.private)


@st.cache_resource(max_entries=4, show_spinner=False)
def _load_everybody(graph_hash: str, private: str | None) -> Graph:
    graph = cache.load_graph(graph_hash)
    return graph if private is None else graph.with_private(private)


def load_people(view: AuditView | None, release: str) -> pd.DataFrame:
    """A row a person, as they are in a release; without an audit, in the open graph."""
    if view is None:
        return _load_people(st.session_state["graph"])
    return cache.remember(view, _compute_people, release)


@st.cache_resource(max_entries=4, show_spinner=False)
def _load_people(graph_hash: str) -> pd.DataFrame:
    graph = cache.load_graph(graph_hash)
    attribute = next(iter(graph.attributes.values()), None)
    return compute_people(graph, load_layout(graph_hash).communities, attribute=attribute)


def _compute_people(view: AuditView, release: str) -> pd.DataFrame:
    graph = load_everybody(view)
    private = view.spec.private
    attribute = graph.attributes.get(private) if private else None
    if attribute is None:
        attribute = next(iter(graph.attributes.values()), None)
    return compute_people(
        graph,
        load_layout(view.spec.graph_hash).communities,
        view.nodes[view.nodes.release == release],
        attribute,
        None if release == ORIGINAL else cache.load_release(view, release),
    )


def load_answer(view: AuditView | None) -> str:
    """The page's sentence."""
    if view is None:
        return _load_answer(st.session_state["graph"])
    return cache.remember(view, _answer_map)


@st.cache_resource(max_entries=4, show_spinner=False)
def _load_answer(graph_hash: str) -> str:
    return answer_map(_load_people(graph_hash))


def _answer_map(view: AuditView) -> str:
    return answer_map(load_people(view, ORIGINAL))


def load_ranked(view: AuditView | None, by: Color) -> pd.DataFrame:
    """Everybody in the order of an amount."""
    if view is None:
        return _load_ranked(st.session_state["graph"], by)
    return cache.remember(view, _rank_people, by)


@st.cache_resource(max_entries=8, show_spinner=False)
def _load_ranked(graph_hash: str, by: Color) -> pd.DataFrame:
    return list_people(_load_people(graph_hash), by)


def _rank_people(view: AuditView, by: Color) -> pd.DataFrame:
    return list_people(load_people(view, ORIGINAL), by)


def load_side(view: AuditView | None, release: str, only_changes: bool = False) -> Side:
    """One picture of the map."""
    people = load_people(view, release)
    if view is None or release == ORIGINAL:
        return Side(release_title(release), people, session.current_graph().edges)
    edges, lost, gained = cache.remember(view, _compute_edges, release)
    changes = (lost, gained) if only_changes else (None, None)
    return Side(release_title(release), people, edges, *changes)


def _compute_edges(view: AuditView, release: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    graph = load_everybody(view)
    after = match_people(graph, cache.load_release(view, release))
    return (after.edges, *find_changes(graph, after))


def load_communities(graph_hash: str, audit_id: str | None) -> tuple[pd.DataFrame, np.ndarray]:
    """A row a community and where it stands."""
    if audit_id is None:
        return _load_communities(graph_hash)
    return cache.remember(cache.load_view(audit_id), _compute_communities)


@st.cache_resource(max_entries=4, show_spinner=False)
def _load_communities(graph_hash: str) -> tuple[pd.DataFrame, np.ndarray]:
    return _place(graph_hash, _load_people(graph_hash))


def _compute_communities(view: AuditView) -> tuple[pd.DataFrame, np.ndarray]:
    return _place(view.spec.graph_hash, load_people(view, ORIGINAL))


def _place(graph_hash: str, people: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    table = compute_communities(people)
    layout = load_layout(graph_hash)
    return table, compute_places(layout.positions, layout.communities)[table.community - 1]


@st.cache_resource(max_entries=4, show_spinner=False)
def load_community_links(graph_hash: str) -> np.ndarray:
    """Which of the largest communities are joined by many links."""
    communities = load_layout(graph_hash).communities
    return join_communities(cache.load_graph(graph_hash), communities, MAX_COMMUNITIES)
