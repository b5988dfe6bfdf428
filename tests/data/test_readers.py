import gzip
import json
from dataclasses import asdict

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from core.data.columns import guess_roles, guess_unknown_markers
from core.data.link_columns import guess_link_roles
from core.data.readers import load_graph, read_preview
from core.errors import InputError
from tests.oracles.graphs import two_communities

PATH = "a,b\nb,c\nc,a\nc,d\n"
LINKS = {("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")}


def write(folder, name, text):
    path = folder / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def links_of(graph):
    ids = graph.node_ids
    return {tuple(sorted((ids[i], ids[j]))) for i, j in graph.edges.tolist()}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.csv", PATH),
        ("tabs.tsv", PATH.replace(",", "\t")),
        ("spaces.txt", PATH.replace(",", " ")),
        ("aligned.txt", "  a   b\n b c \nc  a\nc d"),
        ("semicolons.csv", PATH.replace(",", ";")),
        ("blanks.csv", PATH.replace(",", ", ").replace("\n", "\n\n")),
        ("windows.csv", PATH.replace("\n", "\r\n")),
        ("mac.csv", PATH.replace("\n", "\r")),
        ("packed.csv.gz", PATH),
        ("bom.csv", "\ufeff" + PATH),
        ("header.csv", "source,target\n" + PATH),
        ("quoted.csv", '"source","target"\n' + PATH.replace("a", '"a"')),
        ("comments.csv", "# made by hand\n% twice\n" + PATH),
        (
            "reversed.csv",
            "note,target,source\n" + "".join(f"x,{b},{a}\n" for a, b in sorted(LINKS)),
        ),
    ],
)
def test_edge_lists_of_all_shapes_hold_the_same_links(tmp_path, name, text):
    loaded = load_graph(write(tmp_path, name, text))
    assert links_of(loaded.graph) == LINKS
    assert loaded.graph.weights is None
    assert loaded.graph.name == name.split(".")[0]


def test_everything_dropped_is_counted(tmp_path):
    text = "# c\na,b\na,b\nb,a\nb,c\nc,b\nc,c\nd,d\n"
    loaded = load_graph(write(tmp_path, "links.csv", text))
    report = loaded.report
    assert links_of(loaded.graph) == {("a", "b"), ("b", "c")}
    assert report.num_self_loops == 2
    assert report.num_duplicates == 1
    assert report.num_reciprocal == 2
    assert report.num_rows_skipped == 1
    assert json.loads(json.dumps(asdict(report)))["num_self_loops"] == 2


def test_numeric_first_row_is_data_and_named_one_is_a_header(tmp_path):
    assert load_graph(write(tmp_path, "a.csv", "1,2\n2,3\n")).graph.num_edges == 2
    assert load_graph(write(tmp_path, "b.csv", "x,y\n1,2\n2,3\n")).graph.num_edges == 2
    assert load_graph(write(tmp_path, "c.csv", "user_1,user_2\nann,bob\n")).graph.num_edges == 1


@pytest.mark.parametrize("rows", ["v1,v1\nv1,v0\n", "v1,v2\nv3,v4\n", "v1,v2\n", "u,v\nv,u\n"])
def test_nodes_called_like_columns_are_no_header(tmp_path, rows):
    graph = load_graph(write(tmp_path, "v.csv", rows)).graph
    assert set(graph.node_ids) == set(rows.replace("\n", ",").strip(",").split(","))


def test_weights_are_read_and_ones_mean_unweighted(tmp_path):
    loaded = load_graph(write(tmp_path, "w.csv", "source,target,weight\na,b,0.5\nb,a,2\nb,c,1\n"))
    assert loaded.graph.weights.tolist() == [2.0, 1.0]
    assert "0.5 to 2" in loaded.report.weights
    ones = load_graph(write(tmp_path, "o.txt", "a b 1.0\nb c 1.0\n"))
    assert ones.graph.weights is None
    assert "unweighted" in ones.report.weights


def test_weight_column_can_be_ignored(tmp_path):
    path = write(tmp_path, "w.csv", "source,target,weight\na,b,-1\nb,c,3\n")
    with pytest.raises(InputError, match=r"weight.*≥ 0.*'-1' in line 2.*--weight none"):
        load_graph(path)
    assert load_graph(path, roles={"weight": "ignore"}).graph.weights is None


