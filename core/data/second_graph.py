"""The auxiliary graph of a re-identification attacker: given, or simulated by sampling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.algorithms.pairs import count_candidates, sample_candidates
from core.data.link_release import draw_rows
from core.errors import InputError
from core.graph import Graph
from core.seeding import Seed
from core.threats import IdentityThreat


def draw_identity_threat(
    original: Graph,
    seed: Seed,
    overlap: float = 0.9,
    noise: float = 0.0,
    num_seeds: int = 20,
    known: Graph | None = None,
) -> IdentityThreat:
    """The re-identification threat of one repeat.

    overlap  share of the original's links in the simulated auxiliary graph, kept independently
    (Pedarsani and Grossglauser, KDD 2011)
    noise    links added at random, as a share of the original's links
    num_seeds  nodes already matched, drawn among those with links in both graphs
    known    a given auxiliary graph; its nodes are matched by id

    Raises InputError if the graphs have no node in common, or fewer than the seeds.
    """
    if known is None:
        known, source = sample_second_graph(original, seed, overlap, noise), "sampled"
    else:
        source = known.name
        known = known.with_columns(())
        # in a random order: nothing can be read off the numbers
        known = known.subgraph(seed.rng("order").permutation(known.num_nodes))
    people = np.array([original.index.get(node, -1) for node in known.node_ids], np.int64)
    common = np.flatnonzero(people >= 0)
    if not len(common):
        raise InputError(
            "second graph",
            "must have people in common with the graph",
            f"ids such as {known.node_ids[0]}",
            f"the graph's ids are such as {original.node_ids[0]}",
        )
    linked = common[(known.degrees[common] > 0) & (original.degrees[people[common]] > 0)]
    if num_seeds > len(linked):
        raise InputError(
            "known seeds",
            f"must be at most the {len(linked)} people with links in both graphs",
            num_seeds,
            "lower --seeds-known",
        )
    chosen = seed.rng("seeds").choice(linked, num_seeds, replace=False)
    seeds = np.stack([chosen, people[chosen]], axis=1)
    return IdentityThreat(original, known, people, seeds, source)


def sample_second_graph(original: Graph, seed: Seed, overlap: float, noise: float) -> Graph:
    """The original's nodes in random order, with a sample of their links and random others.

    A link keeps its weight and its rows of the link table; an added one has a weight and rows like
    those of others.
    """
    rng = seed.rng("second graph")
    is_kept = rng.random(original.num_edges) < overlap
    kept = original.edges[is_kept]
    wanted = round(noise * original.num_edges)
    added = sample_candidates(original, min(wanted, count_candidates(original)), rng)
    weights = original.weights
    if weights is not None:
        others = seed.rng("values of added links").choice(weights, len(added))
        weights = np.concatenate([weights[is_kept], others])
    pairs = np.concatenate([kept, added])
    second = Graph.from_pairs(pairs, original.num_nodes, weights, node_ids=original.node_ids)
    table = draw_rows(original, second, seed.rng("columns of added links"))
    second = replace(second, link_table=table)
    return second.subgraph(rng.permutation(original.num_nodes))
