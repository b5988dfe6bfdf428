"""What a hostile or careless file does: one line that names file, rule, value and remedy."""

import gzip
import io
import pickle
import tracemalloc
import zipfile
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from core.data.readers import load_graph
from core.errors import FormatError, InputError, ResourceError

LINKS = "a,b\nb,c\n"


@pytest.fixture
def load(tmp_path):
    """Write named files and load the first with the second as node table."""

    def write_and_load(name, content, nodes=None, nodes_name="nodes.csv", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        if nodes is not None:
            options["nodes_path"] = tmp_path / nodes_name
            options["nodes_path"].write_bytes(nodes.encode() if isinstance(nodes, str) else nodes)
        return load_graph(path, **options)

    return write_and_load


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def csr(**changes):
    parts = {
        "data": np.ones(2),
        "indices": np.array([1, 0]),
        "indptr": np.array([0, 1, 2]),
        "shape": np.array([2, 2]),
        "format": np.array(b"csr"),
    }
    return npz(**(parts | changes))


def npy_header(shape):
    return (
        b"\x93NUMPY\x01\x00"
        + (118).to_bytes(2, "little")
        + f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode()
        + b"\n"
    )


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


GRAPHML = (
    '<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>{}</graph></graphml>'
)
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {c} "{f"&{p};" * 10}">' for p, c in pairwise("abcdefghi"))
    + ']><graphml><graph><node id="&i;"/></graph></graphml>'
)

CASES = {
    "empty": ("e.csv", "", FormatError, "must not be empty"),
    "blank lines only": ("e.csv", "\n \n\n", FormatError, "must not be empty"),
    "comments only": ("e.csv", "# a\n# b\n", FormatError, "at least one link"),
    "binary": ("e.csv", bytes(range(256)) * 4, FormatError, "must be text.*zero byte"),
    "latin-1": ("e.csv", "müller,bob\n".encode("latin-1"), FormatError, "UTF-8.*0xfc in line 1"),
    "a lone return": ("e.csv", "a\tb\nb\rc\td\n", FormatError, "return alone in line 2"),
    "half a character": ("e.csv", b"a,b\nb,c\xc3", FormatError, "UTF-8.*0xc3 in line 2"),
    "utf-16": ("e.csv", LINKS.encode("utf-16"), FormatError, "UTF-8 text.*UTF-16"),
    "one column": ("e.csv", "a\nb\nc\n", FormatError, "two columns of node ids"),
    "ragged long": ("e.csv", "a,b\nb,c\nc,d,e,f\n", FormatError, "same columns.*line 3"),
    "ragged short": ("e.csv", "a,b\nb\nc,d\n", FormatError, "two node ids.*line 2"),
    "open quote": ("e.csv", 'a,b\n"b,c\nc,d\n', FormatError, "check separators and quotes"),
    "text weight": (
        "e.csv",
        "source,target,weight\na,b,1\nb,c,much\n",
        InputError,
        "numbers.*'much' in line 3",
    ),
    "negative weight": ("e.txt", "a b 1\n\nb c -2\n", InputError, "≥ 0.*'-2' in line 3"),
    "infinite weight": ("e.txt", "a b 1\nb c inf\n", InputError, "numbers.*'inf'"),
    "no links": ("e.csv", "a,a\nb,b\n", InputError, "at least one link between two nodes"),
    "one node": ("e.csv", "a,a\n", InputError, "at least two nodes"),
    "broken gzip": ("e.csv.gz", gzip.compress(LINKS.encode() * 99)[:-9], FormatError, "gzip"),
    "unknown suffix": ("e.docx", LINKS, FormatError, "supported format.*docx"),
    "entity bomb": ("e.graphml", BOMB, FormatError, "document type.*DOCTYPE"),
    "external entity": (
        "e.gexf",
        '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]><gexf>&x;</gexf>',
        FormatError,
        "document type",
    ),
    "broken XML": ("e.graphml", "<graphml><graph>", FormatError, "well-formed XML"),
    "undeclared node": (
        "e.graphml",
        GRAPHML.format('<edge source="a" target="z"/>'),
        InputError,
        "such as 'z'",
    ),
    "repeated node": (
        "e.graphml",
        GRAPHML.format('<node id="a"/>'),
        FormatError,
        "distinct node ids.*a",
    ),
    "hyperedge": ("e.graphml", GRAPHML.format("<hyperedge/>"), FormatError, "two nodes at a time"),
    "deep XML": ("e.graphml", "<a>" * 5000 + "</a>" * 5000, FormatError, "nest at most"),
    "deep GML": ("e.gml", "graph [ " + "a [ " * 5000, FormatError, "nest at most"),
    "open GML": ("e.gml", "graph [ node [ id 1 ]", FormatError, "matching brackets"),
    "no GML": ("e.gml", "hello world", FormatError, "must hold a graph"),
    "pickled npz": (
        "e.npz",
        npz(
            adj_data=np.array([{}], dtype=object),
            adj_indices=[0],
            adj_indptr=[0, 1],
            adj_shape=[1, 1],
        ),
        FormatError,
        "must not hold Python objects.*pickle",
    ),
    "zip bomb": ("e.npz", csr(data=np.zeros(25_000_000)), ResourceError, "unpack to.*200 MB"),
    "lying npy header": (
        "e.npz",
        zipped(**{"edges.npy": npy_header("(1000000000, 2)") + b"\0" * 64}),
        FormatError,
        "as much as its header says.*16,000,000,000",
    ),
    "path traversal": (
        "e.npz",
        zipped(**{"../../edges.npy": b""}),
        FormatError,
        r"outside itself.*\.\./",
    ),
    "absolute member": ("e.npz", zipped(**{"/etc/x.npy": b""}), FormatError, "outside itself"),
    "no zip": ("e.npz", b"PK\x03\x04 nothing", FormatError, "complete zip archive"),
    "index outside": ("e.npz", csr(indices=np.array([1, 7])), FormatError, "indices fit"),
    "bad indptr": ("e.npz", csr(indptr=np.array([0, 5, 2])), FormatError, "indices fit"),
    "not square": ("e.npz", csr(shape=np.array([2, 9])), FormatError, "square matrix"),
    "negative entry": ("e.npz", csr(data=np.array([-1.0, 1])), InputError, "not be negative|neg"),
    "huge node number": (
        "e.npz",
        npz(edges=np.array([[0, 1 << 60]])),
        FormatError,
        "numbers from 0 up",
    ),
    "pt that is text": ("e.pt", "not a tensor", FormatError, "complete zip archive"),
    "pt that is a pickle": ("e.pt", pickle.dumps({"x": 1}), FormatError, "zip archive"),
}