def test_further_columns_of_links_are_reported(tmp_path):
    loaded = load_graph(write(tmp_path, "t.csv", "from,to,since\na,b,2001\nb,c,2002\n"))
    assert loaded.graph.weights is None
    assert [column.use for column in loaded.report.columns][2:] == ["time of a link"]
    assert loaded.graph.link_table.columns["since"].format_values().tolist() == [2001, 2002]


NODES = """user_id,age,city,member,nickname
d,31,rome,True,dd
a,25.5,oslo,False,aa
b,,rome,True,bb
c,40,-1,True,cc
e,50,oslo,True,ee
"""


def test_node_table_gives_nodes_features_and_attributes(tmp_path):
    path, nodes = write(tmp_path, "l.csv", PATH), write(tmp_path, "n.csv", NODES)
    loaded = load_graph(path, nodes_path=nodes, id_column="user_id", unknown=["-1"])
    graph = loaded.graph
    assert graph.node_ids == ("d", "a", "b", "c", "e")
    assert links_of(graph) == LINKS
    assert graph.feature_names == ("age",)
    # The median of 31, 25.5, 40, 50 stands in for the blank.
    assert graph.features.tolist() == [[31], [25.5], [35.5], [40], [50]]
    assert graph.column("city").classes == ("oslo", "rome")
    assert graph.column("city").codes.tolist() == [1, 0, 1, -1, 0]
    assert graph.column("member").codes.tolist() == [1, 0, 1, 1, 1]
    assert loaded.report.num_filled == {"age": 1}
    assert loaded.report.num_unknown == {"city": 1}
    assert "nickname" in loaded.report.ignored_columns


def test_parquet_and_csv_node_tables_give_the_same_graph(tmp_path):
    path, nodes = write(tmp_path, "l.csv", PATH), write(tmp_path, "n.csv", NODES)
    table = pd.read_csv(nodes)
    table.to_parquet(tmp_path / "n.parquet")
    graphs = [
        load_graph(path, nodes_path=p, id_column="user_id").graph
        for p in (nodes, tmp_path / "n.parquet")
    ]
    assert graphs[0].content_hash == graphs[1].content_hash


def test_integer_ids_of_a_parquet_table_join_texts(tmp_path):
    table = pd.DataFrame({"id": [1, 2, 3], "kind": ["x", "y", "x"]})
    table.to_parquet(tmp_path / "n.parquet")
    path = write(tmp_path, "l.csv", "1,2\n2,3\n")
    graph = load_graph(path, nodes_path=tmp_path / "n.parquet").graph
    assert graph.node_ids == ("1", "2", "3")
    assert graph.features is None


def test_private_and_utility_become_attributes_and_unknown_applies_to_them_only(tmp_path):
    nodes = "id,score,rank,height\n1,-1,0,-1\n2,0,1,180\n3,1,0,170\n"
    loaded = load_graph(
        write(tmp_path, "l.csv", "1,2\n2,3\n"),
        nodes_path=write(tmp_path, "n.csv", nodes),
        private="rank",
        utility="score",
        unknown=["-1"],
    )
    assert loaded.graph.feature_names == ("height",)
    assert loaded.graph.features.ravel().tolist() == [-1, 180, 170]
    assert loaded.graph.column("score").codes.tolist() == [-1, 0, 1]
    by_roles = load_graph(
        tmp_path / "l.csv",
        nodes_path=tmp_path / "n.csv",
        unknown=["-1"],
        roles={"id": "id", "rank": "private", "score": "utility"},
    )
    assert by_roles.graph.content_hash == loaded.graph.content_hash


def test_ignored_columns_are_neither_feature_nor_attribute(tmp_path):
    path, nodes = write(tmp_path, "l.csv", PATH), write(tmp_path, "n.csv", NODES)
    graph = load_graph(path, nodes_path=nodes, ignore=["age", "city", "member"]).graph
    assert graph.features is None
    assert dict(graph.attributes) == {}


def test_links_to_missing_nodes_can_be_dropped(tmp_path):
    path = write(tmp_path, "l.csv", PATH + "d,z\n")
    nodes = write(tmp_path, "n.csv", NODES)
    loaded = load_graph(path, nodes_path=nodes, missing_nodes="drop")
    assert links_of(loaded.graph) == LINKS
    assert loaded.report.num_rows_skipped == 1


