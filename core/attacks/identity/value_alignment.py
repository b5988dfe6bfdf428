"""Values of links brought to the form in which a release has them: as coarse, and moved as far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from core.data.release_columns import NUMERIC, round_digits
from core.graph import Graph
from core.link_table import DATES, NO_TIME, UNIX, LinkColumn

MAX_DECIMALS = 6
"""Decimals up to which published numbers are taken for multiples of a width."""

MAX_TIMES = 1000
"""Distinct times of each graph whose differences are counted, the most frequent ones."""


def align_values(known: Graph, published: Graph) -> Graph:
    """The known graph with the rule that the values of a release show: numbers rounded or cut,
    times to their day, month or year, and all times moved by one amount.

    Of the rules that a column's published values obey, the one under which most of them are known;
    none if no rule does better. An amount is the most frequent difference of the times.
    """
    if known.weights is not None and published.weights is not None:
        moved = _align_numbers(known.weights, published.weights)
        known = replace(known, weights=moved.astype(known.weights.dtype))
    ours, theirs = known.link_table, published.link_table
    if ours is None or theirs is None:
        return known
    columns = {
        name: _align_column(column, theirs.columns[name]) if name in theirs.columns else column
        for name, column in ours.columns.items()
    }
    return replace(known, link_table=replace(ours, columns=columns))


def _align_column(known: LinkColumn, published: LinkColumn) -> LinkColumn:
    if not known.known.any() or not published.known.any():
        return known
    if known.kind == published.kind == "number":
        values = known.values.astype(np.float64)
        shown = published.values[published.known].astype(np.float64)
        return replace(known, values=np.where(known.known, _align_numbers(values, shown), np.nan))
    if known.kind == published.kind == "time":
        return _align_times(known, published)
    return known


def _align_numbers(known: np.ndarray, published: np.ndarray) -> np.ndarray:
    rules = _list_rules(published.astype(np.float64))
    return _choose(known, published, (NUMERIC[kind](known, value) for kind, value in rules))


def _choose(known: np.ndarray, published: np.ndarray, others: Iterable[np.ndarray]) -> np.ndarray:
    """The values (k,), or others instead, among which most published ones are."""
    best, most = known, float(np.isin(published, known).mean())
    for values in others if most < 1 else ():
        share = float(np.isin(published, values).mean())
        if share > most:
            best, most = values, share
    return best


def _list_rules(published: np.ndarray) -> Iterator[tuple[str, float]]:
    """Rules that published numbers obey, each with its value."""
    values = np.unique(published)
    for decimals in range(MAX_DECIMALS + 1):
        scaled = np.round(values * 10**decimals)
        if np.allclose(scaled, values * 10**decimals, rtol=0, atol=1e-6):
            width = float(np.gcd.reduce(scaled.astype(np.int64))) / 10**decimals
            if width:
                yield "bin", width
            yield "round", decimals
            break
    for digits in range(1, MAX_DECIMALS + 1):
        if (round_digits(values, digits) == values).all():
            yield "digits", digits
            break
    yield "cap", float(values.max())


def _align_times(known: LinkColumn, published: LinkColumn) -> LinkColumn:
    """The times in the published unit, and moved if more of the published ones are then known."""
    here, there = (UNIX.get(column.unit, column.unit) for column in (known, published))
    is_known = known.known
    values, shown = known.values[is_known], published.values[published.known]
    if here != there and here in DATES:
        # A year without a unit is counted from year 0, an amount like another.
        values = values.view(f"M8[{here}]").astype(f"M8[{there or 'Y'}]").astype(np.int64)
    values = _choose(values, shown, (values + _find_amount(values, shown) for _ in range(1)))
    times = np.full(len(is_known), NO_TIME)
    times[is_known] = values
    return replace(published, values=times)


def _find_amount(known: np.ndarray, published: np.ndarray) -> int:
    """Most frequent difference of a published time to a known one."""
    (ours, mine), (theirs, shown) = (_list_frequent(values) for values in (known, published))
    amounts, places = np.unique(theirs[:, None] - ours, return_inverse=True)
    counts = np.bincount(places.ravel(), (shown[:, None] * mine).ravel())
    return int(amounts[counts.argmax()])


def _list_frequent(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values and their counts, at most `MAX_TIMES` of them."""
    distinct, counts = np.unique(values, return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:MAX_TIMES]
    return distinct[kept], counts[kept].astype(np.float64)
