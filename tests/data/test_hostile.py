"""Small files that ask for much, values no rule foresaw, and things that are no graph."""

import contextlib
import gzip
import json
import os
import re
import stat

import numpy as np
import pandas as pd
import pytest
from scipy import io as scipy_io
from scipy import sparse

from core.data import sandbox, text_input
from core.data.link_text import SAMPLED_ROWS
from core.data.node_table import load_node_table
from core.data.readers import load_graph
from core.errors import FormatError, InputError, ResourceError
from tests.data.test_malformed import csr, npy_header, npz, zipped
from tests.reliability.fuzz_files import run_guarded

LINKS = "a,b\nb,c\n"


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def coo(size):
    index = np.array([0, size - 1])
    parts = {"data": np.ones(2), "row": index, "col": index[::-1], "format": np.array(b"coo")}
    return npz(shape=np.array([size, size]), **parts)


def graphml(num_keys, num_nodes):
    keys = "".join(
        f'<key id="k{i}" for="node" attr.name="c{i}"><default>x</default></key>'
        for i in range(num_keys)
    )
    nodes = "".join(f'<node id="{i}"/>' for i in range(num_nodes))
    return f'<graphml>{keys}<graph>{nodes}<edge source="0" target="1"/></graph></graphml>'


HUNGRY = {
    "NPZ node number": ("e.npz", npz(edges=np.array([[0, 99_999_999]])), "at most 100,100 nodes"),
    "NPZ shape": ("e.npz", coo(50_000_000), "at most 10,000,000 nodes"),
    "NPZ shape below the cap": ("e.npz", coo(5_000_000), "at most 100,200 nodes"),
    "gzip of links": ("e.csv.gz", gzip.compress(b"1,2\n" * 12_000_000), "100 times its size"),
    "gzip of comments": ("e.csv.gz", gzip.compress(b"#\n" * 20_000_000), "100 times its size"),
    "gzip of commas": ("e.csv.gz", gzip.compress(b"," * 500_000 + b"\n"), "10,000 columns"),
    "wide CSV": ("e.csv", ",".join(map(str, range(100_000))) + "\n", "10,000 columns.*100,000"),
    "GraphML keys": ("e.graphml", graphml(20_000, 10), "at most 10,000 columns"),
    "GraphML cells": ("e.graphml", graphml(5_000, 5_000), "at most 20,000,000 cells"),
}


@pytest.mark.parametrize("name", HUNGRY)
def test_small_file_that_asks_for_much_is_refused(tmp_path, name):
    file, content, message = HUNGRY[name]
    with pytest.raises(ResourceError, match=message) as caught:
        load_graph(write(tmp_path, file, content))
    assert f"'{file}'" in str(caught.value)


def test_limits_leave_room_for_what_is_stored(tmp_path):
    """Isolated nodes are fine within reason, and a table that compresses well is no bomb."""
    with_isolated = npz(edges=np.array([[0, 50_000]]))
    assert load_graph(write(tmp_path, "i.npz", with_isolated)).graph.num_nodes == 50_001
    rows = "".join(f"{i},{i + 1}\n" for i in range(50_000))
    packed = write(tmp_path, "p.csv.gz", gzip.compress(rows.encode()))
    assert load_graph(packed).graph.num_edges == 50_000


def test_gzip_ratio_counts_from_a_size_up(tmp_path, monkeypatch):
    path = write(tmp_path, "e.csv.gz", gzip.compress(b"1,2\n" * 100_000))
    assert load_graph(path).graph.num_edges == 1
    monkeypatch.setattr(text_input, "_SMALL", 1 << 10)
    with pytest.raises(ResourceError, match="100 times its size"):
        load_graph(path)


def test_musae_word_number_is_limited(tmp_path):
    links = write(tmp_path, "l.csv", LINKS)
    words = write(tmp_path, "w.json", '{"a":[9999999]}')
    with pytest.raises(InputError, match=r"below 100,000.*node 'a'"):
        load_graph(links, nodes_path=words)


