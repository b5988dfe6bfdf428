"""Which columns of the nodes are attributes and which are features, chosen after loading."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from core.data.link_columns import USES
from core.data.link_values import KINDS
from core.data.loaded import LEFT_OUT, ColumnUse, LoadReport, list_features
from core.errors import InputError
from core.graph import Graph


def assign_roles(graph: Graph, attributes: Sequence[str], features: Sequence[str]) -> Graph:
    """The graph with these columns as attributes and these as features, the others left out.

    Unknown numbers of a new feature become the column's median. Raises InputError for a column that
    the graph lacks or that is given twice, and for a feature whose values are no numbers.
    """
    both = sorted(set(attributes) & set(features))
    if both:
        raise InputError("column", "must be an attribute or a feature, not both", both[0])
    table = graph.columns.as_features(features).as_attributes(attributes)
    return replace(graph, columns=table.select([*attributes, *features]))


def report_roles(report: LoadReport, graph: Graph) -> LoadReport:
    """The load report with the uses that the columns of the nodes have in `graph`."""

    def update(column: ColumnUse) -> ColumnUse:
        if column.table != "nodes" or column.use in ("id", LEFT_OUT):
            return column
        use = "feature" if column.name in graph.feature_names else LEFT_OUT
        if column.name in graph.attributes:
            use = column.use if column.use in ("private", "utility", "mode") else "attribute"
        return column if use == column.use else replace(column, use=use, why="as chosen")

    return replace(report, columns=list(map(update, report.columns)))


def list_columns(graph: Graph) -> list[ColumnUse]:
    """Uses of the columns of a graph that was not read from a file."""
    found = [ColumnUse("links", end, end, "id") for end in ("source", "target")]
    found += [] if graph.weights is None else [ColumnUse("links", "weight", "weight", "number")]
    table = {} if graph.link_table is None else graph.link_table.columns
    for name, column in table.items():
        found.append(ColumnUse("links", name, USES[column.kind], KINDS[column.kind]))
    for name, attribute in graph.attributes.items():
        found.append(ColumnUse("nodes", name, "attribute", attribute.kind))
    return found + list_features(graph.feature_names)


def mark_secrets(
    columns: Sequence[ColumnUse], private: Collection[str | None], utility: str | None
) -> list[ColumnUse]:
    """The uses with these columns of the nodes as private and utility, and no others."""
    found = []
    for column in columns:
        use = column.use
        if column.table == "nodes" and use not in ("id", LEFT_OUT):
            use = "attribute" if use in ("private", "utility") else use
            use = "utility" if column.name == utility else use
            use = "private" if column.name in private else use
        found.append(replace(column, use=use))
    named = {column.name for column in columns if column.table == "nodes"}
    for name in dict.fromkeys((*private, utility)):
        if name is not None and name not in named and any(c.count > 1 for c in columns):
            use = "utility" if name == utility else "private"
            found.append(ColumnUse("nodes", name, use, "number", "one of the features"))
    return found


def list_numbers(graph: Graph) -> list[str]:
    """Columns that may be features: the features, and attributes of numbers."""
    found = list(graph.feature_names)
    for name, attribute in graph.attributes.items():
        try:
            attribute.find_median()
        except InputError:
            continue
        found.append(name)
    return found
