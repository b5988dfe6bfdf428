"""Graphs whose links have columns, and their rows as plain lists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.graph import Graph
from core.link_table import LinkColumn, LinkTable
from tests.oracles.graphs import two_communities


def make_events(n: int = 40, seed: int = 0) -> Graph:
    """Up to three events a link: distinct times, amounts, and a kind that is its link's own."""
    graph, rng = two_communities(n), np.random.default_rng(seed)
    links = np.sort(
        np.concatenate(
            [np.arange(graph.num_edges)]
            + [rng.choice(graph.num_edges, graph.num_edges // 2, replace=False) for _ in range(2)]
        )
    )
    e = len(links)
    times = 1_084_000_000 + 60 * rng.choice(10**6, e, replace=False)
    columns = {
        "at": LinkColumn("time", times, unit="unix s"),
        "amount": LinkColumn("number", rng.choice(10**6, e, replace=False) / 100),
        "kind": LinkColumn("category", links, tuple(f"k{i:04}" for i in range(graph.num_edges))),
        "way": LinkColumn("direction", rng.integers(0, 3, e)),
    }
    return replace(graph, link_table=LinkTable(links, columns))


def make_calls() -> Graph:
    """Each link has 1 to 5 timed events; one event of every tenth link has a promotion."""
    graph, rng = two_communities(60), np.random.default_rng(3)
    links = np.repeat(np.arange(graph.num_edges), rng.integers(1, 6, graph.num_edges))
    codes = np.full(len(links), -1)
    codes[np.searchsorted(links, np.arange(0, graph.num_edges, 10))] = 0
    columns = {
        "at": LinkColumn("time", 1_084_000_000 + np.arange(len(links)), unit="unix s"),
        "promo": LinkColumn("category", codes, ("x",)),
    }
    return replace(graph, link_table=LinkTable(links, columns))


def rows_by_link(graph: Graph) -> dict[tuple[int, int], list[tuple]]:
    found: dict[tuple[int, int], list[tuple]] = {}
    table = graph.link_table
    texts = [column.format_values().tolist() for column in table.columns.values()]
    for row, link in enumerate(table.links.tolist()):
        found.setdefault(tuple(graph.edges[link].tolist()), []).append(
            tuple(values[row] for values in texts)
        )
    return found