def test_parquet_of_one_long_text_is_refused_before_it_is_repeated(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    same = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000), ["x" * (1 << 20)])
    table = pa.table({"id": [f"n{i}" for i in range(20_000)], "note": same})
    pq.write_table(table, tmp_path / "n.parquet", store_schema=False)
    assert (tmp_path / "n.parquet").stat().st_size < 1 << 21
    with pytest.raises(ResourceError, match=r"at most 1024 MiB of text a column"):
        load_graph(write(tmp_path, "l.csv", "n1,n2\n"), nodes_path=tmp_path / "n.parquet")


def big_endian():
    return csr(data=np.ones(2, ">f8"), indices=np.array([1, 0], ">i4"))


ODD_ARRAYS = {
    "float16": (csr(data=np.ones(2, np.float16)), None),
    "long double": (csr(data=np.ones(2, np.longdouble)), None),
    "big-endian": (big_endian(), None),
    "NaN shape": (csr(shape=np.array([np.nan, 2])), "shape of whole numbers"),
    "negative shape": (csr(shape=np.array([-2, -2])), "shape of whole numbers"),
    "header shape with a truth value": (
        zipped(**{"edges.npy": npy_header("(True, 2)") + b"\0" * 16}),
        "shape of whole numbers",
    ),
    "header shape below zero": (
        zipped(**{"edges.npy": npy_header("(-5, -2)") + b"\0" * 80}),
        "shape of whole numbers",
    ),
    "flat matrix expected": (csr(data=np.ones((2, 1))), "as flat arrays"),
    "format of two texts": (csr(format=np.array([b"csr", b"csc"])), "CSR, CSC or COO"),
    "labels of texts in a table": (
        npz(edges=np.array([[0, 1]]), labels=np.array([["a"], ["b"]] * 2).reshape(2, 2)),
        "one class a node",
    ),
}


@pytest.mark.parametrize("name", ODD_ARRAYS)
def test_odd_arrays_load_or_say_why(tmp_path, name):
    content, message = ODD_ARRAYS[name]
    path = write(tmp_path, "e.npz", content)
    if message is None:
        assert load_graph(path).graph.edges.tolist() == [[0, 1]]
    else:
        with pytest.raises(FormatError, match=message):
            load_graph(path)


def odd_fields():
    import torch

    edges = torch.tensor([[0], [1]])
    return {
        "num_nodes": ({"num_nodes": 99_999_999}, ResourceError, "at most 100,100 nodes"),
        "NaN": ({"num_nodes": float("nan")}, FormatError, "one whole number"),
        "inf": ({"num_nodes": float("inf")}, FormatError, "one whole number"),
        "NaN tensor": ({"num_nodes": torch.tensor(float("nan"))}, FormatError, "one whole number"),
        "0-d x": ({"x": torch.tensor(1.0)}, FormatError, "x must have one row a node"),
        "meta": ({"x": torch.ones(2, 1, device="meta")}, FormatError, "a meta tensor"),
        "surrogate": ({"\ud800": torch.ones(2)}, FormatError, "Data object of plain tensors"),
    }, edges


@pytest.mark.parametrize(
    "name", ["num_nodes", "NaN", "inf", "NaN tensor", "0-d x", "meta", "surrogate"]
)
def test_odd_tensors_say_why(tmp_path, name):
    import torch

    cases, edges = odd_fields()
    fields, error, message = cases[name]
    torch.save({"edge_index": edges, **fields}, tmp_path / "e.pt")
    with pytest.raises(error, match=message) as caught:
        load_graph(tmp_path / "e.pt")
    str(caught.value).encode()


