"""Temperature of predictions that were learned on a shadow graph, chosen within that graph.

Nodes held out at random are neighbours of training nodes and share their local structure; nodes
of another graph do not. So the shadow graph is split into two parts of whole communities, each
part is predicted by a model of the other, and the temperature with the lowest log-loss there is
applied to the release. Known nodes of the release would not do: their neighbours' features
depend on their values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import softmax

from core.algorithms.communities import find_communities
from core.data.release_columns import leave_out_people
from core.graph import MISSING, Attribute, Graph
from core.models.pooling import FEWEST
from core.models.shadow_graph import translate_codes

SURENESS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Candidate exponents (inverse temperatures); never 0, so that nodes stay ranked."""

MOST_CUTS = 3
"""Random splits that are tried: with few communities a single one may be easy by chance."""
MANY = 20_000
"""Nodes in all splits together above which no further split is made: chance evens out."""

Infer = Callable[[Graph, np.ndarray, Graph], tuple[np.ndarray, np.ndarray]]
"""From a graph, its observed codes (n,) and the graph that teaches: (n, C), and the prior (C,)."""
Rehearsed = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Predictions (h, C), the prior (C,) and the truth (h,)."""


def find_sureness(
    other: Graph, private: Attribute, share: float, infer: Infer, rng: np.random.Generator
) -> float:
    """The exponent for predictions of `infer`, by log-loss on each part of the shadow graph; 1
    where its parts are too small to tell.

    private  the release's column: its name and classes count, its codes are not read
    share    of the nodes whose value is known in the release, and hence in the predicted part
    """
    codes = translate_codes(other.attribute(private.name), private.classes)
    rehearsed: list[Rehearsed] = []
    for _ in range(count_cuts(other)):
        side, is_told = split_places(other, rng), rng.random(other.num_nodes) < share
        for part in (side, ~side):
            judged = ~is_told[part] & (codes[part] != MISSING)
            taught = np.unique(codes[~part & (codes != MISSING)])
            if judged.sum() < FEWEST or len(taught) < 2:
                continue
            observed = np.where(is_told[part], codes[part], MISSING)
            said, prior = infer(_take(other, part), observed, _take(other, ~part))
            rehearsed.append((said[judged], prior, codes[part][judged]))
    return choose_sureness(rehearsed)


def count_cuts(other: Graph) -> int:
    """Number of splits for a graph of this size."""
    return int(np.clip(MANY // other.num_nodes, 1, MOST_CUTS))


def split_places(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    """(n,) bool: one of two parts about as large, each of whole communities."""
    labels = find_communities(graph, rng)
    sizes = np.bincount(labels)
    # The largest first, or the parts would be uneven, but not always the same ones together.
    order = np.argsort(-sizes * rng.uniform(0.5, 1.0, len(sizes)))
    is_first, lead = np.zeros(len(sizes), bool), 0
    for place in order:
        is_first[place] = lead <= 0
        lead += sizes[place] if lead <= 0 else -sizes[place]
    return np.asarray(is_first[labels])


def choose_sureness(rehearsed: Sequence[Rehearsed]) -> float:
    """The exponent with the lowest log-loss over all splits; 1 without any."""
    if not rehearsed:
        return 1.0
    losses = []
    for sureness in SURENESS:
        tempered = [temper(said, prior, sureness) for said, prior, _ in rehearsed]
        chosen = [
            table[np.arange(len(truth)), truth]
            for table, (_, _, truth) in zip(tempered, rehearsed, strict=True)
        ]
        losses.append(-np.log(np.maximum(np.concatenate(chosen), 1e-12)).mean())
    return SURENESS[int(np.argmin(losses))]


def temper(chances: np.ndarray, prior: np.ndarray, sureness: float) -> np.ndarray:
    """(n, C) ∝ chances^s · prior^(1 − s) for probabilities (n, C), a prior (C,) and s."""
    logs = sureness * np.log(np.maximum(chances, 1e-12)) + (1.0 - sureness) * np.log(prior)
    return np.asarray(softmax(logs, axis=1))


def _take(graph: Graph, part: np.ndarray) -> Graph:
    """The graph among some of its people, (n,) bool."""
    others = np.flatnonzero(~part)
    return leave_out_people(graph, [graph.node_ids[node] for node in others])
