"""What pages read again and again, kept for all sessions. Nobody changes what these return."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

import pandas as pd
import streamlit as st

from core.audit import prepared
from core.audit.spec import AuditSpec
from core.audit.view import AuditView
from core.data import external_release, profile
from core.data.loaded import LoadReport
from core.data.profile import GraphProfile
from core.findings.attackers import compute_headline
from core.findings.columns import list_telling_columns
from core.findings.leaving import compute_leaving, tabulate_columns, tabulate_uniqueness
from core.findings.people import Secret, select_secret
from core.graph import Graph
from pages.ui import service

T = TypeVar("T")


def load_graph(graph_hash: str) -> Graph:
    return service.open_service().load_graph(graph_hash)


def load_view(audit_id: str) -> AuditView:
    """The audit as it stands; the service assembles it anew only when a cell has finished."""
    return service.open_service().get_view(audit_id)


def load_audit_graph(view: AuditView) -> Graph:
    """The audited graph: without people left out, its private and utility columns attributes."""
    spec = view.spec
    columns = (spec.threats.private, *spec.threats.more_private, spec.disclosure.utility)
    return _load_audit_graph(spec.graph_hash, spec.disclosure.leave_out, columns, view)


@st.cache_resource(max_entries=4, show_spinner=False)
def _load_audit_graph(
    graph_hash: str, leave_out: tuple[str, ...], columns: tuple[str | None, ...], _view: AuditView
) -> Graph:
    graph = _view.load_graph()
    for column in columns:
        graph = graph if column is None else graph.with_private(column)
    return graph


def load_release(view: AuditView, release: str, repeat: int = 0) -> Graph:
    """The graph that was released in one repeat; links held back for tests are not in it."""
    return _load_release(view.summary.id, release, repeat, view)


@st.cache_resource(max_entries=8, show_spinner=False)
def _load_release(audit_id: str, release: str, repeat: int, _view: AuditView) -> Graph:
    return _view.load_release(release, repeat)


@st.cache_resource(max_entries=16, show_spinner=False)
def compute_profile(
    graph_hash: str, private: str | None, utility: str | None, _report: LoadReport | None
) -> GraphProfile:
    graph = load_graph(graph_hash)
    for column in (private, utility):
        graph = graph if column is None else graph.with_private(column)
    return profile.compute_profile(graph, _report, private, utility)


@st.cache_resource(max_entries=16, show_spinner=False)
def find_gaps(graph_hash: str, other: str, columns: tuple[str, ...]) -> dict[str, str]:
    """Why another stored graph does not teach a private column, "" where it does; InputError."""
    return prepared.find_gaps(columns, load_graph(graph_hash), load_graph(other))


@st.cache_resource(max_entries=4, show_spinner=False)
def find_withheld(graph_hash: str, release: str) -> list[tuple[str, str]]:
    """Links of a stored graph that a stored release of it lacks, as pairs of ids."""
    return external_release.find_withheld(load_graph(graph_hash), load_graph(release))


@st.cache_resource(max_entries=8, show_spinner=False)
def preview_leaving(_spec: AuditSpec, key: str) -> tuple[Graph, Graph]:
    """The graph before and after the choice of columns, of which `key` is the text; raises
    InputError."""
    return compute_leaving(_spec, load_graph(_spec.graph_hash))


@st.cache_resource(max_entries=8, show_spinner=False)
def tabulate_leaving(_spec: AuditSpec, key: str) -> pd.DataFrame:
    return tabulate_columns(*preview_leaving(_spec, key))


@st.cache_resource(max_entries=8, show_spinner="Counting who is alone")
def tabulate_alone(_spec: AuditSpec, key: str, names: tuple[str, ...]) -> pd.DataFrame:
    return tabulate_uniqueness(preview_leaving(_spec, key)[1], names)


@st.cache_resource(max_entries=16, show_spinner=False)
def load_warnings(audit_id: str, _view: AuditView) -> list[str]:
    """Columns that leave and tell a private one: of the audit's graph, whatever has finished."""
    return list_telling_columns(_view)


def _describe_state(view: AuditView) -> tuple[object, ...]:
    """What changes whenever a result does: failed cells that are tried again count as well."""
    return view.summary.id, view.summary.cells_done, view.summary.cells_failed


def number_risks(view: AuditView, release: str, secret: Secret | None = None) -> dict[int, float]:
    """Node number → the headline attacker's risk on a release; on one secret, if given."""
    return _number_risks(_describe_state(view), release, secret, view)


@st.cache_resource(max_entries=8, show_spinner=False)
def _number_risks(
    state: tuple[object, ...], release: str, secret: Secret | None, _view: AuditView
) -> dict[int, float]:
    numbers = load_audit_graph(_view).index
    rows = _view.nodes[_view.nodes.release == release]
    worst = compute_headline(rows if secret is None else select_secret(rows, secret))
    return {numbers[node]: risk for node, risk in zip(worst.node, worst.risk, strict=True)}


def remember(view: AuditView | None, make: Callable[[], T], *more: object) -> T:
    """`make()`, made once for each state of the audit and of what `make` closes over.

    make  a lambda or inner function; beside the view it may use hashable values only, which
          with its place in the code and `more` are the key
    Not for charts that are clicked: a remembered figure loses the first click.
    """
    function = cast(FunctionType, make)
    code, cells = function.__code__, function.__closure__ or ()
    used = dict(zip(code.co_freevars, (cell.cell_contents for cell in cells), strict=True))
    key = tuple((k, value) for k, value in used.items() if not isinstance(value, AuditView))
    place = f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}"
    state = () if view is None else _describe_state(view)
    return _remember(place, state, (*key, *more), make)


@st.cache_resource(max_entries=256, show_spinner=False)
def _remember(
    place: str, state: tuple[object, ...], key: tuple[object, ...], _make: Callable[[], T]
) -> T:
    return _make()