def test_every_flipped_byte_of_a_pt_is_noticed_or_harmless(tmp_path):
    """torch reads on where a checksum fails; 4 of 18 such files used to load another graph."""
    import torch

    rng = np.random.default_rng(0)
    torch.save({"edge_index": torch.from_numpy(rng.integers(0, 50, (2, 40)))}, tmp_path / "g.pt")
    content = (tmp_path / "g.pt").read_bytes()
    expected = load_graph(tmp_path / "g.pt").graph.content_hash
    num_refused = 0
    for position in rng.integers(0, len(content), 60):
        flipped = bytearray(content)
        flipped[position] ^= 1 << int(rng.integers(8))
        path = write(tmp_path, "f.pt", bytes(flipped))
        try:
            assert load_graph(path).graph.content_hash == expected
        except InputError:
            num_refused += 1
    assert num_refused > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="files are read in forked processes")
@pytest.mark.parametrize("kind", ["feather", "parquet", "mtx"])
def test_every_flipped_byte_of_a_table_is_noticed_or_harmless(tmp_path, kind):
    """What reads Arrow followed such a byte out of its memory, and SciPy one of Matrix Market."""
    ids = [f"p{number % 7}" for number in range(12)]
    table = pd.DataFrame({"source": ids, "target": ids[::-1], "label": list("abc") * 4})
    path = tmp_path / f"e.{kind}"
    if kind == "mtx":
        scipy_io.mmwrite(path, sparse.coo_array(np.triu(np.ones((7, 7)), 1)))
    elif kind == "feather":
        table.to_feather(path, compression="uncompressed")
    else:
        table.to_parquet(path)
    content = path.read_bytes()

    step = 1 if os.environ.get("AUDIT_NIGHTLY") == "1" else 5

    def read_all() -> str:
        for place in range(1, len(content), step):
            path.write_bytes(
                bytes([*content[:place], content[place] ^ 0x85, *content[place + 1 :]])
            )
            for read in (load_graph, load_node_table) if kind == "parquet" else (load_graph,):
                with contextlib.suppress(InputError):
                    read(path)
        return "read"

    (outcome,) = run_guarded([read_all])
    assert outcome.kind == "read", outcome.text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="files are read in forked processes")
def test_an_offset_is_checked_below_the_rows_that_types_are_read_from(tmp_path):
    ids = [f"person {number % 7}" for number in range(SAMPLED_ROWS + 10)]
    path = tmp_path / "e.feather"
    pd.DataFrame({"source": ids, "target": ids[::-1]}).to_feather(path, compression="uncompressed")
    content = path.read_bytes()
    end = sum(map(len, ids))
    place = content.index(np.int64([end - len(ids[-1]), end]).tobytes()) + 8
    path.write_bytes(content[:place] + np.int64(2**40).tobytes() + content[place + 8 :])

    def read() -> str:
        with pytest.raises(FormatError, match="complete Parquet or Arrow"):
            load_graph(path)
        return "refused"

    (outcome,) = run_guarded([read])
    assert outcome.kind == "refused", outcome.text


def test_a_member_of_npz_under_a_damaged_name_is_noticed(tmp_path):
    """It would be missed without a word: its name in the archive's list is not checked by sums."""
    path = tmp_path / "g.npz"
    np.savez(path, edges=np.array([[0, 1], [1, 2]]), labels=np.array([0, 1, 0]))
    before, name, after = path.read_bytes().rpartition(b"labels.npy")
    path.write_bytes(before + name.replace(b"labels", b"labelz") + after)
    with pytest.raises(FormatError, match="match its checksums; got labelz"):
        load_graph(path)


def test_an_archive_lists_all_of_its_members(tmp_path):
    """A changed length in its directory hid the node ids, and the links were read without them."""
    path = tmp_path / "g.npz"
    np.savez(path, edges=np.array([[0, 1], [1, 2]]), labels=np.array([0, 1, 0]))
    content = bytearray(path.read_bytes())
    first, second = (m.start() for m in re.finditer(b"PK\x01\x02", bytes(content)))
    length = len(content) - 22 - second
    content[first + 32 : first + 34] = length.to_bytes(2, "little")  # of its comment
    path.write_bytes(content)
    with pytest.raises(FormatError, match="list all of its members"):
        load_graph(path)


