"""A loaded graph, and the report of what loading changed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from core.arrays import pair_codes
from core.graph import Graph


@dataclass
class LoadReport:
    """What was dropped, replaced or assumed while reading a graph; counts are exact.

    num_self_loops    rows that link a node to itself; dropped
    num_duplicates    rows that repeat an earlier row, ends in the same order; merged
    num_reciprocal    links given in both directions; merged to one undirected link
    num_rows_skipped  comment lines, and rows dropped by an option
    num_nodes_without_links  isolated nodes (kept)
    num_unknown       values replaced by "unknown", per column
    num_filled        missing feature cells set to the column's median, per column
    weights           treatment of the weights, in words
    ignored_columns   columns used neither as feature nor as attribute → reason
    """

    source: str = ""
    format: str = ""
    num_self_loops: int = 0
    num_duplicates: int = 0
    num_reciprocal: int = 0
    num_rows_skipped: int = 0
    num_nodes_without_links: int = 0
    num_unknown: dict[str, int] = field(default_factory=dict)
    num_filled: dict[str, int] = field(default_factory=dict)
    weights: str = "none"
    ignored_columns: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class LoadedGraph:
    """A graph with its load report."""

    graph: Graph
    report: LoadReport


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
