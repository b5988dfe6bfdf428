"""Column values: the attacker who knows a person's values in the published columns."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import sparse

from core.algorithms.fingerprints import compute_joint_fingerprints
from core.context import Context
from core.graph import Graph
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import AnonymitySets
from core.threats import IdentityThreat


class ColumnValues(IdentityAttack):
    """Anonymity sets of people with equal values in the columns, alone or with their links.

    The attacker knows the values as coarsely as they are published: generalising 34 to 30 is
    something that everybody can do. `k_anonymity` of the result is the k of k-anonymity.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="column_values",
        title="Column values",
        summary="Knows each person's values in some or all published columns.",
        source="Sweeney, k-anonymity: a model for protecting privacy, 2002",
        group="what is known of a person",
        cost="seconds",
    )
    finds_by: ClassVar[Literal["links", "columns", "values"]] = "columns"
    rehearses: ClassVar[bool] = False

    columns: str = Field(
        "", description="Names of the columns that are known, joined by |; empty: all published."
    )
    with_links: Literal["", "degree", "degree_triangles", "neighbor_degrees"] = Field(
        "", description="What is known of the links as well; empty: nothing."
    )

    def supports(self, release: Release, threat: IdentityThreat) -> str | None:
        shown = set(list_columns(threat.original, threat))
        if not shown:
            return "no columns are published"
        for name in filter(None, self.columns.split("|")):
            if name not in shown:
                return f"column '{name}' is not published; name a published one"
        return None

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> AnonymitySets:
        context.progress.update(0, 1, "columns")
        names = [n for n in self.columns.split("|") if n] or list_columns(threat.original, threat)
        published = release.graph
        shared = [n for n in names if n in list_columns(published, threat)]
        known = list_rows(threat.original, shared)
        released = list_rows(published, shared)
        if self.with_links:
            known_marks, published_marks = compute_joint_fingerprints(
                [threat.original, published], self.with_links
            )
            known = [row + mark.tobytes() for row, mark in zip(known, known_marks, strict=True)]
            released = [
                row + mark.tobytes() for row, mark in zip(released, published_marks, strict=True)
            ]
        counts: dict[bytes, int] = {}
        for row in released:
            counts[row] = counts.get(row, 0) + 1
        sizes = np.array([counts.get(row, 0) for row in known], np.int64)
        is_equal = [left == right for left, right in zip(known, released, strict=True)]
        return AnonymitySets(sizes, np.array(is_equal))


def list_columns(graph: Graph, threat: IdentityThreat) -> list[str]:
    """The published columns that a graph has: its features, and attributes that are named."""
    named = [name for name in threat.columns if name in graph.attributes]
    return [*graph.feature_names, *named]


def list_rows(graph: Graph, names: list[str]) -> list[bytes]:
    """One text of bytes a person: equal where all values are."""
    wanted = [i for i, name in enumerate(graph.feature_names) if name in set(names)]
    features: Any = graph.features
    parts: list[list[bytes]] = []
    if wanted and sparse.issparse(features):
        matrix = features[:, wanted].tocsr()
        matrix.eliminate_zeros()
        matrix.sort_indices()
        bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
        indices = matrix.indices.astype(np.int64)
        parts.append([indices[a:b].tobytes() + matrix.data[a:b].tobytes() for a, b in bounds])
    elif wanted:
        dense = np.ascontiguousarray(features[:, wanted]) + np.float32(0.0)  # −0 is 0
        parts.append([row.tobytes() for row in dense])
    codes = [graph.attributes[n].codes for n in names if n in graph.attributes]
    if codes:
        parts.append([row.tobytes() for row in np.stack(codes, axis=1)])
    if not parts:
        return [b""] * graph.num_nodes
    return [b"".join(row) for row in zip(*parts, strict=True)]
