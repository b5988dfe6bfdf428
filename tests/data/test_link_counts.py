"""A graph is counted once, and its counts go with it to the store and back."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from core.audit.store import files
from core.data import link_counts
from core.data.link_counts import count_links, find_counts
from core.data.packing import unpack_graph
from core.data.profile import compute_profile
from core.data.reader_process import _load_graph
from core.graph import Graph
from tests.oracles.graphs import two_communities


@pytest.fixture
def calls(monkeypatch):
    """Graphs that were counted."""
    counted: list[Graph] = []
    count = link_counts._count
    monkeypatch.setattr(link_counts, "_count", lambda graph: counted.append(graph) or count(graph))
    return counted


def test_a_graph_is_counted_once(calls):
    graph = two_communities()
    assert count_links(graph) is count_links(graph)
    compute_profile(graph)
    assert calls == [graph]


def test_counts_are_stored_with_the_graph(tmp_path, calls):
    graph = two_communities()
    expected = asdict(count_links(graph))
    files.save_graph(tmp_path, graph)
    again = files.load_graph(tmp_path, graph.content_hash)
    profile = compute_profile(again, private="private")
    assert calls == [graph]
    assert profile.counts is not None
    assert asdict(profile.counts) == expected


def test_a_changed_graph_is_counted_anew():
    graph = two_communities()
    before = count_links(graph)
    changed = graph.select_edges(np.arange(graph.num_edges) % 3 == 0)
    assert find_counts(changed) is None
    assert count_links(changed).num_triangles < before.num_triangles
    assert count_links(replace(graph)) == before


@pytest.mark.parametrize("least", [3, 4])
def test_only_a_large_graph_is_counted_while_it_is_read(tmp_path, monkeypatch, least):
    """Counting needs compiled loops, which take longer to load than a small file."""
    monkeypatch.setattr(link_counts, "MANY_LINKS", least)
    (tmp_path / "links.csv").write_text("a,b\nb,c\na,c\n")
    _load_graph(tmp_path / "links.csv", tmp_path, {"layout": {"header": "no"}})
    counts = find_counts(unpack_graph(files.read_npz(tmp_path / "arrays.npz")))
    assert (None if counts is None else counts.num_triangles) == (1 if least == 3 else None)
