"""Files of releases of partitioned links: their layout tells nothing that their rows do not."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from core.context import Context
from core.defenses.edge_rand import EdgeRand
from core.partitioned import writing
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import Inline, choose_bounds, write_links
from core.release import Release
from core.seeding import Seed
from core.threats import Threats

NUM_NODES = 400


def make_ring(*further: tuple[int, int]) -> np.ndarray:
    """Every node linked to the next three, and further links."""
    nodes = np.arange(NUM_NODES)
    steps = [np.stack([nodes, np.roll(nodes, -step)], axis=1) for step in (1, 2, 3)]
    return np.concatenate([*steps, np.array(further, int).reshape(-1, 2)])


def store(
    folder: Path, pairs: np.ndarray, bounds: tuple[int, ...] | None = None
) -> PartitionedGraph:
    """The links, divided at these nodes, or into two parts with as many link ends each."""
    sources = [partial(iter, [pairs])]
    bounds = bounds or choose_bounds(Inline(), sources, NUM_NODES, 2)
    return PartitionedGraph.of(write_links(Inline(), folder, sources, NUM_NODES, bounds))


@pytest.mark.parametrize("pseudonyms", [None, Seed(3)], ids=["ids", "pseudonyms"])
@pytest.mark.parametrize("name", ["parquet", "csv"])
def test_files_do_not_tell_how_the_links_were_divided(tmp_path, monkeypatch, name, pseudonyms):
    """The bounds come from the original's degrees and number of rows."""
    monkeypatch.setattr(writing, "ROW_GROUP", 500)
    written = set()
    for number, bounds in enumerate([(0, 400), (0, 9, 207, 400), (0, 50, 60, 399, 400)]):
        release = Release(store(tmp_path / f"links{number}", make_ring(), bounds))
        folder = tmp_path / str(number)
        options = {"pseudonyms": pseudonyms}
        links, *_ = writing.write_release(release, folder, "r", {}, (name,), **options)
        written.add(links.read_bytes())
    assert len(written) == 1
    if name == "parquet":
        with parquet.ParquetFile(links) as file:
            groups = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        assert groups == [500, 500, 200]


def test_row_groups_of_neighboring_graphs_are_alike(tmp_path, monkeypatch):
    """A link more moves the bounds of the partitions, but not those of the row groups."""
    monkeypatch.setattr(writing, "ROW_GROUP", 1000)
    graphs = [store(tmp_path / "a", make_ring()), store(tmp_path / "b", make_ring((300, 350)))]
    assert len({graph.links.bounds for graph in graphs}) == 2
    for number, graph in enumerate(graphs):
        context = Context(Seed.from_entropy(), is_publishing=True)
        release = EdgeRand(epsilon=1.0).publish(graph, Threats(graph), context)
        links, *_ = writing.write_release(release, tmp_path / str(number), "r", {}, ("parquet",))
        with parquet.ParquetFile(links) as file:
            groups = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        assert set(groups[:-1]) == {1000}
        assert sum(groups) == release.graph.num_edges
