"""Which private columns the other graph teaches that an attacker holds, and which it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.audit.scenarios import list_private
from core.audit.spec import AuditSpec
from core.audit.threat_sampling import prepare_graph, prepare_shadow_graph
from core.errors import InputError
from core.graph import Graph


def fill_taught(spec: AuditSpec, graph: Graph, shadow_graph: Graph | None) -> AuditSpec:
    """The spec naming the private columns that the attacker's graph teaches, as it is planned.

    graph  as it was loaded. A spec that names them itself is returned as it is, and so is one
    with only the first column taught. InputError where the graph teaches no column.
    """
    if shadow_graph is None or not spec.more_private or spec.attacker_columns is not None:
        return spec
    columns = list_private(spec)
    gaps = find_gaps(columns, prepare_graph(spec, graph), shadow_graph)
    taught = tuple(column for column in columns if not gaps[column])
    if taught == columns[:1]:
        return spec  # as audits had it before there were several
    return spec.model_copy(update={"attacker_columns": taught})


def find_gaps(columns: Sequence[str], graph: Graph, shadow_graph: Graph) -> dict[str, str]:
    """Private column of `graph` → why the attacker's graph does not teach it; "" where it does.

    InputError, that of the first column, where it teaches none of them.
    """
    gaps, errors = {}, []
    for column in columns:
        try:
            prepare_shadow_graph(shadow_graph, graph.with_private(column).attribute(column))
        except InputError as error:
            is_there = column in (*shadow_graph.attributes, *shadow_graph.feature_names)
            what = "fewer than two of its classes" if is_there else "no such column"
            gaps[column] = f"{what} there"
            errors.append(error)
        else:
            gaps[column] = ""
    if errors and len(errors) == len(gaps):
        raise errors[0]
    return gaps


def describe_taught(gaps: Mapping[str, str]) -> str:
    """ "teaches age and site, not income (no such column there)", of what `find_gaps` found."""
    taught = " and ".join(column for column, gap in gaps.items() if not gap)
    missing = ", ".join(f"{column} ({gap})" for column, gap in gaps.items() if gap)
    return f"teaches {taught}" + (f", not {missing}" if missing else "")
