"""node2vec (Grover and Leskovec, 2016): skip-gram with negative sampling on biased walks.

With p = q = 1 it is DeepWalk (Perozzi et al., 2014) trained by negative sampling. One thread,
so that a seed gives the same vectors every time.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numba
import numpy as np

from core.algorithms.walks import (
    STOP,
    compute_cumulative,
    draw_below,
    draw_uniform,
    make_state,
    walk,
)
from core.context import Context
from core.graph import Graph

UPDATES_AT_ONCE = 1_000_000
"""Vector updates between two progress reports: about a tenth of a second."""
NEGATIVES = 5
"""Noise nodes per context, drawn in proportion to degree^¾."""
CLIP = 8.0
"""Logits beyond this are clipped (σ(8) = 0.9997), as in word2vec."""
POOL = 1024
"""Noise nodes at hand in larger graphs, whose vectors stay in the processor's cache; those of all
nodes do not. Each position of a walk replaces one of them, so that every node is drawn as often as
without, each time for some thirty contexts that follow."""
STEPS = 256
"""Logits of one unit in the table of σ that goes with it, as in word2vec: right to 0.0005."""
SIGMA = (1 / (1 + np.exp(-np.arange(-CLIP, CLIP + 1 / STEPS, 1 / STEPS)))).astype(np.float32)


@dataclass(frozen=True)
class Walks:
    """p, q: return and in–out parameter; link weights set the walks' probabilities.

    window  contexts lie up to a uniform 1…window steps away, as in word2vec
    """

    dimensions: int = 64
    p: float = 1.0
    q: float = 1.0
    walk_length: int = 40
    walks_per_node: int = 10
    window: int = 5


def share_node2vec(graph: Graph, context: Context, settings: Walks = Walks()) -> np.ndarray:
    """One embedding (n, dimensions) per release, seed and settings, shared between attacks."""
    return context.share(
        ("node2vec", graph.content_hash, *astuple(settings)),
        lambda shared: compute_node2vec(graph, shared, settings),
    )


def compute_node2vec(
    graph: Graph, context: Context, settings: Walks = Walks(), *, lr: float = 0.025
) -> np.ndarray:
    """Embeddings (n, dimensions) float32; zero for isolated nodes.

    lr  decreases linearly to nearly zero
    O(n · walks_per_node · walk_length · window · NEGATIVES · dimensions) time, O(n · dimensions)
    memory.
    """
    n, adjacency = graph.num_nodes, graph.adjacency
    dimensions, window, walk_length = settings.dimensions, settings.window, settings.walk_length
    walks_per_node = settings.walks_per_node
    cumulative = compute_cumulative(adjacency, graph.weights is not None)
    strengths = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    linked = np.flatnonzero(strengths > 0)
    rng = context.rng("order")
    state = make_state(context.seed.child("walks"))
    vectors = (rng.random((n, dimensions), dtype=np.float32) - 0.5) / dimensions
    vectors[strengths <= 0] = 0.0
    contexts = np.zeros((n, dimensions), np.float32)
    noise, is_pooled = compute_alias(strengths**0.75), n > POOL
    chunk = max(1, UPDATES_AT_ONCE // (walk_length * (window + 1) * (NEGATIVES + 1)))
    total, done = max(len(linked) * walks_per_node, 1), 0
    context.progress.check()
    for _ in range(walks_per_node):
        order = rng.permutation(linked)
        for start in range(0, len(order), chunk):
            walks = walk(
                adjacency.indptr,
                adjacency.indices,
                cumulative,
                order[start : start + chunk],
                walk_length,
                settings.p,
                settings.q,
                state,
            )
            rate = lr * max(1e-3, 1.0 - done / total)
            loss = _train(
                vectors, contexts, walks, window, NEGATIVES, *noise, rate, state, is_pooled
            )
            done += len(walks)
            context.progress.record("node2vec_loss", done, loss)
            context.progress.update(done, total, "node2vec walks")
    return vectors


def compute_alias(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vose's alias table of (n,) weights: accept (n,) probabilities, alias (n,) nodes."""
    n = len(weights)
    accept, alias = np.ones(n), np.arange(n)
    if weights.sum() <= 0:
        return accept, alias
    share = weights * (n / weights.sum())
    small = list(np.flatnonzero(share < 1.0))
    large = list(np.flatnonzero(share >= 1.0))
    while small and large:
        low, high = small.pop(), large[-1]
        accept[low], alias[low] = share[low], high
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            small.append(large.pop())
    return accept, alias


@numba.njit(inline="always")
def _draw_noise(accept: np.ndarray, alias: np.ndarray, state: np.ndarray) -> int:
    node = draw_below(state, len(accept))
    drawn: int = node if draw_uniform(state) < accept[node] else alias[node]
    return drawn


@numba.njit(nogil=True, fastmath=True, cache=True)
def _train(
    vectors: np.ndarray,
    contexts: np.ndarray,
    walks: np.ndarray,
    window: int,
    negatives: int,
    accept: np.ndarray,
    alias: np.ndarray,
    rate: float,
    state: np.ndarray,
    is_pooled: bool = False,
) -> float:
    """One pass of skip-gram over `walks`; updates both matrices, returns the mean loss.

    Loss per pair: −log σ(v·u) − Σ log σ(−v·u') over the noise nodes u' (Mikolov et al., 2013);
    it is taken at each walk's first node only, which is enough for a curve. All nodes of a pair
    are drawn before any is read, so that memory accesses overlap.
    """
    width = vectors.shape[1]
    one, limit, speed = np.float32(1.0), np.float32(CLIP), np.float32(rate)
    step = np.empty(width, np.float32)
    drawn = np.empty(negatives + 1, np.int64)
    pool, place = np.empty(POOL if is_pooled else 0, np.int64), 0
    for k in range(len(pool)):
        pool[k] = _draw_noise(accept, alias, state)
    loss, counted = 0.0, 0
    for row in range(len(walks)):
        nodes = walks[row]
        for position in range(len(nodes)):
            centre = nodes[position]
            if centre == STOP:
                break
            if is_pooled:
                pool[place] = _draw_noise(accept, alias, state)
                place = (place + 1) % POOL
            vector = vectors[centre]
            reach = 1 + draw_below(state, window)
            for neighbor in range(max(0, position - reach), min(len(nodes), position + reach + 1)):
                if neighbor == position:
                    continue
                target = nodes[neighbor]
                if target == STOP:
                    break
                drawn[0] = target
                for k in range(1, negatives + 1):
                    if is_pooled:
                        drawn[k] = pool[draw_below(state, POOL)]
                    else:
                        drawn[k] = _draw_noise(accept, alias, state)
                step[:] = 0.0
                for k in range(negatives + 1):
                    if k and drawn[k] == target:
                        continue
                    context = contexts[drawn[k]]
                    product = np.float32(0.0)
                    for c in range(width):
                        product += vector[c] * context[c]
                    logit = min(max(product, -limit), limit)
                    if is_pooled:
                        share = SIGMA[int((logit + limit) * STEPS + 0.5)]
                    else:
                        share = one / (one + np.exp(-logit))
                    gain = speed * (one - share) if k == 0 else -speed * share
                    if position == 0:
                        loss -= math.log(share if k == 0 else one - share)
                        counted += k == 0
                    for c in range(width):
                        step[c] += gain * context[c]
                        context[c] += gain * vector[c]
                for c in range(width):
                    vector[c] += step[c]
    return loss / max(counted, 1)