def test_number_of_5000_digits_in_json(tmp_path):
    links = write(tmp_path, "l.csv", LINKS)
    words = write(tmp_path, "w.json", '{"a":[' + "1" * 5000 + "]}")
    with pytest.raises(FormatError, match="must be JSON"):
        load_graph(links, nodes_path=words)
    twice = write(tmp_path, "w.json", '{"a":[1],"a":[2]}')
    with pytest.raises(FormatError, match="'a' is named twice"):
        load_graph(links, nodes_path=twice)


def test_semicolons_with_decimal_commas(tmp_path):
    graph = load_graph(write(tmp_path, "e.csv", "1;2;0,5\n2;3;1,25\n")).graph
    assert graph.node_ids == ("1", "2", "3")
    assert graph.weights.tolist() == [0.5, 1.25]
    nodes = write(tmp_path, "n.csv", "id;height\n1;1,70\n2;1,82\n3;2\n")
    loaded = load_graph(tmp_path / "e.csv", nodes_path=nodes)
    assert loaded.graph.features.ravel().tolist() == pytest.approx([1.7, 1.82, 2.0])


def test_two_possible_separators_are_asked_about(tmp_path):
    path = write(tmp_path, "e.csv", "Doe, J;Roe, R\nRoe, R;Poe, E\n")
    with pytest.raises(InputError, match=r"clear separator.*--separator semicolon or --sep"):
        load_graph(path)
    assert load_graph(path, layout={"separator": "semicolon"}).graph.num_edges == 2
    graph = load_graph(write(tmp_path, "q.csv", '"Doe, J";"Roe, R"\n"Roe, R";"Poe, E"\n')).graph
    assert graph.node_ids == ("Doe, J", "Roe, R", "Poe, E")


def test_duplicate_headers_are_asked_about(tmp_path):
    with pytest.raises(FormatError, match=r"distinct column names.*source"):
        load_graph(write(tmp_path, "e.csv", "source,source,target\na,b,c\nb,c,a\n"))


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("a,b\n#tag,b\n", "#tag,b"),
        ("%x,b\na,b\n", "%x,b"),
        ("a b\n#a b\n", "#a b"),
        ("a\tb\n  #a\tb\n", "#a"),
    ],
)
def test_ids_that_look_like_comments_are_asked_about(tmp_path, text, row):
    with pytest.raises(FormatError, match=f"mark comments.*{row}.*quotes"):
        load_graph(write(tmp_path, "e.txt", text))


@pytest.mark.parametrize(
    "comment",
    ["# a b", "# FromNodeId ToNodeId", "#source target", "% sym unweighted", "#one", "##", "# é"],
)
def test_comments_are_comments_wherever_they_stand(tmp_path, comment):
    for text in (f"{comment}\na b\nb c\n", f"a b\n{comment}\nb c\n", f"a b\nb c\n   {comment}"):
        loaded = load_graph(write(tmp_path, "e.txt", text))
        assert loaded.graph.node_ids == ("a", "b", "c")
        assert loaded.report.num_rows_skipped == 1


