"""Which columns of the nodes are attributes and which are features, chosen after loading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from core.attribute import Attribute
from core.data.loaded import LEFT_OUT, ColumnUse, LoadReport
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
    known = {*graph.attributes, *graph.feature_names}
    for name in (*attributes, *features):
        if name not in known:
            raise InputError("column", "must be in the node data", name)
    new = [name for name in features if name in graph.attributes]
    numbers = [_read_numbers(graph.attributes[name]) for name in new]
    changed = graph.with_attributes(attributes)
    kept = {name: changed.attributes[name] for name in changed.attributes if name in attributes}
    changed = replace(changed, attributes=kept)
    changed = changed.without_features([n for n in changed.feature_names if n not in features])
    if not new:
        return changed
    block: Any = np.stack(numbers, axis=1).astype(np.float32)
    if sparse.issparse(changed.features):
        block = sparse.csr_array(sparse.hstack([changed.features, block], format="csr"))
    elif changed.features is not None:
        block = np.concatenate([np.asarray(changed.features), block], axis=1)
    return replace(changed, features=block, feature_names=(*changed.feature_names, *new))


def _read_numbers(attribute: Attribute) -> np.ndarray:
    """(n,) float64 values of an attribute of numbers."""
    values = attribute.values
    if values is None:
        try:
            numbers = np.array([float(name) for name in attribute.classes])
        except ValueError:
            numbers = np.array([np.nan])
        if not np.isfinite(numbers).all():
            raise InputError(
                f"feature '{attribute.name}'",
                "must hold numbers",
                remedy="leave it an attribute, or give its classes numbers in the node table",
            )
        values = np.where(attribute.known, numbers[attribute.codes] if len(numbers) else 0, np.nan)
    is_known = ~np.isnan(values)
    middle = float(np.median(values[is_known])) if is_known.any() else 0.0
    return np.where(is_known, values, middle)


def report_roles(report: LoadReport, graph: Graph) -> LoadReport:
    """The load report with the uses that the columns of the nodes have in `graph`."""

    def update(column: ColumnUse) -> ColumnUse:
        if column.table != "nodes" or column.use in ("id", LEFT_OUT):
            return column
        use = "feature" if column.name in graph.feature_names else LEFT_OUT
        if column.name in graph.attributes:
            use = column.use if column.use in ("private", "utility") else "attribute"
        return column if use == column.use else replace(column, use=use, why="as chosen")

    return replace(report, columns=list(map(update, report.columns)))


def list_numbers(graph: Graph) -> list[str]:
    """Columns that may be features: the features, and attributes of numbers."""
    found = list(graph.feature_names)
    for name, attribute in graph.attributes.items():
        try:
            _read_numbers(attribute)
        except InputError:
            continue
        found.append(name)
    return found
