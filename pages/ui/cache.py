"""Graphs, audits and tables, cached for all sessions. Treat the returned objects as read-only."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

import pandas as pd
import streamlit as st

from core.audit.asked.spec import AuditSpec
from core.audit.computing import prepared
from core.audit.results.view import AuditView
from core.data import external_release, profile
from core.data.loaded import LoadReport
from core.data.profile import GraphProfile
from core.findings.columns import list_telling_columns
from core.findings.leaving import compute_leaving, tabulate_columns, tabulate_uniqueness
from core.findings.people import Secret
from core.graph import Graph
from pages.ui import drawing, service

T = TypeVar("T")
HASH_SPEC: dict[str | type[Any], Callable[[Any], Any]] = {AuditSpec: AuditSpec.model_dump_json}


def load_graph(graph_hash: str) -> Graph:
    return service.open_service().load_graph(graph_hash)


@st.cache_resource(max_entries=4, show_spinner=False)
def load_chosen(graph_hash: str, columns: tuple[str | None, ...]) -> Graph:
    """A stored graph with the chosen columns as attributes."""
    return load_graph(graph_hash).with_private(*columns)


def load_view(audit_id: str) -> AuditView:
    """State of an audit as the page was begun; the service rebuilds it only when a cell has
    finished."""
    return drawing.read_once(("view", audit_id), lambda: service.open_service().get_view(audit_id))


def forget_view(audit_id: str) -> None:
    """Read the state of an audit again, though the page was begun with another."""
    drawing.forget(("view", audit_id))


def load_audit_graph(view: AuditView) -> Graph:
    """The audited graph, without left-out nodes; private and utility columns are attributes."""
    spec = view.spec
    columns = (spec.threats.private, *spec.threats.more_private, spec.disclosure.utility)
    return _load_audit_graph(spec.graph_hash, spec.disclosure.leave_out, columns, view)


@st.cache_resource(max_entries=4, show_spinner=False)
def _load_audit_graph(
    graph_hash: str, leave_out: tuple[str, ...], columns: tuple[str | None, ...], _view: AuditView
) -> Graph:
    return _view.load_graph().with_private(*columns)


def load_release(view: AuditView, release: str) -> Graph:
    """Graph released in the first repeat, without the links withheld for tests."""
    return _load_release(view.summary.id, release, view)


@st.cache_resource(max_entries=8, show_spinner=False)
def _load_release(audit_id: str, release: str, _view: AuditView) -> Graph:
    return _view.load_release(release, 0)


@st.cache_resource(max_entries=16, show_spinner=False)
def compute_profile(
    graph_hash: str,
    columns: tuple[str | None, ...],
    private: str | None,
    utility: str | None,
    _report: LoadReport | None,
) -> GraphProfile:
    graph = load_chosen(graph_hash, columns)
    more = [column for column in columns if column not in (private, utility)]
    return profile.compute_profile(graph, _report, private, utility, more)


@st.cache_resource(max_entries=16, show_spinner=False)
def find_gaps(graph_hash: str, other: str, columns: tuple[str, ...]) -> dict[str, str]:
    """Reason the shadow graph cannot be used for each private column, or "" if it can.

    Raises InputError if no column can be used.
    """
    return prepared.find_gaps(columns, load_graph(graph_hash), load_graph(other))


@st.cache_resource(max_entries=4, show_spinner=False)
def find_withheld(graph_hash: str, release: str) -> list[tuple[str, str]]:
    """Links of a stored graph that are missing from a stored release, as pairs of ids."""
    return external_release.find_withheld(load_graph(graph_hash), load_graph(release))


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_SPEC)
def preview_leaving(spec: AuditSpec) -> tuple[Graph, Graph]:
    """Graph before and after the choice of columns; raises InputError."""
    return compute_leaving(spec, load_graph(spec.graph_hash))


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_SPEC)
def tabulate_leaving(spec: AuditSpec) -> pd.DataFrame:
    return tabulate_columns(*preview_leaving(spec))


@st.cache_resource(max_entries=8, show_spinner="Counting unique people", hash_funcs=HASH_SPEC)
def tabulate_alone(spec: AuditSpec, names: tuple[str, ...]) -> pd.DataFrame:
    return tabulate_uniqueness(preview_leaving(spec)[1], names)


@st.cache_resource(max_entries=16, show_spinner=False)
def load_warnings(audit_id: str, _view: AuditView) -> list[str]:
    """Warnings on released columns that predict a private column."""
    return list_telling_columns(_view)


def describe_state(view: AuditView) -> tuple[object, ...]:
    """Cache key that changes with whatever rebuilds the view: results, retried failures included,
    claim checks that ended, releases in the ledger and decisions."""
    summary = view.summary
    claims = tuple((run.id, str(run.state)) for run in view.claims)
    counts = summary.cells_done, summary.cells_failed, view.ledger, len(view.decisions)
    return summary.id, str(summary.state), claims, *counts


def number_risks(view: AuditView, release: str, secret: Secret) -> dict[int, float]:
    """Node number → risk under the headline attacker on a release, against one secret."""

    def number() -> dict[int, float]:
        found = view.nodes.find_headline(release, secret)
        if found is None:
            return {}
        return dict(zip(found.nodes.tolist(), found.risk.tolist(), strict=True))

    return remember(view, number)


def remember(view: AuditView | None, make: Callable[..., T], *arguments: object) -> T:
    """Return `make(*arguments)`, cached for each state of the audit.

    make       a lambda or inner function; apart from the view, its closure holds hashable values
    arguments  hashable; part of the key, with the closure and the position of `make` in the code
    """
    function = cast(FunctionType, make)
    code, cells = function.__code__, function.__closure__ or ()
    used = dict(zip(code.co_freevars, (cell.cell_contents for cell in cells), strict=True))
    key = tuple((k, value) for k, value in used.items() if not isinstance(value, AuditView))
    place = f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}"
    state = () if view is None else describe_state(view)
    return _remember(place, state, key, arguments, make)


@st.cache_resource(max_entries=256, show_spinner=False)
def _remember(
    place: str,
    state: tuple[object, ...],
    key: tuple[object, ...],
    arguments: tuple[object, ...],
    _make: Callable[..., T],
) -> T:
    return _make(*arguments)
