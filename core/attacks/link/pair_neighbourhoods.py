"""Structure around the ends of a pair: paths of three links, clustering, neighbours' degrees."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.algorithms.fingerprints import count_links_and_triangles
from core.algorithms.pairs import split_by_work
from core.attacks.link.heuristics import compute_strengths
from core.context import Context
from core.graph import Graph

PATH_COLUMN = "paths of three links"
END_COLUMNS = tuple(
    f"{which} {what}"
    for what in ("clustering", "triangles", "neighbours' degree")
    for which in ("lower", "higher")
)


def describe_ends(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k, 6) END_COLUMNS: local clustering, log triangles, log mean degree of the neighbours.

    The smaller value of a pair stands first, so that a pair has no direction.
    """
    nodes = context.share(("cohesion", graph.content_hash), lambda _: _describe_nodes(graph))
    ends = np.sort(nodes[pairs], axis=1)
    described: np.ndarray = ends.transpose(0, 2, 1).reshape(len(pairs), -1)
    return described


def _describe_nodes(graph: Graph) -> np.ndarray:
    degrees, triangles = count_links_and_triangles(graph)
    wedges = np.maximum(degrees * (degrees - 1) / 2, 1)
    strengths = compute_strengths(graph)
    total = graph.adjacency.astype(np.float64) @ strengths
    near = np.divide(total, strengths, out=np.zeros(graph.num_nodes), where=strengths > 0)
    return np.stack([triangles / wedges, np.log1p(triangles), np.log1p(near)], axis=1)


def compute_three_paths(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k,) Σ_uv w_iu w_uv w_vj / √(s_u s_v), s the weighted degrees: paths that avoid hubs.

    Source: L3 of Kovács et al., Network-based prediction of protein interactions, Nature
    Communications 2019. Finds links between unlike nodes, which have no neighbour in common.
    """
    matrix = sparse.csr_array(graph.adjacency, dtype=np.float64)
    strengths = compute_strengths(graph)
    scale = np.divide(1.0, np.sqrt(strengths), out=np.zeros_like(strengths), where=strengths > 0)
    rows = sparse.csr_array(matrix @ sparse.diags_array(scale))
    near = (matrix != 0).astype(np.float64)
    widths = np.minimum(near @ np.asarray(near.sum(axis=1)).ravel(), graph.num_nodes)
    found = np.zeros(len(pairs))
    tiles = split_by_work(widths[pairs].sum(axis=1), max(context.memory_budget // 64, 1))
    for number, places in enumerate(tiles):
        context.progress.update(number, len(tiles), "paths of three links")
        if len(places):
            left = rows[pairs[places, 0]] @ matrix
            right = rows[pairs[places, 1]]
            found[places] = np.asarray(left.multiply(right).sum(axis=1)).ravel()
    return found