def test_no_second_id_becomes_a_feature(tmp_path):
    nodes = "id,account_id,x\n1,900,0.1\n2,901,0.1\n3,902,0.3\n"
    graph = load_graph(
        write(tmp_path, "l.csv", "1,2\n2,3\n"), nodes_path=write(tmp_path, "n.csv", nodes)
    ).graph
    assert graph.feature_names == ("x",)


@settings(max_examples=60)
@example(rows=[(1, 1), (1, 0)], separator=",", ending="\n", header=False, with_comments=False)
@example(rows=[(1, 2)], separator=" ", ending="\n", header=False, with_comments=False)
@given(
    rows=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=60),
    separator=st.sampled_from([",", "\t", " ", ";"]),
    ending=st.sampled_from(["\n", "\r\n"]),
    header=st.booleans(),
    with_comments=st.booleans(),
)
def test_reading_an_edge_list_equals_a_naive_parse(
    tmp_path_factory, rows, separator, ending, header, with_comments
):
    lines = [f"v{a}{separator}v{b}" for a, b in rows]
    if header:
        lines.insert(0, f"source{separator}target")
    if with_comments:
        lines.insert(0, "# comment")
    path = tmp_path_factory.mktemp("x") / "links.csv"
    path.write_text(ending.join(lines), newline="")
    nodes = dict.fromkeys(f"v{v}" for row in rows for v in row)
    expected = {tuple(sorted((f"v{a}", f"v{b}"))) for a, b in rows if a != b}
    if not expected:
        with pytest.raises(InputError):
            load_graph(path)
        return
    loaded = load_graph(path)
    assert loaded.graph.node_ids == tuple(nodes)
    assert links_of(loaded.graph) == expected
    report = loaded.report
    loops = sum(a == b for a, b in rows)
    directed = {(a, b) for a, b in rows if a != b}
    assert report.num_self_loops == loops
    assert report.num_duplicates == len(rows) - loops - len(directed)
    assert report.num_reciprocal == len(directed) - len(expected)


# -- graph formats ----------------------------------------------------------------------------


def named_graph():
    graph = nx.Graph(nx.barbell_graph(4, 2))
    for node in graph:
        graph.nodes[node].update(team="xyx"[node % 3], score=node / 2)
    for row, (a, b) in enumerate(graph.edges):
        graph.edges[a, b]["weight"] = 0.25 + row
    return nx.relabel_nodes(graph, lambda node: f"n{node}")


@pytest.mark.parametrize(
    ("suffix", "write_it"),
    [("graphml", nx.write_graphml), ("gexf", nx.write_gexf), ("gml", nx.write_gml)],
)
def test_formats_of_networkx(tmp_path, suffix, write_it):
    theirs = named_graph()
    path = tmp_path / f"g.{suffix}"
    write_it(theirs, path)
    graph = load_graph(path).graph
    assert graph.node_ids == tuple(theirs)
    assert links_of(graph) == {tuple(sorted(edge)) for edge in theirs.edges}
    ours = {
        (graph.node_ids[i], graph.node_ids[j]): w
        for (i, j), w in zip(graph.edges.tolist(), graph.weights.tolist(), strict=True)
    }
    assert ours == {tuple(sorted((a, b))): w for a, b, w in theirs.edges(data="weight")}
    assert graph.feature_names == ("score",)
    assert graph.features.ravel().tolist() == [v for _, v in theirs.nodes(data="score")]
    team = graph.column("team")
    assert [team.classes[c] for c in team.codes] == [v for _, v in theirs.nodes(data="team")]


def test_compressed_graphml(tmp_path):
    text = "\n".join(nx.generate_graphml(named_graph()))
    assert load_graph(write(tmp_path, "g.graphml.gz", text)).graph.num_nodes == 10


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_npz_of_scipy(tmp_path, layout):
    matrix = sparse.csr_array(nx.to_scipy_sparse_array(named_graph())).asformat(layout)
    sparse.save_npz(tmp_path / "g.npz", matrix)
    graph = load_graph(tmp_path / "g.npz").graph
    assert (graph.adjacency != sparse.csr_array(matrix)).nnz == 0


