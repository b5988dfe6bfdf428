"""The finest coarsening of a column at which enough people share each published value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.errors import InputError

OTHER = "other"
"""Replacement of rare values."""

STEPS = (1.0, 2.0, 5.0)
DECADES = 3
"""Powers of ten below a column's range from which steps are tried."""


def bin_numbers(values: np.ndarray, width: float) -> np.ndarray:
    """Lower ends of the ranges of a width, counted from 0, that numbers of any shape fall into."""
    # A hair is added, so that 0.3 / 0.1 falls into the range that begins at 0.3.
    return np.asarray(np.floor(values / width + 1e-9) * width)


def coarsen_numbers(values: np.ndarray, people: int) -> np.ndarray:
    """(n,) float64, each value replaced by the lower end of a range with at least `people` people.

    values  (n,) float64, NaN if unknown, which stays

    Ranges are steps of 1, 2 or 5 times a power of ten, the first and the last of them open: those
    that tell most, by their entropy. Values that are shared by enough people stay. Raises
    InputError where fewer people have a value.

    >>> import numpy as np
    >>> from core.data.coarsening import coarsen_numbers
    >>> coarsen_numbers(np.array([18, 21, 24, 26, 33, 35, 39, 71.0]), 2).tolist()
    [20.0, 20.0, 20.0, 20.0, 30.0, 30.0, 30.0, 30.0]
    """
    known = ~np.isnan(values)
    distinct, place, sizes = np.unique(values[known], return_inverse=True, return_counts=True)
    _check(int(known.sum()), people)
    best, coarse = -1.0, distinct
    if sizes.min() < people:
        for width in _list_widths(float(distinct[-1] - distinct[0])):
            lows, where = np.unique(bin_numbers(distinct, width), return_inverse=True)
            held = np.bincount(where, sizes)
            for first, last in _list_spans(held, people):
                kept = np.clip(where, first, last)
                told = _measure_entropy(np.bincount(kept, sizes))
                if told > best:
                    best, coarse = told, lows[kept]
    found = values.astype(np.float64)
    found[known] = coarse[place]
    return found


def coarsen_names(
    names: Sequence[str], sizes: Sequence[int] | np.ndarray, people: int
) -> list[str]:
    """New name of each value: its own, or `OTHER` for the rarest, which are together held by at
    least `people` people as every other value is.

    sizes  people of each value

    Raises InputError where fewer people have a value.

    >>> from core.data.coarsening import coarsen_names
    >>> coarsen_names(["Rome", "Oslo", "Bern"], [30, 12, 3], 10)
    ['Rome', 'other', 'other']
    """
    held = np.asarray(sizes, np.int64)
    _check(int(held.sum()), people)
    order = np.argsort(held, kind="stable")
    merged = int((held < people).sum())
    while 0 < merged < len(held) and held[order[:merged]].sum() < people:
        merged += 1
    rare = set(order[:merged].tolist())
    return [OTHER if place in rare else name for place, name in enumerate(names)]


def _check(known: int, people: int) -> None:
    if known < people:
        raise InputError(
            "rule shared",
            f"needs at least {people} people with a value",
            known,
            "withhold the column, or ask for fewer people",
        )


def _list_widths(span: float) -> Iterator[float]:
    """Widths from a thousandth of a range to one that holds all of it."""
    top = int(np.ceil(np.log10(span)))
    for power in range(top - DECADES, top + 2):
        for step in STEPS:
            yield step * 10.0**power


def _list_spans(held: np.ndarray, people: int) -> Iterator[tuple[int, int]]:
    """First and last range of each choice in which the ranges between hold enough people, and so
    do those outside once they are merged into the first and the last.

    held  people of each range, from the lowest
    """
    total, below = held.sum(), np.r_[0, np.cumsum(held)]
    edges = np.flatnonzero(np.diff(np.r_[False, held >= people, False]))
    for start, end in edges.reshape(-1, 2).tolist():
        first = start - 1 if below[start] >= people else start
        last = end if total - below[end] >= people else end - 1
        yield first, last
    yield 0, 0


def _measure_entropy(held: np.ndarray) -> float:
    shares = held[held > 0] / held.sum()
    return float(-(shares * np.log(shares)).sum())
