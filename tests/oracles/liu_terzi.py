"""Liu and Terzi's k-degree anonymity as their paper gives it (SIGMOD 2008), step by step.

Their dynamic programme finds the degrees of least sum (equations 3 and 4), Supergraph adds links
until they are reached, and Probing raises degrees of little-linked people by noise and plans anew
where that fails (sections 5.1, 6.1 and 6.2). Plain Python: to compare with, not to publish by.
"""

from __future__ import annotations

import numpy as np

from core.graph import Graph

MAX_PROBES = 2000


def plan_degrees(degrees: list[int], k: int) -> list[int]:
    """Anonymised degrees, in the order of `degrees`: groups of k to 2k − 1 of the sorted ones."""
    order = sorted(range(len(degrees)), key=lambda v: -degrees[v])
    ordered = [degrees[v] for v in order]
    n = len(ordered)
    sums = [0]
    for degree in ordered:
        sums.append(sums[-1] + degree)

    def cost(first: int, end: int) -> int:  # all of [first, end) get the first one's degree
        return ordered[first] * (end - first) - (sums[end] - sums[first])

    best, cut = [0] * (n + 1), [0] * (n + 1)
    for end in range(1, n + 1):
        if end < 2 * k:
            best[end], cut[end] = cost(0, end), 0
            continue
        starts = range(max(k, end - 2 * k + 1), end - k + 1)
        best[end], cut[end] = min((best[start] + cost(start, end), start) for start in starts)
    planned, end = [0] * n, n
    while end > 0:
        for place in range(cut[end], end):
            planned[order[place]] = ordered[cut[end]]
        end = cut[end]
    return planned


def add_links(
    graph: Graph, planned: list[int], rng: np.random.Generator
) -> list[tuple[int, int]] | None:
    """Supergraph: links that raise everybody to the planned degree, or None where it fails."""
    near: dict[int, set[int]] = {v: set() for v in range(graph.num_nodes)}
    for i, j in graph.edges.tolist():
        near[i].add(j)
        near[j].add(i)
    lacking = {v: d - len(near[v]) for v, d in enumerate(planned) if d > len(near[v])}
    added = []
    if sum(lacking.values()) % 2:
        return None
    while lacking:
        nodes = sorted(lacking)
        v = nodes[int(rng.integers(len(nodes)))]
        others = [w for w in nodes if w != v and w not in near[v]]
        others.sort(key=lambda w: -lacking[w])
        wanted = lacking.pop(v)
        if len(others) < wanted:
            return None
        for w in others[:wanted]:
            near[v].add(w)
            near[w].add(v)
            added.append((min(v, w), max(v, w)))
            lacking[w] -= 1
            if not lacking[w]:
                del lacking[w]
    return added


def anonymize(
    graph: Graph, k: int, rng: np.random.Generator
) -> tuple[list[tuple[int, int]], int] | None:
    """Probing: the links to add and how often degrees were raised; None where it gives up."""
    degrees = graph.degrees.tolist()
    for probes in range(MAX_PROBES):
        added = add_links(graph, plan_degrees(degrees, k), rng)
        if added is not None:
            return added, probes
        few = sorted(range(len(degrees)), key=lambda v: (degrees[v], rng.random()))
        degrees[few[0]] += 1
    return None
