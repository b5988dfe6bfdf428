"""What a release keeps of the values of links: sums a node, their ranks, and ranks of times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.arrays import find_places, pair_codes
from core.data.link_release import WEIGHT, has_weights, list_link_columns
from core.data.release_columns import LINK_PREFIX
from core.graph import Graph
from core.results import Measurement


def compute_sum_error(before: Graph, after: Graph, name: str) -> float | None:
    """Mean over nodes of the difference of their sums of a column of numbers, as a share of the
    mean sum before; None without values."""
    sums = [_sum_values(graph, name) for graph in (before, after)]
    total = np.abs(sums[0]).sum()
    return float(np.abs(sums[1] - sums[0]).sum() / total) if total else None


def compute_strength_rank(before: Graph, after: Graph, name: str) -> float | None:
    """Spearman correlation of the sums a node of a column of numbers; None if either is equal for
    all."""
    return correlate_ranks(*(_sum_values(graph, name) for graph in (before, after)))


def compute_time_rank(before: Graph, after: Graph, name: str) -> float | None:
    """Spearman correlation of the mean time of the links that both graphs have; None without
    any."""
    means = [_average_links(graph, name) for graph in (before, after)]
    places = find_places(before.edge_codes, pair_codes(after.edges, after.num_nodes))
    known = places >= 0
    pairs = np.stack([means[0][known], means[1][places[known]]])
    return correlate_ranks(*pairs[:, ~np.isnan(pairs).any(axis=0)])


def measure_link_values(before: Graph, after: Graph) -> list[Measurement]:
    """value_sum_error and strength_rank of the column of numbers of the links that keeps least, the
    weights among them, and time_rank likewise of times; those that the graph has."""
    kinds = {name: _find_kind(before, name) for name in list_link_columns(before)}
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    times = [name for name, kind in kinds.items() if kind == "time"]
    found = []
    if numbers:
        errors = [compute_sum_error(before, after, name) for name in numbers]
        ranks = [compute_strength_rank(before, after, name) for name in numbers]
        found = [_pick("value_sum_error", errors, max), _pick("strength_rank", ranks, min)]
    if times:
        ranks = [compute_time_rank(before, after, name) for name in times]
        found.append(_pick("time_rank", ranks, min))
    return found


def _pick(
    metric: str, values: list[float | None], choose: Callable[[list[float]], float]
) -> Measurement:
    known = [value for value in values if value is not None]
    if not known:
        return Measurement(metric, None, reason="the release has no such values")
    return Measurement(metric, choose(known))


def _find_kind(graph: Graph, name: str) -> str:
    table = graph.link_table
    if has_weights(graph, name) or table is None:
        return "number"
    return table.columns[name.removeprefix(LINK_PREFIX)].kind


def correlate_ranks(first: np.ndarray, second: np.ndarray) -> float | None:
    """Spearman correlation, ties at their mean rank; None if either is constant."""
    ranks = [_rank(values) for values in (first, second)]
    if len(first) < 2 or any(np.ptp(rank) == 0 for rank in ranks):
        return None
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _rank(values: np.ndarray) -> np.ndarray:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - (counts - 1) / 2)[place])


def _read(graph: Graph, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Number of the link (e,) and float64 value (e,) of each known value of a column."""
    if name == WEIGHT and graph.weights is not None:
        return np.arange(graph.num_edges), graph.weights
    table = graph.link_table
    if name not in list_link_columns(graph) or table is None:
        return np.empty(0, np.int64), np.empty(0)
    column = table.columns[name.removeprefix(LINK_PREFIX)]
    return table.links[column.known], column.values[column.known].astype(np.float64)


def _sum_values(graph: Graph, name: str) -> np.ndarray:
    """(n,) sum over the links of each node."""
    links, values = _read(graph, name)
    ends = graph.edges[links]
    return np.bincount(ends.ravel(), np.repeat(values, 2), graph.num_nodes)


def _average_links(graph: Graph, name: str) -> np.ndarray:
    """(m,) mean over the rows of each link, NaN without any."""
    links, values = _read(graph, name)
    counts = np.bincount(links, minlength=graph.num_edges)
    sums = np.bincount(links, values, graph.num_edges)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(counts > 0, sums / counts, np.nan))
