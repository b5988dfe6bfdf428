"""Cached data of the map, shared by all sessions. Treat what is returned as read-only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.audit.asked.release_info import ReleaseInfo
from core.audit.results.view import AuditView, Layout
from core.figures.node_map import Side
from core.findings.link_changes import Grouping, count_link_changes, format_communities
from core.findings.page_summary import PageSummary
from core.findings.people import Secret, list_secrets
from core.findings.people_map import (
    MAX_COMMUNITIES,
    Color,
    Label,
    compute_communities,
    compute_people,
    compute_places,
    find_changes,
    join_communities,
    label_communities,
    list_people,
    match_people,
    number_gathering,
    summarize_map,
)
from core.graph import Graph
from core.node_column import NodeColumn
from core.release import ORIGINAL
from pages.ui import cache, service, session


@st.cache_resource(max_entries=4, show_spinner=False)
def load_layout(graph_hash: str) -> Layout:
    """Stored positions and communities of a graph."""
    return service.open_service().layouts.load(graph_hash)


def load_everybody(view: AuditView | None) -> Graph:
    """The stored graph with all nodes, including those left out of the audit."""
    return cache.load_chosen(st.session_state["graph"], (find_private(view),))


def find_private(view: AuditView | None) -> str | None:
    """The private column of the audit, or the chosen one if there is no audit."""
    return (session.current_threats() if view is None else view.spec).threats.private


def _find_attribute(view: AuditView | None) -> NodeColumn | None:
    """The column whose classes are shown: the private one, else the first."""
    graph, private = load_everybody(view), find_private(view)
    return next(iter(graph.attributes.values()), None) if private is None else graph.column(private)


def list_map_secrets(view: AuditView | None) -> dict[str, Secret]:
    """Key → secret, where an audit has several to choose from."""
    secrets = [] if view is None else cache.remember(view, lambda: list_secrets(view.nodes))
    return {secret.key: secret for secret in secrets} if len(secrets) > 1 else {}


def find_secret(view: AuditView | None) -> Secret | None:
    """The secret that is shown; None: the worst of each node."""
    return list_map_secrets(view).get(st.session_state.get("map-secret", ""))


def load_people(view: AuditView | None, release: str) -> pd.DataFrame:
    """One row per node of a release, or of the open graph if there is no audit."""
    graph_hash, secret = st.session_state["graph"], find_secret(view)

    def compute() -> pd.DataFrame:
        graph, communities = load_everybody(view), load_layout(graph_hash).communities
        attribute = _find_attribute(view)
        if view is None:
            return compute_people(graph, communities, attribute=attribute)
        released = None if release == ORIGINAL else cache.load_release(view, release)
        return compute_people(graph, communities, view.nodes, attribute, released, release, secret)

    return cache.remember(view, compute)


def load_summary(view: AuditView | None) -> PageSummary:
    """Headline cards and sentence of the page."""
    noun = session.find_noun() if view is None else view.spec.nodes
    return cache.remember(
        view,
        lambda _graph, secret: summarize_map(load_people(view, ORIGINAL), noun, secret),
        *(st.session_state["graph"], find_secret(view)),
    )


def load_labels(view: AuditView | None, release: str = ORIGINAL) -> list[Label]:
    """Communities named on the picture of a release, with the one that the summary names."""

    def label(_graph: str, _secret: Secret | None) -> list[Label]:
        gathering = number_gathering(load_people(view, ORIGINAL))
        return label_communities(compute_communities(load_people(view, release)), gathering)

    return cache.remember(view, label, st.session_state["graph"], find_secret(view))


def load_ranked(view: AuditView | None, by: Color) -> pd.DataFrame:
    """All nodes, sorted by the quantity that colours the map."""
    key = st.session_state["graph"], find_secret(view)
    return cache.remember(view, lambda *_key: list_people(load_people(view, ORIGINAL), by), *key)


def load_side(view: AuditView | None, release: str, only_changes: bool = False) -> Side:
    """One panel of the map: a release, or the original."""
    people, attribute = load_people(view, release), _find_attribute(view)
    names: dict[str, Any] = {"labels": load_labels(view, release)}
    names["classes"] = () if attribute is None else attribute.classes
    if view is None or release == ORIGINAL:
        return Side(ReleaseInfo(ORIGINAL).title, people, session.current_graph().edges, **names)
    edges, lost, gained = cache.remember(view, lambda: _compute_edges(view, release))
    title = view.get_release(release).title
    return Side(title, people, edges, *((lost, gained) if only_changes else ()), **names)


def _compute_edges(view: AuditView, release: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    graph = load_everybody(view)
    after = match_people(graph, cache.load_release(view, release))
    return (after.edges, *find_changes(graph, after))


def load_communities(view: AuditView | None) -> tuple[pd.DataFrame, np.ndarray]:
    """One row per community, and their positions."""
    graph_hash = st.session_state["graph"]

    def place(_secret: Secret | None) -> tuple[pd.DataFrame, np.ndarray]:
        table, layout = compute_communities(load_people(view, ORIGINAL)), load_layout(graph_hash)
        return table, compute_places(layout.positions, layout.communities)[table.community - 1]

    return cache.remember(view, place, find_secret(view))


def list_groupings(view: AuditView) -> tuple[Grouping, ...]:
    """What groups the nodes: the private column, and communities where they are known."""
    found: list[Grouping] = ["class"] if view.spec.threats.private else []
    if view.load_communities() is not None:
        found.append("community")
    return tuple(found)


def count_changes(
    view: AuditView, release: str, groupings: Iterable[Grouping]
) -> dict[Grouping, pd.DataFrame]:
    """`count_link_changes` of a release by each of `list_groupings`."""
    graph = cache.load_audit_graph(view)
    before, after = (cache.load_release(view, each) for each in (ORIGINAL, release))
    tables = {}
    for by in groupings:
        communities = view.load_communities() if by == "community" else None
        if communities is not None:
            codes, names = communities, format_communities(communities)
        else:
            attribute = graph.column(str(view.spec.threats.private))
            codes, names = attribute.codes, attribute.classes
        tables[by] = count_link_changes(before, after, codes, names)
    return tables


@st.cache_resource(max_entries=4, show_spinner=False)
def load_community_links(graph_hash: str) -> np.ndarray:
    """Links between the largest communities."""
    communities = load_layout(graph_hash).communities
    return join_communities(cache.load_graph(graph_hash), communities, MAX_COMMUNITIES)
