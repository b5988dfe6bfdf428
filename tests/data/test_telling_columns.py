"""A column that copies the secret is named, whatever its form; independent ones are not."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

from core.cli.main import main
from core.data.profile import compute_profile
from core.data.warnings import MIN_STRENGTH, find_telling_columns
from core.graph import Graph
from core.node_column import MISSING, NodeColumn


def make_graph(secret, features=None, names=(), attributes=(), num_classes=2) -> Graph:
    n = len(secret)
    column = NodeColumn("secret", secret, tuple(f"c{i}" for i in range(num_classes)))
    others = {one.name: one for one in attributes}
    nodes = np.arange(n)
    pairs = np.stack([nodes, np.roll(nodes, 1)], 1)
    fields = {"attributes": {"secret": column, **others}, "features": features}
    return Graph.from_pairs(pairs, n, feature_names=names, **fields)


def find_names(graph: Graph) -> set[str]:
    return {one.column for one in find_telling_columns(graph, graph.column("secret"))}


def test_the_ids_of_many_nodes_are_looked_at_at_once():
    """Ten seconds of the first visit of a page went into two columns of 20,000 rows."""
    graph = make_graph(np.random.default_rng(0).integers(0, 2, 20_000))
    start = time.process_time()
    assert find_names(graph) == set()
    assert time.process_time() - start < 3  # 0.2 on a quiet machine


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("share", [0.5, 0.09])
def test_three_copies_are_found_among_three_thousand_columns(make, share):
    rng = np.random.default_rng(1)
    secret = (rng.random(2736) < share).astype(int)
    nearly = np.where(rng.random(2736) < 0.05, 1 - secret, secret)
    words = rng.random((2736, 1500)) < rng.uniform(0.002, 0.5, 1500)
    noise = rng.normal(size=(2736, 1497))
    leaning = noise[:, 0] + secret  # ordinary inference, no copy
    columns = np.column_stack([words, noise, leaning, secret, 1 - secret, 7.5 * nearly])
    names = (*map(str, range(2997)), "leaning", "copy", "inverted", "nearly")
    graph = make_graph(secret, make(columns.astype(np.float32)), names)
    start = time.process_time()
    found = {c.column: c for c in find_telling_columns(graph, graph.column("secret"))}
    assert time.process_time() - start < 15  # 2 on a quiet machine
    assert set(found) == {"copy", "inverted", "nearly"}
    rare = f"c{int(secret.mean() < 0.5)}"
    assert {one.value for one in found.values()} == {rare}
    turned = rare == "c0"
    assert [found[c].is_inverted for c in ("copy", "inverted")] == [turned, not turned]
    for name, column in (("copy", secret), ("nearly", nearly)):
        one, entropy = found[name], mutual_info_score(secret, secret)
        assert one.strength == pytest.approx(mutual_info_score(secret, column) / entropy, abs=0.01)
        assert one.low <= one.strength <= one.high + 1e-9
        assert one.share_right == pytest.approx((column == secret).mean())
    lines = compute_profile(graph, private="secret").warnings
    assert sum("alone gives away 'secret'" in line for line in lines) == 3
    assert sum("in reverse" in line for line in lines) == (2 if turned else 1)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_columns_of_zeros_and_ones_are_counted_as_any_other(make):
    rng = np.random.default_rng(4)
    secret = (rng.random(300) < 0.3).astype(int)
    nearly = np.where(rng.random(300) < 0.05, 1 - secret, secret)
    words = np.column_stack([rng.random((300, 200)) < 0.2, nearly, 1 - nearly]).astype(np.float32)
    names = (*map(str, range(200)), "nearly", "inverted")
    binary, other = (
        find_telling_columns(graph, graph.column("secret"))
        for graph in (make_graph(secret, make(w), names) for w in (words, 2 * words))
    )
    assert binary == other
    assert {one.column: one.is_inverted for one in binary} == {"nearly": False, "inverted": True}


def test_independent_columns_are_not_named_however_many_and_however_few_the_people():
    rng = np.random.default_rng(2)
    for n in (20, 24, 30, 45, 80):
        for num_classes in (2, 5):
            secret = np.append(np.arange(num_classes), rng.integers(0, num_classes, n))
            words = (rng.random((len(secret), 1500)) < 0.3).astype(np.float32)
            numbers = rng.normal(size=(len(secret), 1500)).astype(np.float32)
            towns = [
                NodeColumn(f"t{k}", rng.integers(0, k, len(secret)), tuple(map(str, range(k))))
                for k in (2, 8, 20, 40)
            ]
            features = np.concatenate([words, numbers], axis=1)
            graph = make_graph(secret, features, (), towns, num_classes)
            assert find_names(graph) == set()


def test_the_level_of_chance_is_that_of_permutations():
    """The largest strength of any independent column stays below `chance` in 99 of 100 graphs."""
    rng = np.random.default_rng(3)
    secret = rng.integers(0, 2, 400)
    copy = np.where(rng.random(400) < 0.02, 1 - secret, secret)
    words = (rng.random((400, 300)) < 0.5).astype(int)
    graph = make_graph(secret, np.column_stack([words, copy]).astype(np.float32))
    (found,) = find_telling_columns(graph, graph.column("secret"))
    largest = []
    for _ in range(60):
        shuffled = rng.permutation(secret)
        both = words.T @ shuffled
        cells = np.stack([both, words.sum(0) - both, shuffled.sum() - both])
        cells = np.vstack([cells, 400 - cells.sum(0)]) / 400
        ends = [sum(cells[k] for k in pair) for pair in ((0, 1), (2, 3), (0, 2), (1, 3))]
        plogp = [part * np.log(part) for part in (*cells, *ends)]
        mutual = sum(plogp[:4]) - sum(plogp[4:])
        largest.append(mutual.max() / -(plogp[6] + plogp[7])[0])
    assert np.quantile(largest, 0.95) < found.chance < 2 * np.quantile(largest, 0.95)
    assert found.low > found.chance


def test_one_class_of_many_an_attribute_and_numbers_are_found():
    rng = np.random.default_rng(4)
    ages = rng.integers(18, 90, 600)
    secret = np.minimum((ages - 18) // 18, 3)
    town = NodeColumn("town", np.where(secret == 2, 0, rng.integers(1, 4, 600)), tuple("abcd"))
    code = NodeColumn("code", (secret + 2) % 4, tuple("wxyz"))
    names = NodeColumn("name", np.arange(600), tuple(map(str, range(600))))
    features = ages[:, None].astype(np.float32)
    graph = make_graph(secret, features, ("age",), [town, code, names], 4)
    found = {c.column: c for c in find_telling_columns(graph, graph.column("secret"))}
    assert set(found) == {"age", "town", "code"}
    assert (found["town"].value, found["town"].is_inverted) == ("c2", None)
    assert found["code"].share_right == 1.0
    assert found["age"].strength > 0.8


def test_numbers_tell_the_same_whatever_they_are_used_for():
    """Sixty numbers, classes in turn by fifteen, each a half of two of their quartiles."""
    rng = np.random.default_rng(8)
    steps = rng.integers(0, 60, 1200)
    secret = (steps + 7) // 15 % 2
    texts = np.where(rng.random(1200) < 0.01, "", (100 + 7 * steps).astype(str))
    pay = NodeColumn.from_values("pay", texts)
    graph = make_graph(secret, attributes=[pay])
    assert pay.num_classes == 4
    (told,) = find_telling_columns(graph, graph.column("secret"))
    assert (told.column, told.is_inverted, told.strength > 0.6) == ("pay", None, True)
    read = replace(graph, columns=graph.columns.as_features(["pay"]))
    (same,) = find_telling_columns(read, read.column("secret"))
    assert (same.column, same.is_inverted) == ("pay", False)
    assert same.strength == pytest.approx(told.strength, abs=0.03)
    assert not {"pay"} & {one.column for one in find_telling_columns(read, read.column("pay"))}


def test_unknown_numbers_are_a_value_of_their_own():
    """Whose value is unknown, and nobody else, is of the second class."""
    rng = np.random.default_rng(9)
    secret = (rng.random(1000) < 0.05).astype(int)
    texts = np.where(secret == 1, "", (100 + rng.integers(0, 60, 1000)).astype(str))
    graph = make_graph(secret, attributes=[NodeColumn.from_values("pay", texts)])
    (told,) = find_telling_columns(graph, graph.column("secret"))
    assert told.strength > 0.9


def test_the_command_warns_when_it_loads(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    rows = [f"p{i},{'xy'[i % 2]},{i * i % 7},{1 - i % 2},{i // 2 * 9}" for i in range(60)]
    (tmp_path / "n.csv").write_text("id,secret,other,flag,pay\n" + "\n".join(rows) + "\n")
    links = [f"p{i},p{(i + 1) % 60}" for i in range(60)]
    (tmp_path / "l.csv").write_text("source,target\n" + "\n".join(links) + "\n")
    files = ["--graph", str(tmp_path / "l.csv"), "--nodes", str(tmp_path / "n.csv")]
    assert main(["ledger", *files, "--private", "secret"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning")]
    assert len(said) == 1
    assert "Column 'flag' alone gives away 'secret'" in said[0]
    assert "leave 'flag' out" in said[0]
    assert main(["ledger", *files, "--private", "pay"]) == 0
    said = capsys.readouterr().err
    assert "warning: Column 'pay' has 30 classes of fewer than 10 nodes" in said


SITES = ("gov.at", "ngo.org", "bank.ch")


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        (lambda i, code: f"p{i}@{SITES[code]}", True),
        (lambda i, code: f"{code * 1000 + i:05d}", True),
        (lambda i, code: f"{'ABC'[code]}{i}", True),
        (lambda i, code: f"x{i}-{'ABC'[code]}", True),
        (lambda i, code: f"{SITES[code][:3]}.{i:b}", True),
        (lambda i, code: f"p{i:04d}", False),
        (lambda i, code: f"ann.{i * 7919 % 400}@{SITES[i * 31 % 3]}", False),
        (lambda i, code: f"漢{i}é", False),
        (lambda i, code: f"{i:b}".replace("0", "a").replace("1", "b"), False),
    ],
)
def test_ids_and_texts_that_tell_the_secret_are_named(name, is_told):
    secret = np.random.default_rng(7).integers(0, 3, 400)
    texts = tuple(name(i, c) for i, c in enumerate(secret.tolist()))
    contact = NodeColumn("contact", np.arange(400), texts)
    graph = make_graph(secret, attributes=[contact], num_classes=3)
    assert find_names(graph) == {"contact"} if is_told else not find_names(graph)
    graph = replace(make_graph(secret, num_classes=3), node_ids=texts)
    found = find_telling_columns(graph, graph.column("secret"))
    assert [one.is_id for one in found] == [True] * is_told
    for one in found:
        assert str(one).startswith("The node ids alone give away 'secret': guessing by them")
        assert str(one).endswith("does not help: publish under pseudonyms.")


@pytest.mark.parametrize("others", range(4))
def test_a_class_of_one_person_hides_no_copy_of_the_others(others):
    """Three people of a third class, whom the copy tells apart too, are too few to say so of."""
    rng = np.random.default_rng(0)
    secret = np.repeat([0, 1, 2], (200, 200, others))
    copied = secret.copy()
    wrong = rng.choice(400, 12, replace=False)
    copied[wrong] = 1 - copied[wrong]
    copy = NodeColumn("copy", copied, tuple("xyz"))
    graph = make_graph(secret, attributes=[copy], num_classes=3)
    (found,) = (one for one in find_telling_columns(graph, graph.column("secret")) if not one.is_id)
    is_class = secret == int(found.value[1])
    entropy = mutual_info_score(is_class, is_class)
    strength = mutual_info_score(is_class, copied) / entropy
    assert (found.column, found.value in {"c0", "c1"}) == ("copy", True)
    assert found.strength == pytest.approx(strength, abs=0.01)
    assert found.share_right == pytest.approx((copied == secret).mean())


def test_unknown_values_are_left_out_and_few_known_ones_say_nothing():
    rng = np.random.default_rng(5)
    secret = rng.integers(0, 2, 100)
    copy = secret[:, None].astype(np.float32)
    hidden = np.where(np.arange(100) < 40, MISSING, secret)
    assert find_names(make_graph(hidden, copy)) == {"0"}
    few = np.where(np.arange(100) < 85, MISSING, secret)
    assert find_names(make_graph(few, copy)) == set()
    one_class = np.where(secret == 1, MISSING, 0)
    assert find_names(make_graph(one_class, copy)) == set()


@pytest.mark.parametrize(("wrong", "is_named"), [(0.05, True), (0.2, False)])
def test_a_copy_with_many_errors_is_inference_not_a_copy(wrong, is_named):
    rng = np.random.default_rng(6)
    secret = rng.integers(0, 2, 3000)
    column = np.where(rng.random(3000) < wrong, 1 - secret, secret)
    strength = mutual_info_score(secret, column) / mutual_info_score(secret, secret)
    assert (strength > MIN_STRENGTH) == is_named
    graph = make_graph(secret, column[:, None].astype(np.float32))
    assert bool(find_names(graph)) == is_named
