"""Files of links that become partitions, and links that are withheld of them."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.graph import Graph
from core.partitioned import reading
from core.partitioned.links import PartitionedLinks, choose_bounds, run_on_partitions, write_links
from core.partitioned.threat import withhold_links
from core.seeding import Seed
from tests.oracles.graphs import plant_blocks

SEED = Seed(3)
EXECUTOR = ThreadPoolExecutor(1)


@pytest.fixture
def graph() -> Graph:
    """Two communities; the last nodes have no links."""
    blocks = plant_blocks(np.repeat([0, 1], 40), np.array([[0.17, 0.01], [0.01, 0.17]]), seed=1)
    return Graph.from_pairs(blocks.edges, 85)


@pytest.fixture
def links(graph, tmp_path) -> PartitionedLinks:
    np.savetxt(tmp_path / "links.txt", graph.edges, "%d")
    return store(tmp_path / "links.txt", tmp_path / "links", 3)


def store(path: Path, folder: Path, parts: int) -> PartitionedLinks:
    sources = reading.list_sources(path)
    num_nodes, _ = reading.count_sources(EXECUTOR, sources)
    bounds = choose_bounds(EXECUTOR, sources, num_nodes, parts)
    return write_links(EXECUTOR, folder, sources, num_nodes, bounds)


def collect(links: PartitionedLinks) -> np.ndarray:
    return np.concatenate(list(run_on_partitions(EXECUTOR, load_owned, links)))


def load_owned(links: PartitionedLinks, number: int) -> np.ndarray:
    return links.load_partition(number).owned


def withhold(links: PartitionedLinks, folder: Path, max_pairs: int = 1000):
    return withhold_links(EXECUTOR, links, folder, 0.2, SEED, max_pairs)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("space.txt", "# comment\n0 1\n2 0\n"),
        ("comma.csv", "source,target,weight\n0,1,7\n2,0,7\n"),
        ("tab.tsv", '"0"\t"1"\n"2"\t"0"\n'),
        ("semicolon.csv.gz", "a;b\n0;1\n2;0\n"),
    ],
)
def test_text_of_each_layout(tmp_path, name, text):
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    (source,) = reading.list_sources(tmp_path / name)
    assert np.concatenate(list(source())).tolist() == [[0, 1], [2, 0]]


def test_parquet_has_a_source_per_row_group(graph, tmp_path):
    table = pd.DataFrame(graph.edges, columns=["a", "b"]).assign(weight=0.5)
    table.to_parquet(tmp_path / "links.parquet", row_group_size=100)
    sources = reading.list_sources(tmp_path)
    assert len(sources) == -(-graph.num_edges // 100)
    pairs = np.concatenate([part for source in sources for part in source()])
    assert np.array_equal(pairs, graph.edges)
    count = reading.count_sources(EXECUTOR, sources)
    assert count == (graph.edges.max() + 1, graph.num_edges)


@pytest.mark.parametrize(
    "text", ["ann,bob\ncarl,dora\n", "0,-1\n", "0,4294967296\n", "0\n1\n", "", "0,1\n0,x\n"]
)
def test_other_files_are_refused_with_the_rule(tmp_path, text):
    (tmp_path / "links.csv").write_text(text)
    with pytest.raises(InputError, match="two nodes, from 0 to"):
        reading.count_sources(EXECUTOR, reading.list_sources(tmp_path / "links.csv"))


def test_no_path_and_no_link_are_refused(tmp_path):
    with pytest.raises(InputError, match="must be a file or a folder"):
        reading.list_sources(tmp_path / "none.csv")
    pd.DataFrame({"a": np.zeros(0, int), "b": np.zeros(0, int)}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="at least one link"):
        reading.count_sources(EXECUTOR, reading.list_sources(tmp_path))


def test_withheld_links_are_not_in_what_attackers_see(links, graph, tmp_path):
    observed, threat = withhold(links, tmp_path / "observed")
    seen = Graph.from_pairs(collect(observed), graph.num_nodes)
    assert len(threat.hidden) == graph.num_edges - seen.num_edges == round(0.2 * graph.num_edges)
    assert graph.contains_pairs(threat.hidden).all()
    assert not seen.contains_pairs(threat.hidden).any()
    assert not graph.contains_pairs(threat.absent).any()
    assert len({tuple(pair) for pair in threat.absent.tolist()}) == len(threat.hidden)
    assert (graph.degrees[threat.absent] > 0).all()
    _, few = withhold(links, tmp_path / "again", 10)
    assert len(few.hidden) == 10
    assert {tuple(p) for p in few.hidden.tolist()} <= {tuple(p) for p in threat.hidden.tolist()}


def test_every_withheld_link_is_drawn_alike(links, graph, tmp_path):
    counts = np.zeros(graph.num_edges)
    trials = 300
    for trial in range(trials):
        _, threat = withhold_links(EXECUTOR, links, tmp_path / str(trial), 0.5, Seed(trial), 40)
        counts += np.isin(graph.edge_codes, threat.hidden @ [graph.num_nodes, 1])
    share = 40 / graph.num_edges
    assert np.abs(counts / trials - share).max() < 4.5 * np.sqrt(share * (1 - share) / trials)


def test_a_graph_with_too_few_non_links_says_so(tmp_path):
    (tmp_path / "links.txt").write_text("\n".join(f"{i} {j}" for i in range(9) for j in range(i)))
    links = store(tmp_path / "links.txt", tmp_path / "links", 2)
    with pytest.raises(InputError, match="withhold fewer links"):
        withhold(links, tmp_path / "observed")


def test_a_node_table_may_lack_nodes_and_values(tmp_path):
    (tmp_path / "nodes.csv").write_text("number,country,age\n2,FR,1\n0,US,2\n9,US,3\n1,,4\n")
    column = reading.read_attribute(tmp_path / "nodes.csv", "number", "country", 4)
    names = [column.classes[code] if code >= 0 else None for code in column.codes]
    assert names == ["US", None, "FR", None]
    with pytest.raises(InputError, match="columns: number, country, age"):
        reading.read_attribute(tmp_path / "nodes.csv", "number", "city", 4)
    with pytest.raises(InputError, match="number of each node once"):
        reading.read_attribute(tmp_path / "nodes.csv", "country", "age", 4)
    pd.DataFrame({"id": range(101), "age": range(101)}).to_csv(tmp_path / "nodes.csv")
    with pytest.raises(InputError, match="at most 100 different values"):
        reading.read_attribute(tmp_path / "nodes.csv", "id", "age", 101)
