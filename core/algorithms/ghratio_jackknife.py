"""Noise of mean GHRatios beyond chance, where nodes share links and peers.

A node's value counts in its own ratio and in that of everyone it is compared with, so nodes are not
independent. The jackknife leaves out one node at a time with its links (Lin, Lunde & Sarkar, On the
theoretical properties of the network jackknife, ICML 2020), here in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
from scipy import sparse
from scipy.special import stdtrit

from core.algorithms.ghratio import count_degrees
from core.graph import Graph
from core.node_column import MISSING

Gather = Callable[[Sequence[np.ndarray], bool], Sequence[np.ndarray]]
"""k times (n,) numbers → the sums (n,) of each over each node's set, or over those in it of its
class alone."""

SETS = ("proximity", "role", "combined")


def compute_margins(
    graph: Graph,
    codes: np.ndarray,
    num_classes: int,
    tolerance: float,
    sets: Collection[str] = SETS,
) -> dict[str, float]:
    """Metric of `measure_ghratios` → half of its 95 % interval over nodes; NaN with fewer than two
    known nodes.

    codes  (n,) int, −1 unknown. Degrees, and with them the role sets, are kept where a node is left
    out. Student's t with the effective number of nodes, (Σu)² / Σu² of the squared deviations u: a
    few hubs may carry all of the noise. O(n log n + m + nC).
    """
    codes = np.asarray(codes)
    known, degrees, edges = codes != MISSING, count_degrees(graph), graph.present_edges
    links = edges if known.all() else edges[known[edges].all(axis=1)]
    near = _gather_links(links, codes)
    role = _gather_peers(codes, known, degrees, num_classes, tolerance)
    gathers: dict[str, Gather] = {"proximity": near, "role": role}
    if "combined" in sets:
        is_peer = np.abs(np.subtract(*degrees[links].T)) <= tolerance
        beyond = _gather_links(links[~is_peer], codes)
        gathers["combined"] = lambda values, same: [
            np.add(*each) for each in zip(role(values, same), beyond(values, same), strict=True)
        ]
    found: dict[str, float] = {}
    for name in sets:
        gather = gathers[name]
        ratios, gaps = map(_measure_margin, _leave_out_each(gather, codes))
        found |= {f"ghratio_{name}": ratios, f"ghratio_{name}_gap": gaps}
    return found


def _leave_out_each(gather: Gather, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k,) mean ratio without each of the known nodes, and the same less the class share."""
    known = codes != MISSING
    sizes = np.bincount(codes[known], minlength=1)
    own, total = np.where(known, sizes[codes], 0), int(known.sum())  # nodes of the same class
    ((size,), (same,)) = (gather([known.astype(float)], is_same) for is_same in (False, True))
    is_defined, is_lone = known & (size > 0), known & (size == 1)
    ratios = np.divide(same, size, out=np.zeros(len(codes)), where=is_defined)
    # Without a node of its set, i's ratio is (same_i − [same class]) / (size_i − 1).
    step = np.divide(1.0, size - 1, out=np.zeros(len(codes)), where=known & (size > 1))
    # Those who have one node in their set only, where there are any.
    alone = [is_lone.astype(float)] if is_lone.any() else []
    changes, *lone_all = gather([same * step - ratios, *alone, *(own * a for a in alone)], False)
    changed, *lone_alike = gather([step, *alone], True)
    changes = changes - changed
    lone, lone_own, lone_same = [*lone_all, *lone_alike] or np.zeros((3, 1))
    count = is_defined.sum() - is_defined - lone
    chance = (is_defined @ own - is_defined * own - lone_own) - (
        np.bincount(codes[is_defined], minlength=len(sizes))[codes] - is_defined - lone_same
    )
    left = known & (count > 0)
    sums = ratios.sum() - ratios + changes
    means, shares = (each[left] / count[left] for each in (sums, chance / max(total - 1, 1)))
    return means, means - shares


def _measure_margin(values: np.ndarray) -> float:
    if len(values) < 2:
        return np.nan
    squares = (values - values.mean()) ** 2
    total, least = float(squares.sum()), float((squares**2).sum())
    if not total:
        return 0.0
    variance = total * (len(values) - 1) / len(values)
    quantile = float(stdtrit(max(total**2 / least, 1.0), 0.975))
    return float(quantile * np.sqrt(variance))


def _gather_links(links: np.ndarray, codes: np.ndarray) -> Gather:
    """Over neighbours."""
    is_alike, n = codes[links[:, 0]] == codes[links[:, 1]], len(codes)
    halves = {same: _fill_half(links[is_alike] if same else links, n) for same in (True, False)}

    def gather(values: Sequence[np.ndarray], is_same: bool) -> Sequence[np.ndarray]:
        half, columns = halves[is_same], np.stack(values, axis=1)
        return list(np.ascontiguousarray((half @ columns + half.T @ columns).T))

    return gather


def _fill_half(links: np.ndarray, n: int) -> sparse.csr_array:
    """(n, n) ones at the links from lower to higher, of which these are in order."""
    starts = np.append(0, np.bincount(links[:, 0], minlength=n).cumsum())
    return sparse.csr_array((np.ones(len(links)), links[:, 1], starts), shape=(n, n))


def _gather_peers(
    codes: np.ndarray, known: np.ndarray, degrees: np.ndarray, num_classes: int, tolerance: float
) -> Gather:
    """Over other known nodes of like degree: windows in the list of distinct degrees."""
    is_there = np.bincount(degrees) > 0
    distinct, position = np.flatnonzero(is_there), (is_there.cumsum() - 1)[degrees]
    low = np.searchsorted(distinct, distinct - tolerance, side="left")
    high = np.searchsorted(distinct, distinct + tolerance, side="right")
    places = (position * num_classes + codes)[known]
    own = np.where(known, codes, 0)

    def gather(values: np.ndarray, is_same: bool) -> np.ndarray:
        table = np.bincount(places, values[known], len(distinct) * num_classes)
        table = table.reshape(len(distinct), num_classes)
        prefix = np.vstack([np.zeros(num_classes), table.cumsum(axis=0)])
        window = prefix[high] - prefix[low]
        sums = window[position, own] if is_same else window.sum(axis=1)[position]
        return np.where(known, sums - values, 0)

    return lambda values, is_same: [gather(each, is_same) for each in values]
