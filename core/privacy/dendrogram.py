"""Dendrograms of a graph's nodes, sampled by their likelihood.

Every pair of nodes belongs to its lowest common ancestor. With E links among the N pairs of an
ancestor the log-likelihood is Σ E ln(E/N) + (N − E) ln(1 − E/N) (Clauset, Moore and Newman, Nature
453, 2008).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numba
import numpy as np

from core.arrays import sort_distinct
from core.context import Context
from core.graph import Graph

CHUNK = 200_000
"""Steps of the Markov chain between two progress reports."""


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """A tree of n − 1 ancestors, 0 the root, and n leaves, numbered after the ancestors.

    children  (n − 1, 2) places;  parent  (2n − 1,) places, −1 of the root
    size      (2n − 1,) leaves below a place, itself included
    links     (n − 1,) links of the graph whose lowest common ancestor it is
    nodes     (n,) node of each leaf
    """

    children: np.ndarray
    parent: np.ndarray
    size: np.ndarray
    links: np.ndarray
    nodes: np.ndarray

    @staticmethod
    def build(graph: Graph, nodes: np.ndarray) -> Dendrogram:
        """Balanced tree with these nodes as its leaves; n ≥ 2."""
        n = graph.num_nodes
        ancestors = np.arange(n - 1)
        children = np.stack([2 * ancestors + 1, 2 * ancestors + 2], axis=1)
        parent = (np.arange(2 * n - 1) - 1) // 2
        parent[0] = -1
        size = np.ones(2 * n - 1, np.int64)
        for place in range(n - 2, -1, -1):
            size[place] = size[children[place]].sum()
        leaf = np.empty(n, np.int64)
        leaf[nodes] = np.arange(n - 1, 2 * n - 1)
        left, right = leaf[graph.edges].T.copy()
        while (differs := left != right).any():  # ancestors precede their descendants
            is_left = differs & (left > right)
            is_right = differs & ~is_left
            left[is_left] = parent[left[is_left]]
            right[is_right] = parent[right[is_right]]
        links = np.bincount(left, minlength=n - 1)
        return Dendrogram(children, parent, size, links, nodes)

    def count_pairs(self) -> np.ndarray:
        """(n − 1,) pairs of leaves whose lowest common ancestor each is."""
        return np.asarray(self.size[self.children].prod(axis=1))

    def draw_counts(self, expected: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(n − 1,) numbers of links of each ancestor where its pairs are linked independently, so
        many in expectation."""
        pairs = self.count_pairs()
        return np.asarray(rng.binomial(pairs, np.minimum(expected / pairs, 1.0)))

    def draw_links(self, wanted: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(k, 2) distinct pairs of nodes, drawn uniformly: `wanted` (n − 1,) of each ancestor's."""
        starts, order = _list_leaves(self.children, self.size)
        pairs = self.count_pairs()
        offsets = np.concatenate([[0], np.cumsum(pairs)])
        wanted = np.minimum(wanted, pairs)
        is_dense = 2 * wanted > pairs
        owner = np.repeat(np.flatnonzero(is_dense), pairs[is_dense])
        places = np.lexsort((rng.random(len(owner)), owner))  # each ancestor's pairs, shuffled
        rank = np.arange(len(owner)) - np.repeat(
            np.cumsum(pairs[is_dense]) - pairs[is_dense], pairs[is_dense]
        )
        dense = (offsets[owner] + rank)[places][rank < wanted[owner]]
        sparse = np.empty(0, np.int64)
        missing = np.where(is_dense, 0, wanted)
        while missing.sum():
            owner = np.repeat(np.arange(len(wanted)), missing)
            fresh = offsets[owner] + (rng.random(len(owner)) * pairs[owner]).astype(np.int64)
            sparse = sort_distinct(np.concatenate([sparse, fresh]))
            cell = np.searchsorted(offsets, sparse, "right") - 1
            missing = np.where(is_dense, 0, wanted - np.bincount(cell, minlength=len(wanted)))
        codes = np.concatenate([dense, sparse])
        owner = np.searchsorted(offsets, codes, "right") - 1
        first, second = self.children[owner].T
        row, column = np.divmod(codes - offsets[owner], self.size[second])
        ends = [order[starts[first] + row], order[starts[second] + column]]
        return np.asarray(self.nodes[np.stack(ends, axis=1) - len(wanted)])


def draw_dendrogram(graph: Graph, factor: float, steps: int, context: Context) -> Dendrogram:
    """Sample a tree ∝ e^(factor · log-likelihood) by `steps` of a Markov chain.

    The chain starts at a balanced tree of the nodes in random order. Each step exchanges a random
    subtree with its parent's sibling, accepted by Metropolis' rule.
    """
    rng, n = context.rng("dendrogram"), graph.num_nodes
    tree = Dendrogram.build(graph, rng.permutation(n))
    leaf = np.empty(n, np.int64)
    leaf[tree.nodes] = np.arange(n - 1, 2 * n - 1)
    adjacency = graph.adjacency
    for start in range(0, steps if n > 2 else 0, CHUNK):
        count = min(CHUNK, steps - start)
        context.progress.update(start, steps, "looking for a hierarchy")
        draws = rng.integers(1, n - 1, count), rng.integers(0, 2, count), np.log(rng.random(count))
        _walk(tree.children, tree.parent, tree.size, tree.links, adjacency.indptr,
              adjacency.indices, leaf, tree.nodes, factor, *draws)  # fmt: skip
    return tree


@numba.njit(nogil=True, cache=True)
def _score_split(links: int, pairs: int) -> float:
    if links <= 0 or links >= pairs:
        return 0.0
    share = links / pairs
    return float(links * math.log(share) + (pairs - links) * math.log(1.0 - share))


@numba.njit(nogil=True, cache=True)
def _walk(  # type: ignore[no-untyped-def]
    children, parent, size, links, indptr, indices, leaf, nodes, factor, chosen, sides, logs
):
    first_leaf = len(children)
    stack = np.empty(len(parent), np.int64)
    for step in range(len(chosen)):
        r = chosen[step]
        q = parent[r]
        side = 0 if children[q, 1] == r else 1
        trees = (children[r, 0], children[r, 1], children[q, side])
        # Count links of the smallest subtree with the other two; the third count is the remainder.
        small = 0
        for k in (1, 2):
            if size[trees[k]] < size[trees[small]]:
                small = k
        a, b = (small + 1) % 3, (small + 2) % 3
        to_a, to_b, top = 0, 0, 1
        stack[0] = trees[small]
        while top:
            top -= 1
            place = stack[top]
            if place < first_leaf:
                stack[top], stack[top + 1] = children[place, 0], children[place, 1]
                top += 2
                continue
            node = nodes[place - first_leaf]
            for edge in range(indptr[node], indptr[node + 1]):
                ancestor = leaf[indices[edge]]
                while (
                    ancestor >= 0
                    and ancestor != trees[0]
                    and ancestor != trees[1]
                    and ancestor != trees[2]
                ):
                    ancestor = parent[ancestor]
                if ancestor == trees[a]:
                    to_a += 1
                elif ancestor == trees[b]:
                    to_b += 1
        total = links[r] + links[q]
        between = np.zeros((3, 3), np.int64)
        between[small, a] = between[a, small] = to_a
        between[small, b] = between[b, small] = to_b
        between[a, b] = between[b, a] = total - to_a - to_b
        # The tree `moved` changes places with the third; `staying` remains below r.
        moved, staying = sides[step], 1 - sides[step]
        inside, outside = size[trees[staying]] * size[trees[2]], size[trees[moved]]
        outside *= size[trees[staying]] + size[trees[2]]
        new_links = between[staying, 2]
        old_score = _score_split(links[r], size[trees[0]] * size[trees[1]])
        old_score += _score_split(links[q], size[r] * size[trees[2]])
        new_score = _score_split(new_links, inside) + _score_split(total - new_links, outside)
        if logs[step] <= factor * (new_score - old_score):
            children[r, moved], children[q, side] = trees[2], trees[moved]
            parent[trees[2]], parent[trees[moved]] = r, q
            size[r] = size[trees[staying]] + size[trees[2]]
            links[r], links[q] = new_links, total - new_links


@numba.njit(nogil=True, cache=True)
def _list_leaves(children: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place of the first leaf below each place in the order of the leaves, and that order."""
    starts = np.zeros(len(size), np.int64)
    order = np.empty(len(children) + 1, np.int64)
    stack = np.empty(len(size), np.int64)
    stack[0], top = 0, 1
    while top:
        top -= 1
        place = stack[top]
        if place >= len(children):
            order[starts[place]] = place
            continue
        left, right = children[place]
        starts[left], starts[right] = starts[place], starts[place] + size[left]
        stack[top], stack[top + 1] = left, right
        top += 2
    return starts, order
