"""Separator, decimal mark, header and id column: detected, or asked about, never guessed."""

from __future__ import annotations

import unicodedata

import pandas as pd
import pytest

from core.cli.main import main
from core.data.columns import guess_roles
from core.data.readers import load_graph, sniff_table
from core.data.sandbox import load_in_sandbox, load_pairs_in_sandbox, sniff_in_sandbox
from core.errors import InputError

NAMES = [f"{a}{b}" for a in ("an", "be", "ca", "do", "el", "fa") for b in "abcdefghij"]
LINKS = [(NAMES[i], NAMES[(7 * i + 1) % 60]) for i in range(60)]


def write(folder, text, name="links.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def links(rows, separator=";", header=""):
    lines = [separator.join(row) for row in rows]
    return "\n".join([header, *lines] if header else lines) + "\n"


def test_a_german_export_is_60_people_with_weights(tmp_path):
    rows = [(a, b, f"0,{i + 1}") for i, (a, b) in enumerate(LINKS)]
    path = write(tmp_path, links(rows, header="von;nach;gewicht"))
    graph = load_graph(path).graph
    assert graph.num_nodes == 60
    assert "von" not in graph.index
    assert graph.weights.max() == pytest.approx(0.9)
    assert sniff_table(path).describe() == {
        "separator": "semicolon",
        "decimal": "comma",
        "header": "yes",
    }
    other = write(tmp_path, links(rows, header="werft;wirft;wie oft"), "other.csv")
    assert load_graph(other).graph.num_nodes == 60  # numbers below a word


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "|"])
def test_two_words_that_never_occur_again_are_asked_about(tmp_path, separator):
    path = write(tmp_path, links(LINKS, separator, separator.join(("geber", "nehmer"))))
    layout = sniff_table(path)
    (question,) = layout.questions
    assert (question.field, question.choices) == ("header", ("yes", "no"))
    assert "'geber' and 'nehmer'" in question.reason
    with pytest.raises(InputError, match=r"clear header.*say --header yes or --header no"):
        load_graph(path)
    sizes = [
        load_graph(path, layout={"header": choice}).graph.num_nodes for choice in ("yes", "no")
    ]
    assert sizes == [60, 62]


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", "|"])
@pytest.mark.parametrize("first", [("x", NAMES[3]), (NAMES[3], "x"), (NAMES[5], NAMES[3])])
def test_a_first_row_with_somebody_of_a_later_row_is_a_link(tmp_path, separator, first):
    path = write(tmp_path, links([first, *LINKS[4:20], (f'"{NAMES[3]}"', "zz")], separator))
    assert not sniff_table(path).questions
    assert first[0] in load_graph(path).graph.index


def test_tabs_and_blanks_may_separate_in_one_file(tmp_path):
    rows = [f"{a}{sep}{b}" for (a, b), sep in zip(LINKS, " " + "\t" * len(LINKS), strict=False)]
    text = "\n".join(rows).replace('"', "")
    mixed = write(tmp_path, text, "mixed.txt")
    plain = write(tmp_path, text.replace("\t", " "), "plain.txt")
    assert sniff_table(mixed).separator == " "
    assert load_graph(mixed).graph.content_hash == load_graph(plain).graph.content_hash


def test_a_blank_in_a_cell_of_a_tabbed_file_separates_nothing(tmp_path):
    path = write(tmp_path, "anna b\tberta\nberta\tcarl c\ncarl c\tanna b", "tabs.txt")
    assert sniff_table(path).separator == "\t"


def test_a_third_column_does_not_tell_whether_the_first_row_is_a_link(tmp_path):
    rows = [(a, b, "freund") for a, b in LINKS]
    path = write(tmp_path, links(rows, header="mensch;freund;art"))
    assert [question.field for question in sniff_table(path).questions] == ["header"]


@pytest.mark.parametrize(
    ("first", "has_header"),
    [("wer;wen", True), ("name1;name2", None), ("p77;p78", False), ("source;target", True)],
)
def test_ids_with_numbers_tell_names_from_nodes(tmp_path, first, has_header):
    rows = [(f"p{i}", f"p{i + 3}") for i in range(20)]
    layout = sniff_table(write(tmp_path, links(rows, header=first)))
    assert (None if layout.questions else layout.has_header) == has_header


