"""Degree-corrected block models with many uneven classes."""

from __future__ import annotations

import numpy as np

from core.attribute import Attribute
from core.graph import Graph

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
    private = Attribute("private", codes, tuple(f"c{number}" for number in range(num_classes)))
    pairs = np.stack([i, j], axis=1)[linked]
    return Graph.from_pairs(pairs, PEOPLE, attributes={"private": private}, name="blocks")
