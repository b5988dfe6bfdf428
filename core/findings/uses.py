"""What each column of the input is used for in an audit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from core.audit.asked.spec import AuditSpec
from core.audit.results.view import AuditView
from core.data.column_roles import list_columns, mark_secrets
from core.data.loaded import ColumnUse
from core.findings.leaving import compute_leaving
from core.graph import Graph


def list_uses(spec: AuditSpec, graph: Graph) -> list[ColumnUse]:
    """The uses that reading found, with the secrets of the audit; of a graph that no file was read
    for, its own columns."""
    columns = spec.input_columns or list_columns(graph)
    return mark_secrets(columns, spec.threats.columns, spec.disclosure.utility)


def describe_uses(view: AuditView) -> list[dict[str, Any]]:
    """The table of uses as audit.json has it, with whether a column leaves with the original."""
    graph = view.load_graph()
    spec = view.spec.update(leave_out=())  # the view's graph is without them
    _, after = compute_leaving(spec, graph)
    return [{**asdict(use), "published": _leaves(use, after)} for use in list_uses(spec, graph)]


def _leaves(use: ColumnUse, after: Graph) -> bool:
    if use.use in ("source", "target", "id"):
        return True
    if use.use == "weight":
        return after.weights is not None
    if use.table == "links":
        return after.link_table is not None and use.name in after.link_table.columns
    if use.name in after.columns:
        return True
    return use.count > 1 and after.features is not None
