"""A column of the nodes, whatever it is used for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.arrays import freeze
from core.errors import InputError

MISSING = -1
"""Code of an unknown value."""

FEWEST_NUMBERS = 10
"""Distinct values below which a numeric column is categorical."""

LEADING_ZERO = r"[+-]?0\d"
"""How digits begin that are a name, such as the postal code 01000: a number would lose the zero."""


@dataclass(frozen=True, eq=False)
class NodeColumn:
    """A column of the nodes: `codes` (n,) int64 into `classes`, MISSING if unknown.

    values  (n,) float64 of a numeric column, NaN if unknown; None for other columns
    """

    name: str
    codes: np.ndarray
    classes: tuple[str, ...]
    values: np.ndarray | None = None

    def __post_init__(self) -> None:
        codes = freeze(np.asarray(self.codes, dtype=np.int64))
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "classes", tuple(str(c) for c in self.classes))
        if self.values is not None:
            values = freeze(np.asarray(self.values, dtype=np.float64))
            object.__setattr__(self, "values", values)
            if values.shape != codes.shape:
                raise InputError(f"column '{self.name}'", "needs as many numbers as codes")
        if codes.size and (codes.min() < MISSING or codes.max() >= len(self.classes)):
            raise InputError(f"column '{self.name}'", "has a code outside its classes")

    @property
    def known(self) -> np.ndarray:
        """Mask (n,) of the nodes whose value is known."""
        return np.asarray(self.codes != MISSING)

    @property
    def kind(self) -> Literal["class", "number"]:
        """What its values are."""
        return "class" if self.values is None else "number"

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    @cached_property
    def counts(self) -> np.ndarray:
        """(C,) number of nodes known to be of each class."""
        return freeze(np.bincount(self.codes[self.known], minlength=self.num_classes))

    @property
    def shares(self) -> np.ndarray:
        """Class shares P̂(Z = c) among known nodes, shape (C,)."""
        return np.asarray(self.counts / max(self.counts.sum(), 1))

    @property
    def class_numbers(self) -> np.ndarray | None:
        """(C,) float64, the numbers that the classes are called; None if one is called otherwise,
        as an interval or a code with a leading zero is."""
        if any(map(has_leading_zero, self.classes)):
            return None
        try:
            numbers = np.array([float(name) for name in self.classes], np.float64)
        except ValueError:
            return None
        return None if np.isnan(numbers).any() else numbers

    @property
    def numbers(self) -> np.ndarray | None:
        """(n,) float64, NaN if unknown: the values, or what the classes are called; else None."""
        if self.values is not None:
            return self.values
        numbers = self.class_numbers  # code −1 picks what is appended
        return None if numbers is None else np.append(numbers, np.nan)[self.codes]

    def find_median(self) -> float:
        """Median of the known numbers; 0 without any. Raises InputError for other values."""
        numbers = self.numbers
        known = self.known if self.values is None else ~np.isnan(self.values)
        if numbers is None or not np.isfinite(numbers[known]).all():
            rule, remedy = "must hold numbers", "leave it an attribute, or give its classes numbers"
            raise InputError(f"feature '{self.name}'", rule, remedy=f"{remedy} in the node table")
        return float(np.median(numbers[known])) if known.any() else 0.0

    def fill_numbers(self, unknown: float) -> np.ndarray:
        """(n,) float64 of a column of numbers, with one for its unknown cells."""
        numbers = np.asarray(self.numbers, np.float64)
        return np.where(np.isnan(numbers), unknown, numbers)

    def take(self, nodes: np.ndarray) -> NodeColumn:
        """The column restricted to some nodes: node numbers, or a mask (n,)."""
        values = None if self.values is None else self.values[nodes]
        return replace(self, codes=self.codes[nodes], values=values)

    def forget_unused(self) -> NodeColumn:
        """The column without the classes that no node has."""
        used = np.flatnonzero(self.counts)
        if len(used) == self.num_classes:
            return self
        place = np.full(self.num_classes + 1, MISSING)  # code −1 picks the last
        place[used] = np.arange(len(used))
        classes = tuple(self.classes[code] for code in used.tolist())
        return replace(self, codes=place[self.codes], classes=classes)

    @staticmethod
    def from_values(
        name: str,
        values: Sequence[Any] | pd.Series,
        unknown: Sequence[str] = (),
        max_classes: int = 50,
    ) -> NodeColumn:
        """Classes are the sorted distinct values; `unknown` markers and blanks become MISSING.

        A numeric column with more than `max_classes` distinct values is binned at its quartiles,
        in classes that name no smallest and no largest value: one person has each.
        Numbers are kept beside the classes unless there are few or they enumerate the classes.
        Digits with a leading zero are texts, and so are all values beside them.

        >>> from core.node_column import NodeColumn
        >>> city = NodeColumn.from_values("city", ["Rome", "Oslo", "?", "Rome"], unknown=["?"])
        >>> city.classes, city.codes.tolist(), city.counts.tolist()
        (('Oslo', 'Rome'), [1, 0, -1, 1], [1, 2])
        """
        series = pd.Series(values).reset_index(drop=True)
        text = series.map(format_value).astype(object)
        markers = {format_value(marker) for marker in unknown}
        missing = series.isna() | text.isin({"", "nan", "None", "<NA>"} | markers)
        numeric = pd.to_numeric(series.where(~missing), errors="coerce")
        distinct = text[~missing].unique()
        is_numeric = bool((numeric.notna() | missing).all())
        is_numeric = is_numeric and not any(map(has_leading_zero, distinct))
        if is_numeric and len(distinct) > max_classes:
            numbers = numeric.to_numpy(np.float64)
            codes = pd.qcut(numeric, 4, duplicates="drop").cat.codes.to_numpy(np.int64)
            return NodeColumn(name, codes, _format_ranges(numbers, codes), numbers)
        order = sorted(distinct, key=float) if is_numeric else sorted(distinct)
        index = {value: code for code, value in enumerate(order)}
        codes = text.where(~missing).map(index).fillna(MISSING).astype(np.int64)
        is_number = is_numeric and len(order) >= FEWEST_NUMBERS and not _is_count(order)
        numbers = numeric.to_numpy(np.float64) if is_number else None
        return NodeColumn(name, codes.to_numpy(), tuple(order), numbers)


def _format_ranges(numbers: np.ndarray, codes: np.ndarray) -> tuple[str, ...]:
    """Names of adjoining ranges, the outer ones open: up to 20, above 20 up to 40, above 40."""
    numbers, codes = numbers[codes != MISSING], codes[codes != MISSING]
    borders = [
        format_value(_choose_border(numbers[codes <= code].max(), numbers[codes > code].min()))
        for code in range(codes.max())
    ]
    if not borders:
        return ("any number",)
    inner = [f"above {low} up to {high}" for low, high in pairwise(borders)]
    return (f"up to {borders[0]}", *inner, f"above {borders[-1]}")


def _choose_border(low: float, high: float) -> float:
    """A number of few digits from `low` on and below `high`."""
    if np.isfinite(high):
        exact = Decimal(repr(float(high)))
        first = max(exact.adjusted(), Decimal(repr(float(low))).adjusted())
        for place in range(first, exact.adjusted() - 20, -1):
            step = Decimal(1).scaleb(place)
            below = float((exact / step).to_integral_value(ROUND_CEILING) * step - step)
            if low <= below < high:
                return below
    return float(low)


def _is_count(ordered: Sequence[str]) -> bool:
    """Whether ascending values are 0, 1, 2, … or 1, 2, 3, …: class labels, not quantities."""
    numbers = [float(value) for value in ordered]
    return numbers[0] in (0.0, 1.0) and numbers == [numbers[0] + k for k in range(len(numbers))]


def has_leading_zero(text: str) -> bool:
    """Whether a text begins as digits do that are a name: see `LEADING_ZERO`."""
    return re.match(LEADING_ZERO, text) is not None


def format_value(value: Any) -> str:
    """Text of a table cell; 1.0 and 1 are the same class."""
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value).strip()
