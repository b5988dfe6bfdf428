import codecs
import io
import pickle
import tarfile
import urllib.error
import urllib.request

import numpy as np
import pytest

from core.data import catalogue
from core.data.catalogue import list_datasets, load_dataset
from core.data.planetoid import _ArrayUnpickler
from core.errors import FormatError, InputError, OfflineError

NAMES = {
    "karate",
    "social",
    "cora",
    "citeseer",
    "pubmed",
    "polblogs",
    "lastfm_asia",
    "deezer_europe",
    "facebook_pages",
}


@pytest.fixture
def offline(monkeypatch, audit_home):
    def refuse(*args, **kwargs):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    monkeypatch.delenv("AUDIT_DATA", raising=False)


@pytest.fixture
def local(monkeypatch, audit_home, data_root):
    monkeypatch.setenv("AUDIT_DATA", str(data_root))


def test_catalogue_lists_its_names_and_local_only_graphs_only_where_they_are(offline):
    assert {info.name for info in list_datasets()} == NAMES
    assert {info.name for info in list_datasets() if info.is_at_hand} == {"karate", "social"}


@pytest.mark.parametrize("name", ["karate", "social"])
def test_built_in_graphs_load_offline_with_a_label(offline, name):
    graph = load_dataset(name).graph
    info = next(info for info in list_datasets() if info.name == name)
    assert graph.name == name
    assert (graph.num_nodes, graph.num_edges) == (info.num_nodes, info.num_edges)
    assert graph.column("label").num_classes == info.num_classes


@pytest.mark.parametrize("name", sorted(NAMES - {"karate", "social"}))
def test_offline_names_the_dataset_and_the_remedy(offline, name):
    with pytest.raises(OfflineError, match=rf"'{name}'.*no route to host.*AUDIT_DATA"):
        load_dataset(name)


def test_local_only_dataset_says_where_to_put_it(offline):
    with pytest.raises(OfflineError, match=r"not downloaded.*AUDIT_DATA.*nba"):
        load_dataset("nba")


def test_unknown_name_lists_the_known_ones(offline):
    with pytest.raises(InputError, match=r"'?facebook'?.*known: .*karate"):
        load_dataset("facebook")


def test_cora_from_the_local_root(local):
    graph = load_dataset("cora").graph
    assert (graph.num_nodes, graph.num_edges) == (2708, 5278)
    assert graph.features.shape == (2708, 1433)
    assert graph.column("label").num_classes == 7
    assert graph.column("label").known.all()


def test_cora_equals_what_pyg_reads(local, data_root):
    from torch_geometric.io import read_planetoid_data

    raw = data_root / "Planetoid" / "Cora" / "raw"
    theirs = read_planetoid_data(str(raw), "cora")
    graph = load_dataset("cora").graph
    assert np.array_equal(graph.column("label").codes, theirs.y.numpy())
    assert np.array_equal(graph.dense_features(), theirs.x.numpy())
    links = {tuple(sorted(pair)) for pair in theirs.edge_index.T.tolist()}
    assert links == set(map(tuple, graph.edges.tolist()))


def test_tampered_cora_is_refused(local, data_root, tmp_path, monkeypatch):
    folder = tmp_path / "Planetoid" / "Cora" / "raw"
    folder.mkdir(parents=True)
    for file in (data_root / "Planetoid" / "Cora" / "raw").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    broken = folder / "ind.cora.ally"
    broken.write_bytes(broken.read_bytes()[:-1] + b"x")
    monkeypatch.setenv("AUDIT_DATA", str(tmp_path))
    with pytest.raises(FormatError, match=r"ind\.cora\.ally.*SHA-256"):
        load_dataset("cora")


def test_unpickler_calls_nothing_but_arrays(tmp_path):
    class Exploit:
        def __reduce__(self):
            return (print, ("owned",))

    with pytest.raises(FormatError, match=r"__builtin__\.print"):
        _ArrayUnpickler(io.BytesIO(pickle.dumps(Exploit(), protocol=2))).load()


@pytest.mark.parametrize(
    ("name", "nodes", "links", "features", "classes"),
    [
        ("lastfm_asia", 7624, 27_806, 0, 18),
        ("facebook_pages", 22_470, 170_823, 4714, 4),
        ("p2p_gnutella", 6301, 20_777, 0, None),
    ],
)
def test_local_graphs(local, name, nodes, links, features, classes):
    graph = load_dataset(name).graph
    assert (graph.num_nodes, graph.num_edges) == (nodes, links)
    assert len(graph.feature_names) == features
    if classes is not None:
        assert graph.column("label").num_classes == classes


