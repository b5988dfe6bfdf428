"""Encodes a numeric column with the classes of another graph's column."""

from __future__ import annotations

import numpy as np

from core.node_column import MISSING, NodeColumn


def bin_like(column: NodeColumn, model: NodeColumn) -> NodeColumn:
    """`column` with the classes of `model` if either was binned; else unchanged.

    Intervals are matched by their borders, since each graph is binned at its own quartiles. A
    border is the midpoint between adjacent numbers of `model`, so that equal numbers get equal
    classes. If the classes of `model` are single numbers, other numbers become MISSING. Columns
    that are not fully numeric are returned unchanged.
    """
    numbers = column.numbers
    if numbers is None or not (_is_binned(model) or _is_binned(column)):
        return column
    if _is_binned(model):
        codes = np.searchsorted(_find_borders(model), numbers)
    else:
        codes = _find_equal(numbers, model.class_numbers)
    codes = np.where(np.isnan(numbers), MISSING, codes)
    return NodeColumn(column.name, codes, model.classes, numbers)


def _is_binned(column: NodeColumn) -> bool:
    """Whether some class holds more than one number."""
    if column.values is None:
        return False
    return len(np.unique(column.values[column.known])) > column.num_classes


def _find_borders(model: NodeColumn) -> np.ndarray:
    """(C − 1,) ascending borders; infinite for an empty class at either end."""
    assert model.values is not None
    values, codes = model.values[model.known], model.codes[model.known]
    low = [values[codes <= code].max(initial=-np.inf) for code in range(model.num_classes - 1)]
    high = [values[codes > code].min(initial=np.inf) for code in range(model.num_classes - 1)]
    return np.asarray((np.array(low) + np.array(high)) / 2)


def _find_equal(numbers: np.ndarray, class_numbers: np.ndarray | None) -> np.ndarray:
    if class_numbers is None or not len(class_numbers):
        return np.full(len(numbers), MISSING)
    order = np.argsort(class_numbers, kind="stable")
    nearest = order[np.searchsorted(class_numbers[order], numbers).clip(max=len(class_numbers) - 1)]
    return np.asarray(np.where(class_numbers[nearest] == numbers, nearest, MISSING))
