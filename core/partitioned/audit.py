"""An audit of partitioned links: people unique by links, withheld links, a private column."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.errors import InputError
from core.measures.intervals import combine_measurements
from core.measures.ranking import measure_class_probabilities, measure_link_scores
from core.partitioned import attacks, measures, releases
from core.partitioned.links import PartitionedLinks
from core.results import ClassProbabilities, Estimate, PairScores
from core.seeding import Seed
from core.threats import AttributeThreat, LinkThreat


@dataclass(frozen=True)
class Uniqueness:
    """Shares of the nodes with links that nobody else is like, exactly counted.

    by_degree, by_neighbor_degrees  what is known of a node: its number of links; also those of its
    neighbours
    """

    num_nodes: int
    by_degree: float
    by_neighbor_degrees: float


def measure_uniqueness(executor: Executor, links: PartitionedLinks) -> Uniqueness:
    """Anonymity under two degrees of knowledge (Hay et al. 2008)."""
    has_links = links.degrees > 0
    count = int(has_links.sum())
    by_degree, by_neighbors = (
        float((sets.sizes == 1)[has_links].sum() / max(count, 1))
        for sets in (
            measures.find_degree_sets(links),
            measures.find_neighbor_degree_sets(executor, links),
        )
    )
    return Uniqueness(count, by_degree, by_neighbors)


def withhold_links(
    executor: Executor,
    links: PartitionedLinks,
    folder: Path,
    share: float,
    max_pairs: int,
    seed: Seed,
) -> tuple[PartitionedLinks, LinkThreat]:
    """The links without a share of them, and at most `max_pairs` of those beside as many non-links.

    Non-links are uniform among all pairs of nodes with links.
    """
    observed = releases.delete_at_random(executor, links, folder, share, seed)
    hidden = releases.sample_deleted(executor, links, share, seed, max_pairs)
    absent = _draw_absent(executor, links, len(hidden), seed.rng("absent"))
    left = links.num_pairs - observed.num_links
    return observed, LinkThreat(hidden, absent, (links.num_links - observed.num_links) / left)


def attack_links(
    executor: Executor, release: PartitionedLinks, threat: LinkThreat
) -> dict[str, Estimate]:
    """Method key → AUC of the withheld links, with its interval."""
    return {
        key: combine_measurements([measure_link_scores(PairScores(scores), threat)[0]])
        for key, scores in attacks.score_pairs(executor, release, threat.pairs).items()
    }


def attack_attribute(
    executor: Executor, release: PartitionedLinks, threat: AttributeThreat
) -> Estimate:
    """AUC of label propagation over the hidden values, with its interval."""
    prior = threat.observed_shares
    shares = attacks.propagate_labels(executor, release, threat.observed, prior)
    return combine_measurements(
        [measure_class_probabilities(ClassProbabilities(shares), threat)[0]]
    )


def _draw_absent(
    executor: Executor, links: PartitionedLinks, count: int, rng: np.random.Generator
) -> np.ndarray:
    """(count, 2) distinct non-links i < j, uniform among pairs of nodes with links."""
    nodes = np.flatnonzero(links.degrees)
    available = len(nodes) * (len(nodes) - 1) // 2 - links.num_links
    if available < 2 * count:
        rule = f"must have at least {2 * count:,} pairs without a link"
        raise InputError("graph", rule, available, "lower --pairs")
    found = np.empty((0, 2), np.int64)
    while len(found) < count:
        pairs = np.sort(nodes[rng.integers(len(nodes), size=(2 * count, 2))], axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        found = np.concatenate([found, pairs[~measures.contains_pairs(executor, links, pairs)]])
        _, first = np.unique(found @ [links.num_nodes, 1], return_index=True)
        found = found[np.sort(first)]
    return found[:count]