@pytest.mark.parametrize("name", CASES)
def test_malformed_file_gives_one_line(load, name):
    file, content, error, message = CASES[name]
    with pytest.raises(error, match=message) as caught:
        load(file, content)
    assert "\n" not in str(caught.value)
    assert f"'{file}'" in str(caught.value)


NODE_CASES = {
    "duplicate ids": ("id,x\na,1\na,2\nb,3\nc,4\n", "distinct.*'a' twice"),
    "blank id": ("id,x\na,1\n,2\nb,3\nc,4\n", "row 2 has none"),
    "missing ids": ("id,x\na,1\nz,2\n", "every linked node.*2 ids are missing, such as 'b'"),
    "ragged": ("id,x\na,1,9,9\nb,2\nc,3\n", "same columns.*Row #2: Expected 2 columns, got 4"),
    "short row": ("id,x\na,1\nb\nc,3\n", "same columns.*Row #3: Expected 2 columns, got 1"),
    "no rows": ("id,x\n", "at least one row"),
    "repeated column": ("id,x,x \na,1,2\nb,1,2\nc,1,2\n", "distinct column names.*x"),
    "infinite feature": ("id,x\na,1\nb,inf\nc,3\n", "finite numbers.*'inf' in row 2"),
}


@pytest.mark.parametrize("name", NODE_CASES)
def test_malformed_node_table_gives_one_line(load, name):
    nodes, message = NODE_CASES[name]
    with pytest.raises(InputError, match=message) as caught:
        load("e.csv", LINKS, nodes, id_column="id")
    assert "\n" not in str(caught.value)


def test_wrong_columns_are_named_with_those_that_exist(load):
    nodes = "id,x\na,1\nb,2\nc,3\n"
    for option in ({"private": "salary"}, {"roles": {"salary": "feature"}}):
        with pytest.raises(InputError, match=r"salary.*columns are: x"):
            load("e.csv", LINKS, nodes, **option)
    with pytest.raises(InputError, match=r"id column.*who.*columns are: id, x"):
        load("e.csv", LINKS, nodes, id_column="who")
    with pytest.raises(InputError, match=r"known role.*secret"):
        load("e.csv", LINKS, nodes, roles={"x": "secret"})


def test_text_forced_to_be_a_feature_is_refused(load):
    with pytest.raises(InputError, match=r"finite numbers.*'tall' in row 2"):
        load("e.csv", LINKS, "id,x\na,1\nb,tall\nc,3\n", roles={"x": "feature"})


def test_nan_in_an_attribute_is_unknown(load):
    loaded = load("e.csv", LINKS, "id,team\na,NaN\nb,red\nc,\n", roles={"team": "attribute"})
    assert loaded.graph.column("team").codes.tolist() == [-1, 0, -1]
    assert loaded.report.num_unknown == {"team": 2}