FOREIGN = {
    "JSON": '{"nodes": [1, 2], "links": [3, 4]}',
    "JSON list": "[[1, 2], [2, 3]]",
    "JSON lines": '{"a": 1, "b": 2}\n{"a": 2, "b": 3}\n',
    "a web page": "<!DOCTYPE html><p>not found, sorry</p>",
    "a web page after a blank": "\n<html lang='en'>a, b</html>",
    "a PDF document": "%PDF-1.7 a,b\n1,2\n",
    "a zip archive": "PK\x03\x04 a,b",
    "GraphML": '<?xml version="1.0"?>\n<graphml xmlns="x"><a b="c, d"/></graphml>',
    "GML": "graph [ node [ id 1 ] ]",
    "a Pajek file": "*Vertices 2\n1 a\n2 b\n*Edges\n1 2\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_table_is_recognised(tmp_path, name):
    what = name.split(" after")[0].split(" l")[0]
    with pytest.raises(FormatError, match=f"must be a table of text; got {what}"):
        load_graph(write(tmp_path, "e.csv", FOREIGN[name]))
    links = write(tmp_path, "l.csv", LINKS)
    if not name.startswith(("a Pajek", "GML")):
        with pytest.raises(FormatError, match="must be"):
            load_graph(links, nodes_path=write(tmp_path, "n.csv", FOREIGN[name]))


UNDECLARED = {
    "e.graphml": '<graphml><graph><node id="a"/><node id="b"/><edge source="a" target="b"/>'
    '<edge source="a" target="z"/></graph></graphml>',
    "e.gexf": '<gexf><graph><nodes><node id="a"/><node id="b"/></nodes><edges>'
    '<edge source="a" target="b"/><edge source="a" target="z"/></edges></graph></gexf>',
    "e.gml": "graph [ node [ id a ] node [ id b ] edge [ source a target b ] "
    "edge [ source a target z ] ]",
}


@pytest.mark.parametrize("name", UNDECLARED)
def test_undeclared_nodes_are_refused_dropped_or_added(tmp_path, name):
    path = write(tmp_path, name, UNDECLARED[name])
    with pytest.raises(InputError, match=r"such as 'z'.*add the undeclared nodes"):
        load_graph(path)
    assert load_graph(path, missing_nodes="drop").graph.node_ids == ("a", "b")
    added = load_graph(path, missing_nodes="add").graph
    assert added.node_ids == ("a", "b", "z")
    assert added.num_edges == 2


def test_node_table_without_rows_for_all_can_be_extended(tmp_path):
    links = write(tmp_path, "l.csv", "a,b\nb,z\n")
    nodes = write(tmp_path, "n.csv", "id,team,size\na,red,1\nb,red,3\nc,blue,2\n")
    loaded = load_graph(links, nodes_path=nodes, id_column="id", missing_nodes="add")
    assert loaded.graph.node_ids == ("a", "b", "c", "z")
    assert loaded.graph.column("team").codes.tolist() == [1, 1, 0, -1]
    assert loaded.graph.features.ravel().tolist() == [1, 3, 2, 2]
    assert loaded.report.num_filled == {"size": 1}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.csv", "source,target,weight\na,b,strong\nb,c,weak\n"),
        (
            "e.gml",
            'graph [ node [ id a ] node [ id b ] edge [ source a target b weight "strong" ] ]',
        ),
    ],
)
def test_text_weights_can_be_ignored(tmp_path, name, text):
    path = write(tmp_path, name, text)
    with pytest.raises(InputError, match=r"must be numbers.*strong.*leave the weights out"):
        load_graph(path)
    assert load_graph(path, weight="none").graph.weights is None


# -- the child process ------------------------------------------------------------------------


def test_child_gives_the_same_graph_report_and_errors(tmp_path):
    links = write(tmp_path, "l.csv", "# c\na,b,2\nb,a,2\nb,c,1\nc,c,1\n")
    nodes = write(tmp_path, "n.csv", "id,team,size\na,red,1\nb,blue,3\nc,,4\n")
    options = {"nodes_path": nodes, "private": "team", "unknown": ("?",)}
    here, there = load_graph(links, **options), sandbox.load_in_sandbox(links, **options)
    assert there.graph.content_hash == here.graph.content_hash
    assert there.graph.name == here.graph.name
    assert there.report == here.report
    with pytest.raises(FormatError) as direct:
        load_graph(write(tmp_path, "bad.csv", "a,b\nb\n"))
    with pytest.raises(FormatError) as child:
        sandbox.load_in_sandbox(tmp_path / "bad.csv")
    assert str(child.value) == str(direct.value)


