"""`audit-large` against the attacks and measures of one process."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.algorithms import class_propagation
from core.algorithms.fingerprints import compute_class_sizes, compute_fingerprints
from core.attacks.link.adamic_adar import AdamicAdar
from core.attribute import Attribute
from core.cli.main import main
from core.context import Context
from core.data.splits import draw_stratified
from core.errors import InputError
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.partitioned import audit, reading
from core.partitioned.links import PartitionedLinks, choose_bounds, run_on_partitions, write_links
from core.release import Release
from core.seeding import Seed
from core.threats import AttributeThreat

SEED = Seed(3)
EXECUTOR = ThreadPoolExecutor(1)


@pytest.fixture
def graph() -> Graph:
    """Two communities; the last nodes have no links."""
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 40, (260, 2)) + 40 * rng.integers(0, 2, (260, 1))
    return Graph.from_pairs(np.concatenate([ends, rng.integers(0, 80, (40, 2))]), 85)


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
    return audit.withhold_links(EXECUTOR, links, folder, 0.2, max_pairs, SEED)


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
        _, threat = audit.withhold_links(
            EXECUTOR, links, tmp_path / str(trial), 0.5, 40, Seed(trial)
        )
        counts += np.isin(graph.edge_codes, threat.hidden @ [graph.num_nodes, 1])
    share = 40 / graph.num_edges
    assert np.abs(counts / trials - share).max() < 4.5 * np.sqrt(share * (1 - share) / trials)


def test_a_graph_with_too_few_non_links_says_so(tmp_path):
    (tmp_path / "links.txt").write_text("\n".join(f"{i} {j}" for i in range(9) for j in range(i)))
    links = store(tmp_path / "links.txt", tmp_path / "links", 2)
    with pytest.raises(InputError, match="lower --pairs"):
        withhold(links, tmp_path / "observed")


def test_figures_equal_those_of_one_process(links, graph, tmp_path):
    observed, threat = withhold(links, tmp_path / "observed")
    seen = Graph.from_pairs(collect(observed), links.num_nodes)
    scores = AdamicAdar().score(Release(seen), threat, Context(SEED)).scores
    auc = audit.attack_links(EXECUTOR, observed, threat)["adamic_adar"]
    assert auc.value == pytest.approx(compute_auc(scores, threat.truth)[0], rel=1e-12)
    assert auc.low < auc.value < auc.high
    assert auc.n == 2 * len(threat.hidden)
    with_links = graph.degrees > 0
    unique = audit.measure_uniqueness(EXECUTOR, links)
    assert unique.num_nodes == with_links.sum()
    for found, depth in ((unique.by_degree, "degree"), (unique.by_neighbor_degrees, None)):
        sizes = compute_class_sizes(compute_fingerprints(graph, depth or "neighbor_degrees"))
        assert found == pytest.approx((sizes == 1)[with_links].mean())
    assert 0 < unique.by_degree < unique.by_neighbor_degrees


def test_a_private_column_is_inferred_from_what_is_known(links, graph, tmp_path):
    codes = np.where(np.arange(links.num_nodes) < 40, 0, 1)
    codes[[3, 50]] = -1
    values = Attribute("side", codes, ("left", "right"))
    known = draw_stratified(values, 0.3, SEED.rng())
    threat = AttributeThreat(values, known, values.known & ~known)
    found = audit.attack_attribute(EXECUTOR, links, threat)
    same = Graph.from_pairs(graph.edges, links.num_nodes)
    (wanted,) = class_propagation.propagate_labels(
        same, [threat.observed], threat.observed_shares, 0.99, 100
    )
    auc, _ = compute_auc(wanted[threat.hidden, 1], codes[threat.hidden] == 1)
    assert found.value == pytest.approx(auc, abs=1e-9)
    assert found.value > 0.9


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


@pytest.mark.xdist_group("audit cluster")
def test_the_command(graph, audit_home, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(graph.edges, columns=["a", "b"]).to_parquet("links.parquet")
    pd.DataFrame({"id": range(80), "side": ["left", "right"] * 40}).to_csv("nodes.csv")
    command = ["audit-large", "links.parquet", "--nodes", "nodes.csv", "--private", "side"]
    command += ["--defense", "random_deletion:strength=1", "--defense", "edge_rand:epsilon=60"]
    assert main([*command, "--out", "out"]) == 0
    found = json.loads(Path("out/audit.json").read_text())
    original, deleted, noisy = found["releases"]
    assert [row["release"] for row in (original, deleted, noisy)] == [
        "original", "random_deletion:strength=1.0", "edge_rand:epsilon=60.0"
    ]  # fmt: skip
    assert original["num_links"] == noisy["num_links"] == round(0.9 * graph.num_edges)
    assert noisy["auc"] == original["auc"]
    assert "ε = 60" in noisy["guarantee"]
    assert deleted["num_links"] == 0
    assert {row["value"] for row in deleted["auc"].values()} == {0.5}
    assert sorted(path.name for path in Path("out").iterdir()) == ["audit.json"]
    said = capsys.readouterr().err
    assert f"{graph.num_edges} links" in said
    assert "original: private values: strongest attack label_propagation" in said
    assert said.count("withheld links: strongest attack") == 3


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--known", "1"], "--known must be between 0 and 1"),
        (["--pairs", "0"], "--pairs must be at least 1"),
        (["--private", "side"], "--private needs --nodes"),
        (["--defense", "dp_1k"], "must be random_deletion or edge_rand"),
    ],
)
def test_options_that_make_no_sense(tmp_path, capsys, words, error):
    assert main(["audit-large", "links.csv", *words, "--out", str(tmp_path / "out")]) == 2
    assert error in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
