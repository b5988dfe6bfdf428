"""Profile of a loaded graph, with warnings that affect the meaning of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.data.link_counts import count_links
from core.data.loaded import LoadReport
from core.data.warnings import find_warnings
from core.graph import Attribute, Graph


@dataclass(frozen=True, eq=False)
class GraphProfile:
    """Counts and tables of one graph.

    degree_table      least, greatest (degree), nodes, share: the degree distribution
    degree_quantiles  {0, 0.25, 0.5, 0.75, 0.9, 0.99, 1} → degree
    average_clustering  mean local clustering; nodes with fewer than two links count as 0
    assortativity     correlation of the degrees at the links' ends; NaN if all are equal
    attribute_table   column, type, classes, missing, missing_share, largest_class, largest_share
    class_table       column, class, nodes, share (of the known)
    dropped           what loading dropped or merged → how many
    warnings          sentences for the analyst, most important first
    """

    num_nodes: int
    num_edges: int
    density: float
    num_components: int
    largest_component: int
    num_isolated: int
    mean_degree: float
    degree_table: pd.DataFrame
    degree_quantiles: dict[float, float]
    average_clustering: float
    num_triangles: int
    assortativity: float
    num_features: int
    feature_kind: str
    attribute_table: pd.DataFrame
    class_table: pd.DataFrame
    dropped: dict[str, int]
    warnings: list[str]

    def to_json(self) -> dict[str, Any]:
        """All fields as JSON; tables as lists of rows, NaN as None."""
        fields: dict[str, Any] = dict(self.__dict__)
        for name, value in fields.items():
            if isinstance(value, pd.DataFrame):
                fields[name] = value.to_dict(orient="records")
        fields["degree_quantiles"] = {str(q): d for q, d in self.degree_quantiles.items()}
        if np.isnan(self.assortativity):
            fields["assortativity"] = None
        return fields


def compute_profile(
    graph: Graph,
    report: LoadReport | None = None,
    private: str | None = None,
    utility: str | None = None,
) -> GraphProfile:
    """The profile; warnings consider `private` and `utility`, or every attribute if unset.

    Features of these names count as attributes.
    """
    counts, degrees = count_links(graph), graph.degrees
    for column in (private, utility):
        graph = graph if column is None else graph.with_private(column)
    quantiles = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
    at_quantiles = np.quantile(degrees, quantiles).tolist()
    return GraphProfile(
        num_nodes=graph.num_nodes,
        num_edges=graph.num_edges,
        density=graph.density,
        num_components=counts.num_components,
        largest_component=counts.largest_component,
        num_isolated=int((degrees == 0).sum()),
        mean_degree=float(degrees.mean()),
        degree_table=_degree_table(degrees),
        degree_quantiles=dict(zip(quantiles, at_quantiles, strict=True)),
        average_clustering=counts.average_clustering,
        num_triangles=counts.num_triangles,
        assortativity=compute_assortativity(graph),
        num_features=len(graph.feature_names),
        feature_kind=_feature_kind(graph),
        attribute_table=_attribute_table(graph),
        class_table=_class_table(graph),
        dropped=_count_dropped(report),
        warnings=list(find_warnings(graph, report, private, utility)),
    )


def compute_assortativity(graph: Graph) -> float:
    """Pearson correlation of the degrees at both ends of the links (Newman 2002)."""
    degrees = graph.degrees.astype(np.float64)
    linked = degrees[degrees > 0]
    if not len(linked) or (linked == linked[0]).all():
        return float("nan")
    # over the 2m ends of links, of which a node has as many as its degree
    mean = (linked**2).sum() / linked.sum()
    gaps = degrees - mean
    a, b = graph.edges.T
    return float(2 * (gaps[a] @ gaps[b]) / (linked * (linked - mean) ** 2).sum())


def _degree_table(degrees: np.ndarray) -> pd.DataFrame:
    """One row per degree up to 30 distinct ones, else ranges growing by half."""
    distinct = np.unique(degrees)
    if len(distinct) <= 30:
        starts = distinct
    else:
        grown = [int(1.5**k) for k in range(64) if 1.5**k <= degrees.max()]
        starts = np.unique([int(degrees.min()), *(d for d in grown if d > degrees.min())])
    stops = np.append(starts[1:] - 1, degrees.max())
    if len(distinct) <= 30:
        stops = starts
    counts = np.bincount(np.searchsorted(starts, degrees, side="right") - 1, minlength=len(starts))
    return pd.DataFrame(
        {"least": starts, "greatest": stops, "nodes": counts, "share": counts / len(degrees)}
    )


def _feature_kind(graph: Graph) -> str:
    if graph.features is None:
        return "none"
    features: Any = graph.features
    data = features.data if sparse.issparse(features) else features
    is_binary = bool(np.isin(data, (0, 1)).all())
    return "yes/no" if is_binary else "numbers"


def _attribute_table(graph: Graph) -> pd.DataFrame:
    attributes = list(graph.attributes.values())
    missing = np.array([int((~a.known).sum()) for a in attributes], np.int64)
    return pd.DataFrame(
        {
            "column": [a.name for a in attributes],
            "type": [_attribute_type(a) for a in attributes],
            "classes": [a.num_classes for a in attributes],
            "missing": missing,
            "missing_share": missing / graph.num_nodes,
            "largest_class": [
                a.classes[a.shares.argmax()] if a.classes else "" for a in attributes
            ],
            "largest_share": [float(a.shares.max(initial=0.0)) for a in attributes],
        }
    )


def _attribute_type(attribute: Attribute) -> str:
    if attribute.num_classes == 2:
        return "two classes"
    if attribute.classes and all(c[0] in "([" and c[-1] in ")]" for c in attribute.classes if c):
        return "number in ranges"
    return "classes"


def _class_table(graph: Graph) -> pd.DataFrame:
    rows = [
        {"column": name, "class": label, "nodes": int(count), "share": float(share)}
        for name, attribute in graph.attributes.items()
        for label, count, share in zip(
            attribute.classes, attribute.counts, attribute.shares, strict=True
        )
    ]
    return pd.DataFrame(rows, columns=["column", "class", "nodes", "share"])


def _count_dropped(report: LoadReport | None) -> dict[str, int]:
    if report is None:
        return {}
    return {
        "self-loops": report.num_self_loops,
        "repeated rows": report.num_duplicates,
        "links given in both directions": report.num_reciprocal,
        "rows skipped": report.num_rows_skipped,
    }
