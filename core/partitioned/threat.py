"""Withheld links of a graph in partitions: what attackers see, and the pairs they are judged on."""

from __future__ import annotations

import hashlib
import shutil
from concurrent.futures import Executor
from pathlib import Path

import numpy as np

from core.errors import InputError
from core.partitioned import measures, releases
from core.partitioned.graph import PartitionedGraph, make_scratch, pack_division, unpack_division
from core.partitioned.links import PartitionedLinks
from core.seeding import Seed
from core.threats import LinkThreat

MAX_JUDGED = 100_000
"""Withheld links on which attacks are judged, uniform among all that are withheld."""

NUM_NON_LINKS = 20_000
"""Number of non-links for very low false-positive rates, as in `core.data.splits`."""

_THREAT = "threat.npz"


def observe_graph(
    executor: Executor, graph: PartitionedGraph, share: float, seed: Seed
) -> tuple[PartitionedGraph, LinkThreat]:
    """`withhold_links`, kept beside the graph's links: the cells of a repeat draw them once."""
    links, name = graph.links, hashlib.sha256(repr((seed.root, seed.path, share)).encode())
    folder = links.folder.parent / f"observed-{name.hexdigest()[:16]}"
    if not (folder / _THREAT).exists():
        scratch = make_scratch(links, "observed")
        observed, threat = withhold_links(executor, links, scratch, share, seed)
        assert threat.more_absent is not None
        arrays = pack_division(observed) | {
            "hidden": threat.hidden,
            "absent": threat.absent,
            "more": threat.more_absent,
            "prior": np.array(threat.prior),
        }
        np.savez(scratch / _THREAT, allow_pickle=False, **arrays)
        try:
            scratch.rename(folder)
        except OSError:  # another process was first
            if not (folder / _THREAT).exists():
                raise
            shutil.rmtree(scratch)
    with np.load(folder / _THREAT, allow_pickle=False) as stored:
        found = {key: stored[key] for key in stored.files}
    threat = LinkThreat(
        found["hidden"], found["absent"], float(found["prior"]), more_absent=found["more"]
    )
    return graph.with_links(unpack_division(found, folder)), threat


def withhold_links(
    executor: Executor,
    links: PartitionedLinks,
    folder: Path,
    share: float,
    seed: Seed,
    max_judged: int = MAX_JUDGED,
) -> tuple[PartitionedLinks, LinkThreat]:
    """The links without a share of them, and at most `max_judged` of those beside as many
    non-links.

    Non-links are uniform among all pairs of nodes with links. Raises InputError for a share that
    withholds none, and for a graph with too few non-links.
    """
    if not 0 < share < 1 or round(share * links.num_links) < 1:
        raise InputError("share of withheld links", "must withhold some links, not all", share)
    observed = releases.delete_at_random(executor, links, folder, share, seed)
    hidden = releases.sample_deleted(executor, links, share, seed, max_judged)
    absent = _draw_absent(executor, links, len(hidden), seed.rng("absent"))
    left = links.num_pairs - observed.num_links
    prior = (links.num_links - observed.num_links) / left
    absent, more = absent[: len(hidden)], absent[len(hidden) :]
    return observed, LinkThreat(hidden, absent, prior, more_absent=more)


def _draw_absent(
    executor: Executor, links: PartitionedLinks, fewest: int, rng: np.random.Generator
) -> np.ndarray:
    """Distinct non-links i < j, uniform among pairs of nodes with links: at least `fewest`, and
    NUM_NON_LINKS if a half of all pairs are as many."""
    nodes = np.flatnonzero(links.degrees)
    available = len(nodes) * (len(nodes) - 1) // 2 - links.num_links
    if available < 2 * fewest:
        rule = f"must have at least {2 * fewest:,} pairs without a link"
        raise InputError("graph", rule, available, "withhold fewer links")
    count = max(fewest, min(NUM_NON_LINKS, available // 2))
    found = np.empty((0, 2), np.int64)
    while len(found) < count:
        pairs = np.sort(nodes[rng.integers(len(nodes), size=(2 * count, 2))], axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        found = np.concatenate([found, pairs[~measures.contains_pairs(executor, links, pairs)]])
        _, first = np.unique(found @ [links.num_nodes, 1], return_index=True)
        found = found[np.sort(first)]
    return found[:count]
