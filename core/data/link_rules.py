"""Rules that make the columns of links coarser, in the grammar of `release_columns`.

Numbers take bin, cap, round and digits; times day, month, year and shift; kinds rare, which counts
links rather than nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from core.data.coarsening import OTHER
from core.data.release_columns import NUMBERS_TAKE, NUMERIC, Rule
from core.errors import InputError
from core.link_table import DATES, NO_TIME, UNIX, LinkColumn, LinkTable

MAX_SHIFT_DAYS = 3650
"""Longest time by which times are moved, either way."""
_DAYS = {"day": "D", "month": "M", "year": "Y"}
_PER_DAY = {"D": 1, "m": 1440, "s": 86400, "ms": 86_400_000, "us": 86_400_000_000}
_PER_DAY |= {"ns": 86_400_000_000_000}


def generalize_links(column: LinkColumn, links: np.ndarray, rule: Rule) -> LinkColumn:
    """The column under a rule; shift is left to `shift_times`.

    links  (e,) number of the link of each row

    Raises InputError for a rule that does not fit the kind of the column.
    """
    takes = {
        "number": (tuple(NUMERIC), NUMBERS_TAKE),
        "time": ((*_DAYS, "shift"), "times take day, month, year and shift"),
        "category": (("rare",), "kinds take rare"),
        "direction": ((), "directions take no rule"),
    }
    allowed, remedy = takes[column.kind]
    if rule.kind not in allowed:
        raise InputError(f"rule {rule.kind}", "must fit the column", rule.column, remedy)
    if rule.kind == "shift":
        return column
    if column.kind == "time":
        return _coarsen_times(column, rule)
    if column.kind == "category":
        return _merge_rare(column, links, rule.value)
    values = NUMERIC[rule.kind](column.values.astype(np.float64), rule.value)
    is_whole = column.values.dtype.kind == "i" and not (values % 1).any()
    return replace(column, values=values.astype(np.int64) if is_whole else values)


def _coarsen_times(column: LinkColumn, rule: Rule) -> LinkColumn:
    unit = UNIX.get(column.unit, column.unit)
    if not unit:
        remedy = "its unit is not known: bring it into dates or Unix times, or leave it out"
        raise InputError(f"rule {rule.kind}", "needs times of a known unit", rule.column, remedy)
    coarse = _DAYS[rule.kind]
    if coarse == "D" and unit == "M":
        return column  # coarse enough already
    times = column.values.view(f"M8[{unit}]").astype(f"M8[{coarse}]").astype(np.int64)
    if coarse == "Y":  # a number from year 0
        return LinkColumn("time", np.where(column.known, times + 1970, NO_TIME))
    return replace(column, values=times, unit=coarse)


def _merge_rare(column: LinkColumn, links: np.ndarray, least: float) -> LinkColumn:
    """Kinds that fewer links have become one."""
    pairs = np.unique(np.column_stack([links, column.values])[column.known], axis=0)
    counts = np.bincount(pairs[:, 1], minlength=len(column.classes))
    names = zip(column.classes, counts.tolist(), strict=True)
    merged = [name if count >= least else OTHER for name, count in names]
    return replace(column, classes=tuple(merged))


def shift_times(table: LinkTable, rules: Iterable[Rule], rng: np.random.Generator) -> LinkTable:
    """The table with the times that have the rule shift moved, each column by one random amount.

    Audits do not move them: one known time gives the amount away, so attackers are taken to know
    it.
    """
    columns = dict(table.columns)
    for name in {rule.column for rule in rules if rule.kind == "shift"}:
        column = columns[name]
        values = column.values[column.known]
        span = int(values.max() - values.min()) if len(values) else 0
        unit = UNIX.get(column.unit, column.unit)
        if unit == "M":
            most = MAX_SHIFT_DAYS // 30
        elif unit in DATES:
            most = MAX_SHIFT_DAYS * _PER_DAY[unit]
        else:
            most = max(10 * span, 1000)
        amount = int(rng.integers(1, most + 1)) * (1 if rng.random() < 0.5 else -1)
        moved = np.where(column.known, column.values + amount, NO_TIME)
        columns[name] = replace(column, values=moved)
    return LinkTable(table.links, columns)
