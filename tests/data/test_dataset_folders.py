"""Folders of OGB and PyG: as their own libraries write and read them, and what is wrong in one."""

from __future__ import annotations

import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.data.readers import load_graph
from core.data.sandbox import load_in_sandbox
from core.errors import InputError
from tests.oracles.graphs import two_communities

EDGES = "0,1\n1,2\n2,0\n2,2\n1,0\n"
FILES = {"edge": EDGES, "num-node-list": "4\n", "num-edge-list": "5\n"}


def write_folder(folder, **changed):
    """A dataset of four nodes as OGB lays it out; None leaves a file out."""
    raw = folder / "ogbn_small" / "raw"
    raw.mkdir(parents=True)
    for name, text in {**FILES, **changed}.items():
        if text is not None:
            content = text if isinstance(text, bytes) else gzip.compress(text.encode())
            (raw / f"{name}.csv.gz").write_bytes(content)
    return raw.parent


def test_a_folder_of_ogb(tmp_path):
    folder = write_folder(
        tmp_path,
        **{
            "node-feat": "0.5,1\n1,1\n2,-1\n0,0\n",
            "node-label": "0\n1\nnan\n1\n",
            "edge_weight": "1\n2\n3\n4\n5\n",
            "edge-feat": "1\n1\n1\n1\n1\n",
        },
    )
    loaded = load_in_sandbox(folder)
    graph, report = loaded.graph, loaded.report
    assert (graph.name, report.source, report.format) == ("ogbn_small",) * 2 + ("OGB",)
    assert graph.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graph.weights.tolist() == [5, 3, 2]
    assert graph.dense_features().tolist() == [[0.5, 1], [1, 1], [2, -1], [0, 0]]
    assert graph.column("label").codes.tolist() == [0, 1, -1, 1]
    assert (report.num_self_loops, report.num_reciprocal) == (1, 1)
    assert report.ignored_columns == {"edge-feat.csv.gz": "a file of others"}
    assert "the largest stays (--merge" in report.notes[0]
    assert load_graph(folder, weight="none").graph.weights is None


def test_what_the_home_library_reads_is_the_same(tmp_path):
    home = pytest.importorskip("ogb.io.read_graph_raw", reason="needs ogb, a library of its own")
    graph = two_communities()
    text = "".join(f"{a},{b}\n" for a, b in graph.edges.tolist())
    features = io.StringIO()
    np.savetxt(features, graph.dense_features(), delimiter=",")
    changed = {"edge": text, "num-node-list": "40\n", "num-edge-list": f"{graph.num_edges}\n"}
    folder = write_folder(tmp_path, **changed, **{"node-feat": features.getvalue()})
    (theirs,) = home.read_csv_graph_raw(str(folder / "raw"))
    ours = load_graph(folder).graph
    assert ours.num_nodes == theirs["num_nodes"]
    assert ours.edges.tolist() == theirs["edge_index"].T.tolist()
    assert np.array_equal(ours.dense_features(), theirs["node_feat"])


def test_a_folder_of_pyg(tmp_path):
    """Written by PyG's own base class, as its datasets are."""
    from torch_geometric.data import InMemoryDataset

    graph = two_communities()

    class Communities(InMemoryDataset):
        processed_file_names = "data.pt"

        def process(self):
            self.save([graph.to_pyg()], self.processed_paths[0])

    Communities(str(tmp_path / "communities"))
    loaded = load_in_sandbox(tmp_path / "communities")
    assert loaded.graph.name == "communities"
    assert loaded.graph.edges.tolist() == graph.edges.tolist()
    assert np.array_equal(loaded.graph.features, graph.features)
    codes = loaded.graph.column("label").codes
    assert codes.tolist() == graph.column("label").codes.tolist()
    (tmp_path / "communities" / "processed" / "data.pt").write_bytes(b"\x80\x02}q\x00.")
    with pytest.raises(InputError, match="zip archive"):
        load_in_sandbox(tmp_path / "communities")


MALFORMED = [
    ({"edge": None}, "must be a file, not a folder"),
    ({"num-node-list": None}, "must exist"),
    ({"num-node-list": "2\n2\n"}, "number of one graph; got 2 lines"),
    ({"num-node-list": "2.5\n"}, "number of one graph"),
    ({"num-node-list": "3\n", "edge": EDGES + "2,3\n", "num-edge-list": "6\n"}, "from 0 to 2"),
    ({"num-node-list": "900000000\n"}, "at most"),
    ({"num-edge-list": "6\n"}, "as many links as num-edge-list says; got 5 of 6"),
    ({"edge": "0,1,2\n" * 5}, "two node numbers a line"),
    ({"edge": "0\n" * 5}, "two node numbers a line"),
    ({"edge": "0,1\n" * 4 + "0,\n"}, "two node numbers a line"),
    ({"edge": "0,1\n" * 4 + "0,1.5\n"}, "two node numbers a line"),
    ({"edge": "0,1\n" * 4 + "0,-1\n"}, "from 0 to 3"),
    ({"edge": "source,target\n" + "0,1\n" * 4}, "complete table of numbers"),
    ({"edge": gzip.compress(EDGES.encode())[:-9]}, "gzip"),
    ({"edge": "0,1\n" * 4 + "0,inf\n"}, "finite"),
    ({"edge": "1,1\n" * 5}, "at least one link between two nodes"),
    ({"node-feat": "1\n2\n"}, "must hold 4 lines; got 2"),
    ({"node-feat": "1\n2\n\n3\nnan\n"}, "finite numbers"),
    ({"node-label": "a\nb\nc\nd\n"}, "table of numbers"),
    ({"node-label": "1,2\n1\n1\n1,2,3\n"}, "table of numbers"),
    ({"edge_weight": "1\n2\n"}, "must hold 5 lines"),
    ({"edge_weight": "1,1\n" * 5}, "one number a link"),
    ({"edge_weight": "-1\n" * 5}, "not negative"),
]


@pytest.mark.parametrize(("changed", "message"), MALFORMED)
def test_what_is_wrong_is_said_in_one_line(tmp_path, changed, message):
    folder = write_folder(tmp_path, **changed)
    with pytest.raises(InputError, match=message) as error:
        load_graph(folder)
    assert "\n" not in str(error.value)


DAMAGES = st.lists(
    st.tuples(
        st.sampled_from(["edge", "num-node-list", "num-edge-list", "node-feat", "node-label"]),
        st.integers(0, 30),
        st.sampled_from(["", ",", "\n", "-", "9", "x", ".", "\0", "é", '"', "nan"]),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=60)
@given(DAMAGES)
def test_damaged_folders_are_refused_in_one_line_or_counted_in_full(damages):
    texts = {**FILES, "node-feat": "1,2\n" * 4, "node-label": "0\n1\n0\n1\n"}
    for name, place, text in damages:
        texts[name] = texts[name][:place] + text + texts[name][place + 1 :]
    with tempfile.TemporaryDirectory() as folder:
        dataset = write_folder(Path(folder), **texts)
        loaded, refusal = None, ""
        try:
            loaded = load_graph(dataset)
        except InputError as error:
            refusal = str(error)
    assert "\n" not in refusal
    if loaded is None:
        return
    report = loaded.report
    merged = report.num_self_loops + report.num_duplicates + report.num_reciprocal
    assert loaded.graph.num_edges + merged == int(float(texts["num-edge-list"]))
    assert loaded.graph.num_nodes == int(float(texts["num-node-list"]))
