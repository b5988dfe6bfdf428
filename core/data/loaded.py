"""A loaded graph, and the report of what loading changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.arrays import pair_codes
from core.data.columns import list_known
from core.errors import InputError, propose_nearest
from core.graph import Graph
from core.node_table import MANY

LEFT_OUT = "left out"


@dataclass(frozen=True)
class ColumnUse:
    """What a column of an input is used for.

    table  links or nodes
    use    source, target, weight, time of a link, kind of a link, direction of a link, number of a
           link, id, mode, private, utility, attribute, feature or left out
    kind   number, class, time, text or id
    why    how it was found, or why it was left out and what it would have meant
    count  columns that it stands for: the many features of a matrix are one row
    """

    table: str
    name: str
    use: str
    kind: str
    why: str = ""
    count: int = 1

    @property
    def title(self) -> str:
        """The name, with the number of columns where there are several."""
        return self.name if self.count == 1 else f"{self.count:,} {self.name}"

    def __str__(self) -> str:
        found = f"column of the {self.table} '{self.title}': {self.use} ({self.kind})"
        return f"{found}, {self.why}" if self.why else found


@dataclass
class LoadReport:
    """What was dropped, replaced or assumed while reading a graph; counts are exact.

    num_self_loops    rows that link a node to itself; dropped
    num_duplicates    rows that repeat an earlier row, ends in the same order; merged
    num_reciprocal    links given in both directions; merged to one undirected link
    num_rows_skipped  comment lines, and rows dropped by an option
    num_unknown       values replaced by "unknown", per column
    num_filled        missing feature cells set to the column's median, per column
    weights           treatment of the weights, in words
    columns           every column of the input and its use
    modes             names of the two modes that all links join → nodes; empty: one mode
    unheard           names of columns to ignore that no table has
    id_warnings       ids that may be wrong, with examples: for the screen, never for results
    """

    source: str = ""
    format: str = ""
    num_self_loops: int = 0
    num_duplicates: int = 0
    num_reciprocal: int = 0
    num_rows_skipped: int = 0
    num_unknown: dict[str, int] = field(default_factory=dict)
    num_filled: dict[str, int] = field(default_factory=dict)
    weights: str = "none"
    columns: list[ColumnUse] = field(default_factory=list)
    modes: dict[str, int] = field(default_factory=dict)
    unheard: list[str] = field(default_factory=list)
    id_warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ignored_columns(self) -> dict[str, str]:
        """Columns that are left out → reason."""
        return {column.name: column.why for column in self.columns if column.use == LEFT_OUT}

    def check_ignored(self) -> None:
        """Raise InputError for a column to ignore that is not in the data."""
        for name in self.unheard[:1]:
            names = dict.fromkeys(column.name for column in self.columns)
            remedy = propose_nearest(name, names) or list_known(names)
            raise InputError("column to ignore", "must be in the data", name, remedy)


@dataclass(frozen=True)
class LoadedGraph:
    """A graph with its load report."""

    graph: Graph
    report: LoadReport


def list_features(names: Sequence[str]) -> list[ColumnUse]:
    """Uses of the features of a matrix: one row each, or one for all of many."""
    if len(names) > MANY:
        return [ColumnUse("nodes", "features", "feature", "number", count=len(names))]
    return [ColumnUse("nodes", name, "feature", "number") for name in names]


def count_merged_rows(pairs: np.ndarray, num_nodes: int) -> tuple[int, int, int]:
    """(self-loops, duplicates, reciprocal merges) among (k, 2) pairs; they sum to k − m."""
    first, second = pairs.T
    codes = 2 * pair_codes(pairs, num_nodes) + (first > second)  # one sort tells both counts
    ordered = codes[first != second]
    ordered.sort()
    num_directed, num_undirected = (
        int(np.count_nonzero(values[1:] != values[:-1])) + bool(len(values))
        for values in (ordered, ordered >> 1)
    )
    num_kept = len(ordered)
    return len(pairs) - num_kept, num_kept - num_directed, num_directed - num_undirected
