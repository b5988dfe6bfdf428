"""Releases of partitioned links: random deletion, and EdgeRand under differential privacy.

A partition decides on the pairs i < j of its nodes i, with a random stream of its own: a release
depends on the seed and the partitions, not on the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

import numpy as np

from core.context import Context
from core.partitioned.links import PartitionedLinks, run_jobs, write_links
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE
from core.privacy.mechanisms import check_release_fits
from core.release import Guarantee
from core.seeding import Seed


def delete_at_random(
    executor: Executor, links: PartitionedLinks, folder: Path, strength: float, seed: Seed
) -> PartitionedLinks:
    """Write the links without round(strength · m) of them, uniform without replacement."""
    tasks = _share_deletions(links, strength, seed)
    sources = [partial(_keep_links, *task) for task in tasks]
    return write_links(executor, folder, sources, links.num_nodes, links.bounds)


def sample_deleted(
    executor: Executor, links: PartitionedLinks, strength: float, seed: Seed, count: int
) -> np.ndarray:
    """(k ≤ count, 2) links that `delete_at_random` removes with this seed, uniform among them."""
    tasks = _share_deletions(links, strength, seed)
    removed = [task[2] for task in tasks]
    wanted = seed.rng("sample").multivariate_hypergeometric(removed, min(count, sum(removed)))
    drawn = zip(tasks, wanted.tolist(), strict=True)
    return np.concatenate(list(run_jobs(executor, _sample_removed, ((*t, k) for t, k in drawn))))


def publish_edge_rand(
    executor: Executor, links: PartitionedLinks, folder: Path, epsilon: float, context: Context
) -> tuple[PartitionedLinks, Guarantee]:
    """Write the links after randomised response on every pair, as `EdgeRand`, and the guarantee.

    Raises ResourceError if a partition's release would not fit the memory budget.
    """
    account = Account(EDGE, epsilon, context)
    flip = account.spend_bits().flip
    owned = np.array(links.owned, dtype=float)
    pairs = np.array([_count_pairs(links, k)[-1] for k in range(links.num_partitions)], float)
    expected = owned * (1 - flip) + (pairs - owned) * flip
    remedy = "raise epsilon or use more partitions"
    check_release_fits("EdgeRand", float(expected.max()), context, remedy)
    sources = [
        partial(_flip_pairs, links, number, flip, context.seed.child("flips", number))
        for number in range(links.num_partitions)
    ]
    released = write_links(executor, folder, sources, links.num_nodes, links.bounds)
    return released, account.make_guarantee()


def _share_deletions(
    links: PartitionedLinks, strength: float, seed: Seed
) -> list[tuple[PartitionedLinks, int, int, Seed]]:
    """Arguments of `_choose_removed` for each partition."""
    removed = round(strength * links.num_links)
    counts = seed.rng("partitions").multivariate_hypergeometric(links.owned, removed)
    return [
        (links, number, count, seed.child("links", number))
        for number, count in enumerate(counts.tolist())
    ]


def _choose_removed(
    links: PartitionedLinks, number: int, removed: int, seed: Seed
) -> tuple[np.ndarray, np.ndarray]:
    """Links of a partition, and the places of those removed, in random order."""
    pairs = links.load_partition(number).owned
    return pairs, seed.rng().choice(len(pairs), removed, replace=False)


def _keep_links(
    links: PartitionedLinks, number: int, removed: int, seed: Seed
) -> Iterator[np.ndarray]:
    pairs, places = _choose_removed(links, number, removed, seed)
    yield np.delete(pairs, places, axis=0)


def _sample_removed(
    links: PartitionedLinks, number: int, removed: int, seed: Seed, count: int
) -> np.ndarray:
    pairs, places = _choose_removed(links, number, removed, seed)
    return np.asarray(pairs[places[:count]])


def _flip_pairs(
    links: PartitionedLinks, number: int, flip: float, seed: Seed
) -> Iterator[np.ndarray]:
    """Links kept and false links, by the distribution of `mechanisms.draw_flips`.

    The pairs of the partition are numbered by (i, j). The r-th pair that is no link has the number
    r plus the number of links before it.
    """
    first, rng = links.bounds[number], seed.rng()
    pairs = links.load_partition(number).owned
    ends = _count_pairs(links, number)
    starts = np.concatenate([[0], ends[:-1]])
    taken = starts[pairs[:, 0] - first] + pairs[:, 1] - pairs[:, 0] - 1
    kept = pairs[rng.random(len(pairs)) >= flip]
    available = int(ends[-1]) - len(pairs)
    ranks = rng.choice(available, rng.binomial(available, flip), replace=False, shuffle=False)
    numbers = ranks + np.searchsorted(taken - np.arange(len(taken)), ranks, side="right")
    rows = np.searchsorted(ends, numbers, side="right")
    added = np.stack([rows + first, rows + first + 1 + numbers - starts[rows]], axis=1)
    yield np.concatenate([kept, added])


def _count_pairs(links: PartitionedLinks, number: int) -> np.ndarray:
    """(k,) int64 pairs i < j up to and including each node i of a partition."""
    first, stop = links.bounds[number : number + 2]
    return np.cumsum(links.num_nodes - 1 - np.arange(first, stop))
