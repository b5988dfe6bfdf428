"""Publishing in scripts: what is refused is refused before the ledger is charged."""

from __future__ import annotations

import tempfile
from contextlib import closing

import pytest

from core import Graph, find_method, publish
from core.audit.store.database import Store
from core.audit.store.ledger import list_entries
from core.data.synthetic import generate_social
from core.errors import InputError


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Of 200 people with the columns affiliation and seniority."""
    return generate_social(200)


def count_runs(graph: Graph) -> int:
    with closing(Store()) as store:
        return len(list_entries(store, graph))


def test_the_columns_that_are_named_leave_and_no_file_is_replaced(graph, tmp_path, audit_home):
    path, noise = tmp_path / "release.csv", find_method("edge_rand")(epsilon=8)
    written = publish(graph, noise, path, private="seniority", publish_columns="affiliation")
    assert [file.exists() for file in written] == [True] * 3
    assert written[1].read_text().splitlines()[0] == '"id","affiliation"'
    for name in ("release.csv", "release.graphml"):  # the provenance is of both
        with pytest.raises(InputError, match="must not exist"):
            publish(graph, "edge_rand", tmp_path / name)
    with pytest.raises(InputError, match=r"must end in \.csv"):
        publish(graph, "edge_rand", tmp_path / "release.doc")
    assert count_runs(graph) == 1


SECRET = "published column must not be a private one; got seniority"
MISTAKES = [
    ({"publish_columns": "lable"}, "published column must be a column of the graph; got lable"),
    ({"publish_columns": ["affiliation", "link.x"]}, "must be a column of the links; got link.x"),
    ({"private": "senority"}, "private column must be a column of the graph; got senority"),
    ({"private": "seniority", "publish_columns": ["seniority"]}, SECRET),
    ({"private": ["affiliation", "seniority"], "publish_columns": "seniority"}, SECRET),
    ({"threats": {"private": "seniority"}, "publish_columns": "seniority"}, SECRET),
    (
        {"private": "affiliation", "more_private": "seniority", "publish_columns": "seniority"},
        SECRET,
    ),
    ({"private": "seniority", "attributes": "seniority"}, "'attributes' is not known"),
    ({"defense": "without_columns", "publish_columns": "affiliation"}, "which keeps no column"),
]


@pytest.mark.parametrize(("fields", "told"), MISTAKES)
def test_a_wrong_column_leaves_no_file_and_no_charge(graph, tmp_path, audit_home, fields, told):
    with pytest.raises(InputError) as error:
        publish(graph, **{"defense": "edge_rand:epsilon=2", "path": tmp_path / "a.csv", **fields})
    assert told in str(error.value)
    assert not [path for path in tmp_path.iterdir() if path != audit_home]
    assert count_runs(graph) == 0


def test_ids_that_xml_cannot_tell_apart_are_refused_before_the_charge(tmp_path, audit_home):
    graph = Graph.from_pairs([(0, 1), (1, 2)], 3, node_ids=["a\x01", "a\x02", "b"])
    for name in ("a.graphml", "a.gexf"):
        with pytest.raises(InputError, match="must differ in characters that XML can hold"):
            publish(graph, "random_deletion", tmp_path / name)
    assert not [path for path in tmp_path.iterdir() if path != audit_home]
    assert count_runs(graph) == 0
    publish(graph, "random_deletion", tmp_path / "a.graphml", pseudonyms=True)
    publish(graph, "random_deletion", tmp_path / "b.csv")
    assert count_runs(graph) == 2


def test_a_folder_that_cannot_be_written_costs_nothing(graph, tmp_path, audit_home, monkeypatch):
    def refuse(**_keywords):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    with pytest.raises(InputError, match="output folder must be one that can be written"):
        publish(graph, "edge_rand", tmp_path / "a.csv")
    assert count_runs(graph) == 0