def test_nba_keeps_its_two_columns(local):
    graph = load_dataset("nba").graph
    assert (graph.num_nodes, graph.num_edges, len(graph.feature_names)) == (403, 10_621, 95)
    assert graph.column("country").known.all()
    assert (~graph.column("SALARY").known).sum() == 90


class Response(io.BytesIO):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def test_download_of_an_archive_keeps_the_wanted_members_only(monkeypatch, audit_home):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in (
            ("polblogs/adjacency.tsv", "0\t1\t1\n1\t2\t1\n2\t1\t1\n"),
            ("polblogs/labels.tsv", "0\n1\n1\n0\n"),
            ("../../escaped.txt", "outside"),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    monkeypatch.delenv("AUDIT_DATA", raising=False)
    monkeypatch.setattr(
        urllib.request, "urlopen", lambda url, timeout: Response(content.getvalue())
    )
    loaded = load_dataset("polblogs")
    assert (loaded.graph.num_nodes, loaded.graph.num_edges) == (4, 2)
    assert loaded.report.num_reciprocal == 1
    assert sorted(p.name for p in audit_home.rglob("*") if p.is_file()) == [
        "adjacency.tsv",
        "labels.tsv",
    ]
    monkeypatch.setattr(urllib.request, "urlopen", None)  # the second time needs no download
    assert load_dataset("polblogs").graph.content_hash == loaded.graph.content_hash


def test_download_of_an_npz(monkeypatch, audit_home):
    content = io.BytesIO()
    np.savez(
        content, edges=np.array([[0, 1], [1, 2], [1, 0]]), features=np.eye(3), target=[1, 0, 1]
    )
    monkeypatch.delenv("AUDIT_DATA", raising=False)
    monkeypatch.setattr(
        urllib.request, "urlopen", lambda url, timeout: Response(content.getvalue())
    )
    graph = load_dataset("deezer_europe").graph
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.column("label").codes.tolist() == [1, 0, 1]
    assert graph.features.shape == (3, 3)


def test_too_large_download_is_refused(monkeypatch, audit_home):
    monkeypatch.delenv("AUDIT_DATA", raising=False)
    monkeypatch.setattr(catalogue, "_MAX_DOWNLOAD_BYTES", 10)
    monkeypatch.setattr(urllib.request, "urlopen", lambda url, timeout: Response(b"x" * 11))
    with pytest.raises(FormatError, match="at most"):
        load_dataset("deezer_europe")


def test_citeseer_test_nodes_without_data_become_nodes_without_a_label(monkeypatch, tmp_path):
    """Citeseer's test.index has holes; the nodes exist, have no words and no class."""
    from scipy import sparse

    folder = tmp_path / "Planetoid" / "CiteSeer" / "raw"
    folder.mkdir(parents=True)
    # Python 3 pickles bytes through this function; the published files are Python 2's.
    monkeypatch.setitem(_ArrayUnpickler._ALLOWED, ("_codecs", "encode"), codecs.encode)

    def dump(part, value):
        text = pickle.dumps(value, protocol=2).replace(b"numpy._core.", b"numpy.core.")
        (folder / f"ind.citeseer.{part}").write_bytes(text)

    def dump_matrix(part, rows):
        # SciPy's pickles of 2016 named the class scipy.sparse.csr.csr_matrix.
        text = pickle.dumps(sparse.csr_matrix(rows), protocol=2)
        text = text.replace(b"scipy.sparse._csr", b"scipy.sparse.csr")
        (folder / f"ind.citeseer.{part}").write_bytes(text.replace(b"numpy._core.", b"numpy.core."))

    eye = np.eye(2, dtype=np.float32)
    dump_matrix("x", [[1.0, 0.0]])
    dump_matrix("allx", [[1.0, 0.0], [0.0, 1.0]])
    dump_matrix("tx", [[1.0, 1.0], [0.0, 1.0]])
    dump("y", eye[[0]])
    dump("ally", eye[[0, 1]])
    dump("ty", eye[[1, 0]])
    dump("graph", {0: [1, 4], 1: [0, 2], 2: [1], 3: [], 4: [0]})
    (folder / "ind.citeseer.test.index").write_text("4\n2\n")
    monkeypatch.setenv("AUDIT_DATA", str(tmp_path))
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    graph = load_dataset("citeseer").graph
    assert graph.edges.tolist() == [[0, 1], [0, 4], [1, 2]]
    assert graph.column("label").codes.tolist() == [0, 1, 0, -1, 1]
    assert graph.dense_features().tolist() == [[1, 0], [0, 1], [0, 1], [0, 0], [1, 1]]