def test_one_class_and_two_nodes_load(load):
    loaded = load("e.csv", "a,b\n", "id,team\na,red\nb,red\n", roles={"team": "private"})
    assert loaded.graph.num_nodes == 2
    assert loaded.graph.column("team").classes == ("red",)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match="must exist"):
        load_graph(tmp_path / "none.csv")
    with pytest.raises(InputError, match="not a folder"):
        load_graph(tmp_path)
    with pytest.raises(InputError, match="file"):
        load_graph("nul\0byte.csv")


def test_line_of_300_mb_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "long.csv"
    with path.open("wb") as file:
        file.write(b"a,b\nb,")
        file.truncate(300 << 20)  # sparse: takes no room
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=r"lines of at most.*in line 2"):
            load_graph(path)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_gzip_bomb_is_refused(tmp_path, monkeypatch):
    from core.data import text_input

    monkeypatch.setattr(text_input, "MAX_FILE_BYTES", 4 << 20)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * (2 << 20)))
    assert path.stat().st_size < 100_000
    with pytest.raises(ResourceError, match="must not hold over"):
        load_graph(path)


def test_malicious_pt_is_refused_and_not_run(tmp_path):
    import torch

    marker = tmp_path / "owned"

    class Exploit:
        def __reduce__(self):
            return (open, (str(marker), "w"))

    torch.save({"edge_index": Exploit()}, tmp_path / "evil.pt")
    with pytest.raises(FormatError, match=r"'evil\.pt' must hold a PyG Data.*open"):
        load_graph(tmp_path / "evil.pt")
    assert not marker.exists()


def test_pt_that_claims_a_billion_elements_is_refused(tmp_path):
    import torch

    index = torch.zeros((2, 1), dtype=torch.long).expand(2, 500_000_000)
    torch.save({"edge_index": index}, tmp_path / "huge.pt")
    assert (tmp_path / "huge.pt").stat().st_size < 4000
    with pytest.raises(FormatError, match=r"more elements than.*1,000,000,000"):
        load_graph(tmp_path / "huge.pt")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"x": [[1.0]]}, "must hold edge_index"),
        ({"edge_index": [[0.5], [1.0]]}, "must hold edge_index"),
        ({"edge_index": [[0, -3], [1, 1]]}, "from 0 up.*-3"),
        ({"edge_index": [[0], [1]], "x": [[1.0]]}, "2 rows"),
        ({"edge_index": [[0], [1]], "x": [[1.0], [float("nan")]]}, "finite"),
    ],
)
def test_pt_with_wrong_tensors(tmp_path, fields, message):
    import torch

    torch.save({k: torch.tensor(v) for k, v in fields.items()}, tmp_path / "g.pt")
    with pytest.raises(FormatError, match=message):
        load_graph(tmp_path / "g.pt")


def test_truncated_pt(tmp_path):
    import torch

    torch.save({"edge_index": torch.zeros(2, 3, dtype=torch.long)}, tmp_path / "g.pt")
    data = (tmp_path / "g.pt").read_bytes()
    (tmp_path / "g.pt").write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match="complete zip archive"):
        load_graph(tmp_path / "g.pt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "object of lists"),
        ("{", "must be JSON"),
        ('{"a": [1.5]}', "whole numbers"),
        ('{"a": [-1]}', "whole numbers"),
        ('{"a": [100000000000]}', "below"),
        ('{"zz": [1]}', "nodes of the graph only.*zz"),
        ("[" * 100_000, "must be JSON"),
    ],
)
def test_malformed_word_lists(load, tmp_path, content, message):
    (tmp_path / "target.csv").write_text("id,kind\na,x\nb,y\nc,x\n")
    with pytest.raises(InputError, match=message):
        load("e.csv", LINKS, content, "words.json", target_path=tmp_path / "target.csv")


def test_half_a_character_in_an_id_is_refused(load):
    with pytest.raises(InputError, match=r"node ids must be valid Unicode.*ud800"):
        load("e.csv", LINKS, '{"a": [1], "\\ud800": [2]}', "words.json")


def test_broken_parquet_and_nested_columns(load, tmp_path):
    with pytest.raises(FormatError, match="complete Parquet"):
        load("e.csv", LINKS, b"PAR1 nothing PAR1", "n.parquet")
    pd.DataFrame({"id": list("abc"), "x": [[1], [2], [3]]}).to_parquet(tmp_path / "m.parquet")
    with pytest.raises(FormatError, match="'x' must hold single values"):
        load("e.csv", LINKS, nodes_path=tmp_path / "m.parquet")


@pytest.mark.parametrize(
    "node", ["<script>alert(1)</script>", "=HYPERLINK(evil)", "a&b", "-1+1", "@cmd", "naïve Ω 漢"]
)
def test_names_are_data(load, node):
    """Markup and formulas in names are kept as they are; whatever shows them escapes them."""
    assert node in load("e.tsv", f"{node}\tbob\nbob\tann\n").graph.node_ids
