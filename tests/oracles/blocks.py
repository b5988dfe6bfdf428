"""Degree-corrected block models with many uneven classes."""

from __future__ import annotations

import numpy as np

from core.graph import Graph
from core.node_column import NodeColumn

PEOPLE, LINKS, INSIDE = 1000, 16_000, 0.25
"""Size of a generated graph, and the share of links within a class beyond those by degree."""


def generate_blocks(num_classes: int, seed: int, inside: float = INSIDE) -> Graph:
    """A degree-corrected block model (Karrer and Newman, 2011) with uneven classes, log-normal
    degrees, and pairs of classes that meet unevenly; a share `inside` of the links joins members of
    one class beyond those by degree."""
    rng = np.random.default_rng([seed, num_classes])
    sizes = rng.gamma(2.0, size=num_classes) + 0.1
    codes = rng.choice(num_classes, PEOPLE, p=sizes / sizes.sum())
    theta = rng.lognormal(0.0, 1.0, PEOPLE)
    mass = np.bincount(codes, theta, minlength=num_classes) + 1e-9
    affinity = np.triu(rng.lognormal(0.0, 1.0, (num_classes, num_classes)))
    between = (affinity + affinity.T) * np.outer(mass, mass)
    np.fill_diagonal(between, 0.0)
    rates = (1.0 - inside) * between / between.sum() + inside * np.diag(mass / mass.sum())
    rates *= 2 * LINKS / np.outer(mass, mass)
    i, j = np.triu_indices(PEOPLE, 1)
    linked = rng.random(len(i)) < -np.expm1(-rates[codes[i], codes[j]] * theta[i] * theta[j])
    private = NodeColumn("private", codes, tuple(f"c{number}" for number in range(num_classes)))
    pairs = np.stack([i, j], axis=1)[linked]
    return Graph.from_pairs(pairs, PEOPLE, attributes={"private": private}, name="blocks")


def draw_exact_blocks(
    num_classes: int, num_people: int, degree: float, seed: int
) -> tuple[Graph, np.ndarray, np.ndarray]:
    """A block model whose posterior is known: graph, (n,) known people and (n, C) posterior.

    Half of the people are known, and the hidden ones have links to these only, so that Bayes' rule
    on the links of each and the true rates is exact: to `degree` of them in the mean, half of these
    members of its own class, the others anybody.
    """
    rng = np.random.default_rng([seed, num_classes])
    sizes = rng.gamma(4.0, size=num_classes) + 0.1
    shares = sizes / sizes.sum()
    codes = rng.choice(num_classes, num_people, p=shares)
    known = np.arange(num_people) < num_people // 2
    theta = rng.lognormal(0.0, 0.7, num_people)
    theta *= degree * len(theta[~known]) / theta[~known].sum()
    members = np.bincount(codes[known], minlength=num_classes)
    rates = np.full((num_classes, num_classes), 0.5 / known.sum())
    rates += np.diag(0.5 / np.maximum(members, 1))
    chances = -np.expm1(-theta[~known, None, None] * rates[None])  # (hidden, class, class of other)
    hidden = np.flatnonzero(~known)
    own = chances[np.arange(len(hidden)), codes[hidden]][:, codes[known]]
    linked = rng.random(own.shape) < own
    counts = linked @ np.eye(num_classes)[codes[known]]
    logs = np.einsum("hc,hzc->hz", counts, np.log(chances))
    logs += np.einsum("hc,hzc->hz", members - counts, np.log1p(-chances)) + np.log(shares)
    posterior = np.tile(shares, (num_people, 1))
    posterior[hidden] = np.exp(logs - logs.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    rows, columns = np.nonzero(linked)
    pairs = np.stack([np.flatnonzero(known)[columns], hidden[rows]], axis=1)
    private = NodeColumn("private", codes, tuple(f"c{number}" for number in range(num_classes)))
    graph = Graph.from_pairs(pairs, num_people, attributes={"private": private}, name="exact")
    return graph, known, posterior