def test_child_previews_tables_and_pairs(tmp_path):
    path = write(tmp_path, "n.csv", "id,team\n1,red\n2,\n")
    table = sandbox.preview_in_sandbox(path, 8, is_nodes=True)
    assert table.to_dict("list") == {"id": ["1", "2"], "team": ["red", ""]}
    assert sandbox.preview_in_sandbox(write(tmp_path, "e.gml", "graph []")).empty
    raw = sandbox.load_pairs_in_sandbox(write(tmp_path, "p.csv", "a,b\n"))
    assert (raw.node_ids, raw.pairs.tolist()) == (("a", "b"), [[0, 1]])


def test_child_stops_at_its_memory_and_time(tmp_path, monkeypatch):
    path = write(tmp_path, "l.csv", LINKS + "a,c\n" * 3_000_000)
    monkeypatch.setenv("AUDIT_READ_MB", "40")
    with pytest.raises(ResourceError, match=r"'l\.csv' must be read within 40 MB.*AUDIT_READ_MB"):
        sandbox.load_in_sandbox(path)
    monkeypatch.setenv("AUDIT_READ_MB", "2048")
    monkeypatch.setenv("AUDIT_READ_SECONDS", "1")
    nodes = "".join(f'<node id="{i}"/>' for i in range(300_000))
    slow = write(tmp_path, "s.graphml", f"<graphml><graph>{nodes}</graph></graphml>")
    with pytest.raises(ResourceError, match=r"within 1 CPU seconds.*AUDIT_READ_SECONDS"):
        sandbox.load_in_sandbox(slow)
    monkeypatch.setenv("AUDIT_READ_SECONDS", "soon")
    with pytest.raises(InputError, match=r"AUDIT_READ_SECONDS must be a whole number.*soon"):
        sandbox.load_in_sandbox(path)


def test_memory_that_a_child_only_sets_aside_is_not_counted(tmp_path, monkeypatch):
    """Arrow's allocator set a gigabyte aside: ten million links and a node table did not load."""
    num = 300_000
    nodes = write(tmp_path, "n.csv", "id,team\n" + "".join(f"{i},{i % 3}\n" for i in range(num)))
    links = write(tmp_path, "l.csv", "".join(f"{i},{i + 1}\n" for i in range(num - 1)))
    monkeypatch.setenv("AUDIT_READ_MB", "1250")
    loaded = sandbox.load_in_sandbox(links, nodes_path=nodes, id_column="id", private="team")
    assert (loaded.graph.num_nodes, loaded.graph.num_edges) == (num, num - 1)


def test_unforeseen_error_of_a_child_is_one_line(tmp_path):
    from core.data import reader_process

    found = reader_process._describe(KeyError("what\nnow"), tmp_path / "e.npz")
    assert found[:3] == ["FormatError", "file 'e.npz'", "must be readable in its format"]
    assert json.loads(json.dumps(found)) == found
    assert "\n" not in found[3]


def test_folders_are_private_and_those_of_the_dead_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox.tempfile, "tempdir", str(tmp_path))
    old = os.umask(0)
    try:
        with sandbox.make_folder("upload") as mine:
            assert stat.S_IMODE(os.stat(mine).st_mode) == 0o700
            dead = tmp_path / "audit-upload-4194305-abc"
            dead.mkdir()
            (dead / "links.csv").write_text(LINKS)
            other = tmp_path / "audit-notes"
            other.mkdir()
            assert sandbox.remove_stale_folders() == 1
            assert not dead.exists()
            assert other.exists()
            assert os.path.exists(mine)
    finally:
        os.umask(old)


def test_limits_of_tables():
    text_input.check_cells("t", 1000, 10)
    with pytest.raises(ResourceError, match=r"at most 20,000,000 cells; got 3,000,000 × 10"):
        text_input.check_cells("t", 3_000_000, 10)
