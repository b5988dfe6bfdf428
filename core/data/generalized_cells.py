"""Cells that others generalised: which values of the original each may stand for.

[65, 70[   an interval; [65, 70), ]65, 70], (65, 70], and an end left out or infinite, likewise
65-70      both ends belong to it; 65–70, 65..70 and 65 to 70 likewise
>=50       >, <=, <, ≥, ≤ likewise; 50+; above 50 up to 70, or either alone
1024*      every value with this beginning; * stands for any run of characters
2001-05    every day of a month, or of a year
{a, b}     a set; its elements may be any of these
*, or blank  every value
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from core.graph import Graph
from core.node_column import MISSING, NodeColumn

COMPARABLE = 0.9
"""Share of the people whose cell may stand for their own value below which the column is not
compared: it was perturbed, or is written in a way of its own."""

_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:inf|∞))"
_INTERVAL = re.compile(rf"([\[\](])\s*{_NUMBER}?\s*[,;]\s*{_NUMBER}?\s*([\[\])])")
_RANGE = re.compile(rf"{_NUMBER}\s*(?:-|–|—|\.\.|to)\s*{_NUMBER}")
_BOUND = re.compile(rf"(>=|≥|>|<=|≤|<)\s*{_NUMBER}")
_WORDS = re.compile(rf"(?:above {_NUMBER})? ?(?:up to {_NUMBER})?")
_FROM = re.compile(rf"{_NUMBER}\s*\+")
_ONE = re.compile(_NUMBER)
_DATE = re.compile(r"\d{4}(-\d{2})?")


@dataclass(frozen=True, eq=False)
class Values:
    """Distinct values of a column: as texts (u,), and as numbers (u,), NaN if they are none.

    codes  (n,) int64 value of each node, MISSING if unknown
    """

    codes: np.ndarray
    texts: tuple[str, ...]
    numbers: np.ndarray

    @staticmethod
    def of_column(graph: Graph, name: str) -> Values:
        """Values of a feature or of an attribute."""
        attribute = graph.attributes.get(name)
        if attribute is not None and attribute.values is None:
            numbers = pd.to_numeric(pd.Series(attribute.classes, dtype=object), errors="coerce")
            return Values(attribute.codes, attribute.classes, numbers.to_numpy(np.float64))
        column = graph.columns.read_numbers(name) if attribute is None else attribute.values
        assert column is not None
        ordered, codes = np.unique(column, return_inverse=True)
        codes = np.where(np.isnan(column), MISSING, codes)
        return Values(codes, write_numbers(ordered), ordered)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Text → its place."""
        return {text: place for place, text in enumerate(self.texts)}

    def find_held(self, cell: str) -> np.ndarray:
        """(k,) ascending places of the values that a cell may stand for."""
        cell = cell.strip()
        equal = [self.places[cell]] if cell in self.places else []
        if not cell.strip("*"):
            return np.arange(len(self.texts))
        if cell[0] == "{" and cell[-1] == "}":
            parts = [part for part in re.split("[,;]", cell[1:-1]) if part.strip()]
            held = [self.find_held(part) for part in parts]
            return np.unique(np.concatenate([equal, *held]).astype(np.int64))
        pattern = None
        if "*" in cell:
            pattern = ".*".join(map(re.escape, cell.split("*")))
        elif _DATE.fullmatch(cell):
            pattern = f"{cell}-.*"
        if pattern is not None:
            fits = re.compile(pattern, re.DOTALL).fullmatch
            equal += [place for place, text in enumerate(self.texts) if fits(text)]
        return np.unique(np.array([*equal, *self._find_between(cell)], np.int64))

    def _find_between(self, cell: str) -> np.ndarray:
        bounds = _read_bounds(cell)
        if bounds is None:
            return np.empty(0, np.int64)
        kind = self.numbers.dtype.type  # as rounded as the numbers are
        low, high, has_low, has_high = kind(bounds[0]), kind(bounds[1]), *bounds[2:]
        above = self.numbers >= low if has_low else self.numbers > low
        below = self.numbers <= high if has_high else self.numbers < high
        return np.flatnonzero(above & below)


def write_numbers(numbers: np.ndarray) -> tuple[str, ...]:
    """Shortest texts of numbers, 69.0 as 69."""
    return tuple(np.format_float_positional(number, trim="-") for number in numbers)


