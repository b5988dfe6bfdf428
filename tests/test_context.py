"""Shared work is remembered by use and by size."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import sparse

from core.context import LEAST_KEPT, SharedWork, count_bytes
from core.graph import Graph
from core.node_column import NodeColumn


def ask(shared, name, value=None):
    """Whether the value had to be computed."""
    calls = []
    shared.get((name,), lambda: calls.append(1) or value)
    return bool(calls)


def test_what_is_used_stays_and_what_was_used_longest_ago_goes():
    shared = SharedWork(limit=3)
    for name in "abc":
        assert ask(shared, name)
    assert not ask(shared, "a")
    assert ask(shared, "d")
    assert not ask(shared, "a")
    assert not ask(shared, "c")
    assert ask(shared, "b")


def test_large_values_are_forgotten_sooner_but_never_the_latest():
    shared = SharedWork(limit=100, max_bytes=8000)
    for number in range(LEAST_KEPT + 4):
        assert ask(shared, number, np.zeros(1000))
    assert not ask(shared, 4, None)
    assert ask(shared, 3, None)
    small = SharedWork(limit=100, max_bytes=8000 * (LEAST_KEPT + 4))
    for number in range(LEAST_KEPT + 4):
        ask(small, number, np.zeros(1000))
    assert not ask(small, 0)


def test_nothing_is_remembered_of_work_that_failed():
    shared = SharedWork()
    with pytest.raises(ZeroDivisionError):
        shared.get(("a",), lambda: 1 / 0)
    assert ask(shared, "a")


def test_none_is_a_value():
    shared = SharedWork()
    assert ask(shared, "a", None)
    assert not ask(shared, "a", None)


def test_bytes_are_those_of_all_arrays_inside():
    eight = np.zeros(1)
    assert count_bytes(eight) == 8
    assert count_bytes((eight, {"x": [eight]}, SimpleNamespace(y=eight), "name", 3)) == 24
    assert count_bytes(torch.nn.Linear(2, 2)) == 4 * 6
    matrix = sparse.csr_array(np.eye(4))
    parts = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    assert count_bytes(matrix) == parts
    assert count_bytes(tuple("name" for _ in range(10**6))) == 0


def test_columns_of_a_shared_graph_are_counted_without_being_made(monkeypatch):
    """Reading each column of a wide block as values takes longer than most shared work."""
    block, codes = np.eye(20, dtype=np.float32), np.zeros(20, np.int64)
    private = {"private": NodeColumn("private", codes, ("a",))}
    graph = Graph.from_pairs(np.zeros((0, 2)), 20, features=block, attributes=private)
    monkeypatch.setattr(NodeColumn, "from_values", None)
    assert count_bytes(graph) >= block.nbytes + codes.nbytes
