"""Sequences of publishing runs, drawn at random, against a plain list that is kept beside them."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.audit.store.database import Store
from core.audit.store.ledger import enter_release, list_entries
from core.errors import InputError
from core.graph import Graph
from core.privacy.guarantees import EDGE, LINK_ONCE, LINK_TWICE, NODE
from core.privacy.ledger import Budget, compute_totals
from core.release import EMPIRICAL, Guarantee, Release

KINDS = {"edge": EDGE, "reported once": LINK_ONCE, "reported twice": LINK_TWICE, "node": NODE}
NUM_GRAPHS, NUM_NODES, NUM_LINKS = 3, 400, 1000
NUM_STEPS, AT_ONCE = 6, 8

Kept = list[tuple[str, float]]
"""The plain list of one graph: (kind, ε) of each run; "none" for one without a guarantee."""


def sum_by_hand(kept: Kept) -> dict[str, float]:
    """What is known of one link and of one node; a link that both ends report costs twice."""
    link = sum(epsilon * (2 if kind == "reported twice" else 1) for kind, epsilon in kept)
    return {"edge": link, "node": sum(epsilon for kind, epsilon in kept if kind == "node")}


def fits(kept: Kept, run: tuple[str, float], budget: float | None) -> bool:
    if budget is None:
        return True
    after = sum_by_hand([*kept, run])
    counted = ["edge", "node"] if run[0] == "node" else ["edge"]
    bounded = {"node"} if run[0] == "node" else KINDS.keys()
    is_bounded = all(kind in bounded for kind, _ in [*kept, run])
    return is_bounded and all(after[unit] <= budget for unit in counted)


def draw_graphs(rng: np.random.Generator) -> list[Graph]:
    pairs = rng.integers(0, NUM_NODES, (NUM_GRAPHS, NUM_LINKS, 2))
    names = [tuple(f"g{k}n{node}" for node in range(NUM_NODES)) for k in range(NUM_GRAPHS)]
    return [Graph.from_pairs(pairs[k], node_ids=names[k]) for k in range(NUM_GRAPHS)]


def disguise(graph: Graph, rng: np.random.Generator) -> Graph:
    """The same data in another order, with other names, or lightly edited; or all of these."""
    if rng.random() < 0.5:
        graph = graph.subgraph(rng.permutation(graph.num_nodes))
    if rng.random() < 0.3:
        graph = graph.with_edges(graph.edges[rng.permutation(graph.num_edges)[1:]])
    if rng.random() < 0.3:
        more = rng.integers(0, graph.num_nodes, (1, 2))
        graph = graph.with_edges(np.concatenate([graph.edges, more]))
    if rng.random() < 0.3:
        ids = tuple(f"{rng.integers(1 << 60):x}" for _ in graph.node_ids)
        graph = replace(graph, node_ids=ids)
    return graph


def draw_run(rng: np.random.Generator) -> tuple[tuple[str, float], Guarantee]:
    kind = str(rng.choice([*KINDS, "none"]))
    epsilon = float(rng.integers(1, 40)) / 8  # sums are exact
    return (kind, 0.0 if kind == "none" else epsilon), (
        EMPIRICAL if kind == "none" else KINDS[kind].make_guarantee(epsilon)
    )


def run_sequence(store: Store, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = draw_graphs(rng)
    lists: list[Kept] = [[] for _ in graphs]

    def enter(graph: Graph, run: str, guarantee: Guarantee, budget: float | None) -> bool:
        release = Release(graph, "edge_rand", guarantee=guarantee)
        try:
            enter_release(store, graph, run, "2026", release, budget and Budget(budget))
        except InputError:
            return False
        return True

    for step in range(NUM_STEPS):
        place = int(rng.integers(NUM_GRAPHS))
        kept = lists[place]
        budget = float(rng.integers(4, 60)) if rng.random() < 0.7 else None
        count = AT_ONCE if rng.random() < 0.3 else 1
        runs = [draw_run(rng) for _ in range(count)]
        variants = [disguise(graphs[place], rng) for _ in runs]
        with ThreadPoolExecutor(count) as threads:
            asked = [
                threads.submit(enter, variant, f"{step}-{number}", guarantee, budget)
                for number, (variant, (_, guarantee)) in enumerate(zip(variants, runs, strict=True))
            ]
            entered = [future.result() for future in asked]
        if count == 1:
            assert entered == [fits(kept, runs[0][0], budget)]
        kept += [run for (run, _), was_entered in zip(runs, entered, strict=True) if was_entered]
        refused = [
            run for (run, _), was_entered in zip(runs, entered, strict=True) if not was_entered
        ]
        assert not any(fits(kept, run, budget) for run in refused)  # none in vain
        if budget is not None and any(entered):
            assert sum_by_hand(kept)["edge"] <= budget
        check_lists(store, graphs, lists)


def check_lists(store: Store, graphs: list[Graph], lists: list[Kept]) -> None:
    for graph, kept in zip(graphs, lists, strict=True):
        entries = list_entries(store, graph)
        totals = {total.unit: total for total in compute_totals(entries)}
        promised = [run for run in kept if run[0] != "none"]
        nodes = [run for run in kept if run[0] == "node"]
        assert len(entries) == len(kept)
        for unit, counted in (("edge", promised), ("node", nodes)):
            assert (unit in totals) == bool(counted)
            if counted:
                assert totals[unit].epsilon == sum_by_hand(kept)[unit]
                assert totals[unit].runs == len(counted)
                assert totals[unit].unbounded == len(kept) - len(counted)


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Path:
    home: Path = tmp_path_factory.mktemp("empty") / "home"
    Store(home).close()
    return home


@pytest.mark.parametrize(
    "seeds",
    [range(12), pytest.param(range(12, 1000), marks=pytest.mark.nightly)],
    ids=["quick", "thousand"],
)
def test_the_ledgers_sum_is_that_of_a_list_kept_by_hand(empty, tmp_path, seeds, monkeypatch):
    monkeypatch.delenv("AUDIT_DATABASE", raising=False)
    for seed in seeds:
        home = tmp_path / str(seed)
        shutil.copytree(empty, home)
        store = Store(home)
        try:
            run_sequence(store, seed)
        finally:
            store.close()
        shutil.rmtree(home)
