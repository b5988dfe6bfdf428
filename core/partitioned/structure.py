"""Structural change by a release of partitioned links, as `core.measures.structure` measures it.

What needs all links at once (distances, components, clustering by node) is named as not measured;
triangles are estimated on sampled wedges.
"""

from __future__ import annotations

import numpy as np

from core.arrays import is_among
from core.context import Context
from core.measures.metrics import STATISTICS
from core.measures.structure import (
    compute_ks,
    compute_mmd,
    compute_relative_error,
    measure_entropy,
    measure_exact,
    measure_ratio,
)
from core.partitioned.links import ONE_PROCESS, Inline, PartitionedLinks, run_on_partitions
from core.partitioned.measures import WEDGES, estimate_clustering
from core.progress import Progress
from core.results import Measurement


def measure_structure(
    original: PartitionedLinks, released: PartitionedLinks, context: Context
) -> list[Measurement]:
    """The metrics of `core.measures.structure.measure_structure`, without values of links.

    Raises InputError if the two are divided differently.
    """
    kept, total = count_kept(original, released, context.progress), original.num_links
    scale = max(float(original.degrees.mean()), 1e-12)
    old, new = (_compute_statistics(links, context) for links in (original, released))
    mmd = compute_mmd(original.degrees / scale, released.degrees / scale, 1.0)
    result = [
        measure_ratio("links_kept", kept, total),
        measure_ratio("links_added", released.num_links - kept, total),
        measure_ratio("link_f1", 2 * kept, total + released.num_links),
        measure_exact("degree_ks", compute_ks(original.degrees, released.degrees)),
        measure_exact("mmd_degree", mmd),
        _refuse("mmd_clustering"),
    ]
    for key in STATISTICS:
        result += [new[key], compute_relative_error(key, old[key], new[key])]
    return result


def count_kept(
    before: PartitionedLinks, after: PartitionedLinks, progress: Progress | None = None
) -> int:
    """Links of both; the partitions are the same ranges of nodes."""
    assert before.bounds == after.bounds
    counts = run_on_partitions(Inline(progress), _count_kept, before, after)
    return int(sum(counts))


def _count_kept(before: PartitionedLinks, number: int, after: PartitionedLinks) -> int:
    codes = [links.load_partition(number).owned @ [links.num_nodes, 1] for links in (before, after)]
    return int(is_among(codes[1], codes[0]).sum())


def _compute_statistics(links: PartitionedLinks, context: Context) -> dict[str, Measurement]:
    """Each statistic of `STATISTICS`: exact by degrees, estimated, or not measured."""
    degrees = np.asarray(links.degrees, np.float64)
    wedges = degrees * (degrees - 1) / 2
    found = {key: _refuse(key) for key in STATISTICS}
    found["wedge_count"] = measure_exact("wedge_count", wedges.sum())
    found["claw_count"] = measure_exact("claw_count", (wedges * (degrees - 2) / 3).sum())
    found["edge_entropy"] = measure_entropy(degrees)
    inline, seed = Inline(context.progress), context.seed.child("wedges")
    closed = estimate_clustering(inline, links, seed, WEDGES)
    share, third = float(closed.value or 0.0), float(wedges.sum()) / 3
    variance = share * (1 - share) / max(closed.n, 1) * third**2
    found["triangle_count"] = Measurement("triangle_count", share * third, variance, closed.n)
    return found


def _refuse(metric: str) -> Measurement:
    return Measurement(metric, None, reason=ONE_PROCESS)