def test_npz_with_adj_attr_and_labels(tmp_path):
    matrix = nx.to_scipy_sparse_array(nx.path_graph(4), format="csr", dtype=np.float32)
    features = sparse.csr_array(np.array([[1, 0], [0, 1], [0, 0], [2, 0]], np.float32))
    np.savez(
        tmp_path / "g.npz",
        adj_data=matrix.data,
        adj_indices=matrix.indices,
        adj_indptr=matrix.indptr,
        adj_shape=matrix.shape,
        attr_data=features.data,
        attr_indices=features.indices,
        attr_indptr=features.indptr,
        attr_shape=features.shape,
        labels=[0, 1, 1, 0],
        node_names=np.array(["a", "b", "c", "d"]),
        class_names=np.array(["no", "yes"]),
        attr_names=np.array(["tall", 3], dtype=object),
    )
    loaded = load_graph(tmp_path / "g.npz")
    graph = loaded.graph
    assert links_of(graph) == {("a", "b"), ("b", "c"), ("c", "d")}
    assert graph.dense_features().tolist() == features.toarray().tolist()
    assert graph.column("label").classes == ("no", "yes")
    assert graph.column("label").codes.tolist() == [0, 1, 1, 0]
    assert any("attr_names" in note for note in loaded.report.notes)


def test_pyg_data_round_trip(tmp_path):
    import torch

    graph = two_communities(12, seed=1)
    torch.save(graph.to_pyg(), tmp_path / "g.pt")
    loaded = load_graph(tmp_path / "g.pt")
    assert np.array_equal(loaded.graph.edges, graph.edges)
    assert np.array_equal(loaded.graph.features, graph.features)
    for name in ("label", "private"):
        assert np.array_equal(loaded.graph.column(name).codes, graph.column(name).codes)


def test_pyg_dict_and_dataset_file(tmp_path):
    import torch
    from torch_geometric.data import Data

    fields = {
        "edge_index": torch.tensor([[0, 1, 1], [1, 0, 2]]),
        "y": torch.tensor([0, 1, 1, 0]),
        "train_mask": torch.tensor([True, False, False, False]),
        "edge_attr": torch.tensor([[0.5], [0.5], [2.0]]),
        "num_nodes": 5,
    }
    for name, content in (
        ("d.pt", {**fields, "y": torch.tensor([0, 1, 1, 0, 0])}),
        ("s.pt", ({**fields, "y": torch.tensor([0, 1, 1, 0, 0])}, None, Data)),
    ):
        torch.save(content, tmp_path / name)
        graph = load_graph(tmp_path / name).graph
        assert graph.num_nodes == 5
        assert graph.edges.tolist() == [[0, 1], [1, 2]]
        assert graph.weights.tolist() == [0.5, 2.0]
        assert set(graph.attributes) == {"label"}


def test_musae_features_and_targets(tmp_path):
    links = write(tmp_path, "edges.csv", "id_1,id_2\n0,1\n1,2\n2,2\n")
    words = write(tmp_path, "features.json", json.dumps({"0": [3, 0, 3], "1": [], "2": [1]}))
    target = write(tmp_path, "target.csv", "id,page_name,kind\n2,zz,x\n0,xx,y\n1,yy,x\n")
    loaded = load_graph(links, nodes_path=words, target_path=target)
    graph = loaded.graph
    assert graph.node_ids == ("2", "0", "1")
    assert graph.dense_features().tolist() == [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]]
    assert [graph.column("kind").classes[c] for c in graph.column("kind").codes] == ["x", "y", "x"]
    assert set(loaded.report.ignored_columns) == {"page_name"}
    without = load_graph(links, nodes_path=words).graph
    assert without.node_ids == ("0", "1", "2")


# -- proposals --------------------------------------------------------------------------------


def test_preview_and_roles_of_links(tmp_path):
    table = read_preview(write(tmp_path, "l.txt", "1 2 0.5\n2 3 0.25\n" * 30), rows=5)
    assert table.shape == (5, 3)
    roles = guess_link_roles(table).roles
    assert roles == {"source": "source", "target": "target", "weight": "weight"}
    table = read_preview(write(tmp_path, "m.csv", "id_1,id_2\n4,5\n"))
    assert guess_link_roles(table).roles == {"id_1": "source", "id_2": "target"}


