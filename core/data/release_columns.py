"""Published columns: each published, generalised or withheld.

age:bin=10          34 is published as 30, the lower end of its interval
income:cap=100000   larger values are published as 100000
x:round=2           rounded to two decimals
city:rare=20        values of fewer than 20 nodes become "other"
age:shared=20       the finest steps, or names, at which 20 nodes or more share each value
born:year           only the year of a date; born:month and born:day keep more
x:digits=2          rounded to two significant digits
link.time:shift     all times of links moved by one unknown amount when published
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.arrays import join_columns
from core.data.coarsening import OTHER, bin_numbers, coarsen_names, coarsen_numbers
from core.errors import InputError
from core.graph import Graph
from core.node_column import MISSING, NodeColumn, format_value, has_leading_zero

LINK_PREFIX = "link."
"""Beginning of the names of columns of links."""

MAX_DUMMIES = 10
"""Number of numeric classes above which they are treated as numbers."""

GRAMMAR = (
    "rules are bin=WIDTH, cap=VALUE, round=DIGITS, digits=SIGNIFICANT, rare=PEOPLE, "
    "shared=PEOPLE, year, month, day, and shift for times of links"
)


@dataclass(frozen=True)
class Rule:
    """Generalisation of one column; `value` is 0 for year, month, day and shift."""

    column: str
    kind: str
    value: float = 0.0

    @staticmethod
    def parse(text: str) -> Rule:
        """Rule of its text COLUMN:RULE; raises InputError with the syntax."""
        column, sign, rest = text.rpartition(":")
        kind, equals, number = rest.partition("=")
        kind = kind.strip()
        example = f"write COLUMN:RULE, such as age:bin=10; {GRAMMAR}"
        if not sign or not column.strip():
            raise InputError("generalisation", "must name a column and a rule", text, example)
        if kind not in _LEAST or bool(equals) != (_LEAST[kind] is not None):
            raise InputError("generalisation", "must have a known rule", text, example)
        value = 0.0
        if equals:
            try:
                value = float(number)
            except ValueError:
                raise InputError(
                    "generalisation", "must have a number after =", text, example
                ) from None
            least, is_whole = _LEAST[kind] or (0.0, False)
            if not np.isfinite(value) or value < least or (is_whole and value != int(value)):
                what = "whole number" if is_whole else "number"
                raise InputError(
                    f"generalisation {kind}", f"must have a {what} of at least {least:g}", text
                )
            if kind == "bin" and value == 0:
                raise InputError("generalisation bin", "must be wider than 0", text)
        return Rule(column.strip(), kind, value)


_LEAST: dict[str, tuple[float, bool] | None] = {
    "bin": (0.0, False),
    "cap": (-np.inf, False),
    "round": (0.0, True),
    "digits": (1.0, True),
    "rare": (2.0, True),
    "shared": (2.0, True),
    "year": None,
    "month": None,
    "day": None,
    "shift": None,
}
"""Rules with the smallest allowed value, and whether it is an integer; None: no value."""


def choose_columns(
    graph: Graph,
    publish: Sequence[str] | None,
    rules: Sequence[str],
    kept: Sequence[str] = (),
    private: Sequence[str] = (),
) -> Graph:
    """The graph as published: only columns of `publish` (None: all), generalised by `rules`.

    kept     attributes kept for evaluation only
    private  secret columns, never published and without rules
    Columns of links are left to `link_release`.

    Raises InputError for unknown columns and rules that do not fit them.
    """
    parsed = [rule for rule in map(Rule.parse, rules) if not rule.column.startswith(LINK_PREFIX)]
    if publish is not None:
        publish = [name for name in publish if not name.startswith(LINK_PREFIX)]
    for name in [*(publish or ()), *(rule.column for rule in parsed)]:
        if name in private:
            raise InputError("published column", "must not be a private one", name, "leave it out")
        graph.columns.check([name], "published column")
        if publish is not None and name not in publish:
            raise InputError(
                "generalised column", "must be published", name, "add it to --publish-columns"
            )
    if publish is not None:
        unseen = {name: graph.attributes[name] for name in kept if name in graph.attributes}
        graph = graph.with_columns(publish)
        graph = graph.update_columns(attributes={**unseen, **graph.attributes})
    for rule in parsed:
        if rule.kind == "shift":
            raise InputError("rule shift", "is for times of links only", rule.column)
        graph = _generalize(graph, rule)
    return graph


def leave_out_people(graph: Graph, ids: Sequence[str]) -> Graph:
    """The graph without some of its nodes; raises InputError for an unknown id."""
    if not ids:
        return graph
    keep = np.ones(graph.num_nodes, bool)
    keep[graph.find_nodes(ids, "person left out")] = False
    return graph.subgraph(keep)


def forget_values(
    graph: Graph, before: Graph, private: Sequence[str], named: Sequence[str]
) -> Graph:
    """The graph without classes and features that only nodes left out had: their names tell of
    them. Intervals of numbers are drawn anew.

    before   the graph with those nodes
    private  columns whose classes stay: they are not published, and attacks count the classes
    named    features that stay, for the owner named them
    """
    alone = {
        name: column if name in private else _forget_classes(column)
        for name, column in graph.columns.alone.items()
    }
    graph = replace(graph, columns=replace(graph.columns, alone=alone))
    if graph.features is None:
        return graph
    matrices: tuple[Any, ...] = (graph.features, before.features)
    has, had = (np.asarray(abs(matrix).sum(axis=0)).ravel() > 0 for matrix in matrices)
    rows = zip(graph.feature_names, has, had, strict=True)
    gone = [name for name, has_it, had_it in rows if had_it and not has_it]
    return graph.without_features([name for name in gone if name not in {*private, *named}])


def _forget_classes(attribute: NodeColumn) -> NodeColumn:
    """The column as if it was read without the classes that no node has."""
    if attribute.values is not None:
        return NodeColumn.from_values(attribute.name, attribute.values)
    return attribute.forget_unused()


def show_columns(graph: Graph, names: Sequence[str]) -> Graph:
    """The graph as seen by attackers: published columns are added to the features.

    Each class is a column of 0 and 1; many numeric classes are one numeric column. Unknown values
    are 0, or the mean.
    """
    blocks: list[np.ndarray] = []
    titles: list[str] = []
    for name in names:
        if name not in graph.columns or name in graph.feature_names:
            continue
        column = graph.column(name)
        codes, known, numbers = column.codes, column.known, column.class_numbers
        if numbers is not None and len(numbers) > MAX_DUMMIES and known.any():
            values = numbers.astype(np.float32)[codes]
            blocks.append(np.where(known, values, values[known].mean())[:, None])
            titles.append(name)
        else:
            blocks.append((codes[:, None] == np.arange(column.num_classes)) & known[:, None])
            titles += [f"{name}={title}" for title in column.classes]
    if not titles:
        return graph
    shown = np.concatenate(blocks, axis=1).astype(np.float32)
    features = join_columns(graph.features, shown)
    return graph.update_columns(features=features, feature_names=(*graph.feature_names, *titles))


def _generalize(graph: Graph, rule: Rule) -> Graph:
    """The graph with a column made coarser, whatever it is used for."""
    if rule.kind not in (*NUMERIC, "shared") and rule.column in graph.feature_names:
        raise InputError(
            f"rule {rule.kind}", "needs a column of categories", rule.column, NUMBERS_TAKE
        )
    column = graph.column(rule.column)
    if rule.kind == "shared":
        coarse = _share(column, int(rule.value), is_number=rule.column in graph.feature_names)
    else:
        coarse = _coarsen(column, rule)
    return replace(graph, columns=graph.columns.with_column(coarse))


def _coarsen(column: NodeColumn, rule: Rule) -> NodeColumn:
    if rule.kind in NUMERIC and column.values is not None and column.class_numbers is None:
        # Its classes are intervals of many numbers, which are drawn anew.
        return NodeColumn.from_values(column.name, NUMERIC[rule.kind](column.values, rule.value))
    return _merge_classes(column, _format_classes(column, rule))


def _share(column: NodeColumn, people: int, is_number: bool) -> NodeColumn:
    """The column as fine as so many nodes share each value; dates by day, month or year before
    years are merged."""
    if is_number or column.values is not None:
        numbers = column.numbers
        assert numbers is not None
        return NodeColumn.from_values(column.name, coarsen_numbers(numbers, people))
    for kind in ("", "day", "month", "year"):
        if kind:
            try:
                column = _coarsen(column, Rule(column.name, kind))
            except InputError:
                break  # not dates
        if column.counts.min(initial=people) >= people:
            return column
    return _merge_classes(column, coarsen_names(column.classes, column.counts, people))


def _format_classes(column: NodeColumn, rule: Rule) -> list[str]:
    """The new text of each class."""
    classes = column.classes
    if rule.kind == "rare":
        counted = zip(classes, column.counts, strict=True)
        return [c if count >= rule.value else OTHER for c, count in counted]
    if rule.kind in _DATE_PATTERNS:
        return [_coarsen_date(text, rule) for text in classes]
    numbers = column.class_numbers
    if numbers is None:
        other = (c for c in classes if pd.isna(pd.to_numeric(c, errors="coerce")))
        wrong = next(other, None) or next(c for c in classes if has_leading_zero(c))
        raise InputError(
            f"rule {rule.kind}", "needs a column of numbers", f"{rule.column} = {wrong}"
        )
    return [format_value(value) for value in NUMERIC[rule.kind](numbers, rule.value)]


def _merge_classes(attribute: NodeColumn, names: Sequence[str]) -> NodeColumn:
    """Merge classes with equal new names; drop unused ones."""
    used = {names[code] for code in np.unique(attribute.codes[attribute.known])}
    try:
        order = sorted(used, key=float)
    except ValueError:
        order = sorted(used)
    place = {name: number for number, name in enumerate(order)}
    table = np.array([*(place.get(name, MISSING) for name in names), MISSING])
    return NodeColumn(attribute.name, table[attribute.codes], tuple(order))


def _coarsen_date(text: str, rule: Rule) -> str:
    if re.fullmatch(_DATE_PATTERNS[rule.kind], text):
        return text  # coarse enough already
    try:
        date = pd.NaT if text.isdecimal() and has_leading_zero(text) else pd.Timestamp(text)
    except ValueError:
        date = pd.NaT
    if date is pd.NaT:
        raise InputError(f"rule {rule.kind}", "needs a column of dates", f"{rule.column} = {text}")
    whole = f"{date.year:04d}-{date.month:02d}-{date.day:02d}"
    return whole[: {"year": 4, "month": 7, "day": 10}[rule.kind]]


_DATE_PATTERNS = {"year": r"\d{4}", "month": r"\d{4}-\d{2}", "day": r"\d{4}-\d{2}-\d{2}"}


def round_digits(values: np.ndarray, digits: float) -> np.ndarray:
    """Numbers of any shape with so many significant digits."""
    rounded = [float(f"{value:.{int(digits)}g}") for value in values.ravel().tolist()]
    return np.array(rounded, np.float64).reshape(values.shape)


NUMBERS_TAKE = "numbers take bin, cap, round and digits"

NUMERIC: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "bin": bin_numbers,
    "cap": lambda values, most: np.minimum(values, most),
    "round": lambda values, digits: np.round(values, int(digits)),
    "digits": round_digits,
}