def _read_bounds(cell: str) -> tuple[float, float, bool, bool] | None:
    """Lowest and highest number of a cell, and whether each belongs to it; None if it has none."""
    if found := _INTERVAL.fullmatch(cell):
        left, low, high, right = found.groups()
        ends = _read_number(low or "-inf"), _read_number(high or "inf")
        return *ends, left == "[", right == "]"
    if found := _RANGE.fullmatch(cell):
        return _read_number(found[1]), _read_number(found[2]), True, True
    if found := _BOUND.fullmatch(cell):
        sign, number = found[1], _read_number(found[2])
        has_end = sign in (">=", "≥", "<=", "≤")
        is_least = sign[0] in ">≥"
        return (number, np.inf, has_end, True) if is_least else (-np.inf, number, True, has_end)
    if (found := _WORDS.fullmatch(cell)) and any(found.groups()):
        low, high = found.groups()
        return _read_number(low or "-inf"), _read_number(high or "inf"), False, True
    if found := _FROM.fullmatch(cell):
        return _read_number(found[1]), np.inf, True, True
    if _ONE.fullmatch(cell):
        return _read_number(cell), _read_number(cell), True, True
    return None


def _read_number(text: str) -> float:
    return float(text.replace("∞", "inf"))


@dataclass(frozen=True, eq=False)
class CellMatch:
    """How the cells of a released column fit the values of the original.

    values   (n,) int64 value of each node of the original, MISSING if unknown
    exact    (n,) int64 the one value that each released cell stands for, or MISSING
    general  (n,) int64 row of `held` of a cell that may stand for several, or MISSING
    held     (g, u) bool: values that such a cell may stand for
    """

    values: np.ndarray
    exact: np.ndarray
    general: np.ndarray
    held: np.ndarray

    @staticmethod
    def of_columns(original: Graph, released: NodeColumn) -> CellMatch:
        """The match of a released column with that of its name; nodes in the same order."""
        own = Values.of_column(original, released.name)
        cells = [*released.classes, ""]  # code −1 picks the last
        exact, general = np.full((2, len(cells)), MISSING)
        rows: list[np.ndarray] = []
        for number, cell in enumerate(cells):
            places = own.find_held(cell)
            if len(places) == 1:
                exact[number] = places[0]
            elif len(places):
                general[number] = len(rows)
                rows.append(np.isin(np.arange(len(own.texts)), places))
        held = np.array(rows, bool).reshape(len(rows), len(own.texts))
        return CellMatch(own.codes, exact[released.codes], general[released.codes], held)

    @property
    def contains(self) -> np.ndarray:
        """(n,) bool: whether each node's cell may stand for its own value; unknown values fit."""
        found = (self.exact == self.values) | (self.values == MISSING)
        rows = np.flatnonzero((self.general != MISSING) & ~found)
        found[rows] = self.held[self.general[rows], self.values[rows]]
        return np.asarray(found)


def list_incomparable(original: Graph, released: Graph) -> dict[str, float]:
    """Columns of a release made elsewhere that cannot be compared with the original's → share of
    the people whose cell may stand for their own value; 0 for a column that the original lacks.

    released  on the original's nodes; its columns as attributes, and as features if they are
    numbers
    """
    known, found = original.columns, {}
    for name, attribute in released.attributes.items():
        is_known = name in known
        match = CellMatch.of_columns(original, attribute) if is_known else None
        found[name] = 0.0 if match is None else float(match.contains.mean())
    own = set(original.feature_names)
    shared = [name for name in released.feature_names if name in own]
    found |= compare_features(original, released, shared)
    for name in released.feature_names:
        if name not in known and name.partition("=")[0] not in released.attributes:
            found[name] = 0.0
    return {name: share for name, share in found.items() if share < COMPARABLE}


def compare_features(original: Graph, released: Graph, names: list[str]) -> dict[str, float]:
    """Name of a feature of both graphs → share of the nodes with the same number."""
    if not names:
        return {}
    matrices = [graph.columns.select_features(names) for graph in (original, released)]
    if any(map(sparse.issparse, matrices)):
        differs = sparse.csc_array(sparse.csr_array(matrices[0]) - sparse.csr_array(matrices[1]))
        differs.eliminate_zeros()
        counts = np.diff(differs.indptr)
    else:
        counts = (matrices[0] != matrices[1]).sum(axis=0)
    return dict(zip(names, (1 - counts / original.num_nodes).tolist(), strict=True))