def test_preview_and_roles_of_nodes(tmp_path):
    text = "user_id,age,country,interest,bio\n" + "".join(
        f"{i},{20 + i % 7},{'no' if i % 2 else 'se'},{'art' if i % 3 else 'chess'},text {i}\n"
        for i in range(30)
    )
    table = read_preview(write(tmp_path, "n.csv", text), rows=30, is_nodes=True)
    assert guess_roles(table) == {
        "user_id": "id",
        "age": "feature",
        "country": "private",
        "interest": "attribute",
        "bio": "ignore",
    }


def test_a_table_of_texts_only_keeps_its_header(tmp_path):
    table = read_preview(write(tmp_path, "n.csv", "who,town\nann,rome\nbob,oslo\n"), is_nodes=True)
    assert list(table.columns) == ["who", "town"]
    assert len(table) == 2


def test_unknown_markers_are_proposed_where_they_stand_apart():
    table = pd.DataFrame(
        {
            "salary": ["1", "-1", "0", "1"],
            "balance": ["-5", "-1", "3", "8"],
            "town": ["NA", "rome", "", "oslo"],
            "age": ["20", "999", "31", "40"],
            "height": ["900", "999", "950", "970"],
            "ok": ["a", "b", "a", "b"],
            "team": ["red", "UNKNOWN", "n/a", "blue"],
        }
    )
    assert guess_unknown_markers(table) == {
        "salary": ["-1"],
        "town": ["NA"],
        "age": ["999"],
        "team": ["UNKNOWN", "n/a"],
    }


def test_nba_as_its_authors_use_it(data_root):
    folder = data_root / "nba"
    loaded = load_graph(
        folder / "nba_relationship.txt",
        nodes_path=folder / "nba.csv",
        id_column="user_id",
        private="country",
        utility="SALARY",
        unknown=["-1"],
    )
    graph = loaded.graph
    assert (graph.num_nodes, graph.num_edges, len(graph.feature_names)) == (403, 10_621, 95)
    assert not {"user_id", "country", "SALARY"} & set(graph.feature_names)
    table = pd.read_csv(folder / "nba.csv")
    assert graph.column("country").codes.tolist() == table.country.tolist()
    assert graph.column("SALARY").codes.tolist() == table.SALARY.tolist()
    points = graph.features[:, graph.feature_names.index("POINTS")]
    assert points == pytest.approx(table.POINTS.to_numpy(np.float32))
    roles = guess_roles(read_preview(folder / "nba.csv", rows=400, is_nodes=True))
    assert roles["user_id"] == "id"
    assert roles["country"] == "private"
    assert roles["SALARY"] == "feature"  # no column is published by a guess
    assert guess_unknown_markers(read_preview(folder / "nba.csv", rows=400)) == {"SALARY": ["-1"]}


def test_typed_parquet_columns(tmp_path):
    """Categories, dates, truth values, nullable numbers; an unnamed index is no column."""
    table = pd.DataFrame(
        {
            "id": ["a", "b", "c", "d"],
            "team": pd.Categorical(["x", "y", "x", None]),
            "born": pd.to_datetime(["2001-01-01", "2001-01-01", "2003-05-05", "2003-05-05"]),
            "member": [True, False, True, True],
            "score": pd.array([1, None, 3, 4], dtype="Int64"),
        },
        index=[7, 3, 5, 1],
    )
    table.to_parquet(tmp_path / "n.parquet")
    graph = load_graph(write(tmp_path, "l.csv", PATH), nodes_path=tmp_path / "n.parquet").graph
    assert graph.feature_names == ("score",)
    assert graph.features.tolist() == [[1], [3], [3], [4]]
    assert graph.column("member").codes.tolist() == [1, 0, 1, 1]
    assert graph.column("team").codes.tolist() == [0, 1, 0, -1]
    assert graph.column("born").codes.tolist() == [0, 0, 1, 1]


def test_weights_follow_the_links_that_are_not_dropped(tmp_path):
    (tmp_path / "l.csv").write_text("source,target,weight\na,x,5\na,b,7\nx,b,2\nb,c,3\n")
    (tmp_path / "n.csv").write_text("id,age\na,30\nb,40\nc,50\n")
    graph = load_graph(
        tmp_path / "l.csv", nodes_path=tmp_path / "n.csv", missing_nodes="drop"
    ).graph
    assert (graph.edges.tolist(), graph.weights.tolist()) == ([[0, 1], [1, 2]], [7, 3])
