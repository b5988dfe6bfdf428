"""Which private columns the other graph teaches that an attacker holds, and which it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.audit.cases import list_private
from core.audit.drawing import prepare_elsewhere, prepare_graph
from core.audit.spec import AuditSpec
from core.errors import InputError
from core.graph import Graph


def fill_taught(spec: AuditSpec, graph: Graph, elsewhere: Graph | None) -> AuditSpec:
    """The spec naming the private columns that the attacker's graph teaches, as it is planned.

    graph  as it was loaded. A spec that names them itself is returned as it is, and so is one
    with only the first column taught. InputError where the graph teaches no column.
    """
    if elsewhere is None or not spec.more_private or spec.attacker_columns is not None:
        return spec
    columns = list_private(spec)
    gaps = find_gaps(columns, prepare_graph(spec, graph), elsewhere)
    taught = tuple(column for column in columns if not gaps[column])
    if taught == columns[:1]:
        return spec  # as audits had it before there were several
    return spec.model_copy(update={"attacker_columns": taught})


def find_gaps(columns: Sequence[str], graph: Graph, elsewhere: Graph) -> dict[str, str]:
    """Private column of `graph` → why the attacker's graph does not teach it; "" where it does.

    InputError, that of the first column, where it teaches none of them.
    """
    gaps, errors = {}, []
    for column in columns:
        try:
            prepare_elsewhere(elsewhere, graph.with_private(column).attribute(column))
        except InputError as error:
            is_there = column in (*elsewhere.attributes, *elsewhere.feature_names)
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
