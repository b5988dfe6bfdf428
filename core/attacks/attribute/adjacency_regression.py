"""Adjacency regression: a linear model of the links of a node and of its neighbours."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy import sparse

from core.algorithms.normalize import normalize_adjacency, normalize_rows
from core.arrays import divide_or_zero
from core.context import Context
from core.graph import Graph
from core.methods import THIS_SIZE, AttributeAttack, MethodInfo
from core.models.tuning import fit_logistic
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

PENALTIES = (1.0, 10.0, 100.0)
"""Inverse penalties that are tried on known values held out."""

HELD_OUT = 500
"""Known nodes held out that suffice to choose a penalty; further parts are not run."""

MAX_SAMPLED = 1000
"""Known nodes whose rows give the main directions."""

MAX_ENTRIES = 50_000_000
"""Largest number of entries that the propagated rows may have."""


class AdjacencyRegression(AttributeAttack):
    """Multinomial logistic regression on rows of A + I, propagated once and twice over A + I.

    Columns are weighted by inverse document frequency, since a link to a hub says little, and rows
    have unit length. The rows propagated once are projected on the main directions of the known
    nodes' rows, which loses nothing with at most `width` known nodes: the coefficients of a ridge
    penalty lie in the span of their rows. The second propagation is that of the projected rows.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="adjacency_regression",
        title="Adjacency regression",
        summary="Learns from whom a node and its neighbours are linked to.",
        source=(
            "Links as features: Macskassy and Provost, JMLR 8, 2007, and Zheleva and Getoor, "
            "WWW 2009; inverse document frequency: Spärck Jones, J. Documentation 28, 1972"
        ),
        group="propagation",
        version=2,
    )
    holds_out = True
    width: int = Field(
        256, ge=1, le=4096, description="Main directions that the known nodes' rows are reduced to."
    )

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        entries = count_entries(release.graph)
        if entries <= MAX_ENTRIES:
            return None
        return (
            f"does not run {THIS_SIZE}: it describes each node by its neighbours' links, at most "
            f"{MAX_ENTRIES:,} in all, here up to {entries:,}"
        )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        context.progress.update(0, len(PENALTIES) + 1, "describing the nodes")
        table = project_rows(
            *read_rows(release.graph), draw_known(threat.known, context), self.width
        )
        walk = normalize_adjacency(release.graph.adjacency, "row", dtype=np.float64)
        table = np.concatenate([table, normalize_rows(walk @ table)], axis=1)
        probabilities, penalty, held_out = fit_logistic(
            table, threat.observed, threat.num_classes, context, PENALTIES, HELD_OUT
        )
        return ClassProbabilities(probabilities, {"inverse_penalty": penalty}, held_out)


def count_entries(graph: Graph) -> int:
    """Upper bound on the non-zero entries of (A + I)²."""
    reach = graph.degrees.astype(np.int64) + 1
    return min(int((reach**2).sum()), graph.num_nodes**2)


def read_rows(graph: Graph) -> tuple[sparse.csr_array, sparse.csr_array]:
    """(n, n) A + I, and X: its rows, column j times 1 + log((1 + n) / (1 + c_j)) with c_j entries
    in column j, of unit length."""
    n = graph.num_nodes
    looped = normalize_adjacency(graph.adjacency, "none", dtype=np.float64)
    looped.eliminate_zeros()
    rarity = 1.0 + np.log((1.0 + n) / (1.0 + np.bincount(looped.indices, minlength=n)))
    return looped, normalize_rows(sparse.csr_array(looped @ sparse.diags_array(rarity)))


def project_rows(
    looped: sparse.csr_array, own: sparse.csr_array, nodes: np.ndarray, width: int
) -> np.ndarray:
    """(n, r ≤ width) coordinates of the unit rows of (A + I) X in the main directions of those of
    the nodes (k,), with A + I and X of `read_rows`."""
    rows = sparse.csr_array(looped @ own)
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    scale = divide_or_zero(1.0, lengths)
    directions = find_directions(sparse.diags_array(scale[nodes]) @ rows[nodes], width)
    # Two products with few entries instead of one with the many of `rows`.
    return np.asarray(scale[:, None] * (looped @ (own @ directions)))


def draw_known(known: np.ndarray, context: Context) -> np.ndarray:
    """The known nodes, or `MAX_SAMPLED` of them at random if there are more."""
    nodes = np.flatnonzero(known)
    if len(nodes) <= MAX_SAMPLED:
        return nodes
    return np.sort(context.rng("directions").choice(nodes, MAX_SAMPLED, replace=False))


def find_directions(rows: sparse.sparray, width: int) -> np.ndarray:
    """(d, r ≤ width) orthonormal main directions of rows (k, d), without those of no length."""
    values, vectors = np.linalg.eigh((rows @ rows.T).toarray())
    kept = np.flatnonzero(values > 1e-9 * max(float(values.max(initial=0.0)), 1e-12))[-width:]
    return np.asarray(rows.T @ (vectors[:, kept] / np.sqrt(values[kept])))