@pytest.mark.parametrize(
    ("separator", "cells", "decimal", "weights"),
    [
        (";", ["0,5", "1,25"], "comma", [0.5, 1.25]),
        (";", ["1.234,5", "0,5"], "comma", [1234.5, 0.5]),
        (";", ["0.123", "2.500"], "point", [0.123, 2.5]),
        (";", ["1.234", "0.5"], "point", [1.234, 0.5]),
        ("\t", ["0,5", "7"], "comma", [0.5, 7]),
        (",", ['"0,5"', '"1,234"'], "comma", [0.5, 1.234]),
        (",", ['"1,234,567"', "8"], "point", [1234567, 8]),
        (",", ["1.234", "2.345"], "point", [1.234, 2.345]),
        (";", ["1,234", "2,345"], None, ([1.234, 2.345], [1234, 2345])),
        (";", ["1.234", "2.345"], None, ([1234, 2345], [1.234, 2.345])),
    ],
)
def test_decimal_marks_of_weights_and_node_tables(tmp_path, separator, cells, decimal, weights):
    rows = [("a", "b", cells[0]), ("b", "c", cells[1])]
    path = write(tmp_path, links(rows, separator, separator.join(("source", "target", "weight"))))
    table = [("a", cells[0]), ("b", cells[1]), ("c", cells[1])]
    nodes = write(tmp_path, links(table, separator, f"id{separator}x"), "nodes.csv")
    plain = write(tmp_path, "source,target\na,b\nb,c\n", "plain.csv")

    def read(choice):
        given = choice and {"decimal": choice}
        found = load_graph(path, layout=given).graph.weights.tolist()
        features = load_graph(plain, nodes_path=nodes, nodes_layout=given).graph.features
        assert features.ravel()[:2].tolist() == pytest.approx(found)
        return pytest.approx(found)

    if decimal is not None:
        assert sniff_table(path).describe()["decimal"] == decimal
        assert not sniff_table(nodes, is_nodes=True).questions
        assert read(None) == weights
        return
    with pytest.raises(InputError, match=r"clear decimal.*thousands.*--decimal"):
        load_graph(path)
    with pytest.raises(InputError, match=r"clear decimal.*--nodes-decimal"):
        load_graph(plain, nodes_path=nodes)
    assert (read("comma"), read("point")) == weights


def test_a_node_table_without_names_of_columns_is_asked_about(tmp_path):
    path = write(tmp_path, "source,target\n17,18\n18,19\n")
    nodes = write(tmp_path, "17,3,40\n18,5,30\n19,3,20\n", "nodes.csv")
    with pytest.raises(InputError, match=r"'17' in the first row.*--nodes-header no"):
        load_graph(path, nodes_path=nodes)
    graph = load_graph(path, nodes_path=nodes, nodes_layout={"header": "no"}).graph
    assert graph.node_ids == ("17", "18", "19")
    assert graph.feature_names == ("column 2", "column 3")


def test_what_the_caller_says_is_checked_and_goes_through_the_sandbox(tmp_path):
    path = write(tmp_path, links(LINKS, header="geber;nehmer"))
    with pytest.raises(InputError, match=r"--header must be one of yes, no; got perhaps"):
        load_graph(path, layout={"header": "perhaps"})
    assert load_in_sandbox(path, layout={"header": "yes"}).graph.num_nodes == 60
    assert sniff_in_sandbox(path) == sniff_table(path)
    assert sniff_in_sandbox(path, layout={"header": "yes"}).questions == ()
    assert len(load_pairs_in_sandbox(path).node_ids) == 62  # the graph's ids refuse the two


def test_the_command_names_the_option(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    path = write(tmp_path, links(LINKS, header="geber;nehmer"))
    command = ["ledger", "--graph", str(path)]
    assert main(command) == 2
    assert "say --header yes or --header no" in capsys.readouterr().err
    assert main([*command, "--header", "yes"]) == 0
    assert "60 nodes, 60 links" in capsys.readouterr().err


def test_two_spellings_of_an_id_are_one_person(tmp_path):
    composed, decomposed = (unicodedata.normalize(form, "Zoë") for form in ("NFC", "NFD"))
    assert composed != decomposed
    text = f"source,target\n{composed},ann\nbob,{decomposed}\n"
    loaded = load_graph(write(tmp_path, text))
    assert loaded.graph.node_ids == (composed, "ann", "bob")
    assert loaded.graph.degrees.tolist() == [2, 1, 1]
    assert loaded.report.notes == [
        "1 id rewritten in composed Unicode (NFC), which made 1 node one with another"
    ]
    nodes = write(tmp_path, f"id,team\n{decomposed},x\nann,y\nbob,y\n", "nodes.csv")
    joined = load_graph(tmp_path / "links.csv", nodes_path=nodes).graph
    assert joined.column("team").classes == ("x", "y")
    assert joined.num_edges == 2


def test_the_id_column_is_the_one_that_the_links_name(tmp_path):
    table = pd.DataFrame({"id": range(1, 5), "new_id": [f"n{i}" for i in range(4)], "x": [5.5] * 4})
    assert guess_roles(table)["id"] == "id"
    roles = guess_roles(table, link_ids=["n0", "n2"])
    assert (roles["id"], roles["new_id"]) == ("ignore", "id")
    table.to_csv(tmp_path / "nodes.csv", index=False)
    path = write(tmp_path, "source,target\nn0,n1\nn1,n2\nn2,n3\n")
    assert load_graph(path, nodes_path=tmp_path / "nodes.csv").graph.node_ids[0] == "n0"
    unnamed = pd.DataFrame({"nr": [1, 2, 3], "who": ["ann", "bob", "cyd"], "id": [7, 8, 9]})
    assert guess_roles(unnamed, link_ids=["ann", "cyd"])["who"] == "id"
