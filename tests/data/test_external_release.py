"""A release that was made elsewhere, on the nodes of the original; who is whose pseudonym."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from core.data.catalogue import load_dataset
from core.data.external_release import (
    align_release,
    check_withheld,
    count_found_by_order,
    is_unchanged,
    lacks_columns,
)
from core.data.node_pairs import load_pseudonyms
from core.errors import InputError
from core.graph import Graph
from core.link_table import LinkColumn, LinkTable
from core.node_column import NodeColumn


def make_release(**fields):
    """Three of four nodes, in another order, with a number and a category."""
    column = NodeColumn("city", np.array([0, 1, -1]), ("Bonn", "Kiel"))
    numbers = np.array([[1.0], [2.0], [3.0]], np.float32)
    given = {"attributes": {"city": column}, "features": numbers, "feature_names": ("age",)}
    return Graph.from_pairs([[0, 1], [1, 2]], **{"node_ids": ("d", "a", "b"), **given, **fields})


ORIGINAL = Graph.from_pairs(
    [[0, 1], [2, 3]],
    node_ids=("a", "b", "c", "d"),
    features=np.ones((4, 2), np.float32),
    feature_names=("x", "z"),
    attributes={"city": NodeColumn("city", np.zeros(4), ("Bonn",))},
)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_columns_follow_their_nodes(is_sparse):
    release = make_release()
    if is_sparse:
        release = release.update_columns(features=sparse.csr_array(release.features))
    found = align_release(ORIGINAL, release)
    assert found.node_ids == ORIGINAL.node_ids
    assert found.edges.tolist() == [[0, 1], [0, 3]]
    assert found.feature_names == ("age", "city=Bonn", "city=Kiel")
    assert found.dense_features().tolist() == [[2, 0, 1], [3, 0, 0], [0, 0, 0], [1, 1, 0]]
    cities = found.attributes["city"]
    assert (cities.classes, cities.codes.tolist()) == (("Bonn", "Kiel"), [1, -1, -1, 0])
    bare = align_release(ORIGINAL, make_release(attributes={}, features=None, feature_names=()))
    assert bare.features is None


def test_columns_of_the_original_leave_without_what_is_secret():
    """Texts as well as numbers: attackers did not read a text column that named the secret."""
    found = align_release(ORIGINAL, make_release(), ("z",), takes_columns=True)
    assert found.feature_names == ("x", "city=Bonn")
    assert found.dense_features().tolist() == [[1, 1]] * 4
    assert found.edges.tolist() == [[0, 1], [0, 3]]
    bare = make_release(attributes={})
    secret = align_release(ORIGINAL, bare, ("z", "city"), takes_columns=True)
    assert (list(found.attributes), list(secret.attributes)) == (["city"], [])
    assert secret.feature_names == ("x",)


@pytest.mark.parametrize(("count", "found"), [(9, 0), (10, 10)])
def test_ten_people_found_by_the_order_of_rows_are_no_chance(count, found):
    """Of a random order one is expected."""
    names = tuple(f"n{k:02}" for k in range(30))
    pairs = np.stack([np.arange(29), np.arange(1, 30)], 1)
    original = Graph.from_pairs(pairs, 30, node_ids=names)
    order = np.array([*range(count), *range(count + 1, 30), count])
    hidden = [f"x{k:02}" for k in np.random.default_rng(0).permutation(30)]
    assert count_found_by_order(original, hidden, order) == found


def test_one_withheld_link_among_pairs_added_by_noise_is_chance():
    """Half of all pairs are released: one of one is there by chance, eleven of eleven are not."""
    i, j = np.triu_indices(30, 1)
    original = Graph.from_pairs(np.stack([i[::20], j[::20]], 1), 30)
    withheld = [(str(a), str(b)) for a, b in original.edges[:11].tolist()]
    added = np.stack([i[1::2], j[1::2]], 1)
    one = original.with_edges(np.concatenate([added, original.edges[:1]]))
    assert check_withheld(original, one, withheld[:1]) == 1
    eleven = original.with_edges(np.concatenate([added, original.edges[:11]]))
    with pytest.raises(InputError, match="must not have the withheld links; got 11 of 11"):
        check_withheld(original, eleven, withheld)


def test_a_published_secret_is_refused():
    for column in ("city", "age"):
        with pytest.raises(InputError, match=f"private or utility column; got {column}"):
            align_release(ORIGINAL, make_release(), (column,))


def test_a_node_that_the_original_lacks_is_refused():
    with pytest.raises(InputError, match="nodes of the original only; got 1 others, such as 'e'"):
        align_release(ORIGINAL, make_release(node_ids=("d", "a", "e")))
    with pytest.raises(InputError, match="got 1 others, such as 'b'; add them to the file"):
        align_release(ORIGINAL, make_release(), pseudonyms={"d": "a", "a": "b"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,a\n1,b\n", "must name each node once; got 1"),
        ("1,a\n2,a\n", "must name each pseudonym once; got a"),
        ("a,1\nb,2\n", "must begin with nodes of the original; got a"),
    ],
)
def test_a_map_that_is_none_is_an_error_of_one_line(text, said, tmp_path):
    (tmp_path / "map.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        load_pseudonyms(tmp_path / "map.csv", load_dataset("karate").graph)


def test_columns_that_no_attacker_reads_are_noticed_whatever_they_hold():
    texts = NodeColumn.from_values("city", ["a", "b"] * 10)
    bare = Graph.from_pairs(np.array([[0, 1]]), 20)
    original = bare.update_columns(attributes={"city": texts})
    assert lacks_columns(original, bare, ())
    assert not lacks_columns(original, bare, ("city",))
    assert not lacks_columns(bare, bare, ())
    shown = bare.update_columns(features=np.ones((20, 1)), feature_names=("age",))
    assert not lacks_columns(original, shown, ())


def test_a_release_that_is_the_original_is_told_from_one_that_is_not():
    table = LinkTable(np.array([0, 1]), {"at": LinkColumn("number", np.array([5, 6]))})
    weighted = replace(ORIGINAL, weights=np.array([1.0, 2.0]), link_table=table)
    order = np.array([3, 0, 2, 1])
    names = {node: f"x{node}" for node in ORIGINAL.node_ids}
    moved = weighted.subgraph(order)
    moved = replace(moved, node_ids=tuple(names[node] for node in moved.node_ids))

    def judge(release, secret=()):
        behind = {name: node for node, name in names.items()}
        return is_unchanged(weighted, align_release(weighted, release, secret, behind), secret)

    assert judge(moved)
    assert judge(moved.update_columns(attributes={}), ("city",))
    assert judge(moved.without_features(("x",)), ("x",))
    other = LinkTable(np.array([0, 1]), {"at": LinkColumn("number", np.array([5, 7]))})
    numbers = np.array(moved.features)
    numbers[0, 0] = 2
    rome = NodeColumn("city", np.zeros(4), ("Rome",))
    for changed in (
        moved.with_edges(moved.edges[1:], moved.weights[1:]),
        replace(moved, weights=None),
        replace(moved, weights=moved.weights + 1),
        replace(moved, link_table=None),
        replace(moved, link_table=other),
        moved.without_features(("x",)),
        moved.update_columns(features=numbers),
        moved.update_columns(attributes={}),
        moved.update_columns(attributes={"city": rome}),
        moved.with_attributes({"more": replace(rome, name="more")}),
    ):
        assert not judge(changed)
    plain = replace(weighted, link_table=None)
    behind = {name: node for node, name in names.items()}
    assert not is_unchanged(plain, align_release(plain, moved, (), behind))
