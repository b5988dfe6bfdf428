"""Profile of a loaded graph, with warnings that affect the meaning of an audit."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.data.column_roles import mark_secrets
from core.data.link_counts import LinkCounts, count_links
from core.data.loaded import LoadReport
from core.data.warnings import find_warnings
from core.errors import UnsupportedError
from core.graph import Graph
from core.link_table import BACKWARD, BOTH, FORWARD


@dataclass(frozen=True, eq=False)
class GraphProfile:
    """Counts and tables of one graph.

    counts              components, triangles and clustering; None of links in partitions
    attribute_table     column, classes, missing_share, largest_class, largest_share
    dropped             what loading dropped or merged → how many
    warnings            sentences for the screen, most important first
    column_table        table, column, use, kind, why of each column of the input
    modes               names of two modes that every link joins → nodes, or empty
    median_strength     median over nodes of the sum of their weights, or None
    time_spans          name of a column of times of links → its first and last one
    reciprocity         share of the links with a known direction that go both ways, or None
    """

    num_nodes: int
    num_edges: int
    density: float
    counts: LinkCounts | None
    num_isolated: int
    median_degree: float
    num_features: int
    attribute_table: pd.DataFrame
    dropped: dict[str, int]
    warnings: list[str]
    column_table: pd.DataFrame
    modes: dict[str, int]
    median_strength: float | None
    time_spans: dict[str, tuple[str, str]]
    reciprocity: float | None


def compute_profile(
    graph: Graph,
    report: LoadReport | None = None,
    private: str | None = None,
    utility: str | None = None,
    more_private: Collection[str | None] = (),
) -> GraphProfile:
    """The profile; warnings consider `private` and `utility`, or every attribute if unset.

    Features of these names count as attributes.
    more_private  further private columns, as the table of uses tells them
    """
    degrees = graph.degrees
    try:
        counts = count_links(graph)
    except UnsupportedError:
        counts = None
    graph = graph.with_private(private, utility)
    return GraphProfile(
        num_nodes=graph.num_nodes,
        num_edges=graph.num_edges,
        density=graph.density,
        counts=counts,
        num_isolated=int((degrees == 0).sum()),
        median_degree=float(np.median(degrees)),
        num_features=len(graph.feature_names),
        attribute_table=_attribute_table(graph),
        dropped=_count_dropped(report),
        warnings=list(find_warnings(graph, report, private, utility)),
        column_table=_column_table(report, (private, *more_private), utility),
        modes=_count_modes(graph, report),
        median_strength=None if graph.weights is None else float(np.median(graph.strengths)),
        time_spans=dict(_find_spans(graph)),
        reciprocity=_compute_reciprocity(graph),
    )


def _find_spans(graph: Graph) -> Iterator[tuple[str, tuple[str, str]]]:
    table = graph.link_table
    for name, column in {} if table is None else table.columns.items():
        if column.kind == "time" and column.known.any():
            known = np.flatnonzero(column.known)
            times = column.values[known]
            first, last = column.take(known[[times.argmin(), times.argmax()]]).format_values()
            yield name, (str(first).replace("T", " "), str(last).replace("T", " "))


def _compute_reciprocity(graph: Graph) -> float | None:
    """Share of links with an event either way, or one that goes both ways."""
    table = graph.link_table
    found = [] if table is None else [c for c in table.columns.values() if c.kind == "direction"]
    if table is None or not found or not found[0].known.any():
        return None
    ways = found[0].values
    there = np.unique(table.links[np.isin(ways, (FORWARD, BOTH))])
    back = np.unique(table.links[np.isin(ways, (BACKWARD, BOTH))])
    both = np.intersect1d(there, back, assume_unique=True)
    return float(len(both) / len(np.union1d(there, back)))


def _count_modes(graph: Graph, report: LoadReport | None) -> dict[str, int]:
    if graph.modes is None:
        return {} if report is None else dict(report.modes)
    return dict(zip(graph.modes.classes, graph.modes.counts.tolist(), strict=True))


def _attribute_table(graph: Graph) -> pd.DataFrame:
    attributes = list(graph.attributes.values())
    return pd.DataFrame(
        {
            "column": [a.name for a in attributes],
            "classes": [a.num_classes for a in attributes],
            "missing_share": [float((~a.known).mean()) for a in attributes],
            "largest_class": [
                a.classes[a.shares.argmax()] if a.classes else "" for a in attributes
            ],
            "largest_share": [float(a.shares.max(initial=0.0)) for a in attributes],
        }
    )


def _column_table(
    report: LoadReport | None, private: Collection[str | None], utility: str | None
) -> pd.DataFrame:
    uses = [] if report is None else mark_secrets(report.columns, private, utility)
    rows = [{**vars(use), "name": use.title} for use in uses]
    return pd.DataFrame(rows, columns=["table", "name", "use", "kind", "why"])


def _count_dropped(report: LoadReport | None) -> dict[str, int]:
    if report is None:
        return {}
    return {
        "self-loops": report.num_self_loops,
        "repeated rows": report.num_duplicates,
        "links given in both directions": report.num_reciprocal,
        "rows skipped": report.num_rows_skipped,
    }
