"""Columns of links: one row an event, such as a call or a payment, that points to its link."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from core.arrays import find_places, freeze, pair_codes
from core.errors import InputError
from core.node_column import MISSING

Kind = Literal["number", "time", "category", "direction"]

DIRECTIONS = ("→", "←", "↔")
"""On the link i < j: from i to j, from j to i, both ways or neither; codes 0 to 2."""
FORWARD, BACKWARD, BOTH = range(3)
DIRECTION = "direction"
"""Name of the column of directions that a format declares."""

NO_TIME = int(np.iinfo(np.int64).min)
"""Value of an unknown time, as NumPy has it."""

DATES = ("M", "D", "m", "s", "ms", "us", "ns")
"""Units of times that are dates in ISO 8601, months (M) to nanoseconds as NumPy calls them: counted
from 1970, in UTC, and of that resolution."""
UNIX = {"unix s": "s", "unix ms": "ms"}
"""Units of times that are numbers counted from 1970 → unit of NumPy."""


@dataclass(frozen=True, eq=False)
class LinkColumn:
    """(e,) values, one an event.

    number     int64 or float64 as given; NaN is unknown
    time       int64 of `unit`: one of `DATES` or `UNIX`, or "", a number of unknown unit and zero
    category   int64 codes into `classes`, sorted distinct texts that all occur; MISSING is unknown
    direction  int64 codes into `DIRECTIONS`; MISSING is unknown
    """

    kind: Kind
    values: np.ndarray
    classes: tuple[str, ...] = ()
    unit: str = ""

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        is_float = self.kind == "number" and values.dtype.kind == "f"
        values = values.astype(np.float64 if is_float else np.int64, copy=False)
        if self.kind not in get_args(Kind):
            raise InputError("link column", "must be of a known kind", self.kind)
        if values.ndim != 1:
            raise InputError("link column", "must have one value a row", values.shape)
        if is_float:
            if np.isinf(values).any():
                raise InputError("link column", "must hold finite numbers")
            values = np.where(np.isnan(values), np.nan, values + 0.0)  # one zero, one NaN
        if self.unit not in ("", *DATES, *UNIX) or (self.unit and self.kind != "time"):
            raise InputError("link column", "must have a known unit of time", self.unit)
        object.__setattr__(self, "classes", tuple(map(str, self.classes)))
        if self.kind in ("category", "direction"):
            count = len(self.classes if self.kind == "category" else DIRECTIONS)
            if len(values) and (values.min() < MISSING or values.max() >= count):
                raise InputError("link column", "must have codes of its classes", self.kind)
        if self.kind == "category":
            values = self._sort_classes(values)
        object.__setattr__(self, "values", freeze(values))

    def _sort_classes(self, codes: np.ndarray) -> np.ndarray:
        """Codes of the sorted distinct classes that occur, which become the classes."""
        counts = np.bincount(codes + 1, minlength=len(self.classes) + 1)[1:]
        used = [name for name, count in zip(self.classes, counts, strict=True) if count]
        order = tuple(sorted(set(used)))
        place = {name: code for code, name in enumerate(order)}
        moved = [place.get(name, MISSING) for name in self.classes]
        object.__setattr__(self, "classes", order)
        return np.asarray(np.array([MISSING, *moved], np.int64)[codes + 1])

    @staticmethod
    def of_texts(texts: Sequence[str]) -> LinkColumn:
        """A category of texts; "" is unknown."""
        place: dict[str, int] = {"": MISSING}
        for text in texts:
            place.setdefault(text, len(place) - 1)
        codes = np.fromiter((place[text] for text in texts), np.int64, len(texts))
        return LinkColumn("category", codes, tuple(place)[1:])

    def take(self, rows: np.ndarray) -> LinkColumn:
        """The column of some rows: numbers, or a mask."""
        return replace(self, values=self.values[rows])

    @property
    def known(self) -> np.ndarray:
        """(e,) bool: rows with a value."""
        if self.values.dtype.kind == "f":
            return np.asarray(~np.isnan(self.values))
        if self.kind == "number":
            return np.ones(len(self.values), bool)
        return np.asarray(self.values != (NO_TIME if self.kind == "time" else MISSING))

    def extend(self, count: int) -> LinkColumn:
        """The column with so many unknown values at its end; integers become float64."""
        unknown = {"number": np.nan, "time": NO_TIME}.get(self.kind, MISSING)
        if not count:
            return self
        return replace(self, values=np.concatenate([self.values, np.full(count, unknown)]))

    @property
    def is_number(self) -> bool:
        """Whether the values are written as numbers: quantities, and times that are no dates."""
        return self.kind == "number" or (self.kind == "time" and self.unit not in DATES)

    def format_values(self) -> np.ndarray:
        """(e,) values as written: float64 or int64, or texts of classes, directions and dates;
        unknown values are NaN or ""."""
        if self.kind == "category":
            return np.asarray(np.array([*self.classes, ""], object)[self.values])
        if self.kind == "direction":
            return np.asarray(np.array([*DIRECTIONS, ""], object)[self.values])
        if self.is_number:
            known = self.known
            return self.values if known.all() else np.where(known, self.values, np.nan)
        texts = np.datetime_as_string(self.values.view(f"M8[{self.unit}]")).astype(object)
        return np.where(self.known, texts, "")


@dataclass(frozen=True, eq=False)
class LinkTable:
    """Columns of the links of a graph, in one order: rows of a link by their values, columns by
    their names.

    links    (e,) int64 number of the link of each row, ascending; a link may have any number
    columns  name → LinkColumn of e rows; at least one
    """

    links: np.ndarray
    columns: Mapping[str, LinkColumn]

    def __post_init__(self) -> None:
        links = np.asarray(self.links, dtype=np.int64)
        columns = {name: self.columns[name] for name in sorted(self.columns)}
        if not columns:
            raise InputError("link table", "must have a column")
        if len(links) and links.min() < 0:
            raise InputError("link table", "must have link numbers from 0")
        for name, column in columns.items():
            if column.values.shape != links.shape:
                rule = f"must have {len(links)} rows"
                raise InputError(f"link column '{name}'", rule, column.values.shape)
        if not (links[1:] > links[:-1]).all():
            keys = [column.values for column in columns.values()]
            order = np.lexsort([*keys[::-1], links])
            if not (order[1:] > order[:-1]).all():
                links = links[order]
                columns = {name: column.take(order) for name, column in columns.items()}
        object.__setattr__(self, "links", freeze(links))
        object.__setattr__(self, "columns", MappingProxyType(columns))

    @staticmethod
    def of_pairs(
        pairs: np.ndarray, edges: np.ndarray, num_nodes: int, columns: Mapping[str, LinkColumn]
    ) -> LinkTable:
        """Rows of (k, 2) pairs of nodes, whose columns say → from the first to the second.

        edges  (m, 2) links of the graph; rows of other pairs and of self-loops are dropped
        """
        own = LinkTable(np.arange(len(pairs)), columns)
        return own.move(np.asarray(pairs, np.int64).reshape(-1, 2), edges, num_nodes)

    def move(self, ends: np.ndarray, edges: np.ndarray, num_nodes: int) -> LinkTable:
        """The rows on the links `edges` (k, 2) of another graph; rows of others are dropped.

        ends  (m, 2) node numbers there of the ends of each link here, −1 if it has none
        """
        first, second = ends.T
        places = find_places(pair_codes(ends, num_nodes), pair_codes(edges, num_nodes))
        places[(ends < 0).any(axis=1) | (first == second)] = -1
        links = places[self.links]
        rows = np.flatnonzero(links >= 0)
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        is_reversed = (first > second)[self.links[rows]]
        for name, column in columns.items():
            if column.kind == "direction" and is_reversed.any():
                opposite = np.array([BACKWARD, FORWARD, BOTH, MISSING])[column.values]
                columns[name] = replace(
                    column, values=np.where(is_reversed, opposite, column.values)
                )
        return LinkTable(links[rows], columns)

    def with_columns(self, names: Collection[str]) -> LinkTable | None:
        """The table with these columns only, or None if there are none.

        Rows without a known value in them go: how many there are tells of the columns that go.
        """
        kept = {name: column for name, column in self.columns.items() if name in names}
        if not kept:
            return None
        rows = np.flatnonzero(np.any([column.known for column in kept.values()], axis=0))
        if len(rows) == len(self.links):
            return LinkTable(self.links, kept)
        return LinkTable(self.links[rows], {name: c.take(rows) for name, c in kept.items()})

    @property
    def has_repeats(self) -> bool:
        """Whether a link has several rows."""
        return bool((self.links[1:] == self.links[:-1]).any())

    def equals(self, other: LinkTable | None) -> bool:
        """Whether both have the same rows."""
        if other is None:
            return False
        mine, theirs = self.pack(), other.pack()
        return mine.keys() == theirs.keys() and all(
            np.array_equal(mine[name], theirs[name], equal_nan=mine[name].dtype.kind == "f")
            for name in mine
        )

    def pack(self) -> dict[str, np.ndarray]:
        """As named arrays without pickle; `unpack` gives an equal table."""
        info = [[n, c.kind, c.unit, list(c.classes)] for n, c in self.columns.items()]
        arrays = {"rows": self.links, "info": np.frombuffer(json.dumps(info).encode(), np.uint8)}
        values = (column.values for column in self.columns.values())
        return arrays | {f"values_{number}": array for number, array in enumerate(values)}

    @staticmethod
    def unpack(arrays: Mapping[str, np.ndarray]) -> LinkTable:
        """Inverse of `pack`; raises InputError, or what JSON and NumPy raise, for other arrays."""
        info: list[Any] = json.loads(np.asarray(arrays["info"], np.uint8).tobytes())
        columns = {
            str(name): LinkColumn(kind, arrays[f"values_{number}"], tuple(classes), unit)
            for number, (name, kind, unit, classes) in enumerate(info)
        }
        return LinkTable(arrays["rows"], columns)
